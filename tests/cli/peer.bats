# SPDX-License-Identifier: GPL-2.0-or-later
# Programs on --peer's socket. One that does not keep to the protocol: a clear error, at once.
load common

# answers WHAT: listens on $BATS_TEST_TMPDIR/socket, and answers each request so.
answers() {
	/usr/bin/python3 - "$BATS_TEST_TMPDIR/socket" "$1" 3>&- <<-'END' &
	import os, socket, struct, sys

	path, what = sys.argv[1:]
	listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	listener.bind(path + ".new")
	listener.listen(8)
	# A client that finds the path can connect.
	os.rename(path + ".new", path)

	def message(seq, kind=0xead, length=None, data=bytes(8)):
	    return struct.pack("=IHHII", length or 16 + len(data), kind, 0, seq, 0) + data

	def answer(seq):
	    return {"short": b"\x08\x00\x00\x00",
	            "small": message(seq, length=12),
	            "long": message(seq, length=4096),
	            "type": message(seq),
	            "other": message(seq + 1),
	            "huge": bytes(65536)}.get(what)

	while True:
	    client, _ = listener.accept()
	    while request := client.recv(4096):
	        if what == "closes":
	            break
	        if packet := answer(struct.unpack_from("=I", request, 8)[0]):
	            client.send(packet)
	    client.close()
	END
	SERVER=$!
	until_true 30 test -S "$BATS_TEST_TMPDIR/socket"
}

teardown() {
	[ -z "${SERVER-}" ] || kill "$SERVER"
}

# reports ANSWER STATUS MESSAGE: how eadm reports such an answer. A silent program costs the timeout.
reports() {
	answers "$1"
	fails "$2" "eadm: dump: queue pairs: $3" \
		--peer "$BATS_TEST_TMPDIR/socket" --timeout 2s dump qp
}

@test "trace --follow shows columns that only later commands need" {
	/usr/bin/python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/socket" 3>&- <<-'END' &
	import os, socket, struct, sys, threading

	sys.path.insert(0, sys.argv[1])
	sys.dont_write_bytecode = True
	from nlcap import CTRL, FAMILY, Netlink
	from synth import cmd, device

	netlink = Netlink()
	names = {number: name for name, number in netlink.spec.cmds.items()}
	first, second = cmd(0, 1), cmd(0, 2, state="timeout", status=-110, qpn=77, pid=999, comm="train")
	del first["pid"], first["comm"]
	dumps = 0

	def rows_of(name):
	    global dumps
	    dumps += name == "cmd"
	    return {"dev": [device(0)], "cmd": [first, second][:dumps - 1]}.get(name, [])

	def serve(client):
	    while request := client.recv(65536):
	        kind, seq = struct.unpack_from("=H2xI", request, 4)
	        if kind == CTRL:
	            client.send(netlink.message(CTRL, 0, seq, bytes([1, 2, 0, 0]) +
	                                        netlink.attr(2, b"eadm\0") +
	                                        netlink.attr(1, struct.pack("H", FAMILY))))
	            continue
	        name = names[request[16]]
	        client.send(netlink.rows(name, rows_of(name), seq))

	listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	listener.bind(sys.argv[2] + ".new")
	listener.listen(8)
	os.rename(sys.argv[2] + ".new", sys.argv[2])
	while True:
	    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
	END
	SERVER=$!
	until_true 30 test -S "$BATS_TEST_TMPDIR/socket"
	run timeout 60 "$EADM" --peer "$BATS_TEST_TMPDIR/socket" trace --follow -n 2
	echo "$output"
	[ "$status" = 0 ]
	[[ ${lines[0]} == "DEVICE "*" STATE "*" PID COMM "*" QPN TO" ]]
	[[ ${lines[1]} == "cloud_0 "*" done "*" - -" ]]
	[[ ${lines[2]} == "cloud_0 "*" timeout "*" 999 train "*" 77 -" ]]
}

@test "an answer shorter than a header" {
	reports short 1 "malformed netlink message: message exceeds its packet"
}

@test "message shorter than its header" {
	reports small 1 "malformed netlink message: message exceeds its packet"
}

@test "a message longer than its packet" {
	reports long 1 "malformed netlink message: message exceeds its packet"
}

@test "an answer of another type" {
	reports type 1 "malformed netlink message: unexpected reply of type 3757"
}

@test "an answer to another request" {
	reports other 1 "$BATS_TEST_TMPDIR/socket: reply to a different request"
}

@test "a packet larger than any" {
	reports huge 1 "$BATS_TEST_TMPDIR/socket: invalid packet of 65536 bytes"
}

@test "a program that closes the connection" {
	reports closes 1 "$BATS_TEST_TMPDIR/socket: the program has exited, or has too many readers"
}

@test "a program that says nothing" {
	reports silent 1 "$BATS_TEST_TMPDIR/socket: no reply from the program within 2000 ms"
}

@test "top shows latencies again once a stream of records that ended can be opened again" {
	timeout 60 /usr/bin/python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/socket" "$EADM" <<-'END'
	import json, socket, struct, subprocess, sys, threading, time
	sys.path.insert(0, sys.argv[1])
	sys.dont_write_bytecode = True
	from nlcap import FAMILY, GENERIC, Netlink
	from synth import cmd, cmdq, counters, device

	net = Netlink()
	names = {number: name for name, number in net.spec.cmds.items()}
	listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	listener.bind(sys.argv[2])
	listener.listen(8)
	seen = cut = 0  # records sent; of these, before the stream ended

	def rows_of(name):
	    global seen
	    if name == "cmd":
	        seen += 1
	        return [cmd(0, seen, time=time.time_ns())]
	    return {"dev": [device(0)], "counters": [counters(0)], "cmdq": [cmdq(0)]}.get(name, [])

	def serve(client):
	    global cut
	    while request := client.recv(65536):
	        _, kind, _, seq = struct.unpack_from("=IHHI", request)
	        if kind == GENERIC:
	            client.send(net.message(kind, 0, seq, struct.pack("=BBH", 1, 2, 0) +
	                        net.attr(2, b"eadm\0") + net.attr(1, struct.pack("=H", FAMILY))))
	            continue
	        name = names[request[16]]
	        if name == "cmd" and shown and not cut:
	            cut = seen
	            break
	        head = struct.pack("=BBH", request[16], 1, 0)
	        client.send(b"".join(net.message(FAMILY, 2, seq, head + net.row(name, row))
	                             for row in rows_of(name)) + net.message(3, 2, seq, bytes(4)))
	    client.close()

	def accept():
	    while True:
	        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

	shown = False
	threading.Thread(target=accept, daemon=True).start()
	top = subprocess.Popen([sys.argv[3], "--peer", sys.argv[2], "top", "--json", "-i", "100ms"],
	                       stdout=subprocess.PIPE, text=True)
	for line in top.stdout:
	    table = json.loads(line)
	    if table["object"] != "top-device":
	        continue
	    shown = "cmd_p50" in table["rows"][0]
	    if shown and cut and seen > cut + 1:
	        break
	top.terminate()
	sys.exit(top.wait())
	END
}
