# SPDX-License-Identifier: GPL-2.0-or-later
"""A minimal ERDMA driver in user space: registers, rings, commands.

Written from the hardware interface, without code from the kernel driver, so
that the device model is tested with a different client. Requires root and a
function without a driver.
"""

import ctypes
import struct

from pci import Function, wait_until
from tap import Adapter

RDMA, COMMON = 0, 1
(QUERY_DEVICE, CREATE_QP, DESTROY_QP, MODIFY_QP, CREATE_CQ, DESTROY_CQ,
 REFLUSH) = range(7)
REG_MR, DEREG_MR, QUERY_QPC, QUERY_CQC = 8, 9, 11, 12
(CREATE_EQ, DESTROY_EQ, QUERY_FW_INFO, CONF_MTU, GET_STATS, CONF_DEVICE,
 QUERY_EQC, SET_RETRANS_NUM, ALLOC_DB, FREE_DB, SET_EXT_ATTR,
 GET_EXT_ATTR) = range(12)

IDLE, RTR, RTS, CLOSING, TERMINATE, ERROR = range(6)


class Ring:
    """Consumer side of a CQ or EQ: owner bit rule of hw 3.5."""

    def __init__(self, block, depth, size, be):
        self.block, self.depth, self.size, self.be = block, depth, size, be
        self.ci = 0

    def peek(self):
        at = (self.ci & (self.depth - 1)) * self.size
        word = self.block.be32(at) if self.be else self.block.le32(at)
        if (word >> 31) == bool(self.ci & self.depth):
            return None
        return self.block[at:at + self.size]

    def get(self):
        entry = self.peek()
        if entry:
            self.ci += 1
        return entry

    def wait(self, what="an entry", limit=30):
        return wait_until(self.get, what, limit)


class Cqe:
    def __init__(self, raw):
        (header, self.index, self.qpn, _, self.bytes) = \
            struct.unpack(">5I", raw[:20])
        self.imm = struct.unpack("<I", raw[12:16])[0]
        self.stag = struct.unpack(">I", raw[12:16])[0]
        self.opcode = header >> 16 & 0xff
        self.qtype = header >> 8 & 0xff
        self.syndrome = header & 0xff
        self.reserved = header >> 24 & 0x7f

    def __repr__(self):
        return (f"<CQE qtype {self.qtype} opcode {self.opcode} syndrome "
                f"{self.syndrome} qpn {self.qpn} index {self.index} bytes "
                f"{self.bytes}>")


