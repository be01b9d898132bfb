# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# One command times out, but the command queue works.
begin_async
fault cmd_drop count 1
check "a command without an answer fails after 15 s" stats 1 16500
check "the next command works at once" stats 0 1000
check "a new process works, too" objects_work
end_async
check "existing objects still work" async_said 0 event 1 'old: ok' 1 'destroyed: 0 left' 1 'new: ok'
check "nothing is left over" nothing_left

# The tests below use a shorter limit.
command_limit erdma_0 2000
check "a shorter limit is set" same 2000000000 "$(eadm dump cmdq -d erdma_0 --json | jq '.rows[0].timeout')"

# The driver fills a slot whose answer might still arrive with a command that has no effect.
# If that command is lost as well, no other command waits for it, and it is recorded as aborted.
GET_STATS=$((0x104))
QUERY_FW_INFO=$((0x102))

filler_given_up() {
	same "aborted" "$(eadm trace -d erdma_0 --json |
		jq -r '.rows[] | select(.op == "query-fw-info" and .state != "done") | .state')"
}

filler_lost() {
	local timeouts

	fault cmd_drop target $GET_STATS arg 0 count 1
	stats 1 20000 && stats 0 20000 || return 1
	timeouts=$(eadm dump cmdq -d erdma_0 --json | jq '.rows[0].timeouts')
	fault cmd_drop target $QUERY_FW_INFO arg 1 count 1
	# Each call uses all slots of the ring.
	objects_work && objects_work && objects_work || return 1
	same 0 "$(cat "$v0/fault/cmd_drop/count")" || return 1
	same "$timeouts" "$(eadm dump cmdq -d erdma_0 --json | jq '.rows[0].timeouts')" || return 1
	until_true 10 filler_given_up
}

check "a lost filler of a lost command's slot blocks nothing" filler_lost

# The record of the first timeout is kept until an administrator of the device has read it.
kept() { # [COMMAND TO READ THROUGH...]
	"$@" eadm dump cmd -d erdma_0 --json | jq '.rows[] | select(.first_timeout == 1).seq'
}

lose_stats() {
	fault cmd_drop target $GET_STATS arg 0 count 1
	stats 1 20000 && stats 0 20000
}

first_kept() {
	local first

	kept >/dev/null && lose_stats && first=$(kept setpriv --reuid 65534 --clear-groups) &&
		[ "$first" ] && lose_stats && same "$first" "$(kept)" &&
		lose_stats && [ "$(kept)" -gt "$first" ]
}

check "the record of the first timeout is kept for the administrator" first_kept
fault cmd_drop target -1 arg 0
command_limit erdma_0 15000
