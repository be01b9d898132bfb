# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Faults of interrupts and event queues. The traffic's CQs report to the first
# completion EQ: index 2, vector 1.
EQ=2
VECTOR=1

test_irq_lost() {
	local before

	begin_traffic && ask 15 'ok 5' 'write 5 64 10000 events' || return 1
	fault irq_lost target $VECTOR count 1
	next_is_late && ask 15 'ok 1' 'write 1 64 10000 events' || return 1
	calm
	[ "$(show eq "$EQ" .missed)" -ge 1 ] && works && end_traffic || return 1
	# Vector of the command queue: the waiting caller detects the loss, because the command is delayed.
	before=$(hits irq_lost)
	fault irq_lost target 0 count 1
	fault cmd_delay target "$GET_STATS" arg 20 count 1
	asks 0 0 5000 && struck irq_lost "$before"
}

test_irq_spurious() {
	local interrupts events

	begin_traffic || return 1
	interrupts=$(show eq "$EQ" .interrupts)
	events=$(show eq "$EQ" .events)
	fault irq_spurious target $VECTOR count 20
	spurious() {
		[ "$(cat "$adapter/fault/irq_spurious/count")" = 0 ] &&
			[ "$(show eq "$EQ" .interrupts)" -gt "$interrupts" ]
	}
	until_true 10 spurious && [ "$(show eq "$EQ" .events)" = "$events" ] && works && end_traffic
}

test_eq_db_lost() {
	begin_traffic || return 1
	fault eq_db_lost target $EQ count 1
	ask 20 'ok 5' 'write 5 64 15000 events' &&
		ask 20 'ok 40' 'write 40 64 15000 events' && end_traffic
}

test_eq_overflow() {
	begin_traffic || return 1
	fault eq_overflow target $EQ count 1
	next_is_late && ask 10 'timeout' 'write 1 64 1500 events' || return 1
	[ "$(show eq "$EQ" .hw_overflow --hw)" = 1 ] && works &&
		ask 15 'ok 5' 'write 5 64 10000 events' && end_traffic
}

test_eqe_duplicate() {
	local events

	begin_traffic || return 1
	events=$(show eq "$EQ" .events)
	fault eqe_duplicate target $EQ count 3
	ask 15 'ok 40' 'write 40 64 10000 events' || return 1
	[ "$(hits eqe_duplicate)" -ge 1 ] &&
		[ $(($(show eq "$EQ" .events) - events)) -ge $((2 * $(hits eqe_duplicate))) ] &&
		works && event_of_another_eq && end_traffic
}

# An event in an EQ that is not the CQ's own does not reach the CQ's consumer, because only the CQ's own
# EQ serialises its handlers.
event_of_another_eq() {
	local before unknown

	before=$(hits eqe_duplicate)
	unknown=$(show eq $((EQ + 1)) '.unknown // 0')
	all_unknown() {
		same $(($(hits eqe_duplicate) - before)) \
			$(($(show eq $((EQ + 1)) '.unknown // 0') - unknown))
	}
	fault eqe_duplicate target $EQ arg 1 count 3
	ask 15 'ok 40' 'write 40 64 10000 events' && struck eqe_duplicate "$before" &&
		until_true 5 all_unknown && works
}

test_aeq_qp_fatal() {
	local events

	begin_traffic && works || return 1
	events=$(show eq 0 .events)
	fault aeq_qp_fatal target "$client" arg 1 count 1
	told 'local work queue catastrophic error' || return 1
	[ "$(show eq 0 .events)" -gt "$events" ] &&
		[ "$(show qp "$client" .first_event)" = qp-fatal ] || return 1
	ask 10 'Work Request Flushed Error' 'write 5 64 5000' && works_again && end_traffic
}

test_aeq_cq_error() {
	begin_traffic && works || return 1
	fault aeq_cq_error target "$client_cq" count 1
	told 'CQ error' && told 'local work queue catastrophic error' || return 1
	[ "$(show cq "$client_cq" .errors)" = 1 ] && works_again && end_traffic
}

test_aeq_unknown() {
	local unknown

	unknown=$(show eq 0 .unknown)
	fault aeq_unknown arg 3 count 1
	until_true 5 struck aeq_unknown || return 1
	fault aeq_unknown arg 200 count 1
	counted() {
		[ $(($(show eq 0 .unknown) - unknown)) = 2 ]
	}
	until_true 5 counted && objects_work
}
