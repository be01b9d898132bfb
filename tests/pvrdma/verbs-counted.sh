#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a guest whose clock counts instructions (EADM_VM_ICOUNT=0: 1 ns for each), so that a
# busy host slows nothing: what the verbs backend takes for memory, and beside native
# perftest on the same devices for data.
# Usage: verbs-counted.sh MEGABYTES MESSAGES
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
. tests/pvrdma/verbs-lib.sh
megabytes=$1
count=$2

# native send|write: MiB/s of perftest
native() {
	local tool=ib_$1_bw pid

	"$tool" -d rxe_far -x "$far_gid" -F -s 1048576 -n "$count" -t 16 -m 4096 -p 18610 >"$work/native" 2>&1 &
	pid=$!
	until_true 60 eval "ss -Hltn 'sport = :18610' | grep -q ." >&2
	"$tool" -d rxe_near -x "$near_gid" -F -s 1048576 -n "$count" -t 16 -m 4096 -p 18610 127.0.0.1 \
		>"$work/client" 2>&1
	wait $pid
	awk '/^ *1048576 / { print $4 }' "$work/client"
}

# played send|write: of the guest
played() {
	"$bin/verbs-bench" "$work/sock" $near $peer_port "$1" "$count" 16
}

beside() { # send|write
	local ours theirs ratio

	theirs=$(native "$1")
	ours=$(played "$1")
	ratio=$(awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "%.2f", b ? a / b : 0 }')
	echo "# $1 of 1 MiB: $ours MiB/s beside $theirs of perftest: $ratio"
	awk -v r="$ratio" 'BEGIN { exit !(r >= 0.9) }'
	result $? "$1 of 1 MiB is at least 0.9 times as fast as native perftest" "$work/client" "$work/native"
}

# While there still are some.
pages=$((megabytes / 2 + 20))
echo $pages >/proc/sys/vm/nr_hugepages
check "there are $pages huge pages" [ "$(cat /proc/sys/vm/nr_hugepages)" = $pages ]
check "two rdma_rxe devices with a wire between them" wire
far_gid=$(gid_of rxe_far)
near_gid=$(gid_of rxe_near)
sysctl -qw vm.max_map_count=$((megabytes * 256 + 8192))
serve --mode 0600
serve_peer
tap_of "normal pages" "$bin/verbs-memory" "$work/sock" $near $peer_port "$program" normal "$megabytes"
tap_of "huge pages" "$bin/verbs-memory" "$work/sock" $near $peer_port "$program" huge "$megabytes"
beside send
beside write
kill "$program" "$peer"
wait "$program"
result $? "the program ends well" "$work/server"
plan
