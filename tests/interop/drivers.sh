#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Drivers on the virtual adapters, in the guest, one after the other: probe, data
# by Debian's applications, unload, and once more. TAP on stdout.
# Usage: drivers.sh ADDRESS_A ADDRESS_B NAME=MODULE...
set -u
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/interop/lib.sh
. "$here/lib.sh"
a=$1 b=$2
shift 2

ports() { # N: so many are active
	[ "$(rdma link show | grep -c '^link .* state ACTIVE')" = "$1" ]
}

# A driver in trouble waits for the adapter as long as for a lost command.
probe() { # MODULE
	local begin=$SECONDS

	insmod "$1" || return
	until_true "$LIMIT" ports 2 || return
	[ $((SECONDS - begin)) -lt $((10 * ${EADM_PATIENCE:-1})) ]
}

devinfo() {
	ibv_devinfo >"$work/devinfo"
	cat "$work/devinfo"
	[ "$(grep -c 'state:.*PORT_ACTIVE' "$work/devinfo")" = 2 ]
}

unload() {
	rmmod erdma && ports 0 && [ -z "$(ls /sys/class/infiniband)" ]
}

says_nothing() {
	! dmesg | grep -E 'erdma [0-9a-f]{4}:.*(fail|error|timeout)|blocked for more'
}

# Bandwidth tests, then rping, by the same modules: an adapter that kept something of the first would
# make the second hang.
mixed() { # NAME TIMES
	local n kinds=(ib_send_bw ib_write_bw ib_read_bw) tool

	for ((n = 1; n <= $2; n++)); do
		tool=${kinds[n % 3]}
		pair "$1: $tool, turn $n" 18515 "$tool" -s 65536 -n 500 -R -F -- \
			env LD_PRELOAD="$listener" "$tool" -s 65536 -n 500 -R -F "$a"
		pair "$1: rping after it" 7174 \
			rping -s -a "$a" -C 50 -- rping -c -a "$a" -I "$b" -C 50 -V
	done
}

drive() { # NAME MODULE
	if ! probe "$2" >"$work/log" 2>&1; then
		result 1 "$1: probe" "$work/log"
		rmmod erdma
		return
	fi
	result 0 "$1: probe"
	check "$1: ibv_devinfo" devinfo
	pair "$1: rping on one adapter" 7174 \
		rping -s -a "$a" -C 10 -- rping -c -a "$a" -C 10 -v -V
	pair "$1: rping between adapters" 7174 \
		rping -s -a "$a" -C 10 -- rping -c -a "$a" -I "$b" -C 10 -v -V
	pair "$1: ib_write_bw between adapters" 18515 ib_write_bw -s 65536 -n 50 -R -F -- \
		env LD_PRELOAD="$listener" \
		ib_write_bw -s 65536 -n 50 -R -F --source_ip "$b" "$a"
	check "$1: unload" unload
	check "$1: probe again" probe "$2"
	pair "$1: ib_send_lat" 18515 ib_send_lat -s 64 -n 50 -R -F -- \
		env LD_PRELOAD="$listener" ib_send_lat -s 64 -n 50 -R -F "$a"
	mixed "$1" "${EADM_TURNS:-20}"
	check "$1: unload again" unload
}

listener=$(readlink -f "$here/../../build/tests/lib/src/listener.so")
modprobe -a ib_uverbs rdma_ucm iw_cm
! lsmod | grep -q '^erdma ' || rmmod erdma
for driver; do
	drive "${driver%%=*}" "${driver#*=}"
done
check "the kernel's log has no complaint of a driver" says_nothing
plan
