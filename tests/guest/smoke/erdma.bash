# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # for who includes it
# What of "run" is ERDMA's: Debian's clients, connected over rdma_cm.
a=10.77.0.1 b=10.77.1.1
adapters=/sys/kernel/config/eadm_virt/erdma
client=ib_write_bw

# transfer PORT SERVER... -- CLIENT...: both end with status 0.
transfer() {
	local port=$1 server=() pid status
	shift

	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	timeout 60 "${server[@]}" >"$work/server" 2>&1 </dev/null &
	pid=$!
	until_true 30 listening "$port" && timeout 60 "$@" 2>&1
	status=$?
	[ "$status" = 0 ] || kill "$pid"
	wait "$pid" && [ "$status" = 0 ] && return
	cat "$work/server"
	return 1
}

verified() {
	transfer 7174 rping -s -a "$a" -C 20 -V -- rping -c -a "$a" -I "$b" -C 20 -V
}

remote_memory() {
	transfer 18515 ib_write_bw -R -d erdma_0 -s 65536 -n 100 -- \
		ib_write_bw -R -d erdma_1 -s 65536 -n 100 "$a"
}

busy() {
	rping -s -a "$a" -p 7200 >"$work/server" 2>&1 </dev/null &
	pids=($!)
	until_true 30 listening 7200 || return
	rping -c -a "$a" -I "$b" -p 7200 >"$work/client" 2>&1 </dev/null &
	pids+=($!)
}
