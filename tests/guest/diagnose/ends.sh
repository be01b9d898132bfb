# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh sets them, run takes $beside
# Debian's rping, one end of which is stalled by its adapter: the verdict names only that end. The adapter
# of the other end has not fetched its receives, because no message has arrived.

both_ends() {
	server=$(qpn_of "$spid") && client=$(qpn_of "$cpid")
}

stalls() { # server|client
	local spid cpid server client status qpn

	rping -s -a "$addr" -C 1000000 >"$work/rping-s" 2>&1 </dev/null &
	spid=$!
	until_true 20 listening 7174 || return 1
	rping -c -a "$addr" -C 1000000 >"$work/rping-c" 2>&1 </dev/null &
	cpid=$!
	until_true 20 both_ends || return 1
	qpn=${!1}
	fault qp_stall target "$qpn" arg 0 count 1
	until_true 10 struck qp_stall "$before" &&
		sees sender-stalled qp "$qpn" '.hw_sq_pi > .hw_sq_ci' -i 400ms &&
		[ "$(jq -c "[.rows[] | select(.severity != \"notice\")] | length" "$work/verdicts")" = 1 ]
	status=$?
	kill -KILL $cpid $spid
	wait $cpid $spid
	return $status
}

test_ends() {
	local before

	before=$(hits qp_stall)
	stalls client || return 1
	before=$(hits qp_stall)
	stalls server
}
