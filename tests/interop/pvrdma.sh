#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Foreign clients on PVRDMA adapters, in the guest: TAP on stdout. The adapters are
# there, without a driver for them or for their interfaces.
# Usage: pvrdma.sh MODULE
set -u
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.." || exit 1
# shellcheck source=tests/interop/pvrdma-lib.sh
. tests/interop/pvrdma-lib.sh
module=$1
driver=$(basename "$module" .ko)

address() { # I
	echo "10.78.$1.1"
}

network() {
	local i=0 net

	for net in $(interfaces); do
		ip link set "$net" up && ip addr add "$(address $i)/24" dev "$net" || return
		i=$((i + 1))
	done
}

devinfo() {
	ibv_devinfo -v >"$work/devinfo" || return
	cat "$work/devinfo"
	[ "$(grep -c 'state:.*PORT_ACTIVE' "$work/devinfo")" = 2 ] &&
		grep -q 'vendor_part_id:.*2080$' "$work/devinfo"
}

# meet NAME PORT TOOL [OPTION...]: as server on one adapter and as client on the other.
meet() {
	local title=$1 port=$2
	shift 2

	pair "$title" "$port" "$@" -d "$first" -- "$@" -d "$second" 127.0.0.1
}

pingpongs() {
	local kind

	for kind in rc ud srq; do
		meet "ibv_${kind}_pingpong, data compared" 18515 "ibv_${kind}_pingpong" -g "$gid" -n 200 -c
		meet "ibv_${kind}_pingpong -e" 18515 "ibv_${kind}_pingpong" -g "$gid" -e -n 100 -c
	done
	meet "ibv_rc_pingpong, 1 MiB" 18515 ibv_rc_pingpong -g "$gid" -s 1048576 -n 20 -c
}

perftest() {
	local verb

	for verb in send write read; do
		meet "ib_${verb}_bw" 18515 "ib_${verb}_bw" -x "$gid" -F -n 200 -s 65536
		meet "ib_${verb}_lat" 18515 "ib_${verb}_lat" -x "$gid" -F -n 100 -s 64
	done
	meet "ib_atomic_bw, fetch and add" 18515 ib_atomic_bw -A FETCH_AND_ADD -x "$gid" -F -n 200
	meet "ib_atomic_lat, compare and swap" 18515 ib_atomic_lat -A CMP_AND_SWAP -x "$gid" -F -n 100
	meet "ib_send_bw, UD" 18515 ib_send_bw -c UD -x "$gid" -F -s 1024 -n 200
	meet "ib_send_bw, events" 18515 ib_send_bw -e -x "$gid" -F -s 4096 -n 200
	meet "ib_write_bw, 8 QPs, both directions" 18515 ib_write_bw -q 8 -b -x "$gid" -F -s 8192 -n 100
}

# Within one adapter: the kernel has no way from one of its addresses to another that
# leads through interfaces.
manager() {
	local i

	for i in 0 1; do
		pair "rping, adapter $i" 7174 rping -s -a "$(address $i)" -v -C 20 -- \
			rping -c -a "$(address $i)" -v -C 20 -V
	done
}

set_links() { # up|down
	local net

	for net in $(interfaces); do
		ip link set "$net" "$1" || return
	done
}

removed() {
	rmmod "$driver" && [ -z "$(devices)" ]
}

check "probe" load "$module"
check "interfaces" network
check "both ports are active" until_true 20 active 2
# shellcheck disable=SC2046 # two words
set -- $(devices)
first=$1 second=$2
check "GIDs of their addresses" until_true 20 gid_index "$second"
gid=$(gid_index "$first")
before=$(objects)
check "ibv_devinfo -v" devinfo
pingpongs
perftest
manager
all_cleared "after all" "$before"
nvme_over "$(address 0)" --foreign
check "removal" removed
check "interfaces down" set_links down
check "probe, again" insmod "$module"
check "interfaces up" set_links up
check "both ports are active, again" until_true 20 active 2
check "removal, again" removed
plan
