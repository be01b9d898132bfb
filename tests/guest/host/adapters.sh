#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a guest with two EFA adapters and the kernel's own driver, MODULE: adapters without a driver,
# in another network namespace, and with a file that cannot be opened. What looks alike is no fault.
# Prints TAP.
here=$(dirname "$(readlink -f "$0")")
. tests/lib/tap.sh
# shellcheck source=tests/guest/host/lib.sh
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

node_of() { # DEVICE
	local node

	for node in /sys/class/infiniband_verbs/uverbs*; do
		[ "$(cat "$node/ibdev")" != "$1" ] || basename "$node"
	done
}
node=$(node_of efa_0)
finds_fabric() { # DEVICES...: what libfabric finds
	same "$*" "$("${as_user[@]}" fi_info -p efa 2>/dev/null | sed -n 's/.*domain: \(efa_.\)-rdm/\1/p' |
		sort | paste -sd' ')"
}
hides="therefore, libfabric may find no device of efa at all"
check "libfabric finds both" finds_fabric efa_0 efa_1
chmod 600 "/dev/infiniband/$node"
check "a file that may not be opened" finds 7 warn uverbs \
	"/dev/infiniband/$node: Permission denied; $hides" "${as_user[@]}"
check "libfabric finds nothing" finds_fabric
chmod 666 "/dev/infiniband/$node"

# boxed COMMAND...: in a device cgroup without the first adapter
boxed() {
	sh -c 'echo $$ >"$0/box/tasks" && exec "$@"' "$work/cgroup" "$@"
}
make_box() {
	mkdir "$work/cgroup" && chmod 755 "$work" && mount -t cgroup -o devices none "$work/cgroup" &&
		mkdir "$work/cgroup/box" &&
		echo "c $((0x$(stat -c %t "/dev/infiniband/$node"))):$((0x$(stat -c %T "/dev/infiniband/$node"))) rwm" \
			>"$work/cgroup/box/devices.deny"
}
check "a device cgroup without the adapter" make_box
check "a file that the cgroup does not allow" finds 7 warn uverbs \
	"/dev/infiniband/$node: Operation not permitted (refused by the device cgroup); $hides" boxed
mv "/dev/infiniband/$node" "$work/node"
only_visible() {
	finds 0 note uverbs "/dev/infiniband/$node does not exist: this process can see the device, but not use it" \
		"$@" && ! grep -E '"(warn|fail)"' "$work/said" &&
		! jq -r '.rows[] | select(.check == "provider").dev_name' "$work/said" | grep efa_0
}
check "an adapter without a file is only visible" only_visible "${as_user[@]}"
check "libfabric finds the other one" finds_fabric efa_1
# Its mode is that of the real one: only opening it shows that there is no such device.
mknod "/dev/infiniband/$node" c 231 250 && chmod 666 "/dev/infiniband/$node"
check "a file of a device that is gone" finds 7 warn uverbs \
	"/dev/infiniband/$node: No such device or address; $hides" "${as_user[@]}"
rm "/dev/infiniband/$node"
mv "$work/node" "/dev/infiniband/$node"
umount "$work/cgroup"
check "and healthy again" healthy "${as_user[@]}"

drivers=/sys/bus/pci/drivers/efa
echo "$first" >$drivers/unbind
check "an adapter without a driver, beside another one" finds 7 warn unbound \
	"adapter $first (efa) has no driver, though the module efa is loaded" "${as_user[@]}"
remedy() {
	[[ $(jq -r '.rows[] | select(.check == "unbound" and .result == "warn").remedy' "$work/said") == \
		*"dmesg | grep $first;"*"echo $first > $drivers/bind"* ]]
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
	"0 of 2 adapters are in this network namespace; $first, $second are in another one" \
	"${in_pod[@]}" "${as_user[@]}"
not_unbound() {
	! jq -r '.rows[] | select(.check == "unbound").result' "$work/said" | grep -v ok
}
check "where they have drivers" not_unbound
tap_end
