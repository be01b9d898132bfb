# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # setups sets them
# Hosts with devices of rdma_rxe and siw, and no module of eadm.

rxe() { # DEVICE INTERFACE
	rdma link add "$1" type rxe netdev "$2"
}

siw() { # DEVICE INTERFACE
	rdma link add "$1" type siw netdev "$2"
}

clear() {
	local name

	for name in $(rdma -j dev | jq -r '.[].ifname'); do
		rdma link delete "$name"
	done
	ip netns delete pod 2>/dev/null
	for name in bond0 v0 w0; do
		ip link delete "$name" 2>/dev/null
	done
	until_true 20 rdma system set netns shared && devices_are 0
}

# Steps need their GIDs at once; eadm needs none.
has_gid() { # DEVICE GID INTERFACE
	until_true 20 gid_index "$@"
}

check "rdma_rxe is loaded" modprobe -a rdma_rxe rdma_ucm bonding 8021q
check "siw is loaded" eval 'modprobe -a iw_cm libcrc32c && insmod "$modules/siw.ko"'

setup "rxe, IPv4, traffic" root \
	'wire v && address v0 10.9.0.1/24 && rxe rxe0 v0 && has_gid rxe0 ::ffff:10.9.0.1 v0 && traffic 10.9.0.1' \
	"uses_gid rxe0 ::ffff:10.9.0.1 v0" \
	"row rxe0 address ok 'v0 has an IPv4 address'" \
	from_recording
setup "rxe, IPv6 only" user \
	'wire v && address v0 2001:db8::1/64 && rxe rxe0 v0 && has_gid rxe0 2001:db8::1 v0' \
	"uses_gid rxe0 2001:db8::1 v0" \
	"row rxe0 address ok 'v0 has an IPv6 address'" \
	"no_check rxe0 subnet"
setup "rxe, an address with a label" user \
	'wire v && ip address add 10.9.0.1/24 dev v0 label v0:1 && ip address add 10.9.0.2/24 dev v0 label v0:2 &&
	rxe rxe0 v0 && has_gid rxe0 ::ffff:10.9.0.1 v0' \
	"uses_gid rxe0 ::ffff:10.9.0.1 v0" \
	"row rxe0 address ok 'v0 has an IPv4 address'" \
	"row rxe0 subnet ok 'no other network interface is in the subnet of v0'"
setup "rxe, addresses on a VLAN only, traffic" root \
	'wire v && rxe rxe0 v0 && vlan v0 5 10.5.0.1/24 && has_gid rxe0 ::ffff:10.5.0.1 v0.5 && traffic 10.5.0.1' \
	"uses_gid rxe0 ::ffff:10.5.0.1 v0.5" \
	"row rxe0 address ok 'v0.5, above v0, has an address'" \
	"no_check rxe0 subnet" \
	from_recording
setup "rxe, an untagged network and a VLAN" user \
	'wire v && address v0 10.9.0.1/24 && rxe rxe0 v0 && vlan v0 5 10.5.0.1/24 && has_gid rxe0 ::ffff:10.5.0.1 v0.5' \
	"uses_gid rxe0 ::ffff:10.9.0.1 v0"
setup "rxe on a bond" root \
	'wire v w && bond 10.9.0.1/24 v0 w0 && rxe rxe0 bond0 && has_gid rxe0 ::ffff:10.9.0.1 bond0' \
	"uses_gid rxe0 ::ffff:10.9.0.1 bond0" \
	"row rxe0 address ok 'bond0 has an IPv4 address'"
setup "rxe, two devices below a bond, traffic" root \
	'wire v w && rxe rxe0 v0 && rxe rxe1 w0 && bond 10.9.0.1/24 v0 w0 && has_gid rxe0 ::ffff:10.9.0.1 bond0 &&
	traffic 10.9.0.1' \
	"uses_gid rxe0 ::ffff:10.9.0.1 bond0" \
	"row rxe0 address ok 'bond0, above v0, has an address'" \
	"row rxe1 address ok 'w0 is a standby member of bond0'" \
	"row rxe1 gid note 'port 1: no GID for an address of bond0, because w0 is a standby member of it'" \
	from_recording
setup "rxe, two devices below a bond" user \
	'wire v w && rxe rxe0 v0 && rxe rxe1 w0 && bond 10.9.0.1/24 v0 w0 && has_gid rxe0 ::ffff:10.9.0.1 bond0 &&
	ip link set v1 down && has_gid rxe1 ::ffff:10.9.0.1 bond0 && ip link set v1 up' \
	"uses_gid rxe1 ::ffff:10.9.0.1 bond0" \
	"row rxe0 address ok 'v0 is a standby member of bond0'"
