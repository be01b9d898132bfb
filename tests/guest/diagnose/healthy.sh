# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# A busy machine without faults, over two adapters. Polling programs run with a high nice value, otherwise
# eadm would have to wait for them.

limit=$((60 * ${EADM_PATIENCE:-1}))
# Lets a client start before its server listens (see tests/lib/src/listener.c).
listener=$(readlink -f "$programs/listener.so")

perf() { # PORT TOOL OPTIONS...
	local port=$1
	shift

	nice -n 15 timeout $limit "$@" -R -F -D 3 -p "$port" >"$work/server.$port" 2>&1 </dev/null &
	until_true 60 listening "$port" || return 1
	LD_PRELOAD=$listener nice -n 15 timeout $limit "$@" -R -F -D 3 -p "$port" --source_ip 10.77.1.1 "$addr" \
		>"$work/client.$port" 2>&1 </dev/null &
	clients+=($!)
}

busy() {
	[ "$(eadm dump qp -d "$dev" --state rts --json | jq '.rows | length')" -ge 4 ]
}

test_healthy() {
	local pid status=0

	clients=()
	sees_nothing -i 100ms || return 1
	perf 18600 ib_send_bw -s 65536 -q 2 && perf 18601 ib_write_lat -s 64 &&
		perf 18602 ib_read_bw -s 4096 || return 1
	nice -n 15 timeout $limit rping -s -a "$addr" -C 1000 >"$work/rping-s" 2>&1 </dev/null &
	until_true 60 listening 7174 || return 1
	nice -n 15 timeout $limit rping -c -a "$addr" -I 10.77.1.1 -C 1000 >"$work/rping-c" 2>&1 </dev/null &
	until_true 60 busy || return 1
	sees_nothing -i 300ms && sees_nothing || status=1
	for pid in "${clients[@]}"; do
		wait "$pid" || { tail -n 5 "$work"/client.*; status=1; }
	done
	sees_nothing -i 300ms || status=1
	wait
	sees_nothing -i 300ms || status=1
	return $status
}

# Many objects without connections.
test_objects() {
	"$programs/objs" -d "$dev" -n 60 cqs qps mrs states &
	sees_nothing -i 200ms || return 1
	wait $! && sees_nothing -i 100ms
}
