#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes captures of what only this family has: scenes.py FOLDER.

  rings.pcapng  entries of queues, a context, registers, and the events of synth.py
"""

import os
import struct
import sys

sys.path.insert(0, f"{os.path.dirname(os.path.realpath(__file__))}/../../captures")
sys.dont_write_bytecode = True

from nlcap import Capture  # noqa: E402 pylint: disable=wrong-import-position
from synth import DEVS, add_events, device, raw_ring  # noqa: E402 pylint: disable=wrong-import-position


BLOCK = 32


def sqe(header, *words):
    data = struct.pack("<Q", header) + b"".join(struct.pack(f, v) for f, v in words)
    return data + bytes(-len(data) % 32)


def rings():
    """Entries of queues from the worked values of the hardware document."""
    cap = Capture()
    cap.family()
    cap.rdma_devices(DEVS[:2])
    cap.dump("dev", [device(0), device(1)])
    sq = sqe(0x0100001210400001, ("<I", 0), ("<I", 5), ("<Q", 0x7f0000001000), ("<I", 5),
             ("<I", 0x2100))
    sq += sqe(0x0110001200400003, ("<I", 0), ("<I", 64), ("<I", 0x3300), ("<Q", 0x7f0000002000),
              ("<I", 0), ("<Q", 0x7f0000003000), ("<I", 64), ("<I", 0x2200))
    sq += sqe(0x0500001212400004, ("<I", 0), ("<I", 5), ("<5s", b"hello"))
    sq += sqe(0x0010001208400006, ("<I", 0), ("<I", 4096), ("<I", 0x2100), ("<Q", 0x7f0000004000),
              ("<I", 0), ("<Q", 0x7f0000005000), ("<I", 4096), ("<I", 0x3300))
    raw_ring(cap, "sq", 0x12, 64, sq, BLOCK, **{"sw-pi": 6, "hw-pi": 6, "hw-ci": 3})
    rq = b"".join(struct.pack("<HHIIIQII", i + 1, 0, 0x12, 0, 0, 0x7f0000006000 + 64 * i, 64, 0x2100)
                  for i in range(3))
    raw_ring(cap, "rq", 0x12, 64, rq, BLOCK, **{"sw-pi": 3, "hw-pi": 3, "hw-ci": 1})
    cq = b"".join(struct.pack(">IIIIIIII", *words) for words in (
        (0x80020000, 0, 0x12, 0, 5, 0, 0, 0), (0x80040100, 0, 0x13, 0, 5, 0, 0, 0),
        (0x8005010f, 1, 0x13, 0x44332211, 8, 0, 0, 0)))
    raw_ring(cap, "cq", 5, 64, cq, BLOCK, **{"sw-ci": 1, "hw-pi": 3})
    commands = struct.pack("<Q", 0x0030000000000004) + bytes(120)
    commands += struct.pack("<Q", 0x0030000101000008) + bytes(120)
    raw_ring(cap, "cmd-sq", 0, 512, commands, BLOCK, **{"sw-pi": 8, "sw-ci": 4, "hw-pi": 8, "hw-ci": 8})
    answer = struct.pack(">IIIIIIII", 0x80000200, 0, 0xa80f0024, 0x1400, 0x10080000, 0xffffff00, 0, 0)
    raw_ring(cap, "cmd-cq", 0, 512, answer, BLOCK, **{"sw-ci": 1, "hw-pi": 2})
    raw_ring(cap, "eq", 2, 128, struct.pack("<QQ", 0x0000000380000005, 0), 16,
         **{"sw-ci": 0, "hw-pi": 1, "hw-ci": 0})
    raw_ring(cap, "eq", 0, 128, struct.pack("<IIII", 0x80030000, 5, 0, 0), 16,
         **{"sw-ci": 1, "hw-pi": 1, "hw-ci": 1})
    context = bytearray(0x8c)
    struct.pack_into("<HBBI", context, 0, 0x5566, 1, 0x8c, 0x12)
    struct.pack_into("<BBBBHH", context, 0x10, 1, 0, 0, 6, 6, 3)
    struct.pack_into("<II", context, 0x48, 5, 5)
    struct.pack_into(">IIHH", context, 0x80, 0x0a4d0101, 0x0a4d0001, 38905, 7200)
    raw_ring(cap, "qpc", 0x12, 0, bytes(context), 0, hw=False)
    registers = ((0, 0x01000000), (0x14, 2), (0x18, 0xeda00001), (0x1c, 0x5254))
    raw_ring(cap, "regs", 0, 0, b"".join(struct.pack("<IIQ", o, 32, v) for o, v in registers), 0, hw=False)
    add_events(cap)
    return cap


if __name__ == "__main__":
    rings().write(f"{sys.argv[1]}/rings.pcapng")
