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
		grep -qE "^notice on-tcp $job talk\.py talk\.py \(PID $job\) uses TCP: it has libibverbs loaded and no QP, and moved [0-9]{4,} KiB \([0-9]{4,} sent, 0 received\) by 1 TCP connection within" "$work/found"
}
check "diagnose says so, with process and bytes" on_tcp
check "to its user, too" on_tcp "${as_user[@]}"
recorded() {
	eadm record -n 2 -i 1s "$work/tcp.pcapng" && eadm --from "$work/tcp.pcapng" diagnose --json >"$work/said" || return
	same "on-tcp $job" "$(jq -r '.rows[] | "\(.rule) \(.pid)"' "$work/said")" &&
		same "talk.py 0 1" "$(eadm --from "$work/tcp.pcapng" dump verbs-user --json |
			jq -r ".rows[] | select(.pid == $job) | \"\(.comm) \(.files) \(.sockets)\"")" &&
		same "talk.py tcp" "$(eadm --from "$work/tcp.pcapng" top --processes --json |
			jq -r "select(.object == \"top-process\") | .rows[] | select(.pid == $job) | \"\(.comm) \(.on)\"" | tail -n 1)"
}
check "a recording shows it" recorded
others() {
	ends 0 setpriv --reuid=65533 --regid=65533 --clear-groups eadm diagnose &&
		said 'processes: [0-9]+ could not be checked: permission denied' && ! said on-tcp
}
check "what another user cannot judge is counted" others

# on WHAT COMMAND...: what top shows of the process $shown, as the rows of the last refresh.
on() {
	local want=$1
	shift

	ends 0 "$@" eadm top --processes --json -n 3 -i 1s || return
	same "$want" "$(grep '^{' "$work/said" | jq -r --argjson pid "$shown" '
		select(.object == "top-process") | .rows[] | select(.pid == $pid) |
		"\(.comm) \(.on) \(.devices) \(.qps) \(.cqs) \(.mrs)"' | tail -n 1)"
}
shown=$job
check "top shows it on TCP" on "talk.py tcp null 0 0 0"
check "top shows it to its user, too" on "talk.py tcp null 0 0 0" "${as_user[@]}"
by_rate() {
	grep '^{' "$work/said" | jq -se --argjson pid "$job" '
		[.[] | select(.object == "top-process").rows] | last | .[0] |
		.pid == $pid and .tcp_tx_bytes_per_s > 4000000 and .tcp_rx_bytes_per_s < 1000 and
		(has("tx_bytes_per_s") or has("rx_bytes_per_s") | not)'
}
check "with the rate of its connections, and no bytes by RDMA" by_rate
as_other() {
	ends 0 setpriv --reuid=65533 --regid=65533 --clear-groups eadm top --processes --batch -n 2 &&
		said '^eadm: top: processes: [0-9]+ that may use RDMA cannot be read' && ! said talk.py &&
		same 1 "$(grep -c 'cannot be read' "$work/said")"
}
check "to another user, top counts it as unknown, once" as_other
in_pod() {
	local id uid=11111111-2222-3333-4444-555555555555 group

	id=$(printf %064d 7)
	mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup || return
	group=/sys/fs/cgroup/kubepods.slice/kubepods-pod${uid//-/_}.slice
	mkdir -p "$group/cri-containerd-$id.scope" && echo "$job" >"$group/cri-containerd-$id.scope/cgroup.procs" &&
		ends 0 eadm top --processes --json -n 1 &&
		same "$uid $id" "$(grep '^{' "$work/said" | jq -r --argjson pid "$job" '
			select(.object == "top-process") | .rows[] | select(.pid == $pid) | "\(.pod) \(.container)"')"
}
check "with the pod and container that it runs in" in_pod
without_device() {
	rdma link delete "$dev" && on "talk.py tcp null 0 0 0"
	status=$?
	rdma link add "$dev" type rxe netdev v0 && until_true 20 has_address && return $status
}
check "top shows it without a device, too" without_device
quiet
# A job and top in a PID namespace, which do not see the server outside.
# shellcheck disable=SC2016 # of the inner shell
inside='"$1/talk.py" send "$2" 8000000 libibverbs.so.1 >"$3" & until grep -q ready "$3"; do :; done
	eadm top --processes --json -n 3 -i 1s; kill $!'
in_container() {
	ends 0 timeout 100 unshare --pid --fork --mount-proc bash -c "$inside" bash "$here" "$addr" "$work/inside" || return
	same "talk.py tcp" "$(grep '^{' "$work/said" | jq -r 'select(.object == "top-process") |
		.rows | map("\(.comm) \(.on)") | join(",")' | tail -n 1)"
}
check "in a container, top shows the processes of the container" in_container

silent() { # RATE ADDRESS [LIBRARY...]
	[ "$ready" = ready ] && same "" "$(verdicts)" && same "" "$(verdicts)"
}
talk "$here/talk.py" send "$addr" 0 $lib
check "silent: a process with libibverbs that is idle" silent
shown=$job
check "top shows it as idle" on "talk.py idle null 0 0 0"
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
shown=$client
check "top shows it on RDMA" on "ib_send_bw rdma $dev 1 2 1"
check "top shows it to another user" on "ib_send_bw rdma $dev 1 2 1" "${as_user[@]}"
stop_job
