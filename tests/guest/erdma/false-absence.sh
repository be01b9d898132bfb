# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# An adapter whose registers read as all ones might still write to memory.
# shellcheck source=tests/guest/erdma/peer-writes.sh
. "$here/peer-writes.sh"
tracing=/sys/kernel/tracing

# Traces the order of two events: the clearing of bus mastering, and the driver's recovery step.
begin_order() {
	echo >$tracing/trace
	echo 'p:master pci_clear_master' >$tracing/kprobe_events &&
		echo 1 >$tracing/events/kprobes/master/enable &&
		echo 1 >$tracing/events/erdma/recovery/enable
}

end_order() {
	echo 0 >$tracing/events/kprobes/master/enable
	echo 0 >$tracing/events/erdma/recovery/enable
	# Removing an event empties the trace.
	grep -v '^#' $tracing/trace
	echo >$tracing/kprobe_events
}

mastering_first() {
	grep -E 'master:|recovery:' <<<"$order" | head -n 1 | grep 'master:'
}

begin_landing
check "tracing is enabled" begin_order
fault false_gone count 1
check "the process is notified" until_true 10 grep -q 'local catastrophic error' /tmp/landing-out
order=$(end_order)
echo "# ${order//$'\n'/$'\n'# }"
check "bus mastering is disabled before the driver reports that the adapter is gone" mastering_first
check "the process deregisters the memory" ask 20 '(ok|EIO)' dereg
check "no byte is written to the memory" ask 10 yes 'still 1000'
check "the memory is kept, because the adapter has not confirmed a reset" \
	kept '.state == "gone" and .orphans >= 1'
end_landing
faults_off
check "the adapter can be removed and plugged in again" replug
check "objects work" objects_work
check "nothing is left over" nothing_left
