# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Memory goes back only when the adapter has confirmed that it let go of it.
# shellcheck source=tests/guest/erdma/peer-writes.sh
. "$here/peer-writes.sh"

# The firmware answers nothing, not even a reset, and yet data moves.
firmware_dies() {
	command_limit erdma_0 1000
	fault reset_lost count -1
	fault init_lost count -1
	fault cmd_drop count -1
}

check "an adapter without function level reset" replug flr 0
begin_landing
firmware_dies
check "a command has no answer" stats 1 10000
check "the process gives the memory back" ask 60 '(ok|EIO)' dereg
tried() { # TIMES
	stats 1 3000 >/dev/null
	[ "$(eadm dump cmdq -d erdma_0 --json | jq '.rows[0].failed_recoveries')" -ge "$1" ]
}
ask_again() {
	ask 10 ok mark && until_true 40 tried 4 && ask 10 yes kept && ask 10 yes 'still 500'
}
check "no byte lands in it, however often the reset is tried" ask_again
check "the adapter is halted" state_is halted
verdicts() {
	eadm diagnose -d erdma_0 --json -i 100ms | jq -r '.rows[] | select(.severity == "critical").rule'
}
check "and diagnosed so, and of nothing else" same adapter-halted "$(verdicts)"
check "and keeps the memory" kept '.orphans >= 1 and .orphan_bytes >= 16384'
faults_off
check "it is reset when it can be" until_true 20 state_is ready
check "and gives the memory back" kept '.orphans == 0 and .orphan_bytes == 0'
check "where no byte lands even now" ask 30 yes 'still 500'
end_landing
command_limit erdma_0 1000
check "objects work" objects_work

# An adapter that is late is waited for.
fault reset_late arg 600 count 1
fault dev_hang count 1
check "a late reset is waited for: a command fails" stats 1 10000
check "and the next one works" stats 0 5000
check "without the adapter being halted" kept '.state == "ready" and .orphans == 0'

lines() { # TEXT
	dmesg | grep -c "$1"
}
left="left without a confirmed reset"
before=$(lines "$left")
fault reset_late arg 1500 count 1
check "removal waits for a late reset" driver unbind
check "and nothing is lost" same "$before" "$(lines "$left")"
check "the driver can be bound again" driver bind
until_true 30 is_open
check "objects work" objects_work

# A kernel that looks after DMA is right to complain of what is left on purpose.
filter=/sys/kernel/debug/dma-api/driver_filter
[ ! -e $filter ] || echo none >$filter
fault reset_lost count -1
check "a removal without a confirmed reset ends" driver unbind
lost=$(dmesg | sed -n "s/.*$left: .* and \([0-9]*\) bytes of queues.*/\1/p" | tail -n 1)
echo "# $lost bytes of queues are lost"
check "and says how much is lost" test "${lost:-0}" -ge 100000
check "the adapter is not used while it serves a life of before" eval "! driver bind"
faults_off
check "but when it confirms the reset" driver bind
until_true 30 is_open
check "objects work" objects_work

check "an adapter that resets, but does not say so" replug reset_done 0
# What was left counts until its device is gone.
[ ! -e $filter ] || echo >$filter
command_limit erdma_0 1000
fault dev_hang count 1
check "a command fails" stats 1 10000
check "and the next one works" stats 0 5000
check "it can be left" driver unbind
check "and nothing is lost" same "$((before + 1))" "$(lines "$left")"
check "and be used again" driver bind
until_true 30 is_open
check "objects work" objects_work

check "an adapter with function level reset" replug flr 1
begin_landing
command_limit erdma_0 1000
fault reset_lost count -1
fault cmd_drop count 2
check "a command has no answer" stats 1 20000
check "the function is reset, service is back" until_true 10 state_is ready
check "the process gives the memory back" ask 60 '(ok|EIO)' dereg
check "no byte lands in it" ask 30 yes 'still 2000'
end_landing
faults_off
check "an adapter that says so again" replug reset_done 1
check "nothing is left over" nothing_left
