# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Which GID index to use: on the host, in a container with an interface on the same device, and in one
# without. Each scene is seen by an unprivileged user, and the same from a recording.

# gid_table COMMAND...: index, GID, interface, namespace, scope and use of each row.
gid_table() {
	"$@" dump gid -d "$dev" --json | jq -r '.rows[] |
		select(.netdev != "v0" or .scope != "link-local") |
		"\(.gid_index) \(.gid) \(.type) \(.netdev) \(.namespace) \(.scope) \(.usable)"'
}

# index_of GID: its place, which the kernel chooses.
index_of() {
	eadm dump gid -d "$dev" --json | jq -r --arg gid "$1" \
		'[.rows[] | select(.gid == $gid).gid_index] | first // empty'
}
has_gid() { # GID...
	local gid

	for gid in "$@"; do
		[ -n "$(index_of "$gid")" ] || return
	done
}

# gid_is EXIT RESULT REGEX [COMMAND...]: result and finding of the check, live and recorded there.
gid_is() {
	local want=$1 result=$2 finding=$3
	shift 3

	ends "$want" "$@" "${as_user[@]}" eadm check -d "$dev" --json && found_gid || return
	"$@" "${as_user[@]}" eadm record -n 1 -o - >"$work/gids.pcapng" &&
		ends "$want" eadm --from "$work/gids.pcapng" check -d "$dev" --json && found_gid
}
found_gid() {
	jq -e --arg result "$result" --arg finding "^port 1: $finding\$" '[.rows[] | select(.check == "gid")] |
		length == 1 and .[0].result == $result and (.[0].finding | test($finding))' "$work/said"
}

chmod 666 /dev/infiniband/uverbs*
# Earlier parts may have left addresses.
ip -6 address flush dev v0 scope global
two_gids() {
	[ "$(eadm dump gid -d "$dev" --json | jq '.rows | length')" = 2 ]
}
check "gid: an interface with one address" until_true 20 two_gids
own=$(index_of "::ffff:$addr")
local_gid=$(jq -r '.rows[] | select(.scope == "link-local").gid' <(eadm dump gid -d "$dev" --json))
check "gid: the IPv4 address, not the link-local one" gid_is 0 ok \
	"use index $own, ::ffff:$addr \(RoCE v2, v0\); not $(index_of "$local_gid") \(link-local\)"
remedy_works() {
	local remedy

	remedy=$(jq -r '.rows[] | select(.check == "gid").remedy' "$work/said")
	same "NCCL_IB_GID_INDEX=$own, ib_write_bw -x $own, ibv_rc_pingpong -g $own" "$remedy" || return
	timeout 60 ibv_rc_pingpong -d "$dev" -g "$own" -n 20 >/dev/null &
	set -- $!
	until_true 30 listens 18515 && timeout 60 ibv_rc_pingpong -d "$dev" -g "${remedy##* }" -n 20 "$addr" &&
		wait "$1"
}
check "gid: what it names works" remedy_works

# The container's interface has the name of the host's.
ip netns add pod
in_pod=(ip netns exec pod)
ip link add m0 link v0 type macvlan
ip link set m0 netns pod name v0
ip -n pod address add 10.9.0.7/24 dev v0
ip -n pod link set v0 up
has_pod() {
	has_gid ::ffff:10.9.0.7 && [ "$(eadm dump gid -d "$dev" --json | jq '.rows | length')" = 4 ]
}
check "gid: a container with its own interface" until_true 20 has_pod
pod=$(index_of ::ffff:10.9.0.7)
seen_by_both() {
	same "$own ::ffff:$addr RoCE v2 v0 this ipv4 best
$pod ::ffff:10.9.0.7 RoCE v2 v0 another ipv4 other-netns" "$(gid_table "${as_user[@]}" eadm)" &&
		same "$own ::ffff:$addr RoCE v2 v0 another ipv4 other-netns
$pod ::ffff:10.9.0.7 RoCE v2 v0 this ipv4 best" "$(gid_table "${in_pod[@]}" "${as_user[@]}" eadm)"
}
check "gid: the table of each" seen_by_both
check "gid: the host uses its own" gid_is 0 ok \
	"use index $own, .*; not [0-9]+ \(link-local\), [0-9]+ [0-9]+ \(another network namespace\)"
