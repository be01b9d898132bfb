# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2016,SC2086 # of lib.sh; for eval; names without blanks
# Started, killed, run and stopped again and again.
cycles() {
	local i
	for ((i = 0; i < ${EADM_PROBE_CYCLES:-3}; i++)); do
		eadm probe start && eadm probe stop || return
	done
	until_true 60 no_programs
}
check "started and stopped again and again, nothing is left" cycles

# Killed while it loads.
killed_start() {
	local pid i
	for i in 1 3 6; do
		build/libeadm/source/probe/load/eadm-probe start auto 1000000 2>/dev/null &
		pid=$!
		pause "$i"
		kill -KILL $pid 2>/dev/null
		wait $pid 2>/dev/null
		eadm probe stop >/dev/null 2>&1
		until_true 60 no_programs || return
	done
	eadm probe start && eadm probe stop
}
check "killed while it starts, it can be stopped and started" killed_start

run_ends() {
	$tool probe run >"$temp/run" 2>&1 &
	local pid=$!
	until_true 120 eval '[ "$(probe_field state)" = "\"running\"" ]' || return
	$src/scenes $dev churn 1 >"$temp/n" && same "$(cat "$temp/n")" "$(probe_field made)" || return
	kill -TERM $pid
	wait $pid
	[ "$(probe_field state)" = '"stopped"' ] && until_true 60 no_programs
}
check "run records until it is ended" run_ends
