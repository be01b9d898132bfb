# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh sets them, run takes $beside
# Faults of the command queue, of events and of the device as a whole. The recorder and the counters
# still show the faults of earlier tests, so each test checks the evidence for its own fault.
EQ=2
VECTOR=1

ask_device() {
	rdma statistic show link "$dev/1" >/dev/null 2>&1
}

# since: prints a jq condition for evidence of a command that begins from now on
since() {
	echo ".time >= $(now_ms)000000"
}

test_cmd_drop() {
	local since timeouts

	timeouts=$(show cmdq '' .timeouts)
	short_limit
	since=$(since)
	fault cmd_drop target "$GET_STATS" count 1
	ask_device
	sees command-lost cmdq - ".op == \"get-stats\" and .state == \"timeout\" and $since and
		.timeouts == $timeouts + 1" -i 200ms
}

# Another command would ring the doorbell again, so none is issued before the first one has timed out.
test_cmd_db_lost() {
	local timeouts late

	timeouts=$(show cmdq '' .timeouts) late=$(show cmdq '' .late)
	short_limit
	fault cmd_db_lost count 1
	ask_device
	sees command-lost cmdq - ".timeouts == $timeouts + 1 and .late == $late + 1" -i 200ms
}

test_cmd_delay() {
	local since

	since=$(since)
	fault cmd_delay target "$GET_STATS" arg 1500 count 1
	ask_device && sees command-slow cmdq - \
		".op == \"get-stats\" and .latency >= 1500000000 and $since" -i 100ms
}

# The delay is random: 0.5 to 1.5 s, or ten times as long.
took_long() {
	ask_device && [ "$(trace 'map(select(.op == "get-stats"))[-1].latency')" -ge 1000000000 ]
}

test_cmd_slow() {
	local since

	since=$(since)
	fault cmd_slow target "$GET_STATS" arg 1000000 count -1
	until_true 60 took_long || return 1
	fault cmd_slow count 0
	sees command-slow cmdq - ".op == \"get-stats\" and .latency >= 1000000000 and $since" -i 100ms
}

test_cmd_error() {
	local since

	since=$(since)
	fault cmd_error target "$CREATE_QP" arg 12 count 1
	! "$programs/objs" -d "$dev" -n 1 qps || return 1
	sees command-failed cmdq - \
		".op == \"create-qp\" and .syndrome_raw == 12 and .state == \"error\" and $since" -i 100ms
}

test_cmd_duplicate() {
	fault cmd_duplicate target "$GET_STATS" count 1
	ask_device && sees spurious-completion cmdq - '.spurious > 0' -i 100ms
}

test_cmd_arm_lost() {
	local missed

	missed=$(show eq 1 .missed)
	fault cmd_delay target "$GET_STATS" arg 5 count 3
	fault cmd_arm_lost count 1
	ask_device && ask_device && ask_device && sees missed-interrupt eq 1 ".missed > $missed" -i 100ms
}

test_answer_garbage() {
	fault answer_garbage target "$GET_STATS" count -1
	sees bad-answer counters - '.hw_error == "-22"' -i 100ms
}

# found_late MISSED: the driver finds events without an interrupt, and counts them
found_late() {
	until_true 10 sees missed-interrupt eq $EQ ".missed > $1 and .role == \"completion\"" -i 100ms
}

test_irq_lost() {
	local missed

	begin_traffic && missed=$(show eq $EQ .missed) || return 1
	fault irq_lost target $VECTOR count 1
	ask 15 'ok 1' 'write 1 64 10000 events' && found_late "$missed" && end_traffic
}

test_irq_spurious() {
	local pid status=0

	fault irq_spurious target $VECTOR probability 100 count 0
	# Keep raising interrupts, so that some arrive between the two samples.
	while fault irq_spurious count 20; do
		pause 0.1
	done &
	pid=$!
	sees spurious-interrupt eq $EQ '.interrupts_growth >= 10 and .events_growth == 0' -i 2s ||
		status=1
	kill $pid
	wait $pid
	fault irq_spurious count 0
	return $status
}

test_eq_db_lost() {
	local missed

	begin_traffic && missed=$(show eq $EQ .missed) || return 1
	fault eq_db_lost target $EQ count -1
	# After the acknowledgement is lost, later events raise no interrupt.
	ask 20 'ok 5' 'write 5 64 15000 events' && until_true 5 struck eq_db_lost &&
		ask 20 'ok 5' 'write 5 64 15000 events' && found_late "$missed" || return 1
	# The next event is found late as well; its acknowledgement ends the fault.
	fault eq_db_lost count 0
	ask 20 'ok 5' 'write 5 64 15000 events' && end_traffic
}

test_eqe_duplicate() {
	begin_traffic || return 1
	# The CQ is armed once, and no consumer arms it again.
	fault eqe_duplicate target $EQ count 1
	struck_by eqe_duplicate 'write 1 64 10000 armed' &&
		until_true 10 sees extra-events cq "$client_cq" '.events == 2 and .notify_requests == 1 and .last_extra_age > 0' \
			-i 200ms && drop_traffic
}

