# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Memory is freed only when the adapter has confirmed that it no longer uses it.
# shellcheck source=tests/guest/erdma/peer-writes.sh
. "$here/peer-writes.sh"

# The firmware answers nothing, not even a reset, but the adapter still transfers data.
firmware_dies() {
	command_limit erdma_0 1000
	fault reset_lost count -1
	fault init_lost count -1
	fault cmd_drop count -1
}

check "an adapter without function level reset" replug flr 0
begin_landing
firmware_dies
check "a command times out" stats 1 10000
check "the process deregisters the memory" ask 60 '(ok|EIO)' dereg
tried() { # TIMES
	stats 1 3000 >/dev/null
	[ "$(eadm dump cmdq -d erdma_0 --json | jq '.rows[0].failed_recoveries')" -ge "$1" ]
}
ask_again() {
	ask 10 ok mark && until_true 40 tried 4 && ask 10 yes kept && ask 10 yes 'still 500'
}
check "no byte is written to the memory, even after several attempts to reset" ask_again
check "the adapter is halted" state_is halted
verdicts() {
	eadm diagnose -d erdma_0 --json -i 100ms | jq -r '.rows[] | select(.severity == "critical").rule'
}
check "eadm diagnose reports only that the adapter is halted" same adapter-halted "$(verdicts)"
check "the memory is kept" kept '.orphans >= 1 and .orphan_bytes >= 16384'
faults_off
check "the adapter is reset as soon as it can be" until_true 20 state_is ready
check "the memory is freed" kept '.orphans == 0 and .orphan_bytes == 0'
check "no byte is written to the freed memory" ask 30 yes 'still 500'
end_landing
command_limit erdma_0 1000
check "objects work" objects_work

# The driver waits for an adapter that confirms a reset late.
fault reset_late arg 600 count 1
fault dev_hang count 1
check "the driver waits for a late reset: a command fails" stats 1 10000
check "the next command works" stats 0 5000
check "a late reset does not halt the adapter" kept '.state == "ready" and .orphans == 0'

lines() { # TEXT
	dmesg | grep -c "$1"
}
left="left without a confirmed reset"
before=$(lines "$left")
fault reset_late arg 1500 count 1
check "removal waits for a late reset" driver unbind
check "no memory is lost" same "$before" "$(lines "$left")"
check "the driver can be bound again" driver bind
until_true 30 is_open
check "objects work" objects_work

# A kernel that checks DMA mappings would rightly report those that are left on purpose.
filter=/sys/kernel/debug/dma-api/driver_filter
[ ! -e $filter ] || echo none >$filter
fault reset_lost count -1
check "a removal without a confirmed reset completes" driver unbind
lost=$(dmesg | sed -n "s/.*$left: .* and \([0-9]*\) bytes of queues.*/\1/p" | tail -n 1)
echo "# $lost bytes of queues are lost"
check "the driver logs how much memory is lost" test "${lost:-0}" -ge 100000
check "the adapter is not used before it confirms a reset" eval "! driver bind"
faults_off
check "the adapter is used after it has confirmed a reset" driver bind
until_true 30 is_open
check "objects work" objects_work

check "an adapter that resets, but does not confirm it" replug reset_done 0
# The mappings that were left count until their device is gone.
[ ! -e $filter ] || echo >$filter
command_limit erdma_0 1000
fault dev_hang count 1
check "a command fails" stats 1 10000
check "the next command works after a reset" stats 0 5000
check "the driver can be unbound from this adapter" driver unbind
check "unbinding loses no memory" same "$((before + 1))" "$(lines "$left")"
check "this adapter can be used again" driver bind
until_true 30 is_open
check "objects work" objects_work

check "an adapter with function level reset" replug flr 1
begin_landing
command_limit erdma_0 1000
fault reset_lost count -1
fault cmd_drop count 2
check "a command times out" stats 1 20000
check "the function is reset, and the adapter is back in service" until_true 10 state_is ready
check "the process deregisters the memory" ask 60 '(ok|EIO)' dereg
check "no byte is written to the memory" ask 30 yes 'still 2000'
end_landing
faults_off
check "an adapter that confirms resets again" replug reset_done 1
check "nothing is left over" nothing_left
