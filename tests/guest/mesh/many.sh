# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # lib.sh and rxe-lib.sh set them
# "eadm test mesh" of many hosts, $argument or 32, with a device of rdma_rxe each: CPU time for each
# pair of hosts as their number grows, and three faults at once among all of them.
# shellcheck source=tests/guest/mesh/rxe-lib.sh
. "$here/rxe-lib.sh"
most=${argument:-32}

# CPU time in ms of the children of this shell, in $spent: a subshell has none yet.
count_spent() {
	local times

	times >"$work/times"
	mapfile -t times < <(tail -n 1 "$work/times" | tr ' ' '\n')
	spent=$(($(ms "${times[0]}") + $(ms "${times[1]}")))
}

# ms 1m2.345s
ms() {
	local seconds=${1#*m}

	seconds=${seconds%s}
	echo $((${1%m*} * 60000 + 10#${seconds%.*} * 1000 + 10#${seconds#*.}))
}

# healthy N: adds hosts, CPU time in ms and seconds to $work/costs
healthy() {
	local begin=$SECONDS

	hosts=$1
	if ! { COUNT=5 TIMEOUT=60s WAIT=600s run_mesh 0 --json >"$work/output" && same "" "$(faults)" && all_rows true; }; then
		head -n 200 "$work/output"
		return 1
	fi
	count_spent
	echo "$1 $spent $((SECONDS - begin))" >>"$work/costs"
}

# What a pair costs besides the startup, which each host has, follows from two sizes.
show_costs() {
	awk '{ pairs = $1 * ($1 - 1) / 2
		printf "# %d hosts, %d pairs: %d s, %.1f s of CPU time, %.1f ms for a pair", $1, pairs, $3, $2 / 1000, $2 / pairs
		if (NR > 1) printf ", %.1f ms without startup", ($2 / $1 - last) * 2 / ($1 - n)
		last = $2 / $1; n = $1; print "" }' "$work/costs"
}

bounded() {
	awk '{ pair = $2 / ($1 * ($1 - 1)) } NR == 1 { first = pair } pair > 1.1 * first { print; bad = 1 } END { exit bad }' \
		"$work/costs"
}

hosts=$most
begin=$SECONDS
check "$most devices are set up" set_up_mesh
echo "# $((SECONDS - begin)) s"
for ((n = 8; n <= most; n *= 2)); do
	check "$n hosts reach each other" healthy $n
done
show_costs
check "with startup, a pair costs at most 10 % more CPU time than with 8 hosts" bounded
hosts=$most
begin=$SECONDS
COUNT=5 WAIT=600s check "three faults at once among $most hosts" three
echo "# $((SECONDS - begin)) s"
