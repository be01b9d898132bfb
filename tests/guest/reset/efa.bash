# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # for run, which sets the rest
# What of "run" is EFA's.

peer() {
	name_of "${adapters[1]}"
}

begin_load() {
	rm -f "$work/load"
	srd -u -t 120000 "$dev" "$(peer)" >"$work/load" 2>&1 </dev/null &
	load=$!
	until_true 30 grep -qs begun "$work/load"
}

# Its data was right until the device failed.
load_fails() {
	wait "$load"
	same 3 $? && grep -q fatal "$work/load" && return
	cat "$work/load"
	return 1
}

data_is_right() {
	timeout 60 srd -n 64 "$dev" "$(peer)"
}

# A lost command, and no reset is confirmed but that of the function.
command_fails() {
	command_limit "$dev" 1000 && set_knob "$adapter/fault/reset_stuck" count -1 &&
		set_knob "$adapter/fault/cmd_drop" count 2 &&
		! rdma statistic show link "$dev/1" && command_limit "$dev" 30000
}

# A lost command, and the first two of recovery.
start_fails() {
	command_limit "$dev" 1000 && set_knob "$adapter/fault/cmd_drop" count 3 &&
		! rdma statistic show link "$dev/1" && command_limit "$dev" 30000
}

recoveries() {
	eadm dump cmdq -d "$dev" --json | jq '.rows[0].recoveries'
}

# Six of the driver's checks, which read three times each, or six times if they have a suspicion.
part_unread() {
	local before hits=$adapter/fault/read_lost/hits

	before=$(recoveries)
	begin_load && set_knob "$adapter/fault/read_lost" count -1 &&
		until_true 60 eval '[ "$(cat "$hits")" -ge 36 ]' && same "$before" "$(recoveries)" &&
		calm && kill -0 "$load" && kill "$load" && wait "$load" && grep data "$work/load"
}

# The adapter reports something fatal, and answers no command of recovery: after one time limit
# it is reset, and after another one found not to start. The process ends in between.
part_over() {
	begin_load && set_knob "$adapter/fault/cmd_drop" count -1 &&
		set_knob "$adapter/fault/aenq_event" arg 1 count 1 &&
		until_true 20 state_is recovering && kill -KILL "$load" || return
	wait "$load"
	state_is recovering && calm && serves
}
