#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests eadm in the guest with EFA adapters of the kernel's own driver, which does not support the
# companion module, and one ERDMA adapter: prints TAP lines. Requires adapters e0 and e1. Files for the
# host go to $VM_OUT. Usage: efa-eadm.sh MODULE
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
. tests/lib/tap.sh
. tests/guest/virt/efa-knobs.bash
. tests/guest/virt/efa-verdicts.bash
export PATH=$PWD/build/eadm:$PATH
module=$1
config=/sys/kernel/config/eadm_virt/efa
# shellcheck disable=SC2034 # for the tests of knobs
driver=/sys/bus/pci/drivers/efa
REG_MR=7
CREATE_CQ=9
user=(setpriv --reuid 1000 --clear-groups)
# shellcheck disable=SC2034 # for what is named
also=("${user[@]}")

# json EXPECTED FILTER COMMAND...: the rows of its JSON output, each passed through FILTER, match
json() {
	same "$1" "$("${@:3}" --json 2>"$VM_OUT/err" | jq -c ".rows[] | $2")" || { cat "$VM_OUT/err"; return 1; }
}

# ---- output

both_families() {
	json '["erdma_0","erdma","active",true]
["efa_0","efa","active",false]
["efa_1","efa","active",false]' '[.dev_name, .driver, .port_state, has("netdev")]' "$@" list
}

about() {
	json '["0x1d0f","0xefa1",61345,256,512,16384,1024,false]' \
		'[.vendor_id, .part_id, .hw_version, .max_qp, .max_cq, .max_mr, .max_ah, has("mac")]' eadm info -d efa_0
}

versions() {
	eadm ver >"$VM_OUT/ver" && grep -q '^module efa ' "$VM_OUT/ver" && grep -q '^module erdma ' "$VM_OUT/ver"
}

# Applicable checks are ok, inapplicable ones are omitted, and those that require our driver are
# unseen.
checked() {
	json '["affinity","unseen"]
["companion","note"]
["driver","note"]
["gid","ok"]
["in-use","ok"]
["iommu","ok"]
["limits","ok"]
["port","ok"]
["provider","ok"]
["uverbs","ok"]
["vectors","unseen"]' '[.check, .result]' sorted_checks efa_0 &&
		same '["address","ok"] ["netdev","ok"]' "$(eadm check --json | jq -c '.rows[] |
			select(.dev_name == "erdma_0" and (.check | test("^(address|netdev)$"))) |
			[.check, .result]' | sort | tr '\n' ' ' | sed 's/ $//')"
}

sorted_checks() { # DEVICE
	eadm check --json | jq -c --arg dev "$1" '.rows |= (map(select(.dev_name == $dev)) | sort_by(.check))'
}

# Counters of the port from netlink and counters of the device from sysfs have uniform names.
counted() {
	srd -n 300 efa_0 efa_1 && "$@" stat -d efa_0 &&
		json "[true,true,true,true,true,0]" '[.tx_packets % 300 == 0 and .tx_packets > 0,
			.tx_bytes == 4096 * .tx_packets, .send_requests == .tx_packets,
			.keep_alive_events > 0, .cmds_submitted == .cmds_completed, .cmds_timed_out]' \
			"$@" dump counters -d efa_0
}

original_names() {
	eadm stat -d efa_0 --original 2>/dev/null | grep -q keep_alive_rcvd
}

# With traffic, eadm shows objects and their owners, and has no verdicts.
in_use() {
	local pid status=0

	nice ib_send_bw -c SRD -s 4096 -F -x 0 -d efa_0 -D 30 >"$VM_OUT/server" 2>&1 &
	pid=$!
	until_true 30 eval '[ -n "$(ss -Hltn "sport = :18515")" ]' || return
	nice ib_send_bw -c SRD -s 4096 -F -x 0 -d efa_1 -D 30 localhost >"$VM_OUT/client" 2>&1 &
	until_true 30 moves || status=1
	for object in cq mr pd ctx; do
		json '["efa_0","ib_send_bw"]
["efa_1","ib_send_bw"]' '[.dev_name, .comm]' unique "$object" || status=1
	done
	nothing_wrong eadm && nothing_wrong "${user[@]}" eadm || status=1
	[ "$(sorted_checks efa_0 | jq -r '.rows[] | select(.check == "in-use").finding')" = "1 user context is open" ] || status=1
	# Rules that require our driver only cause a note: the bundle is complete.
	eadm bundle create -o "$VM_OUT/bundle.tar.zst" >"$VM_OUT/made" 2>&1 || status=1
	kill %?ib_send_bw "$pid" 2>/dev/null
	wait
	return $status
}

