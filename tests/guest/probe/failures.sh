# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2016,SC2086 # of lib.sh; for eval; names without blanks
# Failures that eadm diagnose names, each beside what looks like it and is as it should be. Each
# has a fresh probe's records of all that went before: what was accused once may be accused still, so
# that the healthy one comes first.
[ -e "/sys/class/infiniband/$dev" ] || check "rdma_rxe is set up" set_up
check "the probe starts" eadm probe start
index=$(gid_index $addr)

client() { # PORT [ADDRESS]: the event that it ended with
	timeout 60 $src/cmscenes connect "${2-$addr}" "$1" <&"$pause_fd"
}

# ---- connections
listen() { # PORT HOW
	keep "listen$1" $src/cmscenes listen $addr "$1" "$2"
}

rejected() {
	listen 7001 reject && client 7001 && end listen7001
}
check "a peer's application rejects" rejected
check "  it is no refusal" no_verdict connect-refused
refused_first() {
	client 7002
	listen 7002 accept && keep client $src/cmscenes connect $addr 7002 && end client && end listen7002
}
check "a connection is refused, and made later" refused_first
check "  it is not accused" no_verdict connect-refused
refused() {
	client 7003 >"$temp/ended"
	grep RDMA_CM_EVENT_REJECTED "$temp/ended"
}
check "a connection is refused" refused
check "  connect-refused names process, peer and port" verdict connect-refused "cmscenes \(PID [0-9]+\) to $addr port 7003: refused"
check "  events --past has it, with the cause" eval 'eadm events --past --json | jq -e ".rows[] | select(.failure_kind // .kind == \"connection\" and .cause == \"refused\" and .peer_port == 7003 and .comm == \"cmscenes\")"'

late() {
	listen 7004 late && keep client $src/cmscenes connect $addr 7004 && end client && end listen7004
}
check "a peer answers late" late
check "  it is no time-out" no_verdict connect-timeout

# The peer's machine: an address that is known on the link, where nobody is.
unanswered() {
	ip neighbour replace 10.79.0.9 lladdr 02:00:00:00:00:99 dev probe0
	timeout 120 $src/cmscenes connect 10.79.0.9 7005 <&"$pause_fd" >"$temp/ended"
	grep -E "UNREACHABLE" "$temp/ended"
}
check "a connection is not answered" unanswered
check "  connect-timeout names process and peer" verdict connect-timeout "cmscenes \(PID [0-9]+\) to 10.79.0.9 port 7005: the peer did not respond"
check "  the steps before are there, with their time" eval 'eadm events --past >/dev/null && eadm --json trace | jq -e "[.rows[] | select(.op == \"cm-connect\" and .state == \"done\")] | length > 0"'

# An address behind an interface without an RDMA device.
elsewhere() {
	ip link add plain0 type veth peer name plain1 && ip address add 10.78.0.1/24 dev plain0 &&
		ip link set plain0 up && ip link set plain1 up &&
		ip neighbour replace 10.78.0.9 lladdr 02:00:00:00:00:99 dev plain0 || return
	client 7006 10.78.0.9 >"$temp/ended"
	grep ADDR_ERROR "$temp/ended"
}
check "a peer is reached without an RDMA device" elsewhere
check "  connect-timeout names this as the reason" verdict connect-timeout "cmscenes \(PID [0-9]+\) to 10.78.0.9 port 7006: no RDMA device has the local address"
check "  events --past has it as a local failure" eval 'eadm events --past --json | jq -e ".rows[] | select(.failure_kind // .kind == \"connection\" and .cause == \"local\" and .peer_port == 7006)"'
ip link delete plain0

# ---- owners that end
quits() {
	keep quits $src/scenes $dev rc connected "$index" && end quits
}
check "a process with a connected QP exits" quits
asked() {
	keep asked $src/scenes $dev rc connected "$index" || return
	kill -TERM "${kept[asked]}"
	wait "${kept[asked]}"
	true
}
check "another one is asked to end" asked
check "  neither was killed" no_verdict owner-killed
stays "a process with a connected QP stays" killed $src/scenes $dev rc connected "$index"
killed() {
	kill -KILL "${kept[killed]}"
	wait "${kept[killed]}" 2>/dev/null
	until_true 20 eval '[ "$(eadm dump qp -d $dev --json | jq "[.rows[] | select(.pid == ${kept[killed]})] | length")" = 0 ]'
}
check "  it is killed" killed
check "  owner-killed names it, the signal, its QP and its peer" eval \
	'verdict owner-killed "scenes \(PID ${kept[killed]}\) was killed by signal 9 .* QP [0-9]+ was connected with QP [0-9]+ of "'

