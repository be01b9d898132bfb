# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# "eadm test --no-cm" on rdma_rxe, and peers that do not do what it does.
# shellcheck source=tests/guest/host/nocm-lib.sh
. "$here/nocm-lib.sh"
index=$(eadm dump gid -d "$dev" --json | jq -r --arg gid "::ffff:$addr" '.rows[] | select(.gid == $gid).gid_index')
mapped=$(gid_of "$dev" "$index")

serve_tcp --no-cm
check "rxe: a server listens by TCP" server_noted 'listening on all addresses port 18514 \(TCP\)'
check "rxe: all tests pass" ask_tcp 0 --no-cm "$addr" --json
check "rxe: by the GID of the address that TCP uses" all_tests "$dev" RC "$mapped" "$mapped"
says_way() {
	ask_tcp 0 --no-cm "$addr" -t connect && noted "route: $dev, $mapped to $mapped, RC set up by TCP\$"
}
check "rxe: a client says which way it goes" says_way
largest() {
	ask_tcp 0 --no-cm "$addr" -s 1048576 -t data,rdma --json &&
		jq -e '[.rows[] | .size == 1048576 and .result == "ok"] == [true, true]' "$work/said"
}
check "rxe: messages of 1 MiB" largest
chosen_gid() {
	ask_tcp 0 --no-cm -d "$dev" --gid-index "$index" "$addr" -t data && ask_tcp 3 --no-cm -d "$dev" -g 200 "$addr" &&
		noted "$dev: GID index 200 is empty \(see 'eadm dump gid'\)"
}
check "rxe: the GID by its index" chosen_gid
check "rxe: rdma_cm chooses the GID itself" eval \
	'ask_tcp 2 -g 1 "$addr" && noted "gid-index: rdma_cm chooses the GID; add --no-cm"'
check "rxe: a device that does not exist" eval 'ask_tcp 3 --no-cm -d rxe9 "$addr" && noted "rxe9: no such RDMA device"'
without_file() {
	mv /dev/infiniband/rdma_cm "$work/rdma_cm" || return
	ask_tcp 0 --no-cm "$addr" -t connect
	set -- $?
	ends 5 eadm test client "$addr" && said 'rdma_cm: No such file .*or use --no-cm' || set -- 1
	mv "$work/rdma_cm" /dev/infiniband/rdma_cm
	return "$1"
}
check "rxe: a local address" eval \
	'ask_tcp 0 --no-cm --bind "$addr" 127.0.0.1 -t connect --json && [ "$(jq -r ".rows[0].local_addr" "$work/said")" = "$addr" ]'
check "rxe: the file of the connection manager is not needed" without_file
by_cm() {
	ask_tcp 1 "$addr" && said 'connection failed: no server listens'
}
check "rxe: a client by rdma_cm finds no server" by_cm

# What a client says that is none: the server's words, and its answer.
turns_away() { # SAYING ANSWER NOTE
	same "$2" "$("$here/exchange.py" ask 127.0.0.1 18514 "$1")" && server_noted "$3"
}
check "a client of something else is turned away" turns_away garbage "closed after 0 bytes" \
	"127.0.0.1: refused: not an 'eadm test client'"
check "one that closes at once" turns_away nothing "closed after 0 bytes" \
	"refused: the connection was closed before the request was complete"
check "one that closes in the middle" turns_away half "closed after 0 bytes" \
	"refused: the connection was closed before the request was complete"
check "one of another version" turns_away version "refused: 2" "refused: the client runs a different version of eadm"
check "one whose length is wrong" turns_away length "closed after 0 bytes" "refused: invalid request"
check "one that wants too much" turns_away limits "closed after 0 bytes" "refused: invalid request"
end_tcp "they are no failures of the server" 0
serve_tcp --no-cm --timeout 3s
check "one that says nothing" turns_away silent "closed after 0 bytes" "refused: no complete request in time"
check "one that never ends" turns_away slow "closed after 0 bytes" "refused: no complete request in time"
while_slow() {
	"$here/exchange.py" ask 127.0.0.1 18514 slow >/dev/null &
	ask_tcp 0 --no-cm "$addr" -t data,echo
	set -- $?
	wait $!
	return "$1"
}
check "a slow one does not slow others down" while_slow
check "more than 64 at once are refused" same 6 "$("$here/exchange.py" flood 127.0.0.1 18514 70 6)"
check "and then there is room again" until_true 30 ask_tcp 0 --no-cm "$addr" -t connect
end_tcp "they are no failures either" 0
serve_tcp --no-cm
check "a GID of the other RoCE version is refused" turns_away v1 "refused: 4" \
	"refused: the GIDs of the two ends have different RoCE versions"
