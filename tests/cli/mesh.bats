# SPDX-License-Identifier: GPL-2.0-or-later
# "eadm test mesh" of processes of this host, none of which has an adapter.
load common

export EADM_MESH_SECRET=0123456789abcdef EADM_MESH_RENDEZVOUS=127.0.0.1

# A port that most likely is free.
port() {
	echo $((20000 + RANDOM % 10000))
}

# mesh N ARGUMENTS...: rank 0 is run
mesh() {
	local n=$1 i port
	shift

	port=$(port)
	for ((i = 1; i < n; i++)); do
		eadm test mesh --ranks "$n" --rank "$i" -p "$port" --device none_0 >"$BATS_TEST_TMPDIR/$i" 2>&1 </dev/null &
	done
	run --separate-stderr eadm test mesh --ranks "$n" --rank 0 -p "$port" --device none_0 "$@"
	wait
}

faults() {
	jq -r '.rows[] | [.fault, .way, .cause] | join(" ")' <<<"$output"
}

@test "hosts without an adapter are faults" {
	mesh 3 --json
	[ "$status" = 1 ]
	[ "$(faults)" = "host both adapter" ]
	[ "$(jq -r '.rows[0].hosts' <<<"$output")" = "$(hostname)#0, $(hostname)#1, $(hostname)#2" ]
	[ ! -s "$BATS_TEST_TMPDIR/1" ]
}

@test "a matrix fits 80 columns" {
	mesh 33
	[ "$status" = 1 ]
	[[ $output == "32 of 33 hosts, the worst first"* ]]
	[ -z "$(sed '/^FAULT/,$d' <<<"$output" | grep -vE '^.{0,80}$')" ]
}

@test "metrics are OpenMetrics" {
	mesh 2 --openmetrics
	[ "$status" = 1 ]
	[[ $output == *'eadm_mesh_hosts{state="done"} 2'* ]]
	[[ $output == *'eadm_mesh_hosts{state="unfinished"} 0'* ]]
	[[ $output == *'eadm_mesh_fault{number="0",fault="host",'* ]]
	[ "${lines[-1]}" = "# EOF" ]
}

