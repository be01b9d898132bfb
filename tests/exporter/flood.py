#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Strangers on loopback, many at once in one process: each has one connection at
a time and makes another one as soon as that ends. Says "all" when each of them has
asked once. Runs until it is ended, or for two minutes.

    flood.py PORT KIND:NUMBER...

wrong     asks with a password that was never used before, waits for the answer
patience  the same, and gives up after five seconds
same      asks with one wrong password again and again
pipeline  asks a hundred times at once and reads nothing, anew every six seconds
idle      sends half a request
others    as wrong, each from an address of its own
"""

import base64
import os
import selectors
import socket
import sys
import time

LIMIT = 120
REQUEST = "GET /metrics HTTP/1.1\r\nHost: x\r\n%s\r\n"


def basic(password):
    pair = base64.b64encode(f"prom:{password}".encode()).decode()
    return f"Authorization: Basic {pair}\r\n"


class Stranger:
    def __init__(self, kind, port, number):
        self.kind, self.port, self.number = kind, port, number
        self.sock, self.end, self.again, self.asked = None, 0, 0, False

    def what(self):
        if self.kind == "same":
            return REQUEST % basic("same")
        if self.kind == "pipeline":
            return REQUEST % "" * 100
        if self.kind == "idle":
            return "GET /metrics HTTP/1.1\r\nHost"
        return REQUEST % basic(os.urandom(12).hex())

    def begin(self, selector, now):
        self.sock = socket.socket()
        self.sock.setblocking(False)
        if self.kind == "others":
            self.sock.bind((f"127.0.1.{self.number + 1}", 0))
        if self.kind == "pipeline":
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.sock.connect_ex(("127.0.0.1", self.port))
        life = {"pipeline": 6, "patience": 5}.get(self.kind, LIMIT)
        self.end = now + life
        selector.register(self.sock, selectors.EVENT_WRITE, self)

    def close(self, selector):
        selector.unregister(self.sock)
        self.sock.close()
        self.sock = None

    def go_on(self, selector, events, now):
        try:
            if events & selectors.EVENT_WRITE:
                self.sock.send(self.what().encode())
                self.asked = True
                # One that reads nothing still sees the end of its connection.
                selector.modify(self.sock, 0 if self.kind == "pipeline" else
                                selectors.EVENT_READ, self)
            elif not self.sock.recv(65536):
                raise ConnectionError
        except OSError:
            self.close(selector)
            # Less than this, and the test would measure its own strangers.
            self.again = now + 0.02


class Quiet(selectors.EpollSelector):
    """That waits for nothing but the end, where asked to."""

    def modify(self, fileobj, events, data=None):
        if events:
            return super().modify(fileobj, events, data)
        self._selector.modify(fileobj.fileno(), 0)
        return self.get_key(fileobj)


def main(port, kinds):
    strangers = []
    for kind in kinds:
        name, number = kind.split(":")
        strangers += [Stranger(name, port, n) for n in range(int(number))]
    selector = Quiet()
    limit = time.monotonic() + LIMIT
    said = False
    while (now := time.monotonic()) < limit:
        for one in strangers:
            if one.sock and now > one.end:
                one.close(selector)
            if not one.sock and now > one.again:
                one.begin(selector, now)
        for key, events in selector.select(0.02):
            if key.data.sock:
                key.data.go_on(selector, events, now)
        if not said and all(one.asked for one in strangers):
            print("all", flush=True)
            said = True
        if os.getppid() == 1:
            return


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
