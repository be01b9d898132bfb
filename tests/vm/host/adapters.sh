#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a guest with two EFA adapters and the kernel's own driver, MODULE: adapters without a driver,
# and in another network namespace. What looks alike is no fault. Prints TAP.
here=$(dirname "$(readlink -f "$0")")
. tests/tap.sh
# shellcheck source=tests/vm/host/lib.sh
. "$here/lib.sh"
trap 'rm -rf "$work"' EXIT
module=$1
mapfile -t functions < <(cd /sys/bus/pci/devices && grep -l 0x1d0f ./*/vendor | cut -d/ -f2)
first=${functions[0]}
second=${functions[1]}

# finds EXIT RESULT CHECK FINDING COMMAND...: also from a capture.
finds() {
	local want=$1 row="$2 $4" rule=$3
	shift 4

	ends "$want" "$@" eadm check --json && has_row "$rule" "$row" || return
	"$@" eadm record -n 1 -o - >"$work/saved" && ends "$want" eadm --from "$work/saved" check --json &&
		has_row "$rule" "$row"
}

# knows PATTERN COMMAND...: on a kernel with a module for functions like that.
knows() {
	local alias
	alias=/lib/modules/$(uname -r)/modules.alias

	sed "1i alias $1 efa" "$alias" >"$work/alias" && shift || return
	chmod 755 "$work"
	unshare -m sh -c "mount --bind $work/alias $alias && exec \"\$@\"" sh "$@"
}

in_container() { # COMMAND...: without the kernel's modules
	unshare -m sh -c "mount -t tmpfs none /lib/modules && exec \"\$@\"" sh "$@"
}

modprobe -a ib_uverbs rdma_ucm
check "there are two adapters" [ ${#functions[@]} = 2 ]
check "without a driver there is no device" \
	finds 8 fail devices "no RDMA device: 2 adapters have no driver"
check "a kernel without its module" finds 8 warn unbound \
	"adapter $second (efa) has no driver: this kernel has no module for it" "${as_user[@]}"
check "a module that is not loaded" finds 8 warn unbound \
	"adapter $first (efa) has no driver: the module efa is not loaded" \
	knows 'pci:v00001D0Fd0000EFA1sv*sd*bc*sc*i*' "${as_user[@]}"
check "a module for other adapters" finds 8 warn unbound \
	"adapter $first (efa) has no driver: this kernel has no module for it" \
	knows 'pci:v00001D0Fd0000EFA9sv*sd*bc*sc*i*'
check "a container without the kernel's modules" finds 8 warn unbound \
	"adapter $first (efa) has no driver" in_container

healthy() { # COMMAND...
	ends 0 "$@" eadm check && ! said '^(warn|fail)' && said '^ok devices: 2 RDMA devices'
}
check "the driver is loaded" insmod "$module"
check "both adapters have a device" until_true 20 eval '[ "$(rdma dev | wc -l)" = 2 ]'
check "nothing is wrong with both" healthy "${as_user[@]}"

drivers=/sys/bus/pci/drivers/efa
echo "$first" >$drivers/unbind
check "an adapter without a driver, beside another one" finds 7 warn unbound \
	"adapter $first (efa) has no driver, though the module efa is loaded" "${as_user[@]}"
remedy() {
	[[ $(jq -r '.rows[] | select(.check == "unbound" and .result == "warn").remedy' "$work/said") == \
		"dmesg | grep $first "*"echo $first > $drivers/bind"* ]]
}
ends 7 eadm check --json >/dev/null
check "the remedy names it" remedy
echo vfio-pci >"/sys/bus/pci/devices/$first/driver_override"
check "one that is reserved for another driver" \
	finds 0 ok unbound "adapter $first (efa) is reserved for vfio-pci" "${as_user[@]}"
bound_to_stub() {
	modprobe pci-stub && echo pci-stub >"/sys/bus/pci/devices/$first/driver_override" &&
		echo "$first" >/sys/bus/pci/drivers/pci-stub/bind &&
		finds 0 ok unbound "adapter $first (efa) is bound to pci-stub" "${as_user[@]}"
}
check "one that another driver has bound" bound_to_stub
echo "$first" >/sys/bus/pci/drivers/pci-stub/unbind
echo >"/sys/bus/pci/devices/$first/driver_override"
check "the adapter is bound again" eval "echo $first >$drivers/bind"
check "and healthy" until_true 20 healthy "${as_user[@]}"

ip netns add pod
in_pod=(ip netns exec pod)
check "a container that shares the devices" healthy "${in_pod[@]}" "${as_user[@]}"
ip netns delete pod
check "namespaces with devices for themselves" rdma system set netns exclusive
ip netns add pod
check "the namespace that has them" healthy "${as_user[@]}"
check "one without them" finds 7 warn devices \
	"0 of 2 adapters are here; $first, $second are in another network namespace" \
	"${in_pod[@]}" "${as_user[@]}"
not_unbound() {
	! jq -r '.rows[] | select(.check == "unbound").result' "$work/said" | grep -v ok
}
check "where they have drivers" not_unbound
tap_end
