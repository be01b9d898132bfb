# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # for the tests
# Common functions of the tests of the fault knobs. A test is a function test_KNOB
# with exclusive use of adapter v0; some tests have a peer on v1.
config=/sys/kernel/config/eadm_virt/erdma
. tests/lib/knobs.sh
. tests/lib/traffic.sh
# Command numbers as in the target of knobs.
CREATE_QP=1
GET_STATS=260
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

use() { # N
	local address devices

	adapter=$config/v$1
	read -r address <"$adapter/address"
	devices=("/sys/bus/pci/devices/$address/infiniband/"*)
	dev=${devices[0]##*/}
	addr=10.77.$1.1
	port=$((7800 + $1))
	work=$temp/$1
	mkdir -p "$work"
}

now_ms() {
	local now=${EPOCHREALTIME/./}

	echo "${now%???}"
}

# between LOW HIGH VALUE WHAT
between() {
	echo "$4: $3"
	[ "$3" -ge "$1" ] && [ "$3" -le "$2" ] || { echo "not within $1..$2"; return 1; }
}

# fault KNOB FILE VALUE...: writes the files in this order, so the count comes last.
fault() {
	set_knob "$adapter/fault/$1" "${@:2}"
}

hits() { # KNOB
	local hits

	read -r hits <"$adapter/fault/$1/hits"
	echo "$hits"
}

struck() { # KNOB [HITS BEFORE]
	local hits

	read -r hits <"$adapter/fault/$1/hits"
	[ "$hits" -gt "${2:-0}" ]
}

# Writes the file only if necessary, and without starting a process.
reset() { # FILE VALUE
	local value

	read -r value <"$1"
	[ "$value" = "$2" ] || echo "$2" >"$1"
}

# The driver's command timeout in tests that wait for it, ms; the default is
# longer.
LIMIT=2000

short_limit() {
	command_limit "$dev" $LIMIT
}

# Restores the default settings of all knobs and of the driver's command timeout.
calm() {
	local dir

	[ ! -e "/sys/class/infiniband/$dev" ] || command_limit "$dev" 15000

	for dir in "$adapter"/fault/*/; do
		reset "$dir/count" 0
		reset "$dir/probability" 100
		reset "$dir/target" -1
		reset "$dir/arg" 0
	done
}

# trace FILTER: applies a jq filter to the array of records
trace() {
	eadm trace -d "$dev" --json | jq -r ".rows | $1"
}

counter() { # NAME of a counter of the port
	eadm stat -d "$dev" --json | jq -r ".rows[0].$1 // 0"
}

# grew NAME BEFORE BY
grew() {
	between "$3" "$3" $(($(counter "$1") - $2)) "$1 grew by"
}

# asks STATUS LOW HIGH: a command ends with this status after LOW to HIGH ms, which is in $took
asks() {
	local begin status

	begin=$(now_ms)
	rdma statistic show link "$dev/1" >"$work/asked" 2>&1
	status=$?
	took=$(($(now_ms) - begin))
	echo "status $status after $took ms: $(head -c 100 "$work/asked")"
	[ $((status > 0)) = "$1" ] && between "$2" "$3" "$took" ms
}

# A command times out, and the next one completes. Service has to be restored
# within a second, according to the last command of recovery in the driver's
# records: starting a program takes too long on a busy machine.
lost_and_back() {
	local told back

	asks 1 $((LIMIT - 100)) $((LIMIT + 20000)) || return 1
	told=$took
	asks 0 0 20000 || return 1
	back=$(trace '(map(select(.op == "get-stats" and (.state | IN("timeout", "late"))))[-1]) as $lost |
		map(select(.seq > $lost.seq and .polled == 1)) | map(.time + .latency) | max |
		((. - $lost.time) / 1000000 | floor) - '$LIMIT)
	between 0 1000 "$back" "ms until service was back" &&
		note "the command timed out after $told ms, service was restored after $back ms more"
}

# The adapter was reset at BEGIN, ms since 1970, and receives no commands: recovery begins within a second,
# and service is restored within another one, according to the polled commands of recovery.
noticed_and_back() { # BEGIN
	local noticed back

	read -r noticed back < <(trace "map(select(.polled == 1 and .time >= ${1}000000)) |
		\"\(map(.time) | min / 1000000 | floor) \(map(.time + .latency) | max / 1000000 | floor)\"")
	between 0 1000 $((noticed - $1)) "ms until the reset was noticed" &&
		between 0 1000 $((back - noticed)) "ms until service was back" &&
		note "the reset was detected after $((noticed - $1)) ms, service was restored after $((back - noticed)) ms more"
}

objects_work() {
	"$programs/objs" -d "$dev" -n 5 states cqs qps
}

# Delays the next write request, so that its consumer has to wait for the event:
# otherwise the completion may arrive before the wait begins.
next_is_late() {
	fault wr_slow target "$client" arg 50000 count 1
}

# note TEXT: a measured figure, printed beside the test's result
note() {
	echo "$*" >>"$work/note"
}

# run_test KNOB: runs the test on the first adapter
run_test() {
	local status=0 begin

	begin=$(now_ms)
	rm -f "$temp/0/note"
	(
		use 0
		"test_$1" && struck "$1"
	) >"$temp/log" 2>&1 || status=1
	(use 0 && calm) >>"$temp/log" 2>&1
	[ ! -e "$temp/0/note" ] || sed "s/^/# $1: /" "$temp/0/note"
	echo "# $1 took $(($(now_ms) - begin)) ms"
	if [ $status = 0 ]; then
		tap_pass "$1"
	else
		sed 's/^/# /' "$temp/log"
		tap_fail "$1"
	fi
}
