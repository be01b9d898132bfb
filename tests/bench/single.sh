# shellcheck shell=bash disable=SC2154 # temp is set by tests/bench/guest
# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tests/bench/guest: what one command costs from its start to its end, in
# CPU time. What it waits for is left out with that: the interval between the two
# samples of diagnose, and adapters that are to answer (stat, diagnose, exporter).

# A command line that works, and its status if that says what was found.
single_subject() { # NAME COMMAND...
	local name=$1 status=0
	shift

	"$@" >"$temp/out" 2>&1 || status=$?
	case $name:$status in
	*:0) subjects+=("$name" "$*") ;;
	check:[678] | diagnose:[678]) subjects+=("$name=$status" "$*") ;;
	*)
		cat "$temp/out" >&2
		echo "bench: $*: status $status" >&2
		return 1
		;;
	esac
}

# CPU time of each command with its quartiles, beside rdma's; and the time until
# it ended, waits included.
single_table() { # FILE
	local name wall cpu q1 q3 theirs

	theirs=$(value "$1" rdma 4)
	printf '%-10s %8s %17s %6s   %-6s   %s\n' command "CPU, us" "quartiles" ratio wanted \
		"elapsed, us"
	while read -r name _ wall _ cpu _ _ q1 q3; do
		printf '%-10s %8d %8d %8d %6s   %-6s   %d\n' "$name" "$cpu" "$q1" "$q3" \
			"$(ratio "$cpu" "$theirs")" "${wanted[$name]-}" "$wall"
	done <"$1"
}

bench_single() {
	local name subjects=() holder=()
	local -A wanted=([list]=1.0 [stat]=1.0 [dump]=1.0)

	for name in /sys/class/infiniband/*; do
		holder+=(hold -d "${name##*/}" -q 10 -c 4 -m 4 --)
	done
	export XDG_STATE_HOME=$temp
	single_subject rdma rdma resource show qp
	single_subject list eadm list
	single_subject stat eadm stat
	single_subject dump eadm dump qp
	for name in info trace ver check mark; do
		wanted[$name]=2.0
		single_subject $name eadm $name
	done
	wanted[diagnose]=2.0 wanted[exporter]=2.0
	single_subject diagnose eadm diagnose -i 10ms
	single_subject exporter eadm exporter --once
	"${holder[@]}" measure 9 "${subjects[@]}" >"$temp/single"
	single_table "$temp/single"
}
