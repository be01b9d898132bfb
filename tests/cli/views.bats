# SPDX-License-Identifier: GPL-2.0-or-later
# Filters, order, columns and repetition, of all objects.
load common

qpns() {
	eadm --from "$TWO" dump qp --json "$@" | jq -c '[.rows[] | .qpn]'
}

@test "--peer takes an address, a net, a port" {
	[ "$(qpns --peer 10.77.1.1)" = "[10,11]" ]
	[ "$(qpns --peer 10.77.0.0/16)" = "[10,11,10,12]" ]
	[ "$(qpns --peer 10.77.1.0/25)" = "[10,11]" ]
	[ "$(qpns --peer 0.0.0.0/0)" = "[10,11,10,12]" ]
	[ "$(qpns --peer ::ffff:10.77.1.1)" = "[10,11]" ]
	[ "$(qpns --peer ::ffff:10.77.0.0/112)" = "[10,11,10,12]" ]
	[ "$(qpns --peer 2001:db8::1)" = "[2]" ]
	[ "$(qpns --peer 2001:db8::/32)" = "[2]" ]
	port=$(eadm --from "$TWO" dump qp 2 -j | jq '.rows[0].peer_port')
	[ "$(qpns --peer "[2001:db8::1]:$port")" = "[2]" ]
	[ "$(qpns --peer "[2001:db8::1]:$((port + 1))")" = "[]" ]
	port=$(eadm --from "$TWO" dump qp 11 -j | jq '.rows[0].peer_port')
	[ "$(qpns --peer "10.77.1.1:$port")" = "[11]" ]
}

@test "--netns and --cgroup take a number, a path or a name" {
	netns=$(eadm --from "$TWO" dump qp 11 -j | jq '.rows[0].netns // empty')
	cgroup=$(eadm --from "$TWO" dump qp 11 -j | jq '.rows[0].cgroup_id // empty')
	[ "$(qpns --netns "$netns" --cgroup "$cgroup")" = "$(qpns --netns "$netns")" ]
	[[ $(qpns --netns "$netns") == *11* ]]
	fails 2 "eadm: dump: /proc/self/ns/net: with --from, a network namespace must be given by its number" \
		--from "$TWO" dump qp --netns /proc/self/ns/net
	fails 2 "eadm: dump: blue: with --from, a control group must be given by its number" \
		--from "$TWO" dump qp --cgroup blue
	fails 2 "eadm: dump: /proc/self/stat: not a network namespace" \
		dump qp --netns /proc/self/stat
	fails 2 "eadm: dump: /proc: not a control group" dump qp --cgroup /proc
	run eadm dump qp --netns /proc/self/ns/net
	[[ $output != *"network namespace"* ]]
	fails 2 "eadm: dump: nosuch: no network namespace: /run/netns/nosuch: No such file or directory" \
		dump qp --netns nosuch
	fails 2 "eadm: dump: a/b: no control group: a/b: No such file or directory" dump qp --cgroup a/b
}

