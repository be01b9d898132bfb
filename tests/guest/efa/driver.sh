#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the guest: tests the features of our EFA driver that the kernel's own driver lacks: lost
# admin commands under another process's traffic, removals with applications attached, cycles,
# memory of other devices. TAP on stdout. Adapters e0 and e1 must exist.
# Usage: driver.sh MODULE BARBUF SHUTPCI [UPSTREAM]: our driver, modules of tests/guest/kmod, and
# the kernel's own driver
# shellcheck disable=SC2154 # lib.bash sets them
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
. tests/lib/tap.sh
module=$1 barbuf=$2 shutpci=$3 upstream=${4-}
cycles=${EADM_EFA_CYCLES:-10}		# loads and unloads
surprises=${EADM_EFA_SURPRISES:-4}	# removals
. tests/guest/efa/lib.bash
SET_FEATURE=12
# Reset reasons.
CMD_TIMEOUT=2 INIT_ERROR=3 SHUTDOWN=6 GENERIC=8

# ---- lost admin commands

begin_lost() {
	calm
	resets=$(cat "$config/e0/resets")
	lost=$(counter no_completion_cmds)
	begin_traffic
}

was_lost() { # COMMANDS
	same "$((lost + $1))" "$(counter no_completion_cmds)"
}

was_reset() { # TIMES
	same "$((resets + $1))" "$(cat "$config/e0/resets")"
}

reason_is() { # NUMBER: the reason of the last reset
	same "$1" "$(cat "$config/e0/reset_reason")"
}

# (a) The interrupt is lost, but the answer is present.
interrupt_lost() {
	begin_lost && fault irq_lost target 0 count -1 && stats && stats && calm && goes_on &&
		was_lost 0 && was_reset 0 && end_traffic 0 data
}

# Each process issues twenty commands, so all slots are used several times.
many_commands() {
	local i

	for i in 1 2 3 4 5 6; do
		srd -n 1 "$(device e0)" "$(device e1)" || { echo "number $i"; return 1; }
	done
}

# (b) The answer is lost: its slot is not reused, but all other slots are.
answer_lost() {
	begin_lost && fault cmd_drop target "$GET_STATS" count 1 && fails stats && goes_on &&
		many_commands && goes_on && was_lost 1 && was_reset 0 && end_traffic 0 data
}

# (b) The answer arrives after the time limit, and is not matched to another command.
answer_late() {
	begin_lost && fault cmd_delay target "$GET_STATS" arg $(($(limit_ms) + 400)) count 1 &&
		fails stats && many_commands && goes_on && was_lost 1 && was_reset 0 &&
		end_traffic 0 data
}

# (c) The probing command is lost, too: users of the adapter are notified, and service
# resumes.
reset_after_loss() {
	begin_lost && fault cmd_drop count 2 && fails stats && end_traffic 3 fatal && stats &&
		was_reset 1 && reason_is "$CMD_TIMEOUT" && begin_traffic && goes_on && end_traffic 0 data
}

# The adapter refuses a command after the reset: it is reset again, with that as the reason.
restart_fails() {
	begin_lost && fault cmd_error target "$SET_FEATURE" arg 5 count 1 && fault cmd_drop count 2 &&
		fails stats && until_true 20 reason_is "$INIT_ERROR" && was_reset 2 &&
		until_true 20 stats && was_reset 3 && reason_is "$CMD_TIMEOUT" && end_traffic 3 fatal
}

# The meaning of this event is not documented: the driver checks the service with one command.
fatal_event() {
	local before

	begin_lost && before=$(eadm dump cmdq -d "$(device e0)" --json | jq '.rows[0].recoveries') &&
		fault aenq_event arg 1 count 1 &&
		until_true 20 row cmdq ".recoveries == $((before + 1))" && goes_on && was_lost 0 &&
		was_reset 0 && end_traffic 0 data
}

# The probing command that follows the event is lost.
fatal_event_and_loss() {
	begin_lost && fault cmd_drop count 1 && fault aenq_event arg 1 count 1 &&
		end_traffic 3 fatal && until_true 20 stats && was_reset 1 && reason_is "$GENERIC"
}

