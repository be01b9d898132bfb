# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# One command gets no answer; the queue as such works.
begin_async
fault cmd_drop count 1
check "a command without an answer fails after 15 s" stats 1 16500
check "the next command works at once" stats 0 1000
check "so does a process" objects_work
end_async
check "objects are as before" async_said 0 event 1 'old: ok' 1 'destroyed: 0 left' 1 'new: ok'
check "nothing is left over" nothing_left

# As well for every command that makes or ends an object, executed or not:
# nobody knows which.
# CREATE_QP 1, DESTROY_QP 2, CREATE_CQ 4, DESTROY_CQ 5, REG_MR 8, DEREG_MR 9
lose() {
	fault cmd_drop target "$1" arg "$2" count 1 || return 1
	"$programs/async" -d erdma_0 </dev/null
	[ "$(cat "$v0/fault/cmd_drop/count")" = 0 ] && nothing_left && objects_work
}

for op in 1 2 4 5 8 9; do
	check "losing command $op leaves nothing over" lose "$op" $((op % 2))
done
fault cmd_drop target -1 arg 0
