# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Faults of queue pairs and of the wire between them.

# timed LOW HIGH ARGUMENTS OF ask...: takes LOW to HIGH ms; HIGH is multiplied by EADM_PATIENCE
timed() {
	local low=$1 high=$(($2 * ${EADM_PATIENCE:-1})) begin

	shift 2
	begin=$(now_ms)
	ask "$@" && between "$low" "$high" $(($(now_ms) - begin)) ms
}

# first_error EVENT SYNDROME: the records of the client's failure have these values
first_error() {
	same "$*" "$(show qp "$client" '| "\(.first_event) \(.first_cause)"')"
}

test_sq_db_lost() {
	begin_traffic || return 1
	fault sq_db_lost target "$client" count 1
	ask 10 'timeout, 0 of 1' 'write 1 64 1000' || return 1
	# The doorbell record was written, but the adapter has not seen it.
	[ "$(show qp "$client" '| (.hw_sq_dbrec | if type == "string" then .[-4:] else . % 65536 end) as $r | .hw_sq_pi == $r' --hw)" = false ] &&
		[ "$(show qp "$client" .hw_sq_pi --hw)" = 0 ] && works && end_traffic
}

test_rq_db_lost() {
	begin_traffic || return 1
	fault rq_db_lost target "$server" count 1
	ask 10 timeout 'send 1 64 1000' || return 1
	[ "$(show qp "$server" .hw_rq_pi --hw)" = 0 ] && works && end_traffic
}

test_qp_stall() {
	begin_traffic || return 1
	fault qp_stall target "$client" arg 300 count 1
	timed 300 8000 10 'ok 5' 'write 5 64 6000' || return 1
	fault qp_stall arg 0 count 1
	ask 10 'timeout, 0 of 5' 'write 5 64 500' || return 1
	[ "$(show qp "$client" '| .hw_sq_pi > .hw_sq_ci' --hw)" = true ] &&
		ask 10 '' close && works_again && end_traffic
}

test_wr_error() {
	begin_traffic || return 1
	fault wr_error target "$client" arg 12 count 1
	ask 10 'local protection error|local access error|local' 'write 3 64 3000' &&
		told 'local work queue catastrophic error' && grep -q '^flushed: 2' "$work/out" &&
		first_error qp-fatal send-access && works_again && end_traffic
}

test_wr_slow() {
	local before begin took rate asked

	begin_traffic || return 1
	fault wr_slow target "$client" arg 20000 count 10
	timed 100 12000 15 'ok 10' 'write 10 64 11000' && works || return 1
	# About half of 1000 are hit; the probability of a number outside these bounds is below 1e-9.
	before=$(hits wr_slow)
	fault wr_slow probability 50 arg 0 count -1
	begin=$(now_ms)
	ask 30 'ok 1000' 'write 1000 64 20000' || return 1
	took=$(($(now_ms) - begin))
	between 395 605 $(($(hits wr_slow) - before)) "of 1000 were hit" || return 1
	# With 0.1 s or more for each request, the rate falls.
	before=$(hits wr_slow)
	fault wr_slow probability 100 arg 200000
	ask 60 'ok 150' 'write 150 64 60000' &
	asked=$!
	until_true 10 struck wr_slow "$before" &&
		rate=$(eadm stat -d "$dev" --live -i 1s -n 1 --json | jq '.rows[0].rates.tx_packets | floor') &&
		between 0 11 "$rate" "packets a second" && kill -0 $asked &&
		[ $((1000000 / took)) -gt $((2 * rate)) ] || return 1
	fault wr_slow count 0
	wait $asked && end_traffic
}

test_dma_fault() {
	begin_traffic || return 1
	fault dma_fault target "$client" count 1
	ask 10 'local' 'write 3 64 3000' && told 'local work queue catastrophic error' &&
		first_error qp-fatal send-address && works_again && end_traffic
}

test_rnr() {
	local before asked

	begin_traffic || return 1
	fault rnr target "$server" arg 50 count 4
	timed 200 8000 10 'ok 1' 'send 1 64 6000' || return 1
	before=$(hits rnr)
	fault rnr count -1
	ask 20 'ok 1' 'send 1 64 15000' &
	asked=$!
	# A receive is posted, but not used.
	until_true 10 struck rnr "$before" &&
		same "2 1" "$(show qp "$server" '| "\(.hw_rq_pi) \(.hw_rq_ci)"' --hw)" || return 1
	fault rnr count 0
	wait $asked && works && end_traffic
}

test_peer_silent() {
	begin_traffic || return 1
	fault peer_silent target "$server" count -1
	timed 4000 16000 25 'transport retry counter exceeded' 'write 3 64 20000' || return 1
	calm
	told 'local work queue catastrophic error' && first_error qp-fatal retries-exceeded &&
		same 24 "$(show qp "$client" .hw_rto_retrans --hw)" && works_again && end_traffic
}

test_retransmit() {
	local tx rx

	begin_traffic || return 1
	tx=$(counter tx_packets) rx=$(counter rx_packets)
	fault retransmit target "$client" arg 10 count 5
	ask 10 'ok 1' 'write 1 64 5000' || return 1
	[ "$(show qp "$client" .hw_rto_retrans --hw)" = 5 ] &&
		between 5 5 $((($(counter tx_packets) - tx) - ($(counter rx_packets) - rx))) surplus &&
		works && end_traffic
}

test_link_down() {
	local tx rx

	begin_traffic -c 10.77.1.1 || return 1
	tx=$(counter tx_disabled_drops) rx=$(counter rx_disabled_drops)
	# At the server's adapter, messages of the client are dropped on arrival.
	fault link_down count 2
	ask 10 'ok 1' 'write 1 64 5000' && grew rx_disabled_drops "$rx" 2 || return 1
	end_traffic || return 1
	begin_traffic || return 1
	fault link_down count 2
	ask 10 'ok 1' 'write 1 64 5000' && grew tx_disabled_drops "$tx" 2 && works && end_traffic
}

limited() { # KNOB COUNTER
	local before

	begin_traffic || return 1
	before=$(counter "$2")
	fault "$1" target "$client" arg 10 count 5
	# 60,000 bytes are 40 or more packets.
	timed 50 8000 10 'ok 1' 'write 1 60000 6000' || return 1
	between 200 300 $(($(counter "$2") - before)) "$2" && works && end_traffic
}

test_bps_limit() {
	limited bps_limit tx_bps_limit_drops
}

test_pps_limit() {
	limited pps_limit tx_pps_limit_drops
}