@test "a filter on a property that no row of a device shows is reported" {
	local job=$BATS_TEST_TMPDIR/job

	blind() { # STATUS WHAT ARGUMENTS...
		fails "$1" "eadm: $2" "${@:3}"
		[ "$("$EADM" "${@:3}" --json | jq -r '.notes[] | "\(.device): \(.what): \(.why)"')" = "${2#*: }" ]
	}
	/usr/bin/python3 - "$REPO/tests/captures" "$job" "$BATS_TEST_TMPDIR"/{unowned,both} <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	import stock
	stock.traffic([(0, 0, 0)], 1).write(sys.argv[2])
	import synth
	for path, devices in ((sys.argv[3], 1), (sys.argv[4], 2)):
	    cap = synth.Capture()
	    cap.snapshot(0)
	    cap.family()
	    cap.rdma_devices(synth.DEVS[:devices])
	    cap.dump("dev", [synth.device(i) for i in range(devices)])
	    rows = [synth.qp(i, 17) for i in range(devices)]
	    del rows[0]["netns"], rows[0]["cgroup-id"]
	    cap.dump("qp", rows)
	    cap.write(path)
	EOF
	blind 5 "dump: rxe0: --peer: cannot be applied: the peers of the queue pairs are unknown (RDMA netlink shows only those of rdma_cm)" \
		--from "$job" dump qp --peer 10.9.0.1
	for option in netns cgroup-id; do
		blind 5 "dump: rxe0: --${option%-id}: cannot be applied: the queue pairs have no $option" \
			--from "$job" dump qp "--${option%-id}" 1
	done
	blind 5 "dump: rxe0: --state: cannot be applied: the device has no state" \
		--from "$job" dump dev --state ready
	run --separate-stderr eadm --from "$job" top -b --peer 10.9.0.1
	[ "$status" = 6 ]
	[[ $stderr == *"eadm: top: rxe0: --peer: cannot be applied: the peers "* ]]
	# Rows without the adapter's view are shown all the same.
	run --separate-stderr eadm --from "$job" dump qp 17 --hw
	[ "$status" = 5 ]
	[[ $output == *"rxe0    17 rc   rts "* ]]
	[ "$stderr" = "eadm: dump: rxe0: --hw: queue pairs have no adapter context" ]
	run --separate-stderr eadm --from "$RXE" stat cq --hw
	[ "$status" = 5 ]
	# What no row shows for lack of a right.
	blind 4 "dump: cloud_0: --netns: cannot be applied: it requires CAP_NET_ADMIN" \
		--from "$BATS_TEST_TMPDIR/unowned" dump qp --netns 1
	# A device that shows it, and one that does not.
	run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/both" dump qp --netns 4026531840
	[ "$status" = 6 ]
	[[ $output == *"cloud_1  17 "* ]]
	[ "$stderr" = "eadm: dump: cloud_0: --netns: cannot be applied: it requires CAP_NET_ADMIN" ]
}

@test "a filter that nothing matches finds nothing" {
	local idle=$BATS_TEST_TMPDIR/idle

	/usr/bin/python3 - "$REPO/tests/captures" "$idle" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	import stock
	stock.traffic([(0, 0, 0)], 0).write(sys.argv[2])
	EOF
	# The queue pair of the connection manager has neither a peer nor a process.
	for option in peer=10.9.0.1 pid=4 netns=1 cgroup=1 'comm=ib*' state=err; do
		nothing "$idle" "--$option"
	done
	# Queue pairs that are not connected; processes; peers of some are known.
	nothing "$RXE" --peer 10.9.0.1
	nothing "$RXE" --pid 4
	nothing "$SYNTH/stock.pcapng" --peer 10.9.0.1
	nothing "$TWO" --netns 1
	nothing "$TWO" --peer 9.9.9.9 --hw
	# Which process it is decides without the peer.
	nothing "$SYNTH/stock.pcapng" --pid 4 --peer 10.9.0.1
}

nothing() { # FILE OPTIONS...
	run --separate-stderr eadm --from "$1" dump qp "${@:2}"
	echo "$stderr"
	[ "$status" = 0 ]
	[ "$output" = "" ]
	[ "$stderr" = "eadm: dump: no queue pairs" ]
}

@test "rows come in the order of --sort, equals by their number" {
	[ "$(qpns --sort qpn)" = "[2,10,10,11,12]" ]
	[ "$(qpns --sort qpn:desc)" = "[12,11,10,10,2]" ]
	[ "$(qpns --sort state,qpn:desc)" = "[12,10,10,2,11]" ]
	[ "$(qpns --sort comm:asc,dev-name:desc)" = "[2,10,12,10,11]" ]
	[ "$(qpns --sort peer-addr)" = "[10,12,10,11,2]" ]
	golden sort-qp --from "$TWO" dump qp --sort state:desc,qpn -o qpn,state
	golden sort-absent --from "$TWO" dump qp --sort sq-ci:desc -o qpn,sq-ci
	golden sort-trace --from "$TWO" trace --sort latency:desc -o seq,op,latency
	golden sort-list --from "$TWO" list --sort dev-name:desc
}

@test "sorted rows are complete: extras, addresses, names" {
	for object in dev qp cq eq cmdq mr pd ctx cmd; do
		diff <(eadm --from "$TWO" dump "$object" --json --sort dev-index | jq -c '.rows | sort[]') \
			<(eadm --from "$TWO" dump "$object" --json | jq -c '.rows | sort[]')
	done
	diff <(eadm --from "$DEAD" stat --json --sort dev-index 2>/dev/null) \
		<(eadm --from "$DEAD" stat --json 2>/dev/null)
}

