# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets $work
# "eadm test mesh" on devices of rdma_rxe, which a bridge connects: one for each rank. All are in one
# network namespace, as rdma_rxe needs it: rules send packets between local addresses by the bridge.
mesh=mesh0
hosts=7
export EADM_MESH_SECRET=0123456789abcdef EADM_MESH_RENDEZVOUS=127.0.0.1

# add_host I: interface hI with its port pI of the bridge, address, device mI
add_host() {
	ip link add "h$1" type veth peer name "p$1" && ip link set "p$1" master $mesh && ip link set "p$1" up &&
		sysctl -qw "net.ipv4.conf.h$1.rp_filter=0" "net.ipv4.conf.h$1.accept_local=1" \
			"net.ipv4.conf.h$1.arp_ignore=1" "net.ipv4.conf.h$1.arp_announce=2" &&
		ip address add "10.8.0.$(($1 + 1))/24" dev "h$1" && ip link set "h$1" up &&
		ip rule add pref 10 iif "h$1" lookup local &&
		ip route add 10.8.0.0/24 dev "h$1" table 100 metric $(($1 + 1)) &&
		rdma link add "m$1" type rxe netdev "h$1"
}

set_up_mesh() {
	local i

	ip link add $mesh type bridge && ip link set $mesh up && sysctl -qw net.ipv4.conf.all.rp_filter=0 || return
	ip rule add pref 20 iif lo to 10.8.0.0/24 lookup 100 && ip rule add pref 32000 lookup local &&
		ip rule del pref 0 || return
	for ((i = 0; i < hosts; i++)); do
		add_host "$i" || return
	done
	until_true 60 has_gids
}

has_gids() {
	[ "$(grep -l "ffff:0a08:" /sys/class/infiniband/m*/ports/1/gids/* | wc -l)" -ge $hosts ]
}

# rank I COMMAND...: as a host with a separate name and one adapter
rank() {
	local i=$1
	shift
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare --uts sh -c 'hostname "node$1"; i=$1; shift; exec "$@" --rank "$i" --device "m$i"' sh "$i" "$@"
}

tests_run() {
	rdma resource show qp link m5 | grep -q "comm eadm"
}

# run_mesh STATUS ARGUMENTS...: results in $work/said, notes in $work/notes. RANKS is another number
# than that of the hosts that join; END is a signal that rank 5 gets when it tests.
run_mesh() {
	local want=$1 i status pids=() all
	shift

	all=(eadm test mesh --ranks "${RANKS-$hosts}" --timeout "${TIMEOUT-20s}" -n "${COUNT-20}" --wait "${WAIT-120s}")
	for ((i = 1; i < hosts; i++)); do
		rank "$i" "${all[@]}" >"$work/rank.$i" 2>&1 </dev/null &
		pids+=($!)
	done
	[ -z "${END-}" ] || { until_true 120 tests_run && kill -"$END" "${pids[4]}"; } &
	(rank 0 "${all[@]}" "$@") >"$work/said" 2>"$work/notes" </dev/null
	status=$?
	[ -z "${END-}" ] || kill -KILL "${pids[4]}"
	wait "${pids[@]}"
	cat "$work/said" "$work/notes" "$work"/rank.*
	echo "status $status"
	[ "$status" = "$want" ]
}

# faults: "host node3 both lost", one in each line
faults() {
	jq -r '.rows[] | select(.fault) | [.fault, .hosts, .peers, .way, .cause] | map(select(. != null)) | join(" ")' \
		"$work/said"
}

# finds STATUS FAULTS: these and nothing else
finds() {
	run_mesh "$1" --json && same "$2" "$(faults)"
}

check "a mesh of devices is set up" set_up_mesh
check "all hosts reach each other" finds 0 ""
all_rows() {
	jq -e --argjson n $((hosts * (hosts - 1))) '[.rows[] | select(.result == "ok" and .p50 > 0 and .min <= .p50 and
		.p50 <= .p99 and .mtu == 1024)] | length == $n' "$work/said"
}
check "each direction has its figures" all_rows
bandwidth() {
	run_mesh 0 --json --bandwidth --rails -s 4096 &&
		jq -e '[.rows[] | select(.rate > 1000000)] | length == 42' "$work/said"
}
check "and its bandwidth, if that is requested" bandwidth
for_people() {
	run_mesh 0 && grep -qx 'node6         6 \. \. \. \. \. \.  ' "$work/said"
}
check "a matrix shows who reaches whom" for_people

