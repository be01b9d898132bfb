#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A connection of which both ends, one or none are SMC sockets: smc.py ADDRESS PORT SERVER CLIENT,
each "smc" or "tcp". Fails unless the data arrives."""
import socket
import sys

AF_SMC = 43
DATA = b"over whatever it is"


def stream(kind):
    if kind == "tcp":
        return socket.socket()
    smc = socket.socket(AF_SMC, socket.SOCK_STREAM, 0)
    # Its addresses are those of IPv4, which Python does not know.
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, smc.detach())


address = sys.argv[1], int(sys.argv[2])
server, client = map(stream, sys.argv[3:5])
server.bind(address)
server.listen()
client.settimeout(30)
client.connect(address)
server.settimeout(30)
# accept() of Python asks the new socket for its family.
peer = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, server._accept()[0])
client.sendall(DATA)
sys.exit(peer.recv(len(DATA)) != DATA)
