#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: reads all registers from a device's node repeatedly.

regs.py DEVICE TIMES: prints the number of successful reads, the number of errors, and the elapsed
seconds.
"""

import ctypes
import os
import struct
import sys
import time
from pathlib import Path

REGS = 0xEA04
LIBC = ctypes.CDLL(None, use_errno=True)


def main():
    device, times = sys.argv[1], int(sys.argv[2])
    node = next(node for node in Path("/sys/class/eadm").iterdir()
                if (node / "ibdev").read_text().strip() == device)
    fd = os.open(f"/dev/eadm/{node.name[4:]}", os.O_RDONLY)
    data = ctypes.create_string_buffer(1024)
    answers = 0
    begin = time.monotonic()
    for _ in range(times):
        arg = ctypes.create_string_buffer(struct.pack("=IIQQ", 24, 32, ctypes.addressof(data), 0))
        answers += LIBC.ioctl(fd, ctypes.c_ulong(REGS), arg) == 0
    print(answers, times - answers, int(time.monotonic() - begin) + 1)


main()
