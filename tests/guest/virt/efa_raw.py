# SPDX-License-Identifier: GPL-2.0-or-later
"""A minimal EFA driver in user space: registers, rings, commands, queues.

Written from the hardware interface, without code from a kernel driver, so that the
device model is tested with a different client. Requires root and a function without a
driver."""

import struct

from pci import Function, wait_until
from tap import Adapter

REGS, LLQ, DOORBELLS = 0, 2, 4
MSIX_TABLE, MSIX_PENDING = 0x8000, 0xc000

(VERSION, CONTROLLER, CAPS, AQ_BASE, AQ_CAPS, ACQ_BASE, ACQ_CAPS, AQ_DB, AENQ_CAPS,
 AENQ_BASE, AENQ_DB, INTR_MASK, DEV_CTL, DEV_STS, READ, RESP, EQ_DB) = \
    (0x00, 0x04, 0x08, 0x10, 0x18, 0x20, 0x28, 0x2c, 0x34, 0x38, 0x40, 0x4c, 0x54, 0x58,
     0x5c, 0x60, 0x68)
READY, RESETTING = 1, 8

(CREATE_QP, MODIFY_QP, QUERY_QP, DESTROY_QP, CREATE_AH, DESTROY_AH, REG_MR, DEREG_MR,
 CREATE_CQ, DESTROY_CQ, GET_FEATURE, SET_FEATURE, GET_STATS, ALLOC_PD, DEALLOC_PD,
 ALLOC_UAR, DEALLOC_UAR, CREATE_EQ, DESTROY_EQ) = range(1, 20)

OK, NO_RESOURCE, UNSUPPORTED, MALFORMED, ILLEGAL, BUSY = 0, 1, 3, 4, 5, 7

UD, SRD = 1, 2
RESET, INIT, RTR, RTS, SQD, SQE, ERR = range(7)
STATE, CUR_STATE, QKEY, PSN, DRAINED, RNR_RETRY = (1 << bit for bit in range(6))
LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ = 1, 2, 4


class Refused(Exception):
    """A command ended with a status other than 0."""

    def __init__(self, status):
        super().__init__(f"status {status}")
        self.status = status


class Ring:
    """Consumer of a ring with phases; at: offset of the byte with the phase in an entry."""

    def __init__(self, block, depth, size, at):
        self.block, self.depth, self.size, self.at = block, depth, size, at
        self.ci = 0

    def peek(self):
        begin = (self.ci & (self.depth - 1)) * self.size
        entry = self.block[begin:begin + self.size]
        wanted = 0 if self.ci & self.depth else 1
        return entry if entry[self.at] & 1 == wanted else None

    def get(self):
        entry = self.peek()
        if entry:
            self.ci += 1
        return entry

    def wait(self, what="an entry", limit=30):
        return wait_until(self.get, what, limit)


