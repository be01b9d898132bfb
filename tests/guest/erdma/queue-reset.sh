# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The command queue does not respond at all: the adapter is reset.
command_limit erdma_0 3000
begin_async
fault dev_hang count 1
check "a command without an answer fails" stats 1 10000
check "the next command works soon, after a reset" stats 0 3000
check "a new process works, too" objects_work
check "processes are notified" async_said 1 'event: local catastrophic error' \
	3 'event: local work queue catastrophic error'
end_async
check "dead objects are destroyed, new objects work" async_said 1 'old: EIO' 1 'destroyed: 0 left' 1 'new: ok'
check "nothing is left over" nothing_left

# An adapter stalls for longer than recovery waits.
fault stall arg 6000 count 1
check "a command fails if the adapter stalls" stats 1 5900
serves() {
	stats 0 15000
}
check "service resumes when the adapter does" until_true 15 serves
check "a process works" objects_work
check "nothing is left over" nothing_left
command_limit erdma_0 15000
