# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # for those that source it
# In the guest: two rdma_rxe devices that reach each other, the probe, and programs
# that keep on until they are told to end.
src=build/tests/lib/src
temp=$(mktemp -d)
dev=rxe0
addr=10.79.0.1
work=$temp

# In the background it is $tool, so that signals reach it.
tool=build/eadm/eadm
eadm() {
	$tool "$@"
}

set_up() {
	grep -q " /sys/fs/bpf " /proc/mounts || mount -t bpf -o mode=700 bpf /sys/fs/bpf || return
	modprobe rdma_rxe && modprobe rdma_ucm && modprobe ib_uverbs || return
	ip link add probe0 type veth peer name probe1
	ip address add $addr/24 dev probe0
	ip link set probe0 up
	ip link set probe1 up
	rdma link add $dev type rxe netdev probe0
	# What is tested is the right to lock memory, not that to the node.
	chmod 666 /dev/infiniband/*
	gid_index "$addr" >/dev/null
}

# The place of the GID of an IPv4 address.
gid_index() { # ADDRESS
	local want i bytes

	IFS=. read -ra bytes <<<"$1"
	want=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "${bytes[@]}")
	for i in {0..15}; do
		if [ "$(cat "/sys/class/infiniband/$dev/ports/1/gids/$i" 2>/dev/null)" = "$want" ]; then
			echo "$i"
			return
		fi
	done
	return 1
}

# keep NAME COMMAND...: runs it until end NAME; it is ready when this returns. Not in a
# subshell, as check has one: see stays.
declare -A kept inputs
keep() {
	local name=$1 fd
	shift

	mkfifo "$temp/$name.in"
	# Others would keep the inputs of those before open.
	(
		for fd in "${inputs[@]}"; do
			exec {fd}>&-
		done
		exec "$@"
	) <"$temp/$name.in" >"$temp/$name.out" 2>&1 &
	kept[$name]=$!
	exec {fd}>"$temp/$name.in"
	inputs[$name]=$fd
	rm "$temp/$name.in"
	until_true 60 eval "grep -q ready '$temp/$name.out' || ! kill -0 ${kept[$name]} 2>/dev/null"
	grep -q ready "$temp/$name.out" || { cat "$temp/$name.out"; return 1; }
}

end() { # NAME
	local fd=${inputs[$1]}

	exec {fd}>&-
	wait "${kept[$1]}"
}

# stays TEXT NAME COMMAND...: keep, as a test.
stays() {
	local text=$1
	shift

	if keep "$@"; then
		tap_pass "$text"
	else
		tap_fail "$text"
	fi
}

probe_field() { # NAME
	eadm probe status --json | jq ".rows[0].$1"
}

no_programs() {
	[ -z "$(bpftool -j prog list | jq -r '.[].name | select(. // "" | test("^(enter|leave|event)_"))')" ] &&
		[ "$(bpftool -j map list | jq '[.[] | select(.name == "records" or .name == "in_flight")] | length')" = 0 ]
}

# verdict RULE PATTERN: diagnose names it, in a sentence that has the pattern.
verdict() {
	eadm diagnose --json >"$work/verdicts"
	jq -r '.rows[] | "\(.rule): \(.finding)"' "$work/verdicts" | tee "$work/said"
	grep -Eq "^$1: .*$2" "$work/said"
}

no_verdict() { # RULE
	eadm diagnose --json >"$work/verdicts"
	jq -r '.rows[] | "\(.rule): \(.finding)"' "$work/verdicts" | tee "$work/said"
	! grep -q "^$1:" "$work/said"
}

# exact N: two programs make N rounds of objects each; made = recorded + lost, by their own counts.
exact() {
	local made first second before after
	before=$(eadm probe status --json)
	$src/scenes $dev churn "$1" >"$temp/n1" &
	first=$!
	$src/scenes $dev churn "$1" >"$temp/n2" &
	second=$!
	wait $first && wait $second || return
	made=$(($(cat "$temp/n1") + $(cat "$temp/n2")))
	after=$(eadm probe status --json)
	jq -rn --argjson a "$before" --argjson b "$after" --argjson made "$made" '
		def d(f): $b.rows[0][f] - $a.rows[0][f];
		"made \(d("made")) recorded \(d("recorded")) lost \(d("lost")), of \($made)",
		if d("made") == $made and d("made") == d("recorded") + d("lost") then "exact" else "wrong" end' | tee "$temp/exact"
	grep -qx exact "$temp/exact"
}
