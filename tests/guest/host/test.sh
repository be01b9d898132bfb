# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# "eadm test" on a host with a stock driver: the words of its failures.
ip -6 address add 2001:db8::1/64 dev v0 nodad

client() { # STATUS ARGUMENTS...
	local want=$1
	shift

	ends "$want" eadm test client --timeout 60s -n 20 "$@"
}

# serve ARGUMENTS...: its words go to $work/server; not by check, which would own the process.
serve() {
	eadm test server "$@" >"$work/rows" 2>"$work/server" </dev/null &
	server=$!
	until_true 60 grep -q "listening on" "$work/server"
}

end_server() {
	kill -TERM "$server"
	wait "$server"
}

no_server() {
	client 1 "$addr" &&
		said 'connection failed: no server listens at this address and port' && ! said 'Exec format'
}
check "a client without a server: no server listens" no_server

serve
check "a server listens by rdma_cm" grep -q "listening on all addresses port 18514 (rdma_cm)" "$work/server"
other_family() {
	client 1 2001:db8::1 &&
		said 'connection failed: the server refused the connection, or listens on different addresses' &&
		! said 'No space left'
}
check "an IPv6 client of an IPv4 server is refused without an errno" other_family
end_server

# As root without capabilities, and not the owner.
may_not_open() { # FILE
	chown 65534 "$1" && chmod 600 "$1" || return
	ends 4 setpriv --inh-caps=-all --bounding-set=-all eadm test client "$addr"
	set -- "$1" $?
	chown 0 "$1" && chmod 666 "$1"
	[ "$2" = 0 ] && said "eadm: test: $1: Permission denied \(run as root, or set its mode to 0666\)"
}
check "a connection manager that may not be opened" may_not_open /dev/infiniband/rdma_cm
check "a verbs device that may not be opened" may_not_open /dev/infiniband/uverbs0
no_node() {
	mv /dev/infiniband/rdma_cm /dev/rdma_cm.away || return
	ends 5 eadm test server
	set -- $?
	mv /dev/rdma_cm.away /dev/infiniband/rdma_cm
	[ "$1" = 0 ] && said 'rdma_cm: No such file or directory \(make this file available to the container, or use --no-cm\)'
}
check "a connection manager that does not exist" no_node
no_provider() {
	ends 5 unshare -m sh -c "mount -t tmpfs none /etc/libibverbs.d && exec eadm test $1" &&
		said 'libibverbs: no provider for the RDMA devices of this host \(install ibverbs-providers'
}
check "a server without the provider" no_provider server
check "a client without the provider" no_provider "client $addr"

same_path() { # FILE of rows
	local text

	text=$(python3 - "$1" "$dev" "$addr" <<-'PY'
	import ipaddress, json, sys
	path, device, address = sys.argv[1:]
	gid = ipaddress.ip_address("::ffff:" + address)
	for row in json.load(open(path))["rows"]:
	    gids = {ipaddress.ip_address(row.get(key, "::")) for key in ("local_gid", "peer_gid")}
	    if (row.get("dev_name"), row.get("local_addr"), row.get("peer_addr")) != \
	            (device, address, address) or gids != {gid}:
	        print(row)
	PY
	) && [ -z "$text" ] || { echo "$text"; return 1; }
}

serve --json
names_the_path() {
	client 0 "$addr" --json && same_path "$work/said"
}
check "each result names device, addresses and GIDs" names_the_path
end_server
check "the server's results, too" same_path "$work/rows"

failed_names_device() {
	client 1 "$addr" && said "^connect failed +$dev +$addr +$addr +connection failed" &&
		said "route: $dev, ::ffff:$addr to ::ffff:$addr, RC set up by rdma_cm$"
}
check "a failed connection names device and addresses" failed_names_device
check "an address without a route: address resolution failed" \
	eval 'client 3 198.51.100.1 && said " address resolution failed: no RDMA device has a route"'
no_neighbour() {
	ends 1 eadm test client 10.9.0.99 --timeout 3s &&
		said ' address resolution failed: (the peer does not respond|no response within)'
}
check "a neighbour that does not exist: address resolution failed" no_neighbour

moves_messages() {
	[ "$(packets)" -gt $((before + 1000)) ]
}

# The client is not run by check, which would own the process.
before=$(packets)
serve
eadm test client "$addr" --timeout 5s -n 10000000 -t order,rate >"$work/said" 2>&1 </dev/null &
busy=$!
check "messages are under way" until_true 60 moves_messages
kill -KILL "$server"
wait "$busy"
status=$?
each_fails() {
	cat "$work/said"
	[ "$1" = 1 ] && said '^order +failed' && said '^rate +failed .*connection failed: no server listens'
}
check "each test after a failed one has its own result" each_fails $status

# An adapter whose peer is not ready waits for more than half a second, or 5 s in a row.
never_unready() {
	local counted

	counted=$(rdma statistic show link "$dev/1")
	echo "$counted"
	[[ $counted == *" rcvd_rnr_err 0 "* && $counted == *" send_rnr_err 0 "* ]]
}
check "no message met a receiver that was not ready" never_unready
