#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Foreign applications over rdma_cm, in the guest: within one adapter (client
# and server on A) and between two (client bound to B). TAP on stdout.
# Usage: apps.sh ADDRESS_A ADDRESS_B [PART]
# PART is "even" or "odd": every other test of a choice, so that two runs make
# all of it; without one the full matrix is run.
set -u
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/interop/lib.sh
. "$here/lib.sh"
a=$1 b=$2 part=${3-}
# See there: for clients that may come before their server.
listener=$(readlink -f "$here/../../build/tests/lib/src/listener.so")

rping_pairs() {
	pair "rping on one adapter" 7174 \
		rping -s -a "$a" -C 20 -- rping -c -a "$a" -C 20 -v -V
	pair "rping between adapters" 7174 \
		rping -s -a "$a" -C 20 -- rping -c -a "$a" -I "$b" -C 20 -v -V
	pair "rping with a listener on every address" 7174 \
		rping -s -C 5 -- rping -c -a "$b" -C 5 -v -V
	pair "rping with a listener on every address of IPv6, too" 7174 \
		rping -s -a :: -C 5 -- rping -c -a "$b" -C 5 -v -V
	pair "rping with large buffers" 7174 \
		rping -s -a "$a" -C 5 -S 65000 -- rping -c -a "$a" -C 5 -S 65000 -V
}

# The port mapper runs on hosts with iWARP adapters: udev starts it. Of the full
# matrix only.
mapped_pairs() {
	iwpmd || return
	pair "rping with a port mapper" 7174 \
		rping -s -a "$a" -C 5 -- rping -c -a "$a" -I "$b" -C 5 -v -V
	pair "rping with a port mapper and a listener on every address" 7174 \
		rping -s -C 5 -- rping -c -a "$b" -C 5 -v -V
	pkill -x iwpmd
}

cm_pairs() {
	pair "ucmatose" 7471 ucmatose -b "$a" -- ucmatose -s "$a"
	pair "ucmatose with 20 connections" 7471 \
		ucmatose -b "$a" -c 20 -C 20 -S 256 -- ucmatose -s "$a" -c 20 -C 20 -S 256
	pair "ucmatose between adapters" 7471 ucmatose -b "$a" -- ucmatose -s "$a" -b "$b"
}

# Its own choice is rounds of thousands of transfers: minutes in a guest without
# hardware.
rstream_pairs() {
	local size

	for size in 64 65536 1048576; do
		pair "rstream $size bytes" 7471 \
			rstream -b "$a" -S $size -I 10 -C 20 -- rstream -s "$a" -S $size -I 10 -C 20
	done
	pair "rstream with checked data" 7471 \
		rstream -b "$a" -S all -I 10 -T b -k 0 -- rstream -s "$a" -S all -I 10 -T b -k 0
}

perf() { # NAME TOOL OPTIONS...
	local name=$1

	shift
	pair "$name" 18515 "$@" -R -F -- env LD_PRELOAD="$listener" "$@" -R -F "$a"
}

# perftest has none for writes. Sends need credit on iWARP, which is not announced by a completion:
# their sender sleeps for ever when it has completed all before the receiver got to a third of them
# (on any adapter), so these have to last. ib_send_lat takes an event that comes without a
# completion, as after a request for events in front of one, for a completion.
perftest_events() { # VERB
	case $1 in
	read)
		perf "ib_read_bw with events" ib_read_bw -s 4096 -n 50 -e -Q 1
		perf "ib_read_lat with events" ib_read_lat -s 4096 -n 50 -e
		;;
	send) perf "ib_send_bw with events" ib_send_bw -s 1048576 -n 1000 -r 1000 -e -Q 1 ;;
	esac
}

