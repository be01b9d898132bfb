# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # lib.sh and rxe-lib.sh set them
# "eadm test mesh" on seven devices of rdma_rxe: planted faults.
# shellcheck source=tests/guest/mesh/rxe-lib.sh
. "$here/rxe-lib.sh"
hosts=7

check "a mesh of devices is set up" set_up_mesh
check "all hosts reach each other" finds 0 ""
check "each direction has its figures" all_rows ".mtu == 1024"
bandwidth() {
	run_mesh 0 --json --bandwidth --rails -s 4096 &&
		jq -e '[.rows[] | select(.rate > 1000000)] | length == 42' "$work/said"
}
check "and its bandwidth, if that is requested" bandwidth
for_people() {
	run_mesh 0 && grep -qx 'node6         6 \. \. \. \. \. \.  ' "$work/said"
}
check "a matrix shows who reaches whom" for_people

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
check "the rows follow the schema" by_schema