setup "rxe, two devices" user \
	'wire v w && address v0 10.9.0.1/24 && address w0 10.8.0.1/24 && rxe rxe0 v0 && rxe rxe1 w0 &&
	has_gid rxe1 ::ffff:10.8.0.1 w0' \
	"uses_gid rxe0 ::ffff:10.9.0.1 v0" \
	"uses_gid rxe1 ::ffff:10.8.0.1 w0"
setup "rxe, a pod with IPv6 only" pod-user \
	'wire v && address v0 10.9.0.1/24 && rxe rxe0 v0 && pod v0 2001:db8::7/64 && has_gid rxe0 2001:db8::7 eth0' \
	"uses_gid rxe0 2001:db8::7 eth0" \
	"row rxe0 netdev ok 'eth0 is in this network namespace; the interface below it is in another one'" \
	from_bundle
setup "rxe, a pod with an address of a VLAN" pod \
	'wire v && address v0 10.9.0.1/24 && rxe rxe0 v0 && vlan v0 5 10.5.0.1/24 && pod v0.5 10.5.0.7/24 &&
	has_gid rxe0 ::ffff:10.5.0.7 eth0' \
	"uses_gid rxe0 ::ffff:10.5.0.7 eth0" \
	from_recording
setup "rxe, exclusive mode" root \
	'wire v && address v0 10.9.0.1/24 && rxe rxe0 v0 && rdma system set netns exclusive && ip netns add pod' \
	"row - netns-mode ok 'exclusive: a device is visible only in its network namespace'"
setup "siw, IPv4, traffic" root \
	'wire v && address v0 10.9.0.1/24 && siw siw0 v0 && traffic 10.9.0.1' \
	"own_gid siw0" \
	"row siw0 address ok 'v0 has an IPv4 address'" \
	from_recording
setup "siw, IPv6 only" user 'wire v && address v0 2001:db8::1/64 && siw siw0 v0' \
	"own_gid siw0" \
	"row siw0 address ok 'v0 has an IPv6 address'"
setup "siw, addresses on a VLAN only, traffic" root \
	'wire v && siw siw0 v0 && vlan v0 5 10.5.0.1/24 && traffic 10.5.0.1' \
	"row siw0 address ok 'v0.5, a VLAN of v0, has an address'" \
	from_recording
setup "siw on a bond" user 'wire v w && bond 10.9.0.1/24 v0 w0 && siw siw0 bond0' \
	"row siw0 address ok 'bond0 has an IPv4 address'"
setup "siw, a pod" pod-user \
	'wire v && address v0 10.9.0.1/24 && siw siw0 v0 && pod v0 10.9.0.7/24' \
	"is_elsewhere siw0 v0" \
	from_bundle
setup "rxe and siw on one interface" user \
	'wire v && address v0 10.9.0.1/24 2001:db8::1/64 && rxe rxe0 v0 && siw siw0 v0 &&
	has_gid rxe0 ::ffff:10.9.0.1 v0' \
	"uses_gid rxe0 ::ffff:10.9.0.1 v0" \
	"own_gid siw0"

# What looks alike, and may be a fault: recent kernels find the device by the bond's address with RoCE only.
choose root
wire v w && siw siw0 v0 && bond 10.9.0.1/24 v0 w0
open_files
warned_if_unreachable() {
	timeout 60 rping -s -a 10.9.0.1 -C 5 >/dev/null 2>&1 &
	set -- $!
	until_true 20 eval "listening 7174 || ! kill -0 $1"
	if timeout 30 rping -c -a 10.9.0.1 -C 5; then
		wait "$1"
		ends 0 eadm check && ! said 'address siw0'
	else
		kill "$1"
		ends 7 eadm check && said '^warn address siw0' && said 'ip link set v0 nomaster'
	fi
}
check "siw below a bond: a warning if its addresses are of no use" warned_if_unreachable
until_true 60 clear
# No other interface has an address of IPv4.
wire v && rxe rxe0 v0 && vlan v0 5 fe80::7/64
no_address() {
	ends 7 eadm check && said '^warn address rxe0'
}
check "rxe: a VLAN without an address is of no use" no_address
until_true 60 clear