@test "--watch on a capture goes from moment to moment" {
	golden watch-cq --from "$MOMENTS" dump cq --watch
	golden watch-json --from "$MOMENTS" dump cq --watch --json
	[ "$(eadm --from "$MOMENTS" list -w 5s -j | wc -l)" = 3 ]
	[ "$(eadm --from "$MOMENTS" list --watch -n 2 -j | wc -l)" = 2 ]
	[ "$(eadm --from "$MOMENTS" dump qp --watch --peer 9.9.9.9 -j 2>/dev/null | wc -l)" = 1 ]
	eadm --from "$MOMENTS" dump cq --watch --json | "$REPO/tests/cli/validate"
	[ "$(eadm --from "$MOMENTS" --at '#2' dump cq --watch | grep ^--)" = "-- 22:13:22
-- 22:13:24" ]
}

@test "--watch and --live go on without a device, and with the next one" {
	local gone=$BATS_TEST_TMPDIR/gone

	"$REPO/tests/captures/devices.py" "$gone" 1,1,0,1,1
	for command in "list -w" "dump qp --watch" "list -w -d cloud_0"; do
		# shellcheck disable=SC2086
		run --separate-stderr eadm --from "$gone" $command
		[ "$status" = 0 ]
		[ "$stderr" = "" ]
		[ "$(grep ^-- <<<"$output")" = "-- 22:13:20
-- 22:13:21
-- 22:13:22  no device
-- 22:13:23
-- 22:13:24" ]
		[ "$(grep -c ^cloud_0 <<<"$output")" = 4 ]
	done
	[ "$(eadm --from "$gone" list -w --json | jq '.rows | length' | xargs)" = "1 1 0 1 1" ]
	run --separate-stderr eadm --from "$gone" stat --live
	[ "$status" = 0 ]
	[ "$output" = "-- 22:13:21
COUNTER  PER SECOND cloud_0/1
tx-bytes bytes           1.0k
-- 22:13:22  no device
-- 22:13:23
-- 22:13:24
COUNTER  PER SECOND cloud_0/1
tx-bytes bytes           1.0k" ]
	eadm --from "$gone" stat --live --json | "$REPO/tests/cli/validate"
	# One that comes late, one that never was there, none at all.
	"$REPO/tests/captures/devices.py" "$gone" 0,1
	[ "$(eadm --from "$gone" list -w | grep ^--)" = "-- 22:13:20  no device
-- 22:13:21" ]
	fails 3 "eadm: list: cloud_1: no such RDMA device" --from "$gone" list -w -d cloud_1
	"$REPO/tests/captures/devices.py" "$gone" 0,0
	run --separate-stderr eadm --from "$gone" list -w
	[ "$status" = 3 ]
	[ "$output" = "-- 22:13:20  no device
-- 22:13:21  no device" ]
	[ "$stderr" = "eadm: list: devices: no RDMA device found" ]
	fails 3 "eadm: list: devices: no RDMA device found" --from "$gone" list
}

@test "the time of --watch may stand behind it" {
	[ "$(eadm --from "$MOMENTS" list --watch 5 -j | wc -l)" = 3 ]
	[ "$(eadm --from "$MOMENTS" list --watch=500ms -j | wc -l)" = 3 ]
	[ "$(eadm --from "$MOMENTS" dump --watch cq -j | wc -l)" = 3 ]
	[ "$(eadm --from "$MOMENTS" dump -w cq -j | wc -l)" = 3 ]
	fails 2 "eadm: list: --watch: must be at least 1ms" list --watch 0
	fails 2 "eadm: list: --count: requires --watch" list -n 3
	fails 2 "eadm: list: --count: must be greater than 0" list --watch -n 0
	fails 2 "eadm: list: 5x: not a time (such as 500ms, 2s or 1m)" list --watch=5x
}

@test "--at finds the moment" {
	at() {
		eadm --from "$MOMENTS" --at "$1" stat --json | jq '.rows[0].tx_packets'
	}
	[ "$(at '#1')" = "$(eadm --from "$MOMENTS" stat --json | jq '.rows[0].tx_packets')" ]
	[ "$(at '#2')" != "$(at '#1')" ]
	[ "$(at +0s)" = "$(at '#1')" ]
	fails 3 "eadm: list: +1h: the capture has 3 snapshots, 2023-11-14 22:13:20 to 2023-11-14 22:13:24" \
		--from "$MOMENTS" --at +1h list
	[ "$(at -0s)" = "$(at '#3')" ]
	# From 22:13:20 to 22:13:24: all of the minute or second that is named.
	[ "$(at 22:13)" = "$(at '#3')" ]
	[ "$(at "2023-11-14 22:13")" = "$(at '#3')" ]
	[ "$(at 22:13:20)" = "$(at '#1')" ]
	[ "$(at 22:13:21.5)" = "$(at '#1')" ]
	[ "$(at 22:13:23)" = "$(at '#2')" ]
	[ "$(at "2023-11-14T22:13:24")" = "$(at '#3')" ]
	for time in 22:12 22:13:19 22:13:20.0 22:13:25 22:14 23:00 "2033-01-01 10:00" "2023-11-13 22:13"; do
		fails 3 "eadm: list: $time: the capture has 3 snapshots, 2023-11-14 22:13:20 to 2023-11-14 22:13:24" \
			--from "$MOMENTS" --at "$time" list
	done
	# Where it is from 23:59:58 to 00:00:02.
	[ "$(TZ=LMT-1:46:38 at 23:59)" = "$(at '#1')" ]
	[ "$(TZ=LMT-1:46:38 at 00:00:01)" = "$(at '#2')" ]
	[ "$(TZ=LMT-1:46:38 at 00:00)" = "$(at '#3')" ]
	run --separate-stderr eadm --from "$MOMENTS" --at -1h list
	[ "$status" = 3 ]
	[[ $stderr == "eadm: list: -1h: the capture has 3 snapshots, 20"*" to 20"* ]]
	run --separate-stderr eadm --from "$MOMENTS" --at '#4' list
	[ "$status" = 3 ]
	fails 2 "eadm: list: noon: not a time (such as 14:03:05, +30s, -10s or #3)" \
		--from "$MOMENTS" --at noon list
	fails 2 "eadm: list: --at: requires --from" --at '#1' list
}

@test "--save keeps what was read" {
	kept=$BATS_TEST_TMPDIR/kept.pcapng
	for command in list "dump qp --hw" "stat" trace ver "dump qp --state err -j"; do
		# shellcheck disable=SC2086
		eadm --from "$TWO" --save "$kept" $command >"$BATS_TEST_TMPDIR/now"
		# shellcheck disable=SC2086
		diff "$BATS_TEST_TMPDIR/now" <(eadm --from "$kept" $command)
	done
	# Each snapshot is kept as such.
	for command in "stat --live" "stat cq --live --hw -j" "top -b" "diagnose -j"; do
		# shellcheck disable=SC2086
		eadm --from "$MOMENTS" --save "$kept" $command >"$BATS_TEST_TMPDIR/now" 2>"$BATS_TEST_TMPDIR/notes" ||
			[ $? -gt 5 ]
		# shellcheck disable=SC2086
		diff "$BATS_TEST_TMPDIR/now" <(eadm --from "$kept" $command 2>/dev/null)
	done
	run eadm --from "$kept" --at '#3' list
	[[ $output == *": the capture has 2 snapshots, "* ]]
	run eadm --from "$kept" dump mr
	[ "$status" != 0 ]
	fails 2 "eadm: list: --save: standard output is already used for the output" --from "$TWO" --save - list
	fails 1 "eadm: list: --save: /nowhere/x: No such file or directory" \
		--from "$TWO" --save /nowhere/x list
}

@test "nothing is written to the capture that is read" {
	export XDG_STATE_HOME=$BATS_TEST_TMPDIR
	local t=$BATS_TEST_TMPDIR/eadm/marks/t
	mkdir -p "${t%/*}"
	cp "$TWO" "$t"
	ln -s "$t" "$BATS_TEST_TMPDIR/link"
	fails 2 "eadm: list: $t: is the input file of --from" --from "$t" list --save "$t"
	fails 2 "eadm: record: $BATS_TEST_TMPDIR/link: is the input file of --from" \
		--from "$t" record "$BATS_TEST_TMPDIR/link"
	fails 2 "eadm: mark: $t: is the input file of --from" --from "$t" mark t
	fails 2 "eadm: trace: $t: is the input file of --from" --from "$t" trace export "$t"
	fails 2 "eadm: bundle: $t: is the input file of --from" --from "$t" bundle create -o "$t"
	fails 2 "eadm: record: $t: is the input file of --from" --from - record "$t" <"$t"
	cmp "$t" "$TWO"
}

@test "-o help tells the columns" {
	[ "$(eadm dump qp -o help)" = "$(eadm dump qp --list-columns)" ]
	[ "$(eadm list -o help)" = "$(eadm dump dev --list-columns)" ]
	fails 2 "eadm: dump: --list-columns: missing object name" dump -o help
}

@test "wrong filters and orders" {
	fails 2 "eadm: dump: sta: unknown column (did you mean 'state'?)" dump qp --sort sta
	fails 2 "eadm: dump: down: not a sort order (asc or desc)" dump qp --sort qpn:down
	fails 2 "eadm: dump: --sort: ',' is not a list of columns" dump qp --sort ,
	fails 2 "eadm: dump: --sort: at most 8 columns" dump qp \
		--sort qpn,qpn,qpn,qpn,qpn,qpn,qpn,qpn,qpn
	fails 2 "eadm: stat: --sort: cannot be used with --live" stat -l --sort port
	fails 2 "eadm: trace: --sort: cannot be used with --follow" trace -f --sort op
	fails 2 "eadm: trace: --save: cannot be used with --follow (use 'eadm record')" \
		--save "$BATS_TEST_TMPDIR/none.pcapng" trace -f
	fails 2 "eadm: dump: --peer: this filter does not apply to memory regions" dump mr --peer 1.1.1.1
	fails 2 "eadm: dump: --netns: this filter does not apply to devices" dump dev --netns 1
	fails 2 "eadm: dump: --cgroup: this filter does not apply to event queues" dump eq --cgroup 1
	for peer in host 1.2.3 1.2.3.4:0 1.2.3.4:70000 1.2.3.4/33 ::1/129 "[::1]" "[::1" "[::1]x" 1.2.3.4:x; do
		run --separate-stderr eadm dump qp --peer "$peer"
		[ "$status" = 2 ]
		[[ $stderr == "eadm: dump: $peer: not an address"* ]]
	done
}

@test "stat filters and sorts objects" {
	[ "$(eadm --from "$TWO" stat cq --pid 4711 -j | jq '[.rows[].cqn] | unique | length')" -ge 1 ]
	[ "$(eadm --from "$TWO" stat eq --sort index:desc -j | jq -c '[.rows[].index]')" = \
		"$(eadm --from "$TWO" stat eq -j | jq -c '[.rows[].index] | sort | reverse')" ]
	fails 2 "eadm: stat: --pid: this filter does not apply to counters" stat --pid 1
}

@test "columns that count faults are shown when there are some" {
	heads() { # CAPTURE [OPTIONS]
		eadm --from "$1" dump eq "${@:2}" | head -n 1
	}
	[ "$(eadm --from "$TWO" dump eq -j | jq -c '[.rows[].unknown] | unique')" = "[0]" ]
	[[ $(heads "$TWO") != *UNKNOWN* ]]
	[[ $(heads "$TWO" -o +age) != *UNKNOWN* ]]
	[[ $(heads "$TWO" -o +unknown) == *UNKNOWN* ]]
	[[ $(heads "$TWO" -o +wide) == *UNKNOWN* ]]
	[[ $(heads "$TWO" -o wide) == *UNKNOWN* ]]
	[[ $(heads "$SICK") == *UNKNOWN* ]]
	[[ $(heads "$SICK" -d guest) == *UNDELIVERED* && $(heads "$SICK" -d guest) != *UNKNOWN* ]]
	[[ $(eadm --from "$SICK" dump qp) == *CAUSE* ]]
	[[ $(eadm --from "$SICK" dump qp -d rings) != *CAUSE* ]]
}