class Device(Function):
    """One PCI function."""

    def __init__(self, address, slot=128):
        super().__init__(address, (0, 2))
        self.slot = slot

    # Registers

    def read64(self, reg, bar=0):
        return ctypes.c_uint64.from_buffer(self.bars[bar], reg).value

    def write64(self, reg, value):
        ctypes.c_uint64.from_buffer(self.bars[0], reg).value = value

    # Start and stop

    def prepare(self, depth=None, eq_depth=128, aeq_depth=256):
        """Allocates the queues and writes their registers (hw 2.3)."""
        self.wqebbs = self.slot // 32
        self.depth = depth or 128 * self.wqebbs
        self.sq = self.alloc(self.depth * 32)
        cq, eq = self.alloc(self.depth * 32), self.alloc(eq_depth * 16)
        aeq = self.alloc(aeq_depth * 16)
        self.cq = Ring(cq, self.depth, 32, True)
        self.eq = Ring(eq, eq_depth, 16, False)
        self.aeq = Ring(aeq, aeq_depth, 16, False)
        self.dbrec = self.alloc(32, 8)
        self.pi = 0
        self.cmdsn = 0
        for reg, block in (0x40, aeq), (0x20, self.sq), (0x28, cq), (0x38, eq):
            self.write32(reg + 4, block.addr >> 32)
            self.write32(reg, block.addr & 0xffffffff)
        self.write32(0x48, aeq_depth)
        self.write32(0x30, self.depth)
        self.write32(0x34, eq_depth)
        for i, reg in enumerate((0x60, 0x68, 0x70, 0x78)):
            self.write64(reg, self.dbrec.addr + 8 * i)

    def init(self, **kwargs):
        self.master()
        self.prepare(**kwargs)
        self.write32(0x10, 2)
        wait_until(lambda: self.read32(0x14) & 2, "INIT_DONE")

    def reset(self):
        self.write32(0x10, 1)
        wait_until(lambda: self.read32(0x14) & 1, "RESET_DONE")

    # Commands

    def post(self, sub, opcode, body=b"", wqebbs=None, index=None, ring=True):
        """Puts a command into the queue; the rest of the slot is garbage."""
        wqebbs = wqebbs or self.wqebbs
        at = (self.pi & (self.depth - 1)) * 32
        garbage = bytes((0xa5,)) * (wqebbs * 32)
        after = (self.pi + wqebbs) & 0xffff
        header = ((wqebbs - 1) << 52 | 77 << 32 | sub << 24 | opcode << 16 |
                  (after if index is None else index))
        slot = struct.pack("<Q", header) + body
        slot += garbage[len(slot):]
        self.sq[at:at + len(slot)] = slot
        first, self.pi = self.pi, after
        if ring:
            self.ring()
        return first

    def ring(self):
        self.dbrec.set64(0, self.pi)
        self.write64(0x200, self.pi)

    def completion(self, first=None, limit=30):
        raw = self.cq.wait("a command completion", limit)
        word = struct.unpack(">8I", raw)
        assert first is None or word[1] == first, f"index {word[1]}"
        assert word[0] >> 8 & 0xff == 2, "not a command's CQE"
        return word[0] & 0xff, word[2] | word[3] << 32, word[4] | word[5] << 32

    def command(self, sub, opcode, body=b"", **kwargs):
        """Runs a command and polls. Returns (syndrome, response 0, response 1)."""
        return self.completion(self.post(sub, opcode, body, **kwargs))

    def arm(self):
        value = (self.cmdsn & 0xff) << 56 | 1 << 31 | (self.cmdsn & 3) << 28 | \
            (self.cq.ci & 0xffffff)
        self.dbrec.set64(8, value)
        self.write64(0x300, value)

    def arm_eq(self, number, ring):
        value = 1 << 31 | ring.ci & 0xffff
        self.write64(0x100 + 8 * number if number >= 0 else 0x50, value)

    # Objects

    def create_eq(self, eqn, log2=8, vector=None, kind=1, ring=None,
                  dbrec=None):
        ring = ring or self.alloc(16 << min(log2, 12))
        dbrec = dbrec or self.alloc(8, 8)
        vector = eqn if vector is None else vector
        body = struct.pack("<QBBBBQ", ring.addr, vector, eqn, log2, kind,
                           dbrec.addr)
        result = self.command(COMMON, CREATE_EQ, body)
        if result[0] == 0:
            return Ring(ring, 1 << log2, 16, False)
        return result[0]

    def destroy_eq(self, eqn, kind=1):
        body = b"\xee" * 8 + struct.pack("<BBBB", eqn, eqn, 9, kind)
        return self.command(COMMON, DESTROY_EQ, body)[0]

    def create_cq(self, cqn, log2=6, eqn=1, **kwargs):
        return Cq(self, cqn, log2, eqn, **kwargs)

    def create_qp(self, qpn, scq, rcq, **kwargs):
        return Qp(self, qpn, scq, rcq, **kwargs)

    def reg_mr(self, index, entries, length, start=0, pd=3, key=0, kind=0,
               valid=1, rights=0x1f, shift=12, level=0, version=0, count=None,
               mtt_shift=12):
        """Registers an MR; entries: addresses of pages, or that of the table for level > 0."""
        count = len(entries) if count is None else count
        cfg0 = valid << 31 | version << 28 | key << 20 | index
        cfg1 = pd << 12 | kind << 6 | rights << 1
        cfg2 = shift << 27 | level << 20 | count & 0xfffff
        if version:
            cfg2 |= (mtt_shift - 12) << 24
        body = struct.pack("<IIQII", cfg0, cfg1, start, length & 0xffffffff,
                           cfg2)
        if level and version:
            body += struct.pack("<QII", entries[0], length >> 32, count >> 20)
        else:
            body += b"".join(struct.pack("<Q", e) for e in entries[:4])
        return self.command(RDMA, REG_MR, body)[0]

    def dereg_mr(self, index, key=0):
        return self.command(RDMA, DEREG_MR,
                            struct.pack("<I", key << 20 | index))[0]

    def query(self, sub, opcode, index=0, length=256, addr=None):
        buf = self.alloc(256, 256)
        body = struct.pack("<IIQI", 0x5a5a5a5a, index, addr or buf.addr, length)
        syndrome = self.command(sub, opcode, body)[0]
        return syndrome or buf[0:256]


