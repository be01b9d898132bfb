# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Faults of queue pairs and of the wire between them.

# timed LOW HIGH ARGUMENTS OF ask...: within so many ms; HIGH times EADM_PATIENCE
timed() {
	local low=$1 high=$(($2 * ${EADM_PATIENCE:-1})) begin

	shift 2
	begin=$(now_ms)
	ask "$@" && between "$low" "$high" $(($(now_ms) - begin)) ms
}

test_sq_db_lost() {
	begin_traffic || return 1
	fault sq_db_lost target "$client" count 1
	ask 10 'timeout, 0 of 1' 'write 1 64 1000' || return 1
	# The record was written, the adapter does not know.
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
		works_again && end_traffic
}

test_wr_slow() {
	begin_traffic || return 1
	fault wr_slow target "$client" arg 20000 count 10
	timed 100 12000 15 'ok 10' 'write 10 64 11000' && works && end_traffic
}

test_dma_fault() {
	begin_traffic || return 1
	fault dma_fault target "$client" count 1
	ask 10 'local' 'write 3 64 3000' && told 'local work queue catastrophic error' &&
		works_again && end_traffic
}

test_rnr() {
	begin_traffic || return 1
	fault rnr target "$server" arg 50 count 4
	timed 200 8000 10 'ok 1' 'send 1 64 6000' && works && end_traffic
}

test_peer_silent() {
	begin_traffic || return 1
	fault peer_silent target "$server" count -1
	timed 4000 12000 20 'transport retry counter exceeded' 'write 3 64 11000' || return 1
	calm
	told 'local work queue catastrophic error' && works_again && end_traffic
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
	# The server's adapter: the client's messages are dropped on arrival.
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
