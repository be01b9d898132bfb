# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # for the parts; they set hosts
# Devices of rdma_rxe, which a bridge connects, one for each of $hosts ranks. All are in one
# network namespace, as rdma_rxe needs it: rules send packets between local addresses by the bridge.
mesh=mesh0

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

	modprobe rdma_rxe || return
	ip link add $mesh type bridge && ip link set $mesh up && sysctl -qw net.ipv4.conf.all.rp_filter=0 || return
	# One machine has the neighbours of all hosts.
	sysctl -qw net.ipv4.neigh.default.gc_thresh{1,2,3}=16384 || return
	ip rule add pref 20 iif lo to 10.8.0.0/24 lookup 100 && ip rule add pref 32000 lookup local &&
		ip rule del pref 0 || return
	for ((i = 0; i < hosts; i++)); do
		add_host "$i" || return
	done
	until_true 60 has_gids
}

has_gids() {
	[ "$(grep -l "ffff:0a08:" /sys/class/infiniband/m*/ports/1/gids/[0-9] | wc -l)" -ge "$hosts" ]
}

device_of() {
	echo "m$1"
}

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

# ---- planted faults: exactly these are found --------------------------------------------

one_way() {
	block 3 in "${roce[@]}" && finds 1 "host node3 in lost"
	set -- $?
	unblock 3 && return "$1"
}

down() {
	ip link set h2 down && finds 1 "host node2 both port"
	set -- $?
	ip link set h2 up && ip route add 10.8.0.0/24 dev h2 table 100 metric 3 && until_true 60 has_gids && return "$1"
}

path_mtu() {
	ip link set p5 mtu 700 && finds 1 "host node5 both mtu"
	set -- $?
	ip link set p5 mtu 1500 && return "$1"
}

# Requests of node6 would also give node1 its address.
no_neighbour() {
	block 1 out arp arp_tip 10.8.0.7 && block 1 in arp arp_sip 10.8.0.7 && ip neighbour flush dev h1 && finds 1 "pair node1 node6 both neighbour"
	set -- $?
	unblock 1 && return "$1"
}

# names FIRST END: "node0, node1"
names() {
	seq -s ", " -f "node%g" "$1" $(($2 - 1))
}

# One or two hosts are in neither group.
groups() {
	local half=$(((hosts - 1) / 2)) i j

	# In one process: for 64 hosts, there are 1,922 filters.
	for ((i = 0; i < 2 * half; i++)); do
		echo "qdisc replace dev p$i clsact"
		for ((j = i < half ? half : 0; j < (i < half ? 2 * half : half); j++)); do
			echo "filter add dev p$i egress protocol ip flower ${roce[*]:1} src_ip 10.8.0.$((j + 1)) action drop"
		done
	done >"$work/rules"
	tc -batch "$work/rules" && finds 1 "groups $(names 0 $half) $(names $half $((2 * half))) both lost"
	set -- $?
	unblock $(seq 0 $((2 * half - 1))) && return "$1"
}

three() {
	block 3 in "${roce[@]}" && ip link set p5 mtu 700 && block 6 in "${roce[@]}" src_ip 10.8.0.2 &&
		finds 1 "host node3 in lost
host node5 both mtu
pair node1 node6 out lost"
	set -- $?
	unblock 3 6 && ip link set p5 mtu 1500 && return "$1"
}
