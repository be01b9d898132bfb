# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2086 # its user sets them
# Tests of the fault knobs of virtual EFA adapters in a guest, to be sourced: test_KNOB for each
# knob. Requires adapters e0, which sends, and e1, which receives. $config is the folder of the
# adapters, $driver that of the bound driver; $driver_is is "own" if that is ours.
driver_is=${driver_is:-upstream}
CREATE_AH=5
GET_FEATURE=11
GET_STATS=13
. tests/lib/knobs.sh

active() { # N: exactly N ports are active
	[ "$(rdma link show | grep -c '^link .* state ACTIVE')" = "$1" ]
}

# fault ADAPTER/KNOB FILE VALUE...: writes the files in this order, so the count comes last.
fault() {
	set_knob "$config/${1%/*}/fault/${1#*/}" "${@:2}"
}

struck() { # ADAPTER/KNOB
	[ "$(cat "$config/${1%/*}/fault/${1#*/}/hits")" -gt 0 ]
}

now_ms() {
	local now=${EPOCHREALTIME/./}

	echo "${now%???}"
}

takes() { # MS COMMAND...: succeeds after at least MS ms
	local begin

	begin=$(now_ms)
	"${@:2}" || return
	begin=$(($(now_ms) - begin))
	echo "$begin ms"
	[ "$begin" -ge "$1" ]
}

device() { # ADAPTER
	ls "/sys/bus/pci/devices/$(cat "$config/$1/address")/infiniband"
}

# traffic EXPECTED OPTION...: from e0 to e1
traffic() {
	same "$1" "$(srd "${@:2}" "$(device e0)" "$(device e1)" 2>&1)"
}

# Causes a command GET_STATS, unless the kernel has cached the counters a moment ago.
stats() {
	rdma statistic show link "$(device e0)/1"
}

fails() {
	! "$@"
}

bind() {
	cat "$config/e0/address" >$driver/bind
}

unbind() {
	cat "$config/e0/address" >$driver/unbind
}

# Binding the driver again restores service.
again() {
	[ ! -e "$driver/$(cat "$config/e0/address")" ] || unbind
	bind && until_true 30 active 2 && traffic "0:4 received 4 data" -n 4
}

# Service is restored without intervention.
serves() {
	until_true 30 active 2 && stats && traffic "0:4 received 4 data" -n 4
}

# Service is restored: by our driver itself, or by binding the kernel's driver again.
recovers() {
	if [ "$driver_is" = own ]; then
		serves
	else
		fails stats && again
	fi
}

own() {
	[ "$driver_is" = own ]
}

# ---- registers

test_read_lost() {
	unbind
	fault e0/read_lost count -1
	fails bind && active 1 && struck e0/read_lost || return
	fault e0/read_lost count 0
	again
}

test_reset_stuck() {
	unbind
	fault e0/reset_stuck count -1
	fails bind && active 1 && struck e0/reset_stuck || return
	fault e0/reset_stuck count 0
	again
}

# The adapter keeps working until the reset, so a driver waits for it.
test_reset_late() {
	fault e0/reset_late arg 500 count 1
	takes 500 unbind && struck e0/reset_late && again
}

# ---- admin queues

test_cmd_drop() {
	fault e0/cmd_drop target $GET_STATS count 1
	fails stats && struck e0/cmd_drop && recovers
}

test_cmd_delay() {
	fault e0/cmd_delay target $GET_STATS arg 200 count 1
	takes 200 stats
}

test_cmd_error() {
	fault e0/cmd_error target $CREATE_AH arg 7 count 1
	traffic "create AH: Invalid argument" -n 1 && traffic "0:1 received 1 data" -n 1
}

test_cmd_duplicate() {
	fault e0/cmd_duplicate target $GET_STATS count 1
	stats && struck e0/cmd_duplicate && traffic "0:1 received 1 data" -n 1
}

# Ten times the latency is still below the command timeout.
test_cmd_slow() {
	fault e0/cmd_slow target $GET_STATS arg 20000 count -1
	stats && struck e0/cmd_slow && traffic "0:1 received 1 data" -n 1
}

# The next doorbell includes the lost one.
test_cmd_db_lost() {
	fault e0/cmd_db_lost count 1
	fails stats && struck e0/cmd_db_lost && recovers
}

# Wrong counters cannot be detected, but wrong limits can: our driver does not start with them.
test_answer_garbage() {
	fault e0/answer_garbage target $GET_STATS count -1
	stats && struck e0/answer_garbage && fault e0/answer_garbage count 0 &&
		traffic "0:4 received 4 data" -n 4 || return
	own || return 0
	unbind
	fault e0/answer_garbage target $GET_FEATURE count -1
	fails bind && active 1 && fault e0/answer_garbage count 0 && again
}

test_keep_alive_lost() {
	local file before

	file=/sys/class/infiniband/$(device e0)/hw_counters/keep_alive_rcvd
	fault e0/keep_alive_lost count -1
	until_true 20 struck e0/keep_alive_lost
	before=$(cat "$file")
	pause 3
	same "$before" "$(cat "$file")"
}

test_aenq_event() {
	fault e0/aenq_event arg $((2 + 77 * 65536)) count 1
	until_true 20 struck e0/aenq_event && stats && traffic "0:4 received 4 data" -n 4
}

