# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Old faults are no longer reported, although the counters still include them.

silent() {
	diagnose any of - false -i 100ms
	[[ $judged != *missed-interrupt* && $judged != *unknown-event* && $judged != *spurious-completion* &&
		$judged != *extra-events* ]]
}

test_history() {
	local missed

	begin_traffic && missed=$(show eq 2 .missed) || return 1
	fault irq_lost target 1 count 1
	ask 15 'ok 1' 'write 1 64 10000 events' &&
		until_true 10 sees missed-interrupt eq 2 ".missed > $missed" -i 100ms ||
		return 1
	fault aeq_unknown arg 3 count 1
	until_true 5 struck aeq_unknown && until_true 10 sees unknown-event eq 0 '.unknown > 0' -i 100ms || return 1
	fault cmd_duplicate target "$GET_STATS" count 1
	rdma statistic show link "$dev/1" >/dev/null
	until_true 5 sees spurious-completion cmdq - '.spurious > 0' -i 100ms || return 1
	until_true 60 silent && [ "$(show eq 2 .missed)" -gt "$missed" ] &&
		[ "$(show eq 0 .unknown)" -gt 0 ] && [ "$(show cmdq '' .spurious)" -gt 0 ] && end_traffic
}
