#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a guest whose only devices are two EFA adapters, under the driver MODULE or the one that is
# loaded: "eadm test" works without a connection manager. Usage: no-cm.sh [MODULE]. Prints TAP.
here=$(dirname "$(readlink -f "$0")")
. tests/lib/tap.sh
# shellcheck source=tests/guest/host/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/guest/host/nocm-lib.sh
. "$here/nocm-lib.sh"
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/lib/knobs.sh
. tests/lib/knobs.sh
knobs=/sys/kernel/config/eadm_virt/efa

if [ -n "${1-}" ]; then
	modprobe ib_uverbs
	check "the driver is loaded" insmod "$1"
fi
check "both adapters have a device" until_true 20 eval '[ "$(rdma dev | wc -l)" = 2 ]'
first=$(gid_of efa_0 0)
second=$(gid_of efa_1 0)

serve_tcp -d efa_0
check "a server names the device without connection manager" server_noted \
	'listening on all addresses port 18514 \(TCP: efa_0 does not support the connection manager\)'
check "all tests pass between two adapters" ask_tcp 0 127.0.0.1 -d efa_1 --json
check "each has device, GIDs, type and figures" all_tests efa_1 SRD "$second" "$first"
fits() {
	jq -e '.rows[] | select(.test == "data") | .size >= 4096 and .size < 65536 and .count >= 21' "$work/said" &&
		jq -e '.rows[] | select(.test == "rdma") | .size == 65536 and .count == 6' "$work/said"
}
check "messages are as large as the adapter can, reads as wanted" fits
says_route() {
	COUNT=3000 ask_tcp 0 127.0.0.1 -d efa_1 -t connect,order &&
		noted "route: efa_1, $second to $first, SRD set up by TCP \(efa_1 does not support the connection manager\)"
}
check "a client says which way it goes" says_route
check "one adapter with itself" ask_tcp 0 127.0.0.1 -d efa_0 -t data,echo
check "two clients at once" bash -c "eadm test client 127.0.0.1 -d efa_1 -n 200 -t echo,order --timeout 60s & one=\$!
	eadm test client 127.0.0.1 -d efa_0 -n 200 -t echo,order --timeout 60s && wait \$one"
check "without --device an adapter is chosen" ask_tcp 0 127.0.0.1 -t connect
ip netns add pod
in_pod() {
	ip netns exec pod "$@"
}
set_up_pod() {
	ip link add h0 type veth peer name p0 netns pod && ip address add 10.8.0.1/24 dev h0 &&
		ip link set h0 up && in_pod ip address add 10.8.0.2/24 dev p0 && in_pod ip link set p0 up
}
check "a network namespace" set_up_pod
from_pod() {
	ends 0 in_pod eadm test client 10.8.0.1 -d efa_1 -t data,rdma --timeout 60s && said "efa_1 +10.8.0.2 +10.8.0.1"
}
check "data and reads from another namespace" from_pod

check "an adapter that does not exist" eval \
	'ask_tcp 3 127.0.0.1 -d efa_9 && noted "efa_9: no such RDMA device"'
check "a GID that does not exist" eval \
	'ask_tcp 3 127.0.0.1 -d efa_1 --gid-index 5 && noted "efa_1: GID index 5 is empty"'
check "the GID by its index" ask_tcp 0 127.0.0.1 -d efa_1 --gid-index 0 -t connect
check "--no-cm means the same here" ask_tcp 0 127.0.0.1 -d efa_1 --no-cm -t connect
eadm test client 127.0.0.1 -d efa_1 -n 10000000 -t echo >/dev/null 2>&1 </dev/null &
busy=$!
serves_one() {
	readlink "/proc/$server/fd/"* | grep -q uverbs
}
check "a client is at work" until_true 60 serves_one
kill -KILL $busy
wait $busy 2>/dev/null
check "the server goes on when it was killed" ask_tcp 0 127.0.0.1 -d efa_1 -t data
# The adapters do not reach each other, as with a security group that lacks a rule.
check "the peer's packets are lost" set_knob $knobs/e1/fault/peer_silent count -1
blocked() {
	TIMEOUT=5s ask_tcp 1 127.0.0.1 -d efa_1 &&
		said 'connection failed: .*though TCP works \(the security group must allow all traffic from and to the group itself'
}
check "the client names the security group" blocked
check "they are no longer lost" set_knob $knobs/e1/fault/peer_silent count 0
check "and all is well again" ask_tcp 0 127.0.0.1 -d efa_1 -t data
end_tcp "the server ends well" 0
check "and says what it served" grep -qE '^connections +ok +[0-9]{2} .*efa_0' "$work/rows"
no_server() {
	ask_tcp 1 127.0.0.1 -d efa_1 &&
		said 'TCP connection failed: no server listens at this address and port'
}
check "without a server the client says so" no_server
serve_tcp -d efa_0 --once --port 7777
check "a server for one client, on another port" ask_tcp 0 127.0.0.1 -d efa_1 --port 7777
ended() { ! kill -0 "$server" 2>/dev/null; }
check "ends after it" until_true 30 ended
no_library() {
	ends 5 unshare -m sh -c "mount -t tmpfs none /etc/libibverbs.d && exec eadm test $1" &&
		said 'libibverbs: no provider for the RDMA devices of this host \(install ibverbs-providers'
}
check "a server without the provider" no_library server
check "a client without the provider" no_library "client 127.0.0.1"
tap_end
