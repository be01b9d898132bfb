# SPDX-License-Identifier: GPL-2.0-or-later
"""Entries of RDMA netlink's tables, as attributes of a capture."""

import socket
import struct


def socket_address(cap, text, port):
    """As the kernel gives it: all of sockaddr_storage."""
    if ":" in text:
        data = cap.pack("H", 10) + struct.pack(">HI", port, 0) + socket.inet_pton(
            socket.AF_INET6, text)
    else:
        data = cap.pack("H", 2) + struct.pack(">H", port) + socket.inet_aton(text)
    return data + bytes(128 - len(data))


def owner(cap, who):
    """A process or a kernel consumer."""
    return cap.attr(28, cap.pack("I", who)) if isinstance(who, int) else \
        cap.attr(29, who.encode() + b"\0")


def cm_id(cap, number, state, who, local=None, peer=None, qpn=None, ps=0x106):
    """An entry of the kernel's connection manager."""
    out = cap.attr(3, cap.pack("I", 1))
    if qpn:
        out += cap.attr(21, cap.pack("I", qpn)) + cap.attr(26, b"\x02")
    out += cap.attr(32, cap.pack("I", ps)) + cap.attr(27, bytes([state]))
    for attr, address in ((33, local), (34, peer)):
        if isinstance(address, bytes):
            out += cap.attr(attr, address)
        elif address:
            out += cap.attr(attr, socket_address(cap, *address))
    return out + cap.attr(63, cap.pack("I", number)) + owner(cap, who)


def rdma_qp(cap, qpn, state, who, kind=2, *, port=None, peer=None):
    return ((cap.attr(3, cap.pack("I", port)) if port else b"") +
            cap.attr(21, cap.pack("I", qpn)) +
            (cap.attr(22, cap.pack("I", peer)) if peer else b"") +
            cap.attr(26, bytes([kind])) + cap.attr(27, bytes([state])) + owner(cap, who))


def qp_list(cap, *qps):
    """QPs of an SRQ: numbers, and first and last of ranges."""
    return cap.attr(19, b"".join(
        cap.attr(20, cap.attr(91, cap.pack("I", one[0])) + cap.attr(92, cap.pack("I", one[1]))
                 if isinstance(one, tuple) else cap.attr(21, cap.pack("I", one))) for one in qps))


def rdma_srq(cap, srqn, kind, who, cqn=None, qps=()):
    return (cap.attr(90, cap.pack("I", srqn)) + cap.attr(26, bytes([kind])) +
            cap.attr(60, cap.pack("I", 1)) + (cap.attr(61, cap.pack("I", cqn)) if cqn else b"") +
            qp_list(cap, *qps) + owner(cap, who))
