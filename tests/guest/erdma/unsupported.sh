# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Adapters that the driver must not use.
config=/sys/kernel/config/eadm_virt/erdma

# The kernel log has a matching line since the mark, or there is a device after all.
decided() { # REGEX
	dmesg | sed '1,/refused-mark/d' | grep -E "$1" || ! unplugged
}

bound() { # ADDRESS
	readlink "/sys/bus/pci/devices/$1/driver" | sed 's,.*/,,'
}

is_bound_to() { # ADDRESS DRIVER
	[ "$(bound "$1")" = "$2" ]
}

# An adapter with a different value of a parameter is refused with a message, and is used again
# with the former value.
is_refused() { # FILE VALUE REGEX
	local before address status=0

	before=$(cat "$v0/$1")
	echo 0 >"$v0/live" && until_true 20 unplugged || return 1
	echo "$2" >"$v0/$1" && echo refused-mark >/dev/kmsg && echo 1 >"$v0/live" || return 1
	until_true 20 decided "$3"
	read -r address <"$v0/address"
	unplugged && same "" "$(bound "$address")" &&
		dmesg | sed '1,/refused-mark/d' | grep -E "$3" || status=1
	echo 0 >"$v0/live"
	until_true 20 unplugged && echo "$before" >"$v0/$1" && plug && return $status
}

check "an adapter set up for RoCEv2 is refused" is_refused proto 1 'not supported: .*RoCEv2'
check "an adapter without a MAC address gets no interface" \
	is_refused mac 00:00:00:00:00:00 'no valid MAC address'
check "objects work" objects_work

blocked_in() { # PID FUNCTION
	grep -q "$2" "/proc/$1/stack"
}

claims() {
	dmesg | grep -c "$1: claimed by stub"
}

# The network interface is removed while the driver is being unbound. This would bind the adapter
# again, but meanwhile it belongs to another driver.
stays_with_another() {
	local virtio=/sys/bus/virtio/drivers/virtio_net device address pci delay query unbind bind leave
	local status=0

	device=$(basename "$(readlink -f /sys/class/net/eth1/device)")
	read -r address <$config/v1/address
	pci=/sys/bus/pci/devices/$address
	delay=$config/v1/fault/cmd_delay
	modprobe pci-stub && echo pci-stub >"$pci/driver_override" || return 1
	# A reader of the adapter's own state holds up the beginning of the removal: for less than
	# the 10 s after which the kernel warns, but long enough to see both tasks wait on a slow
	# machine.
	echo $((EADM_PATIENCE > 1 ? 8000 : 4000)) >"$delay/arg" && echo 1 >"$delay/count"
	eadm dump cmdq -d erdma_1 --hw >/tmp/query 2>&1 &
	query=$!
	until_true 10 grep -qx 0 "$delay/count"
	echo "$address" >/sys/bus/pci/drivers/erdma/unbind &
	unbind=$!
	until_true 10 blocked_in $unbind eadm_provider_del || status=1
	echo "$address" >/sys/bus/pci/drivers/pci-stub/bind &
	bind=$!
	until_true 10 blocked_in $bind bind_store || status=1
	echo "$device" >$virtio/unbind &
	leave=$!
	wait $query $unbind $bind $leave
	until_true 10 is_bound_to "$address" pci-stub || status=1
	# When the module's workqueues are gone, all queued work has run.
	rmmod erdma || status=1
	same 1 "$(claims "$address")" && same pci-stub "$(bound "$address")" || status=1
	echo "$address" >/sys/bus/pci/drivers/pci-stub/unbind
	echo >"$pci/driver_override"
	echo "$device" >$virtio/bind
	ip link set eth1 up && ip addr add 10.77.1.1/24 dev eth1
	# Adds the adapters one after the other, so that they get their former names.
	echo 0 >$config/v1/live
	insmod /run/vm/ctl/erdma.ko
	until_true 30 test -e /sys/class/infiniband/erdma_0 || status=1
	echo 1 >$config/v1/live
	until_true 30 test -e /sys/class/infiniband/erdma_1 || status=1
	return $status
}

check "an adapter that was bound to another driver stays with that driver" stays_with_another
until_true 30 is_open
check "objects work" objects_work
check "nothing is left over" nothing_left