# All responses are lost repeatedly, including those of the probing command; service resumes
# after each reset. If the guest stands still for 500 ms, a command times out as well.
loss_after_loss() {
	local i before

	before=$(cat "$config/e0/resets")
	for i in 1 2 3; do
		fault cmd_drop count 2 && fails stats && until_true 10 stats || return
	done
	[ "$(cat "$config/e0/resets")" -ge $((before + 3)) ] && srd -n 16 "$(device e0)" "$(device e1)"
}

# An adapter that answers nothing, not even a reset, might still write to memory. It is
# halted, and the memory of objects that processes destroy meanwhile is kept.
halted_keeps_memory() {
	begin_lost && fault reset_stuck count -1 && fault cmd_drop count -1 && fails stats &&
		until_true 30 row dev '.state == "halted" and .port_state == "down"' &&
		end_traffic 3 fatal && row dev '.orphans >= 3 and .orphan_bytes > 100000'
}

# The driver retries the reset from time to time.
halted_comes_back() {
	calm && until_true 30 row dev '.state == "ready" and .orphans == 0 and .orphan_bytes == 0' &&
		active 2 && begin_traffic && end_traffic 0 data
}

function_reset() { # 0|1: whether e0 supports function level reset
	{ echo 0 >"$config/e0/live" && echo "$1" >"$config/e0/flr" && echo 1 >"$config/e0/live"; } &&
		until_true 30 active 2
}

# ---- applications that cannot use the device

rc_is_refused() {
	fails timeout 30 ibv_rc_pingpong -d "$(device e0)" -g 0 && active 2
}

# Kernel consumers that accept any device examine each new one.
kernel_is_refused() {
	modprobe -a ib_umad rdma_cm nvme_rdma ib_ipoib 2>/dev/null
	rdma resource show qp link "$(device e0)" | grep -q '\[' && return 1
	active 2
}

# ---- memory regions

# A region may begin at any address, but must not wrap around to 0.
addresses() {
	local data

	srd -n 16 -o read -i 0x1000 "$(device e0)" "$(device e1)" &&
		srd -n 16 -i 0xffffffffff000000 "$(device e0)" "$(device e1)" || return
	data=$(srd -i 0xfffffffffffff000 "$(device e0)" "$(device e1)" 2>&1)
	same "register memory: Invalid argument" "$data"
}

# ---- memory of other devices

buffers() { # FILE: data is received into a DMA buffer, and read from it
	local op

	for op in send read; do
		srd -n 200 -o $op -b "$1" "$(device e0)" "$(device e1)" || return
	done
}

bar_uses() { # PINS MAPS
	same "$*" "$(cat /sys/module/barbuf/parameters/{pins,maps} | xargs)"
}

# Unbinds the receiver's driver while its process runs: the buffer returns to its exporter.
bar_unbind() {
	begin_traffic -b /dev/barbuf || return
	grep -qx 1 /sys/module/barbuf/parameters/maps &&
		address e1 >"$driver/unbind" && bar_uses 0 0 && end_traffic 3 fatal &&
		address e1 >"$driver/bind" && until_true 30 active 2
}

# ---- doorbells: a reset takes them from processes, which keep their rings

doorbells_open() { # OPTION
	rm -f "$work/in"
	mkfifo "$work/in"
	command doorbells -q "$@" "$(device e0)" <"$work/in" >"$work/doorbells" 2>&1 &
	looker=$!
	exec 6>"$work/in"
}

has_said() { # REGEX
	grep -qE "$1" "$work/doorbells"
}

# Only the two rings are still mapped.
taken() {
	tail -n 1 "$work/doorbells" | grep '^mapped: 2 of [5-9]$'
}

