# SPDX-License-Identifier: GPL-2.0-or-later
# The flight recorder's histograms and what viewers get.
load traced

@test "trace hist has verbs and the driver's commands apart" {
	golden hist-probed --from "$REPO/tests/captures/probed/well.pcapng" trace hist
	run -0 "$REPO/tests/cli/validate" < <(eadm --from "$REPO/tests/captures/probed/well.pcapng" trace hist --json)
	[ "$(eadm --from "$REPO/tests/captures/probed/well.pcapng" trace hist --json |
		jq -c '[.rows[] | select(.op == "reg-mr") | [.family, .count]]')" = '[["verbs",1204],["cloud",401]]' ]
}

@test "trace hist draws each kind of command" {
	golden hist --from "$TWO" trace hist
	golden hist-dead --from "$DEAD" trace hist
	golden hist-none --from "$TWO" trace hist --pid 1
	golden hist-filtered --from "$TWO" trace hist --slower-than 1ms
}

@test "trace hist in JSON adds up" {
	golden hist-json --from "$TWO" trace hist --json
	for capture in "$TWO" "$DEAD" "$BUSY"; do
		adds_up "$capture"
	done
}

@test "percentiles are values that were measured" {
	measured "$BUSY"
}

@test "trace export is sound, and has every command once" {
	for capture in "$TWO" "$DEAD" "$BUSY"; do
		exported "$capture"
	done
	golden export --from "$TWO" trace export
	diff <(eadm --from "$TWO" trace export --format chrome) <(eadm --from "$TWO" trace export)
	[ "$(eadm --from "$TWO" trace export --opcode reg-mr | jq '[.traceEvents[] |
		select(.ph == "X")] | length')" = 1 ]
}

@test "commands that overlap get slots of their own" {
	python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/over.pcapng" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	from synth import DEVS, SEC, Capture, cmd, device
	cap = Capture()
	cap.family()
	cap.rdma_devices(DEVS[:1])
	cap.dump("dev", [device(0)])
	cap.dump("cmd", [cmd(0, n, time=SEC + at, latency=50000)
	                 for n, at in enumerate((0, 10000, 20000, 60000), 1)])
	cap.write(sys.argv[2])
	EOF
	eadm --from "$BATS_TEST_TMPDIR/over.pcapng" trace export "$BATS_TEST_TMPDIR/trace"
	sound "$BATS_TEST_TMPDIR/trace"
	[ "$(jq -c '[.traceEvents[] | select(.ph == "X") | .tid]' "$BATS_TEST_TMPDIR/trace")" = "[1,2,3,1]" ]
}

@test "wrong parts of trace" {
	fails 2 "eadm: trace: hits: unknown subcommand (did you mean 'hist'?)" trace hits
	fails 2 "eadm: trace: xyzzy: unknown subcommand (hist or export)" trace xyzzy
	fails 2 "eadm: trace: x: unexpected argument (see 'eadm help trace')" trace hist x
	fails 2 "eadm: trace: --follow: cannot be used with hist" trace hist -f
	fails 2 "eadm: trace: --follow: cannot be used with export" trace export -f
	fails 2 "eadm: trace: --format: applies to export only" trace --format chrome
	fails 2 "eadm: trace: chrom: unknown format (did you mean 'chrome'?)" trace export --format chrom
	fails 2 "eadm: trace: --sort: a histogram has fixed columns" trace hist --sort op
	fails 2 "eadm: trace: --output: a histogram has fixed columns" trace hist -o op
	fails 1 "eadm: trace: /nowhere/x: No such file or directory" --from "$TWO" trace export /nowhere/x
	run eadm --from "$TWO" trace export --json
	[ "$status" = 2 ]
	[ "$(echo "$output" | jq -r .error.what)" = --json ]
	run --separate-stderr eadm --from "$TWO" -d nosuch trace export "$BATS_TEST_TMPDIR/none"
	[ "$status" = 3 ]
	[ ! -e "$BATS_TEST_TMPDIR/none" ]
}
