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
	SIZE=4096 run_mesh 0 --json --bandwidth --rails &&
		jq -e '[.rows[] | select(.rate > 0)] | length == 42 and (map(.rate) | max > 1000000)' "$work/said"
}
check "and its bandwidth, if that is requested" bandwidth
for_people() {
	run_mesh 0 && grep -qx 'node6         6 \. \. \. \. \. \.  ' "$work/said"
}
check "a matrix shows who reaches whom" for_people

check "a firewall in one direction" one_way
two_one_way() {
	block 3 in "${roce[@]}" && block 4 in "${roce[@]}" && finds 1 "host node3, node4 in lost"
	set -- $?
	unblock 3 4 && return "$1"
}
[ "${EADM_TESTS-}" != full ] || check "a firewall in one direction, of two hosts" two_one_way
check "a port that is down" down
check "a path whose MTU is too small" path_mtu
small() {
	ip link set h5 mtu 600 && finds 7 "mtu node5 both mtu"
	set -- $?
	ip link set h5 mtu 1500 && return "$1"
}
check "an adapter whose MTU is smaller than that of the others" small
check "a neighbour that does not answer" no_neighbour
pair_one_way() {
	block 6 in "${roce[@]}" src_ip 10.8.0.2 && finds 1 "pair node1 node6 out lost"
	set -- $?
	unblock 6 && return "$1"
}
check "one direction of a pair" pair_one_way
check "two groups without a path" groups
check "three faults at once" three
options=(--ud)
TIMEOUT=10s
check "UD: all hosts reach each other" finds 0 ""
check "UD: each direction has its figures" all_rows ".mtu == 1024"
duplicates() {
	tc qdisc replace dev h5 root netem duplicate 100% && finds 0 "" && ip link set p5 mtu 700 &&
		finds 1 "host node5 both mtu"
	set -- $?
	ip link set p5 mtu 1500 && tc qdisc delete dev h5 root && return "$1"
}
if [ "${EADM_TESTS-}" = full ]; then
	check "UD: a firewall in one direction" one_way
	check "UD: a path whose MTU is too small" path_mtu
	check "UD: a neighbour that does not answer" no_neighbour
	check "UD: a host whose packets are duplicated, with and without a smaller MTU" duplicates
fi
check "UD: three faults at once" three
options=()
unset TIMEOUT
absent() {
	hosts=5 RANKS=6 WAIT=30s finds 1 "host rank 5 both absent"
}
check "a host that does not join" absent
COUNT=10000 END=KILL check "a host that dies costs only its rows" finds 1 "host node5 both died"
COUNT=10000 END=STOP TIMEOUT=8s check "as does one that hangs" finds 1 "host node5 both hung"
check "the rows follow the schema" by_schema
