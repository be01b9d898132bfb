#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the data path of the virtual EFA adapter against the hardware interface.

Runs in the guest with no EFA driver loaded; prints TAP lines."""

import struct
import sys

import efa_pair as p
import efa_raw as efa
import pci
from efa_pair import End, Host, far_pair, pair
from efa_raw import adapter
from tap import case, equal, run

MTU = 8928


def pattern(length, seed=1):
    return bytes((seed * 7 + i * 31 + (i >> 8)) & 0xff for i in range(length))


@case("SRD sends: sizes up to the MTU, two elements, zero bytes, all bits of a number")
def send(ad):
    a, b = pair(ad)
    a.fill(pattern(16384))
    for number, sges in ((0xffff, [(3, 4097)]), (1, [(0, 1)]), (2, [(5000, MTU)]), (3, []),
                         (4, [(0, 0)]), (5, [(7, 100), (9000, 4000)])):
        b.fill(bytes(16384))
        b.recv(number=number ^ 0x5555)
        a.send(*[a.mr.sge(*sge) for sge in sges], number=number)
        a.sent(number)
        data = b"".join(a.data(length, offset) for offset, length in sges)
        b.received(number ^ 0x5555, len(data))
        equal(b.data(16384), data.ljust(16384, b"\0"), "data")
    b.recv()
    a.send(a.mr.sge(0, MTU + 1))
    a.sent(status=p.BAD_LENGTH)
    a.send(a.mr.sge(0, MTU), a.mr.sge(0, 1))
    a.sent(status=p.BAD_LENGTH)
    a.wr(p.SEND, bytes(32), 3)
    a.sent(status=p.BAD_LENGTH)
    b.quiet()


@case("inline data: up to 32 bytes, 80 in entries of 128, and no more")
def inline(ad):
    for wqe, most in (64, 32), (128, 80):
        a, b = pair(ad, {"features": "0x2fe", "max_inline_ext": 80}, wqe=wqe)
        for length in 0, 1, most:
            b.recv(number=length)
            a.send_inline(pattern(length, length))
            a.sent()
            b.received(length, length)
            equal(b.data(length), pattern(length, length), "data")
        b.recv()
        a.send_inline(bytes(most), most + 1)
        a.sent(status=p.BAD_LENGTH)
        b.quiet()
    # The limit of the device may be lower than the space in an entry.
    a, b = pair(ad, {"features": "0x2fe", "max_inline_ext": 48}, wqe=128)
    b.recv()
    a.send_inline(bytes(49))
    a.sent(status=p.BAD_LENGTH)
    a.send_inline(pattern(48))
    a.sent()
    b.received(0, 48)


@case("entries of 128 bytes: elements, reads, writes, writes with inline data")
def long_entries(ad):
    a, b = pair(ad, {"features": "0x2fe", "max_inline_ext": 80}, wqe=128, sq_depth=4)
    a.fill(pattern(8192))
    for lap in range(6):
        b.recv(number=lap)
        a.send(a.mr.sge(lap, 1000), a.mr.sge(4000, 10), number=lap)
        a.sent(lap)
        b.received(lap, 1010)
        equal(b.data(1010), a.data(1000, lap) + a.data(10, 4000), "data")
    a.write_inline(pattern(80, 3), b.mr.remote(100, 80))
    a.sent(op=p.WRITE)
    equal(b.data(80, 100), pattern(80, 3), "written")
    a.write(a.mr.sge(0, 5000), b.mr.remote(1000, 5000))
    a.sent(op=p.WRITE)
    equal(b.data(5000, 1000), a.data(5000), "written")
    a.read(a.mr.sge(20000, 300), b.mr.remote(1000, 300))
    a.sent(op=p.READ)
    equal(a.data(300, 20000), b.data(300, 1000), "read")
    # Entries of 64 bytes have no space for inline data of writes.
    c = End(a.host)
    c.peer = b
    c.write_inline(pattern(8), b.mr.remote(0, 8))
    c.sent(status=p.BAD_LENGTH, op=p.WRITE)


@case("immediate data, as a number")
def immediate(ad):
    a, b = pair(ad)
    for imm in 0x11223344, 0, 0xffffffff:
        b.recv()
        a.send_inline(b"x", imm=imm)
        a.sent()
        b.received(0, 1, imm=imm)


@case("the sender: its AH at the receiver, or its address; entries of 16 bytes")
def source(ad):
    other = adapter("test2")
    try:
        a, b = far_pair(ad, other)
        b.recv()
        a.send_inline(b"unknown")
        a.sent()
        cqe = b.received()
        equal((cqe.ah, cqe.src_qpn, cqe.tail), (p.NO_AH, a.qp.qpn, a.host.gid))
        b.recv()
        ah = b.host.ah(a.host)
        a.send_inline(b"known")
        a.sent()
        cqe = b.received()
        equal((cqe.ah, cqe.src_qpn, cqe.tail), (ah, a.qp.qpn, bytes(16)))
        # In the other direction, into a CQ without source addresses.
        c = End(a.host, words=4, src=False)
        b.peer, b.host.ahs[a.host.gid] = c, ah
        for _ in range(2):
            c.recv()
            b.send_inline(b"back")
            b.sent()
            cqe = c.received(0, 4)
            equal((cqe.src_qpn, cqe.tail), (b.qp.qpn, b""))
        equal(cqe.ah, a.host.ah(b.host))
    finally:
        other.remove()


@case("receives of several descriptors, across the end of the ring")
def descriptors(ad):
    a, b = pair(ad, peer={"recv_sge": 2})
    a.fill(pattern(4096))
    for i in range(20):
        first, second = 1 + i * 10, 600
        b.recv(b.mr.sge(0, first), b.mr.sge(1000, second), number=i)
        a.send(a.mr.sge(i, first + 500))
        a.sent()
        b.received(i, first + 500)
        equal(b.data(first) + b.data(500, 1000), a.data(first + 500, i), "data")
        if i % 3 == 0:
            b.recv(b.mr.sge(), number=i)
            a.send_inline(b"one")
            a.sent()
            b.received(i, 3)
    # A receive whose last descriptor is missing is not used.
    b.recv(b.mr.sge(0, 10), b.mr.sge(10, 10), number=77, ring=False)
    b.device.write32(b.qp.rq_db, b.qp.rpi - 1, efa.DOORBELLS)
    a.send_inline(b"not yet", number=9)
    a.quiet()
    b.qp.recv(*(), ring=True)
    a.sent(9)
    b.received(77, 7)


@case("a receive that is too short: 11, and it stays posted")
def short(ad):
    a, b = pair(ad)
    b.recv(b.mr.sge(0, 10), number=5)
    a.send(a.mr.sge(0, 11))
    a.sent(status=p.REMOTE_LENGTH)
    a.send(a.mr.sge(0, 10))
    a.sent()
    b.received(5, 10)


@case("errors of the sender: 3 to 6; the next request is not affected")
def local_errors(ad):
    a, b = pair(ad)
    other_pd = a.device.alloc_pd()
    foreign = efa.Mr(a.device, a.device.alloc(4096), 4096, other_pd)
    other_ah = a.device.create_ah(a.host.gid, other_pd)
    gone = efa.Mr(a.device, a.device.alloc(4096), 4096, a.host.pd)
    equal(gone.dereg(), 0)
    b.recv()
    for op in 3, 4, 5, 15:
        a.wr(op, bytes(32), 1)
        a.sent(status=p.UNSUPPORTED, op=op & 7)
    for ah in 77, 0xffff, other_ah:
        a.send(a.mr.sge(0, 8), to=a.to(ah=ah))
        a.sent(status=p.INVALID_AH)
    for sge in ((8, a.mr.lkey ^ 1, a.mr.va), (8, 0, a.mr.va), foreign.sge(0, 8), gone.sge(0, 8),
                (8, a.mr.lkey, a.mr.va - 1), (9, a.mr.lkey, a.mr.va + a.mr.size - 8),
                (8, a.mr.lkey, (1 << 64) - 4)):
        a.send(sge)
        a.sent(status=p.INVALID_LKEY)
    b.quiet()
    a.send(a.mr.sge(0, 8))
    a.sent()
    b.received(0, 8)


@case("errors of the receiver: unknown QP, wrong type, state or Q_Key: 9")
def bad_targets(ad):
    a, b = pair(ad)
    others = [End(a.host, state=state) for state in (efa.RESET, efa.INIT)]
    others.append(End(a.host, kind=efa.UD))
    failed = End(a.host)
    equal(failed.qp.go(efa.ERR, efa.RTS), 0)
    for end in [*others, failed]:
        a.send_inline(b"x", to=a.to(qpn=end.qp.qpn))
        a.sent(status=p.BAD_QPN)
    for to in a.to(qpn=200), a.to(qpn=0xffff), a.to(qkey=p.KEY + 1):
        a.send_inline(b"x", to=to)
        a.sent(status=p.BAD_QPN)
    ready = End(a.host, state=efa.RTR)
    ready.recv()
    a.send_inline(b"x", to=a.to(qpn=ready.qp.qpn))
    a.sent()
    ready.received(0, 1)
    equal(a.device.stats(0)[5], 1, "violations of Q_Keys")


@case("a receive with memory that the receiver may not write")
def bad_receive(ad):
    a, b = pair(ad, peer={"rights": 6})
    b.recv(number=3)
    a.send_inline(b"x")
    a.sent(status=p.REMOTE_STATUS)
    b.received(3, status=p.INVALID_LKEY)


@case("RDMA reads: data, rights, bounds, QP types")
def rdma_read(ad):
    a, b = pair(ad)
    b.fill(pattern(32768))
    for offset, length in (0, 32768), (5, 1), (4095, 4098), (0, 0):
        a.fill(bytes(32768))
        a.read(a.mr.sge(0, length), b.mr.remote(offset, length), number=length)
        a.sent(length, op=p.READ)
        equal(a.data(32768), b.data(length, offset).ljust(32768, b"\0"), "data")
    other_pd = b.device.alloc_pd()
    block = b.device.alloc(4096)
    foreign = efa.Mr(b.device, block, 4096, other_pd)
    write_only = efa.Mr(b.device, block, 4096, b.host.pd, rights=3)
    for remote in (foreign.remote(0, 8), write_only.remote(0, 8), (8, b.mr.rkey ^ 1, b.mr.va),
                   (8, b.mr.rkey, b.mr.va - 4), (8, b.mr.rkey, b.mr.va + b.mr.size - 4)):
        a.read(a.mr.sge(0, 8), remote)
        a.sent(status=p.REMOTE_ACCESS, op=p.READ)
    read_only = efa.Mr(a.device, block, 4096, a.host.pd, rights=6)
    a.read(read_only.sge(0, 8), b.mr.remote(0, 8))
    a.sent(status=p.INVALID_LKEY, op=p.READ)
    a.read(a.mr.sge(0, 8), b.mr.remote(0, 9))
    a.sent(status=p.BAD_LENGTH, op=p.READ)
    b.quiet()
    _, _, errors, answered, *_ = a.device.stats(2)
    equal((errors, answered), (7, 32768 + 1 + 4098))
    u, v = (End(a.host, kind=efa.UD) for _ in range(2))
    u.peer = v
    u.read(u.mr.sge(0, 8), v.mr.remote(0, 8))
    u.sent(status=p.UNSUPPORTED, op=p.READ)


@case("RDMA that the device does not support: 3; longer than its limit: 6")
def rdma_limits(ad):
    a, b = pair(ad, {"caps": "0x02"})
    a.read(a.mr.sge(0, 8), b.mr.remote(0, 8))
    a.sent(status=p.UNSUPPORTED, op=p.READ)
    a.write(a.mr.sge(0, 8), b.mr.remote(0, 8))
    a.sent(status=p.UNSUPPORTED, op=p.WRITE)
    a, b = pair(ad, {"caps": "0x0b", "max_rdma": 4096})
    for function, op in (a.read, p.READ), (a.write, p.WRITE):
        function(a.mr.sge(0, 4097), b.mr.remote(0, 4097))
        a.sent(status=p.BAD_LENGTH, op=op)
        function(a.mr.sge(0, 4096), b.mr.remote(0, 4096))
        a.sent(op=op)


@case("RDMA writes: data, rights, bounds")
def rdma_write(ad):
    a, b = pair(ad)
    a.fill(pattern(32768))
    for offset, length in (0, 32768), (5, 1), (4095, 4098), (0, 0):
        b.fill(bytes(32768))
        a.write(a.mr.sge(offset, length), b.mr.remote(0, length), number=length)
        a.sent(length, op=p.WRITE)
        equal(b.data(32768), a.data(length, offset).ljust(32768, b"\0"), "data")
    block = b.device.alloc(4096)
    read_only = efa.Mr(b.device, block, 4096, b.host.pd, rights=5)
    for remote in (read_only.remote(0, 8), (8, b.mr.rkey ^ 1, b.mr.va),
                   (8, b.mr.rkey, b.mr.va + b.mr.size - 4)):
        a.write(a.mr.sge(0, 8), remote)
        a.sent(status=p.REMOTE_ACCESS, op=p.WRITE)
    # Local memory can be read without access rights.
    plain = efa.Mr(a.device, block, 4096, a.host.pd, rights=0)
    a.write(plain.sge(0, 8), b.mr.remote(0, 8))
    a.sent(op=p.WRITE)
    b.quiet()
    requests, _, errors, received, *_ = a.device.stats(3)
    equal((requests, errors, received), (8, 3, 32768 + 1 + 4098 + 8))


@case("RDMA writes with immediate data use a receive after the data")
def write_imm(ad):
    a, b = pair(ad, size=131072)
    a.fill(pattern(100000))
    a.write(a.mr.sge(0, 100000), b.mr.remote(0, 100000), number=8, imm=0x11223344)
    a.quiet()
    b.recv(b.mr.sge(0, 8), number=6)
    a.sent(8, op=p.WRITE)
    cqe = b.received(6, 100000, op=p.WRITE, imm=0x11223344)
    equal((cqe.tail[:2], cqe.unsolicited), (struct.pack("<H", 100000 >> 16), 0))
    equal(b.data(100000), a.data(100000), "data")
    c = End(a.host, rnr=2)
    c.peer = b
    c.write(c.mr.sge(0, 8), b.mr.remote(0, 8), imm=1)
    c.sent(status=p.RNR, op=p.WRITE)
    b.quiet()


@case("unsolicited writes use no receive")
def unsolicited(ad):
    a, b = pair(ad, peer={"flags": 4, "rq_depth": 0})
    a.fill(pattern(100))
    for imm in 0x11223344, 5:
        a.write(a.mr.sge(0, 100), b.mr.remote(0, 100), imm=imm)
        a.sent(op=p.WRITE)
        cqe = b.rcq.wait()
        equal((cqe.queue, cqe.qpn, cqe.status, cqe.op, cqe.imm, cqe.length, cqe.unsolicited),
              (p.RQ, b.qp.qpn, 0, p.WRITE, imm, 100, 1))
        equal(b.data(100), a.data(100), "data")
    equal(cqe.src_qpn, a.qp.qpn)


@case("RDMA requires an AH for the requester at the target: 14")
def unknown_peer(ad):
    other = adapter("test2")
    try:
        a, b = far_pair(ad, other)
        for function, op in (a.read, p.READ), (a.write, p.WRITE):
            function(a.mr.sge(0, 8), b.mr.remote(0, 8))
            a.sent(status=p.UNKNOWN_PEER, op=op)
        b.host.ah(a.host)
        b.fill(pattern(8))
        a.read(a.mr.sge(0, 8), b.mr.remote(0, 8))
        a.sent(op=p.READ)
        equal(a.data(8), pattern(8))
    finally:
        other.remove()


@case("UD: 40 bytes before the data; messages are dropped silently")
def datagrams(ad):
    a, b = pair(ad, kind=efa.UD)
    b.fill(b"\xff" * 16384)
    a.fill(pattern(16384))
    for number, length in (1, 0), (2, 1), (3, MTU):
        b.recv(number=number)
        a.send(a.mr.sge(0, length), number=number, imm=number)
        a.sent(number)
        b.received(number, length + 40, imm=number)
        equal(b.data(length, 40), a.data(length), "data")
    a.send(a.mr.sge(0, MTU + 1))
    a.sent(status=p.BAD_LENGTH)
    drops = a.device.stats(0)[4]
    a.send_inline(b"no receive")
    a.sent()
    b.recv(b.mr.sge(0, 47))
    for to, text in ((a.to(), b"too long"), (a.to(qkey=1), b"key"), (a.to(qpn=200), b"none")):
        a.send_inline(text, to=to)
        a.sent()
    b.quiet()
    equal(a.device.stats(0)[4] - drops, 4)
    a.send_inline(b"shorter")
    a.sent()
    b.received(0, 47)


@case("several sub-CQs: each QP has one for sends and one for receives")
def sub_cqs(ad):
    host = Host(ad.plug(sub_cqs=4).init())
    cqs = type("Cqs", (), {"scq": efa.Cq(host.device, host.uar, depth=4, subs=4),
                           "rcq": efa.Cq(host.device, host.uar, depth=4, subs=4, words=4)})
    ends = [End(host, cqs=cqs) for _ in range(6)]
    equal([end.qp.send_sub for end in ends], [0, 1, 2, 3, 0, 1])
    equal([end.qp.recv_sub for end in ends], [0, 1, 2, 3, 0, 1])
    # Each sub-CQ has its own lap count.
    for turn in range(3):
        for i, end in enumerate(ends):
            end.peer = ends[(i + turn) % 6]
            end.peer.recv(number=turn)
            end.send_inline(b"x", number=i)
            end.sent(i)
            end.peer.received(turn, 1)
            end.quiet()


@case("entries of CQs over many laps, of 16 and 32 bytes")
def laps(ad):
    for words in 4, 8:
        host = Host(ad.plug().init())
        cqs = type("Cqs", (), {
            "scq": efa.Cq(host.device, host.uar, depth=2, words=words),
            "rcq": efa.Cq(host.device, host.uar, depth=8, words=words)})
        a, b = (End(host, cqs=cqs, sq_depth=4, rq_depth=4) for _ in range(2))
        a.peer = b
        for i in range(50):
            b.recv(number=i)
            a.send_inline(bytes((i,)), number=1000 + i)
            a.sent(1000 + i)
            b.received(i, 1)
            equal(b.data(1), bytes((i,)))


@case("one doorbell for many entries, across the end of the ring")
def batches(ad):
    a, b = pair(ad)
    for batch in 16, 5, 16, 11, 1, 16:
        for i in range(batch):
            b.recv(b.mr.sge(i * 8, 8), number=i, ring=False)
            a.send_inline(pattern(8, i), number=i, ring=False)
        b.device.write32(b.qp.rq_db, b.qp.rpi, efa.DOORBELLS)
        a.qp.ring()
        for i in range(batch):
            a.sent(i)
            b.received(i, 8)
            equal(b.data(8, i * 8), pattern(8, i))


@case("a receiver that is not ready: limited or unlimited retries")
def rnr(ad):
    a, b = pair(ad, peer={"rnr": 3})
    c = End(a.host)
    c.peer, b.peer = b, c
    # A waiting request does not delay others.
    a.send_inline(b"wait", number=1)
    c.recv()
    a.send_inline(b"pass", number=2, to=a.to(qpn=c.qp.qpn))
    a.sent(2)
    c.received(0, 4)
    a.quiet()
    b.recv()
    a.sent(1)
    b.received(0, 4)
    b.send_inline(b"three times")
    b.sent(status=p.RNR)
    c.quiet()
    # A receive is posted between the retries.
    b.send_inline(b"in time")
    c.recv()
    b.sent()
    c.received(0, 7)


@case("objects of a waiting request are destroyed")
def lost_while_waiting(ad):
    a, b = pair(ad)
    more = efa.Mr(a.device, a.device.alloc(4096), 4096, a.host.pd)
    ah = a.device.create_ah(b.host.gid, a.host.pd)
    a.send(more.sge(0, 8), number=1)
    a.quiet()
    equal(more.dereg(), 0)
    a.sent(1, status=p.INVALID_LKEY)
    a.send_inline(b"x", number=2)
    a.quiet()
    for _ in range(2):
        equal(a.device.drop(efa.DESTROY_AH, ah, a.host.pd), 0)
    a.sent(2, status=p.INVALID_AH)
    a.host.ahs.clear()
    a.send_inline(b"x", number=3)
    a.quiet()
    equal(b.qp.destroy(), 0)
    a.sent(3, status=p.BAD_QPN)


@case("ERR: all requests are flushed, including those posted later")
def flush(ad):
    a, b = pair(ad)
    for i in range(3):
        a.send_inline(b"waits", number=i)
        a.recv(number=10 + i)
    a.quiet()
    equal(a.qp.go(efa.ERR, efa.RTS), 0)
    for i in range(3):
        a.sent(i, status=p.FLUSHED)
        cqe = a.received(10 + i, status=p.FLUSHED)
        equal(cqe.length, 0)
    a.recv(number=20)
    a.received(20, status=p.FLUSHED)
    a.send_inline(b"late", number=21)
    a.sent(21, status=p.FLUSHED)
    b.recv()
    b.quiet()
    a.quiet()
    # The QP can be used again after RESET, with rings that begin at 0.
    equal(a.qp.go(efa.RESET, efa.ERR), 0)
    a.qp.pi = a.qp.rpi = 0
    a.to_state(efa.RTS)
    a.send_inline(b"again", number=5)
    a.sent(5)
    b.received(0, 5)


@case("RESET: no request completes, and old doorbells are discarded")
def to_reset(ad):
    a, b = pair(ad)
    for i in range(5):
        a.send_inline(b"waits", number=i)
        a.recv(number=i)
    a.quiet()
    equal(a.qp.go(efa.RESET, efa.RTS), 0)
    a.quiet()
    a.qp.pi = a.qp.rpi = 0
    a.to_state(efa.RTS)
    b.recv()
    a.quiet()
    b.quiet()
    a.send_inline(b"new", number=9)
    a.sent(9)
    b.received(0, 3)


@case("no completions after DESTROY_QP")
def destroyed(ad):
    a, b = pair(ad)
    c = End(a.host)
    c.peer = a
    for state in efa.RTS, efa.ERR:
        for i in range(4):
            a.send_inline(b"waits", number=i)
            a.recv(number=i)
        a.quiet()
        # In RTS, the QP is destroyed with outstanding requests; in ERR, after they were flushed.
        if state == efa.ERR:
            equal(a.qp.go(efa.ERR, efa.RTS), 0)
            for i in range(4):
                a.sent(i, status=p.FLUSHED)
                a.received(i, status=p.FLUSHED)
        equal(a.qp.destroy(), 0)
        # Old doorbells, and messages to the destroyed QP.
        a.device.write32(a.qp.sq_db, a.qp.pi + 1, efa.DOORBELLS)
        a.device.write32(a.qp.rq_db, a.qp.rpi + 1, efa.DOORBELLS)
        c.send_inline(b"who?")
        c.sent(status=p.BAD_QPN)
        b.recv()
        a.quiet()
        b.quiet()
        a.qp = efa.Qp(a.device, a.host.pd, a.host.uar, a.scq, a.rcq)
        a.to_state(efa.RTS)
        a.quiet()
        a.send_inline(b"new", number=7)
        a.sent(7)
        b.received(0, 3)


@case("SQD: started requests complete, no others start, receives continue")
def draining(ad):
    a, b = pair(ad)
    b.peer = a
    a.send_inline(b"begun", number=1)
    a.quiet()
    equal(a.qp.go(efa.SQD, efa.RTS), 0)
    equal(a.qp.query()[3], 1, "draining")
    a.send_inline(b"later", number=2)
    a.quiet()
    b.recv(number=1)
    a.sent(1)
    b.received(1, 5)
    equal(a.qp.query()[3], 0, "drained")
    b.recv(number=2)
    a.recv(number=3)
    b.send_inline(b"to it")
    b.sent()
    a.received(3, 5)
    b.quiet()
    equal(a.qp.go(efa.RTS, efa.SQD), 0)
    a.sent(2)
    b.received(2, 5)


@case("completion events: exactly one for each arm, not lost by an index update")
def events(ad):
    host = Host(ad.plug().init())
    eq = host.device.create_eq(depth=4)
    cq = efa.Cq(host.device, host.uar, eq=eq)
    mute = efa.Cq(host.device, host.uar)
    a = End(host, cqs=type("Cqs", (), {"scq": cq, "rcq": mute}))
    b = End(host)
    a.peer = b

    def talk():
        b.recv()
        a.send_inline(b"x")
        a.sent()
        b.received()

    def event():
        entry = eq.wait("an event")
        cq.events += 1
        equal((entry[0] & ~1, struct.unpack("<H", entry[8:10])[0]), (0, cq.number))

    host.device.config16(0x42, 0xc000)
    talk()
    a.quiet()
    equal(eq.peek(), None, "an event that was not asked for")
    # Several laps of the EQ; an arm finds entries or waits for them.
    for turn in range(10):
        if turn % 2:
            cq.doorbell(arm=True)
            a.quiet()
            equal(eq.peek(), None)
            talk()
        else:
            talk()
            cq.doorbell(arm=True, index=cq.subs[0].ci - 1)
        event()
        talk()
        a.quiet()
        equal(eq.peek(), None, "one for each arm")
        cq.doorbell()
    # An index update after the arm does not cancel the arm.
    cq.doorbell(arm=True)
    cq.doorbell()
    talk()
    event()
    pci.wait_until(lambda: host.device.read32(efa.MSIX_PENDING) & 2, "vector 1")


@case("vanished peers: 13 after earlier responses, otherwise 15; others are served")
def gone(ad):
    other = adapter("test2")
    try:
        a, b = far_pair(ad, other)
        c = End(a.host)
        never = a.device.create_ah(bytes(16), a.host.pd)
        a.send_inline(b"x", number=1, to=a.to(ah=never))
        c.recv()
        a.send_inline(b"x", number=2, to=(c.qp.qpn, a.host.ah(a.host), c.qkey))
        a.sent(2)
        a.sent(1, status=p.UNREACHABLE)
        b.recv()
        a.send_inline(b"x")
        a.sent()
        other.unplug()
        a.send_inline(b"x")
        a.sent(status=p.UNRESPONSIVE)
        timeouts, silent = a.device.stats(4)[2:4]
        equal((timeouts > 0, silent), (True, 2))
    finally:
        other.remove()


@case("memory regions: pages of 2 MiB, direct lists, lists in chunks")
def regions(ad):
    a, b = pair(ad)
    dev, pd = a.device, a.host.pd
    memory = pci.Memory()
    block = memory.alloc(pci.MEMORY, 1)
    block[0:20000] = pattern(20000)
    whole, iova = 0x600000000000, 0x700000000000
    if block.addr % (2 << 20) == 0:
        status, keys = dev.reg_mr_raw(pd, struct.pack("<Q24x", block.addr), 2 << 20, whole,
                                      shift=21)
        equal(status, 0)
        a.read(a.mr.sge(0, 20000), (20000, keys[1], whole))
        a.sent(op=p.READ)
        equal(a.data(20000), pattern(20000))
    # In reverse order, so that a wrong order is detected.
    frames = [block.addr + 4096 * i for i in range(4, -1, -1)]
    data = b"".join(block[4096 * i:4096 * i + 4096] for i in range(4, -1, -1))
    payload, first, second = dev.alloc(4096), dev.alloc(4096), dev.alloc(4096)
    last = dev.alloc(4096)
    payload[0:4096] = struct.pack("<Q", block.addr + 8192) * 512
    last[0:40] = struct.pack("<5Q", *frames)
    first[0:4080] = struct.pack("<Q", payload.addr) * 510
    first[4080:4092] = struct.pack("<IQ", 20, second.addr)
    second[0:8] = struct.pack("<Q", last.addr)
    pages = 261120 + 5
    for text, flags, count in ((struct.pack("<IQ20x", 40, last.addr), 2, 5),
                               (struct.pack("<IQ20x", 4092, first.addr), 6, pages)):
        status, keys = dev.reg_mr_raw(pd, text, count * 4096, iova, flags=flags)
        equal(status, 0)
        a.fill(bytes(20000))
        a.read(a.mr.sge(0, 20000), (20000, keys[1], iova + (count - 5) * 4096 + 100))
        a.sent(op=p.READ)
        equal(a.data(20000), data[100:20100])
    b.quiet()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], adapter))
