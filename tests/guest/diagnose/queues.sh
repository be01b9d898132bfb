# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Faults of queue pairs, of the wire between them, and of completion queues.

# fails_both SYNDROME [OPTIONS]: the client fails, and its peer receives the error
fails_both() {
	local syndrome=$1
	shift

	beside+=("qp-error qp $server")
	sees qp-error qp "$client" \
		".first_event == \"qp-fatal\" and .first_cause == \"$syndrome\"" "$@"
}

test_sq_db_lost() {
	begin_traffic && strike sq_db_lost 'write 1 64 20000' "$client" count 1 &&
		sees lost-doorbell qp "$client" '.sq_pi > 0 and .hw_sq_pi == 0' -i 400ms && drop_traffic
}

test_rq_db_lost() {
	begin_traffic && strike rq_db_lost 'send 1 64 20000' "$server" count 1 &&
		sees lost-doorbell qp "$server" '.rq_pi == 1 and .hw_rq_pi == 0' -i 400ms && drop_traffic
}

test_qp_stall() {
	begin_traffic && strike qp_stall 'write 5 64 20000' "$client" arg 0 count 1 &&
		sees sender-stalled qp "$client" '.hw_sq_pi > 0 and .hw_sq_ci == 0' -i 400ms &&
		drop_traffic
}

test_wr_error() {
	begin_traffic && strike wr_error 'write 3 64 3000' "$client" arg 12 count 1 &&
		fails_both send-access -i 400ms && drop_traffic
}

test_dma_fault() {
	begin_traffic && strike dma_fault 'write 3 64 3000' "$client" count 1 &&
		fails_both send-address -i 400ms && drop_traffic
}

# A request takes 0.1 to 0.3 s, or 1 to 3 s: during a longer interval, a few requests complete.
test_wr_slow() {
	begin_traffic && strike wr_slow 'write 200 64 60000' "$client" arg 200000 count -1 &&
		sees sender-slow qp "$client" '.hw_sq_ci_growth > 0 and .hw_sq_pi > .hw_sq_ci' -i 3200ms &&
		drop_traffic
}

# The receive is posted and known to the adapter: neither receiver-starved nor lost-doorbell applies.
test_rnr() {
	begin_traffic && strike rnr 'send 1 64 20000' "$server" arg 50 count -1 &&
		sees receive-not-taken qp "$server" \
			'.hw_sq_pi > .hw_sq_ci and .hw_rq_pi == 1 and .hw_rq_ci == 0' -i 400ms &&
		drop_traffic
}

test_peer_silent() {
	begin_traffic && strike peer_silent 'write 3 64 20000' "$server" count -1 || return 1
	# After the last retry, the other end receives the error; it has no verdict peer-silent.
	beside=("qp-error qp $server")
	sees peer-silent qp "$client" '.hw_rto_retrans > 0' -i 400ms &&
		until_true 20 sees peer-silent qp "$client" \
			'.first_cause == "retries-exceeded" and .hw_rto_retrans == 24' -i 100ms &&
		drop_traffic
}

test_retransmit() {
	begin_traffic && strike retransmit 'write 4000 64 60000' "$client" \
		probability 50 arg 1 count -1 &&
		sees retransmission-storm qp "$client" \
			'.hw_rto_retrans_growth >= 10 and .hw_tx_packets_growth > .hw_rto_retrans_growth' \
			-i 500ms && drop_traffic
}

test_link_down() {
	begin_traffic && strike link_down 'write 1 64 20000' none count -1 || return 1
	# Dropped packets are retransmitted, and no response arrives.
	beside=("peer-silent qp $client")
	sees port-disabled-drops counters - '.tx_disabled_drops_growth > 0' -i 400ms && drop_traffic
}

limited() { # KNOB
	begin_traffic && strike "$1" 'write 1 60000 20000' "$client" arg 10 count -1 || return 1
	# Each retransmission of the only message is dropped.
	beside=("sender-stalled qp $client")
	# 60,000 bytes are 40 packets or more.
	sees rate-limit-drops counters - ".tx_$1_drops_growth >= 40" -i 400ms && drop_traffic
}

