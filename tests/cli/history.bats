# SPDX-License-Identifier: GPL-2.0-or-later
# Marks, growth since then, what has changed, recordings of a bounded size.
load common


@test "diff of two moments tells changes and growth" {
	golden diff-moments --from "$MOMENTS" diff @#1 @#2
	golden diff-json --from "$MOMENTS" diff @#1 @-0s --json
	eadm --from "$MOMENTS" diff @#1 @-0s --json | "$REPO/tests/cli/validate"
	golden diff-counters --from "$MOMENTS" diff @+0s @+4s counters
	golden diff-sick --from "$SICK" diff @#1 @#2
	golden diff-hw --from "$MOMENTS" diff @#1 @#3 cq --hw
	diff <(eadm --from "$MOMENTS" diff @22:13:20 @22:13) <(eadm --from "$MOMENTS" diff @#1 @#3)
	fails 3 "eadm: diff: 22:12: the capture has 3 snapshots, 2023-11-14 22:13:20 to 2023-11-14 22:13:24" \
		--from "$MOMENTS" diff @22:12 @#3
}

@test "diff shows states first, and ring pointers only when asked" {
	run --separate-stderr eadm --from "$SICK" diff @#1 @#2 --json
	[ "$(jq -c '[.rows[].field] | index("ci")' <<<"$output")" = null ]
	[ "$(jq -c '.notes | map([.what, .why])' <<<"$output")" = \
		'[["ring pointers","1 change is not shown (--all)"]]' ]
	[ "$(eadm --from "$SICK" diff @#1 @#2 --all --json | jq -c '.rows[0] | [.object, .field]')" = '["eq","ci"]' ]
	# A state, a new QP, a level and counters: in that order.
	eadm diff "$TWO" "$SICK" --json 2>/dev/null | jq -e '[.rows[].change] | index("new") > 0'
	eadm diff "$TWO" "$BUSY" --json 2>/dev/null | jq -e '.rows | map(
		if .field | . and endswith("state") then 0 elif .change != "changed" then 1 elif .growth then 3 else 2 end) |
		. == sort and (unique | length > 2)'
}

@test "diff of a moment with itself is empty" {
	for capture in "$TWO" "$MOMENTS" "${LIVES[@]}"; do
		[ "$(eadm diff "$capture" "$capture" --json | jq '.rows | length')" = 0 ]
	done
	fails 0 "eadm: diff: no changes" diff "$TWO" "$TWO"
}

@test "diff of two captures: new, gone, and what one of them lacks" {
	golden diff-captures diff "$TWO" "$MOMENTS"
	golden diff-captures-back diff "$MOMENTS" "$TWO" cq
	run eadm diff "$TWO" "$MOMENTS" --json
	[ "$status" = 6 ]
	echo "$output" | "$REPO/tests/cli/validate"
	[ "$(echo "$output" | jq -r '.notes[0].what')" = "queue pairs" ]
}

@test "diff never shows keys, and goes by device" {
	/usr/bin/python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/other" <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	sys.dont_write_bytecode = True
	import synth
	mr = synth.mr
	synth.mr = lambda i, mrn, **more: mr(i, mrn + 1, **{"lkey": 7, "rkey": 8, "pages": 2, **more})
	synth.two().write(sys.argv[2])
	END
	run eadm diff "$TWO" "$BATS_TEST_TMPDIR/other" --json
	[[ $output == *'"mr"'*'"pages"'* && $output != *key* ]]
	[ "$(eadm diff "$TWO" "$MOMENTS" cq -d cloud_0 -j | jq -r '[.rows[].dev_name] | unique[]')" = cloud_0 ]
}

@test "stat --since tells what counters grew by" {
	golden since --from "$MOMENTS" --at '#2' stat --since @#1
	golden since-restarted --from "$MOMENTS" --at '#3' stat --since @#1
	golden since-cq --from "$MOMENTS" --at '#3' stat cq --hw --since "$MOMENTS"
	golden since-none --from "$MOMENTS" stat --since @#1
	golden since-json --from "$MOMENTS" --at '#2' stat --since @#1 --json
	eadm --from "$MOMENTS" --at '#2' stat --since @#1 --json | "$REPO/tests/cli/validate"
}

