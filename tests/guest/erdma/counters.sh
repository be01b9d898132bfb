# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Messages about counters that the adapter does not provide. Counters with the driver's own names
# come from RDMA netlink, which returns the same error for many reasons.
says() { # STATUS TEXT
	local status

	eadm stat --original --device erdma_0 >/tmp/said 2>&1
	status=$?
	cat /tmp/said
	[ $status = "$1" ] && grep -q "$2" /tmp/said
}

refused_counters() {
	# GET_STATS
	fault cmd_error target $((0x104)) arg 22 count -1
	says 1 "erdma_0: the driver has counters, but the adapter did not provide them" && ! grep -q "has none" /tmp/said
	local status=$?

	faults_off
	return $status
}

check "counters are shown" says 0 rx_bytes_cnt
check "counters that the adapter refuses are not reported as missing" refused_counters
check "counters are shown again when the adapter provides them" says 0 rx_bytes_cnt