# ---- QPs
stays "a QP is torn down" teardown $src/scenes $dev rc teardown "$index"
pause 1.5
check "  it is not accused" no_verdict qp-forced-error
end teardown
stays "a process moves its QP to the error state, and keeps it" forced $src/scenes $dev rc forced "$index"
pause 1.5
check "  qp-forced-error names process and QP" eval 'verdict qp-forced-error "scenes \(PID ${kept[forced]}\) moved QP [0-9]+ to the error state"'
end forced

ip address add 10.79.0.50/24 dev probe0
ip address add 10.79.0.51/24 dev probe0
until_true 20 gid_index 10.79.0.51 >/dev/null
other=$(gid_index 10.79.0.50)
stays "a QP is connected" gid $src/scenes $dev rc connected "$other"
ip address del 10.79.0.51/24 dev probe0
check "a GID is removed that no QP sends from" until_true 20 eval '! gid_index 10.79.0.51'
check "  it is not accused" no_verdict gid-removed
ip address del 10.79.0.50/24 dev probe0
check "the GID of a connected QP is removed" until_true 20 eval '! gid_index 10.79.0.50'
check "  gid-removed names GID and QP" verdict gid-removed "10.79.0.50.*from which QP [0-9]+ sends, was removed"
end gid

# ---- limits
stays "a process looks for the limit" search $src/scenes $dev limit search
check "  it is not accused" no_verdict limit-exceeded
end search
stays "a process wants more than the device has" limit $src/scenes $dev limit
check "  limit-exceeded names process, limit and what it requested" eval 'verdict limit-exceeded "scenes \(PID ${kept[limit]}\) requested [0-9]+ send queue entries .* at most [0-9]+"'
end limit

stays "a process registers what it may lock" locks $src/scenes $dev memlock 1048576 65536
check "  it is not accused" no_verdict memlock-refused
end locks
stays "a process may not lock so much" memlock $src/scenes $dev memlock 65536 1048576
check "  memlock-refused names process, limit and size" eval 'verdict memlock-refused "scenes \(PID ${kept[memlock]}\) has a locked-memory limit of 65536 bytes, .* register 1048576 bytes"'
end memlock

# ---- registrations
stays "a large region is registered" large $src/scenes $dev large 67108864
check "  it is not slow" no_verdict slow-registration
end large
late_page="a small region is registered whose page comes late"
if keep slow $src/scenes $dev slow 1500 >"$temp/late"; then
	tap_pass "$late_page"
	check "  slow-registration names process, time and size" eval 'verdict slow-registration "scenes \(PID ${kept[slow]}\) took [0-9.]+ (ms|s) to register 4096 bytes"'
elif [[ $(uname -r) == @(5|6.[0-2]).* ]] && grep -q "Bad address" "$temp/late"; then
	echo "# this kernel does not wait for a page of userfaultfd while it pins memory"
else
	tap_fail "$late_page"
fi
end slow

stays "a process fills a cache of regions" cache $src/scenes $dev regions cache 400 0
stays "another one gives back what it registers" balanced $src/scenes $dev regions balanced 400 15
check "  neither leaks" no_verdict mr-leak
end cache
end balanced
stays "a process registers on and on" leak $src/scenes $dev regions kept 400 15
check "  mr-leak names process and number" eval 'verdict mr-leak "scenes \(PID ${kept[leak]}\) registered 400 memory regions"'
end leak

# Two of the records again, where there is no kernel.
captured() {
	eadm record "$temp/captured.pcapng" &&
		eadm --from "$temp/captured.pcapng" diagnose --json | jq -r '.rows[].rule' | sort -u >"$temp/rules" &&
		grep -x connect-refused "$temp/rules" && grep -x memlock-refused "$temp/rules"
}
check "a capture has the verdicts, too" captured
check "the probe stops" eadm probe stop
check "without it nothing is accused" eval 'eadm diagnose --json >"$work/verdicts"; ! jq -r ".rows[].rule" "$work/verdicts" | grep -E "^(connect-|owner-killed|memlock)"'
