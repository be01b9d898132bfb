# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# The receiver of a running job is killed: the sender's adapter sends everything again, and
# receives nothing. What looks alike is no fault.
# Not in a subshell, as check has one: its processes are needed.
start_job
check "a job runs" [ $? = 0 ]
check "a job that runs is not accused" same "" "$(verdicts)"

# What the sender prints if its receiver is gone.
lost="Failed status 12: wr_id 0 syndrom 0x81"
unexplained() {
	ends 0 eadm explain "$lost" && said '^wc-retry-exceeded' && ! said 'here: (warning|critical)'
}
check "explain: a job that runs is no cause" unexplained

stopped() {
	kill -STOP "$server"
	until_true 60 eval '[[ $(verdicts) == *owner-stopped* ]]'
	! verdicts | grep -E '^(warning|critical)'
}
check "a receiver that is stopped is a notice" stopped

# QP, its peer's, both packet sequence numbers and the path, as the kernel's tool shows them.
connections() {
	rdma -j resource show qp |
		jq -c 'map(select(.type == "RC") | [.lqpn, .rqpn, .["sq-psn"], .["rq-psn"],
			(.["path-mig-state"] | ascii_downcase)]) | sort'
}

# The kernel still takes packets for the receiver, whose number grows. The sender repeats packets for
# which no receive is posted: its number also goes back, by no more packets than can be on the way.
as_shown() {
	local before shown after

	before=$(connections)
	shown=$(eadm dump qp --json | jq -c '[.rows[] | select(.type == "rc") | [.qpn,
		.dest_qpn, .sq_psn, .rq_psn, .path_mig_state]] | sort')
	after=$(connections)
	echo "$before $shown $after"
	[ "$(jq '[.[][] | values] | length' <<<"$shown")" = 10 ] &&
		jq -en --argjson before "$before" --argjson shown "$shown" --argjson after "$after" \
			'[$before, $shown, $after] | (map(map([.[0, 1, 4]])) | unique | length == 1) and
			(map(map(.[3])) | transpose | all(. == sort)) and
			(map(map(.[2])) | transpose | all(max - min <= 128))' >/dev/null
}
check "QPs have what the kernel's own tool shows of their connection" until_true 20 as_shown
kill -CONT "$server"

no_receiver() {
	! rdma resource show qp | grep -q "state RTR"
}

killed() {
	kill -KILL "$server"
	wait "$server" 2>/dev/null
	until_true 60 no_receiver || return
	ends 8 eadm diagnose &&
		said "^critical peer-unresponsive $dev" && said "QP [0-9]+ of ib_send_bw" &&
		said "\($client\)" && said "none received"
}
check "a receiver that is killed is critical, with QP and process" killed
explained() {
	ends 0 eadm explain "$lost" && said "here: critical peer-unresponsive $dev" &&
		ends 0 eadm explain --text-only "$lost" && ! said 'here:'
}
check "explain: a receiver that is killed is a cause" explained
stop_job
check "and over when the sender has ended" until_true 60 eval '[ -z "$(verdicts)" ]'
