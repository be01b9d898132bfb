#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests eadm in the guest with EFA adapters of our own driver: a healthy adapter has no verdict, and
# injected faults are named. Requires adapters e0 and e1; captures go to $VM_OUT. Prints TAP.
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
. tests/lib/tap.sh
. tests/guest/virt/efa-knobs.bash
. tests/guest/virt/efa-verdicts.bash
export PATH=$PWD/build/eadm:$PATH
config=/sys/kernel/config/eadm_virt/efa
# shellcheck disable=SC2034 # for the tests of knobs
driver=/sys/bus/pci/drivers/efa driver_is=own
# shellcheck disable=SC2034 # for what is named
snapshot=(--hw --rings)

# Commands time out after 1.5 s, the longest time that an adapter can request; limits on MRs and AHs are low.
hurry() {
	local i

	for i in e0 e1; do
		{ echo 0 >$config/$i/live && echo 15 >$config/$i/cmd_timeout &&
			echo 50 >$config/$i/max_mr && echo 50 >$config/$i/max_ah && echo 1 >$config/$i/live; } || return
	done
}

checked() { # all checks are ok
	eadm check
	same '["ok"]' "$(eadm check --json | jq -c '[.rows[] | select(.dev_name == "efa_0").result] | unique')"
}

shown() { # OBJECT FILTER: such an object exists
	eadm dump "$1" -d "$(device e0)" --json 2>/dev/null | jq -e ".rows | any($2)"
}

# A process creates objects that only these adapters have; there are no verdicts.
objects() {
	local pid status=0

	ibv_ud_pingpong -d "$(device e0)" -g 0 >"$VM_OUT/pingpong" 2>&1 &
	pid=$!
	until_true 20 shown qp '.type == "ud" and .state == "init"' >"$VM_OUT/qp" || status=1
	shown uar '.qps == 1 and .cqs == 1' && shown ctx '.comm == "ibv_ud_pingpong"' &&
		shown cmdq '.state == "event" and .timeouts == 0' &&
		shown eq '.role == "async" and .keep_alive_events > 0' || status=1
	nothing_wrong eadm || status=1
	end_of "$pid"
	return $status
}

traced() {
	eadm trace -d "$(device e0)" --json | jq -e '[.rows[].op] | contains(["create-qp", "create-ah", "reg-mr"])'
}

send() { # OPTION...: the messages may fail
	srd "$@" "$(device e0)" "$(device e1)" >"$VM_OUT/srd" 2>&1
	cat "$VM_OUT/srd"
}

strike() { # KNOB [SETTING...] -- COMMAND...
	local knob=$1 settings=()

	shift
	while [ "$1" != -- ]; do
		settings+=("$1")
		shift
	done
	fault "e0/$knob" "${settings[@]}" && { "${@:2}"; until_true 20 struck "e0/$knob"; }
}

# The requests fail, and one completion is lost, so the process waits and its CQ can be inspected. -p
# delays the messages until the first sample has been taken.
unreachable() {
	local pid status=0 patience=${EADM_PATIENCE:-1}

	fault e0/peer_silent count -1 && fault e0/cqe_lost count 1 || return
	srd -p $((4000 * patience)) -t $((90000 * patience)) "$(device e0)" "$(device e1)" >"$VM_OUT/srd" 2>&1 &
	pid=$!
	until_true 20 shown cq true >"$VM_OUT/cq" && record before &&
		until_true 60 sees "$(device e0)" peer-unreachable "the peer never responded" || status=1
	end_of "$pid"
	return $status
}

# under_traffic OPTIONS ADAPTER RULE TEXT ADAPTER/KNOB [SETTING...]: the knob strikes messages from e0 to
# e1, of a process that continues when one fails; the rule has a verdict on ADAPTER's device.
under_traffic() {
	local pid status=0

	rm -f "$VM_OUT/srd"		# the output of the previous run also contains "begun"
	# shellcheck disable=SC2086
	nice -n 19 srd -u -t 600000 -p 20 $1 "$(device e0)" "$(device e1)" >"$VM_OUT/srd" 2>&1 &
	pid=$!
	until_true 20 grep -qs begun "$VM_OUT/srd" && record before &&
		fault "${@:5}" && until_true 20 sees "$(device "$2")" "$3" "$4" || status=1
	calm
	end_of "$pid"
	return $status
}

# crowded MRS AHS TEXT: a process creates more than 90 % of the MRs or AHs that the adapter supports
crowded() {
	local status=0 line holder

	coproc hold -d "$(device e0)" -q 0 -c 0 -m "$1" -a "$2"
	holder=$COPROC_PID
	read -r -t $((20 * ${EADM_PATIENCE:-1})) line <&"${COPROC[0]}"
	same ready "$line" && record before &&
		until_true 20 sees "$(device e0)" limit-near "$3" || status=1
	end_of "$holder"
	return $status
}

