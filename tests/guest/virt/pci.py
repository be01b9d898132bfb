# SPDX-License-Identifier: GPL-2.0-or-later
"""Common parts of raw drivers in user space: a PCI function, and memory for it."""

import contextlib
import ctypes
import mmap
import os
import socket
import struct
import threading
import time

MEMORY = 2 << 20
SOL_PACKET, PACKET_RX_RING = 263, 5


class Timeout(Exception):
    """The device did not respond."""


def wait_until(condition, what, limit=30):
    end = time.monotonic() + limit * int(os.environ.get("EADM_PATIENCE", 1))
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Timeout(what)
        time.sleep(0.0001)


class Memory:
    """Contiguous memory of known physical address.

    It is the receive ring of a packet socket that is bound to no interface:
    one block, which the kernel allocates in one piece."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(SOL_PACKET, PACKET_RX_RING, struct.pack(
            "4I", MEMORY, 1, 2048, MEMORY // 2048))
        self.map = mmap.mmap(self.socket.fileno(), MEMORY)
        self.map[:] = bytes(MEMORY)
        virtual = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        with open("/proc/self/pagemap", "rb") as file:
            file.seek(virtual // 4096 * 8)
            pages = struct.unpack(f"<{MEMORY // 4096}Q",
                                  file.read(MEMORY // 512))
        frames = [page & ((1 << 55) - 1) for page in pages]
        assert frames[0] and frames == list(range(
            frames[0], frames[0] + len(frames))), "memory in pieces"
        self.phys = frames[0] * 4096
        self.used = 0

    def alloc(self, size, align=4096):
        self.used = -(-self.used // align) * align
        assert self.used + size <= MEMORY, "too large"
        block = Block(self, self.used, size)
        self.used += size
        return block


class Block:
    """A part of the memory; addresses are those of the device."""

    def __init__(self, memory, start, size):
        self.memory, self.start, self.size = memory, start, size
        self.addr = memory.phys + start
        self[0:size] = bytes(size)

    def __getitem__(self, where):
        if isinstance(where, slice):
            return self.memory.map[self.start + where.start:
                                   self.start + where.stop]
        return self.u64(where)

    def __setitem__(self, where, value):
        begin = self.start + where.start
        self.memory.map[begin:self.start + where.stop] = value

    def u64(self, offset):
        return ctypes.c_uint64.from_buffer(self.memory.map,
                                           self.start + offset).value

    def set64(self, offset, value):
        ctypes.c_uint64.from_buffer(self.memory.map,
                                    self.start + offset).value = value

    def be32(self, offset):
        return struct.unpack(">I", self[offset:offset + 4])[0]

    def le32(self, offset):
        return struct.unpack("<I", self[offset:offset + 4])[0]


class Function:
    """One PCI function; bars: dictionary of its BARs by number."""

    def __init__(self, address, bars):
        self.address = address
        self.sysfs = f"/sys/bus/pci/devices/{address}"
        self.config = os.open(f"{self.sysfs}/config", os.O_RDWR)
        self.bars = {}
        for bar in bars:
            file = os.open(f"{self.sysfs}/resource{bar}", os.O_RDWR)
            self.bars[bar] = mmap.mmap(file, os.fstat(file).st_size)
            os.close(file)
        self.memory = Memory()
        self.more = []

    def close(self):
        os.close(self.config)

    def read32(self, reg, bar=0):
        return ctypes.c_uint32.from_buffer(self.bars[bar], reg).value

    def write32(self, reg, value, bar=0):
        ctypes.c_uint32.from_buffer(self.bars[bar], reg).value = value

    def config16(self, where, value=None):
        if value is None:
            return struct.unpack("<H", os.pread(self.config, 2, where))[0]
        os.pwrite(self.config, struct.pack("<H", value), where)
        return value

    def reset_function(self):
        with open(f"{self.sysfs}/reset", "w") as file:
            file.write("1")

    @contextlib.contextmanager
    def resetting_function(self, least):
        """Resets the function during a with statement; this takes at least the given number of seconds.

        Meanwhile, user space cannot read config space."""
        begin = time.monotonic()
        thread = threading.Thread(target=self.reset_function)
        thread.start()
        try:
            yield
        finally:
            thread.join()
        took = time.monotonic() - begin
        assert took >= least, f"over after {took} s"

    def master(self, on=True):
        self.config16(4, 6 if on else 2)

    def alloc(self, size, align=4096):
        if self.memory.used + size + align > MEMORY:
            self.more.append(self.memory)
            self.memory = Memory()
        return self.memory.alloc(size, align)