unique() { # OBJECT
	eadm dump "$1" --json | jq -c '.rows |= unique_by(.dev_name)'
}

moves() {
	eadm stat --live -d efa_1 -i 200ms -n 1 --json 2>/dev/null | grep -q '"tx_packets":[1-9]'
}

# The command fails and prints TEXT.
refused() { # TEXT COMMAND...
	local out

	out=$("${@:2}" 2>&1) && { echo "$out"; return 1; }
	echo "$out"
	grep -q "$1" <<<"$out"
}

scraped() {
	eadm exporter --once >"$VM_OUT/metrics" &&
		grep -q '^eadm_port_keep_alive_events_total{device="efa_1",port="1"} [1-9]' "$VM_OUT/metrics" &&
		grep -q '^eadm_dev_info{device="efa_0",.*driver="efa"' "$VM_OUT/metrics" &&
		grep -q '^eadm_cmdq_submitted_total{.*device="erdma_0"' "$VM_OUT/metrics" &&
		! grep '_collector_success{.*} 0$' "$VM_OUT/metrics"
}

# A capture and a bundle of both families show the same as the machine.
offline() {
	local command

	eadm record -n 2 -i 100ms "$VM_OUT/mixed.pcapng" || return
	for command in list info "stat -d efa_0 --original" "dump mr" check diagnose; do
		# shellcheck disable=SC2086
		eadm --save "$VM_OUT/saved" $command >"$VM_OUT/live" 2>&1
		# shellcheck disable=SC2086
		eadm --from "$VM_OUT/saved" $command >"$VM_OUT/again" 2>&1
		diff -u "$VM_OUT/live" "$VM_OUT/again" || return
	done
	both_families eadm --from "$VM_OUT/mixed.pcapng"
}

bundled() {
	eadm bundle verify "$VM_OUT/bundle.tar.zst" && both_families eadm --from "$VM_OUT/bundle.tar.zst" &&
		json '["efa_0","ib_send_bw"]
["efa_1","ib_send_bw"]' '[.dev_name, .comm]' eadm --from "$VM_OUT/bundle.tar.zst" dump ctx
}

# ---- verdicts

# Faults that are not visible with this driver must not cause verdicts.
unseen() {
	local knob

	record before || return
	for knob; do
		"test_$knob" || { echo "$knob"; return 1; }
		calm
	done
	same "" "$(verdicts)"
}

strike_ah() { # KNOB [SETTING...]
	fault "e0/$1" "${@:2}" count 1
	srd -n 1 "$(device e0)" "$(device e1)" >"$VM_OUT/srd" 2>&1
	struck "e0/$1"
}

# Sends datagrams to e0 without a posted receive.
drop_datagrams() {
	fault e0/rnr count -1
	srd -o ud -n 32 "$(device e1)" "$(device e0)" >"$VM_OUT/srd" 2>&1
	struck e0/rnr
}

# Injects a fault into messages from e0, which may fail.
strike_messages() { # KNOB SETTING... -- OPTION...
	local settings=()

	while [ "$1" != -- ]; do
		settings+=("$1")
		shift
	done
	fault "${settings[@]}"
	srd "${@:2}" "$(device e0)" "$(device e1)" >"$VM_OUT/srd" 2>&1
	struck "${settings[0]}"
}

# Injects a fault into reads of a process whose earlier reads have succeeded.
end_reads() {
	local pid status=0

	srd -u -p 20 -o read -t 600000 "$(device e0)" "$(device e1)" >"$VM_OUT/srd" 2>&1 &
	pid=$!
	until_true 20 grep -qs begun "$VM_OUT/srd" && fault e0/peer_silent count -1 &&
		until_true 20 struck e0/peer_silent || status=1
	kill "$pid"
	wait "$pid" 2>/dev/null
	return $status
}

checks() { # CHECK RESULT COMMAND...
	"${@:3}" eadm check --json 2>/dev/null |
		jq -e --arg check "$1" --arg result "$2" '.rows | any(.check == $check and .result == $result)'
}

