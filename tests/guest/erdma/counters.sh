# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# What is said of counters that the adapter does not give; those of the driver's
# own names come from RDMA netlink, which has one answer for many reasons.
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

check "counters are there" says 0 rx_bytes_cnt
check "counters that the adapter refuses are not called missing" refused_counters
check "they come back" says 0 rx_bytes_cnt
