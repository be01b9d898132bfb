# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# The driver's tracepoints: each one is triggered, and its line must contain its fields.
# EADM_RECORDER_KO: tests/guest/kmod/recorder
tracing=/sys/kernel/tracing
events=$tracing/events/erdma

# The folder of events lists all tracepoints.
all_events() {
	local dirs=("$events"/*/)

	same "aeq_event ceq_event cmd_done cmd_submit recovery" "$(basename -a "${dirs[@]}" | xargs)"
}

# traced EVENT FIELDS...: the trace has a line of this event that ends with these fields.
traced() {
	local event=$1 dev
	shift

	# The index of a device counts all devices created since boot.
	dev=$(rdma dev show erdma_0 | cut -d: -f1)
	grep -E " $event: dev=$dev $*\$" $tracing/trace || { tail -n 30 $tracing/trace; return 1; }
}

begin_tracing() { # EVENT
	echo >$tracing/trace && echo 1 >"$events/$1/enable"
}

end_tracing() { # EVENT
	echo 0 >"$events/$1/enable"
}

commands() {
	begin_tracing cmd_submit && begin_tracing cmd_done || return 1
	fault cmd_error target $((0x104)) arg 12 count 1
	stats 1 3000 && stats 0 3000 || return 1
	end_tracing cmd_submit && end_tracing cmd_done &&
		traced cmd_submit 'seq=[1-9][0-9]* op=get-stats cookie=[0-9]+ outstanding=1' &&
		traced cmd_done 'seq=[1-9][0-9]* op=get-stats status=-5 syndrome=12 latency=[1-9][0-9]*' &&
		traced cmd_done 'seq=[1-9][0-9]* op=get-stats status=0 syndrome=0 latency=[1-9][0-9]*'
}

completions() {
	begin_tracing ceq_event &&
		echo 'write 5 64 10000 events' | "$programs/traffic" && end_tracing ceq_event &&
		traced ceq_event 'eqn=[1-9][0-9]* cqn=[1-9][0-9]*'
}

is_traced() {
	traced "$@" >/dev/null
}

asynchronous() {
	begin_tracing aeq_event && fault aeq_unknown arg 3 count 1 &&
		until_true 5 is_traced aeq_event 'type=cq-error id=[0-9]+' && end_tracing aeq_event &&
		traced aeq_event 'type=cq-error id=[0-9]+'
}

# An adapter that restarts by itself does not answer the probing command, and is reset.
recoveries() {
	begin_tracing recovery && fault fw_reset count 1 &&
		until_true 10 is_traced recovery 'step=end status=0' && end_tracing recovery &&
		traced recovery 'step=begin status=0' &&
		traced recovery 'step=probe status=-[1-9][0-9]*' && traced recovery 'step=reset status=0'
}

check "there are five tracepoints" all_events
check "cmd_submit and cmd_done trace commands" commands
check "ceq_event traces completions" completions
check "aeq_event traces asynchronous events" asynchronous
check "recovery traces the steps of a recovery" recoveries
check "no command has a negative latency" insmod "$EADM_RECORDER_KO"
fault cmd_error target -1
check "objects work" objects_work
check "nothing is left over" nothing_left