@test "rates and growth go by the names of devices, and tell of another host" {
	python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/swapped" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	from synth import SEC, Capture, counters, device
	cap = Capture()
	cap.local("machine", {"host": "node7"})
	for number, (one, two) in enumerate(((0, 3), (3, 0))):
	    cap.time = (1700000000 + number) * SEC
	    cap.snapshot(number)
	    cap.family()
	    devs = [{"dev-index": one, "dev-name": "one"}, {"dev-index": two, "dev-name": "two"}]
	    cap.rdma_devices([(d["dev-index"], d["dev-name"], 1) for d in devs])
	    cap.dump("dev", [{**device(0), **d} for d in devs])
	    cap.dump("counters", [counters(0, **devs[0], **{"tx-packets": 1000 + 5 * number}),
	                          counters(0, **devs[1], **{"tx-packets": 7000 + 9 * number})], hw=True)
	cap.write(sys.argv[2])
	EOF
	swapped=$BATS_TEST_TMPDIR/swapped
	for rates in "rates stat -l" "growth --at #2 stat --since @#1"; do
		# shellcheck disable=SC2086
		[ "$(eadm --from "$swapped" ${rates#* } -j | jq -c "[.rows[] | {(.dev_name): (.${rates%% *}.tx_packets + 0)}] | add")" = '{"one":5,"two":9}' ]
	done
	sed s/node7/node8/ "$swapped" >"$BATS_TEST_TMPDIR/other"
	run --separate-stderr eadm --from "$swapped" --at '#2' stat --since "$BATS_TEST_TMPDIR/other"
	[ "$status" = 0 ]
	[ "$stderr" = "eadm: stat: host: the counters are from different machines: node8 before, node7 now" ]
}

