# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Registers that read as ones do not mean that nobody writes to memory.
# shellcheck source=tests/guest/erdma/peer-writes.sh
. "$here/peer-writes.sh"
tracing=/sys/kernel/tracing

# What happens in which order: writes of the command register, and the driver's word.
begin_order() {
	echo >$tracing/trace
	echo 'p:master pci_clear_master' >$tracing/kprobe_events &&
		echo 1 >$tracing/events/kprobes/master/enable &&
		echo 1 >$tracing/events/erdma/recovery/enable
}

end_order() {
	echo 0 >$tracing/events/kprobes/master/enable
	echo 0 >$tracing/events/erdma/recovery/enable
	# It is empty as soon as one of its events is no more.
	grep -v '^#' $tracing/trace
	echo >$tracing/kprobe_events
}

mastering_first() {
	grep -E 'master:|recovery:' <<<"$order" | head -n 1 | grep 'master:'
}

begin_landing
check "the kernel says what happens" begin_order
fault false_gone count 1
check "the process is told" until_true 10 grep -q 'local catastrophic error' /tmp/landing-out
order=$(end_order)
echo "# ${order//$'\n'/$'\n'# }"
check "bus mastering goes off before the driver says that it is gone" mastering_first
check "the process gives the memory back" ask 20 '(ok|EIO)' dereg
check "no byte lands in it" ask 10 yes 'still 1000'
check "the memory is kept, as the adapter has not let go of it" \
	kept '.state == "gone" and .orphans >= 1'
end_landing
faults_off
check "the adapter can be removed, and come back" replug
check "objects work" objects_work
check "nothing is left over" nothing_left
