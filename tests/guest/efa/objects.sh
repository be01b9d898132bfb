#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the guest: tests what our EFA driver records about objects and what this costs: dumps by any
# user, memory of objects whose commands complete late. TAP on stdout. Adapters e0 and e1 must exist.
# Usage: objects.sh MODULE MANYCPUS
# shellcheck disable=SC2154 # lib.bash sets them
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
. tests/lib/tap.sh
module=$1
manycpus=$2
. tests/guest/efa/lib.bash

nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}

struck() { # KNOB: prints how many times it has struck on e0
	cat "$config/e0/fault/$1/hits"
}

# ---- dumps by resource tracking, which any user may request

# hold_begin OPTION...: holds objects of both adapters until hold_end.
hold_begin() {
	rm -f "$work/hold.in"
	mkfifo "$work/hold.in"
	hold -d "$(device e0)" -u "$@" -- hold -d "$(device e1)" -u "$@" \
		<"$work/hold.in" >"$work/hold" 2>&1 &
	holder=$!
	exec 7>"$work/hold.in"
	until_true 60 grep -q ready "$work/hold"
}

hold_end() {
	exec 7>&-
	wait "$holder" || { cat "$work/hold"; return 1; }
}

# QPs of both adapters together; the send queue memory of one adapter has no room for more.
QPS=1000

room() { # QPS: sets the maximum of each adapter
	local i

	for i in e0 e1; do
		{ echo 0 >"$config/$i/live" && echo "$1" >"$config/$i/max_qp" &&
			echo 1 >"$config/$i/live"; } || return
	done
	until_true 30 active 2
}

all_qps() {
	nobody rdma resource show qp >"$work/qps" || return
	same "$QPS" "$(grep -c 'type UD' "$work/qps")"
}

commands() { # of both adapters
	cat "$config"/e[01]/commands
}

# Shows the tables of rdma: QPs, CQs, MRs, PDs, contexts.
resources() {
	local what before status=0

	hold_begin -q $((QPS / 2)) || return
	before=$(commands)
	all_qps || status=1
	for what in cq mr pd ctx; do
		nobody rdma resource show $what | grep -q . || status=1
	done
	same "$before" "$(commands)" || status=1
	hold_end && return $status
}

# The queue's first lost command has not even timed out when the dump is complete.
resources_beside_hung_queue() {
	local before status=0 waiter

	before=$(struck cmd_drop)
	hold_begin -q $((QPS / 2)) && fault cmd_drop count -1 || return
	stats >"$work/stats" 2>&1 &
	waiter=$!
	until_true 10 lost_more "$before" || status=1
	all_qps || status=1
	kill -0 $waiter || { echo "the dump took longer than the command"; status=1; }
	calm
	wait $waiter
	hold_end && return $status
}

lost_more() { # COUNT: more commands than that have been lost
	[ "$(struck cmd_drop)" -gt "$1" ]
}

# The driver does not return a recorded state: it sends QUERY_QP, which the adapter refuses.
query_asks() {
	local before

	before=$(struck cmd_error)
	fault cmd_error target "$QUERY_QP" arg 5 count 1 &&
		fails timeout 60 conform -d "$(device e0)" -q ud query || return
	same $((before + 1)) "$(struck cmd_error)"
}

# ---- memory of objects whose commands complete late or never

# Commands for objects with memory.
DESTROY_QP=4 REG_MR=7 DEREG_MR=8 CREATE_CQ=9 DESTROY_CQ=10

dev_row() { # FIELD, of e0
	eadm dump dev -d "$(device e0)" --json | jq ".rows[0].$1"
}

kept() { # OBJECTS, of e0
	same "$1" "$(dev_row orphans)"
}

# The late answer has arrived.
settled() {
	row cmdq '(.quarantined // 0) == 0 and .late > 0 and .state == "event"' >/dev/null
}

# Long enough that no other command is lost on a busy machine.
LIMIT_MS=3000

# owner STATUS KNOB SETTING...: a process with a CQ, an MR and a QP of e0 ends with this status, and
# the knob strikes once.
owner() {
	local before status

	before=$(struck "$2") && fault "$2" "${@:3}" count 1 || return
	hold -d "$(device e0)" -u -c 1 -m 1 -- true
	status=$?
	same "$1" "$status" && same $((before + 1)) "$(struck "$2")"
}

late() { # OPCODE STATUS KEPT
	local resets

	resets=$(cat "$config/e0/resets")
	owner "$2" cmd_delay target "$1" arg $((LIMIT_MS + 1000)) && until_true 30 settled &&
		until_true 20 kept "$3" && same "$resets" "$(cat "$config/e0/resets")"
}