@test "stat does not compare a CQ with an earlier one of the same number" {
	python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/reused" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	from synth import DEVS, SEC, Capture, cq, device
	cap = Capture()
	# CQ 2 is replaced, CQ 3 stays, CQ 4 is new. CQ 5 has no number in the RDMA core, only an age.
	for number, rows in enumerate((
	        [(2, 900, 17, 3600), (3, 900, 3, 3600), (5, 900, None, 3600)],
	        [(2, 1000, 95, 1), (3, 1000, 3, 3610), (4, 70, 96, 1), (5, 1000, None, 1)])):
	    cap.time = (1700000000 + 10 * number) * SEC
	    cap.snapshot(number)
	    cap.family()
	    cap.rdma_devices(DEVS[:1])
	    cap.dump("dev", [device(0)])
	    full = [cq(0, cqn, events=events, age=age * SEC, **{"res-id": res_id})
	            for cqn, events, res_id, age in rows]
	    cap.dump("cq", [{k: v for k, v in row.items() if v is not None} for row in full])
	cap.write(sys.argv[2])
	EOF
	events() {
		eadm --from "$BATS_TEST_TMPDIR/reused" "$@" -j | jq -c '
			.rows | map({(.cqn | tostring): ((.rates // .growth).events | if . then . + 0 else . end)}) | add'
	}
	[ "$(events stat cq --live)" = '{"2":null,"3":10,"4":null,"5":null}' ]
	# Counters of CQs that are newer than the mark began at 0.
	[ "$(events --at '#2' stat cq --since @#1)" = '{"2":1000,"3":100,"4":70,"5":1000}' ]
}

@test "stat pairs rows by their labels, and shows these" {
	# Counters of one set have the same number.
	values() {
		eadm --from "$JOBS" "$@" -j | jq -c '[.rows[] | select(.counter == 1) | {(.name): ((.rates // .growth).value + 0)}] | add'
	}
	want='{"rdma_tx_bytes":2000000,"rdma_rx_bytes":1000000,"rdma_tx_packets":7000000}'
	[ "$(values stat qp-counter -l)" = "$want
$want" ]
	[ "$(values --at '#2' stat qp-counter --since @#1)" = "$want" ]
	golden stat-qp-counter --from "$JOBS" stat qp-counter
	[ "$(eadm --from "$SICK" stat failure-total -j | jq -c '.rows[0] | [.kind, .cause]')" = '["qp","retries-exceeded"]' ]
	[ "$(eadm --from "$SICK" stat health -j | jq -c '[.rows[].reporter]')" = '["fw","tx"]' ]
	# The index of a device changes, and then its interface.
	python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/links" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	from synth import SEC, Capture, device
	cap = Capture()
	for number, netdev in enumerate(("eth0", "eth0", "eth1")):
	    cap.time = (1700000000 + number) * SEC
	    cap.snapshot(number)
	    head = {"dev-index": number, "dev-name": "cloud_0", "netdev": netdev}
	    cap.family()
	    cap.rdma_devices([(number, "cloud_0", 1)])
	    cap.dump("dev", [{**device(0), **head}])
	    cap.local("link", {**head, "downs": 1 + number})
	cap.write(sys.argv[2])
	EOF
	[ "$(eadm --from "$BATS_TEST_TMPDIR/links" stat link -l -j | jq -c '[.rows[] | .netdev, (.rates.downs // -1) + 0]')" = \
		'["eth0",1]
["eth1",-1]' ]
}

@test "stat says that there is no activity only if it compared all counters" {
	local dir=$BATS_TEST_TMPDIR

	python3 - "$REPO/tests/captures" "$dir" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	from synth import DEVS, SEC, Capture, counters, device
	def write(name, *snapshots):
	    cap = Capture()
	    for number, rows in enumerate(snapshots):
	        cap.time = (1700000000 + number) * SEC
	        cap.snapshot(number)
	        cap.family()
	        cap.rdma_devices(DEVS)
	        cap.dump("dev", [device(i) for i in range(len(rows))])
	        cap.dump("counters", rows, hw=True)
	    cap.write(f"{sys.argv[2]}/{name}")
	one, two = counters(0), counters(1)
	write("both", [one, two])
	write("one", [one])
	write("few", [{k: v for k, v in one.items() if not k.startswith(("tx", "rx"))}, two])
	write("reset", [one, two], [{**one, "tx-bytes": 5}, two], [{**one, "tx-bytes": 5}, two])
	EOF
	since() { # NOW MARK STATUS STDERR
		run --separate-stderr eadm --from "$dir/$1" stat --since "$dir/$2"
		echo "$status $output $stderr"
		[ "$status" = "$3" ] && [ "$stderr" = "$4" ]
	}
	since both both 0 ""
	[ "$output" = "-- 22:13:20, in 0ns  no activity" ]
	since both one 6 "eadm: stat: cloud_1: counters: omitted 14 counters not in the mark
eadm: stat: cloud_1: counters: in the mark: not in the capture"
	[ "$output" = "-- 22:13:20, in 0ns" ]
	since both few 6 "eadm: stat: cloud_0: counters: omitted 11 counters not in the mark"
	[ "$output" = "-- 22:13:20, in 0ns" ]
	[ "$(eadm --from "$dir/both" stat --since "$dir/few" -j | jq -c .notes)" = \
		'[{"device":"cloud_0","what":"counters","why":"omitted 11 counters not in the mark"}]' ]
	# What neither can read is noted once.
	since one one 6 "eadm: stat: cloud_1: counters: not in the capture"
	run --separate-stderr eadm --from "$dir/reset" stat --live
	[ "$status" = 0 ]
	[ "$output" = "-- 22:13:21
-- 22:13:22  no activity" ]
	[ "$stderr" = "eadm: stat: counters: omitted counters that decreased (reset)" ]
	eadm --from "$dir/reset" stat --live -j | "$REPO/tests/cli/validate"
}

@test "stat --live goes on where a device does not answer, and without rows" {
	python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/part" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	from synth import DEVS, SEC, Capture, counters, device
	cap = Capture()
	for number in range(3):
	    cap.time = (1700000000 + number) * SEC
	    cap.snapshot(number)
	    cap.family()
	    cap.rdma_devices(DEVS)
	    cap.dump("dev", [device(0)])
	    cap.dump("counters", [counters(0, **{"tx-bytes": 1000 * number})], hw=True)
	cap.write(sys.argv[2])
	EOF
	run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/part" stat --live
	[ "$status" = 6 ]
	[ "$(grep -c 1.0k <<<"$output")" = 2 ]
	[ "$(grep -c "cloud_1: counters: not in the capture" <<<"$stderr")" = 1 ]
	run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/part" stat --live --json
	[ "$status" = 6 ]
	[ "$(jq -r '.notes[-1].device' <<<"$output")" = 'cloud_1
cloud_1' ]
	"$REPO/tests/cli/validate" <<<"$output"
	[ "$(eadm --from "$BUSY" stat qp --live --peer 9.9.9.9 -j | jq -c .rows)" = '[]
[]' ]
	[ "$(eadm --from "$BUSY" stat qp --since @#1 --peer 9.9.9.9 -j | jq -c .rows)" = '[]' ]
}

@test "marks are made, listed, used and deleted" {
	export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
	fails 0 "eadm: mark: no marks" mark --list
	eadm --from "$MOMENTS" mark before
	eadm --from "$MOMENTS" --at '#2' mark
	[ "$(stat -c %a "$XDG_STATE_HOME/eadm/marks/before")" = 600 ]
	[ "$(stat -c %a "$XDG_STATE_HOME/eadm/marks")" = 700 ]
	[ "$(eadm mark --list -j | jq -c '[.rows[].name]')" = '["before","last"]' ]
	eadm mark --list -j | "$REPO/tests/cli/validate"
	[[ $(eadm mark --list) == MARK*before*last* ]]
	diff <(eadm --from "$MOMENTS" --at '#2' stat --since before) \
		<(eadm --from "$MOMENTS" --at '#2' stat --since @#1)
	diff <(eadm diff before last) <(eadm --from "$MOMENTS" diff @#1 @#2)
	[ "$(eadm __complete diff be)" = "before
:file" ]
	[ "$(eadm __complete mark --delete la)" = last ]
	eadm mark --delete before
	fails 3 "eadm: mark: before: no such mark" mark --delete before
	fails 3 "eadm: diff: before: no such mark or file (see 'eadm mark --list')" diff before
	fails 3 "eadm: stat: gone: no such mark or file (see 'eadm mark --list')" --from "$TWO" stat --since gone
}

@test "record keeps within --max-size" {
	eadm --from "$TWO" record --hw -i 1ms -n 50 --max-size 64K "$BATS_TEST_TMPDIR/small"
	[ "$(stat -c %s "$BATS_TEST_TMPDIR/small")" -le 65536 ]
	diff <(eadm --from "$BATS_TEST_TMPDIR/small" --at -0s dump qp --hw) <(eadm --from "$TWO" dump qp --hw)
	fails 1 "eadm: record: $BATS_TEST_TMPDIR/tiny: a single snapshot is larger than the limit" \
		--from "$TWO" record --max-size 1K "$BATS_TEST_TMPDIR/tiny"
	[ ! -e "$BATS_TEST_TMPDIR/tiny" ]
	fails 2 "eadm: record: --max-size: a size limit requires a regular file" \
		--from "$TWO" record --max-size 1M /dev/null
	fails 2 "eadm: record: 1X: not a size (such as 64M)" record --max-size 1X x
}

teardown() {
	[ -z "${pid-}" ] || kill "$pid" 2>/dev/null || :
}

# Prints the size of the file that process $pid is recording. It has no name until it is
# whole, but a folder.
recorded() {
	local fd

	for fd in "/proc/$pid/fd/"*; do
		[[ $(readlink "$fd") != "$BATS_TEST_TMPDIR"/* ]] || stat -Lc %s "$fd"
	done
}

has_grown() {
	local size
	size=$(recorded)
	[ "${size:-0}" -gt "$1" ]
}

@test "record goes on until it is told to end, and the file is whole" {
	for signal in TERM HUP; do
		"$EADM" --from "$TWO" record -i 10ms "$BATS_TEST_TMPDIR/long" 3>&- &
		pid=$!
		until_true 30 has_grown 100000
		kill "-$signal" "$pid"
		wait "$pid"
		diff <(eadm --from "$BATS_TEST_TMPDIR/long" --at '#2' list) <(eadm --from "$TWO" list)
		rm "$BATS_TEST_TMPDIR/long"
	done
}

@test "record: an ignored SIGHUP stays ignored" {
	(
		trap '' HUP
		exec "$EADM" --from "$TWO" record -i 10ms "$BATS_TEST_TMPDIR/long" 3>&-
	) &
	pid=$!
	until_true 30 has_grown 100000
	kill -HUP "$pid"
	until_true 30 has_grown "$(($(recorded) + 100000))"
	kill -TERM "$pid"
	wait "$pid"
}

@test "record and --save: after a write error, complete snapshots are kept" {
	ulimit -f 100
	run eadm --from "$TWO" record -n 50 -i 1ms "$BATS_TEST_TMPDIR/full"
	[ "$status" = 1 ]
	[[ $output =~ ^"eadm: record: $BATS_TEST_TMPDIR/full: File too large (kept "([0-9]+)" complete snapshots)"$ ]]
	kept=${BASH_REMATCH[1]}
	diff <(eadm --from "$BATS_TEST_TMPDIR/full" --at "#$kept" dump qp) <(eadm --from "$TWO" dump qp)
	run eadm --from "$BATS_TEST_TMPDIR/full" --at "#$((kept + 1))" list
	[[ $output == *": the capture has $kept snapshots, "* ]]
	# The first snapshot is not complete.
	ulimit -f 1
	fails 1 "eadm: record: $BATS_TEST_TMPDIR/none: File too large" --from "$TWO" record "$BATS_TEST_TMPDIR/none"
	[ ! -e "$BATS_TEST_TMPDIR/none" ]
	run eadm --from "$TWO" --save "$BATS_TEST_TMPDIR/none" dump qp
	[ "$status" = 1 ]
	[ ! -e "$BATS_TEST_TMPDIR/none" ]
}

# many_events: 2000 events in $BATS_TEST_TMPDIR/events.
many_events() {
	PYTHONPATH=$REPO/tests/captures python3 - "$BATS_TEST_TMPDIR/events" <<-'END'
	import sys
	sys.dont_write_bytecode = True
	from nlcap import FAMILY, GENERIC
	from synth import DEVS, SEC, Capture, device
	cap = Capture()
	cap.family()
	cap.rdma_devices(DEVS)
	cap.dump("dev", [device(0), device(1)])
	head = cap.pack("BBH", cap.spec.cmds["event"], 1, 0)
	seq = cap.request(GENERIC, FAMILY, head, True)
	for n in range(1, 2001):
	    row = cap.row("event", {"dev-index": 3, "dev-name": "cloud_1", "seq": n, "time": 1700000000 * SEC + n,
	                            "type": "async", "async": "qp-fatal", "qpn": n})
	    cap.packet(GENERIC, cap.message(FAMILY, 2, seq, head + row))
	cap.write(sys.argv[1])
	END
}

@test "events --save: after a write error, the command ends and complete packets are kept" {
	local saved=$BATS_TEST_TMPDIR/saved
	many_events
	eadm --from "$BATS_TEST_TMPDIR/events" events >"$BATS_TEST_TMPDIR/all"
	ulimit -f 40
	for format in "" --json; do
		run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/events" --save "$saved" events $format
		[ "$status" = 1 ]
		[ "$stderr" = "eadm: events: $saved: File too large (kept all complete packets)" ]
		[ "${#lines[@]}" -gt 200 ]
		[ "${#lines[@]}" -lt 400 ]
		run --separate-stderr eadm --from "$saved" events
		[ "$status" = 0 ]
		[ "${#lines[@]}" -gt 200 ]
		[ "$output" = "$(head -n "${#lines[@]}" "$BATS_TEST_TMPDIR/all")" ]
		rm "$saved"
	done
}

@test "top, stat --live and --watch with --save: after a write error, the command ends" {
	local saved=$BATS_TEST_TMPDIR/saved
	eadm --from "$TWO" record --hw -n 100 -i 1ms "$BATS_TEST_TMPDIR/long"
	ulimit -f 100
	for command in "top -b" "stat cq --live --hw" "dump qp --watch"; do
		# shellcheck disable=SC2086
		run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/long" --save "$saved" $command
		[ "$status" = 1 ]
		[[ $stderr =~ "eadm: "[a-z]+": $saved: File too large (kept "([0-9]+)" complete snapshots)"$ ]]
		[ "$(grep -c '^--' <<<"$output")" -le "$((BASH_REMATCH[1] + 1))" ]
		run eadm --from "$saved" --at '#999' list
		[[ $output == *": the capture has ${BASH_REMATCH[1]} snapshots, "* ]]
		rm "$saved"
	done
}

# on_terminal ARGUMENT...: what a terminal gets that is behind both outputs.
on_terminal() {
	script -qec "$EADM $*" /dev/null </dev/null
}

@test "long work is told of on a terminal, and wiped away" {
	record="--from $TWO record -i 20ms -n 80"
	told=$(on_terminal "$record" "$BATS_TEST_TMPDIR/seen")
	[[ $told =~ $'\r'"eadm: record: "[0-9]+" snapshots ..."$'\e[K' ]]
	[[ ${told##*...$'\e[K'} == $'\r\e[K'* ]]
	# shellcheck disable=SC2086
	run --separate-stderr eadm $record "$BATS_TEST_TMPDIR/unseen"
	[ "$status" = 0 ]
	[[ $output$stderr != *"..."* ]]
	bundle="--from $TWO bundle create -o $BATS_TEST_TMPDIR"
	[[ $(on_terminal "$bundle/seen.tar.zst") == *"eadm: bundle: capture.pcapng: "*"written"* ]]
	# shellcheck disable=SC2086
	run --separate-stderr eadm $bundle/unseen.tar.zst
	[ "$status" = 0 ]
	[[ $output$stderr != *capture.pcapng* ]]
}

# hosts A B: two hosts with one adapter each, whose names, addresses and some settings differ.
hosts() {
	/usr/bin/python3 - "$REPO/tests/captures" "$@" <<-'END'
	import ipaddress, sys
	sys.path.insert(0, sys.argv[1])
	import synth
	from nlcap import Capture
	def host(path, name, device, gid, mtu, kernel, types, locked):
	    cap = Capture()
	    cap.local("machine", {"host": name, "kernel": kernel, "cpus": 8, "netns-mode": "shared",
	                          **({"memlock": 65536} if locked else {})})
	    cap.module("ib_core")
	    cap.module("ib_uverbs", "2.0" if locked else "")
	    cap.local("gid", *[{"dev-index": 0, "dev-name": device, "port": 1, "gid-index": i,
	                        "gid": ipaddress.ip_address(gid).packed, "type": kind} for i, kind in enumerate(types)])
	    m = synth.Machine([device])
	    m.add("dev", 0, {**synth.device(0), "dev-name": device, "mtu": mtu})
	    m.write(cap, 0)
	    cap.write(path)
	one, two = "fe80::1", "fe80::2"
	roce = ["RoCE v1", "RoCE v2"]
	host(sys.argv[2], "node1", "cloud_0", one, 9000, "6.12.1", roce + ["RoCE v2"], True)
	host(sys.argv[3], "node2", "adapter_1", two, 1500, "6.12.9", ["RoCE v2", "RoCE v2"],
	     False)
	host(sys.argv[4], "node3", "cloud_0", two, 9000, "6.12.1", roce + ["RoCE v2"], True)
	END
}

@test "diff --setup of two hosts: what differs, by what it decides, and how much is equal" {
	hosts "$BATS_TEST_TMPDIR/"{a,b,c}
	golden diff-setup diff "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b" --setup
	eadm diff "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b" --setup --json |
		"$REPO/tests/cli/validate"
	# What one side does not know is no difference, unless asked for.
	[ "$(eadm diff "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b" --setup --all --json |
		jq -c '.rows[] | select(.field == "memlock") | [.kind, .a, .b]')" = '["service","65536",null]' ]
	[ "$(eadm diff "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b" --setup gid --json |
		jq -c '[.rows[].object] | unique')" = '["gid"]' ]
	golden diff-setup-devices diff "$SICK" "$TWO" --setup
}

@test "diff --setup of hosts that are set up alike is empty, although names and addresses differ" {
	hosts "$BATS_TEST_TMPDIR/"{a,b,c}
	run --separate-stderr eadm diff "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/c" --setup --json
	[ "$status" = 0 ]
	[ "$(echo "$output" | jq '.rows | length')" = 0 ]
	[ "$(echo "$output" | jq -r '.notes[0].what')" = equal ]
	fails 2 "eadm: diff: --hw: cannot be used with --setup: the configuration has no queue contexts" \
		diff "$TWO" "$TWO" --setup --hw
	fails 2 "eadm: diff: qp: not part of a host's configuration" diff "$TWO" "$TWO" qp --setup
}

@test "the path of a capture may contain '@'" {
	cp "$TWO" "$BATS_TEST_TMPDIR/ops@node7.pcapng"
	cd "$BATS_TEST_TMPDIR"
	eadm diff ops@node7.pcapng "ops@node7.pcapng@#1"
}

@test "wrong uses of history" {
	fails 2 "eadm: diff: A: missing mark or capture (see 'eadm help diff')" diff
	fails 2 "eadm: diff: qpp: unknown object (see 'eadm help dump')" diff "$TWO" "$TWO" qpp
	fails 2 "eadm: diff: @#1: '@TIME' requires a capture (use --from FILE)" diff @#1 @#2
	fails 2 "eadm: diff: live@12:00: 'live' has no snapshots" diff "$TWO" live@12:00
	fails 2 "eadm: diff: --output: diff has fixed columns" diff "$TWO" "$TWO" -o a
	fails 2 "eadm: diff: --timeout: must be from 1ms to 24h" --timeout 1us diff "$TWO" live
	fails 2 "eadm: diff: --at: cannot be used with diff (FILE@TIME selects a snapshot)" \
		--from "$TWO" --at '#1' diff @#1 @#1
	fails 2 "eadm: stat: --since: cannot be used with --live" stat -l --since x
	fails 2 "eadm: mark: live: reserved for the current state of this machine" mark live
	fails 2 "eadm: mark: a/b: not a name (letters, digits, '.', '_' and '-')" mark a/b
	fails 2 "eadm: mark: --delete: missing NAME" mark --delete
	fails 2 "eadm: mark: --list: cannot be combined with other arguments" mark --list x
	fails 2 "eadm: mark: --device: a mark always includes all devices" mark -d cloud_0 x
	fails 2 "eadm: record: --device: a capture always includes all devices" record -d cloud_0 x
	run --separate-stderr env -u HOME -u XDG_STATE_HOME "$EADM" mark x
	[ "$status" = 1 ]
	[[ $stderr == *"neither XDG_STATE_HOME nor HOME is set" ]]
	run --separate-stderr eadm diff "$TWO" "$REPO/README.md"
	[ "$status" = 1 ]
}
