# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The queue does not answer at all: the adapter is reset.
command_limit erdma_0 3000
begin_async
fault dev_hang count 1
check "a command without an answer fails" stats 1 10000
check "after a reset the next one works soon" stats 0 3000
check "so does a process" objects_work
check "processes are told" async_said 1 'event: local catastrophic error' \
	3 'event: local work queue catastrophic error'
end_async
check "dead objects go, new ones work" async_said 1 'old: EIO' 1 'destroyed: 0 left' 1 'new: ok'
check "nothing is left over" nothing_left

# An adapter that is stuck for longer than recovery tries.
fault stall arg 6000 count 1
check "a stalled adapter's command fails" stats 1 5900
serves() {
	stats 0 15000
}
check "service is back when the adapter is" until_true 15 serves
check "a process works" objects_work
check "nothing is left over" nothing_left
command_limit erdma_0 15000
