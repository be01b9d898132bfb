# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Faults of queue pairs, of the wire between them, and of completion queues.

# struck_is KNOB REGEX LINE TARGET [FILE VALUE]...: a rule names what strikes LINE
struck_is() {
	local knob=$1 regex=$2 line=$3 target=$4
	shift 4

	[ "$target" = none ] || fault "$knob" target "$target" || return 1
	fault "$knob" "$@" && struck_by "$knob" "$line" && sees "$regex" -i 400ms && drop_traffic
}

test_sq_db_lost() {
	begin_traffic && struck_is sq_db_lost lost-doorbell 'write 1 64 20000' "$client" count 1
}

test_rq_db_lost() {
	begin_traffic && struck_is rq_db_lost lost-doorbell 'send 1 64 20000' "$server" count 1
}

test_qp_stall() {
	begin_traffic &&
		struck_is qp_stall 'sender-stalled|lost-doorbell' 'write 5 64 20000' "$client" arg 0 count 1
}

test_wr_error() {
	begin_traffic && struck_is wr_error qp-error 'write 3 64 3000' "$client" arg 12 count 1
}

test_dma_fault() {
	begin_traffic && struck_is dma_fault qp-error 'write 3 64 3000' "$client" count 1
}

test_wr_slow() {
	begin_traffic || return 1
	fault wr_slow target "$client" arg 300000 count -1
	struck_by wr_slow 'write 40 64 30000' && sees 'sender-slow|sender-stalled' -i 1500ms &&
		drop_traffic
}

test_rnr() {
	begin_traffic &&
		struck_is rnr 'sender-stalled|receiver-starved|lost-doorbell' 'send 1 64 20000' "$server" \
			arg 50 count -1
}

test_peer_silent() {
	begin_traffic || return 1
	fault peer_silent target "$server" count -1
	struck_by peer_silent 'write 3 64 20000' || return 1
	until_true 20 sees peer-silent -i 400ms && drop_traffic
}

test_retransmit() {
	begin_traffic || return 1
	fault retransmit probability 50 target "$client" arg 1 count -1
	struck_by retransmit 'write 4000 64 20000' &&
		sees 'retransmission-storm|peer-silent|packet-loss' -i 500ms || return 1
	fault retransmit probability 100
	drop_traffic
}

test_link_down() {
	begin_traffic &&
		struck_is link_down port-disabled-drops 'write 1 64 20000' none count -1
}

test_bps_limit() {
	begin_traffic &&
		struck_is bps_limit rate-limit-drops 'write 1 60000 20000' "$client" arg 10 count -1
}

test_pps_limit() {
	begin_traffic &&
		struck_is pps_limit rate-limit-drops 'write 1 60000 20000' "$client" arg 10 count -1
}

# An application that does not post what its peer needs.
test_no_receive() {
	local spid cpid

	rping -s -a "$addr" -C 1000000 >"$work/rping-s" 2>&1 </dev/null &
	spid=$!
	until_true 20 eval 'rdma resource show cm_id | grep -q "state LISTEN .*:7174 "' || return 1
	rping -c -a "$addr" -C 1000000 >"$work/rping-c" 2>&1 </dev/null &
	cpid=$!
	until_true 20 eval '[ "$(eadm dump qp -d "$dev" --state rts --json | jq ".rows | length")" = 2 ]' &&
		kill -STOP $spid && until_true 20 sees 'unarmed-cq|receiver-starved' -i 400ms
	local status=$?
	kill -KILL $cpid $spid
	wait $cpid $spid
	return $status
}

test_cq_arm_lost() {
	begin_traffic &&
		struck_is cq_arm_lost missed-event 'write 1 64 20000 events' "$client_cq" count 1
}

test_cq_overrun() {
	begin_traffic && struck_is cq_overrun cq-overrun 'write 5 64 1500' "$client_cq" count 1
}

test_cqe_lost() {
	begin_traffic && struck_is cqe_lost lost-completion 'write 1 64 20000' "$client_cq" count 1
}

test_cqe_duplicate() {
	begin_traffic &&
		struck_is cqe_duplicate extra-completion 'write 4 64 2000' "$client_cq" count 1
}

# Seen by who is told of it; who polls only waits without anybody knowing.
test_cqe_owner() {
	begin_traffic &&
		struck_is cqe_owner 'cq-not-consumed|unarmed-cq|missed-event' \
			'write 3 64 20000 events' "$client_cq" count 1
}

# Who polls throws such a completion away, or takes it for another one's.
test_cqe_opcode() {
	begin_traffic &&
		struck_is cqe_opcode unknown-opcode 'write 2 64 20000' "$client_cq" arg 29 count 1
}

test_cqe_qpn() {
	begin_traffic &&
		struck_is cqe_qpn stray-completion 'write 2 64 20000' "$client_cq" arg "$server" count 1
}
