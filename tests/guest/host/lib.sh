# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # for those that source it
# A device of rdma_rxe on one end of a veth pair, and a job on it.
dev=rxe0
addr=10.9.0.1
work=$(mktemp -d)
as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)

set_up() {
	modprobe rdma_rxe && modprobe rdma_ucm && ip link add v0 type veth peer name v1 &&
		ip address add $addr/24 dev v0 && ip link set v0 up && ip link set v1 up &&
		rdma link add $dev type rxe netdev v0 && until_true 20 has_address
}

# The address has a GID, and the link-local one is usable.
has_address() {
	grep -q ":ffff:0a09:0001" "/sys/class/infiniband/$dev/ports/1/gids/"* 2>/dev/null
}

# ends STATUS COMMAND...: keeps its output in $work/said.
ends() {
	local want=$1 status
	shift

	"$@" >"$work/said" 2>&1
	status=$?
	cat "$work/said"
	echo "status $status"
	[ "$status" = "$want" ]
}

said() { # REGEX
	grep -qE "$1" "$work/said"
}

# has_row CHECK "RESULT FINDING": whether the output, in JSON, has it.
has_row() {
	jq -r --arg check "$1" '.rows[] | select(.check == $check) | "\(.result) \(.finding)"' "$work/said" |
		grep -qxF "$2"
}

# What diagnose finds: severity and rule of each verdict.
verdicts() {
	eadm diagnose "$@" --json 2>/dev/null | jq -r '.rows[] | "\(.severity) \(.rule)"'
}

# start_job [OPTION...]: ib_send_bw between two processes, $server and $client, until it is stopped.
start_job() {
	ib_send_bw -d $dev -x 1 -F -D 600 "$@" >"$work/server" 2>&1 &
	server=$!
	until_true 60 listens 18515 || return
	ib_send_bw -d $dev -x 1 -F -D 600 "$@" 127.0.0.1 >"$work/client" 2>&1 &
	client=$!
	until_true 60 sends
}

# The job goes on, or this shows why it ended.
job_runs() {
	[ -e "/proc/$server/exe" ] && [ -e "/proc/$client/exe" ] || { cat "$work/server" "$work/client"; return 1; }
}

listens() { # PORT
	grep -qi ":$(printf %04x "$1") 0*:0000 0A" /proc/net/tcp /proc/net/tcp6
}

sends() {
	[ "$(rdma resource show qp | grep -c 'type RC state RT[RS]')" = 2 ] && moves
}

moves() {
	local before

	before=$(packets) && pause 0.3 && [ "$(packets)" -gt $((before + 20)) ]
}

packets() {
	rdma statistic show link $dev/1 | grep -oP 'rcvd_pkts \K[0-9]+'
}

stop_job() {
	kill -KILL "$server" "$client" 2>/dev/null
	wait "$server" "$client" 2>/dev/null
	return 0
}
