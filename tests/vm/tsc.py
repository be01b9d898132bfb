# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast this machine's time-stamp counter runs.

The emulator hands it to guests as it is, and a guest's kernel measures it
against a timer when it boots: where the machine is busy meanwhile, the guest's
clock is wrong by any factor afterwards, and so are all its time limits.
"""

import ctypes
import mmap
import platform
import time

# rdtsc; shl rdx, 32; or rax, rdx; ret
RDTSC = bytes.fromhex("0f3148c1e2204809d0c3")
SPAN_NS = 100_000_000
# Of a reading of clock and counter: a hundredth of a percent of the span.
SLACK_NS = 10_000


def _reading(counter):
    """A time of the clock and the counter's value at it."""
    while True:
        before = time.monotonic_ns()
        value = counter()
        after = time.monotonic_ns()
        if after - before < SLACK_NS:
            return (before + after) // 2, value


def khz():
    """kHz, or None where it can't be read."""
    if platform.machine() != "x86_64":
        return None
    try:
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return None
    code.write(RDTSC)
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    counter = ctypes.CFUNCTYPE(ctypes.c_uint64)(address)
    start, first = _reading(counter)
    time.sleep(SPAN_NS / 1e9)
    end, last = _reading(counter)
    return round((last - first) * 1_000_000 / (end - start))
