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
