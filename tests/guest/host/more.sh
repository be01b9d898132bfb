# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Containers and interfaces whose setup looks right: device files with another number, addresses
# that GIDs do not have, user and PID namespaces. What looks alike has no finding.

chmod 666 /dev/infiniband/*

# ---- files of devices in a container -------------------------------------------------

# number FILE
number() {
	echo $((0x$(stat -c %T "$1")))
}

# pod COMMAND...: with the files of $work/pod as /dev/infiniband
pod() {
	unshare -m sh -c 'mount --bind "$0" /dev/infiniband && exec "$@"' "$work/pod" "$@"
}

# node NAME FILE: a file of the pod, with the number of FILE
node() {
	rm -f "$work/pod/$1"
	mknod -m 666 "$work/pod/$1" c $((0x$(stat -c %t "$2"))) "$(number "$2")"
}

dev1=rxe1
mkdir "$work/pod"
second_device() {
	ip link add w0 type veth peer name w1 && ip address add 10.8.0.1/24 dev w0 &&
		ip link set w0 up && ip link set w1 up && rdma link add $dev1 type rxe netdev w0 &&
		until_true 20 test -e /dev/infiniband/uverbs1 && chmod 666 /dev/infiniband/uverbs1
}
check "there are two devices" second_device
for file in uverbs0 uverbs1 rdma_cm; do
	node $file /dev/infiniband/$file
done
check "pod: files with the numbers of their devices" eval \
	'ends 0 pod eadm check && said "^ok uverbs rxe0: /dev/infiniband/uverbs0 can be opened"'
stale="has the device number of a different device, so libraries cannot open it"
node uverbs0 /dev/infiniband/uverbs1
stale_node() {
	ends 7 pod eadm check --json && has_row uverbs "warn /dev/infiniband/uverbs0 $stale" &&
		has_row uverbs "ok /dev/infiniband/uverbs1 can be opened" &&
		! pod ibv_devinfo -d "$dev" && pod ibv_devinfo -d $dev1 >/dev/null
}
check "pod: a file with the number of another device" stale_node
stale_recorded() {
	pod eadm record -n 1 "$work/stale.pcapng" &&
		ends 7 eadm --from "$work/stale.pcapng" check --json && has_row uverbs "warn /dev/infiniband/uverbs0 $stale"
}
check "pod: a recording has it" stale_recorded
node uverbs0 /dev/infiniband/uverbs0
node rdma_cm /dev/infiniband/uverbs1
check "pod: rdma_cm with the number of another device" eval \
	'ends 7 pod eadm check --json && has_row rdma-cm "warn /dev/infiniband/rdma_cm $stale" && ! pod rping -s -a 10.9.0.1 -C 1'
rm "$work/pod/rdma_cm"
no_cm_file() {
	ends 0 pod eadm check --json &&
		has_row rdma-cm "note /dev/infiniband/rdma_cm does not exist, so rdma_cm cannot be used" &&
		same "start the container with --device=/dev/infiniband/rdma_cm, or run udevadm trigger on a host" \
			"$(jq -r '.rows[] | select(.check == "rdma-cm").remedy' "$work/said")" &&
		ends 5 pod eadm test server && said 'rdma_cm: No such file or directory \(make this file available to the container'
}
check "pod: no file of rdma_cm, whose module is loaded" no_cm_file
no_cm_module() {
	modprobe -r rdma_ucm && ends 0 eadm check --json || return
	same "modprobe rdma_ucm" "$(jq -r '.rows[] | select(.check == "rdma-cm").remedy' "$work/said")" &&
		ends 5 eadm test server && said 'rdma_cm: No such file or directory \(modprobe rdma_ucm'
}
check "a host without the module" no_cm_module
check "the module is back" eval 'modprobe rdma_ucm && until_true 20 test -e /dev/infiniband/rdma_cm && chmod 666 /dev/infiniband/rdma_cm'
rdma link delete $dev1
ip link delete w0

# ---- GIDs that are no addresses -------------------------------------------------------

# gid_row RESULT FINDING: what check says of the GIDs of the device.
gid_row() {
	eadm check -d "$dev" --json >"$work/said"
	jq -r '.rows[] | select(.check == "gid") | "\(.result) \(.finding)"' "$work/said" | tee "$work/row"
	grep -qE "^$1 $2" "$work/row"
}
v6() { # NAME=VALUE
	echo "${1#*=}" >"/proc/sys/net/ipv6/conf/v0/${1%%=*}"
}
renewed() {
	ip link set v0 down && ip link set v0 up
}
local="fe80::[0-9a-f:]+"
ip address flush dev v0 scope global
check "link-local: an address that peers resolve" until_true 20 gid_row note \
	"port 1: index 0 is usable only on the same link: $local \(RoCE v2, v0\) is link-local"
v6 disable_ipv6=1
check "link-local: IPv6 is disabled" until_true 20 gid_row note \
	"port 1: no GID is usable: index 0, $local, is not a valid address of v0"
with_ipv4() {
	ip address add "$addr/24" dev v0 && until_true 20 has_address &&
		gid_row ok "port 1: use index 1, ::ffff:$addr \(RoCE v2, v0\); not 0 \(is not an address of the interface\)" &&
		same no-address "$(eadm dump gid -d "$dev" --json | jq -r '.rows[] | select(.gid_index == 0).usable')"
}
check "link-local: with IPv4, its GID is the one to use" with_ipv4
v6 disable_ipv6=0
ip address flush dev v0 scope global
ip link set v0 addrgenmode random
check "link-local: made of a random number" eval 'renewed && until_true 20 gid_row note \
	"port 1: index 1 is usable only on the same link: $local \\(RoCE v2, v0\\) is link-local; not 0 \\(is not an address of the interface\\)"'
ip link set v0 addrgenmode eui64
check "link-local: made of the MAC address" eval 'renewed && until_true 20 gid_row note \
	"port 1: index 0 is usable only on the same link"'
ip netns add net
ip link set v1 netns net
ip -n net address add 2001:db8::1/64 dev v1 nodad
ip -n net link set v1 up
duplicate() {
	ip -6 address show dev v0 dadfailed | grep -q 2001:db8::1
}
check "another host has the address" eval 'until_true 20 eval "eadm check | grep -q \"the port is not down\"" &&
	ip address add 2001:db8::1/64 dev v0 && until_true 20 duplicate'
not_used() {
	gid_row note "port 1: index 0 is usable only on the same link: $local \(RoCE v2, v0\) is link-local; not 1 \(is not an address of the interface\)" &&
		has_row address "warn v0 has no address in this network namespace besides the link-local one, so rdma_cm cannot connect to other networks"
}
check "address: a duplicate is not used" not_used
ip -n net address delete 2001:db8::1/64 dev v1
unique() {
	ip address delete 2001:db8::1/64 dev v0 && ip address add 2001:db8::1/64 dev v0 &&
		until_true 20 gid_row ok "port 1: use index 1, 2001:db8::1 \(RoCE v2, v0\)" &&
		has_row address "ok v0 has an IPv6 address"
}
check "address: one that no other host has" unique
ip -n net link set v1 netns 1
ip netns delete net
ip link set v1 up
ip address flush dev v0 scope global
check "the address is back" eval 'ip address add "$addr/24" dev v0 && until_true 20 has_address'

# ---- user and PID namespaces ----------------------------------------------------------

# Root of a user namespace has all capabilities there, but limits apply to it all the same.
rootless() { # KIB COMMAND...
	prlimit --memlock=$(($1 << 10)) "${as_user[@]}" unshare -Ur "${@:2}"
}
rootless_pod() {
	ends 0 rootless 64 eadm check --json &&
		has_row memlock "note RLIMIT_MEMLOCK of this process: 64 KiB; each process has its own limit" &&
		! rootless 64 timeout 20 ibv_rc_pingpong -d "$dev" -g 1 -s 1000000 >"$work/said" 2>&1 &&
		said "Couldn't register MR"
}
check "rootless container: CAP_IPC_LOCK does not lift the limit" rootless_pod
check "root of the host: it does" eval \
	'ends 0 prlimit --memlock=65536 eadm check --json && has_row memlock "ok RLIMIT_MEMLOCK (64 KiB) does not apply to this process: it has CAP_IPC_LOCK"'
start_job
check "a job runs" [ $? = 0 ]
other_pids() {
	ends 0 unshare -p -f --mount-proc eadm diagnose && ! said '^(notice|warning|critical)' &&
		ends 0 unshare -p -f --mount-proc eadm dump qp --json &&
		same "2" "$(jq '[.rows[] | select(.type == "rc" and .pid == null)] | length' "$work/said")"
}
check "PID namespace: the job of another pod has no PID, and no fault" other_pids
stop_job
