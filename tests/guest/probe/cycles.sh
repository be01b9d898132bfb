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

by_kprobes() {
	eadm probe start --level kprobe && $src/scenes $dev churn 20 >"$temp/n" &&
		same "$(cat "$temp/n") 0" "$(probe_field made) $(probe_field lost)" && eadm probe stop
}
check "level kprobe records each call" by_kprobes

# Its tool is killed, or it gets a signal, while it attaches.
ended_start() {
	local pid

	$tool probe start 2>/dev/null &
	pid=$!
	until_true 60 [ -e /sys/fs/bpf/eadm/programs ] && kill -KILL $pid || return
	wait $pid 2>/dev/null
	until_true 60 eval '[ ! -e /sys/fs/bpf/eadm ] && no_programs' || return
	build/libeadm/source/probe/load/eadm-probe start auto 1000000 2>"$temp/why" &
	pid=$!
	until_true 60 [ -e /sys/fs/bpf/eadm/programs ] && kill -TERM $pid || return
	! wait $pid && grep -x interrupted "$temp/why" && [ ! -e /sys/fs/bpf/eadm ] && until_true 60 no_programs
}
check "a start that is interrupted leaves nothing" ended_start

running() {
	$tool probe run >"$temp/run" 2>&1 &
	pid=$!
	until_true 120 eval '[ "$(probe_field state)" = "\"running\"" ]'
}
run_ends() {
	local pid

	running || return
	$src/scenes $dev churn 1 >"$temp/n" && same "$(cat "$temp/n")" "$(probe_field made)" || return
	kill -TERM $pid
	wait $pid
	[ "$(probe_field state)" = '"stopped"' ] && until_true 60 no_programs
}
check "run records until it is ended" run_ends

# As the kernel does when a terminal is closed: all processes of the group get the signal.
hangup() {
	local pid

	running || return
	kill -HUP "$(pgrep -P $pid)" $pid
	wait $pid
	until_true 60 eval '[ "$(probe_field state)" = "\"stopped\"" ] && no_programs'
}
check "run ends with its terminal" hangup

stopped_run() {
	local pid

	running && eadm probe stop || return
	until_true 60 no_programs && wait $pid && same '"stopped"' "$(probe_field state)" && eadm probe start && eadm probe stop
}
check "stop ends run" stopped_run
