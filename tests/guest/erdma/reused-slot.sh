# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# The ring wraps around to a slot whose command is still outstanding.

resets() {
	cat "$v0/resets"
}

# So many commands were issued since the first lost one that the next would use its slot.
has_wrapped() { # SUBMITTED_BEFORE
	[ $(($(submitted) - $1)) -ge 128 ]
}

submitted() {
	eadm dump cmdq -d erdma_0 --json | jq '.rows[0].submitted'
}

# lose LIMIT COMMAND...: the first adapter command that COMMAND causes is lost.
lose() {
	command_limit erdma_0 "$1"
	fault cmd_drop count 1 || return 1
	shift
	"$@" &
	until_true 10 grep -qx 0 "$v0/fault/cmd_drop/count"
}

# The second command times out after the ring has wrapped around to the first one's slot.
no_reset() {
	local resets count first second more status=0

	begin_async || return 1
	resets=$(resets)
	count=$(submitted)
	lose 15000 eadm dump eq -d erdma_0 --hw >/tmp/first || status=1
	first=$!
	lose 25000 stats 1 60000 || status=1
	second=$!
	"$programs/objs" -d erdma_0 -n 100 cqs &
	more=$!
	until_true 12 has_wrapped "$count" || status=1
	wait $first
	wait $second && wait $more || status=1
	end_async
	same "$resets" "$(resets)" && async_said 0 event 1 'old: ok' || status=1
	return $status
}

fault cmd_drop target -1 arg 0
check "two lost commands in a row do not cause a reset" no_reset
faults_off
command_limit erdma_0 15000
check "objects work" objects_work
check "nothing is left over" nothing_left