class Cq:
    """A CQ. record: content of its doorbell record while the device creates it."""

    def __init__(self, device, cqn, log2=6, eqn=1, block=None, direct_bit=0,
                 record=0):
        self.device, self.cqn, self.log2 = device, cqn, log2
        self.block = block or device.alloc(max(4096, 32 << log2))
        self.dbrec = device.alloc(8, 8)
        self.dbrec.set64(0, record)
        self.idx = 0
        self.cmdsn = 0
        self.ring = Ring(self.block, 1 << log2, 32, True)
        body = struct.pack("<IIIIQII", log2 << 24 | 13 << 20 | cqn,
                           self.block.addr & 0xffffffff, self.block.addr >> 32,
                           1 << 16 | direct_bit << 15 | eqn, self.dbrec.addr,
                           0, 0xdeadbeef)
        self.syndrome = device.command(RDMA, CREATE_CQ, body)[0]
        self.dbrec.set64(0, 0)

    def get(self):
        raw = self.ring.get()
        return Cqe(raw) if raw else None

    def wait(self, limit=30):
        return Cqe(self.ring.wait("a CQE", limit))

    def arm(self, solicited=0, ci=None, mmio=True):
        ci = self.ring.ci if ci is None else ci
        value = (self.idx & 0xff) << 56 | self.cqn << 32 | 1 << 31 | \
            solicited << 30 | (self.cmdsn & 3) << 28 | ci & 0xffffff
        self.idx += 1
        self.dbrec.set64(0, value)
        if mmio:
            self.device.write64(0x79000, value)

    def destroy(self):
        return self.device.command(RDMA, DESTROY_CQ,
                                   struct.pack("<I", self.cqn))[0]


class Qp:
    def __init__(self, device, qpn, scq, rcq, sq_log2=6, rq_log2=4, pd=3,
                 shift=20):
        self.device, self.qpn = device, qpn
        self.sq_depth, self.rq_depth = 1 << sq_log2, 1 << rq_log2
        self.sq = device.alloc(32 << sq_log2)
        self.rq = device.alloc(32 << rq_log2)
        self.dbrec = device.alloc(16, 8)
        self.pi = self.rpi = 0
        body = struct.pack("<IIIIQQIIQQ", sq_log2 << 20 | qpn,
                           rq_log2 << 20 | pd, shift - 12 << 28 | scq.cqn,
                           shift - 12 << 28 | rcq.cqn, self.sq.addr, self.rq.addr,
                           1 << 1, 1 << 1, self.dbrec.addr,
                           self.dbrec.addr + 8)
        self.syndrome, self.cookie, _ = device.command(RDMA, CREATE_QP, body)

    def modify(self, state, cc=1, cookie=0, dip=0, sip=0, sport=0, dport=0):
        body = struct.pack("<II", state << 24 | cc << 20 | self.qpn, cookie)
        body += struct.pack(">IIHH", dip, sip, sport, dport)
        body += struct.pack("<II", 1000, 2000)
        return self.device.command(RDMA, MODIFY_QP, body)[0]

    def reflush(self, sq_pi, rq_pi):
        return self.device.command(RDMA, REFLUSH, struct.pack(
            "<III", self.qpn, sq_pi, rq_pi))[0]

    def destroy(self):
        return self.device.command(RDMA, DESTROY_QP,
                                   struct.pack("<I", self.qpn))[0]

    def post_raw(self, opcode, body, sgl_len=0, flags=0, ring=True):
        """Posts a send queue entry; body follows the header. Returns its first index."""
        count = -(-(8 + len(body)) // 32)
        header = sgl_len << 56 | (count - 1) << 52 | self.qpn << 32 | \
            opcode << 27 | flags | (self.pi + count) & 0xffff
        entry = struct.pack("<Q", header) + body
        entry += b"\x5a" * (count * 32 - len(entry))
        for i in range(count):
            at = (self.pi + i & self.sq_depth - 1) * 32
            self.sq[at:at + 32] = entry[32 * i:32 * i + 32]
        first = self.pi
        self.pi = (self.pi + count) & 0xffff
        if ring:
            self.ring()
        return first

    def ring(self):
        value = self.qpn << 32 | self.pi
        self.dbrec.set64(0, value)
        self.device.write64(0x5f000, value)

    def post_recv(self, addr=0, length=0, lkey=0, ring=True):
        at = (self.rpi & self.rq_depth - 1) * 32
        first = self.rpi
        self.rpi = (self.rpi + 1) & 0xffff
        # Drivers do not write the second 16 bits.
        word = self.qpn << 32 | 0xbeef << 16 | self.rpi
        self.rq[at:at + 32] = struct.pack("<QQQII", word, 0x77, addr, length,
                                          lkey)
        if ring:
            self.dbrec.set64(8, word)
            self.device.write64(0x61000, word)
        return first


def adapter(name="test", mac="52:54:00:ed:a0:77"):
    return Adapter("erdma", name, Device, mac=mac)
