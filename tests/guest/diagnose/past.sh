# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh sets them, run takes $spid
# Failures that occurred before the diagnosis and whose process may have exited since, and processes that
# are stopped. Deliberate actions do not count as failures.

# verdict RULE FILTER [EADM OPTIONS]: this rule has a verdict, a notice, that matches the jq expression;
# the capture of the same run has it as well.
verdict() {
	local rule=$1 filter=$2 saved=$work/saved.pcapng
	local find=".rows[] | select(.rule == \"$rule\" and .severity == \"notice\") | select($filter)"
	shift 2

	rm -f "$saved"
	eadm --save "$saved" diagnose -d "$dev" --json -i 300ms "$@" >"$work/verdicts"
	eadm --from "$saved" diagnose -d "$dev" --json >"$work/again"
	jq -e "$find" "$work/verdicts" && jq -e "$find" "$work/again" >/dev/null && return
	cat "$work/verdicts" "$work/again"
	return 1
}

past() { # FILTER: a past failure matches
	eadm events --past -d "$dev" --json >"$work/past"
	jq -e ".rows[] | select($1)" "$work/past" || { cat "$work/past"; return 1; }
}

failures() {
	eadm dump failure-total --json | jq '[.rows[].count] | add // 0'
}

nothing_under_way() {
	eadm dump qp -d "$dev" --state rts --hw --json |
		jq -e '(.rows | length) == 2 and all(.rows[]; .hw_sq_pi == .hw_sq_ci)'
}

# Killed processes and closed connections do not count as failures. The other process must have no request
# under way: the kernel ends the registrations of a killed process before its QP, so a request for its memory
# fails with an access error, which counts.
test_past_killed() {
	local spid cpid before first

	before=$(failures)
	for first in cpid spid; do
		begin_rping || return 1
		kill -STOP $((spid + cpid - ${!first}))
		until_true 20 nothing_under_way || return 1
		kill -KILL "${!first}"
		end_rping
	done
	begin_traffic && ask 15 'ok 1' 'write 1 64 10 poll'
	end_traffic || return 1
	same "$before" "$(failures)" || { eadm dump failure; return 1; }
}

test_past_qp() {
	local pid

	begin_traffic || return 1
	pid=$traffic
	fault aeq_qp_fatal target "$client" arg 1 count 1
	told 'local work queue catastrophic error' || return 1
	past ".kind == \"qp\" and .id == $client and .cause == \"general\" and .pid == $pid and
		.comm == \"traffic\" and .ended == 0 and .peer_addr == \"$addr\"" || return 1
	drop_traffic
	past ".kind == \"qp\" and .id == $client and .pid == $pid and .ended == 1" &&
		verdict past-failure ".pid == $pid and (.finding |
			test(\"^QP $client of traffic .*failed .* ago: general, peer $addr; its process has ended\"))" &&
		eadm exporter --once | grep "^eadm_failure_count_total{device=\"$dev\",kind=\"qp\",cause=\"general\"} [1-9]" &&
		eadm exporter --once | grep "^eadm_failure_last_age_seconds{.*device=\"$dev\""
}

test_past_command() {
	short_limit
	fault cmd_drop target "$GET_STATS" count 1
	rdma statistic show link "$dev/1" >/dev/null 2>&1
	past '.kind == "command" and .op == "get-stats" and .cause == "timeout" and .comm == "rdma" and .ended == 1'
}

test_past_reset() {
	begin_traffic || return 1
	fault fw_reset count 1
	told 'local catastrophic error' && drop_traffic
	past '.kind == "device" and .cause == "adapter-reset" and .id == null' &&
		past ".kind == \"qp\" and .id == $client and .cause == \"adapter-reset\"" &&
		verdict past-device-failure 'any(.affects[]?; .finding | test("QP [0-9]+ of traffic"))'
}

resets() {
	eadm dump failure-total -d "$dev" --json |
		jq '[.rows[] | select(.kind == "device" and .cause == "adapter-reset") | .count] | add // 0'
}

reset_again() {
	local before

	before=$(resets)
	fault fw_reset count 1 && until_true 20 eval '[ "$(resets)" -gt '"$before"' ]'
}

# A QP that a reset destroyed in the adapter does not fail again at the next reset.
test_past_forgotten() {
	local pid status=1 qp

	mkfifo "$work/never"
	hold -d "$dev" -q 1 <>"$work/never" >"$work/hold" 2>&1 &
	pid=$!
	qp=".kind == \"qp\" and .comm == \"hold\" and .cause == \"adapter-reset\""
	until_true 20 grep -q ready "$work/hold" && reset_again && past "$qp" && reset_again &&
		same 1 "$(eadm events --past -d "$dev" --json | jq "[.rows[] | select($qp) | .times] | add")" &&
		same 1 "$(eadm dump qp -d "$dev" --pid $pid --json | jq '.rows[0].events')" && status=0
	kill -KILL $pid
	wait $pid
	rm "$work/never"
	return $status
}

# A connection that is refused because no server listens is recorded, but not reported as a problem.
test_past_refused() {
	rping -c -a "$addr" -p 7999 -C 1 >"$work/rping-c" 2>&1 </dev/null
	past '.kind == "connection" and .cause == "refused" and .comm == "rping" and .ended == 1 and
		.peer_port == 7999' || return 1
	eadm diagnose -d "$dev" --json -i 100ms | jq -e 'all(.rows[]; .rule != "past-connection-failure")'
}

test_past_stopped() {
	local spid cpid status=1

	begin_rping || return 1
	kill -STOP "$cpid"
	verdict owner-stopped ".pid == $cpid and .comm == \"rping\" and
		(.finding | test(\"is stopped by SIGSTOP\"))" && status=0
	kill -CONT "$cpid"
	eadm diagnose -d "$dev" --json -i 300ms |
		jq -e 'all(.rows[]; .rule != "owner-stopped")' || status=1
	end_rping || status=1
	return $status
}
