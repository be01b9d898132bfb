# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Connections of SMC sockets that fall back to TCP, by reason. What is lawful has no verdict.
smc() { # PORT SERVER CLIENT
	timeout 60 "$here/smc.py" "$addr" "$@"
}

# Whether the rows are these, each "CODE REASON CLIENTS SERVERS", also for a user and from a capture.
counted() {
	local want=$1 rows='.rows[] | "\(.code) \(.reason) \(.clients) \(.servers)"'

	same "$want" "$(eadm dump smc-fallback --json | jq -r "$rows" | sort)" &&
		same "$want" "$("${as_user[@]}" eadm dump smc-fallback --json | jq -r "$rows" | sort)" &&
		rm -f "$work/smc.pcapng" && eadm record -n 1 "$work/smc.pcapng" &&
		same "$want" "$(eadm --from "$work/smc.pcapng" dump smc-fallback --json | jq -r "$rows" | sort)"
}

sums() { # CLIENTS SERVERS: those on TCP; none is on RDMA
	same "0 0 $1 $2" "$(eadm dump smc --json |
		jq -r '.rows[] | "\(.rdma_clients) \(.rdma_servers) \(.tcp_clients) \(.tcp_servers)"')"
}

absent() {
	ends 0 eadm dump smc && same "eadm: dump: no SMC connections" "$(<"$work/said")" &&
		ends 0 eadm dump smc-fallback && ! grep -q '^smc ' /proc/modules
}
check "without the module there is nothing to show, and it is not loaded" absent

modprobe smc
unused() {
	sums 0 0 && counted "" && same "" "$(verdicts)" && ends 0 eadm diagnose && ! said SMC
}
check "silent: SMC that is not in use" unused

lawful() {
	smc 7010 tcp smc && smc 7011 tcp smc && smc 7012 smc tcp && sums 2 1 &&
		counted "0x3010000 peer-has-no-smc 2 1" && same "" "$(verdicts)" && ends 0 eadm diagnose &&
		said 'SMC: 3 connections were on TCP because the peer does not support SMC, which is not a fault'
}
check "a plain TCP peer is counted, and has no verdict" lawful

fell_back() {
	smc 7013 smc smc && sums 3 2 && counted "0x3010000 peer-has-no-smc 2 1
0x3030000 no-device 1 0
0x5000000 peer-declined 0 1" && ends 0 eadm diagnose --json || return
	jq -r '.rows[] | "\(.severity) \(.rule) \(.object) \(.finding)"' "$work/said" | sort >"$work/found"
	same "notice smc-fallback smc-fallback 1 connection of SMC sockets fell back to TCP for the reason no-device (0x03030000): 1 initiated, 0 accepted
notice smc-fallback smc-fallback 1 connection of SMC sockets fell back to TCP for the reason peer-declined (0x05000000): 0 initiated, 1 accepted" \
		"$(<"$work/found")" &&
		jq -e '.rows[] | select(.finding | test("no-device")) | .next | test("ip route get PEER")' "$work/said"
}
check "without a device for the interface there is a notice on each side" fell_back

elsewhere() {
	ip netns add quiet && same "" "$(ip netns exec quiet eadm dump smc-fallback --json | jq -r '.rows[]')"
}
check "silent: another network namespace has its own counts" elsewhere
ip netns del quiet

bundled() {
	eadm bundle create -o "$work/smc.tar.zst" && same 3 "$(eadm --from "$work"/smc.tar.zst dump smc-fallback --json | jq '.rows | length')"
}
check "a bundle has the counts" bundled
