# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# A job that could use RDMA and is on TCP. What looks alike has no verdict.
lib=libibverbs.so.1

# talk COMMAND...: starts a program, and waits until it is connected; $job is its process. Not in a subshell.
talk() {
	coproc JOB { exec "$@"; }
	job=$JOB_PID
	read -r -t 60 ready <&"${JOB[0]}"
	[ "$ready" = ready ]
}

quiet() {
	kill "$job"
	wait "$job" 2>/dev/null
	return 0
}

"$here/talk.py" serve "$addr" >"$work/server" &
server=$!
check "a server listens" until_true 30 grep -q ready "$work/server"

talk "${as_user[@]}" "$here/talk.py" send "$addr" 8000000 $lib
check "a job with libibverbs moves data by TCP" [ $? = 0 ]
on_tcp() { # COMMAND...
	ends 0 "$@" eadm diagnose --json || return
	jq -r '.rows[] | "\(.severity) \(.rule) \(.pid) \(.comm) \(.finding)"' "$work/said" | tee "$work/found"
	same 1 "$(wc -l <"$work/found")" &&
		grep -qE "^notice on-tcp $job talk\.py talk\.py \(PID $job\) is on TCP: it has libibverbs loaded and no QP, and moved [0-9]{4,} KiB \([0-9]{4,} sent, 0 received\) by 1 TCP connection within" "$work/found"
}
check "diagnose says so, with process and bytes" on_tcp
check "to its user, too" on_tcp "${as_user[@]}"
recorded() {
	eadm record -n 2 -i 1s "$work/tcp.pcapng" && eadm --from "$work/tcp.pcapng" diagnose --json >"$work/said" || return
	same "on-tcp $job" "$(jq -r '.rows[] | "\(.rule) \(.pid)"' "$work/said")" &&
		same "talk.py 0 1" "$(eadm --from "$work/tcp.pcapng" dump verbs-user --json |
			jq -r ".rows[] | select(.pid == $job) | \"\(.comm) \(.files) \(.sockets)\"")"
}
check "a recording shows it" recorded
others() {
	ends 0 setpriv --reuid=65533 --regid=65533 --clear-groups eadm diagnose &&
		said 'processes: [0-9]+ could not be judged: permission denied' && ! said on-tcp
}
check "what another user cannot judge is counted" others
quiet

silent() { # RATE ADDRESS [LIBRARY...]
	[ "$ready" = ready ] && same "" "$(verdicts)" && same "" "$(verdicts)"
}
talk "$here/talk.py" send "$addr" 0 $lib
check "silent: a process with libibverbs that is idle" silent
quiet
talk "$here/talk.py" send "$addr" 4000 $lib
check "silent: one that moves little" silent
quiet
talk "$here/talk.py" send "$addr" 8000000
check "silent: one without libibverbs" silent
quiet
"$here/talk.py" serve 127.0.0.1 >"$work/server-lo" &
local_server=$!
until_true 30 grep -q ready "$work/server-lo"
talk "$here/talk.py" send 127.0.0.1 8000000 $lib
check "silent: traffic over the loopback interface" silent
quiet
kill $local_server $server
wait $local_server $server 2>/dev/null

# A job with QPs and TCP connections for control, which is busy on both.
start_job
with_qps() {
	eadm dump verbs-user --json | jq -e --argjson pid "$client" '.rows[] | select(.pid == $pid) | .files > 0' &&
		same "" "$(verdicts)"
}
check "silent: one that has QPs" with_qps
stop_job
