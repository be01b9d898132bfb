# SPDX-License-Identifier: GPL-2.0-or-later
# What histograms and exported traces of any capture must be.
load "${BASH_SOURCE[0]%/*}/common"

# What the trace event format asks of a document, and what viewers can't show.
sound() {
	jq -e '
		(.displayTimeUnit == "ns") and (.otherData.start_ns | type == "string") and
		([.traceEvents[] | select(.ph == "X") | (.ts | type == "number") and .ts >= 0 and
			.dur >= 0 and .pid > 0 and .tid > 0 and (.name | length > 0) and
			(.args | type == "object")] | all) and
		([.traceEvents[] | .ph | IN("X", "M", "C", "i")] | all) and
		([.traceEvents[] | select(.ph == "i") | .s == "t"] | all) and
		([.traceEvents[] | select(.ph == "M") | .args.name | length > 0] | all) and
		(([.traceEvents[] | select(.ph == "X" or .ph == "i") | [.pid, .tid]] | unique) -
			([.traceEvents[] | select(.name == "thread_name") | [.pid, .tid]]) == []) and
		([.traceEvents[] | select(.ph == "X")] | group_by([.pid, .tid]) |
			map(sort_by(.ts) | [., .[1:]] | transpose | map(select(.[1] != null) |
				.[0].ts + .[0].dur <= .[1].ts + 0.0005) | all) | all)' "$1" >/dev/null
}

# exported CAPTURE: its trace is sound, and has every command once.
exported() {
	eadm --from "$1" trace export "$BATS_TEST_TMPDIR/trace" 2>/dev/null
	sound "$BATS_TEST_TMPDIR/trace"
	[ "$(jq '[.traceEvents[] | select(.ph == "X" or .ph == "i")] | length' \
		"$BATS_TEST_TMPDIR/trace")" = \
		"$(eadm --from "$1" trace --json 2>/dev/null | jq '.rows | length')" ]
}

# adds_up CAPTURE: its histograms have as many commands as they count.
adds_up() {
	eadm --from "$1" trace hist --json 2>/dev/null >"$BATS_TEST_TMPDIR/hist"
	"$REPO/tests/cli/validate" <"$BATS_TEST_TMPDIR/hist"
	[ "$(jq '[.rows[] | .count == ([.buckets[].count] | add) and .p50 <= .p99 and
		.p99 <= .max] | all' "$BATS_TEST_TMPDIR/hist")" = true ]
}

# measured CAPTURE: percentiles of its histogram are latencies of commands.
measured() {
	local latencies row

	latencies=$(eadm --from "$1" trace --opcode create-qp --json | jq -c '[.rows[].latency] | sort')
	row=$(eadm --from "$1" trace hist --opcode create-qp --json | jq -c '.rows[0]')
	[ "$(jq -n --argjson l "$latencies" '$l[((($l | length) * 50 + 99) / 100 | floor) - 1]')" = \
		"$(echo "$row" | jq .p50)" ]
	[ "$(jq -n --argjson l "$latencies" '$l | max')" = "$(echo "$row" | jq .max)" ]
}
