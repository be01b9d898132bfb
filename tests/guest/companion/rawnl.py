#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A small client of the family that can also send nonsense.

As a program: rawnl.py do|dump OBJECT [FIELD=VALUE...] prints the outcome as
JSON; for readers with other rights or in other namespaces.
"""

import json
import os
import socket
import struct
import sys

REPO = os.path.realpath(f"{os.path.dirname(os.path.realpath(__file__))}/../../..")

SOL_NETLINK, EXT_ACK, CAP_ACK, STRICT = 270, 11, 10, 12
REQUEST, MULTI, ACK, DUMP_INTR, DUMP = 1, 2, 4, 16, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3


def read_lock():
    """Commands, attributes, nests of families and names of values, out of spec/abi.lock."""
    cmds, attrs, nests, values = {}, {}, {}, {}
    with open(f"{REPO}/spec/abi.lock", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[0] == "cmd":
                cmds[words[1].removesuffix("-get")] = int(words[2])
            elif words[0] == "attr":
                obj, _, name = words[1].partition(".")
                attrs.setdefault(obj, {})[name] = (int(words[2]), words[3])
            elif words[0] == "family":
                nests[256 + int(words[2])] = words[1]
            elif words[0] == "value":
                enum, _, name = words[1].partition(".")
                values.setdefault(enum, {})[name] = int(words[2])
    return cmds, attrs, nests, values


CMDS, ATTRS, NESTS, VALUES = read_lock()


def attr(kind, payload, length=None):
    """One attribute, padded; length overrides what its header says."""
    head = struct.pack("=HH", len(payload) + 4 if length is None else length, kind)
    return head + payload + bytes(-len(payload) % 4)


def encode(obj, fields):
    out = b""
    for name, value in fields.items():
        number, kind = ATTRS[obj][name]
        if kind == "flag":
            out += attr(number, b"")
        elif kind == "string":
            out += attr(number, value.encode() + b"\0")
        else:
            out += attr(number, struct.pack("=I" if value < 1 << 32 else "=Q", value))
    return out


def decode(obj, data):
    names = {number: (name, kind) for name, (number, kind) in ATTRS[obj].items()}
    row = {}
    while data:
        size, number = struct.unpack_from("=HH", data)
        raw, data = data[4:size], data[(size + 3) & ~3:]
        if number & 0x3fff in NESTS:
            more = decode(f"{obj}-{NESTS[number & 0x3fff]}", raw)
            if not more or row.keys() & more.keys():
                raise ValueError(f"{obj}: a nest with nothing, or with what is there already")
            row.update(more)
            continue
        name, kind = names[number]
        if name in row:
            raise ValueError(f"{obj}.{name} is there twice")
        if kind == "string":
            if raw[-1:] != b"\0":
                raise ValueError(f"{obj}.{name} does not end with a zero")
            row[name] = raw[:-1].decode()
        elif kind == "binary":
            row[name] = raw.hex()
        else:
            row[name] = int.from_bytes(raw, sys.byteorder, signed=kind == "s32")
    return row


class Outcome:
    """What came back: rows, or an error with its explanation."""

    def __init__(self):
        self.rows, self.error, self.msg, self.offset, self.intr = [], 0, "", None, False

    def ack(self, payload, capped, first):
        """The end of a request: payload begins with the error."""
        self.error = struct.unpack_from("=i", payload)[0]
        at = first
        if first == 20 and not capped and self.error:
            at = 4 + ((struct.unpack_from("=I", payload, 4)[0] + 3) & ~3)
        while at + 4 <= len(payload):
            size, kind = struct.unpack_from("=HH", payload, at)
            raw = payload[at + 4:at + size]
            if kind == 1:
                self.msg = raw[:-1].decode()
            elif kind == 2:
                self.offset = struct.unpack("=I", raw)[0]
            at += (size + 3) & ~3


class Client:
    """A generic netlink socket."""

    def __init__(self, buffer=1 << 16):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.bind((0, 0))
        self.sock.settimeout(60)
        for option in EXT_ACK, CAP_ACK, STRICT:
            self.sock.setsockopt(SOL_NETLINK, option, 1)
        self.buffer, self.seq, self.messages = buffer, 0, 0
        self.family = 16
        self.send(struct.pack("=BBH", 3, 1, 0) + attr(2, b"eadm\0"))
        for kind, _, payload in self.receive():
            data = payload[4:]
            while kind == 16 and data:
                size, number = struct.unpack_from("=HH", data)
                if number == 1:
                    self.family = struct.unpack_from("=H", data, 4)[0]
                data = data[(size + 3) & ~3:]
        if self.family == 16:
            raise FileNotFoundError("no netlink family eadm")

    def send(self, body, flags=REQUEST | ACK, length=None):
        """Sends header and body; length overrides what the header says."""
        self.seq += 1
        size = 16 + len(body) if length is None else length
        self.sock.send(struct.pack("=IHHII", size, self.family, flags, self.seq, 0) + body)

    def ask(self, cmd, attrs=b"", dump=False, head=None):
        flags = REQUEST | (DUMP if dump else ACK)
        self.send((head or struct.pack("=BBH", cmd, 1, 0)) + attrs, flags)

    def receive_some(self):
        """The messages of one datagram: (type, flags, payload)."""
        data, _, flags, _ = self.sock.recvmsg(self.buffer)
        if flags & socket.MSG_TRUNC:
            raise ValueError(f"a message did not fit into {self.buffer} bytes")
        self.messages += 1
        while data:
            size, kind, flags, seq, _ = struct.unpack_from("=IHHII", data)
            if seq == self.seq:
                yield kind, flags, data[16:size]
            data = data[(size + 3) & ~3:]

    def receive(self):
        """All messages up to and with the one that ends the answer."""
        while True:
            for kind, flags, payload in self.receive_some():
                yield kind, flags, payload
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    return

    def outcome(self, obj, messages=None):
        out = Outcome()
        for kind, flags, payload in messages or self.receive():
            out.intr |= bool(flags & DUMP_INTR)
            if kind == NLMSG_ERROR:
                out.ack(payload, bool(flags & 0x100), 20)
            elif kind == NLMSG_DONE:
                out.ack(payload, True, 4)
            else:
                out.rows.append(decode(obj, payload[4:]))
        return out

    def do(self, obj, **fields):
        fields = {k.replace("_", "-"): v for k, v in fields.items()}
        self.ask(CMDS[obj], encode(obj, fields))
        return self.outcome(obj)

    def dump(self, obj, **fields):
        fields = {k.replace("_", "-"): v for k, v in fields.items()}
        self.ask(CMDS[obj], encode(obj, fields), dump=True)
        return self.outcome(obj)


def main():
    verb, obj, *words = sys.argv[1:]
    fields = {}
    for word in words:
        name, _, value = word.partition("=")
        fields[name] = value if ATTRS[obj][name][1] == "string" else int(value or 1)
    out = (Client().do if verb == "do" else Client().dump)(obj, **fields)
    print(json.dumps(vars(out)))


if __name__ == "__main__":
    main()
