# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Only the network namespace of an adapter's interface chooses the addresses of its connections. Kernels
# before 6.6 leave this to the driver.
pod="ip netns exec pod"

# A namespace with an address on an interface that has the adapter's MAC address.
look_alike() {
	ip netns add pod && ip -n pod link set lo up &&
		ip -n pod link add d0 address "$(cat /sys/class/net/eth0/address)" type dummy &&
		ip -n pod address add 192.0.2.1/24 dev d0 && ip -n pod link set d0 up
}

refused() { # HOW
	same "No such device" "$($pod "$programs/takeqp" "$1" 192.0.2.1 192.0.2.1 erdma_0)"
}

# takes_along COMMAND...: while the interface is in the namespace
takes_along() {
	local status=0

	ip link set eth1 netns pod && ip -n pod link set eth1 up &&
		ip -n pod address add 10.77.1.1/24 dev eth1 && "$@" || status=1
	$pod ip link set eth1 netns 1 && ip link set eth1 up && ip address add 10.77.1.1/24 dev eth1 &&
		return $status
}

uses_interface() {
	until_true 10 port_is_up && $pod "$programs/conns" again 10.77.1.1 10.77.1.1 3
}

port_is_up() {
	rdma link show erdma_1/1 | grep -q "state ACTIVE"
}

chmod 666 /dev/infiniband/uverbs* /dev/infiniband/rdma_cm
check "a namespace with the MAC address of an adapter" look_alike
check "it cannot listen on its addresses" refused accept
check "it cannot connect from its addresses" refused connect
check "it can once it has the interface" takes_along uses_interface
ip netns delete pod
check "the host can again" until_true 20 "$programs/conns" again 10.77.1.1 10.77.0.1 3
check "nothing is left over" until_true 10 nothing_left
