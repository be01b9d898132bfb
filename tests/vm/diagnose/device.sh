# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Faults of the command queue, of events and of the device as a whole.
EQ=2
VECTOR=1

ask_device() {
	rdma statistic show link "$dev/1" >/dev/null 2>&1
}

test_cmd_drop() {
	short_limit
	fault cmd_drop target "$GET_STATS" count 1
	ask_device
	sees command-lost -i 200ms
}

# Any other command would ring again, so nobody asks before it was given up.
test_cmd_db_lost() {
	short_limit
	fault cmd_db_lost count 1
	ask_device
	sees command-lost -i 200ms
}

test_cmd_delay() {
	fault cmd_delay target "$GET_STATS" arg 1500 count 1
	ask_device && sees command-slow -i 100ms
}

test_cmd_slow() {
	fault cmd_slow target "$GET_STATS" arg 1200000 count 1
	ask_device && sees command-slow -i 100ms
}

test_cmd_error() {
	fault cmd_error target "$CREATE_QP" arg 12 count 1
	! "$programs/objs" -d "$dev" -n 1 qps || return 1
	sees command-failed -i 100ms && grep -q create-qp "$work/verdicts"
}

test_cmd_duplicate() {
	fault cmd_duplicate target "$GET_STATS" count 1
	ask_device && sees spurious-completion -i 100ms
}

test_cmd_arm_lost() {
	fault cmd_arm_lost count 1
	ask_device && ask_device && ask_device && sees missed-interrupt -i 100ms
}

test_answer_garbage() {
	fault answer_garbage target "$GET_STATS" count -1
	sees bad-answer -i 100ms
}

test_irq_lost() {
	begin_traffic || return 1
	fault irq_lost target $VECTOR count 1
	ask 15 'ok 1' 'write 1 64 10000 events' || return 1
	sees 'missed-interrupt|lost-interrupt' -i 100ms && end_traffic
}

test_irq_spurious() {
	fault irq_spurious target $VECTOR probability 100 count 0
	{
		pause 0.4
		fault irq_spurious count 100
	} &
	sees spurious-interrupt -i 2s
}

test_eq_db_lost() {
	begin_traffic || return 1
	fault eq_db_lost target $EQ count 1
	ask 20 'ok 40' 'write 40 64 15000 events' || return 1
	sees 'missed-interrupt|lost-interrupt' -i 100ms && end_traffic
}

test_eq_overflow() {
	begin_traffic || return 1
	fault eq_overflow target $EQ count 1
	struck_by eq_overflow 'write 1 64 500 events' && sees eq-overflow -i 100ms && drop_traffic
}

test_eqe_duplicate() {
	begin_traffic || return 1
	# One event is asked for, and nobody is there to ask for another.
	fault eqe_duplicate target $EQ count 1
	struck_by eqe_duplicate 'write 1 64 10000 armed' &&
		until_true 10 sees extra-events -i 200ms && drop_traffic
}

test_aeq_qp_fatal() {
	begin_traffic || return 1
	fault aeq_qp_fatal target "$client" arg 1 count 1
	told 'local work queue catastrophic error' && sees qp-error -i 100ms && drop_traffic
}

test_aeq_cq_error() {
	begin_traffic || return 1
	fault aeq_cq_error target "$client_cq" count 1
	told 'CQ error' && sees cq-overrun -i 100ms && drop_traffic
}

test_aeq_unknown() {
	fault aeq_unknown arg 3 count 1
	until_true 5 struck aeq_unknown && until_true 10 sees unknown-event -i 100ms
}

test_stall() {
	fault stall arg 3000 count 1
	until_true 5 struck stall || return 1
	ask_device &
	until_true 10 sees 'cmdq-stalled|command-slow' -i 100ms || return 1
	wait $!
}

test_counters_wrap() {
	begin_traffic && works || return 1
	{
		pause 0.6
		fault counters_wrap arg 2000 count 1
	} &
	sees counters-restarted -i 2s || return 1
	# Over the wrap itself nothing is wrong.
	works && diagnose . -i 300ms && ! grep -q drops "$work/verdicts" && end_traffic
}

# What consumers had is lost with the adapter's memory, and told so.
test_dev_hang() {
	begin_traffic && short_limit || return 1
	fault dev_hang count 1
	ask_device
	until_true 20 sees command-lost -i 100ms || return 1
	sees qp-forgotten -i 100ms && drop_traffic
}

test_fw_reset() {
	begin_traffic || return 1
	fault fw_reset count 1
	told 'local catastrophic error' && until_true 10 sees qp-forgotten -i 100ms && drop_traffic
}

test_reset_lost() {
	begin_traffic || return 1
	fault reset_lost count 1
	fault fw_reset count 1
	told 'local catastrophic error' && until_true 10 sees qp-forgotten -i 100ms && drop_traffic
}

failed_recovery() {
	[ "$(show cmdq '' .failed_recoveries)" -ge 1 ]
}

test_init_lost() {
	fault init_lost count -1
	fault fw_reset count 1
	until_true 10 failed_recovery && sees cmdq-dead -i 100ms || return 1
	calm
	until_true 15 ask_device
}

unplugged() {
	! [ -e "/sys/class/infiniband/$dev" ]
}

# The last one: it takes the device away.
test_dev_gone() {
	begin_traffic || return 1
	fault dev_gone count 1
	told 'local catastrophic error' && sees adapter-gone -i 100ms || return 1
	echo 0 >"$adapter/live"
	until_true 20 unplugged && exec {say}>&- && kill -KILL "$traffic" && calm &&
		echo 1 >"$adapter/live" &&
		until_true 30 ls "/sys/bus/pci/devices/$(cat "$adapter/address")/infiniband"
}
