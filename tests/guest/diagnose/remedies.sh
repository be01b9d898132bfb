# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh sets them, run takes $beside
# Carries out the remedies of docs/runbook.md until eadm reports no more faults. Commands are taken from
# eadm's output. Other steps are implemented here: restarting an application, waiting, correcting a rule
# or a limit. A fault of the adapter ends when its knob is reset; the test then checks that the remedy
# restores service. docs/runbook checks that each rule has either a test here,
# with the rule's name, or the key "untried" in docs/runbook.yaml.

# Rules that report an event for ten minutes in any case; the last test waits for this time.
lasting='["command-lost", "command-slow", "command-failed", "past-device-failure", "past-failure", "past-connection-failure"]'

# at_rest [OPTIONS]: no device has verdicts except by the rules in $lasting.
at_rest() {
	eadm diagnose --json -i 200ms "$@" >"$work/rest"
	jq -c '.rows[] | [.rule, .dev_name, .finding]' "$work/rest"
	jq -e "all(.rows[]; .rule | IN(${lasting}[]))" "$work/rest" >/dev/null
}

# Counted faults are reported for half a minute. The traffic program has to exit first: while it waits
# for input, it leaves completions in its CQ, which cause another verdict.
rests() {
	until_true 60 at_rest
}

gone() { # RULE: has no verdict, although the object may still exist
	eadm diagnose --json -i 200ms >"$work/rest"
	jq -e --arg rule "$1" 'all(.rows[]; .rule != $rule)' "$work/rest"
}

# Prints the commands in the next step of the first verdict by RULE, without explanations.
printed() { # RULE
	jq -r --arg rule "$1" 'first(.rows[] | select(.rule == $rule)).next' "$work/verdicts" |
		sed 's/, if .*;/;/; s/, if .*//; s/ (.*)$//'
}

# carry_out COMMANDS: runs the commands as eadm prints them
carry_out() {
	echo "carried out: $1"
	bash -ec "$1"
}

