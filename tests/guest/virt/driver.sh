#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the virtual adapter with a driver and Debian's liberdma, in the guest: prints
# TAP lines. Requires adapters v0 and v1 with erdma_0 and erdma_1.
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
. tests/lib/tap.sh
. tests/guest/virt/idle.sh
config=/sys/kernel/config/eadm_virt/erdma

has_device() {
	[ -e "/sys/class/infiniband/$1" ]
}

lacks_device() {
	! has_device "$1"
}

# Prints the RDMA device of an adapter; its number increases each time it is added.
device_of() {
	ls "/sys/bus/pci/devices/$(cat "$config/$1/address")/infiniband" 2>/dev/null
}

bound() {
	[ -n "$(device_of "$1")" ]
}

counter() {
	cat "$config/v0/$1"
}

in_state() {
	[ "$(counter state)" = "$1" ]
}

# Creates a PD, MR, CQ and QP through the provider; ends at the exchange of addresses.
objects() {
	local before out=$temp/pingpong pid

	before=$(counter command_errors)
	# Remove the output of an earlier process.
	rm -f "$out"
	stdbuf -oL ibv_rc_pingpong -d "$(device_of v0)" -g 0 >"$out" 2>&1 &
	pid=$!
	until_true 30 grep -q 'local address:' "$out"
	kill $pid
	wait $pid
	cat "$out"
	grep -q 'local address:' "$out" && same "$before" "$(counter command_errors)"
}

devinfo() {
	local out

	out=$(ibv_devinfo -v -d "$(device_of v0)")
	echo "$out"
	grep -q 'max_qp:.*32767$' <<<"$out" && grep -q 'max_cq:.*65535$' <<<"$out" &&
		grep -q 'max_mr_size:.*0x10000000000$' <<<"$out" &&
		grep -q 'hw_ver:.*0x1$' <<<"$out" &&
		grep -q 'state:.*PORT_ACTIVE' <<<"$out" &&
		grep -qE 'vendor_part_id:.*(4223|0x107f)$' <<<"$out"
}

irq_of() {
	sed -n "s/^ *\([0-9]*\):.*$1@pci:$(cat $config/v0/address)\$/\1/p" /proc/interrupts
}

count_on() {
	awk -v irq="$1:" -v cpu="$2" '$1 == irq { print $(cpu + 2) }' /proc/interrupts
}

# command_at MTU: the driver sends the new MTU to the adapter, and has to sleep until
# the interrupt of the completion arrives.
command_at() {
	echo 5 >$config/v0/fault/cmd_delay/arg && echo 1 >$config/v0/fault/cmd_delay/count &&
		ip link set eth0 mtu "$1"
}

# A command causes an event, and the event an interrupt on the selected CPU, unless the driver, which also
# polls, finds the completion first.
affinity() {
	local irq cpu before

	irq=$(irq_of erdma-common)
	[ -n "$irq" ] || { cat /proc/interrupts; return 1; }
	for cpu in 1 0 1; do
		echo $cpu >"/proc/irq/$irq/smp_affinity_list" &&
			same $cpu "$(cat "/proc/irq/$irq/effective_affinity_list")" || return 1
		before=$(count_on "$irq" $cpu)
		until_true 30 moved "$irq" $cpu "$before" || return 1
	done
	ip link set eth0 mtu 1500
}

moved() { # IRQ CPU BEFORE
	command_at $((1400 + RANDOM % 100)) && [ "$(count_on "$1" "$2")" -gt "$3" ]
}

# If CPU 1 is offline, its interrupts go to a different CPU.
offline() {
	local irq before

	irq=$(irq_of erdma-common)
	echo 1 >"/proc/irq/$irq/smp_affinity_list"
	echo 0 >/sys/devices/system/cpu/cpu1/online || return 1
	before=$(count_on "$irq" 0)
	command_at 1450
	until_true 30 moved "$irq" 0 "$before"
	echo 1 >/sys/devices/system/cpu/cpu1/online
	ip link set eth0 mtu 1500
	objects
}

remove_rescan() {
	local address

	address=$(cat $config/v0/address)
	for _ in 1 2 3; do
		echo 1 >"/sys/bus/pci/devices/$address/remove"
		same "" "$(device_of v0)" || return 1
		echo 1 >/sys/bus/pci/rescan
		until_true 30 bound v0 || return 1
	done
	objects
}

# The test never resets the device: the driver starts with the state that it left at the last unbind.
rebind() {
	local address

	address=$(cat $config/v0/address)
	for _ in 1 2 3 4 5; do
		echo "$address" >/sys/bus/pci/drivers/erdma/unbind &&
			same powered "$(cat $config/v0/state)" &&
			echo "$address" >/sys/bus/pci/drivers/erdma/bind &&
			same running "$(cat $config/v0/state)" || return 1
	done
	objects
}

# unplug HOW: removes the adapter while a process has the device open.
unplug() {
	local device pid out=$temp/watch

	device=$(device_of v0)
	rm -f "$out"
	stdbuf -oL ibv_asyncwatch -d "$device" >"$out" 2>&1 &
	pid=$!
	until_true 30 grep -q "$device" "$out" || return 1
	if [ "$1" = surprise ]; then
		echo 1 >$config/v0/surprise
	else
		echo 0 >$config/v0/live
	fi || return 1
	same unplugged "$(cat $config/v0/state)" || return 1
	until_true 30 lacks_device "$device" || return 1
	kill $pid
	wait $pid
	echo 1 >$config/v0/live && until_true 30 bound v0 && objects
}

# The driver detects a dead device without any command; the device is then removed.
gone() {
	echo 1 >$config/v0/fault/dev_gone/count
	until_true 30 in_state gone || return 1
	echo 0 >$config/v0/live &&
		echo 1 >$config/v0/live && until_true 30 bound v0 && objects
}

cycles() {
	for _ in {1..20}; do
		echo 0 >$config/v0/live && echo 1 >$config/v0/live &&
			until_true 30 bound v0 || return 1
		echo 1 >$config/v0/surprise && echo 1 >$config/v0/live &&
			until_true 30 bound v0 || return 1
	done
	objects
}

eight() {
	local i before

	before=$(find /sys/class/infiniband -mindepth 1 | wc -l)
	for i in 2 3 4 5 6 7; do
		mkdir $config/n$i && echo 52:54:00:ed:a0:00 >$config/n$i/mac &&
			echo 1 >$config/n$i/live && until_true 30 bound n$i ||
			return 1
	done
	same $((before + 6)) "$(find /sys/class/infiniband -mindepth 1 | wc -l)" && objects || return 1
	for i in 5 2 7 3 4 6; do
		rmdir $config/n$i || return 1
	done
	same "$before" "$(find /sys/class/infiniband -mindepth 1 | wc -l)"
}

temp=$(mktemp -d)
check "ibv_devinfo shows the parameters" devinfo
check "liberdma creates objects without failed commands" objects
# The checks of a debug kernel cost more than the adapter.
[[ $(uname -r) == *debug* ]] || check "an idle adapter with a driver costs less than 2 % of a CPU" idle_cost 2
check "interrupts follow their affinity" affinity
check "interrupts survive the removal of their CPU" offline
check "removal and rescan on PCI" remove_rescan
check "the driver can be unbound and bound again" rebind
check "orderly removal of an open device" unplug
check "surprise removal of an open device" unplug surprise
check "a dead device is removed" gone
check "a driver binds eight adapters" eight
check "20 removals of both kinds" cycles
rm -r "$temp"
tap_end
