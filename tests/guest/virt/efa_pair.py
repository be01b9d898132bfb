# SPDX-License-Identifier: GPL-2.0-or-later
"""Ends of EFA traffic for the raw driver: a QP, its CQs and memory."""

import struct

import efa_raw as efa
from tap import equal

SEND, READ, WRITE = 0, 1, 2
SQ, RQ = 1, 2

(SUCCESS, FLUSHED, QP_ERROR, UNSUPPORTED, INVALID_AH, INVALID_LKEY, BAD_LENGTH, REMOTE_ACCESS,
 ABORTED, BAD_QPN, RNR, REMOTE_LENGTH, REMOTE_STATUS, UNRESPONSIVE, UNKNOWN_PEER,
 UNREACHABLE) = range(16)

NO_AH = 0xffff
KEY = 0x11223344


class Host:
    """A function with a PD, a UAR, and an AH for each peer function."""

    def __init__(self, device):
        self.device = device
        self.pd, self.uar = device.alloc_pd(), device.alloc_uar()
        self.gid = device.gid()
        self.ahs = {}

    def ah(self, other):
        if other.gid not in self.ahs:
            self.ahs[other.gid] = self.device.create_ah(other.gid, self.pd)
        return self.ahs[other.gid]


class End:
    """A QP, by default in RTS; cqs: use the CQs of this end."""

    def __init__(self, host, size=32768, state=efa.RTS, qkey=KEY, rnr=None, words=8, src=True,
                 cqs=None, rights=7, **kwargs):
        device = self.device = host.device
        self.host, self.qkey = host, qkey
        self.scq = cqs.scq if cqs else efa.Cq(device, host.uar, words=words, src=src)
        self.rcq = cqs.rcq if cqs else efa.Cq(device, host.uar, words=words, src=src)
        self.qp = efa.Qp(device, host.pd, host.uar, self.scq, self.rcq, **kwargs)
        self.block = device.alloc(size)
        self.mr = efa.Mr(device, self.block, size, host.pd, rights=rights)
        self.peer = None
        self.to_state(state, rnr)

    def to_state(self, state, rnr=None):
        extra = {"psn": 1} if rnr is None else {"psn": 1, "rnr": rnr}
        path = (efa.INIT, {"qkey": self.qkey}), (efa.RTR, {}), (efa.RTS, extra)
        for current, (to, what) in enumerate(path[:min(state, efa.RTS)]):
            equal(self.qp.go(to, current, **what), 0, f"to {to}")

    def fill(self, data, offset=0):
        self.block[offset:offset + len(data)] = data

    def data(self, length, offset=0):
        return self.block[offset:offset + length]

    def to(self, qpn=None, ah=None, qkey=None):
        """Returns the destination of a work request, by default the peer."""
        return (self.peer.qp.qpn if qpn is None else qpn,
                self.host.ah(self.peer.host) if ah is None else ah,
                self.peer.qkey if qkey is None else qkey)

    # Work requests

    def wr(self, op, data, count, to=None, **kwargs):
        self.qp.wr(op, to or self.to(), data, count, **kwargs)

    def send(self, *sges, **kwargs):
        text = b"".join(struct.pack("<IIQ", *sge) for sge in sges)
        self.wr(SEND, text, len(sges), **kwargs)

    def send_inline(self, data, length=None, **kwargs):
        self.wr(SEND, data, len(data) if length is None else length, inline=True, **kwargs)

    def read(self, local, remote, **kwargs):
        self.wr(READ, struct.pack("<IIQIIQ", *remote, *local), 1, **kwargs)

    def write(self, local, remote, **kwargs):
        self.wr(WRITE, struct.pack("<IIQIIQ", *remote, *local), 1, **kwargs)

    def write_inline(self, data, remote, **kwargs):
        self.wr(WRITE, struct.pack("<IIQ", *remote) + data, len(data), inline=True, **kwargs)

    def recv(self, *sges, **kwargs):
        self.qp.recv(*(sges or (self.mr.sge(),)), **kwargs)

    # Completions

    def sent(self, number=0, status=SUCCESS, op=SEND):
        cqe = self.scq.wait(self.qp.send_sub)
        equal((cqe.queue, cqe.qpn, cqe.req_id, cqe.status, cqe.op, cqe.has_imm),
              (SQ, self.qp.qpn, number, status, op, 0), "completion of a send queue")

    def received(self, number=0, length=None, status=SUCCESS, op=SEND, imm=None):
        cqe = self.rcq.wait(self.qp.recv_sub)
        equal((cqe.queue, cqe.qpn, cqe.req_id, cqe.status, cqe.op, cqe.has_imm, cqe.imm),
              (RQ, self.qp.qpn, number, status, op, imm is not None, imm or 0),
              "completion of a receive")
        if length is not None:
            equal(cqe.length, length & 0xffff, "bytes received")
        return cqe

    def quiet(self):
        """Checks that no request has completed; two commands first give the device time to complete one."""
        for _ in range(2):
            equal(self.device.get_feature(1)[0], 0)
        got = [ring.peek() for cq in (self.scq, self.rcq) for ring in cq.subs]
        equal(got, [None] * len(got), "completions")


def pair(ad, params=None, peer=None, **kwargs):
    """Returns two ends on one adapter, each the peer of the other; peer: arguments that differ for the second."""
    host = Host(ad.plug(**(params or {})).init())
    a = End(host, **kwargs)
    b = End(host, **{**kwargs, **(peer or {})})
    a.peer, b.peer = b, a
    return a, b


def far_pair(ad, other, **kwargs):
    """Returns such ends on two adapters."""
    a, b = (End(Host(x.plug().init()), **kwargs) for x in (ad, other))
    a.peer, b.peer = b, a
    return a, b
