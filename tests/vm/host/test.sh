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