check "another type of queue pairs" turns_away type "refused: 3" \
	"refused: the server's adapter uses a different queue pair type"
check "a GID to which no route leads" turns_away gid "refused: 7" \
	"route resolution failed: from $dev, GID $index .*, to GID ::ffff:10.9.0.77: "
check "data after the request" turns_away more "welcome, then closed" \
	"127.0.0.1: the peer sent unexpected data over TCP"
check "the server goes on" ask_tcp 0 --no-cm "$addr" -t data
end_tcp "but it had failures" 1
check "nothing is left over" until_true 30 nothing_left

# What a server says that is none: the client's words. It never waits longer than it may.
falls_for() { # SAYING WORDS
	local peer status begin

	"$here/exchange.py" serve 18514 "$1" >"$work/peer" 2>&1 &
	peer=$!
	until_true 30 grep -q listening "$work/peer" || return
	begin=$SECONDS
	TIMEOUT=3s ask_tcp 1 --no-cm --bind 127.0.0.1 127.0.0.1 && said "$2" && [ $((SECONDS - begin)) -lt 30 ]
	status=$?
	kill $peer
	wait $peer 2>/dev/null
	return $status
}
check "a silent server" falls_for silent "address exchange failed: no response within 3.0 s"
check "one that answers a byte now and then" falls_for slow "address exchange failed: no response within 3.0 s"
check "half an answer" falls_for half "address exchange failed: no response within 3.0 s"
check "a server of something else" falls_for garbage \
	"address exchange failed: the peer is not an 'eadm test server' \(port 18514\)"
check "one that closes at once" falls_for nothing "address exchange failed: the server closed the TCP connection"
check "one of another version" falls_for version "address exchange failed: the server runs a different version of eadm"
check "one whose length is wrong" falls_for length "address exchange failed: invalid response"
check "one with impossible values" falls_for limits "address exchange failed: invalid response"
check "one of the other RoCE version" falls_for v1 "address exchange failed: invalid response"
check "one that answers like a client" falls_for hello "address exchange failed: invalid response"
check "one that refuses" falls_for refused \
	"route resolution failed: the server has no route to this GID \(Connection timed out\)"
check "one whose GID has no host" falls_for gid "route resolution failed: from $dev, GID [0-9]+ .*, to GID ::ffff:10.9.0.77: "
closed_port() {
	ask_tcp 1 --no-cm "$addr" -p 18515 && said 'TCP connection failed: no server listens at this address and port'
}
check "a closed port" closed_port
# A firewall that swallows.
no_host() {
	TIMEOUT=2s ask_tcp 1 --no-cm 10.9.0.99 && said 'TCP connection failed: (no response within 2.0 s|No route to host)'
}
check "a host that does not exist" no_host
check "the client leaves nothing" until_true 30 nothing_left

# A container's own interface on the same device: the table has the GIDs of both namespaces.
ip netns add pod
in_pod=(ip netns exec pod)
own_interface() {
	ip link add m0 link v0 type macvlan && ip link set m0 netns pod &&
		"${in_pod[@]}" ip address add 10.9.0.7/24 dev m0 && "${in_pod[@]}" ip link set m0 up &&
		"${in_pod[@]}" ip link set lo up && until_true 20 has_gid ::ffff:10.9.0.7
}
has_gid() {
	eadm dump gid -d "$dev" --json | grep -q "\"$1\""
}
check "a container with an interface" own_interface
# Not the first GID, which is another namespace's, and no address of TCP has a GID.
uses_own() {
	"${in_pod[@]}" "$here/exchange.py" serve 18514 silent >"$work/peer" 2>&1 &
	set -- $!
	until_true 30 grep -q listening "$work/peer" &&
		ends 1 "${in_pod[@]}" eadm test client --no-cm --timeout 3s 127.0.0.1 --json &&
		jq -e '.rows[0].local_gid == "::ffff:10.9.0.7"' "$work/said"
	set -- "$1" $?
	kill "$1"
	wait "$1" 2>/dev/null
	return "$2"
}
check "its GID is used there" uses_own
same_name() {
	"${in_pod[@]}" ip link set m0 down && "${in_pod[@]}" ip link set m0 name v0 &&
		"${in_pod[@]}" ip link set v0 up && uses_own
}
check "also if the interfaces have the same name" same_name
no_interface() {
	"${in_pod[@]}" ip link delete v0 && ends 3 "${in_pod[@]}" eadm test server --no-cm &&
		said "devices: no GID belongs to an interface of this network namespace \(see 'eadm dump gid'\)"
}
check "without the interface none can be used" no_interface
ip netns delete pod