test_aeq_qp_fatal() {
	begin_traffic || return 1
	fault aeq_qp_fatal target "$client" arg 1 count 1
	told 'local work queue catastrophic error' &&
		sees qp-error qp "$client" '.first_event == "qp-fatal" and .first_cause == "general"' \
			-i 100ms && drop_traffic
}

test_aeq_cq_error() {
	begin_traffic || return 1
	fault aeq_cq_error target "$client_cq" count 1
	told 'CQ error' || return 1
	# The QP of the CQ fails as well.
	beside=("qp-error qp $client")
	sees cq-overrun cq "$client_cq" '.errors == 1' -i 100ms && drop_traffic
}

test_aeq_unknown() {
	local unknown

	unknown=$(show eq 0 .unknown)
	fault aeq_unknown arg 3 count 1
	until_true 5 struck aeq_unknown &&
		until_true 10 sees unknown-event eq 0 ".unknown == $unknown + 1" -i 100ms
}

# Wait for the age that the rule requires: diagnose also issues commands, which wait as well.
waits_long() {
	[ "$(show cmdq '' '.oldest_age // 0')" -ge 1000000000 ]
}

# During the stall a command waits; afterwards the command was slow.
test_stall() {
	local since

	since=$(since)
	# Shorter than the command timeout.
	fault stall arg $((${EADM_PATIENCE:-1} > 1 ? 12000 : 6000)) count 1
	until_true 5 struck stall || return 1
	ask_device &
	until_true 10 waits_long &&
		sees cmdq-stalled cmdq - '.oldest_age >= 1000000000 and .outstanding > 0' -i 100ms || return 1
	wait $!
	sees command-slow cmdq - ".latency >= 1000000000 and $since" -i 100ms
}

# looked_once COMMANDS: the adapter has executed more commands than these, and none for 0.3 s.
looked_once() {
	local commands

	read -r commands <"$adapter/commands"
	[ "$commands" -gt "$1" ] && pause 0.3 && grep -qx "$commands" "$adapter/commands"
}

test_counters_wrap() {
	local commands

	begin_traffic && works && read -r commands <"$adapter/commands" || return 1
	{
		until_true 20 looked_once "$commands"
		fault counters_wrap arg 2000 count 1
	} &
	# The evidence has the values from before and after the wrap.
	sees counters-restarted counters - \
		'[$e[] | select(.name == "tx_packets").value] | length == 2 and max - min > 1e18' \
		-i $((2 * ${EADM_PATIENCE:-1}))s || return 1
	# A wrap alone is not a fault.
	works && diagnose any of - false -i 300ms &&
		[[ $judged != *"beside: "* && $judged != *drops* ]] && end_traffic
}

# The adapter's reset destroys both QPs of the connection, and their consumers receive an event.
forgotten() {
	beside=("qp-forgotten qp $client" "qp-forgotten qp $server")
	until_true 20 sees qp-forgotten qp "$client" '.events > 0 and .state == "err"' -i 100ms
}

# The tests from here on reset the adapter, which creates the EQs again and so ends an overflow.
test_eq_overflow() {
	begin_traffic || return 1
	fault eq_overflow target $EQ count 1
	struck_by eq_overflow 'write 1 64 500 events' &&
		sees eq-overflow eq $EQ '.hw_overflow == 1' -i 100ms && drop_traffic
}

test_dev_hang() {
	local timeouts

	timeouts=$(show cmdq '' .timeouts)
	begin_traffic && short_limit || return 1
	fault dev_hang count 1
	ask_device
	forgotten && sees command-lost cmdq - ".timeouts > $timeouts and .recoveries > 0" -i 100ms &&
		drop_traffic
}

test_fw_reset() {
	begin_traffic || return 1
	fault fw_reset count 1
	told 'local catastrophic error' && forgotten && drop_traffic
}

test_reset_lost() {
	begin_traffic || return 1
	fault reset_lost count 1
	fault fw_reset count 1
	told 'local catastrophic error' && forgotten && drop_traffic
}

test_reset_late() {
	begin_traffic && short_limit || return 1
	fault reset_late arg 500 count 1
	fault dev_hang count 1
	ask_device
	forgotten && drop_traffic
}

failed_recovery() {
	[ "$(show cmdq '' .failed_recoveries)" -ge 1 ]
}

test_init_lost() {
	fault init_lost count -1
	fault fw_reset count 1
	until_true 10 failed_recovery &&
		sees cmdq-dead cmdq - '.state == "dead" and .failed_recoveries > 0' -i 100ms || return 1
	calm
	until_true 15 ask_device
}

unplugged() {
	! [ -e "/sys/class/infiniband/$dev" ]
}

# These tests run last, because they remove the device.
gone_by() { # KNOB
	begin_traffic || return 1
	fault "$1" count 1
	told 'local catastrophic error' && sees adapter-gone dev - '.state == "gone"' -i 100ms || return 1
	echo 0 >"$adapter/live"
	until_true 20 unplugged && exec {say}>&- && kill -KILL "$traffic" && calm &&
		echo 1 >"$adapter/live" &&
		until_true 30 ls "/sys/bus/pci/devices/$(cat "$adapter/address")/infiniband"
}

test_false_gone() {
	gone_by false_gone
}

test_dev_gone() {
	gone_by dev_gone
}
