#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A peer that does not do what "eadm test" does over TCP.

exchange.py serve PORT SAYING...    answer each client with the next SAYING, then with the last
exchange.py ask HOST PORT SAYING    connect, say that, and print how the server ended it
exchange.py flood HOST PORT N LEAST make N connections; wait until LEAST are refused, print how many

A saying is a message or what is wrong with it: silent, garbage, nothing (close at once), half,
slow (a byte each half second), version, length, limits, v1, gid (whose host does not exist),
type, more, hello, refused.
"""

import select
import socket
import struct
import sys
import time

HELLO, WELCOME, REFUSAL = 1, 2, 3
SIZE = 80
# What ::ffff:10.9.0.77 has: nobody.
NOBODY = bytes(10) + b"\xff\xff" + bytes([10, 9, 0, 77])
# And 10.9.0.1, who listens.
SOMEBODY = bytes(10) + b"\xff\xff" + bytes([10, 9, 0, 1])


def message(kind=HELLO, version=1, length=SIZE, roce=2, depth=1, size=64, gid=NOBODY, reason=0,
            error=0, qp_type=b"RC"):
    return struct.pack(">IHHBBBBHH8s6IQ16sHHI", 0x45414454, version, length, kind, 0, roce, 3, 0, depth,
                       qp_type, 77, 1, 1, size, size, 1, 0, gid, reason, error, 0)


def words(saying, kind):
    return {
        "garbage": b"SSH-2.0-OpenSSH_9.2\r\n",
        "nothing": b"", "silent": b"",
        "half": message(kind)[:40], "slow": message(kind),
        "version": message(kind, version=2),
        "length": message(kind, length=0xffff),
        "limits": message(kind, size=0xffffffff),
        "v1": message(kind, roce=1),
        "gid": message(kind),
        "type": message(kind, qp_type=b"XYZ"),
        "more": message(kind, gid=SOMEBODY) + b"x",
        "hello": message(HELLO),
        "refused": message(REFUSAL, roce=0, depth=0, size=0, gid=bytes(16), qp_type=b"", reason=7, error=110),
    }[saying]


def say(conn, saying, kind):
    text = words(saying, kind)
    if saying == "slow":
        for byte in text:
            conn.sendall(bytes([byte]))
            time.sleep(0.5)
    else:
        conn.sendall(text)


def serve(port, sayings):
    listener = socket.create_server(("127.0.0.1", port))
    print("listening", flush=True)
    kept = []
    while True:
        conn = listener.accept()[0]
        saying = sayings.pop(0) if len(sayings) > 1 else sayings[0]
        try:
            say(conn, saying, WELCOME)
        except OSError:
            pass
        if saying in ("silent", "half", "slow"):
            kept.append(conn)
        else:
            # Without what the client sent unread, which would reset the connection.
            conn.recv(SIZE)
            conn.close()


def ending(conn):
    """How the server ended the connection."""
    got = b""
    conn.settimeout(120)
    try:
        while True:
            more = conn.recv(4096)
            if not more:
                break
            got += more
    except ConnectionError:
        pass
    if len(got) != SIZE:
        return f"closed after {len(got)} bytes"
    kind, reason = got[8], struct.unpack(">H", got[72:74])[0]
    return f"refused: {reason}" if kind == REFUSAL else "welcome, then closed"


def ask(host, port, saying):
    conn = socket.create_connection((host, port))
    try:
        say(conn, saying, HELLO)
        if saying in ("nothing", "half"):
            conn.shutdown(socket.SHUT_WR)
    except ConnectionError:
        pass
    print(ending(conn))


def flood(host, port, count, least):
    conns = [socket.create_connection((host, port)) for _ in range(count)]
    refused, end = 0, time.monotonic() + 60
    while refused < least and time.monotonic() < end:
        for conn in select.select(conns, [], [], 1)[0]:
            refused += len(conn.recv(SIZE)) == SIZE
            conns.remove(conn)
    print(refused)


def main():
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]), sys.argv[3:])
    elif sys.argv[1] == "ask":
        ask(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        flood(sys.argv[2], *map(int, sys.argv[3:]))


main()
