# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Faults of the command queue.

test_cmd_drop() {
	local timeouts recoveries

	timeouts=$(show cmdq '' .timeouts) recoveries=$(show cmdq '' .recoveries)
	short_limit && fault cmd_drop target "$GET_STATS" count 1
	lost_and_back || return 1
	[ "$(trace '[.[] | select(.state == "timeout" and .op == "get-stats")] | length')" = 1 ] &&
		[ $(($(show cmdq '' .timeouts) - timeouts)) = 1 ] &&
		[ $(($(show cmdq '' .recoveries) - recoveries)) = 1 ] && objects_work
}

test_cmd_db_lost() {
	local timeouts

	timeouts=$(show cmdq '' .timeouts)
	short_limit && fault cmd_db_lost count 1
	lost_and_back || return 1
	[ $(($(show cmdq '' .timeouts) - timeouts)) = 1 ] && [ "$(show cmdq '' .late)" -ge 1 ] &&
		[ "$(trace '[.[] | select(.state == "late")] | length')" = 1 ] && objects_work
}

test_cmd_error() {
	local errors

	errors=$(show cmdq '' .errors)
	fault cmd_error target "$CREATE_QP" arg 12 count 1
	"$programs/async" -d "$dev" </dev/null >"$work/made"
	cat "$work/made"
	grep -q '^made: EIO' "$work/made" || return 1
	[ "$(trace '[.[] | select(.op == "create-qp" and .state == "error" and .syndrome_raw == 12 and .cause == "refused")] | length')" = 1 ] &&
		[ $(($(show cmdq '' .errors) - errors)) = 1 ] && objects_work
}

test_cmd_delay() {
	fault cmd_delay target "$GET_STATS" arg 300 count 1
	asks 0 300 5000 || return 1
	[ "$(trace '[.[] | select(.op == "get-stats" and .state == "done" and .latency >= 300000000)] | length')" = 1 ] ||
		return 1
	eadm trace -d "$dev" --slower-than 300ms --opcode get-stats | grep get-stats
}

# Latencies are 0.5 to 1.5 ms; 1 in 100 is ten times as long. The probability that none of 2,100 is long
# is 7e-10. A busy machine only increases latencies; the test checks that not all of the others are long.
test_cmd_slow() {
	local n least slow begin

	begin=$(now_ms)
	fault cmd_slow arg 1000 count -1
	"$programs/objs" -d "$dev" -n 1050 cqs || return 1
	fault cmd_slow count 0
	read -r n least slow < <(eadm trace -d "$dev" --json -o time,latency |
		jq -r "[.rows[] | select(.time >= ${begin}000000) | .latency] | sort |
			\"\(length) \(.[0]) \(map(select(. >= 5000000)) | length)\"")
	note "of $n commands $slow took 5 ms or more, the quickest $least ns"
	between 2100 4000 "$n" commands && between 500000 5000000 "$least" "ns at least" &&
		between 1 $((3 * n / 4)) "$slow" "of 5 ms or more"
}

test_cmd_duplicate() {
	local spurious

	spurious=$(show cmdq '' .spurious)
	fault cmd_duplicate count 10
	objects_work && [ $(($(show cmdq '' .spurious) - spurious)) -ge 10 ]
}

test_cmd_arm_lost() {
	local missed

	missed=$(show eq 1 .missed)
	# Delay the command, so that the caller requests an event and sleeps before it completes.
	fault cmd_delay target "$GET_STATS" arg 5 count 3
	fault cmd_arm_lost count 1
	asks 0 0 5000 && asks 0 0 5000 && asks 0 0 5000 || return 1
	[ "$(trace '[.[] | select(.op == "get-stats" and .latency > 50000000)] | length')" -ge 1 ] &&
		[ "$(show eq 1 .missed)" -gt "$missed" ] && objects_work
}

test_answer_garbage() {
	fault answer_garbage target "$GET_STATS" count 1
	asks 1 0 5000 && asks 0 0 5000
}
