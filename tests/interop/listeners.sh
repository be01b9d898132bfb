#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Who gets through to a listener, in the guest: what TCP does between the same
# addresses is the measure. TAP on stdout.
# Usage: listeners.sh ADDRESS_A ADDRESS_B
set -u
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/interop/lib.sh
. "$here/lib.sh"
a=$1 b=$2

by_tcp() { # FROM TO
	python3 - "$1" "$2" <<-'END'
	import socket, sys
	with socket.create_server(("", 7174)) as server, socket.socket() as client:
	    client.settimeout(10)
	    client.bind((sys.argv[1], 0))
	    client.connect((sys.argv[2], 7174))
	    server.accept()[0].close()
	END
}

wildcards() {
	local from to

	for from in "$a" "$b"; do
		for to in "$a" "$b"; do
			check "TCP connects $from to $to" by_tcp "$from" "$to"
			pair "a listener on all addresses, from $from to $to" 7174 \
				rping -s -C 2 -- rping -c -I "$from" -a "$to" -C 2 -v -V
		done
	done
	pair "a listener on all addresses of IPv6, too, between adapters" 7174 \
		rping -s -a :: -C 2 -- rping -c -I "$b" -a "$a" -C 2 -v -V
	pair "a listener on one address, between adapters" 7174 \
		rping -s -a "$b" -C 2 -- rping -c -I "$a" -a "$b" -C 2 -v -V
}

# NAME COMMAND...: while rping serves on all addresses; its client goes last
while_serving() {
	local name=$1 pid

	shift
	timeout "$patient_limit" rping -s -C 2 >"$work/server" 2>&1 </dev/null &
	pid=$!
	until_true "$LIMIT" listening 7174 >/dev/null
	check "$name" "$@"
	kill "$pid" 2>/dev/null
	wait "$pid"
}

# As TCP does it: an address that comes later counts, one that went can be used elsewhere.
later_address() {
	local later=10.99.0.1

	until_true "$LIMIT" tcp_listens "$a" || return
	ip addr add $later/24 dev "$(netdev_of "$b")"
	until_true "$LIMIT" tcp_listens $later || return
	ip addr del $later/24 dev "$(netdev_of "$b")"
	until_true "$LIMIT" tcp_listens_not $later || return
	ip addr add $later/24 dev "$(netdev_of "$a")"
	until_true "$LIMIT" tcp_listens $later || return
	timeout "$patient_limit" rping -c -I "$b" -a $later -C 2 -v -V </dev/null
}

netdev_of() { # ADDRESS
	ip -o -4 address show to "$1" | awk '{ print $2; exit }'
}

tcp_listens() { # ADDRESS
	ss -Hltn "src $1:7174" | grep -q .
}

tcp_listens_not() {
	! tcp_listens "$1"
}

# The RDMA CM has another error for it.
port_in_use() { # OPTIONS...
	eadm test server -p 7174 "$@" 2>"$work/said" </dev/null && return 1
	cat "$work/said"
	grep -q ': Address already in use$' "$work/said"
}

no_such_address() {
	eadm test server -p 7174 -b 192.0.2.1 2>"$work/said" </dev/null
	[ $? = 3 ] && grep -q ': Cannot assign requested address$' "$work/said"
}

before=$(objects)
wildcards
while_serving "a listener on all addresses follows them" later_address
ip addr del 10.99.0.1/24 dev "$(netdev_of "$a")" 2>/dev/null
while_serving "eadm test server says that the port is in use" port_in_use
while_serving "eadm test server -b says that the port is in use" port_in_use -b "$a"
check "eadm test server -b says that the address is not there" no_such_address
check "no object is left over" same_objects "$before"
plan
