# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2016,SC2086,SC2046 # of lib.sh; for eval; names without blanks
# What surrounds QPs: GIDs, the network interface, health reporters and counters of QPs, each beside what the tool of
# iproute2 for it shows. tests/guest/kmod/fakelink is an adapter that has them.
fake=/sys/module/fakelink/parameters

set_up_fake() {
	insmod "$EADM_FAKELINK_KO" && modprobe rdma_rxe && modprobe ib_uverbs &&
		ip address add 10.80.0.1/24 dev fake0 && ip link set fake0 up &&
		rdma link add fake type rxe netdev fake0 && chmod 666 /dev/infiniband/*
}
check "an adapter with all of it is set up" set_up_fake

# rows OBJECT JQ
rows() {
	eadm dump $1 -d fake --json | jq -c ".rows[] | $2"
}
gids() {
	diff <(rows gid '[.port, .gid_index, .gid, .type, .netdev]') <(rdma_gids) &&
		rows gid .gid | grep -q '"::ffff:10.80.0.1"'
}
# From sysfs, the other way round: netlink has none.
rdma_gids() {
	local i folder=/sys/class/infiniband/fake/ports/1
	for i in {0..1023}; do
		[ -e $folder/gids/$i ] && cat $folder/gid_attrs/types/$i >"$temp/type" 2>/dev/null || continue
		python3 -c 'import ipaddress, json, sys
print(json.dumps([1, int(sys.argv[1]), str(ipaddress.ip_address(sys.argv[2])) if not ipaddress.ip_address(sys.argv[2]).ipv4_mapped
	else "::ffff:" + str(ipaddress.ip_address(sys.argv[2]).ipv4_mapped), sys.argv[3], sys.argv[4]], separators=(",", ":")))' \
			$i "$(cat $folder/gids/$i)" "$(cat "$temp/type")" "$(cat $folder/gid_attrs/ndevs/$i)"
	done
}
check "GIDs, with protocol and interface" gids

echo 11 >$fake/rx_pauses
echo 12 >$fake/tx_pauses
echo 13 >$fake/rx_pfc
echo 15 >$fake/tx_pfc
link() {
	[ "$(rdma -j link show | jq length)" = "$(eadm dump link --json | jq '.rows | length')" ] &&
		same '["fake0",0,1,0,11,12,"3 5",14,15]' "$(rows link '[.netdev, .pause_auto, .pause_rx, .pause_tx, .rx_pauses,
			.tx_pauses, .pfc, .rx_pfc, .tx_pfc]')"
}
check "pause frames and priority flow control" link
ports() {
	same "$(rdma -j link show | jq -c '[.[] | [.ifname, .port, (.state | ascii_downcase), .netdev, .lid]]')" \
		"$(eadm dump port --json | jq -c '[.rows[] | [.dev_name, .port, .state, .netdev, .lid]]')"
}
check "ports, as rdma has them" ports
check "  nothing is missing in it" same "" "$(eadm dump link 2>&1 >/dev/null)"
check "  dcb shows the same" same '["3","5"] 14 15' "$(dcb -s -j pfc show dev fake0 | jq -r '"\(.prio_pfc | to_entries |
	map(select(.value).key | tostring) | tojson) \(.indications | add) \(.requests | add)"')"
counts() {
	same "$(ip -s -j link show dev fake0 | jq -c '.[0] | [.operstate | ascii_downcase] + (.stats64 | [.rx.errors, .rx.dropped, .tx.errors, .tx.dropped])')" \
		"$(rows link '[.state, .rx_errors, .rx_dropped, .tx_errors, .tx_dropped]')"
}
check "state, errors and drops, as ip has them" counts
roce() {
	mount -t configfs none /sys/kernel/config 2>/dev/null
	modprobe rdma_cm && same '[null,null]' "$(rows link '[.roce_mode, .tos]')" && mkdir /sys/kernel/config/rdma_cm/fake &&
		echo 'RoCE v2' >/sys/kernel/config/rdma_cm/fake/ports/1/default_roce_mode &&
		echo 106 >/sys/kernel/config/rdma_cm/fake/ports/1/default_roce_tos &&
		same '["RoCE v2",106]' "$(rows link '[.roce_mode, .tos]')"
}
check "RoCE mode and type of service, where configured" roce

health() { # STATE ERRORS RECOVERIES
	same "[\"fw\",\"$1\",$2,$3]" "$(rows health '[.reporter, .state, .errors, .recoveries]')" &&
		same "[\"$1\",$2,$3]" "$(devlink -j health show platform/fakelink.0 reporter fw |
			jq -c '.health[][] | [.state, .error, .recover]')"
}
check "a health reporter" health healthy 0 0
echo 1 >$fake/recovers
echo 1 >$fake/report
check "  with a fault from which it recovered" health healthy 1 1
echo 0 >$fake/recovers
echo 1 >$fake/report
check "  and one from which it did not" health error 2 1
check "  diagnose reports that one" verdict health-reporter "2 faults, 1 recovered"
echo 1 >$fake/recovers
check "  an administrator has it recovered" devlink health recover platform/fakelink.0 reporter fw
check "  then there is no verdict" no_verdict health-reporter
check "  a device without an adapter has none" eval \
	'rdma link add bare type rxe netdev lo && [ -z "$(eadm dump health -d bare --json | jq ".rows[]")" ]; rdma link delete bare'

# growing PARAMETER COMMAND...: it grows by thousands per second meanwhile.
growing() {
	local n=100 writer status
	while echo $((n += 10)) >"$fake/$1"; do :; done &
	writer=$!
	"${@:2}"
	status=$?
	kill $writer
	wait $writer 2>/dev/null
	return $status
}
for counter in rx_pauses rx_pfc; do
	check "diagnose: paused, by $counter" growing $counter verdict paused "pause frames were received within"
	check "  not once that is over" no_verdict paused
done
recorded() {
	rm -f "$temp/two.pcapng"
	growing rx_pauses eadm record "$temp/two.pcapng" -n 2
	eadm --from "$temp/two.pcapng" diagnose --json | jq -e '.rows[] | select(.rule == "paused")'
}
check "  also from a recording of two snapshots" recorded
check "diagnose: packets that the interface misses" growing rx_missed verdict link-errors "packets were lost at the network interface"
check "  not once that is over" no_verdict link-errors
echo fake >$fake/counters
echo 21 >$fake/lost
check "counters of QPs: none without a QP" same "" "$(rows qp-counter .name)"
check "QPs get counters by their type" rdma statistic qp set link fake/1 auto type on
stays "a QP connects" qp $src/scenes fake rc connected 1
counted() {
	local qpns
	qpns=$(rdma -j resource show qp link fake/1 | jq -c '[.[] | select(.type != "GSI" and .type != "SMI").lqpn] | sort')
	rows qp-counter . >&2
	rdma -j statistic qp show >&2
	same "$qpns" "$(rows qp-counter 'select(.name == "out_of_sequence") | .qpns' | jq -sc '[.[] | split(" ")[] | tonumber] | sort')" &&
		same "auto 21" "$(rows qp-counter 'select(.name == "out_of_sequence") | "\(.mode) \(.value)"' | head -1 | tr -d '"')"
}
check "counters of QPs: those of each QP" counted

# With the QPs that are still connected.
metrics() {
	eadm exporter --once --objects link,health,qp-counter >"$temp/metrics" || return
	grep -E '^eadm_(link|health|qp_counter)_' "$temp/metrics" | grep 'device="fake"' | tee "$temp/fake"
	grep -qE '^eadm_link_rx_pfc_total\{device="fake",netdev="fake0"\} [1-9]' "$temp/fake" &&
		grep -qE '^eadm_health_state\{device="fake",reporter="fw",.*state="healthy"\} 1' "$temp/fake" &&
		grep -qE '^eadm_qp_counter_value_total\{device="fake",port="1",qpns="[0-9 ]+",name="out_of_sequence",counter="[0-9]+"\} 21' "$temp/fake"
}
check "the exporter has them, if asked for" metrics
check "  but not otherwise" eval '! eadm exporter --once | grep -E "^eadm_(link|health|qp_counter)_"'
end qp
