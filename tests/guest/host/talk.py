#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A program with libraries that uses TCP: talk.py serve ADDRESS | send ADDRESS RATE [LIBRARY...].

Sends RATE bytes per second, 0 for none, and prints "ready" when it is connected."""
import ctypes
import socket
import sys
import time

PORT = 7000
if sys.argv[1] == "serve":
    listener = socket.create_server((sys.argv[2], PORT))
    print("ready", flush=True)
    while True:
        peer, _ = listener.accept()
        while peer.recv(1 << 16):
            pass
loaded = [ctypes.CDLL(name) for name in sys.argv[4:]]
rate = int(sys.argv[3])
peer = socket.create_connection((sys.argv[2], PORT))
print("ready", flush=True)
while True:
    if rate:
        peer.sendall(bytes(rate // 20))
    time.sleep(0.05)
