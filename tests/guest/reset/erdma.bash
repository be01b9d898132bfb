# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # for run, which sets the rest
# What of "run" is ERDMA's: connections of one adapter with itself.
. tests/lib/traffic.sh
addr=10.77.0.1
port=7800

begin_load() {
	begin_traffic && works && ask 10 ok flood
}

load_fails() {
	until_true 30 grep -q '^event: local catastrophic error' "$work/out" && end_traffic
}

data_is_right() {
	begin_traffic && works && end_traffic
}

# A lost command, and no reset is confirmed but that of the function.
command_fails() {
	command_limit "$dev" 1000 && set_knob "$adapter/fault/reset_lost" count -1 &&
		set_knob "$adapter/fault/dev_hang" count 1 &&
		! rdma statistic show link "$dev/1" && command_limit "$dev" 15000
}

# The watch notices the reset, and recovery cannot start the adapter.
start_fails() {
	set_knob "$adapter/fault/init_lost" count 1 && set_knob "$adapter/fault/fw_reset" count 1
}

context_of() { # QPN
	eadm dump hwctx qp "$1" -d "$dev" 2>&1
}

# The owner has not destroyed it yet.
part_forgotten() {
	local qpn status

	exec 3> >(hold -d "$dev" -q 1)
	until_true 20 eval 'qpn=$(eadm dump qp --comm hold -d "$dev" --json | jq -er ".rows[0].qpn")' &&
		context_of "$qpn" && reset_function && serves &&
		! context_of "$qpn" && context_of "$qpn" | grep -F "lost the object in a reset"
	status=$?
	exec 3>&-
	return $status
}
