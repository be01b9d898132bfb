#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One of two guests that meet over PVRDMA adapters of one program: TAP on stdout. The
# folder $VM_OUT is that of both.
# Usage: pvrdma-peer.sh MODULE 0|1
# Guest 0 has the servers, guest 1 the clients.
set -u
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.." || exit 1
# shellcheck source=tests/interop/pvrdma-lib.sh
. tests/interop/pvrdma-lib.sh
module=$1
own=$2
other=$((1 - own))
turns=0

address() { # GUEST
	echo "10.78.0.1$1"
}

network() {
	local net

	net=$(interfaces) && ip link set "$net" up && ip addr add "$(address "$own")/24" dev "$net"
}

# Both guests are at the same turn.
meet_at() { # NAME
	turns=$((turns + 1))
	: >"$VM_OUT/$own.$turns.$1"
	until_true "$patient_limit" test -e "$VM_OUT/$other.$turns.$1"
}

# together NAME PORT SERVER_COMMAND -- CLIENT_COMMAND: the guest's own half.
together() {
	local name=$1 port=$2 server=() pid before

	shift 2
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	before=$(objects)
	meet_at begin
	if [ "$own" = 0 ]; then
		timeout "$patient_limit" "${server[@]}" >"$work/log" 2>&1 </dev/null &
		pid=$!
		until_true "$LIMIT" listening "$port"
		meet_at ready
		wait "$pid"
	else
		meet_at ready
		timeout "$patient_limit" "$@" >"$work/log" 2>&1 </dev/null
	fi
	result $? "$name" "$work/log"
	all_cleared "$name" "$before"
}

verbs() {
	local device gid kind

	device=$(devices)
	gid=$(gid_index "$device")
	for kind in rc ud; do
		together "ibv_${kind}_pingpong -e" 18515 "ibv_${kind}_pingpong" -g "$gid" -e -c -n 100 -- \
			"ibv_${kind}_pingpong" -g "$gid" -e -c -n 100 "$(address 0)"
	done
	together "ib_write_bw" 18515 ib_write_bw -x "$gid" -F -n 100 -s 65536 -- \
		ib_write_bw -x "$gid" -F -n 100 -s 65536 "$(address 0)"
}

manager() {
	together "rping" 7174 rping -s -a "$(address 0)" -v -C 20 -- \
		rping -c -a "$(address 0)" -v -C 20
	together "ib_send_bw -R" 18515 ib_send_bw -R -F -n 100 -s 4096 -- \
		ib_send_bw -R -F -n 100 -s 4096 "$(address 0)"
	together "ib_read_bw -R" 18515 ib_read_bw -R -F -n 100 -s 65536 -- \
		ib_read_bw -R -F -n 100 -s 65536 "$(address 0)"
}

# The disk of one guest, a file system of the other.
storage() {
	local part=--host

	[ "$own" = 1 ] || part=--target
	meet_at storage
	nvme_over "$(address 0)" "$part" "$VM_OUT"
	meet_at stored
}

check "probe" load "$module"
check "interface" network
check "the port is active" until_true 20 active 1
check "a GID of its address" until_true 20 gid_index "$(devices)"
meet_at network
verbs
manager
storage
meet_at end
plan