doorbells_taken() { # OPTION: none, or -f to test a child process
	calm
	doorbells_open "$@"
	until_true 20 has_said '^opened' && echo >&6 && until_true 20 has_said '^mapped: 2 of [5-9]$' &&
		echo >&6 && until_true 20 has_said '^mapped: ([5-9]) of \1$' &&
		fault cmd_drop count 2 && fails stats && until_true 30 stats && echo >&6 &&
		until_true 20 taken && echo dummy >&6 && until_true 20 has_said '^dummy: [3-7] of [4-9]$'
	local status=$?
	exec 6>&-
	cat "$work/doorbells"
	wait "$looker" && return $status
}

# Another process creates and destroys objects of the same kind on the same device.
doorbells_kept() {
	local status=0 n

	doorbells_open
	for n in 1 2; do
		until_true 20 has_said '^opened' && echo >&6 && until_true 20 looks $n || status=1
	done
	srd -n 16 "$(device e0)" "$(device e1)" || status=1
	echo >&6 && until_true 20 looks 3 &&
		tail -n 1 "$work/doorbells" | grep -E '^mapped: ([5-9]) of \1$' || status=1
	exec 6>&-
	cat "$work/doorbells"
	wait "$looker" && return $status
}

looks() { # N
	[ "$(grep -c ^mapped "$work/doorbells")" = "$1" ]
}

# ---- a process that is stuck in a page fault, with the lock of its address space held

recovers_beside_stuck() {
	calm && stuck_begin "$(device e0)" && fault cmd_drop count 2 && fails stats &&
		until_true 20 stats && stuck_is_stuck && srd -n 16 "$(device e0)" "$(device e1)"
}

unbinds_beside_stuck() {
	local unbind

	unbind_e0 &
	unbind=$!
	until_true 20 ended $unbind && active 1 && stuck_is_stuck
}

binds_after_stuck() {
	stuck_end && address e0 >"$driver/bind" && until_true 30 active 2
}

# ---- the machine goes down, or starts another kernel

mastering() { # of e0
	(($(od -An -tu1 -j4 -N1 "/sys/bus/pci/devices/$(address e0)/config") & 4))
}

# Processes continue, but the adapter stops: the next driver finds it as after a reset.
shut_down() {
	function_reset 0 && begin_lost && address e0 >/sys/module/shutpci/parameters/function && was_reset 1 &&
		reason_is "$SHUTDOWN" &&
		fails mastering && end_former_traffic && address e0 >"$driver/unbind" &&
		address e0 >"$driver/bind" && until_true 30 active 2 &&
		srd -n 16 "$(device e0)" "$(device e1)" && fails memory_is_lost
}

# The driver logs that it has to leave memory behind, at least once or exactly TIMES times.
memory_is_lost() { # [TIMES]
	local reports

	reports=$(dmesg | grep "$(address e0): left without a confirmed reset") && echo "$reports" &&
		{ [ -z "${1-}" ] || same "$1" "$(wc -l <<<"$reports")"; }
}

# The adapter still uses the queues and regions of the former driver, so it must be reset first.
# A driver that finds it in this state also has to leave behind the memory for its own responses.
left_behind() {
	calm
	fault reset_stuck count -1 && address e0 >"$driver/unbind" && memory_is_lost 1 &&
		fails try_bind && memory_is_lost 2 && fails mastering && calm && try_bind && until_true 30 active 2 &&
		srd -n 16 "$(device e0)" "$(device e1)" && function_reset 1
}

try_bind() {
	address e0 >"$driver/bind"
}

unbind_attached() {
	local begin

	begin_traffic || return
	begin=$(now_ms)
	address e0 >"$driver/unbind" || return
	begin=$(($(now_ms) - begin))
	echo "unbind took $begin ms"
	end_traffic 3 fatal && [ "$begin" -lt $((10000 * patience)) ] && active 1 &&
		address e0 >"$driver/bind" && until_true 30 active 2
}

removed_attached() { # KIND: live 0 or surprise 1
	begin_traffic && echo "$2" >"$config/e0/$1" && until_true 30 active 1 &&
		end_traffic 3 fatal && echo 1 >"$config/e0/live" && until_true 30 active 2
}

surprises() {
	local i

	for i in $(seq "$surprises"); do
		removed_attached surprise 1 || { echo "number $i"; return 1; }
	done
}

