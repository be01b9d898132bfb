# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# A driver takes over an adapter in the state in which kexec leaves it, with queues and memory
# regions.
# shellcheck source=tests/guest/erdma/peer-writes.sh
. "$here/peer-writes.sh"

left_behind() {
	echo 1 >"$v0/stale"
	driver unbind && until_true 5 grep -q 0 "$v0/stale" && ask 10 yes 'still 200'
}

# probe STATUS: the driver binds (0) or cannot bind (1), and no write of the peer reaches memory
# meanwhile.
probe() {
	local status=0

	ask 10 ok mark || return 1
	driver bind || status=1
	same "$1" $status && ask 10 yes kept && ask 10 yes 'still 500'
}

check "an adapter without function level reset" replug flr 0
for fault in none reset_late; do
	begin_landing
	check "the adapter is left behind, with all of its objects" left_behind
	[ $fault = none ] || fault $fault arg 800 count 1
	check "no byte is written while the driver binds ($fault)" probe 0
	until_true 30 is_open
	check "objects work" objects_work
	end_landing
done

begin_landing
check "the adapter is left behind, with all of its objects" left_behind
fault reset_lost count -1
fault init_lost count -1
check "no byte is written if the adapter does not confirm a reset" probe 1
check "the adapter is not used without a confirmed reset" unplugged
faults_off
check "the adapter is used after a confirmed reset" driver bind
until_true 30 is_open
check "objects work" objects_work
end_landing
check "an adapter with function level reset" replug flr 1
check "nothing is left over" nothing_left
