# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Recovery, and processes that change the states of QPs meanwhile.
MODIFY_QP=3
patience=${EADM_PATIENCE:-1}
stall_limit=$((4000 * patience))	# of commands, ms

# A process ends, with QPs that have to be stopped, while recovery checks whether the adapter
# responds. The adapter does not respond, and then loses the change of state as well.
never_stalls() {
	local tracing=/sys/kernel/tracing asked process begin took status=0

	rm -f /tmp/say
	mkfifo /tmp/say && exec {say}<>/tmp/say || return 1
	"$programs/traffic" -s 10.77.0.1 -c 10.77.0.1 -p 7811 </tmp/say >/tmp/traffic 2>&1 &
	process=$!
	until_true 60 grep -q '^connected' /tmp/traffic || { cat /tmp/traffic; return 1; }
	: >$tracing/trace
	echo 1 >$tracing/events/erdma/recovery/enable
	exec {told}<$tracing/trace_pipe
	fault cmd_drop target $MODIFY_QP arg 0 count 1
	fault reset_late arg 250 count 1
	fault dev_hang count 1
	stats 1 30000 &
	asked=$!
	# Waits for the first step of recovery.
	read -r -t $((30 * patience)) -u "$told" || status=1
	begin=${EPOCHREALTIME/./}
	kill -9 $process
	wait $process
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
	wait $asked || status=1
	exec {say}>&- {told}<&-
	echo 0 >$tracing/events/erdma/recovery/enable
	echo "the process ended after $took ms"
	# The process has not waited for a command of the epoch before the reset.
	[ $took -lt $stall_limit ] && return $status
}

command_limit erdma_0 $stall_limit
check "recovery does not wait for itself" never_stalls
faults_off
command_limit erdma_0 15000
check "objects work" objects_work
check "nothing is left over" nothing_left
fault cmd_drop target -1 arg 0
