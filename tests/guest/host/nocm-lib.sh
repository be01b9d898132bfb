# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets $work
# "eadm test" without a connection manager: a server, and what clients say.
# Servers are not started by check, which would own the process.
serve_tcp() { # ARGUMENTS...
	eadm test server "$@" >"$work/rows" 2>"$work/server" </dev/null &
	server=$!
	until_true 60 grep -q "listening on" "$work/server"
}

# end_tcp NAME STATUS: the server ends with that.
end_tcp() {
	local status

	kill -TERM "$server"
	wait "$server"
	status=$?
	check "$1" ended_with "$2" "$status"
}

ended_with() { # STATUS GOT
	tail -n 40 "$work/rows" "$work/server"
	same "$1" "$2"
}

# TIMEOUT is another limit than that of a busy machine, COUNT another number of messages.
ask_tcp() { # STATUS ARGUMENTS...: rows go to $work/said, notes to $work/notes
	local want=$1 status
	shift

	eadm test client --timeout "${TIMEOUT-60s}" -n "${COUNT-50}" "$@" >"$work/said" 2>"$work/notes" </dev/null
	status=$?
	cat "$work/said" "$work/notes"
	[ "$status" = "$want" ]
}

noted() { # REGEX
	grep -qE "$1" "$work/notes"
}

server_noted() { # REGEX
	until_true 30 grep -qE "$1" "$work/server" || { cat "$work/server"; false; }
}

gid_of() { # DEVICE INDEX: as eadm shows it
	eadm dump gid -d "$1" --json | jq -r --argjson index "$2" '.rows[] | select(.gid_index == $index).gid'
}

# all_tests DEVICE TYPE GID PEER-GID: the six rows in $work/said are good, and of that path
all_tests() {
	jq -e --arg dev "$1" --arg type "$2" --arg gid "$3" --arg peer "$4" '[.rows[].test] ==
		["connect", "data", "rdma", "echo", "order", "rate"] and ([.rows[] | .result == "ok" and
		.dev_name == $dev and .qp_type == $type and .setup == "tcp" and .local_gid == $gid and
		.peer_gid == $peer] | all) and (.rows[] | select(.test == "echo") | .count == 50 and .min > 0 and
		.min <= .p50 and .p50 <= .p99 and .p99 <= .max) and
		([.rows[] | select(.test == "order" or .test == "rate") | .rate > 0] | all)' "$work/said"
}

nothing_left() {
	! rdma resource show qp | grep -E 'comm eadm'
}