cycle() {
	local i

	for i in $(seq "$cycles"); do
		rmmod efa && insmod "$module" && until_true 30 active 2 ||
			{ echo "number $i"; return 1; }
	done
	srd -n 16 "$(device e0)" "$(device e1)"
}

# The resource counters show no object.
nothing_left() {
	local line

	line=$(rdma resource show | grep efa_)
	echo "$line"
	! grep -E '(pd|cq|qp|mr|ctx) [1-9]' <<<"$line"
}

# ---- hints of the adapter, and information about the host

takes() { # FROM TO COMMAND...: the command succeeds within this range of ms
	local begin

	begin=$(now_ms)
	"${@:3}" || return
	begin=$(($(now_ms) - begin))
	echo "$begin ms"
	[ "$begin" -ge "$1" ] && [ "$begin" -lt $(($2 * patience)) ]
}

# Without hints, the limit is 30 s for a command, and 50 ms for a register.
hints() {
	calm
	replug hint_cmd_timeout 700 hint_mmio_timeout 400 hint_poll_interval 65535 || return
	fault cmd_drop target "$GET_STATS" count 1 && takes 700 15000 fails stats && until_true 20 stats &&
		srd -n 4 "$(device e0)" "$(device e1)" || return
	# The driver waits for each of three reads.
	fault read_lost count -1 && takes 1200 30000 unbind_e0 && calm
	replug hint_cmd_timeout 0 hint_mmio_timeout 0 hint_poll_interval 0
}

unbind_e0() {
	address e0 >"$driver/unbind"
}

# No command can complete within a millisecond.
hints_too_small() {
	replug hint_cmd_timeout 1 hint_mmio_timeout 1 && many_commands && stats &&
		replug hint_cmd_timeout 0 hint_mmio_timeout 0
}

# The information is sent again after a reset, in which the adapter loses it.
told_of_host() {
	tests/guest/virt/efa_host.py "$config/e0" && fault cmd_drop count 2 && fails stats &&
		until_true 20 stats && tests/guest/virt/efa_host.py "$config/e0"
}

# ---- the companion

# Starts a process that has received eight messages, and sleeps until the ninth arrives.
begin_waiting() {
	end_former_traffic
	srd -e -n 9 -d 8 -a 3 -t $((120000 * patience)) "$(device e0)" "$(device e1)" >"$work/srd" 2>&1 &
	echo $! >"$work/pid"
	until_true 20 row qp '.state == "rts"'
}

rows() {
	begin_waiting && row dev '.state == "ready" and .ahs == 1' && row qp '.state == "rts"' &&
		row qp '.hw_state == "rts"' --hw && row cq '.entry_size == 16 and .channel == 1' &&
		row eq '.role == "completion"' && row eq '.keep_alive_events > 0' &&
		row cmdq '.completed > 30 and .state == "event"' && row mr '.pages > 0 and .pid' &&
		row pd .pid && row ctx '.qps == 1' && row ah '.peer_gid and .users == 3' &&
		row uar '.qps == 1 and .pid' && until_true 20 row counters '.tx_bytes > 0' --hw &&
		row cmd '.op == "create-qp"' && row conf '.value > 0' && row regs '.value' &&
		row cqe .phase && row cmde .op && end_former_traffic
}

# An undefined state is shown as a number.
garbage() {
	begin_waiting && fault answer_garbage target "$QUERY_QP" count -1 && row qp .qpn --hw &&
		[ "$(cat "$config/e0/fault/answer_garbage/hits")" -gt 0 ] && calm &&
		row qp '.hw_state == "rts"' --hw && end_former_traffic
}

qpn() { # ADAPTER
	eadm dump qp -d "$(device "$1")" --json | jq '.rows[0].qpn'
}

eight_receives() { # of e1, whose queue has more slots; slots never written are not shown
	eadm dump rqe "$(qpn e1)" -d "$(device e1)" --json >"$work/rows" &&
		jq -e '.rows | length == 8' "$work/rows"
}

