# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2016,SC2086 # of lib.sh; for eval; names without blanks
# Linux 5.10: no types of modules, no additions that return a value, no kprobes that stay. "run" records there, with
# the types that the kernel exports.
check "rdma_rxe is set up" set_up
check "modules have no types" same vmlinux "$(ls /sys/kernel/btf)"
check "start says what to do instead" eval '! eadm probe start 2>"$temp/why" && grep -q "use .eadm probe run." "$temp/why" && [ ! -e /sys/fs/bpf/eadm ]'

start_run() {
	$tool probe run >"$temp/run" 2>&1 &
	runner=$!
	until_true 120 eval '[ "$(probe_field state)" = "\"running\"" ] || ! kill -0 $runner 2>/dev/null'
	[ "$(probe_field state)" = '"running"' ] || { cat "$temp/run"; return 1; }
}
is() { # STATE
	[ "$(probe_field state)" = "\"$1\"" ]
}
if start_run; then
	tap_pass "run records"
else
	tap_fail "run records"
fi
check "its level is kprobe" same '"kprobe"' "$(probe_field level)"
check "what is missing is named, and nothing else" same "__ib_qp_event_handler cm_event_handler ib_uverbs_handler_UVERBS_METHOD_REG_DMABUF_MR" \
	"$(eadm probe status -o all --json | jq -r '.rows[0].missing' | tr ' ' '\n' | sort | paste -sd ' ')"

pingpong() {
	ibv_rc_pingpong -d $dev -g "$(gid_index $addr)" -n 10 >"$temp/server" 2>&1 &
	local server=$!
	# 18515, in state LISTEN.
	until_true 20 grep -q ":4853 0*:0000 0A" /proc/net/tcp || return
	ibv_rc_pingpong -d $dev -g "$(gid_index $addr)" -n 10 127.0.0.1 && wait $server
}
check "ibv_rc_pingpong runs" pingpong
calls=$(eadm trace --json)
# row OP JQ: number of its calls for which that holds
row() {
	jq "[.rows[] | select(.op == \"$1\" and .comm == \"ibv_rc_pingpong\" and .state == \"done\" and .dev_name == \"$dev\" and ($2))] | length" <<<"$calls"
}
for op in create-qp create-cq reg-mr alloc-pd alloc-ctx; do
	check "$op: device, process, latency" same 2 "$(row $op '.pid > 0 and .latency > 0')"
done
check "create-qp: number and type" same 2 "$(row create-qp '.qpn > 0 and .qp_type == "rc"')"
check "modify-qp: to init, rtr and rts" same "2 2 2" "$(row modify-qp '.new_state == "init"') $(row modify-qp '.new_state == "rtr" and .peer_qpn > 0 and .peer_gid') $(row modify-qp '.new_state == "rts"')"
check "create-cq: number and entries" same 2 "$(row create-cq '.cqn != null and .entries > 0')"
check "no key, no address, no kernel pointer" eval '! grep -Ei "[lr]key|\"0xffff|:1844[0-9]{16}" <<<"$calls"'

check "made = recorded + lost, exactly" exact 200
check "numbers of the device follow each other" eval \
	'eadm trace -d $dev --json | jq -e "[.rows[].seq] | sort | length > 1000 and .[-1] - .[0] == length - 1 and (unique | length) == length"'
refused() {
	timeout 60 $src/cmscenes connect $addr 7100 <&"$pause_fd"
	eadm trace --json | jq -e '[.rows[] | select(.op == "cm-connect" and .comm == "cmscenes" and .latency > 0)] | length >= 1'
}
check "connections: their calls, without device" refused
check "a capture has the records" eval 'eadm record "$temp/c.pcapng" && [ "$(eadm --from "$temp/c.pcapng" trace --json | jq ".rows | length")" -gt 1000 ]'
kill -TERM $runner
wait $runner
check "it ends" is stopped
check "nothing is left" until_true 60 no_programs

# Its kprobes go with the process, its files stay until stop.
killed() {
	local loader

	loader=$(pgrep -P $runner eadm-probe) && kill -KILL "$loader" && until_true 20 is broken && eadm probe stop
}
if start_run; then
	tap_pass "run records again"
else
	tap_fail "run records again"
fi
check "killed, it records no longer, and stop cleans up" killed
check "nothing is left at last" until_true 60 no_programs
