# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# The network of a device: its MTU, and a second interface in its subnet. Values of the kernel are
# changed as an administrator would, and an unprivileged user sees them.

# checked EXIT RESULT CHECK FINDING: by a user, and from a recording.
checked() {
	local want=$1 row="$2 $4" rule=$3

	ends "$want" "${as_user[@]}" eadm check -d "$dev" --json && has_row "$rule" "$row" || return
	eadm record -n 1 "$work/network.pcapng" && ends "$want" eadm --from "$work/network.pcapng" check -d "$dev" --json &&
		has_row "$rule" "$row"
}

# result CHECK: of the only row of the output that has it.
result() {
	jq -r --arg check "$1" '.rows[] | select(.check == $check).result' "$work/said"
}

chmod 666 /dev/infiniband/uverbs*
check "mtu: the usual one of Ethernet" checked 0 note active-mtu \
	"port 1: the active MTU is 1024 instead of 4096, because v0 has an MTU of 1500, not 4200"
shows_mtu() {
	same "1024 4096" "$(eadm info "$dev" --json | jq -r '.rows[0] | "\(.active_mtu) \(.max_mtu)"')" &&
		ibv_devinfo -d "$dev" | tee "$work/devinfo" && grep -q "active_mtu:.*1024" "$work/devinfo"
}
check "mtu: info shows both, as ibv_devinfo does" shows_mtu
enough() {
	[[ $(jq -r '.rows[] | select(.check == "active-mtu").remedy' "$work/said") == "ip link set v0 mtu 4200"* ]] &&
		ip link set v1 mtu 4200 && ip link set v0 mtu 4200 &&
		checked 0 ok active-mtu "port 1: the active MTU is 4096, the largest supported"
}
check "mtu: what the remedy names is enough" enough
check "mtu: and nothing is to be noted" ends 0 eadm check --strict
ip link set v0 mtu 1500
closed_file() {
	chmod 600 /dev/infiniband/uverbs* && ends 7 "${as_user[@]}" eadm check -d "$dev" --json &&
		same "" "$(result active-mtu)" && chmod 666 /dev/infiniband/uverbs*
}
check "mtu: a device that cannot be opened is not judged" closed_file

conf() { # INTERFACE NAME=VALUE...
	local interface=$1 setting
	shift

	for setting in "$@"; do
		echo "${setting#*=}" >"/proc/sys/net/ipv4/conf/$interface/${setting%%=*}" || return
	done
}
for interface in all default v0; do
	conf "$interface" arp_ignore=0 arp_announce=0 rp_filter=0
done
check "subnet: a device that is alone" checked 0 ok subnet "no other network interface is in the subnet of v0"

# Both ends of the segment are in another namespace.
ip netns add net
ip link set v1 netns net
ip link add w0 type veth peer name w1 netns net
ip -n net link add br0 type bridge
for port in v1 w1; do
	ip -n net link set $port master br0 up
done
ip -n net link set br0 up
ip -n net address add 10.9.0.3/24 dev br0
ip address add 10.9.1.2/24 dev w0
ip link set w0 up
rdma link add rxe1 type rxe netdev w0
both_up() {
	[ "$(cat /sys/class/net/{v0,w0}/operstate | sort -u)" = up ]
}
check "subnet: a second interface" until_true 20 both_up
check "subnet: in another subnet" checked 0 ok subnet "no other network interface is in the subnet of v0"
ip address flush dev w0 scope global
ip address add 10.9.0.2/24 dev w0
flux="w0=10.9.0.2/24 is in the subnet of v0, whose address is also announced by w0 (arp_ignore 0)"
check "subnet: both answer" checked 7 warn subnet "$flux"
shows_values() {
	ends 7 eadm check -d rxe1 --json &&
		has_row subnet "warn v0=10.9.0.1/24 is in the subnet of w0, whose address is also announced by v0 (arp_ignore 0); its packets leave through v0" &&
		same "w0=10.9.0.2/24 w0 0 0 0 v0" "$(eadm dump setup -d "$dev" --json |
			jq -r '.rows[0] | "\(.subnet) \(.arp_answers) \(.arp_ignore) \(.arp_announce) \(.rp_filter) \(.route_netdev)"')"
}
check "subnet: the values are shown" shows_values
answers() { # NUMBER: so many MAC addresses answer for the second interface
	same "$1" "$(ip netns exec net "$here/arp.py" br0 10.9.0.3 10.9.0.2)"
}
check "subnet: what is said there is true" answers 2
remedied() {
	conf all arp_ignore=1 arp_announce=2
	checked 0 ok subnet "w0=10.9.0.2/24 is in the subnet of v0, but does not answer ARP requests for that interface" &&
		answers 1
}
check "subnet: each answers for itself" remedied
more_strictly() {
	conf all arp_ignore=0 && conf v0 arp_ignore=2 && conf w0 arp_ignore=2 &&
		checked 0 ok subnet "w0=10.9.0.2/24 is in the subnet of v0, but does not answer ARP requests for that interface"
}
check "subnet: by settings of the interfaces" more_strictly