late_refusal() { # OPCODE STATUS KEPT
	calm && fault cmd_error target "$1" arg 5 count 1 && late "$@"
}

never() { # OPCODE STATUS KEPT
	owner "$2" cmd_drop target "$1" && kept "$3"
}

# All kept memory is released, including memory that a late answer could still have released.
released_by_reset() {
	local resets

	calm && resets=$(cat "$config/e0/resets") && fault cmd_drop count 2 && fails stats &&
		until_true 20 kept 0 && same 0 "$(dev_row orphan_bytes)" &&
		same $((resets + 1)) "$(cat "$config/e0/resets")" && calm && until_true 20 stats
}

# ---- address handles, whose numbers adapters assign in two ways

# pair N OPTION...: process N sends from e0 to e1 until unpair N.
pair() {
	local n=$1

	srd -u -p 20 -t $((600000 * patience)) "${@:2}" "$(device e0)" "$(device e1)" >"$work/pair$n" 2>&1 &
	pair[n]=$!
	until_true 20 row ah ".pid == ${pair[n]}" && goes_on_of "${pair[n]}" ||
		{ cat "$work/pair$n"; return 1; }
}

unpair() { # N: its data was right
	kill "${pair[$1]}"
	wait "${pair[$1]}" && grep -q 'data$' "$work/pair$1" || { cat "$work/pair$1"; return 1; }
}

# ahs FILTER: the rows of e0, ordered by their keys, match the filter.
ahs() {
	eadm dump ah -d "$(device e0)" --json | jq .rows >"$work/ahs" &&
		jq -e "$1" "$work/ahs" >/dev/null || { echo "not so: $1"; cat "$work/ahs"; return 1; }
}

# Each row can be selected by its key.
by_key() {
	local row

	ahs 'length > 0' || return
	jq -c '.[] | [.ahn, .pdn]' "$work/ahs" | while read -r row; do
		eadm dump ah "$(jq '.[0]' <<<"$row")" -d "$(device e0)" --json >"$work/ah"
		same "[$row]" "$(jq -c '[.rows[] | [.ahn, .pdn]]' "$work/ah")" || { cat "$work/ah"; return 1; }
	done
}

created() { # true|false: the AHs of two processes for the same peer have the same number or not
	pair 1 -a 1 && pair 2 -a 2 || return
	ahs 'length == 2 and (map(.ahn) | unique | length) == 2 and (map(.pdn) | unique | length) == 2' &&
		ahs "((map(.pd_ahn) | unique | length) == 1) == $1" &&
		ahs '(map(.peer_gid) | unique | length) == 1 and (map(.pid) | sort) == ['"${pair[1]},${pair[2]}]" &&
		ahs 'map(.users) | sort == [1, 2]' && same 2 "$(dev_row ahs)" && by_key
}

one_left() { # the second process's AH survives the end of the first process
	unpair 1 && until_true 10 ahs 'length == 1' && ahs '.[0].pid == '"${pair[2]}" && by_key &&
		same 1 "$(dev_row ahs)" && goes_on_of "${pair[2]}" && pair 1 -a 1 && ahs 'length == 2' &&
		by_key && unpair 2 && unpair 1 && until_true 10 ahs 'length == 0' &&
		same 0 "$(dev_row ahs)"
}

goes_on_of() { # PID
	until_true 20 rings_more $(($(doorbells e0) + 20)) && kill -0 "$1"
}

numbers_inside_pds() {
	replug ah_per_pd 1 && created true && ahs 'map(.ahn != .pd_ahn) | sort == [false, true]' && one_left
}

# If the adapter numbers all AHs, its numbers are also the keys of rows, as in completions.
numbers_inside_adapter() {
	replug ah_per_pd 0 && created false && ahs 'all(.ahn == .pd_ahn)' && one_left
}

# After a reset, the adapter assigns AH numbers again that processes still hold.
numbers_after_reset() {
	local resets

	replug ah_per_pd 1 hint_cmd_timeout $LIMIT_MS && pair 1 -a 1 && pair 2 -a 1 &&
		resets=$(cat "$config/e0/resets") && fault cmd_drop count 2 && fails stats && until_true 20 stats && calm &&
		same $((resets + 1)) "$(cat "$config/e0/resets")" || return
	wait "${pair[1]}" "${pair[2]}"
	created true && one_left && replug ah_per_pd 0 hint_cmd_timeout 0
}

# ---- event queues, one for each CPU

