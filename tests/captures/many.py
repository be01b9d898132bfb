#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a capture of many QPs: many.py COUNT FILE [ROWS_PER_PACKET]."""

import struct
import sys

from nlcap import Capture, FAMILY, GENERIC, MULTI
from synth import DEVS, device, qp

PER_PACKET = 64  # about what the kernel puts into one


def main():
    count, path = int(sys.argv[1]), sys.argv[2]
    per_packet = int(sys.argv[3]) if len(sys.argv) > 3 else PER_PACKET
    cap = Capture()
    cap.snapshot(0)
    cap.family()
    cap.rdma_devices(DEVS[:1])
    cap.dump("dev", [device(0)])
    seq = cap.request(GENERIC, FAMILY, cap.pack("BBH", cap.spec.cmds["qp"], 1, 0), True)
    head = cap.pack("BBH", cap.spec.cmds["qp"], 1, 0)
    body = cap.row("qp", qp(0, 0x12345678), hw=False)
    at = body.index(struct.pack("<I", 0x12345678))
    with open(path, "wb") as file:
        for begin in range(0, count, per_packet):
            out = b""
            for qpn in range(begin, min(begin + per_packet, count)):
                row = body[:at] + struct.pack("<I", qpn) + body[at + 4:]
                out += cap.message(FAMILY, MULTI, seq, head + row)
            cap.packet(GENERIC, out)
            file.write(cap.data)
            cap.data = b""
        cap.packet(GENERIC, cap.done(seq))
        file.write(cap.data)


main()