perftest_pairs() { # SIZES VERBS...
	local sizes=$1 verb size

	shift
	for verb; do
		for size in $sizes; do
			perf "ib_${verb}_bw $size bytes" "ib_${verb}_bw" -s "$size" -n 50
			perf "ib_${verb}_lat $size bytes" "ib_${verb}_lat" -s "$size" -n 50
		done
		perftest_events "$verb"
		perf "ib_${verb}_bw over 4 QPs" "ib_${verb}_bw" -s 4096 -n 50 -q 4
		perf "ib_${verb}_bw in both directions" "ib_${verb}_bw" -s 4096 -n 50 -b
		pair "ib_${verb}_bw between adapters" 18515 "ib_${verb}_bw" -s 65536 -n 50 -R -F -- \
			env LD_PRELOAD="$listener" \
			"ib_${verb}_bw" -s 65536 -n 50 -R -F --source_ip "$b" "$a"
	done
}

atomic_pairs() {
	local verb

	for verb in CMP_AND_SWAP FETCH_AND_ADD; do
		perf "ib_atomic_bw $verb" ib_atomic_bw -A "$verb" -n 50
		perf "ib_atomic_lat $verb" ib_atomic_lat -A "$verb" -n 50
	done
}

# Its server serves until it is killed. The receiver asks for a QP without sends, the
# sender for one without receives. With -n there is no end by time, and rc_bw alone
# counts what it sends: the others would go on until they are killed.
qperf_pair() { # TEST OPTIONS...
	local name=$1 pid before

	wanted || return 0
	before=$(objects)
	shift
	qperf >"$work/server" 2>&1 </dev/null &
	pid=$!
	until_true "$LIMIT" tcp_listening 19765
	timeout "$patient_limit" qperf "$a" -cm1 "$@" "$name" >"$work/client" 2>&1 </dev/null
	result $? "qperf $name on one adapter" "$work/server" "$work/client"
	kill "$pid"
	wait "$pid" 2>/dev/null
	all_cleared "qperf $name" "$before"
}

qperf_pairs() {
	local name

	qperf_pair rc_bw -m 4096 -n 50
	for name in rc_lat rc_bi_bw rc_rdma_read_lat rc_rdma_write_lat; do
		qperf_pair $name -t 1
	done
}

libfabric_pairs() {
	fabric "fi_pingpong msg" -e msg -p verbs -I 20 -c
	fabric "fi_pingpong rdm" -e rdm -p "verbs;ofi_rxm" -I 20 -c
}

# Its control connection is plain TCP, so the listener to wait for is not RDMA's.
fabric() { # NAME OPTIONS...
	local name=$1 pid status server_status before

	wanted || return 0
	before=$(objects)
	shift
	timeout "$patient_limit" fi_pingpong "$@" -d "$(device_of "$a")" >"$work/server" 2>&1 </dev/null &
	pid=$!
	until_true "$LIMIT" tcp_listening 47592
	timeout "$patient_limit" fi_pingpong "$@" -d "$(device_of "$a")" "$a" >"$work/client" 2>&1 </dev/null
	status=$?
	wait $pid
	server_status=$?
	[ $status != 0 ] || status=$server_status
	result $status "$name" "$work/server" "$work/client"
	all_cleared "$name" "$before"
}

tcp_listening() { # PORT
	ss -Hltn "sport = :$1" | grep -q .
}

device_of() { # ADDRESS: verbs domain of the adapter
	local netdev

	netdev=$(ip -o -4 address show to "$1" | awk '{ print $2; exit }')
	rdma link show | awk -v n="$netdev" '$0 ~ "netdev " n { sub("/.*", "", $2); print $2; exit }'
}

case $part in
'') sizes="2 64 4096 65536 1048576" ;;
even | odd)
	sizes="64 65536"
	choose "$part"
	;;
*)
	echo "apps.sh: no part '$part'" >&2
	exit 2
	;;
esac
before=$(objects)
rping_pairs
cm_pairs
rstream_pairs
perftest_pairs "$sizes" send write read
atomic_pairs
qperf_pairs
libfabric_pairs
[ -n "$part" ] || mapped_pairs
after=$(objects)
[ "$before" = "$after" ]
left=$?
printf 'before:\n%s\nafter:\n%s\n' "$before" "$after" >"$work/objects"
result $left "no object is left over" "$work/objects"
plan
