# SPDX-License-Identifier: GPL-2.0-or-later
# What is found by a driver's counters alone, at moments of two adapters: the second one, which
# only sends, is well.
load ../../../cli/common
GOLDENS=$BATS_TEST_DIRNAME/../golden

NETWORK=$BATS_TEST_DIRNAME/../captures/network.pcapng

found() { # AT
	eadm --from "$NETWORK" --at "$1" diagnose --json 2>/dev/null |
		jq -c '.rows[] | [.dev_name, .severity, .rule]'
}

@test "nothing is heard of any peer" {
	[ "$(found '#2')" = '["rdmap0s6","critical","peer-unresponsive"]' ]
	golden network-cut-off --from "$NETWORK" --at '#2' diagnose
}

@test "a silent peer and a bad path among others" {
	[ "$(found '#3' | sort)" = '["rdmap0s6","warning","packet-loss"]
["rdmap0s6","warning","path-impaired"]
["rdmap0s6","warning","peer-unresponsive"]' ]
}

@test "what was refused, and nothing of before" {
	[ "$(found '#4')" = '["rdmap0s6","warning","create-failures"]' ]
}

@test "one moment accuses nobody of what was counted before" {
	[ "$(found '#1')" = "" ]
}

@test "counters of port and device have common names" {
	golden network-stat --from "$NETWORK" --at '#1' stat
	eadm --from "$NETWORK" stat --original --json | grep -q keep_alive_rcvd
}

COMPLETIONS=$BATS_TEST_DIRNAME/../captures/completions.pcapng

@test "completions say why requests failed, of the newest ones and of QPs that go on" {
	[ "$(eadm --from "$COMPLETIONS" diagnose --json 2>/dev/null | jq -c '.rows[] | [.severity, .rule, .id]')" = '["critical","damaged-completion",14]
["critical","damaged-completion",18]
["critical","stray-completion",16]
["critical","peer-unreachable",9]
["warning","peer-vanished",11]
["warning","peer-vanished",13]
["warning","peer-not-ready",11]
["warning","failed-requests",11]
["warning","failed-requests",17]
["notice","cq-too-small",17]' ]
	golden completions --from "$COMPLETIONS" diagnose
	[ "$(eadm --from "$COMPLETIONS" --at '#1' diagnose --json 2>/dev/null | jq -c '[.rows[].rule]')" = '["cq-too-small"]' ]
}

@test "what is in an application's way: locked memory, huge pages, fork, memory of GPUs" {
	[ "$(eadm --from "${COMPLETIONS%/*}/setup.pcapng" check --json | jq -c '.rows[] | select(.check |
		test("^(memlock|huge-pages|fork|gpu-memory|limits)$")) | [.check, .result]')" = '["huge-pages","warn"]
["limits","unseen"]
["memlock","note"]
["fork","note"]
["gpu-memory","ok"]' ]
}
