#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Seeds for the target of captures: seeds.py FOLDER CAPTURE...

Each capture is cut into files with what every reading asks first, one more
request with its answer, and the two bytes that make the target read just that.
"""

import struct
import sys
from pathlib import Path

FACTS = 0x8EAD0002
PACKET = 6
SIMPLE = 3
GENERIC = 16
REQUEST = 1
CTRL, FAMILY = 16, 0x21
GET_DEVICES = 5 << 10 | 1
DEV = 1
RAW, EVENT, CONF = 192, 14, 12
# What the target calls an object: its place in the specification.
PLACE = {**{cmd: cmd - 1 for cmd in range(1, 12)}, EVENT: 11, CONF: 12}
LARGEST = 8192


def blocks(data):
    """(kind, bytes) of each block; the order of bytes as the section says."""
    order = "<" if data[8:12] == b"\x4d\x3c\x2b\x1a" else ">"
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from(order + "II", data, at)
        yield order, kind, data[at:at + length]
        at += length


class Group:
    """A request and what came until the next one."""

    def __init__(self, order, block):
        self.data = block
        self.proto = struct.unpack_from(">H", block, 28 + 14)[0]
        message = block[28 + 16:]
        self.kind, = struct.unpack_from(order + "H", message, 4)
        self.cmd = message[16] if self.proto == GENERIC and len(message) > 16 else 0

    def first(self):
        return self.kind in (CTRL, GET_DEVICES) or (self.kind == FAMILY and self.cmd == DEV)


def is_request(order, block):
    flags, = struct.unpack_from(order + "H", block, 28 + 16 + 6)
    return flags & REQUEST and struct.unpack_from(order + "H", block, 28 + 16 + 4)[0] >= 16


def selections(group):
    """The last two bytes: place of the object with bit 7 for contexts, queue."""
    if group.proto != GENERIC:
        return [(place, 0) for place in (0, 1, 2, 5, 6, 7, 8)]
    if group.cmd == RAW:
        return [(place, ident) for place in (*range(14, 19), 19, 22, 23)
                for ident in (0, 2, 5, 0x12)]
    place = PLACE.get(group.cmd, 0)
    return [(place, 0), (place | 0x80, 0)]


def simple(data):
    """The same with simple packets, which no program of ours writes."""
    out = b""
    for order, kind, block in blocks(data):
        if kind == PACKET:
            length = struct.pack(order + "I", len(block) - 16)
            block = struct.pack(order + "I", SIMPLE) + length + block[24:-4] + length
        out += block
    return out


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for path in map(Path, sys.argv[2:]):
        head, groups = b"", []
        for order, kind, block in blocks(path.read_bytes()):
            if kind == PACKET and is_request(order, block):
                groups.append(Group(order, block))
            elif kind == PACKET and groups:
                groups[-1].data += block
            elif not groups and (kind != FACTS or len(head) < 400):
                head += block
        head += b"".join(g.data for g in groups[:3] if g.first())
        for number, group in enumerate(groups):
            data = head + group.data
            if len(data) > LARGEST:
                continue
            for place, ident in selections(group):
                name = f"{path.stem}-{number}-{place}-{ident}"
                (folder / name).write_bytes(data + bytes((place, ident)))
            (folder / f"{path.stem}-{number}-simple").write_bytes(
                simple(data) + bytes(selections(group)[0]))


if __name__ == "__main__":
    main()
