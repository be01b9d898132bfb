# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Settings take effect and survive a reset, and invalid values are refused.
setting() { # NAME
	eadm conf get "$1" -d erdma_0 --json | jq -r '.rows[0] | .value_name // .value'
}

set_and_get() { # NAME VALUE [AS]
	eadm conf set "$1" "$2" -d erdma_0 >/dev/null && same "${3:-$2}" "$(setting "$1")"
}

refuses() { # NAME VALUE
	local before
	before=$(setting "$1")

	! eadm conf set "$1" "$2" -d erdma_0 2>&1 && same "$before" "$(setting "$1")"
}

same_after_reset() {
	command_limit erdma_0 2000
	fault cmd_drop count 2
	stats 1 16500 && until_true 5 stats 0 1000 || return 1
	same 2000000000 "$(setting cmd-timeout)" && command_limit erdma_0 15000 || return 1
	same 7 "$(setting delayed-ack)" && same 40 "$(setting retrans-num)" &&
		same hpcc-ecn "$(setting cc)"
}

not_taken() {
	fault cmd_error target $((0x107)) arg 22 count 1
	refuses retrans-num 41
}

check "congestion control" set_and_get cc hpcc-ecn
check "retransmissions" set_and_get retrans-num 40
check "delayed acknowledgment" set_and_get delayed-ack 7
check "the time limit of commands" set_and_get cmd-timeout 15s 15000000000
check "a time limit of 0 is refused" refuses cmd-timeout 0
check "a time limit that is too long is refused" refuses cmd-timeout 60001ms
check "an unknown congestion control is refused" refuses cc vegas
check "zero retransmissions are refused" refuses retrans-num 0
check "too many retransmissions are refused" refuses retrans-num 256
check "a value that is not a number is refused" refuses delayed-ack many
check "settings survive a reset" same_after_reset
check "a value that the adapter refuses is not kept" not_taken
fault cmd_error target -1
check "data can be transferred with these settings" "$programs/conns" again 10.77.0.1 10.77.1.1 3
check "nothing is left over" nothing_left

check "a container's root changes settings of its device, but not what the host logs" \
	lent_settings erdma_1
check "the device returns from the container" until_true 20 test -e /sys/class/infiniband/erdma_1

# On an adapter that assigns no doorbell pages, contexts share the doorbell space in the three ways
# of hw 6.7. Four groups provide 10 pages and 80 entries.
direct() {
	local flags
	flags=$(cat "$v0/flags")

	echo 0 >"$v0/live" && until_true 10 unplugged || return 1
	echo "${flags//3/}" >"$v0/flags" && echo 4 >"$v0/grp_num" && plug &&
		"$programs/objs" -d erdma_0 -n 120 open &&
		"$programs/objs" -d erdma_0 -n 50 qps &&
		"$programs/conns" again 10.77.0.1 10.77.1.1 3
	local status=$?
	echo 0 >"$v0/live" && until_true 10 unplugged &&
		echo "$flags" >"$v0/flags" && echo 0 >"$v0/grp_num" && plug && return $status
}

check "contexts share the doorbell space of an adapter that assigns no pages" direct
check "nothing is left over" nothing_left
