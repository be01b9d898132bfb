# SPDX-License-Identifier: GPL-2.0-or-later
# The tool with an invented family beside the real ones, on a capture of one adapter of it and one
# of ERDMA.
load ../../cli/common

setup_file() {
	export BOTH=$BATS_FILE_TMPDIR/both.pcapng
	"$BATS_TEST_DIRNAME/scenes.py" "$BOTH"
}

# shows EXPECTED FILTER ARGUMENTS...: rows of JSON; those of an adapter have its name in ARGUMENTS.
shows() {
	local expected=$1 filter=$2
	shift 2

	diff <(printf '%s\n' "$expected") <(eadm --from "$BOTH" "$@" --json | jq -c ".rows[] | $filter")
}

# prints EXPECTED ARGUMENTS...: a table.
prints() {
	local expected=$1
	shift

	diff <(printf '%s\n' "$expected") <(eadm --from "$BOTH" "$@" 2>&1)
}

@test "it is listed beside ERDMA, without a network interface" {
	shows '["cloud_0","erdma","eth0"]
["inv_0","invented",null]' '[.dev_name, .driver, .netdev]' list
}

@test "its own fields have columns, units and names of values" {
	prints 'DEVICE QPN TYPE   STATE HWSQPI ORDER     HWPATHS
inv_0    0 driver rts      599 ordered        40
inv_0    1 driver rts      599 scattered      41' dump qp --hw -d inv_0
	prints 'DEVICE EQ ROLE  DEPTH CI    MOD
inv_0   0 async   300  2 64.0us' dump eq -d inv_0
	prints 'QPN ORDER     HWPATHS
  0 ordered        40
  1 scattered      41' dump qp --hw -d inv_0 -o qpn,order,hw-paths --sort hw-paths
	eadm --from "$BOTH" dump qp -o help | grep -q '^hw-paths  *Paths in use. \[paths\]$'
	[ "$(eadm __complete dump qp -o hw-pa)" = hw-paths ]
	# The other adapter has neither its fields nor their columns.
	[[ $(eadm --from "$BOTH" dump qp -d cloud_0 --hw) != *ORDER* ]]
	shows '[null,null]' '[.order, .hw_paths]' dump qp -d cloud_0 --hw
	shows '["ordered",null]
["scattered",null]' '[.order, .hw_paths]' dump qp -d inv_0
}

@test "completions by its numbers, which mean something else for ERDMA" {
	shows '[0,"done",1,"send","sq","none",0,0,4096]
[1,"posted",1,"write","sq","retries-exceeded",15,1,4096]
[2,"posted",1,"receive","rq","none",0,2,4096]' \
		'[.index, .state, .phase, .op, .queue, .status, .syndrome_raw, .wqe_index, .length]' dump cqe 0 -d inv_0
}

@test "the other part of a CQ, around the end of a lap of 300" {
	shows '["inv_0",300,2]' '[.dev_name, .depth, .subs]' dump cq -d inv_0
	shows '[295,1,"done",1295]
[296,1,"done",1296]
[297,1,"posted",1297]
[298,1,"posted",1298]
[299,1,"posted",1299]' '[.index, .phase, .state, .wqe_index]' dump cqe 0 -d inv_0 --sub 1 --range 295..299
	shows '[2,0,"posted",1002]
[3,0,"posted",1003]
[4,1,"done",1004]' '[.index, .phase, .state, .wqe_index]' dump cqe 0 -d inv_0 --sub 1 --range 2..4
	# Nearby entries, up to the end of the ring.
	[ "$(eadm --from "$BOTH" dump cqe 0 -d inv_0 --sub 1 --around ci --json |
		jq -c '[.rows[].index] | [first, last]')" = '[289,299]' ]
	fails 2 "eadm: dump: completion queue entries: the queue has entries 0 to 299" \
		--from "$BOTH" dump cqe 0 -d inv_0 --sub 1 --range 299..300
	fails 3 "eadm: dump: completion queue entries: not in the capture" \
		--from "$BOTH" dump cqe 0 -d inv_0 --sub 2
}

@test "receives whose indices count laps, with bits of whole words" {
	shows '[0,null,"posted","0x8000000000001000",2147483712]
[1,["sw-pi"],"empty",null,null]
[299,["hw-ci"],"posted","0x800000000000112b",2147483712]' \
		'[.index, .mark, .state, .addr, .length]' dump rqe 0 -d inv_0 --hw
}

@test "events, and a context of 640 bytes" {
	shows '[0,"qp-fatal","0x3","done"]
[1,"cq-error","0x1","done"]
[2,"qp-fatal","0x3","posted"]' '[.index, .async, .async_raw, .state]' dump eqe 0 -d inv_0
	shows '["0x0","qpn","1"]
["0x4","paths","41"]
["0x270","sprayed","0x123456789a"]
["0x278","last","640"]' '[.offset, .name, .text]' dump hwctx qp 1 -d inv_0
}

@test "a send queue in adapter memory and connections are refused" {
	fails 5 "eadm: dump: send queue entries: inv_0: its entries are in adapter memory, which cannot be read" \
		--from "$BOTH" dump sqe 0 -d inv_0
	fails 5 "eadm: dump: inv_0: rdma_cm does not support invented adapters" \
		--from "$BOTH" dump cep -d inv_0
	# Registers and other contexts are not described.
	fails 5 "eadm: dump: registers: inv_0: unknown entry format" \
		--from "$BOTH" dump regs -d inv_0
}

@test "a lost command is reported for its adapter only" {
	shows '["create-qp","0x8"]
["reg-mr","0x1"]' '[.op, .op_raw]' dump cmd -d inv_0
	run --separate-stderr eadm --from "$BOTH" diagnose --json
	[ "$(jq -c '.rows[] | [.dev_name, .rule]' <<<"$output")" = '["inv_0","command-lost"]' ]
}

@test "interfaces are checked where there is one" {
	run --separate-stderr eadm --from "$BOTH" check --json
	[ "$(jq -c '[.rows[] | select(.dev_name == "inv_0").check]' <<<"$output")" = '["driver","port"]' ]
	[ "$(jq -c '[.rows[] | select(.dev_name == "cloud_0").check] | contains(["mtu", "netdev"])' <<<"$output")" = true ]
}

@test "the exporter has its metrics" {
	local out
	out=$(eadm --from "$BOTH" exporter --once)
	grep -q '^eadm_dev_info{device="inv_0",family="invented",driver="invented"} 1$' <<<"$out"
	grep -q '^eadm_cmdq_timeouts_total{.*device="inv_0".*} 1$' <<<"$out"
	grep -q '^eadm_cmdq_timeouts_total{.*device="cloud_0".*} 0$' <<<"$out"
}

@test "a diff of captures compares its own fields" {
	"$BATS_TEST_DIRNAME/scenes.py" "$BATS_TEST_TMPDIR/later.pcapng" ordered
	[ "$(eadm diff "$BOTH" "$BATS_TEST_TMPDIR/later.pcapng" qp --json |
		jq -c '.rows[] | [.id, .field, .before, .after]')" = '[1,"order","scattered","ordered"]' ]
}

@test "ERDMA's queues are shown as without it" {
	for entries in "sqe 18" "cqe 5" cqe "eqe 2" cmde "hwctx qp 18" regs; do
		# shellcheck disable=SC2086
		diff <("$BUILD/../../eadm/eadm" --from "$REPO/tests/family/erdma/captures/rings.pcapng" dump $entries --json) \
			<(eadm --from "$REPO/tests/family/erdma/captures/rings.pcapng" dump $entries --json)
	done
}
