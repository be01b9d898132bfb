#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the data path of the virtual adapter against the hardware interface.

Runs in the guest with no ERDMA driver loaded; prints TAP lines."""

import struct
import sys
import time

import pair as p
import pci
import raw
from pair import Mr, pair
from raw import RDMA, adapter
from tap import case, equal, run


# Number of trials: an error caused by preemption of the model's thread would occur in one of ten.
TRIALS = 100


def pattern(length, seed=1):
    return bytes((seed * 7 + i * 31 + (i >> 8)) & 0xff for i in range(length))


@case("SEND: data, indices, byte counts, signalled or not")
def send(ad):
    a, b = pair(ad)
    a.fill(pattern(5000))
    first = b.recv()
    index = a.send(a.mr.sge(3, 4097))
    a.sent(index, length=4097)
    cqe = b.received(first, length=4097)
    equal((cqe.reserved, cqe.imm), (0, 0))
    equal(b.data(4097), a.data(4097, 3), "data")
    # An unsignalled request has no completion, but advances the index of the next one.
    b.recv()
    b.recv()
    a.send(a.mr.sge(0, 8), flags=0)
    index = a.send(a.mr.sge(0, 9))
    b.received(1, length=8)
    b.received(2, length=9)
    a.sent(index, length=9)
    a.quiet()


@case("immediate data: bytes in a request, a number in a completion")
def immediate(ad):
    a, b = pair(ad)
    a.fill(pattern(64))
    b.recv()
    index = a.send(a.mr.sge(0, 64), opcode=p.SEND_IMM, imm=b"\x11\x22\x33\x44")
    a.sent(index, p.SEND_IMM, length=64)
    cqe = b.received(0, p.RSP_SEND_IMM, length=64)
    equal(cqe.imm, 0x11223344)
    b.recv()
    index = a.write((b.mr.va + 100, b.mr.stag), a.mr.sge(0, 64),
                    opcode=p.WRITE_IMM, imm=b"\xaa\xbb\xcc\xdd")
    a.sent(index, p.WRITE_IMM, length=64)
    cqe = b.received(1, p.RECV_IMM, length=64)
    equal(cqe.imm, 0xaabbccdd)
    equal(b.data(64, 100), a.data(64))
    # A receive without memory is sufficient.
    b.qp.post_recv()
    index = a.write((0, 0), opcode=p.WRITE_IMM, imm=b"\0\0\0\1")
    a.sent(index, p.WRITE_IMM, length=0)
    equal(b.received(2, p.RECV_IMM, length=0).imm, 1)


@case("WRITE and READ between any offsets")
def write_read(ad):
    a, b = pair(ad)
    for here, there, length in ((0, 0, 1), (1, 4095, 2), (4090, 1, 8192),
                                (7, 8191, 8193), (0, 0, 16384)):
        a.fill(pattern(16384, length))
        b.fill(bytes(16384))
        index = a.write((b.mr.va + there, b.mr.stag), a.mr.sge(here, length))
        a.sent(index, p.WRITE, length=length)
        equal(b.data(length, there), a.data(length, here), "written")
        equal(b.data(16384).count(0) >= 16384 - length, True, "no more than it")
        a.fill(bytes(16384))
        index = a.read((b.mr.va + there, b.mr.stag), a.mr.sge(here, length))
        a.sent(index, p.READ, length=length)
        equal(a.data(length, here), b.data(length, there), "read")
    b.quiet()
    # A fence has no effect, because requests are executed in order.
    b.recv()
    a.read((b.mr.va, b.mr.stag), a.mr.sge(0, 4096), flags=0)
    index = a.send(a.mr.sge(0, 4096), flags=p.CE | p.FENCE)
    a.sent(index)
    equal(b.data(4096), a.data(4096))


@case("inline data of every length, across the end of the ring")
def inline(ad):
    a, b = pair(ad)
    data = pattern(96)
    for length in range(97):
        b.recv()
        index = a.send_inline(data[:length])
        a.sent(index, length=length)
        b.received(length, length=length)
        equal(b.data(length), data[:length])
        if length > 80:
            continue
        index = a.write_inline((b.mr.va + 8192, b.mr.stag), data[:length])
        a.sent(index, p.WRITE, length=length)
        equal(b.data(length, 8192), data[:length])


@case("six elements, across the end of the ring at every block")
def elements(ad):
    a, b = pair(ad)
    a.fill(pattern(16384))
    # Every second request takes one block, so that all positions occur.
    for step in range(64):
        parts = [(i * 2000 + step, 100 + 300 * i) for i in range(6)]
        want = b"".join(a.data(n, at) for at, n in parts)
        b.recv()
        index = a.send(*(a.mr.sge(*part) for part in parts))
        a.sent(index, length=len(want))
        b.received(2 * step, length=len(want))
        equal(b.data(len(want)), want)
        b.recv()
        a.send(flags=0)
        b.received(2 * step + 1, length=0)
        index = a.write((b.mr.va + 1, b.mr.stag),
                        *(a.mr.sge(*part) for part in parts[:4]))
        a.sent(index, p.WRITE)
        want = b"".join(a.data(n, at) for at, n in parts[:4])
        equal(b.data(len(want), 1), want)


@case("messages without data require neither memory nor key")
def empty(ad):
    a, b = pair(ad)
    b.qp.post_recv()
    a.sent(a.send(), length=0)
    b.received(0, length=0)
    b.qp.post_recv(0x1234, 0, 0x777)
    a.sent(a.send((0x5678, 0, 0x999), (1, 0, 1)), length=0)
    b.received(1, length=0)
    a.sent(a.write((0xdead, 0xbeef)), p.WRITE, length=0)
    a.sent(a.read((0xdead, 0xbeef), (0xabc, 0, 0x123)), p.READ, length=0)
    b.quiet()


@case("atomics")
def atomics(ad):
    a, b = pair(ad)
    here, there = a.mr.sge(16, 8), (b.mr.va + 4088, b.mr.stag)

    def value(offset=4088):
        return b.block.u64(offset)

    b.block.set64(4088, 0x1111111111111111)
    a.sent(a.atomic(p.FAA, there, here, 0x2222222222222222), p.FAA, length=8)
    equal((a.block.u64(16), value()), (0x1111111111111111, 0x3333333333333333))
    a.sent(a.atomic(p.FAA, there, here, (1 << 64) - 1), p.FAA)
    equal((a.block.u64(16), value()), (0x3333333333333333, 0x3333333333333332))
    a.sent(a.atomic(p.CAS, there, here, 77, 0x3333333333333332), p.CAS, length=8)
    equal((a.block.u64(16), value()), (0x3333333333333332, 77))
    a.sent(a.atomic(p.CAS, there, here, 78, 76), p.CAS)
    equal((a.block.u64(16), value()), (77, 77), "no match, no change")
    index = a.atomic(p.FAA, (there[0] - 4, there[1]), here, 1)
    a.sent(index, p.FAA, p.RECV_ADDR)
    # Without the capability, atomics are unknown opcodes.
    ad.unplug()
    ad.plug(flags="6 5 3")
    p.start(ad.device)
    a, b = pair(ad)
    a.sent(a.atomic(p.FAA, (b.mr.va, b.mr.stag), a.mr.sge(0, 8), 1), p.FAA,
           p.SEND_FORMAT)


def broken(ad, post, syndrome, opcode, event, received=None):
    """Posts a request that fails, and checks completions and events of both ends."""
    a, b = broken.ends = pair(ad, broken.number)
    broken.number += 2
    index = post(a, b)
    behind = a.send(a.mr.sge(0, 8), flags=0)
    a.sent(index, opcode, syndrome)
    a.sent(behind, p.SEND, p.FLUSH)
    a.event(p.QP_FATAL, syndrome)
    b.event(event, syndrome)
    if received is not None:
        b.received(0, received, syndrome, 0)
    waiting = b.qp.rpi - (received is not None)
    for i in range(waiting):
        b.received(i + (received is not None), p.RECEIVE, p.FLUSH)
    a.quiet()
    b.quiet()
    # Requests posted later are flushed as well.
    a.sent(a.send(flags=0), p.SEND, p.FLUSH)
    b.received(b.recv(), p.RECEIVE, p.FLUSH)
    for end in a, b:
        equal(end.qp.modify(raw.ERROR), 0)
        equal(end.qp.destroy(), 0)
        end.no_event()


@case("errors of local memory: SEND_*, and the connection ends")
def local_violations(ad):
    broken.number = 5
    device = p.start(ad.plug())
    other = Mr(device, 900, device.alloc(4096), 4096, pd=4)
    no_read = Mr(device, 901, device.alloc(4096), 4096, rights=p.LW | p.RW)
    no_write = Mr(device, 902, device.alloc(4096), 4096, rights=p.LR | p.RR)
    sinks = [Mr(device, 903 + i, device.alloc(4096), 4096, rights=right | p.LR)
             for i, right in enumerate((p.LW, p.RW))]
    high = Mr(device, 910, device.alloc(8192), 8192, va=(1 << 64) - 8192 - 4096)
    good = [
        ("unknown key", lambda a: (a.mr.va, 64, 0x7ff00), p.SEND_STAG),
        ("wrong key byte", lambda a: (a.mr.va, 64, a.mr.stag | 1), p.SEND_STAG),
        ("index beyond all", lambda a: (a.mr.va, 64, 0xfffff00), p.SEND_STAG),
        ("other domain", lambda a: other.sge(0, 64), p.SEND_PD),
        ("before", lambda a: (a.mr.va - 1, 64, a.mr.stag), p.SEND_ADDR),
        ("behind", lambda a: (a.mr.va + 16384 - 63, 64, a.mr.stag),
         p.SEND_ADDR),
        ("far behind", lambda a: (a.mr.va + (1 << 40), 64, a.mr.stag),
         p.SEND_ADDR),
        ("around the end", lambda a: ((1 << 64) - 10, 64, high.stag),
         p.SEND_WRAP)]

    def target(b):
        return b.mr.va, b.mr.stag

    for name, sge, syndrome in good + [("not readable",
                                        lambda a: no_read.sge(0, 64),
                                        p.SEND_RIGHT)]:
        print(f"# source: {name}")
        broken(ad, lambda a, b: (b.recv(), a.send(sge(a)))[1], syndrome,
               p.SEND, p.QP_FATAL)
        broken(ad, lambda a, b: (a.send(a.mr.sge(0, 4), sge(a), flags=0)),
               syndrome, p.SEND, p.QP_FATAL)
        broken(ad, lambda a, b: a.write(target(b), sge(a)), syndrome,
               p.WRITE, p.QP_FATAL)
    for name, sge, syndrome in good + [("not writable",
                                        lambda a: no_write.sge(0, 64),
                                        p.SEND_RIGHT)]:
        print(f"# sink: {name}")
        broken(ad, lambda a, b: a.read(target(b), sge(a)), syndrome, p.READ,
               p.QP_FATAL)
    for mr in sinks:
        a, b = pair(ad, broken.number)
        broken.number += 2
        a.sent(a.read((b.mr.va, b.mr.stag), mr.sge(0, 64)), p.READ)
    equal(high.block[0:64], bytes(64))


@case("errors of remote memory: RECV_*, and ACC_ERR at the other end")
def remote_violations(ad):
    broken.number = 5
    device = p.start(ad.plug())
    other = Mr(device, 900, device.alloc(4096), 4096, pd=4)
    rights = {right: Mr(device, 901 + i, device.alloc(4096), 4096,
                        rights=p.ALL & ~right)
              for i, right in enumerate((p.RW, p.RR, p.RA))}
    bad = [
        ("unknown key", lambda b: (b.mr.va, 0x7ff00), p.RECV_STAG),
        ("wrong key byte", lambda b: (b.mr.va, b.mr.stag | 1), p.RECV_STAG),
        ("DMA key", lambda b: (b.block.addr, p.DMA_KEY), p.RECV_STAG),
        ("other domain", lambda b: (other.va, other.stag), p.RECV_PD),
        ("before", lambda b: (b.mr.va - 8, b.mr.stag), p.RECV_ADDR),
        ("behind", lambda b: (b.mr.va + 16384, b.mr.stag), p.RECV_ADDR),
        ("around the end", lambda b: ((1 << 64) - 8, b.mr.stag), p.RECV_WRAP)]
    posts = {
        p.WRITE: (p.RW, lambda a, to: a.write(to, a.mr.sge(0, 64))),
        p.WRITE_IMM: (p.RW, lambda a, to: a.write(to, a.mr.sge(0, 64),
                                                  opcode=p.WRITE_IMM)),
        p.READ: (p.RR, lambda a, to: a.read(to, a.mr.sge(0, 64))),
        p.CAS: (p.RA, lambda a, to: a.atomic(p.CAS, to, a.mr.sge(0, 8), 1)),
        p.FAA: (p.RA, lambda a, to: a.atomic(p.FAA, to, a.mr.sge(0, 8), 1))}
    for opcode, (right, post) in posts.items():
        lacking = rights[right]
        for name, there, syndrome in bad + [
                ("no right", lambda b: (lacking.va, lacking.stag),
                 p.RECV_RIGHT)]:
            print(f"# opcode {opcode}: {name}")
            broken(ad, lambda a, b: (b.recv(), post(a, there(b)))[1], syndrome,
                   opcode, p.ACC_ERR)
    for mr in rights.values():
        equal(mr.block[0:64], bytes(64), "untouched")


@case("receives that do not fit the message: both ends complete, ERQ_ERR")
def bad_receives(ad):
    broken.number = 5
    device = p.start(ad.plug())
    other = Mr(device, 900, device.alloc(4096), 4096, pd=4)
    no_write = Mr(device, 901, device.alloc(4096), 4096, rights=p.LR | p.RW)
    for name, sge, syndrome in (
            ("too short", lambda b: b.mr.sge(0, 63), p.RECV_ADDR),
            ("unknown key", lambda b: (b.mr.va, 64, 0x7ff00), p.RECV_STAG),
            ("other domain", lambda b: other.sge(0, 64), p.RECV_PD),
            ("not writable", lambda b: no_write.sge(0, 64), p.RECV_RIGHT),
            ("out of bounds", lambda b: (b.mr.va + 16384 - 63, 64, b.mr.stag),
             p.RECV_ADDR)):
        print(f"# {name}")
        broken(ad, lambda a, b: (b.recv(*sge(b)), b.recv(),
                                 a.send(a.mr.sge(0, 64)))[2],
               syndrome, p.SEND, p.ERQ_ERR, p.RECEIVE)

    def spoil(b):
        b.recv(ring=False)
        b.qp.rq[0:2] = struct.pack("<H", 7)
        b.qp.dbrec.set64(8, b.number << 32 | 1)

    for opcode, received in ((p.SEND_IMM, p.RSP_SEND_IMM),):
        broken(ad, lambda a, b: (spoil(b), a.send(opcode=opcode))[1],
               p.RECV_FORMAT, opcode, p.ERQ_ERR, received)
    broken(ad, lambda a, b: (spoil(b), a.write((0, 0), opcode=p.WRITE_IMM))[1],
           p.RECV_FORMAT, p.WRITE_IMM, p.ERQ_ERR, p.RECV_IMM)


@case("invalid requests: SEND_WQE_FORMAT_ERR")
def bad_format(ad):
    p.start(ad.plug())
    number = 5

    def refused(post, opcode=p.SEND):
        nonlocal number
        a, b = pair(ad, number)
        number += 2
        a.sent(post(a, b), opcode, p.SEND_FORMAT)
        a.event(p.QP_FATAL, p.SEND_FORMAT)
        b.event(p.QP_FATAL, p.SEND_FORMAT)
        a.quiet()

    for opcode in (7, 8, 10, 11, 4, 5, 6, 12):
        refused(lambda a, b: a.qp.post_raw(opcode, bytes(24), 0, 0), opcode)
    for opcode in (19, 31):
        refused(lambda a, b: a.qp.post_raw(opcode, bytes(24), 0, 0))
    refused(lambda a, b: a.send(a.mr.sge(0, 64), length=65))
    refused(lambda a, b: a.send(*[a.mr.sge(0, 1)] * 7))
    # More elements or inline bytes than the entry contains.
    refused(lambda a, b: a.qp.post_raw(p.SEND, bytes(24), 2, 0))
    refused(lambda a, b: a.qp.post_raw(
        p.SEND, struct.pack("<II", 0, 17) + bytes(16), 17, p.INLINE))
    refused(lambda a, b: a.send_inline(bytes(97)))
    refused(lambda a, b: a.qp.post_raw(p.WRITE, bytes(24), 1, 0), p.WRITE)
    refused(lambda a, b: a.qp.post_raw(p.READ, bytes(24), 0, 0), p.READ)
    refused(lambda a, b: a.qp.post_raw(p.CAS, bytes(24), 0, 0), p.CAS)

    def header(word):
        def post(a, b):
            a.send(ring=False)
            a.qp.sq[0:8] = struct.pack("<Q", word(a))
            a.qp.ring()
            return 0
        return post

    # QP number of a different QP, wrong index, longer than the posted entry.
    refused(header(lambda a: p.SEND << 27 | (a.number + 1) << 32 | 1))
    refused(header(lambda a: p.SEND << 27 | a.number << 32 | 2))
    refused(header(lambda a: 1 << 52 | p.SEND << 27 | a.number << 32 | 2))
    refused(header(lambda a: 7 << 52 | p.SEND << 27 | a.number << 32 | 8))


@case("a message waits for its receive, and for a partner in RTS")
def waits(ad):
    a, b = pair(ad)
    a.fill(pattern(64))
    index = a.send(a.mr.sge(0, 64))
    second = a.write((b.mr.va + 4096, b.mr.stag), a.mr.sge(0, 64),
                     opcode=p.WRITE_IMM)
    a.quiet()
    b.quiet()
    b.recv()
    a.sent(index)
    b.received(0)
    a.quiet()
    b.recv()
    a.sent(second, p.WRITE_IMM)
    b.received(1, p.RECV_IMM)
    # Early data: posted before the QP is in RTS, then before its partner is.
    device = ad.device
    a, b = p.End(device, 21), p.End(device, 22)
    a.fill(b"early")
    b.recv()
    index = a.send(a.mr.sge(0, 5))
    a.quiet()
    p.rts(a, b, 1, 2, 10, 20)
    a.quiet()
    b.quiet()
    p.rts(b, a, 2, 1, 20, 10)
    a.sent(index)
    b.received(0, length=5)
    equal(b.data(5), b"early")


@case("fast-register MRs: register, use, all methods of invalidation")
def fast_registration(ad):
    a, b = pair(ad, size=65536)
    device = ad.device
    table = device.alloc(4096)
    equal(device.reg_mr(700, [table.addr], 0, kind=p.FRMR, valid=0, level=1,
                        count=16), 0)
    equal(device.reg_mr(703, [table.addr] * 4, 0, kind=p.FRMR, valid=0), 0)
    stag, bare = 700 << 8, 703 << 8

    def fails(post, opcode, syndrome):
        nonlocal a, b
        a.sent(post(), opcode, syndrome)
        fails.number += 2
        a, b = pair(ad, fails.number, size=65536)

    fails.number = 5
    fails(lambda: a.send((0, 8, stag)), p.SEND, p.SEND_STAG)
    # Inline page list, unaligned start.
    source = b
    pages = [source.block.addr + 4096 * i for i in (3, 0, 2)]
    a.sent(a.reg_mr(stag | 0x21, 0x1000_0123, 8192, pages), p.REG_MR)
    source.fill(pattern(65536))
    want = source.data(4096 - 0x123, 3 * 4096 + 0x123) + source.data(4096) + \
        source.data(0x123, 2 * 4096)
    index = a.read((0x1000_0123, stag | 0x21), a.mr.sge(0, 8192))
    a.sent(index, p.READ)
    equal(a.data(8192), want)
    # The MR is already valid; only its current key is accepted.
    fails(lambda: a.reg_mr(stag | 0x22, 0, 4096, pages), p.REG_MR, p.SEND_STAG)
    fails(lambda: a.local_inv(stag | 0x22), p.LOCAL_INV, p.SEND_STAG)
    a.sent(a.local_inv(stag | 0x21), p.LOCAL_INV)
    a.sent(a.local_inv(stag | 0x21), p.LOCAL_INV)
    fails(lambda: a.send((0x1000_0123, 8, stag | 0x21)), p.SEND, p.SEND_STAG)
    # Page list in the table, with different page sizes.
    table[0:24] = struct.pack("<3Q", *pages)
    a.sent(a.reg_mr(stag | 0x22, 0x7000, 12288, [], table=True, count=3,
                    rights=p.LR | p.RR), p.REG_MR)
    source.fill(pattern(65536, 2))
    a.sent(a.read((0x7000, stag | 0x22), a.mr.sge(0, 12288)), p.READ)
    equal(a.data(4096, 8192), source.data(4096, 8192))
    fails(lambda: a.write((0x7000, stag | 0x22), a.mr.sge(0, 8)), p.WRITE,
          p.RECV_RIGHT)
    a.sent(a.local_inv(stag | 0x22), p.LOCAL_INV)
    big = source.block.addr & ~0xffff
    a.sent(a.reg_mr(stag | 0x23, source.block.addr, 4096, [big, big + 0x10000],
                    shift=16), p.REG_MR)
    source.fill(pattern(4096, 9))
    a.sent(a.read((source.block.addr, stag | 0x23), a.mr.sge(0, 4096)), p.READ)
    equal(a.data(4096), source.data(4096))
    a.sent(a.local_inv(stag | 0x23), p.LOCAL_INV)
    # Requests that REG_MR refuses.
    for name, post, syndrome in (
            ("no such MR", lambda: a.reg_mr(701 << 8, 0, 1, pages),
             p.SEND_STAG),
            ("a normal MR", lambda: a.reg_mr(a.mr.stag, 0, 1, pages),
             p.SEND_RIGHT),
            ("too long", lambda: a.reg_mr(stag, 1, 12288, pages), p.SEND_ADDR),
            ("too many", lambda: a.reg_mr(stag, 0, 1, [], table=True,
                                          count=17), p.SEND_FORMAT),
            ("no table", lambda: a.reg_mr(bare, 0, 1, [], table=True, count=1),
             p.SEND_FORMAT),
            ("not aligned", lambda: a.reg_mr(stag, 0, 1, [pages[0] + 8]),
             p.SEND_FORMAT),
            ("around the end", lambda: a.reg_mr(stag, (1 << 64) - 4096, 8192,
                                                pages), p.SEND_WRAP),
            ("page size", lambda: a.reg_mr(stag, 0, 1, pages, shift=11),
             p.SEND_FORMAT)):
        print(f"# REG_MR: {name}")
        fails(post, p.REG_MR, syndrome)
    fails(lambda: a.local_inv(a.mr.stag), p.LOCAL_INV, p.SEND_RIGHT)
    fails(lambda: a.local_inv(701 << 8), p.LOCAL_INV, p.SEND_STAG)
    # SEND_WITH_INV invalidates an MR of the receiver, even that of the receive itself.
    a.sent(a.reg_mr(stag | 0x31, 0, 4096, [b.block.addr]), p.REG_MR)
    b.recv(0, 4096, stag | 0x31)
    index = a.send(a.mr.sge(0, 100), opcode=p.SEND_INV,
                   imm=struct.pack("<I", stag | 0x31))
    a.sent(index, p.SEND_INV)
    equal(b.received(0, p.RECV_INV, length=100).stag, stag | 0x31)
    b.recv()
    fails(lambda: a.send(opcode=p.SEND_INV, imm=struct.pack("<I", 702 << 8)),
          p.SEND_INV, p.RECV_STAG)
    # READ_WITH_INV invalidates its own sink.
    a.sent(a.reg_mr(stag | 0x32, 0, 4096, [a.block.addr]), p.REG_MR)
    b.fill(b"read and gone")
    index = a.read((b.mr.va, b.mr.stag), (0, 13, stag | 0x32),
                   opcode=p.READ_INV, stag=stag | 0x32)
    a.sent(index, p.READ_INV, length=13)
    equal(a.data(13), b"read and gone")
    fails(lambda: a.send((0, 8, stag | 0x32)), p.SEND, p.SEND_STAG)


@case("DMA MR and the local DMA key")
def dma_keys(ad):
    a, b = pair(ad)
    device = ad.device
    equal(device.reg_mr(800, [], 0, kind=p.DMA, valid=0), 0)
    equal(device.reg_mr(801, [], 0, kind=p.DMA, valid=0, pd=9), 0)
    a.fill(pattern(9000))
    b.recv(b.block.addr + 5, 9000, p.DMA_KEY)
    a.sent(a.send((a.block.addr, 9000, 800 << 8)))
    b.received(0, length=9000)
    equal(b.data(9000, 5), a.data(9000))
    a.sent(a.write((b.block.addr, 800 << 8), (a.block.addr, 64, p.DMA_KEY)),
           p.WRITE)
    equal(b.data(64), a.data(64))
    # Address 0 and addresses after the end of memory are invalid.
    a.sent(a.send((a.block.addr, 8, 801 << 8)), p.SEND, p.SEND_PD)
    a, b = pair(ad, 7)
    a.sent(a.write((1 << 50, 800 << 8), a.mr.sge(0, 8)), p.WRITE, p.RECV_ADDR)
    a, b = pair(ad, 9)
    b.recv()
    a.sent(a.send((0, 8, p.DMA_KEY)), p.SEND, p.SEND_ADDR)
    # The receive is flushed and has no error.
    b.received(0, p.RECEIVE, p.FLUSH)
    a, b = pair(ad, 11)
    a.sent(a.send(((1 << 64) - 4, 8, p.DMA_KEY)), p.SEND, p.SEND_WRAP)
    # Drivers with short requests do not specify doorbell pages: a QP of a process
    # is recognized by pages smaller than 1 MiB.
    p.start(ad.plug({"slot": 64}))
    a, b = pair(ad, shift=12)
    a.sent(a.send((a.block.addr, 8, p.DMA_KEY)), p.SEND, p.SEND_STAG)
    a, b = pair(ad, 7)
    b.recv(b.block.addr, 8, p.DMA_KEY)
    a.sent(a.send((a.block.addr, 8, p.DMA_KEY)))


@case("tables of all levels and pages of all sizes")
def translation(ad):
    a, b = pair(ad)
    device = ad.device
    data = pattern(5000)
    a.fill(data)
    tables = pci.Memory()
    # The pages of the MR repeat after every fourth one.
    count = 3 * 512 + 7
    leaves = []
    for first in range(0, count, 512):
        page = pci.Block(tables, tables.used, 4096)
        tables.used += 4096
        n = min(512, count - first)
        page[0:8 * n] = struct.pack(f"<{n}Q", *(
            b.block.addr + 4096 * ((first + i) % 4) for i in range(n)))
        leaves.append(page.addr)

    def node(entries):
        page = pci.Block(tables, tables.used, 4096)
        tables.used += 4096
        page[0:8 * len(entries)] = struct.pack(f"<{len(entries)}Q", *entries)
        return page.addr

    for level, root, index in ((2, node(leaves), 820),
                               (3, node([node(leaves)]), 821)):
        equal(device.reg_mr(index, [root], count * 4096 - 100, start=100,
                            level=level, version=1, count=count), 0)
        for entry, off in ((0, 200), (511, 4000), (512, 0), (count - 3, 9)):
            b.fill(bytes(16384))
            va = entry * 4096 + off
            a.sent(a.write((va, index << 8), a.mr.sge(0, 4096)), p.WRITE)
            at = entry % 4 * 4096 + off
            got = b.data(16384)
            equal((got + got)[at:at + 4096], data[:4096],
                  f"level {level} entry {entry}")
    # Large pages.
    for shift in (13, 16, 21, 30):
        first = b.block.addr & ~((1 << shift) - 1)
        start = 0x10_0000_0000 + (b.block.addr - first)
        # Only the first page may begin outside memory. Address 0 is not memory, and the page
        # after the first one may not be memory either.
        crosses = b.block.addr - first + 8192 > 1 << shift
        second = first if first and not crosses else first + (1 << shift)
        equal(device.reg_mr(830 + shift, [first, second], 8192,
                            start=start, shift=shift), 0)
        b.fill(bytes(8192))
        a.sent(a.write((start + 3, 830 + shift << 8), a.mr.sge(0, 5000)),
               p.WRITE)
        equal(b.data(5000, 3), data, f"page size 2^{shift}")


@case("a message of 1 GiB: commands and other QPs are served, and it can be aborted")
def large(ad):
    a, b = pair(ad)
    c, d = pair(ad, 7)
    device = ad.device
    spare = [pci.Memory(), pci.Memory()]
    keys = []
    for index, memory in enumerate(spare):
        table = device.alloc(4096)
        table[0:4096] = struct.pack("<512Q", *[memory.phys] * 512)
        equal(device.reg_mr(850 + index, [table.addr], 1 << 30, level=1,
                            shift=21, count=512), 0)
        keys.append(850 + index << 8)
    spare[0].map[0:8192] = pattern(8192)
    index = a.write((0, keys[1]), (0, 1 << 30, keys[0]))
    done = 0
    while not a.scq.ring.peek() and done < 20:
        equal(device.command(raw.COMMON, raw.QUERY_FW_INFO)[0], 0)
        d.recv()
        c.sent(c.send(c.mr.sge(0, 64)))
        d.received(done)
        done += 1
    equal(done >= 5, True, f"done meanwhile: {done}")
    cqe = pci.wait_until(a.scq.get, "the message", 60)
    equal((cqe.index, cqe.syndrome, cqe.bytes), (index, 0, 1 << 30))
    equal(spare[1].map[0:8192], pattern(8192))
    # The message is aborted by each side, and by deregistration of its memory.
    a.write((0, keys[1]), (0, 1 << 30, keys[0]))
    equal(a.qp.modify(raw.ERROR), 0)
    a.sent(a.qp.pi - 2, p.WRITE, p.FLUSH)
    equal((a.qp.destroy(), b.qp.destroy()), (0, 0))
    a, b = pair(ad, 9)
    index = a.write((0, keys[1]), (0, 1 << 30, keys[0]))
    equal(device.dereg_mr(851), 0)
    a.sent(index, p.WRITE, p.RECV_STAG)
    a, b = pair(ad, 11)
    index = a.read((b.mr.va, b.mr.stag), (0, 16384, keys[0]))
    a.sent(index, p.READ)
    a.send((0, 1 << 30, keys[0]))
    equal((b.qp.destroy(), a.qp.destroy()), (0, 0))
    a.quiet()


def write_for_ever(ad, memories, device):
    """Posts a message of 1 GiB that overwrites the same 2 MiB with alternating data."""
    a, _ = pair(ad)
    source, sink = device.alloc(4096), device.alloc(4096)
    source[0:4096] = struct.pack("<512Q", *[m.phys for m in memories[1:]] * 256)
    sink[0:4096] = struct.pack("<512Q", *[memories[0].phys] * 512)
    for index, table in (850, source), (851, sink):
        equal(device.reg_mr(index, [table.addr], 1 << 30, level=1, shift=21,
                            count=512), 0)
    return a.write((0, 851 << 8), (0, 1 << 30, 850 << 8))


@case("no data is written after the register write that disables bus mastering")
def mastering(ad):
    memories = [pci.Memory() for _ in range(3)]
    for memory, byte in zip(memories[1:], (b"\xaa", b"\x55")):
        memory.map[:] = byte * pci.MEMORY
    sink = memories[0].map
    device = p.start(ad.plug())
    for trial in range(TRIALS):
        sink[:8] = bytes(8)
        write_for_ever(ad, memories, device)
        pci.wait_until(lambda: sink[:1] != b"\0", "data")
        # Vary the time within an iteration of the device's loop.
        time.sleep(trial % 10 * 0.0003)
        device.master(False)
        before = sink[:]
        time.sleep(0.012)
        equal(sink[:] == before, True, f"trial {trial}: nothing lands")
        device.memory.used = 0
        device.more.clear()
        p.start(device)


@case("CLOSING executes the requests posted before")
def closing(ad):
    a, b = pair(ad)
    a.fill(pattern(64))
    for _ in range(3):
        b.recv()
    indices = [a.send(a.mr.sge(0, 64)) for _ in range(4)]
    equal(a.qp.modify(raw.CLOSING), 0)
    for index in indices[:3]:
        a.sent(index)
    a.sent(indices[3], p.SEND, p.FLUSH)
    for i in range(3):
        b.received(i, length=64)
    b.recv()
    b.quiet()
    equal(b.qp.modify(raw.CLOSING), 0)
    b.received(3, p.RECEIVE, p.FLUSH)
    a.no_event()
    # A QP that is stalled until it is stopped sends nothing.
    a, b = pair(ad, 7)
    ad.fault("qp_stall", target=7, arg=0, count=1)
    b.recv()
    index = a.send(a.mr.sge(0, 64))
    equal(a.qp.modify(raw.CLOSING), 0)
    a.sent(index, p.SEND, p.FLUSH)
    b.quiet()


@case("partners are found by addresses and cookies, repeatedly, across adapters")
def partners(ad):
    device = p.start(ad.plug())
    ends = {}

    def end(number, where=device):
        ends[number] = p.End(where, number)
        return ends[number]

    def talk(a, b, text):
        text = text.encode()
        a.fill(text)
        b.recv()
        a.sent(a.send(a.mr.sge(0, len(text))))
        b.received(b.qp.rpi - 1, length=len(text))
        equal(b.data(len(text)), text)

    # Both ends have the same address, as on one host.
    a, b = end(5), end(6)
    p.connect(a, b, 0x7f000001, 0x7f000001)
    talk(a, b, "one address")
    # Interleaved connections that differ only in their ports.
    c, d, e, f = (end(n) for n in (7, 8, 9, 10))
    p.rts(c, d, 1, 2, 50, 60)
    p.rts(e, f, 1, 2, 51, 60)
    p.rts(f, e, 2, 1, 60, 51)
    p.rts(d, c, 2, 1, 60, 50)
    talk(c, d, "first")
    talk(f, e, "second")
    talk(e, f, "third")
    # The same addresses after the end of the first connection.
    equal((a.qp.modify(raw.CLOSING), b.qp.destroy()), (0, 0))
    g, h = end(11), end(12)
    p.connect(g, h, 0x7f000001, 0x7f000001)
    talk(g, h, "again")
    # Two connections with equal addresses, as in two network namespaces, differ in their cookies.
    i, j, k, l = (end(n) for n in (13, 14, 15, 16))
    p.rts(i, j, 3, 4, 1, 2)
    p.rts(k, l, 3, 4, 1, 2)
    p.rts(l, k, 4, 3, 2, 1)
    p.rts(j, i, 4, 3, 2, 1)
    talk(i, j, "by cookie")
    talk(l, k, "by cookie too")
    # Address translation in transit: the address of one end and the cookies match.
    m, n = end(17), end(18)
    p.rts(m, n, 5, 99, 1, 2)
    p.rts(n, m, 6, 5, 2, 1)
    talk(m, n, "translated")
    # Nothing matches: the message waits.
    o, q = end(19), end(20)
    p.rts(o, q, 7, 8, 1, 2)
    p.rts(q, o, 9, 10, 1, 2)
    q.recv()
    o.send(o.mr.sge(0, 4))
    o.quiet()
    q.quiet()
    second = adapter("test2", "52:54:00:ed:a0:78")
    try:
        r, s = end(21), end(22, p.start(second.plug()))
        p.connect(r, s)
        talk(r, s, "across")
        talk(s, r, "and back")
        s.fill(pattern(9999))
        r.sent(r.read((s.mr.va, s.mr.stag), r.mr.sge(0, 9999)), p.READ)
        equal(r.data(9999), pattern(9999))
        # An error is reported on the correct adapter.
        r.recv()
        s.sent(s.write((0, 0x70000), s.mr.sge(0, 4)), p.WRITE, p.RECV_STAG)
        s.event(p.QP_FATAL, p.RECV_STAG)
        r.event(p.ACC_ERR, p.RECV_STAG)
        r.received(r.qp.rpi - 1, p.RECEIVE, p.FLUSH)
        # The other adapter is unplugged.
        t, u = end(23), end(24, second.device)
        p.connect(t, u)
        talk(t, u, "last words")
        second.unplug()
        t.send(t.mr.sge(0, 4))
        t.quiet()
    finally:
        second.remove()
    talk(g, h, "still there")


@case("a partner in an error state does not respond, and its memory is not changed")
def stopped_partner(ad):
    device = p.start(ad.plug())
    equal(device.command(raw.COMMON, raw.SET_RETRANS_NUM,
                         struct.pack("<I", 2))[0], 0)
    a, b = p.End(device, 5), p.End(device, 6)
    p.rts(b, a, 2, 1, 60, 50)
    b.sent(b.send((0, 8, 0x7ff00)), p.SEND, p.SEND_STAG)
    b.event(p.QP_FATAL, p.SEND_STAG)
    a.fill(pattern(64))
    p.rts(a, b, 1, 2, 50, 60)
    a.sent(a.write((b.mr.va, b.mr.stag), a.mr.sge(0, 64)), p.WRITE, p.RETRY_EXC)
    a.event(p.QP_FATAL, p.RETRY_EXC)
    equal(b.data(64), bytes(64), "untouched")
    b.no_event()


@case("a lost partner: RETRY_EXC_ERR after the retransmissions")
def lost(ad):
    a, b = pair(ad)
    device = ad.device
    equal(device.command(raw.COMMON, raw.SET_RETRANS_NUM,
                         struct.pack("<I", 3))[0], 0)
    equal(b.qp.modify(raw.ERROR), 0)
    index = a.send(a.mr.sge(0, 4))
    a.quiet()
    a.sent(index, p.SEND, p.RETRY_EXC)
    a.event(p.QP_FATAL, p.RETRY_EXC)
    b.no_event()


@case("events of CQs: solicited or not; errors always raise one")
def events(ad):
    a, b = pair(ad)
    ceq = ad.device.ceq

    def event(cq):
        word = struct.unpack("<Q", ceq.wait("an event")[:8])[0]
        ad.device.arm_eq(1, ceq)
        equal(word & 0xfffff, cq.cqn)

    b.rcq.arm(solicited=1)
    for _ in range(3):
        b.recv()
    a.sent(a.send(a.mr.sge(0, 4)))
    b.received(0)
    equal(ceq.peek(), None, "event")
    a.sent(a.send(a.mr.sge(0, 4), flags=p.CE | p.SE))
    event(b.rcq)
    b.received(1)
    a.scq.arm()
    a.sent(a.send(a.mr.sge(0, 4), flags=p.CE | p.SE))
    event(a.scq)
    equal(ceq.peek(), None, "event")
    b.received(2)
    b.rcq.arm(solicited=1)
    b.recv()
    equal(b.qp.modify(raw.ERROR), 0)
    event(b.rcq)


@case("no arm of a CQ is missed")
def arms(ad):
    a, b = pair(ad, cq_log2=3)
    device = ad.device

    def event(cq, eqn=1, ceq=device.ceq):
        word = struct.unpack("<Q", ceq.wait("an event")[:8])[0]
        device.arm_eq(eqn, ceq)
        equal(word & 0xfffff, cq.cqn)

    def stopped(cq):
        """Adds a completion from a separate QP."""
        qp = device.create_qp(cq.cqn, cq, cq)
        qp.post_recv()
        equal(qp.modify(raw.ERROR), 0)
        cq.wait()

    # The first arm equals the value that the memory of the record already had.
    cq = device.create_cq(50, record=50 << 32 | 1 << 31)
    cq.arm()
    stopped(cq)
    event(cq)
    # The arm changes from solicited to any entry while there is an entry.
    b.rcq.arm(solicited=1)
    b.recv()
    a.sent(a.send(a.mr.sge(0, 4)))
    equal(device.ceq.peek(), None, "event")
    b.rcq.arm()
    event(b.rcq)
    b.received(0)
    # Armed for solicited entries, of which none arrives for more than a lap of the ring.
    b.rcq.arm(solicited=1)
    for i in range(1, 12):
        b.recv()
        a.sent(a.send(a.mr.sge(0, 4)))
        b.received(i)
    equal(device.ceq.peek(), None, "event")
    b.recv()
    a.sent(a.send(a.mr.sge(0, 4), flags=p.CE | p.SE))
    event(b.rcq)
    # The EQ is full: the event follows once there is space.
    small = device.create_eq(2, log2=1)
    cqs = [device.create_cq(60 + i, eqn=2) for i in range(3)]
    for cq in cqs:
        cq.arm()
        stopped(cq)
    for cq in cqs:
        event(cq, 2, small)
    equal(small.peek(), None, "event")


@case("counters of adapter and QPs")
def counters(ad):
    a, b = pair(ad)
    device = ad.device

    def stats():
        return struct.unpack("<11Q", device.query(raw.COMMON, raw.GET_STATS)
                             [0x10:0x68])

    def qpc(end):
        return device.query(RDMA, raw.QUERY_QPC, end.number)

    def u16(buf, offset):
        return struct.unpack_from("<H", buf, offset)[0]

    before = stats()
    b.recv()
    a.sent(a.send(a.mr.sge(0, 4000)))
    a.sent(a.write((b.mr.va, b.mr.stag), a.mr.sge(0, 1500)), p.WRITE)
    a.sent(a.read((b.mr.va, b.mr.stag), a.mr.sge(0, 1501)), p.READ)
    b.recv()
    a.sent(a.send())
    after = [y - x for x, y in zip(before, stats())]
    # Requests; packets: 3 + 1 + (1 + 2) + 1; bytes.
    equal(after, [4, 8, 7001, 0, 0, 0, 8, 7001, 0, 0, 0])
    equal((u16(qpc(a), 0x28), u16(qpc(a), 0x2a)), (6, 2), "packets of a")
    equal((u16(qpc(b), 0x28), u16(qpc(b), 0x2a)), (2, 6), "packets of b")
    buf = qpc(a)
    equal((u16(buf, 0x14), u16(buf, 0x16)), (a.qp.pi, a.qp.pi), "SQ indices")
    equal(u16(buf, 0x24), 4, "send completions")
    equal((u16(qpc(b), 0x26), u16(qpc(b), 0x22)), (2, 1), "receives")
    equal(struct.unpack_from("<I", buf, 0x34)[0], b.number, "remote QPN")


@case("a thousand idle connections and a busy one")
def many(ad):
    device = p.start(ad.plug())
    cq = device.create_cq(1, 6)
    sq, rq, dbrec = device.alloc(2048), device.alloc(512), device.alloc(16, 8)
    for qpn in range(100, 1124):
        body = struct.pack("<IIIIQQIIQQ", 6 << 20 | qpn, 4 << 20 | p.PD,
                           8 << 28 | cq.cqn, 8 << 28 | cq.cqn, sq.addr, rq.addr,
                           1 << 1, 1 << 1, dbrec.addr, dbrec.addr + 8)
        equal(device.command(RDMA, raw.CREATE_QP, body)[0], 0)
        body = struct.pack("<II", raw.RTS << 24 | 1 << 20 | qpn, 0)
        body += struct.pack(">IIHHII", 1, 1, qpn, qpn ^ 1, 0, 0)
        equal(device.command(RDMA, raw.MODIFY_QP, body)[0], 0)
    a, b = pair(ad)
    for i in range(200):
        b.recv()
        a.sent(a.send(a.mr.sge(0, 16)))
        b.received(i)
    # An idle connection sends a message.
    entry = struct.pack("<QIIQII", 1 << 52 | 500 << 32 | p.WRITE << 27 | p.CE |
                        2, 0, 0, 0, 0, 0) + bytes(32)
    sq[0:64] = entry[:64]
    dbrec.set64(0, 500 << 32 | 2)
    cqe = cq.wait()
    equal((cqe.qpn, cqe.index, cqe.syndrome), (500, 0, 0))


sys.exit(run(sys.argv[1:], adapter))
