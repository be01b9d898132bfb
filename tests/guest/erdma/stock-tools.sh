# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# The adapters as the stock tools show them.
ports() {
	ibv_devinfo -v >/tmp/info && cat /tmp/info &&
		[ "$(grep -c 'state:.*PORT_ACTIVE' /tmp/info)" = 2 ]
}

attributes() {
	local line

	for line in 'transport:.*iWARP' 'fw_ver:.*0\.2\.37' 'max_qp:.*32767' \
		'max_qp_wr:.*8192' 'atomic_cap:.*ATOMIC_GLOB' 'max_cqe:.*1048576' \
		'max_mr_size:.*0x10000000000' 'vendor_id:.*0x1ded'; do
		grep -q "$line" /tmp/info || { echo "no '$line'"; return 1; }
	done
}

# There is one vector for each CPU, and one for commands and asynchronous events.
interrupts() {
	local want=$(($(nproc) + 1))

	grep -o 'erdma-.*@pci:.*' /proc/interrupts
	[ "$(grep -c 'erdma-\(common\|ceq[0-9]*\)@pci:eda0:' /proc/interrupts)" = "$want" ]
}

counters() {
	same "tx_reqs_cnt tx_packets_cnt tx_bytes_cnt tx_disable_drop_cnt\
 tx_bps_limit_drop_cnt tx_pps_limit_drop_cnt rx_packets_cnt rx_bytes_cnt\
 rx_disable_drop_cnt rx_bps_limit_drop_cnt rx_pps_limit_drop_cnt" \
		"$(rdma statistic show link erdma_0/1 | grep -o '[a-z_]*_cnt' | xargs)"
}

port_is() {
	grep -q "$1" /sys/class/infiniband/erdma_1/ports/1/state
}

port_follows() {
	ip link set eth1 down && until_true 5 port_is DOWN &&
		ip link set eth1 up && until_true 5 port_is ACTIVE
}

# The driver sends the MTU to the adapter in a command.
more_commands() {
	[ "$(cat "$v0/commands")" -gt "$1" ]
}

mtu() {
	local before
	before=$(cat "$v0/commands")

	ip link set eth0 mtu 1400 && until_true 5 more_commands "$before" &&
		ip link set eth0 mtu 1500
}

# The device is removed with its network interface, even if a process uses it.
device_is() {
	if [ -e /sys/class/infiniband/erdma_1 ]; then
		[ "$1" = there ]
	else
		[ "$1" = gone ]
	fi
}

interface_leaves() {
	local bus=/sys/bus/virtio/drivers/virtio_net device
	device=$(basename "$(readlink -f /sys/class/net/eth1/device)")

	begin_async erdma_1 || return 1
	echo "$device" >$bus/unbind && until_true 10 device_is gone || return 1
	end_async
	async_said 1 'destroyed: 0 left' || return 1
	echo "$device" >$bus/bind && until_true 10 device_is there || return 1
	ip link set eth1 up && until_true 10 port_is ACTIVE
}

# The port works while its network interface is in another network namespace.
interface_moves() {
	ip netns add elsewhere && ip link set eth1 netns elsewhere || return 1
	ip netns exec elsewhere ip link set eth1 up && until_true 10 port_is ACTIVE &&
		"$programs/objs" -d erdma_1 states &&
		ip netns exec elsewhere ip link set eth1 netns 1 && ip link set eth1 up &&
		until_true 10 port_is ACTIVE && ip netns del elsewhere
}

# In exclusive mode, a device belongs to one network namespace.
device_moves() {
	# Refused while other network namespaces exist, which the kernel removes asynchronously.
	until_true 10 rdma system set netns exclusive && ip netns add elsewhere || return 1
	rdma dev set erdma_1 netns elsewhere && ! rdma dev show erdma_1 2>/dev/null &&
		ip netns exec elsewhere rdma dev show erdma_1 &&
		ip netns del elsewhere && until_true 10 rdma dev show erdma_1 &&
		until_true 10 rdma system set netns shared
}

check "two ports are active" ports
check "attributes are those of the adapter" attributes
check "interrupts have their expected names" interrupts
check "rdma statistic shows the eleven counters" counters
check "the port follows its interface" port_follows
check "the adapter gets the MTU" mtu
check "the interface can be removed and added again" interface_leaves
check "the interface can move to another network namespace" interface_moves
check "the device can move to another network namespace" device_moves
check "the ports are active" ports