# checked CHECK RESULT [COMMAND...]: "eadm check" has this result for the device or the machine. Sets
# $remedy.
checked() {
	local name=$1 result=$2 found
	shift 2

	[ $# -gt 0 ] || set -- eadm
	"$@" check --json >"$work/checked"
	found=$(jq -c --arg check "$name" --arg dev "$dev" \
		'first(.rows[] | select(.check == $check and (.dev_name // $dev) == $dev))' "$work/checked")
	echo "$found"
	remedy=$(jq -r '.remedy // ""' <<<"$found")
	[ "$(jq -r .result <<<"$found")" = "$result" ]
}

# Lets modprobe find the modules by name, as with packages.
by_name() {
	printf 'install %s insmod /run/vm/ctl/%s.ko\n' eadm eadm erdma erdma >/etc/modprobe.d/eadm-test.conf
}

restart_application() {
	drop_traffic && begin_traffic && works && end_traffic
}

# restarted RULE OBJECT ID PROOF: the verdict exists, and disappears once the application is restarted
restarted() {
	sees "$@" -i 400ms && calm && restart_application && rests
}

as_somebody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# ---- commands and events -------------------------------------------------------------

test_remedy_command_lost() {
	short_limit
	fault cmd_drop target "$GET_STATS" count 1
	ask_the_port
	sees command-lost cmdq - '.state == "timeout"' -i 200ms && objects_work
}

test_remedy_command_slow() {
	fault cmd_delay target "$GET_STATS" arg 1500 count 1
	ask_the_port && sees command-slow cmdq - '.latency >= 1500000000' -i 100ms && objects_work
}

test_remedy_command_failed() {
	fault cmd_error target "$CREATE_QP" arg 12 count 1
	! "$programs/objs" -d "$dev" -n 1 qps || return 1
	sees command-failed cmdq - '.syndrome_raw == 12' -i 100ms && objects_work
}

test_remedy_cmdq_stalled() {
	fault stall arg $((${EADM_PATIENCE:-1} > 1 ? 12000 : 6000)) count 1
	until_true 5 struck stall || return 1
	ask_the_port &
	until_true 10 eval '[ "$(show cmdq "" ".oldest_age // 0")" -ge 1000000000 ]' &&
		sees cmdq-stalled cmdq - '.outstanding > 0' -i 100ms && wait $! && rests
}

test_remedy_spurious_completion() {
	fault cmd_duplicate target "$GET_STATS" count 1
	ask_the_port && sees spurious-completion cmdq - '.spurious > 0' -i 100ms && rests
}

test_remedy_missed_interrupt() {
	begin_traffic || return 1
	fault irq_lost target 1 count 1
	ask 15 'ok 1' 'write 1 64 10000 events' &&
		until_true 10 sees missed-interrupt eq 2 '.missed > 0' -i 100ms && works && end_traffic && rests
}

test_remedy_unknown_event() {
	fault aeq_unknown arg 3 count 1
	until_true 5 struck aeq_unknown && until_true 10 sees unknown-event eq 0 '.unknown > 0' -i 100ms && rests
}

test_remedy_spurious_interrupt() {
	local pid

	fault irq_spurious target 1 probability 100 count 0
	while fault irq_spurious count 20; do
		pause 0.1
	done &
	pid=$!
	sees spurious-interrupt eq 2 '.interrupts_growth >= 10' -i 2s
	kill $pid
	wait $pid
	calm
	[[ $judged == *$'\n'seen ]] && rests
}

test_remedy_extra_events() {
	begin_traffic || return 1
	fault eqe_duplicate target 2 count 1
	struck_by eqe_duplicate 'write 1 64 10000 armed' &&
		until_true 10 sees extra-events cq "$client_cq" '.events == 2' -i 200ms && drop_traffic && rests
}

# ---- the device ---------------------------------------------------------------------

test_remedy_link_down() {
	ip link set eth0 down
	until_true 10 sees link-down dev - '.netdev == "eth0"' -i 100ms && carry_out "$(printed link-down)" &&
		rests && begin_traffic && works && end_traffic
}

test_remedy_mac_mismatch() {
	local mac

	ip link set eth0 address 02:00:00:00:00:09
	until_true 10 sees mac-mismatch dev - '.netdev_mac == "02:00:00:00:00:09"' -i 100ms || return 1
	mac=$(eadm info "$dev" --json | jq -r '.rows[0].mac')
	carry_out "$(printed mac-mismatch | sed "s/MAC/$mac/")" && rests && begin_traffic && works && end_traffic
}

stopped_and_continued() {
	begin_traffic && kill -STOP "$traffic" || return 1
	until_true 10 sees owner-stopped qp "$client" true -i 200ms && carry_out "$(printed owner-stopped)" &&
		until_true 10 gone owner-stopped && works && end_traffic && rests
}

# Freezes a control group, as a container runtime does to pause a container.
frozen_and_thawed() {
	local group=/sys/fs/cgroup/paused

	mkdir -p $group
	begin_traffic && echo "$traffic" >$group/cgroup.procs && echo 1 >$group/cgroup.freeze || return 1
	until_true 10 sees owner-stopped qp "$client" true -i 200ms &&
		[[ $(printed owner-stopped) == *"write 0 to cgroup.freeze"* ]]
	echo 0 >$group/cgroup.freeze
	until_true 10 gone owner-stopped && works && end_traffic && rests
}

test_remedy_owner_stopped() {
	stopped_and_continued && frozen_and_thawed
}

# holding COMMAND...: starts a process with the objects of hold, until it is killed; $held is its PID.
holding() {
	[ -p "$work/holding" ] || mkfifo "$work/holding"
	"$@" hold -d "$dev" -q 1 -m 1 -s $((7600 * 1024)) -w 16 <>"$work/holding" >"$work/hold" 2>&1 &
	until_true 20 grep -q ready "$work/hold" && held=$(pgrep -nx hold)
}

let_go() {
	kill "$held"
	wait
}

# The limit that the verdict shows is raised.
test_remedy_cgroup_limit() {
	local group=/sys/fs/cgroup/job used

	echo +rdma >/sys/fs/cgroup/cgroup.subtree_control && mkdir -p $group || return 1
	holding sh -c "echo \$\$ >$group/cgroup.procs && exec \"\$@\"" sh || return 1
	used=$(sed -n "s/^$dev .*hca_object=//p" $group/rdma.current)
	echo "$dev hca_object=$used" >$group/rdma.max
	gone memlock-near && ! gone cgroup-limit &&
		echo "$dev hca_object=max" >$group/rdma.max && rests
	set -- $?
	let_go
	return "$1"
}

test_remedy_memlock_near() {
	chmod 666 /dev/infiniband/uverbs0
	holding prlimit --memlock=$((8192 * 1024)) setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps=-all --bounding-set=-all || return 1
	gone cgroup-limit && ! gone memlock-near && prlimit --memlock=unlimited --pid "$held" && rests
	set -- $?
	let_go
	return "$1"
}

holders() { # COMMAND from the verdict: prints the PIDs that it finds
	bash -c "$1" 2>/dev/null | sed -n 's|^/proc/\([0-9]*\)/.*|\1|p' | sort -u
}

# A process holds a file descriptor of the device that it took from a process that has exited.
test_remedy_leaked_objects() {
	local pid heir left

	mkfifo "$work/leak"
	hold -d "$dev" -q 1 <>"$work/leak" >"$work/hold" 2>&1 &
	pid=$!
	until_true 20 grep -q ready "$work/hold" || return 1
	/usr/bin/python3 -c 'import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
pid = int(sys.argv[1])
fds = [int(fd) for fd in os.listdir(f"/proc/{pid}/fd") if "uverbs" in os.readlink(f"/proc/{pid}/fd/{fd}")]
of = libc.syscall(434, pid, 0)
got = [libc.syscall(438, of, fd, 0) for fd in fds]
print("got", got, flush=True)
time.sleep(600)' "$pid" >"$work/heir" 2>&1 &
	heir=$!
	until_true 20 grep -q '^got \[[0-9]' "$work/heir"
	kill -KILL $pid
	wait $pid
	until_true 20 sees leaked-objects ctx "$(show ctx '' .ctxn)" '.qps == 1' -i 100ms &&
		left=$(holders "$(printed leaked-objects | sed 's/^[^;]*; //')") && echo "held by: $left" &&
		[ "$left" = $heir ] && kill "$left" && rests && return
	kill $heir
	return 1
}

test_remedy_eq_overflow() {
	begin_traffic || return 1
	fault eq_overflow target 2 count 1
	struck_by eq_overflow 'write 1 64 500 events' && sees eq-overflow eq 2 '.hw_overflow == 1' -i 100ms &&
		calm && restart_application || return 1
	# No consumer waits any more, but the adapter keeps the overflow flag until it is reset.
	sees eq-overflow eq 2 true -i 100ms &&
		jq -e '.rows[] | select(.rule == "eq-overflow" and .severity == "notice")' "$work/verdicts" &&
		reload_driver && rests
}

reload_driver() {
	by_name
	modprobe -r eadm && rmmod erdma && carry_out 'modprobe erdma; modprobe eadm' &&
		until_true 30 has_device && begin_traffic && works && end_traffic
}

has_device() {
	[ -e "/sys/class/infiniband/$dev/ports/1" ] && [ "$(show dev '' .state)" = ready ]
}

test_remedy_cmdq_dead() {
	begin_traffic || return 1
	fault init_lost count -1
	fault fw_reset count 1
	beside=("qp-forgotten qp $client" "qp-forgotten qp $server")
	until_true 10 eval '[ "$(show cmdq "" .failed_recoveries)" -ge 1 ]' &&
		sees cmdq-dead cmdq - '.state == "dead"' -i 100ms || return 1
	calm
	drop_traffic
	reload_driver && rests
}

# The PCI function is removed and rescanned, as the verdict says. The adapter stays away for longer than
# the observation takes on a busy machine: the driver recovers as soon as it is back.
test_remedy_adapter_gone() {
	local address

	read -r address <"$adapter/address"
	begin_traffic || return 1
	fault dev_gone arg 20000 count 1
	told 'local catastrophic error' && until_true 10 sees adapter-gone dev - '.state == "gone"' -i 100ms &&
		[[ $(printed adapter-gone) == *"remove and rescan the PCI function" ]] || return 1
	drop_traffic
	carry_out "echo 1 >/sys/bus/pci/devices/$address/remove"
	until_true 20 eval '! [ -e "/sys/class/infiniband/'"$dev"'" ]'
	until_true 30 grep -qx powered "$adapter/state" || return 1
	carry_out 'echo 1 >/sys/bus/pci/rescan'
	until_true 30 has_device && begin_traffic && works && end_traffic && rests
}

plug_with() { # FILE VALUE of the adapter
	echo 0 >"$adapter/live"
	until_true 20 eval '! [ -e "/sys/class/infiniband/'"$dev"'" ]'
	echo "$2" >"$adapter/$1"
	echo 1 >"$adapter/live"
	until_true 30 has_device
}

# The firmware recovers, so the remedy is to wait. The function supports no other reset.
test_remedy_adapter_halted() {
	plug_with flr 0 && begin_traffic && short_limit || return 1
	fault reset_lost count -1
	fault init_lost count -1
	fault cmd_drop count -1
	ask_the_port
	until_true 60 sees adapter-halted dev - '.state == "halted"' -i 100ms || return 1
	drop_traffic
	calm
	until_true 60 has_device && rests && plug_with flr 1 && begin_traffic && works && end_traffic
}

ask_the_port() {
	rdma statistic show link "$dev/1" >/dev/null 2>&1
}

test_remedy_rate_limit_drops() {
	begin_traffic && strike bps_limit 'write 1 60000 20000' "$client" arg 10 count -1 || return 1
	beside=("sender-stalled qp $client")
	# The sender that exceeds the limit exits; the limit stays in effect.
	sees rate-limit-drops counters - '.tx_bps_limit_drops_growth >= 40' -i 400ms && drop_traffic && rests
}

test_remedy_port_disabled_drops() {
	begin_traffic && strike link_down 'write 1 64 20000' none count -1 || return 1
	beside=("peer-silent qp $client")
	sees port-disabled-drops counters - '.tx_disabled_drops_growth > 0' -i 400ms && calm && restart_application && rests
}

test_remedy_bad_answer() {
	fault answer_garbage target "$GET_STATS" count -1
	sees bad-answer counters - '.hw_error == "-22"' -i 100ms && calm && rests
}

test_remedy_counters_restarted() {
	begin_traffic && works || return 1
	{
		pause 0.5
		fault counters_wrap arg 2000 count 1
	} &
	sees counters-restarted counters - true -i $((2 * ${EADM_PATIENCE:-1}))s &&
		until_true 10 gone counters-restarted && works && end_traffic && rests
}

# ---- applications that are restarted ----------------------------------------------

test_remedy_lost_completion() {
	begin_traffic && strike cqe_lost 'write 1 64 20000' "$client_cq" count 1 &&
		restarted lost-completion cq "$client_cq" '.hw_pi == 0'
}

test_remedy_extra_completion() {
	begin_traffic && strike cqe_duplicate 'write 4 64 2000' "$client_cq" count 1 &&
		restarted extra-completion cq "$client_cq" '.hw_pi == 5'
}

test_remedy_damaged_completion() {
	begin_traffic && strike cqe_owner 'write 3 64 20000 events' "$client_cq" count 1 &&
		restarted damaged-completion cq "$client_cq" '.hw_pi == 3'
}

test_remedy_unknown_opcode() {
	begin_traffic && strike cqe_opcode 'write 2 64 20000' "$client_cq" arg 29 count 1 &&
		restarted unknown-opcode cq "$client_cq" '.op_raw == "0x1d"'
}

test_remedy_stray_completion() {
	begin_traffic && strike cqe_qpn 'write 2 64 20000' "$client_cq" arg "$server" count 1 &&
		restarted stray-completion cq "$client_cq" ".qpn == $server"
}

test_remedy_missed_event() {
	begin_traffic && strike cq_arm_lost 'write 1 64 20000 events' "$client_cq" count 1 &&
		restarted missed-event cq "$client_cq" '.armed == 1'
}

test_remedy_cq_overrun() {
	begin_traffic && strike cq_overrun 'write 5 64 1500' "$client_cq" count 1 || return 1
	beside=("qp-error qp $client")
	restarted cq-overrun cq "$client_cq" '.errors == 1'
}

test_remedy_qp_error() {
	begin_traffic && strike wr_error 'write 3 64 3000' "$client" arg 12 count 1 || return 1
	beside=("qp-error qp $server")
	restarted qp-error qp "$client" '.first_event == "qp-fatal"'
}

test_remedy_qp_forgotten() {
	begin_traffic || return 1
	fault fw_reset count 1
	beside=("qp-forgotten qp $server")
	told 'local catastrophic error' && until_true 20 sees qp-forgotten qp "$client" '.state == "err"' -i 100ms &&
		restart_application && rests
}

# The doorbell of the next request also makes the adapter execute the earlier one.
test_remedy_lost_doorbell() {
	begin_traffic && strike sq_db_lost 'write 1 64 20000' "$client" count 1 &&
		sees lost-doorbell qp "$client" '.hw_sq_pi == 0' -i 400ms && drop_traffic && begin_traffic || return 1
	fault sq_db_lost target "$client" count 1
	ask 10 'timeout, 0 of 1' 'write 1 64 1000' && until_true 5 sees lost-doorbell qp "$client" true -i 400ms &&
		ask 10 'ok' 'write 1 64 5000' && until_true 10 gone lost-doorbell && end_traffic && rests
}

test_remedy_receive_not_taken() {
	begin_traffic && strike rnr 'send 1 64 20000' "$server" arg 50 count -1 &&
		restarted receive-not-taken qp "$server" '.hw_rq_ci == 0'
}

test_remedy_sender_stalled() {
	begin_traffic && strike qp_stall 'write 5 64 20000' "$client" arg 0 count 1 &&
		restarted sender-stalled qp "$client" '.hw_sq_ci == 0'
}

test_remedy_receiver_starved() {
	begin_traffic && say 'send 3 64 20000 starved' &&
		until_true 10 sees receiver-starved qp "$server" '.hw_rq_ci == 1' -i 400ms && restart_application && rests
}

# The peer responds again, and a new connection is established.
test_remedy_peer_silent() {
	begin_traffic && strike peer_silent 'write 3 64 20000' "$server" count -1 || return 1
	beside=("qp-error qp $server")
	until_true 20 sees peer-silent qp "$client" '.first_cause == "retries-exceeded"' -i 100ms && calm &&
		ask 25 client again && works && end_traffic && rests
}

test_remedy_sender_slow() {
	begin_traffic && strike wr_slow 'write 200 64 60000' "$client" arg 200000 count -1 &&
		sees sender-slow qp "$client" '.hw_sq_ci_growth > 0' -i 3200ms && calm &&
		until_true 10 gone sender-slow && drop_traffic && rests
}

# Packets are no longer lost: the same connection continues.
test_remedy_retransmission_storm() {
	begin_traffic && strike retransmit 'write 4000 64 60000' "$client" probability 50 arg 1 count -1 &&
		sees retransmission-storm qp "$client" '.hw_rto_retrans_growth >= 10' -i 500ms && calm &&
		until_true 10 gone retransmission-storm && drop_traffic && rests
}

# The process is stopped, as the verdict owner-stopped says.
test_remedy_unarmed_cq() {
	local spid cpid cqn status=1

	begin_rping && cqn=$(eadm dump qp -d "$dev" --pid "$spid" --state rts --json | jq '.rows[0].recv_cqn') &&
		until_true 60 stop_untold "$spid" "$cqn" && sees unarmed-cq cq "$cqn" true -i 400ms &&
		carry_out "$(printed owner-stopped)" && until_true 10 gone unarmed-cq && both_connected && status=0
	end_rping && rests || status=1
	return $status
}

# ---- how the machine is set up ---------------------------------------------------

test_remedy_companion() {
	by_name
	rmmod eadm && checked companion note && carry_out "${remedy% (*}" && until_true 10 checked companion ok && rests
}

test_remedy_rdma_modules() {
	modprobe -r rdma_ucm && checked rdma-modules note && carry_out "${remedy%%;*}" && checked rdma-modules ok &&
		begin_traffic && works && end_traffic
}

test_remedy_rdma_cm() {
	chmod 600 /dev/infiniband/rdma_cm
	checked rdma-cm warn as_somebody eadm && [[ $remedy == *"group that owns the file"* ]] &&
		chgrp 65534 /dev/infiniband/rdma_cm && chmod 660 /dev/infiniband/rdma_cm &&
		checked rdma-cm ok as_somebody eadm
}

test_remedy_uverbs() {
	local node=/dev/infiniband/uverbs0

	chmod 600 $node
	checked uverbs warn as_somebody eadm && [[ $remedy == *"group that owns the file"* ]] &&
		chgrp 65534 $node && chmod 660 $node && checked uverbs ok as_somebody eadm
}

logged_in() { # ARGUMENTS of eadm, which runs with the limits that a login sets
	su -s /bin/bash nobody -c "$(readlink -f "$(command -v eadm)") ${*@Q}"
}

# A login sets the limit; files in limits.d that sort later take precedence.
test_remedy_memlock() {
	mkdir -p /etc/security/limits.d && echo '* - memlock 64' >/etc/security/limits.d/low.conf || return 1
	checked memlock note logged_in || return 1
	carry_out "echo '$(grep -oE "'[^']*memlock unlimited'" <<<"$remedy" | tr -d "'")' >/etc/security/limits.d/rdma.conf" &&
		checked memlock ok logged_in
}