class Device(Function):
    """One PCI function."""

    def __init__(self, address):
        super().__init__(address, (REGS, LLQ, DOORBELLS))
        self.resp = self.alloc(8, 8)
        self.seq = 0

    # Registers

    def write_base(self, reg, addr):
        self.write32(reg + 4, addr >> 32)
        self.write32(reg, addr & 0xffffffff)

    def ask(self, reg):
        """Requests the value of a register. Returns the number of the request."""
        self.seq = self.seq % 0xffff + 1
        self.resp.set64(0, self.seq + 0x9a & 0xffff)
        self.write32(READ, reg << 16 | self.seq)
        return self.seq

    def read(self, reg, limit=30):
        """Returns the value of a register, which is never read by MMIO."""
        number = self.ask(reg)
        wait_until(lambda: self.resp.u64(0) & 0xffff == number, f"register {reg:#x}", limit)
        answer = self.resp.u64(0)
        assert answer >> 16 & 0xffff == reg, f"answer {answer:#x} about another register"
        return answer >> 32

    def reset(self, reason=0):
        self.write32(DEV_CTL, reason << 28 | 1)
        self.write_base(RESP, self.resp.addr)
        wait_until(lambda: self.read(DEV_STS) & RESETTING, "reset in progress")
        self.write32(DEV_CTL, 0)
        wait_until(lambda: not self.read(DEV_STS) & RESETTING, "end of reset")

    # Start

    def prepare(self, depth=32, aenq_depth=16):
        """Allocates the rings and writes their registers, AENQ first."""
        self.depth = depth
        self.aq = self.alloc(depth * 64)
        self.acq = Ring(self.alloc(depth * 64), depth, 64, 3)
        self.aenq = Ring(self.alloc(aenq_depth * 64), aenq_depth, 64, 4)
        self.pi = 0
        self.write32(AENQ_CAPS, 64 << 16 | aenq_depth)
        self.write_base(AENQ_BASE, self.aenq.block.addr)
        self.write32(AENQ_DB, 0)
        self.write_base(ACQ_BASE, self.acq.block.addr)
        self.write32(ACQ_CAPS, 64 << 16 | depth)
        self.write32(AQ_CAPS, 64 << 16 | depth)
        self.write_base(AQ_BASE, self.aq.addr)

    def init(self, **kwargs):
        self.master()
        self.write_base(RESP, self.resp.addr)
        self.reset()
        self.prepare(**kwargs)
        return self

    # Commands

    def post(self, opcode, body=b"", flags=0, number=None, ring=True):
        """Puts a command into the queue. Returns its number."""
        number = self.pi * 37 & 0xfff if number is None else number
        phase = 0 if self.pi & self.depth else 1
        at = (self.pi & (self.depth - 1)) * 64
        entry = struct.pack("<HBB", number, opcode, flags | phase) + body
        assert len(entry) <= 64
        self.aq[at:at + 64] = entry.ljust(64, b"\0")
        self.pi = self.pi + 1 & 0xffff
        if ring:
            self.write32(AQ_DB, self.pi)
        return number

    def completion(self, limit=30):
        """Returns (number, status, response)."""
        entry = self.acq.wait("a completion of a command", limit)
        number, status = struct.unpack("<HB", entry[:3])
        return number, status, entry[8:]

    def command(self, opcode, body=b"", **kwargs):
        """Returns (status, response)."""
        number = self.post(opcode, body, **kwargs)
        answer = self.completion()
        assert answer[0] == number, f"completion of {answer[0]}, not {number}"
        return answer[1:]

    def must(self, opcode, body=b"", **kwargs):
        """Returns the response of a command, which must succeed."""
        status, answer = self.command(opcode, body, **kwargs)
        if status:
            raise Refused(status)
        return answer

    def number(self, opcode, body=b""):
        """Returns the number that a command returns."""
        return struct.unpack("<H", self.must(opcode, body)[:2])[0]

    def get_feature(self, feature):
        return self.command(GET_FEATURE, struct.pack("<12xBBH", 0, feature, 0))

    def set_feature(self, feature, payload, flags=0, ctrl=b""):
        return self.command(SET_FEATURE, struct.pack("<12sBBH", ctrl, 0, feature, 0) + payload,
                            flags=flags)[0]

    def stats(self, kind, scope=0):
        status, answer = self.command(GET_STATS, struct.pack("<12xBBH", kind, scope, 0))
        return status or struct.unpack("<6Q", answer[:48])

    # Objects

    def alloc_pd(self):
        return self.number(ALLOC_PD)

    def alloc_uar(self):
        return self.number(ALLOC_UAR)

    def drop(self, opcode, number, second=0):
        """Destroys a PD, UAR, CQ, EQ, or an AH of the PD second. Returns the status."""
        return self.command(opcode, struct.pack("<HH", number, second))[0]

    def create_ah(self, gid, pd):
        return self.number(CREATE_AH, gid + struct.pack("<H", pd))

    def create_eq(self, depth=64, vector=1, words=4, events=1):
        block = self.alloc(depth * 16)
        number = self.number(CREATE_EQ, struct.pack("<HBBQI", depth, vector, words, block.addr,
                                                    events))
        ring = Ring(block, depth, 16, 0)
        ring.number = number
        return ring

    def reg_mr_raw(self, pd, pages, length, iova, shift=12, rights=7, flags=0):
        """pages: the 32 bytes of the list. Returns the status and (lkey, rkey)."""
        status, answer = self.command(
            REG_MR, struct.pack("<HH32sQBBHIQ", pd, 0, pages, length, shift, rights, 0, 0, iova),
            flags=flags)
        return status, struct.unpack("<II", answer[:8])

    def gid(self):
        return self.get_feature(3)[1][:16]


