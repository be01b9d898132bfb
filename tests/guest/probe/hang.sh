# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2016,SC2034,SC2086,SC2154 # for eval, knobs.sh; names without blanks; of lib.sh
# A call that destroys an object and does not return, of a virtual adapter that answers late; its
# driver is there, the companion is not.
config=/sys/kernel/config/eadm_virt/erdma
. tests/lib/knobs.sh
adapter=$config/v0
set_up_adapter() {
	local devices
	grep -q " /sys/fs/bpf " /proc/mounts || mount -t bpf -o mode=700 bpf /sys/fs/bpf || return
	modprobe ib_uverbs && modprobe rdma_ucm || return
	devices=("/sys/bus/pci/devices/$(cat $adapter/address)/infiniband/"*)
	[ -e "${devices[0]}" ]
}
check "a virtual adapter is set up" set_up_adapter
devices=("/sys/bus/pci/devices/$(cat $adapter/address)/infiniband/"*)
dev=${devices[0]##*/}
check "the probe starts" eadm probe start

late() { # MS
	set_knob "$adapter/fault/cmd_delay" target -1 arg "$1" count 1
}
stays "a process has objects" first $src/hold -d "$dev" -q 1
check "the adapter answers late" late 1000
end first
check "  a call that took long and returned is not accused" no_verdict destroy-hangs
check "  its latency is there" eval 'eadm trace -d $dev --json | jq -e "[.rows[] | select((.op | test(\"^de\")) and .latency > 900000000)] | length > 0"'

stays "another process has objects" second $src/hold -d "$dev" -q 1
# The driver gives a command up after 15 s.
check "the adapter does not answer the next command" set_knob "$adapter/fault/cmd_drop" target -1 count 1
input=${inputs[second]}
exec {input}>&-
pending() {
	eadm trace -d "$dev" --state pending --json | jq -e "[.rows[] | select(.pid == ${kept[second]})] | length == 1"
}
check "its call is among those of the device, pending" until_true 10 pending
# Longer than a call that returns late.
pause 2.5
check "  destroy-hangs names call, process and time" verdict destroy-hangs \
	"(destroy|dereg)-[a-z]+ of hold \(PID ${kept[second]}\) has not returned for [0-9.]+ s"
wait "${kept[second]}"
check "  once it has returned it is not accused" no_verdict destroy-hangs

# The adapter goes away, then its driver, while the probe records.
removed() {
	echo 1 >"/sys/bus/pci/devices/$(cat $adapter/address)/remove" && rmmod erdma
}
check "device and driver are removed while it records" removed
check "  their calls are still there, by the device's name" eval '[ "$(eadm probe status --json | jq -r ".rows[0].state")" = running ]'
check "the probe stops" eadm probe stop
check "nothing is left in the kernel" until_true 60 no_programs
