# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # for who sources it
# For scripts in a guest: two rdma_rxe devices with a wire between them, and eadm-pvrdma
# on the first one.
# shellcheck source=tests/interop/lib.sh
. "${BASH_SOURCE%/*}/../interop/lib.sh"

near=10.99.0.1
next=10.99.0.3
far=10.99.0.2
peer_port=18599
bin=build/tests/pvrdma

# Both ends are this machine's: what is for the other one must not take the short way.
wire() {
	local end table=101

	modprobe -a veth rdma_rxe ib_uverbs
	ip link add near type veth peer name far
	ip rule add pref 1000 lookup local
	ip rule del pref 0
	sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.all.accept_local=1
	for end in near far; do
		sysctl -qw net.ipv4.conf.$end.rp_filter=0 net.ipv4.conf.$end.accept_local=1
		ip addr add "${!end}/24" dev $end noprefixroute
		ip link set $end mtu 4200 up
		ip rule add pref 10 oif $end lookup $table
		ip route add 10.99.0.0/24 dev $end src "${!end}" table $table
		table=$((table + 1))
	done
	ip route add 10.99.0.0/24 dev near src $near
	# From the near end to itself.
	ip addr add $next/24 dev near noprefixroute
	ip route add local $near dev near table 101
	ip route add local $next dev near table 101
	ip neigh add $far lladdr "$(cat /sys/class/net/far/address)" dev near
	ip neigh add $near lladdr "$(cat /sys/class/net/near/address)" dev far
	rdma link add rxe_near type rxe netdev near
	rdma link add rxe_far type rxe netdev far
	until_true 20 eval 'gid_of rxe_near && gid_of rxe_far' >/dev/null
}

# After the far end was down.
mend_wire() {
	ip link set far up
	ip route replace 10.99.0.0/24 dev far src $far table 102
	ip neigh replace $near lladdr "$(cat /sys/class/net/near/address)" dev far
	until_true 20 eval 'gid_of rxe_near && gid_of rxe_far' >/dev/null
}

# gid_of DEVICE: the index of its IPv4 address
gid_of() {
	local file

	for file in "/sys/class/infiniband/$1"/ports/1/gids/*; do
		grep -q '^0000:0000:0000:0000:0000:ffff:' "$file" && basename "$file" && return
	done
	return 1
}

# serve OPTION...: the program, with two adapters
serve() {
	: >"$work/server"
	build/pvrdma/eadm-pvrdma --mtu 4096 --backend verbs:rxe_near "$@" "$work/sock" "$work/sock2" \
		2>"$work/server" &
	program=$!
	until_true 30 grep -q 'listening on' "$work/server"
}

serve_peer() {
	"$bin/verbs-peer" rxe_far "$(gid_of rxe_far)" $peer_port 2>"$work/peer" &
	peer=$!
	until_true 30 eval "ss -Hltn 'sport = :$peer_port' | grep -q ."
}

# Of RoCE, that came over the wire.
packets() { # NETDEV rx|tx
	cat "/sys/class/net/$1/statistics/${2}_packets"
}

# tap_of NAME COMMAND...: its results among the others
tap_of() {
	local name=$1 line

	shift
	while read -r line; do
		case $line in
		"ok "*) result 0 "$name: ${line#ok *- }" ;;
		"not ok "*) result 1 "$name: ${line#not ok *- }" ;;
		1..*) ;;
		*) echo "# $line" ;;
		esac
	done < <("$@" 2>&1 || echo "not ok - ends well")
}
