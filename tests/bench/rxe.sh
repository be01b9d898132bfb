# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # guest sets them
# The virtual adapter beside rdma_rxe: both ends of a connection in this guest,
# on one device each. README.md tells the method.
our_addr=10.77.0.1	# of the first adapter
rxe_addr=10.78.0.1
# See there: for clients that may come before their server.
listener=$(readlink -f build/tests/lib/src/listener.so)

rxe_device() {
	modprobe rdma_rxe
	ip link add bench0 type dummy
	ip addr add $rxe_addr/24 dev bench0
	ip link set bench0 up
	rdma link add rxe_bench type rxe netdev bench0
}

rxe_remove() {
	rdma link delete rxe_bench
	ip link delete bench0
}

# perf ADDRESS COLUMN TOOL OPTIONS...: a figure of the client's table
perf() {
	local addr=$1 column=$2 pid

	shift 2
	"$@" -R -F >"$temp/server" 2>&1 &
	pid=$!
	until_true 60 eval "rdma resource show cm_id 2>/dev/null | grep -q 'state LISTEN .*:18515 '"
	if ! LD_PRELOAD=$listener timeout 60 "$@" -R -F "$addr" >"$temp/client" 2>&1; then
		kill $pid 2>/dev/null
		cat "$temp/server" "$temp/client" >&2
		return 1
	fi
	wait $pid
	awk -v c="$column" '/^ *[0-9]+ +[0-9]+ +[0-9.]+ / { print $c }' "$temp/client" | tail -n 1
}

median() {
	sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# QPs made and destroyed per second
qps() { # DEVICE
	qprate "$1" | median
}

# compare WHAT UNIT WANTED MEASURE OURS THEIRS ARGUMENTS...: of both in turn
compare() {
	local what=$1 unit=$2 wanted=$3 measure=$4 ours=$5 theirs=$6

	shift 6
	: >"$temp/ours"
	: >"$temp/theirs"
	for _ in 1 2 3 4 5; do
		"$measure" "$ours" "$@" >>"$temp/ours"
		"$measure" "$theirs" "$@" >>"$temp/theirs"
	done
	report "$what" "$(median <"$temp/ours")" "$(median <"$temp/theirs")" "$unit" "$wanted"
}

bench_rxe() {
	rxe_device
	compare "ib_write_bw -R, 64 KiB, erdma / rxe" MB/s ">= 4" \
		perf $our_addr $rxe_addr 4 ib_write_bw -s 65536 -n 1000
	compare "ib_send_lat -R, 2 bytes, erdma / rxe" us "<= 0.7" \
		perf $our_addr $rxe_addr 5 ib_send_lat -s 2 -n 1000
	compare "QP create and destroy, erdma / rxe" /s ">= 1" qps "$device" rxe_bench
	rxe_remove
}