# Entries of send queues are in the device's memory, and are not shown.
entries() {
	begin_waiting || return
	eadm dump sqe "$(qpn e0)" -d "$(device e0)" 2>&1 | grep 'in adapter memory' &&
		until_true 20 eight_receives && end_former_traffic
}

# ---- registers

hits() { # KNOB, of e0
	cat "$config/e0/fault/$1/hits"
}

# An unanswered attempt to read a register takes 50 ms, and a read makes three attempts. Therefore
# a program that reads in a loop gets the last result for a second. Only this program reads
# register 0 during the test.
registers_are_cached() {
	local before answers errors seconds

	fault read_lost target 0 count -1
	before=$(hits read_lost)
	until_true 20 fails eadm dump regs -d "$(device e0)" || return
	read -r answers errors seconds < <(tests/guest/efa/regs.py "$(device e0)" 300)
	before=$(($(hits read_lost) - before))
	echo "$answers answers and $errors errors in $seconds s, $before attempts to read"
	calm
	[ "$errors" = 300 ] && [ "$before" -ge 3 ] && [ "$before" -le $((3 * (seconds + 3))) ] &&
		until_true 20 row regs '.value' || return
	read -r answers errors seconds < <(tests/guest/efa/regs.py "$(device e0)" 300)
	same "300 0" "$answers $errors"
}

# ---- debug messages

# The process creates QPs, CQs, AHs and memory regions; all messages are about e0.
topics() {
	eadm conf set debug=qp,cmd -d "$(device e0)" && dmesg --clear &&
		srd -n 4 "$(device e0)" "$(device e1)" && eadm conf set debug=none -d "$(device e0)" &&
		dmesg >"$work/dmesg" || return
	grep 'efa eda' "$work/dmesg"
	same "$(address e0) cmd: $(address e0) qp:" \
		"$(sed -nE 's/.*efa (eda[^ ]*): (dev|cmd|event|qp|mr|cm): .*/\1 \2:/p' "$work/dmesg" | sort -u | xargs)" &&
		grep 'qp: QP [0-9]*: rtr to rts, .*: 0$' "$work/dmesg"
}