test_remedy_mtu() {
	ip link set eth0 mtu 600
	until_true 10 checked mtu warn && carry_out "$remedy" && until_true 10 checked mtu ok
}

test_remedy_address() {
	ip addr del "$addr/24" dev eth0
	until_true 10 checked address warn && carry_out "${remedy/ADDRESS/$addr/24}" && until_true 10 checked address ok &&
		begin_traffic && works && end_traffic
}

test_remedy_affinity() {
	local irq irqs

	irqs=$(sed -n "s/^ *\([0-9]*\):.*erdma.*/\1/p" /proc/interrupts)
	for irq in $irqs; do
		echo 0 >"/proc/irq/$irq/smp_affinity_list"
	done
	checked affinity warn || return 1
	irq=$(grep -oE '[0-9]+$' <<<"$remedy")
	echo 1 >"/proc/irq/$irq/smp_affinity_list" && checked affinity ok
}

test_remedy_provider() {
	local file status

	file=$(echo /usr/lib/*/libibverbs/liberdma-rdmav*.so)
	mv "$file" "$file.away" || return 1
	checked provider fail && [[ $remedy == "install ibverbs-providers (rdma-core)"* ]]
	status=$?
	mv "$file.away" "$file" && [ $status = 0 ] && checked provider ok
}

test_remedy_unbound() {
	local address

	read -r address <"$adapter/address"
	echo "$address" >/sys/bus/pci/drivers/erdma/unbind
	until_true 10 checked unbound warn && carry_out "$(grep -o 'echo .*/bind' <<<"$remedy")" &&
		until_true 30 has_device && checked unbound ok && begin_traffic && works && end_traffic && rests
}

# ---- what lasts -----------------------------------------------------------------------

wholly_silent() {
	eadm diagnose --json -i 200ms >"$work/rest" && jq -e '.rows == []' "$work/rest"
}

# The last test: after all remedies, there are no verdicts.
test_silence_at_last() {
	until_true 900 wholly_silent || { cat "$work/rest"; return 1; }
	begin_traffic && works && end_traffic && wholly_silent
}
