# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# A healthy host with a stock driver, and a container that sees its adapters: nothing is a fault.

# What is merely absent is a note.
healthy() { # COMMAND...
	ends 0 "$@" eadm check && ! said '^(warn|fail)' && ends 0 "$@" eadm diagnose &&
		said 'no problems found by the rules that could be applied' &&
		said "$dev: rules: [0-9]+ of [0-9]+ could not be applied"
}

quiet() { # COMMAND...: about the companion, which could not show more
	local command

	for command in list info stat "dump qp"; do
		# shellcheck disable=SC2086 # an object
		ends 0 "$@" eadm $command && ! said 'eadm\.ko|companion' || return
	done
}

check "a healthy host" healthy
# Strictly, the usual MTU of Ethernet is too small: adapters support a larger one.
ip link set v1 mtu 4200
ip link set v0 mtu 4200
check "a healthy host, strictly" ends 0 eadm check --strict
strictly() {
	ulimit -l 1024
	ends 0 "${as_user[@]}" eadm check && said '^note memlock' &&
		ends 7 "${as_user[@]}" eadm check --strict && said '^warn memlock'
}
check "strictly, notes are warnings" strictly
check "nobody is told to load a module that could not show more" quiet
check "an unprivileged user on a healthy host" healthy "${as_user[@]}"
no_access() {
	ends 0 "${as_user[@]}" eadm explain "Call to ibv_open_device failed" && ! said 'here:.* uverbs' &&
		chmod 600 /dev/infiniband/uverbs0 &&
		ends 0 "${as_user[@]}" eadm explain "Call to ibv_open_device failed" && said "here: warning uverbs $dev"
}
check "explain: a device file without access is a cause" no_access
chmod 666 /dev/infiniband/uverbs0
ip netns add pod
in_pod=(ip netns exec pod)
check "a healthy container whose host has the interface" healthy "${in_pod[@]}"
elsewhere() {
	ends 0 "${in_pod[@]}" eadm check &&
		said "^note netdev $dev" && said 'its network interface v0 is in another network namespace'
}
check "it is said where the interface is" elsewhere
ip link add m0 link v0 type macvlan
ip link set m0 netns pod
"${in_pod[@]}" ip address add 10.9.0.7/24 dev m0
"${in_pod[@]}" ip link set m0 up
check "a healthy container with an interface of its own" healthy "${in_pod[@]}"
ip netns delete pod
only_ipv6() {
	ip address flush dev v0 scope global
	ip -6 address add 2001:db8::1/64 dev v0 nodad
	ends 0 eadm check && said "ok address $dev: v0 has an IPv6 address"
}
check "a host with IPv6 only" only_ipv6
no_address() {
	ip -6 address del 2001:db8::1/64 dev v0
	ends 7 eadm check && said "^warn address $dev"
}
check "without an address it is a warning" no_address
ip address add "$addr/24" dev v0
