# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# The effect of a lost command is unknown, so the driver does only what is safe in either case.

# Prints the number of pages that are pinned for devices. The guest's file system also pins some
# for a short time.
pinned() {
	echo 1 >/proc/sys/vm/stat_refresh
	awk '$1 == "nr_foll_pin_acquired" { n += $2 } $1 == "nr_foll_pin_released" { n -= $2 }
		END { print n }' /proc/vmstat
}

nothing_pinned() {
	[ "$(pinned)" = 0 ]
}

something_pinned() {
	! nothing_pinned && pause 0.2 && ! nothing_pinned && pause 0.2 && ! nothing_pinned
}

# The pages of an object are unpinned when the process ends, whether or not the command was executed.
gives_back() { # OP EXECUTED
	fault cmd_drop target "$1" arg "$2" count 1 || return 1
	"$programs/async" -d erdma_0 </dev/null
	same 0 "$(cat "$v0/fault/cmd_drop/count")" || return 1
	until_true 5 nothing_pinned || { echo "$(pinned) pages are pinned"; return 1; }
	nothing_left && objects_work
}

command_limit erdma_0 2000
# CREATE_QP 1, DESTROY_QP 2, CREATE_CQ 4, DESTROY_CQ 5, REG_MR 8, DEREG_MR 9
for op in 1 2 4 5 8 9; do
	check "memory is released when command $op was lost" gives_back $op 0
	check "memory is released when the answer to command $op was lost" gives_back $op 1
done

# Memory is kept while the adapter still has the object.
keeps() { # OP
	local status=0

	fault cmd_error target "$1" arg 22 count 1 || return 1
	"$programs/async" -d erdma_0 </dev/null
	same 0 "$(cat "$v0/fault/cmd_error/count")" || return 1
	something_pinned || { echo "nothing is kept"; status=1; }
	# A reset releases all of it.
	fault dev_hang count 1
	stats 1 20000 && until_true 10 stats 0 3000
	until_true 5 nothing_pinned || { echo "$(pinned) pages are pinned"; status=1; }
	return $status
}

for op in 2 5 9; do
	check "memory is kept when command $op was refused" keeps $op
done

faults_off
command_limit erdma_0 15000
check "objects work" objects_work
check "nothing is left over" nothing_left
fault cmd_drop target -1 arg 0
fault cmd_error target -1
