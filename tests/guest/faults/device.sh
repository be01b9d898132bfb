# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Faults of the device as a whole.

# Rates stay small when counters wrap at 2^64.
test_counters_wrap() {
	local packets

	begin_traffic || return 1
	fault counters_wrap arg 20 count 1
	until_true 5 struck counters_wrap || return 1
	eadm stat -d "$dev" --live -i 2s -n 1 --json >"$work/rates" 2>&1 &
	local pid=$!
	works || return 1
	wait $pid || { cat "$work/rates"; return 1; }
	packets=$(counter tx_packets)
	between 20 100000 "$packets" tx_packets || return 1
	jq -e '[.rows[0].rates[] | select(. > 1e15)] | length == 0' "$work/rates" ||
		{ cat "$work/rates"; return 1; }
	end_traffic
}

unplugged() {
	! [ -e "/sys/class/infiniband/$dev" ]
}

plug() {
	echo 1 >"$adapter/live" &&
		until_true 30 ls "/sys/bus/pci/devices/$(cat "$adapter/address")/infiniband"
}

# The removal is detected without any command.
test_dev_gone() {
	begin_traffic || return 1
	fault dev_gone count 1
	told 'local catastrophic error' || return 1
	asks 1 0 $((1000 * ${EADM_PATIENCE:-1})) && ask 10 '' 'write 1 64 1000' || return 1
	[ "$(show cmdq '' .state)" = dead ] || return 1
	echo 0 >"$adapter/live"
	until_true 20 unplugged && end_traffic && plug
}

test_stall() {
	local begin answered

	begin=$(now_ms)
	fault stall arg 1000 count 1
	until_true 5 struck stall && asks 0 0 5000 || return 1
	answered=$(trace "map(select(.op == \"get-stats\" and .time >= ${begin}000000) | .time + .latency) |
		min / 1000000 | floor")
	between 1000 5000 $((answered - begin)) "ms until an answer came" && objects_work
}

# Applications receive an event for an unexpected reset; then service is restored.
reset_by_itself() {
	told 'local catastrophic error' && told 'local work queue catastrophic error' || return 1
	[ "$(show cmdq '' .recoveries)" -ge 1 ] && [ "$(show cmdq '' .state)" = event ] || return 1
	asks 0 0 5000 || return 1
	note "service answers in $took ms after the reset"
	# Contexts opened before the reset stay unusable; new ones work.
	ask 10 '' 'write 1 64 1000' && end_traffic && begin_traffic && works && end_traffic
}

test_fw_reset() {
	local begin

	begin_traffic || return 1
	begin=$(now_ms)
	fault fw_reset count 1
	told 'local catastrophic error' || return 1
	note "consumers were told after $(($(now_ms) - begin)) ms"
	noticed_and_back "$begin" && reset_by_itself
}

test_dev_hang() {
	# A sender on another adapter gets an error, although this adapter does not respond and receives
	# no commands.
	local timeouts events

	begin_traffic -c 10.77.1.1 || return 1
	timeouts=$(show cmdq '' .timeouts)
	short_limit && fault dev_hang count 1
	until_true 5 struck dev_hang && read -r events <"$adapter/events" &&
		ask 30 'transport retry counter exceeded' 'write 3 64 25000' &&
		told 'local work queue catastrophic error' &&
		same "$timeouts $events" "$(show cmdq '' .timeouts) $(<"$adapter/events")" || return 1
	lost_and_back && told 'local catastrophic error' && end_traffic || return 1
	begin_traffic || return 1
	fault dev_hang count 1
	lost_and_back && reset_by_itself
}

# Recovery fails, and the next attempt succeeds.
test_init_lost() {
	begin_traffic || return 1
	fault init_lost count 1
	fault fw_reset count 1
	failed() {
		[ "$(show cmdq '' .failed_recoveries)" = 1 ]
	}
	until_true 10 failed || return 1
	back() {
		asks 0 0 5000
	}
	until_true 15 back && reset_by_itself
}

test_reset_lost() {
	begin_traffic || return 1
	fault reset_lost count 1
	fault fw_reset count 1
	reset_by_itself || return 1
	# So far the driver has seen the adapter restart. Otherwise it resets the function.
	begin_traffic || return 1
	fault reset_lost count 1
	short_limit && fault dev_hang count 1
	asks 1 $((LIMIT - 100)) $((LIMIT + 20000)) && reset_by_itself
}

# The driver waits up to a second for the reset, so the adapter is not halted.
test_reset_late() {
	begin_traffic || return 1
	fault reset_late arg 500 count 1
	short_limit && fault dev_hang count 1
	asks 1 $((LIMIT - 100)) $((LIMIT + 20000)) && reset_by_itself &&
		[ "$(show dev '' .orphans)" = 0 ]
}

test_false_gone() {
	local command

	begin_traffic || return 1
	fault false_gone count 1
	told 'local catastrophic error' || return 1
	read -r command < <(setpci -s "$(<"$adapter/address")" COMMAND)
	[ "$(show dev '' .state)" = gone ] && [ $((0x$command & 4)) = 0 ] && asks 1 0 $((1000 * ${EADM_PATIENCE:-1})) || return 1
	calm
	echo 0 >"$adapter/live"
	until_true 20 unplugged && end_traffic && plug
}
