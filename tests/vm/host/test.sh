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
check "a server listens" [ $? = 0 ]
other_family() {
	client 1 2001:db8::1 &&
		said 'connection failed: the server refused the connection, or listens on other addresses' &&
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
	[ "$1" = 0 ] && said 'rdma_cm: No such file or directory \(modprobe rdma_ucm\)'
}
check "a connection manager that does not exist" no_node
no_provider() {
	ends 5 unshare -m sh -c "mount -t tmpfs none /etc/libibverbs.d && exec eadm test $1" &&
		said 'libibverbs: no provider for the RDMA devices of this host \(install ibverbs-providers'
}
check "a server without the provider" no_provider server
check "a client without the provider" no_provider "client $addr"
