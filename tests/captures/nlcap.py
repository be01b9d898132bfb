#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds captures of netlink for tests: messages from the specification,
pcapng around them, in either byte order."""

import glob
import os
import struct
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, f"{REPO}/spec")
from yaml_source import read_yaml  # pylint: disable=wrong-import-position

GENERIC, RDMA = 16, 20
REQUEST, MULTI, DUMP_INTR, DUMP = 0x1, 0x2, 0x10, 0x300
ERROR, DONE, CTRL = 2, 3, 16
FAMILY = 0x21
TO_USER, TO_KERNEL = 6, 7
# Rows about the machine: netlink leaves this protocol to user space.
LOCAL, LOCAL_TYPE = 2, 32
SNAPSHOT_BLOCK = 0x8EAD0003
# What names the one row that is asked for.
LOCAL_KEYS = {"cgroup": ["dev-index"], "dev": ["dev-index", "netdev"],
              "function": ["vendor-id"], "gid": ["dev-index"],
              "health": ["dev-index"], "irq": ["irq"], "link": ["dev-index", "netdev"],
              "module": ["name"], "port": ["dev-index"],
              "port-counter": ["dev-index", "port"], "process": ["pid"],
              "qp-counter": ["dev-index"], "setup": ["dev-index", "netdev"]}


class Spec:
    """Numbers and types of attributes by name. @more: descriptions of further families."""

    def __init__(self, more=()):
        raw = read_yaml(f"{REPO}/spec/eadm.yaml")
        self.families = {}
        for path in [*glob.glob(f"{REPO}/spec/families/*.yaml"), *more]:
            family = read_yaml(path)
            if "number" in family:
                self.families[family["name"]] = family
        self.enums = {}
        for item in raw["definitions"] + [
                d for f in self.families.values() for d in f.get("definitions") or []]:
            value, names = -1, {}
            for entry in item["entries"]:
                entry = {"name": entry} if isinstance(entry, str) else entry
                value = entry.get("value", value + 1)
                names[entry["name"]] = 1 << value if item["type"] == "flags" else value
            self.enums[item["name"]] = names
        self.sets = {}
        for raw_set in raw["attribute-sets"]:
            self.sets[raw_set["name"]] = {
                a["name"]: (number, a) for number, a in enumerate(raw_set["attributes"], 1)}
        # What only a family has: attributes of a nest.
        self.nests = {}
        for family in self.families.values():
            for obj, attrs in family.get("sets", {}).items():
                for number, a in enumerate(attrs, 1):
                    self.nests[obj, a["name"]] = (256 + family["number"], number, a)
        self.cmds = {op["attribute-set"]: number
                     for number, op in enumerate(raw["operations"]["list"], 1)
                     if not op["name"].endswith("-set")}
        self.cmds.update({s["name"]: s["x-object"]["cmd"] for s in raw["attribute-sets"]
                          if s["x-object"].get("cmd")})


class Netlink:
    """Messages in one byte order."""

    def __init__(self, order="<", more=()):
        self.order = order
        self.spec = Spec(more)

    def pack(self, fmt, *values):
        return struct.pack(self.order + fmt, *values)

    def attr(self, number, data):
        raw = self.pack("HH", 4 + len(data), number) + data
        return raw + bytes(-len(raw) % 4)

    def message(self, kind, flags, seq, body):
        return self.pack("IHHII", 16 + len(body), kind, flags, seq, 0) + body

    def value(self, field, value):
        kind = field["type"]
        if field.get("enum") and isinstance(value, str):
            value = self.spec.enums[field["enum"]][value]
        if field.get("enum") and isinstance(value, list):
            value = sum(self.spec.enums[field["enum"]][v] for v in value)
        if kind == "string":
            return value.encode() + b"\0"
        if kind == "binary":
            return bytes(value)
        if kind == "s32":
            return self.pack("i", value)
        if kind == "u64" or (kind == "uint" and value >= 1 << 32):
            return self.pack("Q", value)
        return self.pack("I", value)

    def row(self, obj, values, hw=True):
        """Attributes of one object."""
        out, nests = b"", {}
        for name, value in values.items():
            name = name.replace("_", "-")
            if name in self.spec.sets[obj]:
                nest, (number, field) = None, self.spec.sets[obj][name]
            else:
                nest, number, field = self.spec.nests[obj, name]
            if field.get("x-view", {}).get("hw") and not hw:
                continue
            attr = self.attr(number, self.value(field, value))
            if nest:
                nests[nest] = nests.get(nest, b"") + attr
            else:
                out += attr
        return out + b"".join(self.attr(nest, data) for nest, data in nests.items())

    def rows(self, obj, rows, seq, hw=True, intr=False):
        """A packet with the messages of a dump and its end."""
        flags = MULTI | (DUMP_INTR if intr else 0)
        head = self.pack("BBH", self.spec.cmds[obj], 1, 0)
        out = b"".join(self.message(FAMILY, flags, seq, head + self.row(obj, row, hw))
                       for row in rows)
        return out + self.done(seq)

    def done(self, seq, error=0):
        return self.message(DONE, MULTI, seq, self.pack("i", error))

    def error(self, seq, error):
        return self.message(ERROR, 0x100, seq,
                            self.pack("i", error) + self.pack("IHHII", 16, 0, 0, seq, 0))


class Capture(Netlink):
    """A pcapng file."""

    def __init__(self, order="<", time=1700000000000000000, more=()):
        super().__init__(order, more)
        self.time, self.seq = time, 0
        self.data = b""
        self.block(0x0A0D0D0A, self.pack("IHHq", 0x1A2B3C4D, 1, 0, -1))
        self.block(1, self.pack("HHI", 253, 0, 0) + self.option(9, b"\x09") + self.pack("I", 0))

    def block(self, kind, body):
        body += bytes(-len(body) % 4)
        length = 12 + len(body)
        self.data += self.pack("II", kind, length) + body + self.pack("I", length)

    def option(self, code, data):
        return self.pack("HH", code, len(data)) + data + bytes(-len(data) % 4)

    def snapshot(self, number):
        """Here begins another one."""
        self.block(SNAPSHOT_BLOCK, self.pack("I", number))

    def packet(self, proto, data, to=TO_USER):
        cooked = struct.pack(">HH10xH", to, 824, proto)
        self.time += 1000
        self.block(6, self.pack("IIIII", 0, self.time >> 32, self.time & 0xFFFFFFFF,
                                16 + len(data), 16 + len(data)) + cooked + data)

    def request(self, proto, kind, body, dump):
        self.seq += 1
        flags = REQUEST | (DUMP if dump else 0)
        self.packet(proto, self.message(kind, flags, self.seq, body), TO_KERNEL)
        return self.seq

    # -------------------------------------------------- what the library asks

    def local(self, obj, *rows, want=(), ask=None):
        """Rows about the machine, or the fields of them that are wanted. They take no time.
        Where there is none, @ask says of what."""
        time = self.time
        ask = ask or {key: rows[0][key] for key in LOCAL_KEYS.get(obj, ()) if key in rows[0]}
        head = self.pack("BBH", self.spec.cmds[obj], 1, 0)
        wanted = b"".join(self.attr(self.spec.sets[obj][name][0], b"") for name in want)
        seq = self.request(LOCAL, LOCAL_TYPE, head + self.row(obj, ask) + wanted, True)
        self.packet(LOCAL, b"".join(self.message(LOCAL_TYPE, MULTI, seq, head + self.row(obj, row))
                                    for row in rows) + self.done(seq))
        self.time = time

    def comm(self, pid, name):
        """The name of a process, for rows that have its number only."""
        self.local("process", {"pid": pid, "comm": name}, want=["comm"])

    def module(self, name, version="", **more):
        self.local("module", {"name": name, "loaded": 1, "version": version, **more})

    def family(self, there=True):
        seq = self.request(GENERIC, CTRL, self.pack("BBH", 3, 1, 0) + self.attr(2, b"eadm\0"),
                           False)
        if there:
            self.packet(GENERIC, self.message(CTRL, 0, seq, self.pack("BBH", 1, 2, 0) +
                                              self.attr(2, b"eadm\0") +
                                              self.attr(1, self.pack("H", FAMILY))))
        else:
            self.packet(GENERIC, self.error(seq, -2))

    def dump(self, obj, rows, hw=False, **kwargs):
        body = self.pack("BBH", self.spec.cmds[obj], 1, 0)
        if hw:
            body += self.attr(3, b"")
        seq = self.request(GENERIC, FAMILY, body, True)
        self.packet(GENERIC, self.rows(obj, rows, seq, hw, **kwargs))

    def refused(self, obj, error, hw=False):
        body = self.pack("BBH", self.spec.cmds[obj], 1, 0)
        if hw:
            body += self.attr(3, b"")
        seq = self.request(GENERIC, FAMILY, body, True)
        self.packet(GENERIC, self.error(seq, error))

    def rdma_devices(self, devices):
        kind = 5 << 10 | 1
        seq = self.request(RDMA, kind, b"", True)
        out = b""
        for index, name, ports in devices:
            out += self.message(kind, MULTI, seq,
                                self.attr(1, self.pack("I", index)) +
                                self.attr(2, name.encode() + b"\0") +
                                self.attr(3, self.pack("I", ports)))
        self.packet(RDMA, out + self.done(seq))

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.data)