@test "a host that does not join is a fault" {
	run --separate-stderr eadm test mesh --ranks 2 --rank 0 -p "$(port)" --wait 1s --device none_0 --json
	[ "$status" = 1 ]
	[ "$(faults)" = "host both absent
host both adapter" ]
}

@test "a host with another secret is refused" {
	port=$(port)
	EADM_MESH_SECRET=0123456789abcdeX eadm test mesh --ranks 2 --rank 1 -p "$port" >"$BATS_TEST_TMPDIR/1" 2>&1 &
	run --separate-stderr eadm test mesh --ranks 2 --rank 0 -p "$port" --wait 3s --device none_0 --json
	wait
	[ "$(faults)" = "host both absent
host both adapter" ]
	[ "$stderr" = "eadm: test: 127.0.0.1: refused: it has a different secret" ]
	grep -q "rank 0 closed the connection: the secrets differ, or rank 0 has exited" "$BATS_TEST_TMPDIR/1"
}

@test "ranks come from launchers" {
	port=$(port)
	OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 eadm test mesh -p "$port" --device none_0 &
	SLURM_PROCID=0 SLURM_NTASKS=2 run --separate-stderr eadm test mesh -p "$port" --device none_0 --json
	wait
	[ "$(jq -r '.rows[0].hosts' <<<"$output")" = "$(hostname)#0, $(hostname)#1" ]
}

@test "a stopped process of rank 0 does not stop its report" {
	local port pid child

	port=$(port)
	"$EADM" test mesh --ranks 2 --rank 0 -p "$port" --wait 60s --timeout 1s --device none_0 --json >"$BATS_TEST_TMPDIR/0" &
	pid=$!
	# The hello has more than 99 bytes. The tests begin when rank 1 joins.
	until ss -Htin state established "sport = :$port" | grep -q "bytes_received:[0-9]\{3\}"; do
		kill -0 "$pid"
		sleep 0.05
	done
	child=$(pgrep -P "$pid")
	kill -STOP "$child"
	eadm test mesh --ranks 2 --rank 1 -p "$port" --device none_0 >"$BATS_TEST_TMPDIR/1" 2>&1 </dev/null &
	run timeout 30 tail --pid="$pid" -f /dev/null
	kill -KILL "$child" 2>/dev/null || true
	[ "$status" = 0 ]
	wait
	[ "$(jq -r ".rows[].cause" "$BATS_TEST_TMPDIR/0" | sort | tr "\n" " ")" = "adapter hung " ]
}

@test "too few file descriptors are an error" {
	ulimit -n 200
	fails 1 "eadm: test: mesh: the limit on open files is 200, but 484 are required: raise it (ulimit -Hn)" \
		test mesh --rank 0 --ranks 100 -p "$(port)"
}

@test "the secret is not in the environment of the process" {
	"$EADM" test mesh --ranks 2 --rank 1 -p "$(port)" --wait 5s --device none_0 2>"$BATS_TEST_TMPDIR/1" &
	local pid=$!
	until grep -qz EADM_MESH_RENDEZVOUS "/proc/$pid/environ" && ! grep -qz 0123456789abcdef "/proc/$pid/environ"; do
		kill -0 "$pid"
		sleep 0.05
	done
	kill "$pid"
}

@test "options of other roles are refused" {
	fails 2 "eadm: test: --once: cannot be used with mesh" test mesh --rank 1 --ranks 2 --once
	fails 2 "eadm: test: --bind: cannot be used with mesh" test mesh --rank 1 --ranks 2 --bind 127.0.0.1
	fails 2 "eadm: test: --tests: cannot be used with mesh" test mesh --rank 1 --ranks 2 --tests echo
	fails 2 "eadm: test: --no-cm: cannot be used with mesh" test mesh --rank 1 --ranks 2 --no-cm
	fails 2 "eadm: test: --ud: cannot be used with server" test server --ud
	fails 2 "eadm: test: --count: cannot be used with server" test server -n 10
	fails 2 "eadm: test: --wait: cannot be used with client" test client 127.0.0.1 --wait 5s
	fails 2 "eadm: test: --once: cannot be used with client" test client 127.0.0.1 --once
	fails 2 "eadm: test: --ud: cannot be used with --bandwidth" test mesh --rank 1 --ranks 2 --ud --bandwidth
	printf 'a\nb\n' >"$BATS_TEST_TMPDIR/hosts"
	fails 2 "eadm: test: mesh: $BATS_TEST_TMPDIR/hosts: the number of hosts is 2, but the number of ranks is 3" \
		test mesh --hosts "$BATS_TEST_TMPDIR/hosts" --rank 1 --ranks 3
}

@test "wrong use of a mesh" {
	fails 2 "eadm: test: mesh: the rank is unknown: use a launcher, or --rank" test mesh
	fails 2 "eadm: test: mesh: the number of ranks is unknown: add --ranks" test mesh --rank 1
	fails 2 "eadm: test: mesh: rank 2: must be below the number of ranks, 2" test mesh --rank 2 --ranks 2
	fails 2 "eadm: test: --size: must be from 64 to 1048576 in a mesh" test mesh --rank 1 --ranks 2 -s 63
	printf 'a\nb c\n' >"$BATS_TEST_TMPDIR/hosts"
	fails 2 "eadm: test: mesh: $BATS_TEST_TMPDIR/hosts:2: more than one word" test mesh --hosts "$BATS_TEST_TMPDIR/hosts"
	printf 0123456789abcdef >"$BATS_TEST_TMPDIR/key"
	chmod 644 "$BATS_TEST_TMPDIR/key"
	fails 2 "eadm: test: mesh: $BATS_TEST_TMPDIR/key: mode 0644: must be accessible only to its owner (chmod 600)" \
		test mesh --rank 1 --ranks 2 --secret "$BATS_TEST_TMPDIR/key"
	unset EADM_MESH_SECRET
	fails 2 "eadm: test: mesh: no secret: set EADM_MESH_SECRET, or use --secret" test mesh --rank 1 --ranks 2
	run eadm __complete eadm test m
	[ "$output" = "mesh" ]
}