# The first sample is taken after the fault is injected: this driver counts keep-alives without the time of
# the last one, so one between a sample and the fault would count as received after the fault.
silent() {
	fault e0/keep_alive_lost count -1 && until_true 20 struck e0/keep_alive_lost &&
		record before && until_true 20 sees "$(device e0)" keep-alive-lost "no keep-alive"
}

wrap() {
	fault e0/counters_wrap arg 100 count 1
	until_true 20 struck e0/counters_wrap && traffic "0:4 received 4 data" -n 4
}

lose_command() { # KNOB [SETTING...]
	fault "e0/$1" "${@:2}"
	fails stats && struck "e0/$1"
}

vanish() {
	fault e0/dev_gone arg 3000 count 1
	until_true 20 grep -qx gone "$config/e0/state" && fails stats
}

# lost STRIKE...: the driver gives up, as root and an unprivileged user both see; then it is bound again.
lost() {
	named adapter-given-up "no longer responds" "$@" &&
		same adapter-given-up "$("${user[@]}" eadm diagnose -d "$(device e0)" --json 2>/dev/null | jq -r '.rows[].rule')" &&
		calm && until_true 30 grep -qE 'powered|running' "$config/e0/state" && again
}

check "adapters get a short command timeout" quicken
check "probe" insmod "$module"
check "all ports are active" until_true 30 active 3
check "list: both families" both_families eadm
check "list: as a user" both_families "${user[@]}" eadm
check "info: names and limits, without a network interface" about
check "ver" versions
check "check: applicable checks are ok, others are omitted" checked
check "stat: counters of port and device" counted eadm
check "stat: as a user" counted "${user[@]}" eadm
check "stat: the driver's names" original_names
check "diagnose: there are no verdicts" nothing_wrong eadm -v
check "with traffic, objects and owners are shown without verdicts" in_use
check "trace: requires our driver" refused "does not support" eadm trace -d efa_0
check "exporter: both families" scraped
check "captures show the same as the machine" offline
check "a bundle of both families" bundled
check "the ERDMA module is removed" rmmod erdma
check "ah_full" named create-failures "1 AH could not be created" strike_ah ah_full
# shellcheck disable=SC2153 # of efa-knobs.bash
check "cmd_error of an AH" named create-failures "1 AH could not be created" strike_ah cmd_error target "$CREATE_AH" arg 7
check "cmd_error of an MR" named create-failures "1 MR could not be registered" strike_ah cmd_error target "$REG_MR" arg 1
check "cmd_error of a CQ" named create-failures "1 CQ could not be created" strike_ah cmd_error target "$CREATE_CQ" arg 1
check "peer_silent with reads" named rdma-errors "RDMA reads" strike_messages e0/peer_silent count -1 -- -o read -n 4
calm
check "peer_silent with reads after responses" named rdma-errors "RDMA reads" end_reads
calm
check "rnr with datagrams" named receive-drops "received packets were dropped" drop_datagrams
calm
check "memlock does not apply to root" checks memlock ok prlimit --memlock=65536:65536
check "memlock, as a user" checks memlock note "${user[@]}" prlimit --memlock=65536:65536
check "check: huge pages, fork, as a user" eval 'checks huge-pages ok "${user[@]}" && checks fork ok "${user[@]}"'
check "keep_alive_lost" silent
calm
check "counters_wrap" named counters-restarted "counters decreased" wrap
check "no verdict on faults of completions" unseen cq_overrun cqe_lost cqe_status cqe_opcode cqe_qpn cqe_phase eqe_lost eqe_duplicate
check "no verdict on faults of queues" unseen sq_db_lost rq_db_lost qp_stall wr_error wr_slow dma_fault rnr
check "no verdict on transient faults" unseen cmd_delay cmd_slow cmd_duplicate aenq_event irq_spurious stall
if [ ! -e "/sys/class/infiniband/$(device e0)/ports/1/hw_counters/retrans_bytes" ]; then
	check "no verdict on peers and paths, for which this driver has no counters" unseen peer_silent retransmit impaired
fi
check "cmd_drop" lost lose_command cmd_drop target "$GET_STATS" count 1
check "irq_lost" lost lose_command irq_lost target 0 count -1
check "dev_gone" lost vanish
check "diagnose: there are no verdicts afterwards" nothing_wrong eadm
check "removal" rmmod efa
check "check: reports that there is no device" refused "no RDMA device" eadm check
tap_end