conf all rp_filter=1
filtered() {
	ends 7 "${as_user[@]}" eadm check -d rxe1 --json &&
		has_row subnet "warn w0 drops packets of its subnet (rp_filter 1) because replies would leave through v0; other interfaces in its subnet: v0=10.9.0.1/24" &&
		ends 0 eadm check -d "$dev" --json
}
check "subnet: a strict filter, where the route leads elsewhere" filtered
# A port that is closed refuses.
reaches() {
	timeout 3 ip netns exec net bash -c 'exec 3<>/dev/tcp/10.9.0.2/9' 2>&1 | tee /dev/stderr | grep -q refused
}
check "subnet: what is said there is true, too" eval "! reaches"
loose() {
	conf w0 rp_filter=2 && ends 0 eadm check -d rxe1 --json && reaches
}
check "subnet: a loose filter lets them pass" loose
routed() {
	conf w0 rp_filter=1
	ip route add 10.9.0.0/24 dev w0 src 10.9.0.2 table 9 && ip rule add from 10.9.0.2 table 9 || return
	ends 0 eadm check -d rxe1 --json &&
		has_row subnet "ok v0=10.9.0.1/24 is in the subnet of w0, but does not answer ARP requests for that interface" && reaches
}
check "subnet: so does a route by source address" routed
ip rule del from 10.9.0.2 table 9
for interface in all v0 w0; do
	conf "$interface" arp_ignore=0 arp_announce=0 rp_filter=0
done
check "subnet: the fault is back" checked 7 warn subnet "$flux"

silent_without() { # NAME COMMAND...: what looks alike
	check "subnet: $1" checked 0 ok subnet "no other network interface is in the subnet of v0"
}
ip -n net link set w1 down
check "subnet: an interface without a carrier" \
	until_true 20 checked 0 ok subnet "no other network interface is in the subnet of v0"
ip -n net link set w1 up
rdma link delete rxe1
ip link delete w0
ip link add m0 link v0 type macvlan mode bridge
ip address add 10.9.0.2/24 dev m0
ip link set m0 up
silent_without "a macvlan above it"
ip link delete m0
ip link add br1 type bridge
ip link set v0 master br1
ip address add 10.9.0.2/24 dev br1
ip link set br1 up
silent_without "a bridge above it"
ip link delete br1
if modprobe bonding 2>/dev/null; then
	ip link add w0 type veth peer name w1 netns net
	ip link add bond1 type bond mode active-backup
	ip link set w0 master bond1
	ip -n net link set w1 master br0 up
	ip link set bond1 up
	ip address add 10.9.2.2/24 dev bond1
	silent_without "a bond and its members in another subnet"
	ip address add 10.9.0.2/24 dev bond1
	check "subnet: a bond of other interfaces in the same one" until_true 20 checked 7 warn subnet \
		"bond1=10.9.0.2/24 is in the subnet of v0, whose address is also announced by bond1 (arp_ignore 0)"
	ip link delete bond1
	ip link delete w0
fi
ip netns exec net ip link set v1 netns 1
ip netns delete net
ip link set v1 up