check "gid: the container uses its own" gid_is 0 ok \
	"use index $pod, ::ffff:10.9.0.7 \(RoCE v2, v0\); not [0-9]+ \(link-local\), [0-9]+ [0-9]+ \(another network namespace\)" \
	"${in_pod[@]}"
pod_is_healthy() {
	ends 0 "${in_pod[@]}" eadm check --json && has_row netdev \
		"ok v0 is in this network namespace; the interface below it is in another one" &&
		ends 0 "${in_pod[@]}" eadm diagnose
}
check "gid: nothing is a fault there" pod_is_healthy
in_info() {
	same "$own 3" "$(eadm info "$dev" --json | jq -r '.rows[0] | "\(.gid_index) \(.gid_others | split(" ") | length)"')" &&
		same "$pod $own=other-netns" "$("${in_pod[@]}" "${as_user[@]}" eadm info "$dev" --json |
			jq -r --arg own "$own=" '.rows[0] | "\(.gid_index) \(.gid_others | split(" ") | .[] |
				select(startswith($own)))"')"
}
check "gid: info names it, and why not the others" in_info
exported() {
	"${as_user[@]}" eadm exporter --once --objects gid |
		grep -F "eadm_gid_info{device=\"$dev\",port=\"1\",gid_index=\"$own\"," | grep -q 'usable="best"} 1$'
}
check "gid: the exporter names it" exported
# The bundle of a container, read on the host.
in_bundle() {
	"${in_pod[@]}" eadm bundle create -o "$work/gids.tar.zst" &&
		same "$("${in_pod[@]}" eadm dump gid --json | jq -c .rows)" \
			"$(eadm --from "$work/gids.tar.zst" dump gid --json | jq -c .rows)" &&
		ends 0 eadm --from "$work/gids.tar.zst" check --json && said "use index $pod, ::ffff:10.9.0.7"
}
check "gid: a bundle has the container's view" in_bundle

ip -n pod link delete v0
check "gid: a container without an interface" until_true 20 gid_is 0 note \
	"no GID is usable: v0 is in another network namespace" "${in_pod[@]}"
lent_netdev() {
	ends 0 "${in_pod[@]}" eadm check --json &&
		has_row netdev "note its network interface v0 is in another network namespace"
}
check "gid: whose device's interface is elsewhere" lent_netdev
ip netns delete pod

# What looks alike, and is in order.
ip address add 10.9.0.5/24 dev v0 label v0:1
check "gid: a second address, with a label" until_true 20 gid_is 0 ok \
	"use index $own, .*; not [0-9]+ \(link-local\); also [0-9]+ \(usable, too\)"
ip address del 10.9.0.5/24 dev v0
if modprobe 8021q 2>/dev/null; then
	ip link add link v0 name v0.5 type vlan id 5
	ip address add 10.5.0.1/24 dev v0.5
	ip link set v0.5 up
	vlan() {
		has_gid ::ffff:10.5.0.1 && gid_table "${as_user[@]}" eadm |
			grep -qxE '[0-9]+ ::ffff:10.5.0.1 RoCE v2 v0.5 this ipv4 yes'
	}
	check "gid: a VLAN" until_true 20 vlan
	ip link delete v0.5
fi
ip address flush dev v0 scope global
ip -6 address add 2001:db8::1/64 dev v0 nodad
check "gid: IPv6 only" until_true 20 gid_is 0 ok \
	"use index [0-9]+, 2001:db8::1 \(RoCE v2, v0\); not [0-9]+ \(link-local\)"

# What is to be known.
ip -6 address del 2001:db8::1/64 dev v0
check "gid: the link-local one only" until_true 20 gid_is 7 note \
	"index [0-9]+ is usable only on the same link: $local_gid \(RoCE v2, v0\) is link-local"
ip address add "$addr/24" dev v0
until_true 20 has_address
ip link set v0 down
# One cause, one finding, which is a note as long as no QP uses the port.
is_down() {
	ends 0 "${as_user[@]}" eadm check -d "$dev" --json &&
		same "note port" "$(jq -r '.rows[] | select(.check == ("port", "gid")) | "\(.result) \(.check)"' "$work/said")" &&
		same "$(index_of "::ffff:$addr") ::ffff:$addr RoCE v2 v0 this ipv4 netdev-down" \
			"$(gid_table "${as_user[@]}" eadm)"
}
check "gid: an interface that is down" until_true 20 is_down
ip link set v0 up
check "gid: and up again" until_true 20 gid_is 0 ok "use index [0-9]+, ::ffff:$addr .*"