test_ah_full() {
	fault e0/ah_full count 1
	traffic "create AH: Cannot allocate memory" -n 1 && traffic "0:1 received 1 data" -n 1
}

# ---- completion queues

test_cq_overrun() {
	fault e0/cq_overrun count 1
	traffic "0:15 received 16 unfinished data" -t 3000
}

test_cqe_lost() {
	fault e0/cqe_lost count 1
	traffic "0:15 received 16 unfinished data" -t 3000
}

test_cqe_duplicate() {
	fault e0/cqe_duplicate count 1
	# The provider may handle the duplicate in any way.
	srd -n 1 "$(device e0)" "$(device e1)"
	struck e0/cqe_duplicate && traffic "0:4 received 4 data" -n 4
}

test_cqe_status() {
	fault e0/cqe_status arg 13 count 1
	traffic "13:1 received 1 data" -n 1
}

# libefa ignores the opcode.
test_cqe_opcode() {
	fault e0/cqe_opcode arg 5 count 1
	traffic "0:1 received 1 data" -n 1 && struck e0/cqe_opcode
}

test_cqe_qpn() {
	fault e0/cqe_qpn arg 201 count 1
	traffic "received 1 unfinished data" -n 1 -t 2000
}

test_cqe_phase() {
	fault e0/cqe_phase count 1
	traffic "received 1 unfinished data" -n 1 -t 2000
}

test_eqe_lost() {
	fault e0/eqe_lost count 1
	traffic "received 1 unfinished data" -n 1 -e -t 2000
}

# There is one event more than completions; later events still arrive.
test_eqe_duplicate() {
	fault e0/eqe_duplicate count 1
	traffic "0:40 received 40 data" -n 40 -e && struck e0/eqe_duplicate
}

# ---- queue pairs and the wire

test_sq_db_lost() {
	fault e0/sq_db_lost count 1
	traffic "received 0 unfinished data" -n 1 -t 2000
}

test_rq_db_lost() {
	fault e1/rq_db_lost count 1
	traffic "received 0 unfinished data" -n 1 -t 2000
}

test_qp_stall() {
	fault e0/qp_stall arg 1000 count 1
	takes 1000 traffic "0:1 received 1 data" -n 1
}

test_wr_error() {
	fault e0/wr_error arg 6 count 1
	traffic "6:1 received 0 data" -n 1
}

test_wr_slow() {
	fault e0/wr_slow arg 500000 count 1
	takes 250 traffic "0:1 received 1 data" -n 1 && struck e0/wr_slow
}

test_dma_fault() {
	fault e0/dma_fault count 1
	traffic "5:1 received 0 data" -n 1 && traffic "0:1 received 1 data" -n 1
}

test_rnr() {
	fault e1/rnr count 3
	traffic "10:1 received 0 data" -n 1 -r 2 && traffic "0:1 received 1 data" -n 1 -r 2
}

test_peer_silent() {
	fault e0/peer_silent count -1
	traffic "15:1 received 0 data" -n 1
}

test_retransmit() {
	fault e0/retransmit arg 3 count 1
	traffic "0:1 received 1 data" -n 1 && struck e0/retransmit
}

test_impaired() {
	fault e0/impaired arg 500 count 1
	takes 500 traffic "0:1 received 1 data" -n 1
}

# ---- the device

test_counters_wrap() {
	fault e0/counters_wrap arg 100 count 1
	until_true 20 struck e0/counters_wrap
	stats | grep -q 'tx_bytes 18446744073709551516 '
}

# The response has arrived; the kernel's driver nevertheless counts the command as lost.
test_irq_lost() {
	fault e0/irq_lost target 0 count -1
	if own; then
		stats && struck e0/irq_lost
	else
		fails stats && struck e0/irq_lost
	fi || return
	fault e0/irq_lost count 0
	if own; then serves; else again; fi
}

test_irq_spurious() {
	fault e0/irq_spurious target 1 count 5
	until_true 20 struck e0/irq_spurious && traffic "0:4 received 4 data" -n 4
}

test_dev_gone() {
	fault e0/dev_gone arg 3000 count 1
	until_true 20 grep -qx gone "$config/e0/state"
	fails stats
	until_true 30 grep -qx powered "$config/e0/state" && again
}

test_stall() {
	fault e0/stall arg 300 count 1
	until_true 20 struck e0/stall && traffic "0:4 received 4 data" -n 4
}

reset_since() { # RESETS
	[ "$(cat "$config/e0/resets")" -gt "$1" ]
}

# struck_dead KNOB: the adapter answers no commands until it is reset. Our driver also notices that without
# a command, and may have reset the adapter before one is sent.
struck_dead() {
	local resets

	read -r resets <"$config/e0/resets"
	fault "e0/$1" count 1
	until_true 20 struck "e0/$1" || return
	if own; then
		stats
		until_true 20 reset_since "$resets"
	else
		fails stats
	fi
}

test_dev_hang() {
	struck_dead dev_hang && recovers
}

test_fw_reset() {
	struck_dead fw_reset && recovers
}

# Sets a command timeout of 500 ms.
quicken() {
	local i

	for i in e0 e1; do
		{ echo 0 >$config/$i/live && echo 5 >$config/$i/cmd_timeout &&
			echo 1 >$config/$i/live; } || return
	done
}
