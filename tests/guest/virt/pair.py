# SPDX-License-Identifier: GPL-2.0-or-later
"""Two connected QPs of the raw driver, and work requests for them."""

import struct

import raw
from tap import equal

(WRITE, READ, SEND, SEND_IMM, RECEIVE, RECV_IMM, RECV_INV) = range(7)
WRITE_IMM, RSP_SEND_IMM, SEND_INV, REG_MR, LOCAL_INV, READ_INV, CAS, FAA = \
    9, 12, 13, 14, 15, 16, 17, 18

DWQE, INLINE, FENCE, SE, CE = (1 << bit for bit in (26, 25, 24, 23, 22))

(SUCCESS, GENERAL, RECV_FORMAT, RECV_STAG, RECV_ADDR, RECV_RIGHT, RECV_PD,
 RECV_WRAP, SEND_FORMAT, SEND_ORD, SEND_STAG, SEND_ADDR, SEND_RIGHT, SEND_PD,
 SEND_WRAP, FLUSH, RETRY_EXC) = range(17)

RA, LR, LW, RR, RW = (1 << bit for bit in range(5))
ALL = RA | LR | LW | RR | RW
FRMR, DMA = 1, 2

QP_FATAL, ERQ_ERR, ACC_ERR = range(3)

PD = 3
DMA_KEY = 0xffffff00


def sgl(*elements):
    """Elements are (address, length, key)."""
    return b"".join(struct.pack("<QII", *e) for e in elements)


