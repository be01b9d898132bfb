# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tests/bench/guest: what one command costs from its start to its end.

# Waits on purpose, in us, which are taken off: diagnose samples twice, an
# interval of at least 10 ms apart. No other of these commands sleeps.
declare -A waits=([diagnose]=10000)

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

# Name, median and quartiles of the elapsed time, and the ratio to rdma's.
single_table() { # FILE
	local name median q1 q3 theirs

	theirs=$(value "$1" rdma 2)
	printf '%-12s %10s %21s %8s   %s\n' command "median, us" "quartiles, us" ratio wanted
	while read -r name _ median _ _ q1 q3; do
		median=$((median - ${waits[$name]-0}))
		q1=$((q1 - ${waits[$name]-0}))
		q3=$((q3 - ${waits[$name]-0}))
		printf '%-12s %10d %10d %10d %8s   %s\n' "$name" "$median" "$q1" "$q3" \
			"$(ratio "$median" "$theirs")" "${wanted[$name]-}"
	done <"$1"
}

bench_single() {
	local name subjects=() devices holder=()
	local -A wanted=([rdma]="" [list]=1.0 [stat]=1.0 [dump]=1.0)

	# shellcheck disable=SC2012 # names of devices
	mapfile -t devices < <(ls /sys/class/infiniband)
	for name in "${devices[@]}"; do
		holder+=(hold -d "$name" -q $((20 / ${#devices[@]})) -c 4 -m 4 --)
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
