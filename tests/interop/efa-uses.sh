#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What operators do with EFA adapters, in the guest, where there are many of them
# without a driver: TAP on stdout.
# Usage: efa-uses.sh NAME=MODULE...
# The drivers take turns; the first one has all the rest.
set -u
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.." || exit 1
# shellcheck source=tests/interop/efa-lib.sh
. tests/interop/efa-lib.sh

last() { # the last adapter's device
	echo "efa_$(($(adapters | wc -l) - 1))"
}

# ---- many adapters

all_listed() {
	local wanted

	wanted=$(adapters | wc -l)
	ibv_devices >"$work/devices" && eadm list --json >"$work/list" || return
	same "$wanted $wanted" "$(grep -c 'efa_' "$work/devices") $(jq ".rows | length" "$work/list")"
}

same() { # EXPECTED GOT
	[ "$1" = "$2" ] || { echo "expected $1, got $2"; return 1; }
}

different_gids() {
	cat /sys/class/infiniband/efa_*/ports/1/gids/0 | sort | uniq -d >"$work/twice"
	cat "$work/twice"
	[ ! -s "$work/twice" ]
}

many() {
	check "verbs and eadm list $(adapters | wc -l) adapters" all_listed
	check "each has another address" different_gids
	check "data from the first to the last" srd -n 50 efa_0 "$(last)"
	check "data in the last" srd -n 50 "$(last)" "$(last)"
}

# ---- containers

node_of() { # DEVICE: of uverbs
	basename "/sys/class/infiniband/$1/device/infiniband_verbs/"uverbs*
}

# boxed DEVICE COMMAND...: with only this one's node in /dev
boxed() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount sh -c '
		cp -a "/dev/infiniband/$1" "$2/node" && mount -t tmpfs none /dev/infiniband &&
		cp -a "$2/node" "/dev/infiniband/$1" && rm "$2/node" && shift 2 &&
		exec "$@"' boxed "$(node_of "$1")" "$work" "${@:2}"
}

one_opens() {
	boxed "$1" ibv_devinfo -d "$1" || return
	# shellcheck disable=SC2119
	! boxed "$1" ibv_devinfo -d "$2"
}

# libfabric asks for what it can open.
one_in_fabric() {
	boxed "$1" fi_info -p efa >"$work/fi_info" || return
	same "$1-dgrm $1-rdm" "$(sed -n 's/.*domain: //p' "$work/fi_info" | sort -u | tr '\n' ' ' |
		sed 's/ $//')"
}

none_seen() { # NAMESPACE
	[ -z "$(ip netns exec "$1" rdma link show)" ] &&
		[ "$(ip netns exec "$1" ibv_devinfo 2>&1)" = "No IB devices found" ]
}

one_seen() { # NAMESPACE DEVICE
	ip netns exec "$1" rdma link show >"$work/links"
	cat "$work/links"
	[ "$(wc -l <"$work/links")" = 1 ] && grep -q "^link $2/1 state ACTIVE" "$work/links"
}

not_seen() { # DEVICE
	[ ! -e "/sys/class/infiniband/$1" ] && ! rdma link show | grep "^link $1/"
}

moved() { # NAMESPACE DEVICE
	rdma dev set "$2" netns "$1" && one_seen "$1" "$2" && not_seen "$2" &&
		ip netns exec "$1" srd -n 20 "$2" "$2"
}

# Without a way to cut off its users (hw 2.6).
stays() { # NAMESPACE DEVICE
	rdma dev set "$2" netns "$1" 2>"$work/refusal" && return 1
	cat "$work/refusal"
	grep -q 'Operation not supported' "$work/refusal" && srd -n 20 "$2" "$2"
}

containers() {
	check "one node in /dev: its adapter opens, another one does not" one_opens efa_1 efa_0
	check "one node in /dev: data" boxed efa_1 srd -n 50 efa_1 efa_1
	check "one node in /dev: libfabric has just that" one_in_fabric efa_1
	check "namespaces with RDMA devices for themselves" rdma system set netns exclusive
	check "one without devices" ip netns add box
	check "none is seen there" none_seen box
	case $name in
	upstream) check "an adapter cannot be moved there" stays box "$(last)" ;;
	*) check "an adapter is moved there, and serves" moved box "$(last)" ;;
	esac
	check "the namespace ends" ip netns del box
	check "all adapters are here" until_true "$LIMIT" ports "$(adapters | wc -l)"
	check "namespaces share devices again" rdma system set netns shared
}

# ---- consumers in the kernel

consumers="ib_ipoib ib_umad ib_srp ib_srpt ib_iser ib_isert nvme_rdma nvmet_rdma rpcrdma rds_rdma smc"
# What the debug kernel is built with.
[[ $(uname -r) != *-debug ]] || consumers="ib_umad nvme_rdma"

no_kernel_objects() {
	rdma resource show cq >"$work/objects" && rdma resource show qp >>"$work/objects" || return
	grep '^link efa_\|^dev efa_' "$work/objects"
	! grep -q 'efa_.*comm \[' "$work/objects"
}

no_traces() {
	ls -d /sys/class/infiniband_srp/* /sys/class/infiniband_mad/umad* /sys/class/net/ib* \
		2>/dev/null && return 1
	return 0
}

refuses() { # COMMAND...
	timeout "$patient_limit" "$@"
	case $? in
	0 | 124 | 13[0-9]) return 1 ;;
	esac
}

kernel_consumers() {
	local address=10.77.0.1

	# shellcheck disable=SC2086 # a list
	check "consumers in the kernel load" modprobe -a $consumers
	check "none of them has a device here" no_traces
	check "none of them has an object here" no_kernel_objects
	check "a disk over it is refused" refuses nvme connect -t rdma -a $address -s 4420 -n none
	check "a file system over it is refused" refuses \
		mount -t nfs -o rdma,port=20049,vers=4.2,retry=0 $address:/ /mnt
	check "a listener by its address is refused" refuses rping -s -a $address -C 1
	# shellcheck disable=SC2086 # a list
	check "they unload" rmmod $consumers
}

# ---- drivers by turns

turn() { # NAME MODULE
	check "$1: probe" probe "$2"
	check "$1: data from one to another" srd -n 50 efa_0 "$(last)"
	check "$1: unload" unload
}

name=${1%%=*} module=${1#*=}
! lsmod | grep -q '^efa ' || rmmod efa
check "$name: probe" probe "$module"
many
containers
kernel_consumers
check "$name: unload" unload
if [ $# -gt 1 ]; then
	for driver in "${@:2}" "$1"; do
		turn "${driver%%=*}" "${driver#*=}"
	done
fi
check "no command failed" no_command_failed
check "the kernel's log has no complaint of a driver" says_nothing
plan
