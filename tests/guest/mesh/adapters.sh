# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # lib.sh and knobs.sh have the others
# "eadm test mesh" between virtual adapters of each family, one for each rank: ERDMA with connected
# queue pairs by rdma_cm, which both directions need, and EFA with SRD. Knobs of the adapters plant
# faults.
. tests/lib/knobs.sh
hosts=6
# Of a command, in both families.
CREATE_QP=1

device_of() {
	local address devices

	read -r address <"$config/$prefix$1/address"
	devices=("/sys/bus/pci/devices/$address/infiniband/"*)
	echo "${devices[0]##*/}"
}

# fault I KNOB FILE VALUE...: of the adapter of rank I
fault() {
	set_knob "$config/$prefix$1/fault/$2" "${@:3}"
}

# named FAULTS: those of the knobs that are set, and nothing else
named() {
	TIMEOUT=10s finds 1 "$1"
	set -- $?
	calm
	return "$1"
}

healthy() {
	check "$family: all hosts reach each other" finds 0 ""
	check "$family: each direction has its figures" all_rows ".mtu > 0"
}

# stalled WAY
stalled() {
	fault 2 qp_stall arg 0 count -1 && named "host node2 $1 lost"
}

# silent WAY
silent() {
	fault 3 peer_silent count -1 && named "host node3 $1 lost"
}

# not_ready WAY: messages find no receive
not_ready() {
	fault 4 rnr arg 60000 count -1 && named "host node4 $1 lost"
}

no_queue_pair() {
	fault 5 cmd_error target $CREATE_QP arg 1 count -1 && named "host node5 both adapter"
}

# each_fault WAY WAY WAY
each_fault() {
	check "$family: an adapter whose queue pairs send nothing" stalled "$1"
	check "$family: an adapter without acknowledgements" silent "$2"
	check "$family: an adapter that takes no message" not_ready "$3"
	check "$family: an adapter that cannot create queue pairs" no_queue_pair
	COUNT=10000 END=KILL check "$family: a host that dies costs only its rows" finds 1 "host node5 both died"
}

# ---- ERDMA

port_is_active() { # DEVICE
	rdma link show "$1/1" | grep -q "state ACTIVE"
}

# Afterwards, eth2 has no neighbours: rdma_cm must ask for them.
down() {
	ip link set eth2 down && named "host node2 both port"
	set -- $?
	ip link set eth2 up && until_true 60 port_is_active "$(device_of 2)" && return "$1"
}

lost_packets() {
	fault 1 link_down count -1 && named "host node1 both lost"
}

# The stream that a connection begins with is TCP, between two addresses of this machine.
refuse_stream() { # MATCH...
	tc qdisc replace dev lo clsact &&
		tc filter add dev lo ingress protocol ip flower ip_proto tcp "$@" action drop
}

no_stream() { # FAULT MATCH...
	refuse_stream "${@:2}" && named "$1"
	set -- $?
	tc qdisc delete dev lo clsact && return "$1"
}

three_of_erdma() {
	refuse_stream src_ip 10.77.0.1 dst_ip 10.77.3.1 && fault 2 qp_stall arg 0 count -1 &&
		fault 5 cmd_error target $CREATE_QP arg 1 count -1 && named "host node5 both adapter
host node2 both lost
pair node0 node3 both lost"
	set -- $?
	tc qdisc delete dev lo clsact && return "$1"
}

family=erdma prefix=v config=/sys/kernel/config/eadm_virt/erdma
healthy
each_fault both both both
check "$family: a port that is down" down
check "$family: an adapter that drops all messages" lost_packets
check "$family: a firewall between two hosts" no_stream "pair node1 node4 both lost" \
	src_ip 10.77.1.1 dst_ip 10.77.4.1
check "$family: a firewall of a host" no_stream "host node3 both lost" dst_ip 10.77.3.1
check "$family: three faults at once" three_of_erdma
options=(--ud)
check "$family: no adapter has UD queue pairs" finds 1 \
	"host node0, node1, node2, node3, node4, node5 both adapter"
options=()

# ---- EFA

three_of_efa() {
	fault 2 qp_stall arg 0 count -1 && fault 4 rnr count -1 &&
		fault 5 cmd_error target $CREATE_QP arg 1 count -1 && named "host node5 both adapter
host node2 out lost
host node4 in lost"
}

family=efa prefix=e config=/sys/kernel/config/eadm_virt/efa
healthy
each_fault out out in
check "$family: three faults at once" three_of_efa
options=(--ud)
family="$family with UD"
healthy
check "$family: three faults at once" three_of_efa
