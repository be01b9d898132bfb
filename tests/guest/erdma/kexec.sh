# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# A driver finds an adapter as kexec leaves it: with its queues and memory regions.
# shellcheck source=tests/guest/erdma/peer-writes.sh
. "$here/peer-writes.sh"

left_behind() {
	echo 1 >"$v0/stale"
	driver unbind && until_true 5 grep -q 0 "$v0/stale" && ask 10 yes 'still 200'
}

# probe STATUS: the driver comes, or cannot (1), and ends the life before it reaches
# memory.
probe() {
	local status=0

	ask 10 ok mark || return 1
	driver bind || status=1
	same "$1" $status && ask 10 yes kept && ask 10 yes 'still 500'
}

check "an adapter without function level reset" replug flr 0
for fault in none reset_late; do
	begin_landing
	check "its adapter is left behind, with all it knows" left_behind
	[ $fault = none ] || fault $fault arg 800 count 1
	check "no byte lands while the driver comes ($fault)" probe 0
	until_true 30 is_open
	check "objects work" objects_work
	end_landing
done

begin_landing
check "its adapter is left behind, with all it knows" left_behind
fault reset_lost count -1
fault init_lost count -1
check "no byte lands when it does not confirm a reset" probe 1
check "the adapter is not used then" unplugged
faults_off
check "but is when it does" driver bind
until_true 30 is_open
check "objects work" objects_work
end_landing
check "an adapter with function level reset" replug flr 1
check "nothing is left over" nothing_left
