# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2016,SC2034,SC2086,SC2154 # for eval, knobs.sh; names without blanks; of lib.sh
# Commands of the kernel's own drivers, on virtual adapters: recorded beside the verbs that cause them, as many as
# the adapter counts. tests/guest/probe/type-drivers has made the modules.
modules=build/tests/vm/typed/$(uname -r)
. tests/lib/knobs.sh

# One adapter of each family: its folder, and the type of QPs that it has.
declare -A type=([erdma]=rc [efa]=ud) adapter=([erdma]=v0 [efa]=e0)
families=(erdma efa)
all=/sys/kernel/config/eadm_virt

device() { # FAMILY
	find /sys/class/infiniband -name "$1_*" -printf "%f\n"
}

fault() { # FAMILY KNOB SETTING...
	set_knob "$all/$1/${adapter[$1]}/fault/$2" "${@:3}"
}

hits() { # FAMILY KNOB
	cat "$all/$1/${adapter[$1]}/fault/$2/hits"
}

calm_all() {
	local config

	for config in "$all"/{erdma,efa}; do
		calm
	done
}

# Without drivers, which come later.
set_up_core() {
	grep -q " /sys/fs/bpf " /proc/mounts || mount -t bpf -o mode=700 bpf /sys/fs/bpf || return
	modprobe -a ib_uverbs rdma_ucm iw_cm
}

there() { # FAMILY
	[ -n "$(device "$1" 2>/dev/null)" ]
}

