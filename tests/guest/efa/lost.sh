#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the guest: compares how drivers handle lost admin commands. One process has verified
# traffic while another one reads counters, which takes a command. Adapters e0 and e1 must
# exist, with their default time limit.
# Usage: lost.sh NAME=MODULE...
# shellcheck disable=SC2154 # lib.bash sets them
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
. tests/lib/tap.sh
. tests/guest/efa/lib.bash

# Prints whether a command line succeeded, and how long it took.
outcome() {
	local begin result=fails

	begin=$(now_ms)
	"$@" >/dev/null 2>&1 && result=succeeds
	echo "$result after $((($(now_ms) - begin + 500) / 1000)) s"
}

traffic_state() {
	if goes_on; then
		echo "goes on"
	elif dead "$traffic"; then
		echo "has ended: $(cat "$work/srd")"
	else
		echo "stands still"
	fi
}

lose() { # WHAT
	case $1 in
	interrupt) fault irq_lost target 0 count -1 ;;
	answer) fault cmd_drop target "$GET_STATS" count 1 ;;
	all) fault cmd_drop count 2 ;;
	esac
}

try() { # NAME MODULE WHAT
	local resets

	calm
	# shellcheck disable=SC2119
	insmod "$2" && until_true 30 active 2 && begin_traffic && resets=$(cat "$config/e0/resets") &&
		lose "$3" || return
	echo "# $1, $3 lost: the command $(outcome stats)"
	[ "$3" = all ] || calm
	echo "# $1, $3 lost: traffic $(traffic_state)"
	echo "# $1, $3 lost: the next command $(outcome stats)"
	calm
	echo "# $1, $3 lost: a new process $(outcome srd -n 1 "$(device e0)" "$(device e1)")"
	echo "# $1, $3 lost: resets of the adapter: $(($(cat "$config/e0/resets") - resets))"
	end_former_traffic && rmmod efa
}

for pair in "$@"; do
	for what in interrupt answer all; do
		try "${pair%%=*}" "${pair#*=}" $what
		check "${pair%%=*}: $what" test $? = 0
	done
done
tap_end