# block I in|out PROTOCOL MATCH...: packets to or from a host, in the bridge
block() {
	local i=$1 way=$2 protocol=$3
	shift 3

	tc qdisc replace dev "p$i" clsact &&
		tc filter add dev "p$i" "$([ "$way" = in ] && echo egress || echo ingress)" protocol "$protocol" \
			flower "$@" action drop
}

unblock() {
	local i

	for i; do
		tc qdisc delete dev "p$i" clsact || return
	done
}

roce=(ip ip_proto udp dst_port 4791)

one_way() {
	block 3 in "${roce[@]}" && finds 1 "host node3 in lost"
	set -- $?
	unblock 3 && return "$1"
}
check "a firewall in one direction" one_way
two_one_way() {
	block 3 in "${roce[@]}" && block 4 in "${roce[@]}" && finds 1 "host node3, node4 in lost"
	set -- $?
	unblock 3 4 && return "$1"
}
check "a firewall in one direction, of two hosts" two_one_way
down() {
	ip link set h2 down && finds 1 "$1"
	set -- $?
	ip link set h2 up && ip route add 10.8.0.0/24 dev h2 table 100 metric 3 && until_true 60 has_gids && return "$1"
}
check "a port that is down" down "host node2 both port"
mtu() {
	ip link set p5 mtu 700 && finds 1 "host node5 both mtu"
	set -- $?
	ip link set p5 mtu 1500 && return "$1"
}
check "a path whose MTU is too small" mtu
small() {
	ip link set h5 mtu 600 && finds 7 "mtu node5 both mtu"
	set -- $?
	ip link set h5 mtu 1500 && return "$1"
}
check "an adapter whose MTU is smaller than that of the others" small
no_neighbour() {
	block 1 out arp arp_tip 10.8.0.7 && ip neighbour flush dev h1 && finds 1 "pair node1 node6 both neighbour"
	set -- $?
	unblock 1 && return "$1"
}
check "a neighbour that does not answer" no_neighbour
pair_one_way() {
	block 6 in "${roce[@]}" src_ip 10.8.0.2 && finds 1 "pair node1 node6 out lost"
	set -- $?
	unblock 6 && return "$1"
}
check "one direction of a pair" pair_one_way
groups() {
	local i j

	for i in 0 1 2; do
		for j in 3 4 5; do
			block $i in "${roce[@]}" src_ip 10.8.0.$((j + 1)) && block $j in "${roce[@]}" src_ip 10.8.0.$((i + 1)) ||
				return
		done
	done
	finds 1 "groups node0, node1, node2 node3, node4, node5 both lost"
	set -- $?
	unblock 0 1 2 3 4 5 && return "$1"
}
check "two groups without a path" groups
three() {
	block 3 in "${roce[@]}" && ip link set p5 mtu 700 && block 6 in "${roce[@]}" src_ip 10.8.0.2 &&
		finds 1 "host node3 in lost
host node5 both mtu
pair node1 node6 out lost"
	set -- $?
	unblock 3 6 && ip link set p5 mtu 1500 && return "$1"
}
check "three faults at once" three
absent() {
	hosts=5 RANKS=6 WAIT=30s finds 1 "host rank 5 both absent"
}
check "a host that does not join" absent
COUNT=10000 END=KILL check "a host that dies costs only its rows" finds 1 "host node5 both died"
COUNT=10000 END=STOP TIMEOUT=8s check "as does one that hangs" finds 1 "host node5 both hung"
by_schema() {
	eadm --schema >"$work/schema" && run_mesh 0 --json && python3 - "$work/schema" "$work/said" <<-'PY'
	import json, sys, jsonschema
	schema, said = (json.load(open(path)) for path in sys.argv[1:])
	jsonschema.validate(said, schema)
	PY
}
check "the rows follow the schema" by_schema