# forgotten KNOB: a process has a QP when the driver resets the adapter, which does not answer.
forgotten() {
	local status=0 line holder

	coproc hold -d "$(device e0)" -u -q 1 -c 1 -m 0
	holder=$COPROC_PID
	read -r -t $((20 * ${EADM_PATIENCE:-1})) line <&"${COPROC[0]}"
	same ready "$line" && record before && struck_dead "$1" &&
		until_true 20 sees "$(device e0)" qp-forgotten "" || status=1
	end_of "$holder"
	return $status
}

# replug FLR: plugs e0 in again, with (1) or without (0) function level reset
replug() {
	{ echo 0 >$config/e0/live && echo "$1" >$config/e0/flr && echo 1 >$config/e0/live; } &&
		until_true 30 active 2
}

halted() {
	fault e0/reset_stuck count -1 && strike cmd_drop count -1 -- fails stats
}

gone() {
	fault e0/dev_gone arg 3000000 count 1 && until_true 20 grep -qx gone "$config/e0/state"
}

# says_too RULE: the last two recorded snapshots also have a verdict by this rule
says_too() {
	found_in "$VM_OUT" | grep "^$(device e0) $1: "
}

end_of() { # PID
	kill -KILL "$1"
	wait "$1" 2>/dev/null
	return 0
}

# beside RULE: allows a verdict by this rule in later tests, because it persists for some time.
beside() {
	so_far+="|$1"
}

check "adapters get a short command timeout" hurry
check "all ports are active" until_true 30 active 2
check "check: all checks are ok" checked
check "diagnose: there are no verdicts" nothing_wrong eadm
check "objects of a process are shown without verdicts" objects
check "messages arrive" traffic "0:16 received 16 data"
check "trace: commands have their classes" traced
check "diagnose: there are no verdicts after traffic" nothing_wrong eadm
check "the number of MRs is near its limit" crowded 46 0 "46 of 50 MRs"
check "the verdict on MRs disappears" until_true 20 nothing_wrong eadm
check "the number of AHs is near its limit" crowded 0 46 "46 of 50 AHs"
check "the verdict on AHs disappears" until_true 20 nothing_wrong eadm
check "retransmit" named packet-loss "retransmitted" strike retransmit arg 30 count 10 -- send -n 16
calm
check "impaired" named path-impaired "was reported impaired" strike impaired arg 300 count 2 -- send -n 2
calm
check "peer_silent" named peer-unresponsive "did not respond" strike peer_silent count -1 -- send -n 4
calm
beside peer-unresponsive
check "peer_silent before any response" unreachable
calm
check "peer_silent after responses" under_traffic "" e0 peer-vanished "no longer exists" e0/peer_silent count -1
check "rnr" under_traffic "-r 2" e0 peer-not-ready "had no receive posted" e1/rnr count -1
check "rnr with datagrams" under_traffic "-o ud" e1 receive-drops "received packets were dropped" e1/rnr count -1
check "wr_error" under_traffic "" e0 failed-requests "bad-length" e0/wr_error arg 6 probability 10 count -1
check "cqe_status" under_traffic "-o imm" e1 failed-requests "remote-status" e1/cqe_status arg 12 probability 10 count -1
check "dma_fault" under_traffic "" e0 failed-requests "local-access" e0/dma_fault probability 10 count -1
check "cqe_opcode" under_traffic "" e0 unknown-opcode "has operation 0x5" e0/cqe_opcode arg 5 count -1
check "cqe_qpn" under_traffic "" e0 stray-completion "names QP 255, which does not exist" e0/cqe_qpn arg 255 count -1
check "keep_alive_lost" named keep-alive-lost "no keep-alive" strike keep_alive_lost count -1 -- true
calm
check "keep-alives resume" until_true 20 nothing_wrong eadm
check "cmd_duplicate" named spurious-completion "matched no command" \
	strike cmd_duplicate target "$GET_STATS" count 1 -- stats
beside spurious-completion
check "cmd_delay" named command-slow "took more than a second" \
	strike cmd_delay target "$GET_STATS" arg 1200 count 1 -- stats
beside command-slow
beside command-failed
check "ah_full" named create-failures "1 AH could not be created" strike ah_full count 1 -- send -n 1
check "ah_full also causes a verdict on its command" says_too command-failed
calm
beside create-failures
check "cmd_drop" named command-lost "timed out" strike cmd_drop target "$GET_STATS" count 1 -- stats
calm
check "service continues after cmd_drop" traffic "0:4 received 4 data" -n 4
beside command-lost
check "irq_lost" named missed-interrupt "" strike irq_lost target 0 count -1 -- stats
calm
# After a reset, counters restart, and past failures remain.
beside "missed-interrupt|counters-restarted|past-device-failure|past-failure"
check "dev_hang" forgotten dev_hang
calm
check "fw_reset" forgotten fw_reset
calm
check "an adapter without function level reset" replug 0
beside "cmdq-dead|cmdq-recovering"
check "reset_stuck" named adapter-halted "" halted
calm
check "an adapter with function level reset" replug 1
check "dev_gone" named adapter-gone "" gone
tap_end
