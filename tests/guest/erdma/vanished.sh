# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# The adapter vanishes from the bus.
begin_async
fault dev_gone count 1
check "commands fail at once" stats 1 3000
check "later commands fail at once, too" stats 1 1000
check "processes are notified" until_true 5 async_said 1 'event: local catastrophic error' \
	3 'event: local work queue catastrophic error'
end_async
context_refused
check "objects are destroyed without commands" async_said 1 'destroyed: 0 left'
faults_off
echo 0 >"$v0/live"
check "the adapter can be removed" until_true 10 unplugged
check "the adapter can be plugged in again" plug
check "objects work" objects_work

surprise() {
	begin_async || return 1
	echo 1 >"$v0/surprise" && until_true 10 unplugged || return 1
	end_async
	async_said 1 'destroyed: 0 left' && plug
}

removals=10
[ "${EADM_TESTS-}" != full ] || removals=50

surprises() {
	local i status=0

	begin_reading
	for ((i = 0; i < removals; i++)); do
		surprise 8>&- || { echo "at removal $i"; status=1; break; }
	done
	end_reading && return $status
}

check "$removals surprise removals with an open context and running dumps" surprises
check "objects work" objects_work
check "nothing is left over" nothing_left
