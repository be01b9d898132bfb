# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# A job without a peer: ibv_modify_qp fails with 110, or completions have status 12. What of it a
# stock driver shows, unprivileged and from recordings.
peer=10.9.0.9

gid_index() {
	local file

	for file in "/sys/class/infiniband/$dev/ports/1/gids/"*; do
		if grep -q ":ffff:0a09:0001" "$file" 2>/dev/null &&
			grep -q "RoCE v2" "${file/gids/gid_attrs/types}"; then
			basename "$file"
			return
		fi
	done
}

# begin: a job that has a QP in INIT; goes on when it is told. Not in a subshell.
begin() {
	coproc JOB { exec lonely "$dev" "$(gid_index)" "$peer" 2>&1; }
	job=$JOB_PID
	read -r -t 60 answer <&"${JOB[0]}"
	[ "$answer" = init ]
}

goes_on() { # ANSWER
	echo >&"${JOB[1]}" && read -r -t 60 answer <&"${JOB[0]}" && same "$1" "$answer"
}

end() {
	kill "$job"
	wait "$job" 2>/dev/null
	return 0
}

# Two samples, of a user: before and after.
sample() { # NAME
	"${as_user[@]}" eadm record -n 1 -o - >"$work/$1.pcapng"
}

between() {
	cat "$work/before.pcapng" "$work/after.pcapng" >"$work/both.pcapng"
	eadm --from "$work/both.pcapng" diagnose --json | tee "$work/said"
}

# found RULE: severity and finding.
found() {
	jq -r --arg rule "$1" '.rows[] | select(.rule == $rule) | "\(.severity) \(.finding)"' "$work/said"
}

begin
check "a job has a QP in INIT" [ $? = 0 ]
check "a QP that waits in INIT is not accused" same "" "$(verdicts)"
reaches_nobody() { # ADDRESS: as any program may try it
	timeout 10 bash -c "echo >/dev/tcp/$1/9" 2>&1
	until_true 20 eval "ip neigh show dev v0 | grep -q '^$1 .*FAILED'"
}
check "110: RTR fails without a neighbour" goes_on "rtr 110"
no_neighbour() {
	until_true 20 eval "ip neigh show dev v0 | grep -q '^$peer .*FAILED'" && ends 0 "${as_user[@]}" eadm diagnose --json || return
	found neighbour-failed | tee "$work/found"
	grep -qE "^notice neighbour resolution on v0 fails for $peer, and QP [0-9]+ of lonely \($job\) stays in INIT: .* 110 \(Connection timed out\)" "$work/found"
}
check "110: diagnose names address, interface, QP and process" no_neighbour
recorded() {
	"${as_user[@]}" eadm record -n 2 -i 100ms -o - >"$work/init.pcapng" &&
		eadm --from "$work/init.pcapng" diagnose --json >"$work/said" &&
		found neighbour-failed | grep -q "answers for $peer, and QP"
	same "$peer" "$(eadm --from "$work/init.pcapng" dump link --json | jq -r '.rows[0].unresolved')"
}
check "110: so does a recording" recorded
end
check "110: an address that fails without a job is no fault" same "" "$(verdicts)"
check "110: nor one that other programs try" reaches_nobody 10.9.0.8
check "110: which has no verdict" same "" "$(verdicts)"
ip neigh flush dev v0

ip neigh replace $peer lladdr 02:00:00:00:00:99 dev v0 nud permanent
begin
check "12: a neighbour that does not answer" goes_on "rtr 0"
sample before
gives_up() {
	goes_on "status 12" && sample after && between >/dev/null
	found peer-unresponsive | tee "$work/found"
	grep -qE "^critical the peer of QP [0-9]+ of lonely \($job\), QP 7, whose address is not visible, does not respond: within .*, [67] packets were sent and none received, and requests were sent again 6 times; 1 request has failed \(completion status 12\)" "$work/found" &&
		same "" "$(found retries-exceeded)"
}
check "12: diagnose names QP, process, peer and retries" gives_up
later() {
	ends 0 "${as_user[@]}" eadm diagnose --json && found qp-in-error | tee "$work/found"
	grep -qE "^notice in error for at least .*; its peer is QP 7, whose address is not visible; [0-9]+ requests? failed after all retries on this port so far" "$work/found" &&
		same "" "$(found retries-exceeded)$(found peer-unresponsive)"
}
check "12: later, its QP is a notice with what is known" later
end
check "12: and over when the job has ended" same "" "$(verdicts)"

# Beside another job, whose peer answers.
start_job
begin
check "12: beside a job that is well" goes_on "rtr 0"
sample before
beside() {
	goes_on "status 12" && moves && sample after && between >/dev/null
	same "" "$(found peer-unresponsive)" && found retries-exceeded | tee "$work/found"
	grep -qE "^warning 1 request failed after all retries \(completion status 12\) within .*; QP [0-9]+ of lonely \($job\) is in the state ERR, and its peer is QP 7," "$work/found" && return
	eadm --from "$work/both.pcapng" dump qp --at '#1'
	eadm --from "$work/both.pcapng" dump qp --at '#2'
	return 1
}
check "12: only the one that failed is named" beside
end
stop_job
check "12: what was given up earlier is no fault" until_true 20 eval '[ -z "$(verdicts)" ]'
ip neigh flush dev v0 nud permanent
ip neigh del $peer dev v0
true
