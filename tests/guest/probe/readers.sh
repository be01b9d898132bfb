# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2016,SC2086 # of lib.sh; for eval; names without blanks
# Readers that follow the records, are killed or stand still; captures, the exporter, top.
# followed OP: how many calls of the class, or of all, the reader has shown.
followed() {
	jq -s --arg op "$1" '[.[].rows[] | select($op == "" or .op == $op)] | length' "$temp/followed"
}

# A reader that stands still: what it has, and what it says it lost.
stopped_reader() {
	local reader made shown lost
	rm -f "$temp/followed" "$temp/notes"
	$tool trace --follow -d $dev --json >"$temp/followed" 2>"$temp/notes" &
	reader=$!
	until_true 20 eval 'ls -l /proc/$reader/fd | grep -q timerfd' || return
	$src/scenes $dev churn 1 >"$temp/n0" || return
	until_true 20 grep -q dealloc-pd "$temp/followed" || return
	kill -STOP $reader
	# On one CPU, each of which has half of the memory.
	taskset -c 0 $src/scenes $dev churn "$1" >"$temp/n1" || return
	pause 10
	kill -CONT $reader
	$src/scenes $dev churn 1 >"$temp/n2" || return
	# The newest are kept: the end of each run is among them.
	until_true 60 eval '[ "$(followed dealloc-pd)" = 3 ]' || return
	kill -TERM $reader
	wait $reader
	made=$(($(cat "$temp/n0") + $(cat "$temp/n1") + $(cat "$temp/n2")))
	shown=$(followed "")
	lost=$(sed -n 's/.*: \([0-9]*\) records\{0,1\} w[a-z]* overwritten before they were read/\1/p' "$temp/notes" | awk '{n += $1} END {print n + 0}')
	echo "made $made, shown $shown, lost $lost"
	[ $((shown + lost)) = "$made" ] && { [ "$lost" = 0 ]; [ $? = "$2" ]; }
}
check "a reader that stood still for 10 s misses nothing of a few calls" stopped_reader 100 0
check "of many it knows how many it missed" stopped_reader 4000 1

kill_readers() {
	local pid
	for _ in {1..5}; do
		$tool trace --follow -d $dev >/dev/null 2>&1 &
		pid=$!
		eadm trace >/dev/null || return
		kill -KILL $pid
		wait $pid 2>/dev/null
	done
	[ "$(probe_field state)" = '"running"' ] && exact
}
check "killed readers leave it as it was" kill_readers

# Events as they come.
events_follow() {
	$tool events --json >"$temp/events" 2>&1 &
	local pid=$!
	until_true 20 eval 'ls -l /proc/$pid/fd | grep -q timerfd' || return
	timeout 60 $src/cmscenes connect $addr 7100 <&"$pause_fd"
	until_true 20 eval 'jq -e ".rows[] | select(.cm_event == \"rejected\" and .comm == \"cmscenes\" and .peer_port == 7100)" "$temp/events"' || cat "$temp/events"
	kill $pid
	jq -e '.rows[] | select(.cm_event == "rejected" and .status == 8)' "$temp/events"
}
check "events are shown as they come" events_follow

check "a capture has the records" eval 'eadm record "$temp/c.pcapng" && [ "$(eadm --from "$temp/c.pcapng" trace --json | jq ".rows | length")" -gt 1000 ]'
check "the exporter reads them" eval 'eadm exporter --once >"$temp/metrics"'
check "the exporter counts them" grep -E '^eadm_cmd_records_total.*op="create-qp"' "$temp/metrics"
check "the exporter has a histogram for each verb" same "$(printf '%s-qp\n' create destroy modify)" \
	"$(sed -nE 's/^eadm_cmd_latency_seconds_count.*op="((create|modify|destroy)-qp)".*/\1/p' "$temp/metrics" | sort -u)"

# Refreshed while connections are refused, until it shows that.
top_shows() {
	local top status=1

	$tool top -d $dev --json >"$temp/top" &
	top=$!
	for _ in {1..30}; do
		timeout 60 $src/cmscenes connect $addr 7100 <&"$pause_fd"
		if jq -es 'any(.[] | select(.object == "top-device").rows[];
				.connects_per_s > 0 and .failures_per_s > 0 and .cmd_p50 > 0)' "$temp/top" 2>/dev/null; then
			status=0
			break
		fi
	done
	kill $top
	wait $top
	tail -n 2 "$temp/top"
	return $status
}
check "top shows connections, failures and latencies" top_shows