class Mr:
    """A memory region with an inline or direct page list."""

    def __init__(self, device, block, size, pd, rights=7, iova=None):
        self.block, self.size, self.device = block, size, device
        self.va = 0x7f0000000000 + block.addr % 4096 if iova is None else iova
        first = block.addr & ~4095
        pages = [first + 4096 * i for i in range(-(-(block.addr + size - first) // 4096))]
        text, flags = struct.pack(f"<{len(pages)}Q", *pages), 0
        if len(pages) > 4:
            table = device.alloc(len(text))
            table[0:len(text)] = text
            text, flags = struct.pack("<IQ", len(text), table.addr), 2
        status, keys = device.reg_mr_raw(pd, text, size, self.va, rights=rights, flags=flags)
        if status:
            raise Refused(status)
        self.lkey, self.rkey = keys

    def sge(self, offset=0, length=None):
        return self.size - offset if length is None else length, self.lkey, self.va + offset

    def remote(self, offset=0, length=None):
        return self.size - offset if length is None else length, self.rkey, self.va + offset

    def dereg(self):
        return self.device.command(DEREG_MR, struct.pack("<I", self.lkey))[0]


class Cqe:
    def __init__(self, raw):
        (self.req_id, self.status, flags, self.qpn, self.length, self.ah, self.src_qpn,
         self.imm) = struct.unpack("<HBBHHHHI", raw[:16])
        self.queue, self.has_imm = flags >> 1 & 3, flags >> 3 & 1
        self.op, self.unsolicited = flags >> 4 & 7, flags >> 7
        self.tail = raw[16:]

    def __repr__(self):
        return f"<CQE {self.__dict__}>"


class Cq:
    def __init__(self, device, uar, depth=64, words=8, subs=1, eq=None, src=False):
        self.device, self.events = device, 0
        block = device.alloc(max(4096, depth * subs * words * 4))
        answer = device.must(CREATE_CQ, struct.pack(
            "<BBHHHQIHH", 0 if eq is None else 1 << 5, words | src << 5, depth,
            0 if eq is None else eq.number, 0, block.addr, 0, subs, uar))
        self.number, self.depth, self.db, self.flags = struct.unpack("<HHII", answer[:12])
        self.subs = []
        for i in range(subs):
            part = type(block)(block.memory, block.start + i * depth * words * 4,
                               depth * words * 4)
            self.subs.append(Ring(part, depth, words * 4, 3))

    def get(self, sub=0):
        raw = self.subs[sub].get()
        return Cqe(raw) if raw else None

    def wait(self, sub=0, limit=30):
        return Cqe(self.subs[sub].wait("a completion", limit))

    def doorbell(self, arm=False, index=None, events=None):
        index = sum(ring.ci for ring in self.subs) if index is None else index
        events = self.events if events is None else events
        self.device.write32(self.db, arm << 31 | (events & 3) << 29 | index & 0xffff, DOORBELLS)

    def destroy(self):
        return self.device.drop(DESTROY_CQ, self.number)


class Qp:
    """A QP and its rings; wr() and recv() ring the doorbell unless ring is false."""

    def __init__(self, device, pd, uar, scq, rcq, kind=SRD, sq_depth=16, rq_depth=16, wqe=64,
                 flags=0, recv_sge=1):
        self.device, self.scq, self.rcq, self.wqe = device, scq, rcq, wqe
        self.sq_depth, self.rq_depth = sq_depth, rq_depth
        self.rq = device.alloc(max(4096, rq_depth * 16))
        self.pi = self.rpi = 0
        answer = device.must(CREATE_QP, struct.pack(
            "<HBBQQIIIIIIIIHBB", pd, kind, flags, 0, self.rq.addr if rq_depth else 0, scq.number,
            rcq.number, 0, 0, sq_depth * wqe, sq_depth, rq_depth * 16, rq_depth // recv_sge, uar,
            0, 0))
        (self.handle, self.qpn, self.send_sub, self.recv_sub, self.sq_db, self.rq_db,
         self.llq) = struct.unpack("<IHxxHHIII", answer[:24])

    def modify(self, mask, state=0, current=0, qkey=0, psn=0, rnr=0):
        return self.device.command(MODIFY_QP, struct.pack(
            "<IIIIIIBB", mask, self.handle, state, current, qkey, psn, 0, rnr))[0]

    def go(self, state, current, **kwargs):
        """Changes the state; kwargs: qkey, psn, rnr."""
        mask = STATE | CUR_STATE
        for name, bit in ("qkey", QKEY), ("psn", PSN), ("rnr", RNR_RETRY):
            mask |= bit if name in kwargs else 0
        return self.modify(mask, state, current, **kwargs)

    def query(self):
        """Returns (state, qkey, psn, draining, rnr)."""
        status, answer = self.device.command(QUERY_QP, struct.pack("<I", self.handle))
        return status or struct.unpack("<IIIBB", answer[:14])

    def destroy(self):
        return self.device.command(DESTROY_QP, struct.pack("<I", self.handle))[0]

    def wr(self, op, to, data, count, number=0, imm=None, inline=False, ring=True):
        """Posts an entry; to: (QPN, AH, Q_Key); data follows the metadata."""
        control = op | 1 << 7 | (imm is not None) << 4 | inline << 5
        phase = self.pi // self.sq_depth & 1
        entry = struct.pack("<HBBHHIHBBI12x", number, control, 0x1c | phase, to[0], count,
                            imm or 0, to[1], 0, 0, to[2]) + data
        assert len(entry) <= self.wqe
        at = self.llq + (self.pi & (self.sq_depth - 1)) * self.wqe
        self.device.bars[LLQ][at:at + self.wqe] = entry.ljust(self.wqe, b"\xa5")
        self.pi = self.pi + 1 & 0xffff
        if ring:
            self.ring()

    def ring(self):
        self.device.write32(self.sq_db, self.pi, DOORBELLS)

    def recv(self, *sges, number=0, ring=True):
        """Posts a receive with these elements: (length, lkey, address)."""
        for i, (length, lkey, address) in enumerate(sges):
            last = i == len(sges) - 1
            at = (self.rpi & (self.rq_depth - 1)) * 16
            self.rq[at:at + 16] = struct.pack("<QHHI", address, 0 if i else number, length,
                                              lkey | (not i) << 30 | last << 31)
            self.rpi = self.rpi + 1 & 0xffff
        if ring:
            self.device.write32(self.rq_db, self.rpi, DOORBELLS)


def adapter(name="test"):
    return Adapter("efa", name, Device)
