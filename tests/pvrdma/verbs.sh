#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a guest: eadm-pvrdma on an rdma_rxe device, with a guest of its own that is played,
# and native programs on another one.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
. tests/pvrdma/verbs-lib.sh
rounds=200
size=1024

# pingpong rc|ud: the real program is the server, then the client
pingpong() {
	local type=$1 native=("ibv_$1_pingpong" -d rxe_far -g "$gid" -s "$size" -n "$rounds") pid

	[ "$type" = rc ] && native+=(-m 1024)
	"${native[@]}" -p 18600 >"$work/native" 2>&1 &
	pid=$!
	until_true 30 eval "ss -Hltn 'sport = :18600' | grep -q ."
	check "ibv_${type}_pingpong: the guest is its client" "$bin/verbs-pingpong" "$work/sock" $near \
		"$type" client 18600 $rounds $size
	wait $pid
	result $? "and the real one is content" "$work/native"
	"$bin/verbs-pingpong" "$work/sock" $near "$type" server 18601 $rounds $size >"$work/played" 2>&1 &
	pid=$!
	until_true 30 eval "ss -Hltn 'sport = :18601' | grep -q ."
	check "ibv_${type}_pingpong: the guest is its server" "${native[@]}" -p 18601 127.0.0.1
	wait $pid
	result $? "and content" "$work/played"
}

# The traffic that an analyser sees on the other end of the wire.
seen() { # COUNT FILTER
	[ "$(tshark -r "$work/trace" -Y "$2" 2>/dev/null | wc -l)" -ge "$1" ]
}

sent() {
	cat /sys/class/infiniband/rxe_near/ports/1/hw_counters/sent_pkts
}

# The control: whether a native client, which ends at the first error, ends when the wire is cut.
native_ends() {
	local server client status=1 before

	before=$(sent)
	ib_write_bw -d rxe_far -x "$(gid_of rxe_far)" -s 4096 -n 5000000 >"$work/native" 2>&1 &
	server=$!
	until_true 30 eval "ss -Hltn 'sport = :18515' | grep -q ."
	ib_write_bw -d rxe_near -x "$(gid_of rxe_near)" -s 4096 -n 5000000 127.0.0.1 >"$work/native" 2>&1 &
	client=$!
	until_true 60 eval '[ "$(sent)" -gt $((before + 1000)) ]' || cat "$work/native"
	ip link set far down
	if until_true 20 eval "! kill -0 $client 2>/dev/null"; then
		status=0
	else
		cat "/proc/$client/stack" >>"$work/native"
	fi
	kill -9 $client $server 2>/dev/null
	wait $client $server 2>/dev/null
	return $status
}

# The wire is cut while data is on its way; then it is mended.
cut() {
	local pid status text="a wire that is cut under traffic: requests end with an error"

	# rdma_rxe of Linux 6.1 repeats requests for ever, those of native programs, too.
	native_ends
	status=$?
	mend_wire
	if [ $status != 0 ]; then
		case $(uname -r) in
		6.1.*) result 0 "a wire that is cut: no request ends, those of native programs do not either" ;;
		*) result 1 "a native client ends when the wire is cut" "$work/native" ;;
		esac
		return
	fi
	"$bin/verbs-cut" "$work/sock" $near $peer_port 3>"$work/under-way" >"$work/cut" 2>&1 &
	pid=$!
	until_true 30 grep -q . "$work/under-way"
	ip link set far down
	wait $pid
	result $? "$text" "$work/cut"
	mend_wire
}

check "two rdma_rxe devices with a wire between them" wire
gid=$(gid_of rxe_far)
refused() { # TEXT OPTION...
	local text=$1

	shift
	! build/pvrdma/eadm-pvrdma "$@" "$work/refused" 2>"$work/why" && grep -q "$text" "$work/why"
}

check "a device that is not there is refused" refused "No such device" --backend verbs:rxe_none
check "so is a port that is not" refused "no such port" --backend verbs:rxe_near,port=2
serve --mode 0600
serve_peer
tshark -q -i far -f "udp port 4791" -s 128 -w "$work/trace" 2>"$work/tshark" &
analyser=$!
until_true 30 grep -qs 'Capturing on' "$work/tshark"
before=$(packets far rx)
tap_of data "$bin/verbs-data" "$work/sock" $near $peer_port
tap_of "two guests" "$bin/verbs-two" "$work/sock" $near "$work/sock2" $next
pingpong rc
pingpong ud
after=$(packets far rx)
check "packets came over the wire: $((after - before))" [ $((after - before)) -gt 1000 ]
kill -INT $analyser
wait $analyser
check "an analyser sees sends, writes, reads and atomics from the guest" seen 200 \
	"ip.src == $near && infiniband.bth.opcode <= 20"
check "and the peer's" seen 200 "ip.src == $far && infiniband.bth.opcode <= 20"
check "datagrams as well, in both directions" eval "seen 200 'ip.src == $near && infiniband.deth' &&
	seen 200 'ip.src == $far && infiniband.deth'"
cut
kill -0 "$program"
result $? "the program still runs" "$work/server"
sed 's/^/# program: /' "$work/server"
sed 's/^/# peer: /' "$work/peer"
kill "$program" "$peer"
wait "$program"
result $? "it ends well" "$work/server"
plan
