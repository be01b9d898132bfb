# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A device in the network namespace of a container whose root is an unprivileged user outside.

exclusive() { # MODE: refused as long as a network namespace is on its way out
	rdma system set netns "$1"
}

lend_begin() { # DEVICE
	until_true 20 exclusive exclusive || return
	setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn sleep infinity &
	lend_pid=$!
	until_true 20 lend_has_net && ip netns attach lent "$lend_pid" && rdma dev set "$1" netns lent
}

lend_has_net() {
	[ "$(readlink "/proc/$lend_pid/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

lent() { # COMMAND...: as root of the container
	nsenter -t "$lend_pid" -U -n "$@"
}

lend_end() {
	kill "$lend_pid"
	ip netns delete lent
	until_true 20 exclusive shared
}

# Its root changes the device's own settings, but not what the host logs.
lent_settings() { # DEVICE
	local out status=0

	lend_begin "$1" && lent eadm conf set cmd-timeout=3s -d "$1" || status=1
	out=$(lent eadm conf set debug=all -d "$1" 2>&1) && status=1
	echo "$out"
	grep -q "CAP_NET_ADMIN in the initial user namespace" <<<"$out" || status=1
	lent eadm conf get debug -d "$1" --json | jq -e '.rows[0].value_name == "none"' || status=1
	lend_end || return
	return $status
}