test_bps_limit() {
	limited bps_limit
}

test_pps_limit() {
	limited pps_limit
}

# An application that posts too few receives for its peer.
test_no_receive() {
	begin_traffic && say 'send 3 64 20000 starved' &&
		until_true 10 sees receiver-starved qp "$server" \
			'.rq_pi == 1 and .hw_rq_pi == 1 and .hw_rq_ci == 1 and .hw_sq_pi > .hw_sq_ci' \
			-i 400ms && drop_traffic
}

connected() { # PID: prints the receive CQ of its connected QP
	eadm dump qp -d "$dev" --pid "$1" --state rts --json | jq -e '.rows[0].recv_cqn'
}

# An application that is stopped after a completion event, before it arms the CQ again.
test_unarmed_cq() {
	local spid cpid cqn status=1

	rping -s -a "$addr" -C 1000000 >"$work/rping-s" 2>&1 </dev/null &
	spid=$!
	until_true 20 listening 7174 || return 1
	rping -c -a "$addr" -C 1000000 >"$work/rping-c" 2>&1 </dev/null &
	cpid=$!
	# A process that waits for a response has armed its CQ, which is not a fault: stop it in another state.
	until_true 20 connected $spid && until_true 20 connected $cpid && cqn=$(connected $spid) &&
		until_true 60 stop_untold $spid "$cqn" && sees unarmed-cq cq "$cqn" \
			'.armed == 0 and .hw_pi > .ci and .channel == 1' -i 400ms
	status=$?
	kill -KILL $cpid $spid
	wait $cpid $spid
	return $status
}

test_cq_arm_lost() {
	begin_traffic && strike cq_arm_lost 'write 1 64 20000 events' "$client_cq" count 1 &&
		sees missed-event cq "$client_cq" '.armed == 1 and .hw_pi == 1 and .events == 0' -i 400ms &&
		drop_traffic
}

test_cq_overrun() {
	begin_traffic && strike cq_overrun 'write 5 64 1500' "$client_cq" count 1 || return 1
	# The QP of the CQ fails as well.
	beside=("qp-error qp $client")
	sees cq-overrun cq "$client_cq" '.errors == 1' -i 400ms && drop_traffic
}

test_cqe_lost() {
	begin_traffic && strike cqe_lost 'write 1 64 20000' "$client_cq" count 1 &&
		sees lost-completion cq "$client_cq" '.hw_pi == 0 and .hw_send_cqes == 1' -i 400ms &&
		drop_traffic
}

test_cqe_duplicate() {
	begin_traffic && strike cqe_duplicate 'write 4 64 2000' "$client_cq" count 1 &&
		sees extra-completion cq "$client_cq" '.hw_pi == 5 and .hw_send_cqes == 4' -i 400ms &&
		drop_traffic
}

# The consumer receives events repeatedly, but does not see the completion.
test_cqe_owner() {
	begin_traffic && strike cqe_owner 'write 3 64 20000 events' "$client_cq" count 1 &&
		sees damaged-completion cq "$client_cq" '.ci == 0 and .hw_pi == 3' \
			-i 400ms && drop_traffic
}

# A polling consumer discards such a completion, or attributes it to a different request.
test_cqe_opcode() {
	begin_traffic && strike cqe_opcode 'write 2 64 20000' "$client_cq" arg 29 count 1 &&
		sees unknown-opcode cq "$client_cq" '.op_raw == "0x1d" and .queue == "sq"' -i 400ms && drop_traffic
}

test_cqe_qpn() {
	begin_traffic && strike cqe_qpn 'write 2 64 20000' "$client_cq" arg "$server" count 1 &&
		sees stray-completion cq "$client_cq" \
			".qpn == $server and .send_cqn != $client_cq and .recv_cqn != $client_cq" -i 400ms &&
		drop_traffic
}
