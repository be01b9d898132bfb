# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # setups sets them
# Virtual adapters, two of ERDMA and two of EFA: under our drivers and the companion or, with a
# folder, under the kernel's own drivers.

# As tests/vm/guest has set it up.
clear() {
	local i

	ip netns delete pod 2>/dev/null
	ip link delete eth0.5 2>/dev/null
	until_true 20 rdma system set netns shared && until_true 20 devices_are 4 &&
		until_true 20 eval '[ -e /sys/class/net/eth0 ]' || return
	for i in 0 1; do
		ip address flush dev "eth$i" scope global
		up "eth$i" && ip address add "10.77.$i.1/24" dev "eth$i" || return
	done
	until_true 20 ports_are_active
}

ports_are_active() {
	[ "$(rdma link | grep -c 'state ACTIVE')" = 4 ]
}

# lend DEVICE...: to the pod, as its only user
lend() {
	local device

	rdma system set netns exclusive && ip netns add pod && ip -n pod link set lo up || return
	for device in "$@"; do
		rdma dev set "$device" netns pod || return
	done
}

# contexts_are DEVICE: as many as the kernel counts once the clients are gone; a process may have several
contexts_are() {
	rm -f "$work/goes-on"
	until_true 60 counts_agree "$1"
}

counts_agree() {
	local before shown

	before=$(contexts "$1")
	shown=$(eadm check --json | jq -r --arg dev "$1" '.rows[] | select(.check == "in-use" and .dev_name == $dev).finding')
	[ "$before" = "$(contexts "$1")" ] || return
	echo "$before: $shown"
	case $before in
	0) [[ $shown == "no process has it open: "* ]] ;;
	1) [ "$shown" = "1 user context is open" ] ;;
	*) [ "$shown" = "$before user contexts are open" ] ;;
	esac
}

contexts() {
	rdma -j resource show "$1" | jq '.[0].ctx'
}

# The first device of each family, if its driver lets it move.
movable_devices() {
	local device moved=()

	{
		rdma system set netns exclusive && ip netns add pod
		for device in erdma_0 efa_0; do
			rdma dev set "$device" netns pod && moved+=("$device")
		done
		clear
	} >/dev/null 2>&1
	echo "${moved[@]}"
}

# The interface goes with it.
lend_interface() {
	ip link set eth0 netns pod && ip -n pod address add 10.77.0.1/24 dev eth0 && ip -n pod link set eth0 up
}

if [ -n "$modules" ]; then
	modprobe -a ib_uverbs rdma_ucm
	check "the kernel's drivers are loaded" insmod "$modules/erdma.ko"
	check "both of them" insmod "$modules/efa.ko"
fi
modprobe 8021q
check "there are four adapters" until_true 30 ports_are_active

setup "IPv4, traffic" root 'traffic 10.77.0.1' \
	"row - devices ok '4 RDMA devices'" \
	"row erdma_0 address ok 'eth0 has an IPv4 address'" \
	"row erdma_1 address ok 'eth1 has an IPv4 address'" \
	"own_gid erdma_0" \
	"own_gid efa_1" \
	"no_check efa_0 address" \
	from_recording
setup "EFA, traffic" root 'traffic 127.0.0.1 --device efa_0' \
	"contexts_are efa_0"
setup "an unprivileged user" user true \
	"row - devices ok '4 RDMA devices'" \
	"own_gid erdma_1" \
	"own_gid efa_0" \
	from_bundle
setup "IPv6 only" user \
	'ip address flush dev eth0 && ip address flush dev eth1 && address eth0 2001:db8::1/64 && address eth1 2001:db8:1::1/64' \
	"row erdma_0 address ok 'eth0 has an IPv6 address'" \
	"no_check erdma_0 subnet"
setup "ERDMA, addresses on a VLAN only, traffic" root \
	'ip address flush dev eth0 && vlan eth0 5 10.5.0.1/24 && traffic 10.5.0.1' \
	"row erdma_0 address ok 'eth0.5, a VLAN of eth0, has an address'" \
	"no_check erdma_0 subnet"
setup "a pod that shares the devices" pod-user pod \
	"is_elsewhere erdma_0 eth0" \
	"row - devices ok '4 RDMA devices'" \
	from_bundle
movable=$(movable_devices)
if [ -n "$movable" ]; then
	setup "a pod with its own adapters" pod-user 'lend $movable && lend_interface' \
		"row erdma_0 address ok 'eth0 has an IPv4 address'" \
		"own_gid erdma_0" \
		from_recording
	setup "a host whose pod has its own adapters" root 'lend $movable && lend_interface' \
		"row erdma_1 address ok 'eth1 has an IPv4 address'" \
		"own_gid efa_1" \
		from_recording
elif [ -n "$modules" ] && [[ $(uname -r) == 6.1.* ]]; then
	echo "# no device of the kernel's own drivers can move to another network namespace"
else
	tap_fail "a pod with its own adapters: no device can move to another network namespace"
fi
if [ -z "$modules" ]; then
	setup "without the companion, traffic" root 'rmmod eadm && traffic 10.77.1.1'
	setup "without the companion, an unprivileged user" user true from_recording
fi