# asked CPUS: prints the number of interrupt vectors that the driver requests for e1 on a machine
# with so many CPUs.
asked() {
	local tracing=/sys/kernel/tracing asked

	[ -e $tracing/trace ] || mount -t tracefs none $tracing || return
	address e1 >"$driver/unbind" && : >$tracing/trace &&
		echo 'p:vectors pci_alloc_irq_vectors_affinity max=%dx:u32' >$tracing/kprobe_events || return
	# On some kernels, this function calls the other one; then both get the same number.
	! grep -qw pci_alloc_irq_vectors /proc/kallsyms ||
		echo 'p:vectors_too pci_alloc_irq_vectors max=%dx:u32' >>$tracing/kprobe_events || return
	echo 1 >$tracing/events/kprobes/enable &&
		echo "$1" >/sys/module/manycpus/parameters/online && address e1 >"$driver/bind"
	echo 0 >/sys/module/manycpus/parameters/online
	echo 0 >$tracing/events/kprobes/enable && asked=$(grep -o 'max=[0-9]*' $tracing/trace | sort -u)
	: >$tracing/kprobe_events
	cut -d= -f2 <<<"$asked"
}

# CREATE_EQ has 8 bits for the vector.
many_cpus() {
	insmod "$manycpus" && echo 0 >"$config/e1/live" && echo 2 >"$config/e1/vectors" &&
		echo 1 >"$config/e1/live" && until_true 30 active 2 || return
	same 256 "$(asked 255)" && same 256 "$(asked 256)" && same 256 "$(asked 4096)" &&
		same 65 "$(asked 64)" && until_true 30 active 2 && srd -n 4 "$(device e0)" "$(device e1)" &&
		rmmod manycpus
}

# ---- a send queue with fewer bytes than work requests: the size of its entries would be 0

small_queue() {
	local pid qpn status=0

	rm -f "$work/small.in"
	mkfifo "$work/small.in"
	smallsq "$(device e0)" 8 <"$work/small.in" >"$work/small" 2>&1 &
	pid=$!
	exec 7>"$work/small.in"
	until_true 30 grep -qE '^[0-9]+$' "$work/small" && qpn=$(cat "$work/small") &&
		eadm dump qp "$qpn" -d "$(device e0)" --json | jq -e '.rows[0].sq_depth == 16' &&
		eadm dump sqe "$qpn" -d "$(device e0)" 2>&1 | grep 'in adapter memory' || status=1
	exec 7>&-
	wait $pid || status=1
	return $status
}

small_queue_refused() {
	smallsq "$(device e0)" 8 </dev/null | tee "$work/small" && grep -q '^refused: ' "$work/small"
}

check "probe" insmod "$module"
check "both ports are active" until_true 30 active 2
check "AHs of two processes for one peer, with numbers unique only within a PD" numbers_inside_pds
check "AHs of two processes for one peer, with numbers unique in the adapter" numbers_inside_adapter
check "AHs of two processes for one peer, after a reset" numbers_after_reset
check "adapters with room for more QPs" room 512
check "resource dumps of an unprivileged user cost no command" resources
check "a process that queries a QP gets the adapter's answer" query_asks
check "a time limit of 10 s" replug hint_cmd_timeout 10000
check "a dump does not wait for commands that are lost" resources_beside_hung_queue
check "a time limit of 3 s" replug hint_cmd_timeout $LIMIT_MS
check "a late DEREG_MR releases the memory" late $DEREG_MR 0 0
check "a late DESTROY_CQ releases the ring" late $DESTROY_CQ 0 0
check "a late DESTROY_QP releases the ring" late $DESTROY_QP 0 0
check "a REG_MR that is refused late releases the memory" late_refusal $REG_MR 1 0
check "a CREATE_CQ that is refused late releases the ring" late_refusal $CREATE_CQ 1 0
check "a DEREG_MR that is refused late does not release the memory" late_refusal $DEREG_MR 0 1
check "a late REG_MR does not release the memory" late $REG_MR 1 2
check "a DEREG_MR that is never answered does not release the memory" never $DEREG_MR 0 3
check "a reset releases all kept memory" released_by_reset
check "a driver on a machine with many CPUs requests no vector that CREATE_EQ cannot name" many_cpus
check "adapters that accept a send queue of any size" replug any_sq_bytes 1
check "a send queue that is too small is shown, and its entries are not read" small_queue
check "adapters that require a send queue of sufficient size" replug any_sq_bytes 0
check "a send queue that is too small is refused by such adapters" small_queue_refused
check "removal" rmmod efa
tap_end
