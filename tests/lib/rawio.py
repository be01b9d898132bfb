#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: RING, HWCTX and REGS of a device's node, used right and wrong.

rawio.py DEVICE PCI_ADDRESS; unbinds the device at the end.
"""

import ctypes
import errno
import os
import struct
import sys
from pathlib import Path

DEVICE, ADDRESS = sys.argv[1:]
RING, HWCTX, REGS = 0xEA02, 0xEA03, 0xEA04
SQ, RQ, CQ, EQ, CMD_SQ, CMD_CQ, QPC, CQC, EQC, KIND_REGS = range(10)
LIBC = ctypes.CDLL(None, use_errno=True)
RING_FORMAT = "=IIIIIIQIIIIIIIIIIiIII8x"
CAP_SYS_RAWIO = 17


def node_of(device):
    for node in Path("/sys/class/eadm").iterdir():
        if (node / "ibdev").read_text().strip() == device:
            return f"/dev/eadm/{node.name[4:]}"
    raise FileNotFoundError(device)


def ioctl(fd, number, data):
    """The error's name, and the argument afterwards."""
    arg = ctypes.create_string_buffer(bytes(data), len(data))
    ret = LIBC.ioctl(fd, ctypes.c_ulong(number), arg)
    return ("ok" if not ret else errno.errorcode[ctypes.get_errno()]), arg.raw


def ring(fd, kind, ident=0, flags=0, first=0, count=0, room=0, data=0, dirt=0, size=96, tail=b""):
    arg = struct.pack(RING_FORMAT, size, kind, ident, flags, first, count, data, room, 0, dirt,
                      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) + tail
    error, raw = ioctl(fd, RING, arg)
    names = ("size kind id flags first count data data_len sub format entry_size depth valid "
             "sw_pi sw_ci hw_pi hw_ci hw_error index index_bits memory").split()
    return error, dict(zip(names, struct.unpack(RING_FORMAT, raw[:96])))


def same(got, want, what):
    if got != want:
        raise AssertionError(f"{what}: {got}, not {want}")
    print(f"{what}: {got}")


def rings(fd):
    error, about = ring(fd, CMD_SQ)
    same(error, "ok", "asking about a ring")
    same((about["entry_size"], about["depth"], about["data_len"]), (32, 512, 0), "what it is")
    buf = ctypes.create_string_buffer(b"\xa5" * 8192, 8192)
    at = ctypes.addressof(buf)
    error, got = ring(fd, CMD_SQ, count=4, room=8192, data=at)
    same((error, got["count"], got["data_len"]), ("ok", 4, 128), "a command")
    same(buf.raw[128:], b"\xa5" * (8192 - 128), "nothing behind it")
    same(struct.unpack("<Q", buf.raw[:8])[0] >> 52 & 7, 3, "its blocks")
    same(ring(fd, CMD_SQ, count=4, room=40, data=at)[1]["count"], 1, "only what fits")
    same(ring(fd, CMD_SQ, first=511, count=1, room=32, data=at)[0], "ok", "the last entry")
    same(ring(fd, CMD_SQ, first=511, count=2, room=64, data=at)[0], "ERANGE", "one more")
    same(ring(fd, CMD_SQ, first=2**32 - 1, count=2**32 - 1)[0], "ERANGE", "an absurd range")
    same(ring(fd, CMD_SQ, ident=1)[0], "ENOENT", "another command queue")
    same(ring(fd, SQ, ident=2**32 - 1)[0], "ENOENT", "no such QP")
    same(ring(fd, EQ, ident=99)[0], "ENOENT", "no such event queue")
    same(ring(fd, QPC)[0], "EINVAL", "a context is no ring")
    same(ring(fd, 2**32 - 1)[0], "EINVAL", "no such kind")
    same(ring(fd, CMD_SQ, flags=2)[0], "EINVAL", "an unknown flag")
    same(ring(fd, CMD_SQ, dirt=1)[0], "EINVAL", "a soiled answer")
    same(ring(fd, CMD_SQ, size=92)[0], "EINVAL", "too small a struct")
    same(ring(fd, CMD_SQ, size=112, tail=bytes(16))[0], "ok", "the struct of a newer program")
    same(ring(fd, CMD_SQ, size=112, tail=b"\1" * 16)[0], "E2BIG", "which asks for more")
    same(ring(fd, CMD_SQ, count=1, room=32, data=1)[0], "EFAULT", "no memory there")
    error, got = ring(fd, CMD_SQ, flags=1)
    same((error, got["hw_error"], got["valid"]), ("ok", 0, 15), "with the adapter's indices")


def others(fd):
    buf = ctypes.create_string_buffer(b"\xa5" * 512, 512)
    at = ctypes.addressof(buf)
    error, raw = ioctl(fd, HWCTX, struct.pack("=IIIIQQ", 32, EQC, 0, 512, at, 0))
    same((error, struct.unpack("=IIII", raw[:16])[3]), ("ok", 0x38), "a context")
    same(struct.unpack("<H", buf.raw[:2])[0], 0x5566, "its mark")
    same(buf.raw[0x38:], b"\xa5" * (512 - 0x38), "nothing behind it")
    for kind, ident, want in ((SQ, 0, "EINVAL"), (KIND_REGS, 0, "EINVAL"), (EQC, 99, "ENOENT"),
                              (QPC, 77777, "ENOENT")):
        same(ioctl(fd, HWCTX, struct.pack("=IIIIQQ", 32, kind, ident, 0, 0, 0))[0], want,
             f"context {kind} of {ident}")
    same(ioctl(fd, HWCTX, struct.pack("=IIIIQQ", 32, EQC, 0, 512, at, 1))[0], "EINVAL",
         "a soiled argument")
    error, raw = ioctl(fd, REGS, struct.pack("=IIQQ", 24, 2, at, 0))
    same((error, struct.unpack("=II", raw[:8])[1]), ("ok", 6), "registers, of which two fit")
    same(ioctl(fd, REGS, struct.pack("=IIQQ", 24, 2, 8, 0))[0], "EFAULT", "no memory there")


def without_right(node):
    """A process that lacks the capability when it opens the node."""
    pid = os.fork()
    if pid:
        same(os.waitpid(pid, 0)[1], 0, "a process without CAP_SYS_RAWIO")
        return
    status = 1
    try:
        header = struct.pack("=II", 0x20080522, 0)
        data = ctypes.create_string_buffer(24)
        LIBC.capget(header, data)
        words = list(struct.unpack("=IIIIII", data.raw))
        for i in range(3):
            words[i] &= ~(1 << CAP_SYS_RAWIO)
        LIBC.capset(header, struct.pack("=IIIIII", *words))
        fd = os.open(node, os.O_RDONLY)
        same(ring(fd, CMD_SQ)[0], "EPERM", "RING")
        same(ioctl(fd, HWCTX, struct.pack("=IIIIQQ", 32, EQC, 0, 0, 0, 0))[0], "EPERM", "HWCTX")
        same(ioctl(fd, REGS, struct.pack("=IIQQ", 24, 0, 0, 0))[0], "EPERM", "REGS")
        status = 0
    finally:
        sys.stdout.flush()
        os._exit(status)


def main():
    node = node_of(DEVICE)
    fd = os.open(node, os.O_RDONLY)
    rings(fd)
    others(fd)
    without_right(node)
    Path("/sys/bus/pci/drivers/erdma/unbind").write_text(ADDRESS)
    same(ring(fd, CMD_SQ)[0], "ENODEV", "after removal")


main()
