# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # knobs: all of them
# Records of each fault knob in our driver and the companion, to be sourced in addition to
# efa-knobs.bash. The knob's test (test_KNOB) injects the fault on e0; then there are new entries
# in one of these places:
#
#	trace FILTER	commands in the flight recorder (eadm trace)
#	failure FILTER	past failures (eadm events --past)
#	event FILTER	events since the script began (eadm events), also of a device that is gone
#	grows OBJECT EXPRESSION
#			the sum over the rows of eadm dump OBJECT --hw
#	log REGEX	lines of the kernel's log, if there is no device that could have records
#	none REASON	nothing
#
# Each line has the name of a knob and one of these. Filters and expressions use jq.
recorded_table() {
	local not_read="send queues and doorbells are in BARs that are never read"
	local not_counted="neither the adapter nor the driver counts completions of a CQ"
	local process="the completion, which dump cqe shows while the process has its CQ: efa-named.sh, draw"

	cat <<-END
	read_lost	log the adapter cannot be reset: -5
	reset_stuck	log the adapter cannot be reset: -62
	reset_late	none the driver is unbound meanwhile, and no device could record it
	cmd_drop	failure .kind == "command" and .cause == "timeout" and .op == "get-stats"
	cmd_delay	trace .op == "get-stats" and .latency > 200000000
	cmd_slow	trace .op == "get-stats" and .latency > 20000000
	cmd_db_lost	failure .kind == "command" and .cause == "timeout" and .op == "get-stats"
	answer_garbage	log efa.*probe .*failed with error
	cmd_error	failure .cause == "refused" and .op == "create-ah" and .syndrome_raw == 7
	cmd_duplicate	grows cmdq .spurious
	keep_alive_lost	grows eq (.last_keep_alive_age // 0) / 2000000000 | floor
	aenq_event	grows eq .events - (.keep_alive_events // .events)
	ah_full		failure .cause == "refused" and .op == "create-ah" and .syndrome_raw == 1
	cq_overrun	none $not_counted
	cqe_lost	none $not_counted
	cqe_duplicate	none $not_counted
	cqe_status	none $process
	cqe_qpn		none $process
	cqe_phase	none $process
	cqe_opcode	none $process
	eqe_lost	none that a CQ is armed is in a doorbell, which is never read
	eqe_duplicate	none a process that requests the next event at once gets as many
	sq_db_lost	none $not_read
	rq_db_lost	none $not_read
	qp_stall	none $not_read
	wr_slow		none $not_read
	wr_error	none $process
	dma_fault	none $process
	rnr		none an SRD message that waits is not counted; its completion is the process's
	peer_silent	grows counters .unresponsive_peers
	retransmit	grows counters .retransmitted_packets
	impaired	grows counters .impaired_peers
	counters_wrap	grows counters .tx_bytes / 1e18 | floor
	irq_lost	grows eq .missed
	irq_spurious	grows eq if .role == "completion" then .interrupts - .events else 0 end
	dev_gone	event .type == "dead"
	stall		none no command waits when it is this short: cmd_delay shows one that does
	dev_hang	failure .kind == "device" and .cause == "adapter-reset"
	fw_reset	failure .kind == "device" and .cause == "adapter-reset"
	END
}

recorded_of() { # KNOB: prints the rest of its line
	recorded_table | sed -n "s/^$1[[:space:]]\{1,\}//p"
}

every_knob_is_in_the_table() {
	same "$(printf '%s\n' "${knobs[@]}" | sort)" "$(recorded_table | cut -f 1 | sort)"
}

begin_events() { # FILE
	events=$1
	eadm events --json >"$events" 2>/dev/null &
	listener=$!
}

end_events() {
	kill "$listener"
	wait "$listener" 2>/dev/null
	return 0
}

rows_where() { # FILTER COMMAND...: prints the number of matching rows
	"${@:2}" -d "$(device e0)" --json 2>/dev/null | jq "[.rows[]? | select($1)] | length"
}

# amount KIND ARGUMENT: prints the value to which a line of the table refers
amount() {
	local kind=$1 what=$2

	case $kind in
	trace) rows_where "$what" eadm trace ;;
	failure) rows_where "$what" eadm events --past ;;
	event) jq -s "[.[].rows[] | select($what)] | length" "$events" ;;
	grows) eadm dump "${what%% *}" --hw -d "$(device e0)" --json 2>/dev/null |
		jq "[.rows[]? | ${what#* }] | add // 0" ;;
	log) dmesg | grep -c "$what" ;;
	none) echo 0 ;;
	esac
}

# recorded KNOB: its test passes and leaves the expected record.
recorded() {
	local kind what before after

	read -r kind what < <(recorded_of "$1")
	before=$(amount "$kind" "$what")
	"test_$1" || return
	[ "$kind" != none ] || return 0
	more_than_before() {
		after=$(amount "$kind" "$what")
		jq -en "$after > $before" >/dev/null
	}
	until_true 20 more_than_before && return
	echo "no record: $kind $what: $before before, $after after"
	return 1
}