load() {
	local family

	for family in "${families[@]}"; do
		insmod "$modules/$family.ko" && until_true 30 there "$family" || return
	done
	chmod 666 /dev/infiniband/*
}

unload() {
	local family

	for family in "${families[@]}"; do
		[ ! -e "/sys/module/$family" ] || rmmod "$family" || return
	done
}

field() { # NAME
	eadm probe status -o all --json | jq -r ".rows[0].$1"
}

# rows FAMILY JQ [OPTION...]: how many of its commands hold for that
rows() {
	eadm trace --json "${@:3}" | jq --arg family "$1" \
		"[.rows[] | select(.family == \$family and has(\"op_raw\") and ($2))] | length"
}

churn() { # FAMILY N: prints the calls
	$src/scenes "$(device "$1")" churn "$2" "${type[$1]}"
}

check "the core is set up" set_up_core
check "the probe starts without drivers" eadm probe start
check "  no function is missing" eval '! field missing | tr " " "\n" | grep -v "^__ib_qp_event_handler$" | grep .'
check "drivers come later" load
check "  the probe says so" same "efa erdma" "$(field late_drivers)"
check "it stops" eadm probe stop

check "it starts with drivers" eadm probe start
check "  none is late, no function is missing" eval '[ "$(field late_drivers)" = null ] && ! field missing | tr " " "\n" | grep -v "^__ib_qp_event_handler$" | grep .'

# made is what the program says it called and the adapter says it was asked.
exact_of() { # FAMILY N
	local before after calls commands

	fault "$1" cmd_delay target -1 arg 0 count -1
	before=$(eadm probe status --json)
	commands=$(hits "$1" cmd_delay)
	calls=$(churn "$1" "$2") || return
	commands=$(($(hits "$1" cmd_delay) - commands))
	after=$(eadm probe status --json)
	fault "$1" cmd_delay count 0
	jq -n --argjson a "$before" --argjson b "$after" --argjson calls "$calls" --argjson commands "$commands" '
		def d(f): $b.rows[0][f] - $a.rows[0][f];
		"\($calls) calls, \($commands) commands: made \(d("made")) recorded \(d("recorded")) lost \(d("lost"))",
		if d("made") == $calls + $commands and d("made") == d("recorded") + d("lost") and $commands > 0
		then "exact" else "wrong" end' | tee "$temp/exact"
	grep -q exact "$temp/exact"
}

pairs() { # FAMILY
	local op

	for op in create-qp destroy-qp reg-mr dereg-mr create-cq destroy-cq; do
		[ "$(rows "$1" ".op == \"$op\" and .state == \"done\" and .status == 0 and .latency > 0 and
			.comm == \"scenes\" and .pid > 0 and .dev_name == \"$(device "$1")\"")" -ge 100 ] || { echo "$op"; return 1; }
	done
	[ "$(eadm trace --json | jq --arg dev "$(device "$1")" \
		'[.rows[] | select(.family == "verbs" and .op == "create-qp" and .dev_name == $dev)] | length')" -ge 100 ]
}

# The verb lasts longer than its command, and began before it.
nested() { # FAMILY
	eadm trace --json | jq -e --arg family "$1" --arg dev "$(device "$1")" '
		[.rows[] | select(.dev_name == $dev and .op == "create-qp")] as $all |
		[$all[] | select(.family == "verbs")] as $verbs | [$all[] | select(.family == $family)] as $commands |
		[$commands[] as $c | $verbs[] | select(.tid == $c.tid and .time <= $c.time and .latency >= $c.latency and
			.time + .latency >= $c.time + $c.latency)] | length >= ($commands | length)'
}

failing() { # FAMILY STATUS
	local before

	before=$(rows "$1" '.state == "error"')
	fault "$1" cmd_error target "$2" arg 1 count 1
	! churn "$1" 1 2>/dev/null || return
	[ "$(rows "$1" '.state == "error"')" = $((before + 1)) ] &&
		rows "$1" '.state == "error" and .op == "create-cq" and .status < 0 and .latency > 0' | grep -qx 1
}

hung() { # FAMILY
	fault "$1" cmd_delay target -1 arg 800 count 1
	churn "$1" 1 >/dev/null && [ "$(rows "$1" '.latency > 700000000 and .state == "done"')" -ge 1 ]
}

for family in "${families[@]}"; do
	check "$family: made = calls + commands of the adapter = recorded + lost" exact_of "$family" 100
	check "$family: commands have number, status, latency, device and owner" pairs "$family"
	check "$family: each command is within its verb" nested "$family"
	calm_all
	check "$family: a command that takes long" hung "$family"
done
check "erdma: a command that fails has its status" failing erdma 4
check "efa: a command that fails has its status" failing efa 9
calm_all

# The counters of a port are read by no verb.
outside() {
	cat "/sys/class/infiniband/$(device efa)/ports/1/hw_counters/tx_bytes" &&
		[ "$(rows efa '.op == "get-stats" and .comm == "cat" and .status == 0')" -ge 1 ]
}
check "efa: a command of no verb" outside
check "diagnose finds no fault in what was recorded twice" no_verdict mr-leak
check "hist has them in rows of their own" eval 'eadm trace hist --json | jq -e "[.rows[] | select(.op == \"create-qp\") | .family] | sort == [\"efa\", \"erdma\", \"verbs\"]"'
check "the exporter counts them beside the verbs" eval 'eadm exporter --once >"$temp/metrics" && grep -E "^eadm_cmd_records_total.*family=\"efa\".*op=\"create-qp\"" "$temp/metrics" && grep -E "^eadm_cmd_latency_seconds_count.*family=\"erdma\".*op=\"create-qp\"" "$temp/metrics"'
again() {
	eadm record "$temp/c.pcapng" && [ "$(eadm --from "$temp/c.pcapng" trace --json |
		jq '[.rows[] | select(has("op_raw")) | .family] | unique | length')" = 2 ]
}
check "a capture has them" again
check "a bundle has them" eval 'eadm bundle create -o "$temp/b.tar.zst" >/dev/null 2>&1; [ "$(eadm --from "$temp/b.tar.zst" trace --json | jq "[.rows[] | select(has(\"op_raw\")) | .family] | unique | length")" = 2 ]'
check "drivers in use by the probe stay" eval '! rmmod efa 2>"$temp/why" && grep -q "in use" "$temp/why"'
check "it stops" eadm probe stop
check "nothing is left in the kernel" until_true 60 no_programs
# What jumps to a program is freed later than that.
check "drivers can go" until_true 30 unload

# With kprobes, which hold no driver.
check "drivers come again" load
check "kprobe: it starts" eadm probe start --level kprobe
check "kprobe: no function is missing" eval '! field missing | tr " " "\n" | grep -v "^__ib_qp_event_handler$" | grep .'
for family in "${families[@]}"; do
	check "kprobe: $family: made = calls + commands = recorded + lost" exact_of "$family" 100
	check "kprobe: $family: number, status, latency, device and owner" pairs "$family"
done
calm_all
check "kprobe: drivers can go while it records" unload
check "kprobe: it stops" eadm probe stop
check "kprobe: nothing is left in the kernel" until_true 60 no_programs

# Drivers without types, as they were built outside of a distribution.
bare() {
	local family

	for family in "${families[@]}"; do
		objcopy -R .BTF "$modules/$family.ko" "$temp/$family.ko" || return
	done
	modules=$temp load
}
check "drivers without types come" bare
check "the probe starts without their functions" eadm probe start
check "  it names them as missing" eval 'field missing | grep -q efa_com_cmd_exec && field missing | grep -q erdma_post_cmd_wait'
check "  verbs are recorded" eval 'churn erdma 1 && [ "$(eadm trace --json | jq "[.rows[] | select(.op == \"create-qp\")] | length")" = 1 ]'
check "it stops at last" eadm probe stop
check "drivers go at last" unload