class Mr:
    """A region of memory with keys; va is its start address in requests."""

    def __init__(self, device, index, block, length, va=None, pd=PD,
                 rights=ALL, key=0):
        self.device, self.block, self.index = device, block, index
        self.va = block.addr if va is None else va
        self.length, self.stag = length, index << 8 | key
        self.number = key
        first = block.addr & ~4095
        count = -(-(block.addr + length - first) // 4096)
        pages = [first + 4096 * i for i in range(count)]
        extra = {}
        if count > 4:
            table = device.alloc(8 * count)
            table[0:8 * count] = struct.pack(f"<{count}Q", *pages)
            pages, extra = [table.addr], {"level": 1, "count": count}
        equal(device.reg_mr(index, pages, length, start=self.va, pd=pd,
                            rights=rights, key=key, **extra), 0, "REG_MR")

    def sge(self, offset=0, length=None):
        length = self.length - offset if length is None else length
        return self.va + offset, length, self.stag

    def dereg(self):
        return self.device.dereg_mr(self.index, self.number)


class End:
    """A QP with its own CQs and one buffer."""

    def __init__(self, device, number, size=16384, pd=PD, cq_log2=10,
                 **kwargs):
        self.device, self.number = device, number
        self.scq = device.create_cq(2 * number, cq_log2)
        self.rcq = device.create_cq(2 * number + 1, cq_log2)
        equal((self.scq.syndrome, self.rcq.syndrome), (0, 0), "CREATE_CQ")
        self.qp = device.create_qp(number, self.scq, self.rcq, pd=pd, **kwargs)
        equal((self.qp.syndrome, self.qp.cookie), (0, number), "CREATE_QP")
        self.block = device.alloc(size)
        self.mr = Mr(device, number, self.block, size, pd=pd)

    def fill(self, data, offset=0):
        self.block[offset:offset + len(data)] = data

    def data(self, length, offset=0):
        return self.block[offset:offset + length]

    # Work requests: each returns its index.

    def send(self, *elements, opcode=SEND, imm=b"\0\0\0\0", flags=CE,
             length=None, **kwargs):
        length = sum(e[1] for e in elements) if length is None else length
        body = imm + struct.pack("<I", length) + sgl(*elements)
        return self.qp.post_raw(opcode, body, len(elements), flags, **kwargs)

    def send_inline(self, data, opcode=SEND, imm=b"\0\0\0\0", flags=CE):
        body = imm + struct.pack("<I", len(data)) + data
        return self.qp.post_raw(opcode, body, len(data), flags | INLINE)

    def write(self, remote, *elements, opcode=WRITE, imm=b"\0\0\0\0", flags=CE,
              **kwargs):
        body = imm + struct.pack(
            "<IIIII", sum(e[1] for e in elements), remote[1],
            remote[0] & 0xffffffff, remote[0] >> 32, 0x5a5a5a5a)
        return self.qp.post_raw(opcode, body + sgl(*elements), len(elements),
                                flags, **kwargs)

    def write_inline(self, remote, data, opcode=WRITE, imm=b"\0\0\0\0",
                     flags=CE):
        body = imm + struct.pack(
            "<IIIII", len(data), remote[1], remote[0] & 0xffffffff,
            remote[0] >> 32, 0x5a5a5a5a)
        return self.qp.post_raw(opcode, body + data, len(data), flags | INLINE)

    def read(self, remote, local, opcode=READ, stag=0, flags=CE, **kwargs):
        body = struct.pack("<IIIIII", stag, local[1], local[2],
                           local[0] & 0xffffffff, local[0] >> 32, 0x5a5a5a5a)
        return self.qp.post_raw(opcode, body + sgl((remote[0], local[1],
                                                    remote[1])), 0, flags,
                                **kwargs)

    def atomic(self, opcode, remote, local, operand, compare=0x5a5a, flags=CE):
        body = struct.pack("<QQQ", 0x5a5a5a5a, operand, compare)
        body += sgl((remote[0], 0x77, remote[1]), local)
        return self.qp.post_raw(opcode, body, 0, flags)

    def reg_mr(self, stag, va, length, pages, rights=ALL, table=False,
               count=None, shift=None, flags=CE):
        count = len(pages) if count is None else count
        body = struct.pack("<QIIII", va, length, stag, count << 12 |
                           table << 6 | rights << 1 | (shift is not None),
                           shift or 0xa5)
        if not table:
            body += struct.pack(f"<{len(pages)}Q", *pages)
            body += b"\x5a" * (56 - len(body))
        return self.qp.post_raw(REG_MR, body, 0, flags)

    def local_inv(self, stag, flags=CE):
        body = b"\x5a" * 12 + struct.pack("<I", stag) + b"\x5a" * 8
        return self.qp.post_raw(LOCAL_INV, body, 0, flags)

    def recv(self, *element, **kwargs):
        return self.qp.post_recv(*(element or self.mr.sge()), **kwargs)

    # Completions

    def sent(self, index, opcode=SEND, syndrome=SUCCESS, length=None):
        cqe = self.scq.wait()
        equal((cqe.qtype, cqe.qpn, cqe.index, cqe.opcode, cqe.syndrome),
              (0, self.number, index, opcode, syndrome), "send completion")
        if length is not None:
            equal(cqe.bytes, length, "bytes sent")
        return cqe

    def received(self, index, opcode=RECEIVE, syndrome=SUCCESS, length=None):
        cqe = self.rcq.wait()
        equal((cqe.qtype, cqe.qpn, cqe.index, cqe.opcode, cqe.syndrome),
              (1, self.number, index, opcode, syndrome), "receive completion")
        if length is not None:
            equal(cqe.bytes, length, "bytes received")
        return cqe

    def quiet(self):
        """Checks that no request has completed; a command first gives the device time to complete one."""
        equal(self.device.command(raw.COMMON, raw.QUERY_FW_INFO)[0], 0)
        equal((self.scq.get(), self.rcq.get()), (None, None), "completions")

    def event(self, kind, syndrome=None):
        raw_event = self.device.aeq.wait("an asynchronous event")
        word, qpn = struct.unpack("<II", raw_event[:8])
        self.device.arm_eq(-1, self.device.aeq)
        equal((word >> 16 & 0xff, qpn), (kind, self.number), "event")
        if syndrome is not None:
            equal(word & 0xff, syndrome, "syndrome of the event")

    def no_event(self):
        equal(self.device.aeq.peek(), None, "asynchronous event")


def start(device):
    device.init()
    device.ceq = device.create_eq(1)
    return device


def connect(a, b, ip_a=0x0a4d0001, ip_b=0x0a4d0101, port_a=40000, port_b=7174):
    """Moves both ends to RTS, first b as the passive side."""
    rts(b, a, ip_b, ip_a, port_b, port_a)
    rts(a, b, ip_a, ip_b, port_a, port_b)


def rts(end, other, ip, other_ip, port, other_port, cookie=None):
    cookie = other.qp.cookie if cookie is None else cookie
    equal(end.qp.modify(raw.RTS, cookie=cookie, sip=ip, dip=other_ip,
                        sport=port, dport=other_port), 0, "RTS")


def pair(ad, number=5, **kwargs):
    """Returns two connected ends on one adapter."""
    device = ad.device or start(ad.plug())
    a, b = End(device, number, **kwargs), End(device, number + 1, **kwargs)
    connect(a, b, port_a=40000 + number)
    return a, b
