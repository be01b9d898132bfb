# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Faults of completion queues. Writes complete at the client only.

test_cq_arm_lost() {
	begin_traffic || return 1
	fault cq_arm_lost target "$client_cq" count 1
	next_is_late && ask 10 timeout 'write 1 64 1500 events' || return 1
	# The CQ is armed and has one completion, but no event.
	[ "$(show cq "$client_cq" '| "\(.armed) \(.hw_pi) \(.events)"' --hw)" = "1 1 0" ] && works &&
		ask 15 'ok 10' 'write 10 64 10000 events' && end_traffic
}

test_cq_overrun() {
	begin_traffic && works || return 1
	fault cq_overrun target "$client_cq" count 1
	ask 10 '(timeout|post)' 'write 5 64 1500' && told 'CQ error' &&
		told 'local work queue catastrophic error' || return 1
	[ "$(show cq "$client_cq" .errors)" = 1 ] && works_again && end_traffic
}

test_cqe_lost() {
	begin_traffic || return 1
	fault cqe_lost target "$client_cq" count 1
	ask 10 'timeout, 0 of 1' 'write 1 64 1000' || return 1
	# The adapter has counted one completion, but the CQ is empty.
	[ "$(show qp "$client" .hw_send_cqes --hw)" = 1 ] &&
		[ "$(show cq "$client_cq" .hw_pi --hw)" = 0 ] &&
		works && works_again && end_traffic
}

test_cqe_duplicate() {
	begin_traffic || return 1
	fault cqe_duplicate target "$client_cq" count 1
	ask 10 'ok' 'write 4 64 2000' || return 1
	[ "$(show qp "$client" .hw_send_cqes --hw)" = 4 ] &&
		[ "$(show cq "$client_cq" .hw_pi --hw)" = 5 ] && works_again && end_traffic
}

test_cqe_owner() {
	begin_traffic || return 1
	fault cqe_owner target "$client_cq" count 1
	ask 10 'timeout, 0 of 3' 'write 3 64 1000' || return 1
	[ "$(show cq "$client_cq" .hw_pi --hw)" = 3 ] && works_again && end_traffic
}

# The provider may handle it in any way, but the process must not crash.
test_cqe_opcode() {
	begin_traffic || return 1
	fault cqe_opcode target "$client_cq" arg 29 count 1
	ask 10 '' 'write 2 64 1000' && [ "$(show cqe "$client_cq" .op_raw)" = "0x1d" ] &&
		works_again && end_traffic
}

test_cqe_qpn() {
	begin_traffic || return 1
	fault cqe_qpn target "$client_cq" arg $((0xfffff)) count 1
	ask 10 '' 'write 2 64 1000' && [ "$(show cqe "$client_cq" .qpn)" = $((0xfffff)) ] &&
		works_again && end_traffic
}
