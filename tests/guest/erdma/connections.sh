# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Many connections, and connections that end in every state.
here_is=10.77.0.1
there_is=10.77.1.1

conns() {
	"$programs/conns" "$@" && nothing_left
}

for scenario in $("$programs/conns" list); do
	case $scenario in
	many) continue ;;
	again) times=20 ;;
	accept-*) times=40 ;;
	*) times=4 ;;
	esac
	check "$scenario on one adapter" conns "$scenario" $here_is $here_is "$times"
	check "$scenario between adapters" conns "$scenario" $here_is $there_is "$times"
done

# rpings COUNT: runs clients one after the other, with a server that has a thread for each.
rpings() {
	local before i server status=0

	before=$(rdma resource)
	rping -s -P -a $here_is -p 7910 >/tmp/rping-server 2>&1 &
	server=$!
	until_true 20 eval "ss -Hltn sport = :7910 | grep -q ." || status=1
	for ((i = 0; i < $1 && !status; i++)); do
		timeout 60 rping -c -a $here_is -I $there_is -p 7910 -C 2 -V >/tmp/rping 2>&1 ||
			{ echo "client $i"; tail -n 5 /tmp/rping /tmp/rping-server; status=1; }
	done
	kill $server
	wait $server
	[ $status = 0 ] && until_true 20 eval '[ "$(rdma resource)" = "'"$before"'" ]'
}

check "${EADM_RPINGS:-20} clients of one rping server" rpings "${EADM_RPINGS:-20}"

# The RDMA CM considers ports free that TCP uses: here every other port of a small range, to the
# same peer. The range is below the default range, which earlier connections may still use.
taken_ports() {
	local file=/proc/sys/net/ipv4/ip_local_port_range range status=0 holder

	range=$(cat $file)
	coproc HOLD { python3 -c '
import socket, sys
def tcp(host, port):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((host, port))
    return sock
listener = tcp(sys.argv[1], 7900)
listener.listen(100)
held = []
for port in range(20000, 20400, 2):
    held.append(tcp(sys.argv[2], port))
    held[-1].connect((sys.argv[1], 7900))
    held.append(listener.accept())
listener.close()
print("held", flush=True)
sys.stdin.read()' $there_is $here_is; }
	holder=$HOLD_PID
	read -r _ <&"${HOLD[0]}" || return 1
	echo 20000 20399 >$file
	conns many $there_is $here_is 100 || status=1
	echo "$range" >$file
	kill "$holder"
	wait "$holder"
	return $status
}
check "100 connections from a port range of which TCP uses half" taken_ports

check "1000 connections at once on one adapter" conns many $here_is $here_is 1000
check "1000 connections at once between adapters" conns many $there_is $here_is 1000

# This includes endpoints of requests that the iWARP CM dropped with their listener.
no_endpoints() {
	[ "$(eadm dump cep --json | jq '.rows | length')" = 0 ]
}
check "no endpoint is left" until_true 40 no_endpoints
