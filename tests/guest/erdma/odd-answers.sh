# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Answers that refuse a command, arrive twice or come without an interrupt.
refuse() {
	fault cmd_error target "$1" arg 22 count 1 || return 1
	if [ "$1" = 3 ]; then
		# MODIFY_QP is issued only for connected QPs. One adapter has both ends, because the
		# part stock-tools removes the address of the second interface.
		"$programs/conns" again 10.77.0.1 10.77.0.1 1
	else
		"$programs/async" -d erdma_0 </dev/null
	fi
	# ALLOC_DB, without which there is no context.
	[ "$1" != 264 ] || context_refused
	[ "$(cat "$v0/fault/cmd_error/count")" = 0 ] && nothing_left && objects_work
}

for op in 1 2 3 4 5 8 9 264 265; do
	check "refusing command $op leaves nothing over" refuse "$op"
done
fault cmd_error target -1

fault cmd_duplicate count 50
check "duplicate completions do no harm" "$programs/objs" -n 50 qps
faults_off
fault cmd_delay arg 20 count 1
fault irq_lost target 0 count 3
check "a command succeeds soon although its interrupt is lost" stats 0 2000
check "an interrupt was lost" eval '[ "$(cat $v0/fault/irq_lost/hits)" -ge 1 ]'
faults_off
fault cmd_delay arg 500 count 3
check "slow commands work" stats 0 3000
faults_off
check "objects work" objects_work
check "nothing is left over" nothing_left
