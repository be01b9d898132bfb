# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2016,SC2086 # of lib.sh; for eval; names without blanks
# What the probe records of a foreign client and of a program that counts its calls. It runs
# afterwards, until "stop".
check "rdma_rxe is set up" set_up
before=$(probe_field state)
check "it is stopped at first" [ "$before" = '"stopped"' ]
check "commands say so" eval '! eadm trace 2>"$temp/why" && grep -q "eadm probe start" "$temp/why"'
check "it starts" eadm probe start
check "it does not start twice" eval '! eadm probe start 2>"$temp/why" && grep -q "already running" "$temp/why"'
check "it records" [ "$(probe_field state)" = '"running"' ]
# Linux 7.2 has no ib_resize_cq.
missing_calls() {
	jq -re '.rows[0].missing // empty' <(eadm probe status -o all --json) | tr " " "\n" |
		grep -vx __ib_qp_event_handler | if grep -qw ib_resize_cq /proc/kallsyms; then cat; else grep -vx ib_resize_cq; fi
}
check "all functions of calls are there" same "" "$(missing_calls)"

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
	jq "[.rows[] | select(.op == \"$1\" and .comm == \"ibv_rc_pingpong\" and .state == \"done\" and ($2))] | length" <<<"$calls"
}
check "both ends are there with their owner" eval '[ "$(jq "[.rows[] | select(.comm == \"ibv_rc_pingpong\") | .pid] | unique | length" <<<"$calls")" = 2 ]'
check "create-qp: number, entries, latency" [ "$(row create-qp '.qpn > 0 and .entries > 0 and .latency > 0 and .dev_name == "rxe0"')" = 2 ]
check "modify-qp: to init, rtr and rts" [ "$(row modify-qp '.new_state == "init"') $(row modify-qp '.new_state == "rtr" and .peer_qpn > 0 and .peer_gid') $(row modify-qp '.new_state == "rts"')" = "2 2 2" ]
check "reg-mr: size and number" [ "$(row reg-mr '.size == 4096 and .mrn != null')" = 2 ]
check "create-cq: entries and number" [ "$(row create-cq '.entries > 0 and .cqn != null')" = 2 ]
check "no key, no address, no kernel pointer" eval '! grep -Ei "[lr]key|\"0xffff|:1844[0-9]{16}" <<<"$calls"'

# registered COMMAND...: the limit of its registration, and what is pinned with it
registered() {
	keep registers "$@" && end registers || return
	eadm trace --json | jq -r --argjson pid "${kept[registers]}" '.rows[] | select(.op == "reg-mr" and .pid == $pid) | "\(.memlock) \(.pinned)"' |
		tee "$temp/registered"
}
# is_registered "LIMIT PINNED" COMMAND...
is_registered() {
	local want=$1
	shift

	registered "$@"
	grep -qx "$want" "$temp/registered"
}
page=$(getconf PAGESIZE)
check "reg-mr: the limit, and whole pages" is_registered "131072 65536" $src/scenes $dev memlock 131072 65536
check "  an unaligned buffer has one more" is_registered "131072 $((65536 + page))" $src/scenes $dev memlock 131072 65536 16
check "  so that the limit can be too low" is_registered "65536 $((65536 + page))" $src/scenes $dev memlock 65536 65536 16
check "  there is no limit with CAP_IPC_LOCK" is_registered "null null" prlimit --memlock=65536 $src/scenes $dev regions kept 1 0
check "  except in another user namespace" is_registered "65536 $page" prlimit --memlock=65536 unshare --user --map-root-user $src/scenes $dev regions kept 1 0
check "memlock-refused names the unaligned buffer" verdict memlock-refused "has a locked-memory limit of 65536 bytes, .* register 65536 bytes .* $((65536 + page)) bytes pinned"

check "made = recorded + lost, exactly" exact 400
