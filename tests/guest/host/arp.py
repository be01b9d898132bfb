#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""arp.py INTERFACE FROM ADDRESS: prints how many different MAC addresses answer an ARP request."""
import socket
import struct
import sys
import time

interface, own, address = sys.argv[1:]
sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x806))
sock.bind((interface, 0x806))
mac = sock.getsockname()[4]
request = struct.pack("!6s6sHHHBBH6s4s6s4s", b"\xff" * 6, mac, 0x806, 1, 0x800, 6, 4, 1, mac,
                      socket.inet_aton(own), bytes(6), socket.inet_aton(address))
answers = set()
# Answers come within microseconds: the rest of the time is for slow guests.
for _ in range(3):
    sock.send(request)
    end = time.monotonic() + 1
    while (left := end - time.monotonic()) > 0:
        sock.settimeout(left)
        try:
            data = sock.recv(1500)
        except socket.timeout:
            break
        if data[20:22] == b"\0\2" and data[28:32] == socket.inet_aton(address):
            answers.add(data[22:28])
print(len(answers))