# A process can cause any number of messages, here 1000. At most 100 are logged in an interval,
# and any second overlaps at most two intervals.
messages_are_limited() {
	local total most

	eadm conf set debug=qp -d "$(device e0)" && dmesg --clear || return
	hold -d "$(device e0)" -u -a 1000 -- true || return
	eadm conf set debug=none -d "$(device e0)"
	read -r total most < <(dmesg | awk -F'[][ .]+' '/qp: AH / { total++; if (++n[$2] > most) most = n[$2] }
		END { print total + 0, most + 0 }')
	echo "$total messages, at most $most in a second"
	# A hundred in an interval, some of which earlier tests may have used up.
	[ "$total" -ge 90 ] && [ "$most" -le 200 ]
}

no_cm() {
	fails eadm conf set debug=cm -d "$(device e0)" &&
		eadm conf set debug=all -d "$(device e0)" --json | jq -e '.rows[0].value_name == "dev,cmd,event,qp,mr"' &&
		eadm conf set debug=none -d "$(device e0)"
}

# ---- names that the kernel's own driver uses, too

# Counters of RDMA writes and, from Linux 6.17 on, of the network. Our driver has them on all
# kernels.
LATER="rdma_write_bytes rdma_write_recv_bytes rdma_write_wr_err rdma_write_wrs retrans_bytes retrans_pkts retrans_timeout_events unresponsive_remote_events impaired_remote_conn_events"

names() { # FILE: lists the names of e0, whose driver is loaded
	local ibdev

	ibdev=/sys/class/infiniband/$(device e0)
	{
		(cd "$ibdev" && ls -d hw_counters/* ports/*/hw_counters/*)
		sed -n "s/.*\(efa-mgmnt@pci:$(address e0)\)\$/\1/p" /proc/interrupts
	} >"$1"
	grep -q "^ports/1/hw_counters/tx_bytes" "$1" && grep -q ^efa-mgmnt "$1"
}

upstream_names() {
	local later status=0

	insmod "$upstream" && until_true 30 active 2 && names "$work/upstream" || status=1
	rmmod efa && [ $status = 0 ] || return
	for later in $LATER; do
		grep -q "/$later\$" "$work/upstream" || echo "ports/1/hw_counters/$later" >>"$work/upstream"
	done
}

same_names() {
	names "$work/ours" && diff <(sort "$work/upstream") <(sort "$work/ours")
}

[ -z "$upstream" ] || check "the kernel's own driver: names of its counters and interrupt" upstream_names
check "probe" insmod "$module"
check "both ports are active" until_true 30 active 2
[ -z "$upstream" ] || check "our driver uses the same names" same_names
check "RC QPs are refused" rc_is_refused
check "consumers in the kernel are refused" kernel_is_refused
check "rows of all objects" rows
check "an undefined QP state from the adapter is shown as a number" garbage
check "entries of queues" entries
check "a loop of register reads does not keep the adapter busy" registers_are_cached
check "debug messages are logged by topic, only for the selected device" topics
check "a process cannot flood the log with debug messages" messages_are_limited
check "a container's root changes settings of its device, but not what the host logs" \
	lent_settings "$(device e0)"
check "the debug topic for connections is refused" no_cm
check "time limit of 500 ms" limit_is 5
check "an interrupt is lost: the command succeeds" interrupt_lost
check "an answer is lost: other commands continue" answer_lost
check "an answer is late: other commands continue" answer_late
check "the probing command is lost, too: the adapter is reset and back in service" reset_after_loss
check "the restart fails: the adapter is reset again" restart_fails
check "repeated losses: the adapter is back in service after each" loss_after_loss
check "an event of group \"fatal error\": the adapter still works" fatal_event
check "an event of group \"fatal error\", and a lost probing command: the adapter is reset" \
	fatal_event_and_loss
check "what the driver reports about the host" told_of_host
check "an adapter without function level reset" function_reset 0
check "an adapter that does not confirm a reset is halted, and keeps memory" halted_keeps_memory
check "it returns to service after a confirmed reset, and its memory is freed" halted_comes_back
check "an adapter with function level reset" function_reset 1
if [ -n "${EADM_EFA_DEFAULT-}" ]; then
	check "time limit of 30 s" limit_is 0
	check "30 s: an interrupt is lost: the command succeeds" interrupt_lost
	check "30 s: an answer is lost: other commands continue" answer_lost
	check "30 s: the probing command is lost, too: the adapter is reset and back in service" \
		reset_after_loss
fi
check "doorbells are taken from a process by a reset" doorbells_taken
check "doorbells are taken from its child by a reset" doorbells_taken -f
check "doorbells are not taken by other processes' QPs" doorbells_kept
check "a destroyed QP's send queue memory cannot be reached" stale "$(device e0)"
check "a process stuck in a page fault does not hold up recovery" recovers_beside_stuck
check "a process stuck in a page fault does not hold up unbinding" unbinds_beside_stuck
check "the driver can be bound again after that" binds_after_stuck
check "the default time limit again" limit_is 0
check "hints of the adapter" hints
check "hints that cannot be followed" hints_too_small
check "a region may begin at any address, but not wrap around" addresses
# Debian's 6.1 has no such device.
[[ $(uname -r) == 6.1.*-amd64 && ! -e /dev/udmabuf ]] ||
	check "a DMA buffer of a process's memory" buffers /dev/udmabuf
check "an exporter of memory without pages, like BARs, is loaded" insmod "$barbuf"
check "a DMA buffer without pages" buffers /dev/barbuf
check "the buffer is returned to its exporter" bar_uses 0 0
check "unbind with a DMA buffer" bar_unbind
check "the exporter is unloaded" rmmod barbuf
check "unbind with applications" unbind_attached
check "orderly removal with applications" removed_attached live 0
check "$surprises surprise removals under traffic" surprises
check "a module that shuts functions down is loaded" insmod "$shutpci"
check "shutdown with applications" shut_down
check "an adapter that was left behind" left_behind
check "nothing is left over" until_true 10 nothing_left
check "$cycles loads and unloads" cycle
check "removal" rmmod efa
tap_end
