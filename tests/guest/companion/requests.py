# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests, right and wrong, and what is answered."""

import errno
import random
import struct

from harness import knob, reset, same, test
from rawnl import ATTRS, CMDS, NLMSG_ERROR, Client, attr, encode

QP = CMDS["qp"]
EVENT = CMDS["event-ntf"]  # told by the kernel, never asked for
INDEX, NAME, HW, KEY = 1, 2, 3, ATTRS["qp"]["qpn"][0]
U32 = struct.Struct("=I").pack
HEAD = 16 + 4


def index():
    """Index of the device; each one that comes gets another."""
    return U32(Client().dump("dev").rows[0]["dev-index"])



def refused(attrs, error, offset=None, word="", cmd=QP, dump=False, head=None):
    """The request is refused with this error, a message, the bad attribute."""
    client = Client()
    client.ask(cmd, attrs, dump, head)
    out = client.outcome("qp")
    same(errno.errorcode.get(-out.error), errno.errorcode[error], f"error of {attrs.hex()}")
    if offset is not None:
        same(out.offset, offset, f"bad attribute of {attrs.hex()}")
    if word is not None and (not out.msg or word not in out.msg):
        raise AssertionError(f"message of {attrs.hex()}: {out.msg!r}, want {word!r}")
    same(out.rows, [])


@test("a request for one row is answered with it")
def one_row():
    reset()
    number = struct.unpack("=I", index())[0]
    for ask in ({"dev_index": number}, {"dev_name": "fake0"},
                {"dev_index": number, "dev_name": "fake0"}):
        out = Client().do("qp", qpn=7, **ask)
        same(out.error, 0)
        same([(r["dev-name"], r["dev-index"], r["qpn"]) for r in out.rows],
             [("fake0", number, 7)])
    out = Client().do("dev", dev_index=number)
    same(out.rows[0]["driver"], "fakediag")
    same(out.rows[0]["numa-node"], -1)
    same(out.rows[0]["max-mr-size"], 1 << 40)
    same(out.rows[0]["mac"], "020000000001")
    same("fw-version" in out.rows[0], False, "a field nobody set")


@test("hardware fields come only when asked for")
def hardware():
    same("hw-sq-pi" in Client().do("qp", dev_name="fake0", qpn=1).rows[0], False)
    same(Client().do("qp", dev_name="fake0", qpn=1, query_hw=True).rows[0]["hw-sq-pi"], 5)
    refused(attr(INDEX, index()) + attr(HW, b"") + attr(KEY, U32(1)), errno.EOPNOTSUPP, HEAD + 8,
            "does not provide a context", cmd=CMDS["mr"])


@test("what is not there is told apart: device, object, kind of object")
def not_there():
    refused(attr(INDEX, U32(9999)) + attr(KEY, U32(1)), errno.ENODEV, HEAD, "no such RDMA device")
    refused(attr(NAME, b"nope\0") + attr(KEY, U32(1)), errno.ENODEV, HEAD, "no such RDMA device")
    refused(attr(INDEX, index()) + attr(NAME, b"nope\0") + attr(KEY, U32(1)), errno.ENODEV)
    # Linux 6.1 does not pass on the message when the start of a dump is refused.
    refused(attr(INDEX, U32(9999)), errno.ENODEV, dump=True, word=None)
    for key in 0, 11, 4711, 0x7fffffff, 0xffffffff:
        refused(attr(INDEX, index()) + attr(KEY, U32(key)), errno.ENOENT, HEAD + 8, "no such object")
    refused(attr(INDEX, index()) + attr(KEY, U32(1)), errno.EOPNOTSUPP, word="does not provide",
            cmd=CMDS["pd"])
    seq = ATTRS["cmd"]["seq"][0]
    for raw in U32(0xffffffff), b"\xff" * 8:
        refused(attr(INDEX, index()) + attr(seq, raw), errno.ENOENT, cmd=CMDS["cmd"])


@test("a request without device or key is refused")
def incomplete():
    refused(b"", errno.EINVAL, word="device missing")
    refused(attr(KEY, U32(1)), errno.EINVAL, word="device missing")
    refused(attr(INDEX, index()), errno.EINVAL, word="object number missing")


@test("malformed attributes are refused, the offender is named")
def malformed():
    good = attr(INDEX, index())
    seq = ATTRS["cmd"]["seq"][0]
    for bad, cmd in ((attr(KEY, b"\1\0"), QP), (attr(KEY, b""), QP), (attr(KEY, bytes(3)), QP),
                     (attr(KEY, bytes(8)), QP), (attr(KEY, bytes(400)), QP),
                     (attr(HW, U32(1)), QP), (attr(NAME, b"fake0"), QP), (attr(NAME, b""), QP),
                     (attr(NAME, b"x" * 64 + b"\0"), QP),
                     (attr(seq, b"\1\0"), CMDS["cmd"]), (attr(seq, b""), CMDS["cmd"]),
                     (attr(seq, bytes(7)), CMDS["cmd"]), (attr(seq, bytes(9)), CMDS["cmd"])):
        for dump in False, True:
            client = Client()
            client.ask(cmd, good + bad, dump)
            out = client.outcome("qp")
            if -out.error not in (errno.EINVAL, errno.ERANGE):
                raise AssertionError(f"{bad.hex()}: {out.error} {out.msg}")
            same(out.offset, HEAD + len(good), f"offset of {bad.hex()}")
            same(bool(out.msg), True, "a message")


@test("attributes a request must not have are refused")
def unknown():
    good = attr(INDEX, index()) + attr(KEY, U32(1))
    for number in 0, 4, 5, KEY + 1, 74, 500, 0x3fff:
        client = Client()
        client.ask(QP, good + attr(number, U32(1)))
        out = client.outcome("qp")
        same(out.error, -errno.EINVAL, f"attribute {number}")
        same(out.offset, HEAD + len(good))
    # A reply-only attribute below the key's number.
    refused(attr(4, U32(1)), errno.EINVAL, HEAD)
    # Flagged as a nest although none.
    refused(attr(INDEX | 0x8000, U32(0)) + attr(KEY, U32(1)), errno.EINVAL)


@test("truncated attributes and messages are refused")
def truncated():
    for bad in (attr(INDEX, b"\0\0\0\0", 3), attr(INDEX, b"\0\0\0\0", 0),
                attr(INDEX, b"\0\0\0\0", 12), attr(INDEX, b"\0\0\0\0", 0xffff),
                attr(INDEX, index()) + b"\1\2\3", attr(INDEX, index()) + b"\0\0\0\0"):
        client = Client()
        client.ask(QP, bad)
        same(client.outcome("qp").error, -errno.EINVAL, bad.hex())
    client = Client()
    # The netlink layer itself drops what is shorter than its header.
    for size in 16, 17, 19:
        client.send(struct.pack("=BBH", QP, 1, 0)[:size - 16], length=size)
        same(client.outcome("qp").error, -errno.EINVAL, f"{size} bytes")


@test("unknown commands and a soiled header are refused")
def header():
    for cmd in 0, EVENT, max(CMDS.values()) + 1, 100, 255:
        refused(b"", errno.EOPNOTSUPP, cmd=cmd, word=None)
    refused(attr(INDEX, index()) + attr(KEY, U32(1)), errno.EINVAL, word="reserved",
            head=struct.pack("=BBH", QP, 1, 7))


@test("1500 random requests each get an answer")
def fuzz():
    seed = 20260101
    source = random.Random(seed)
    client = Client()
    good = encode("qp", {"dev-name": "fake0", "qpn": 3})
    for count in range(1500):
        body = bytearray(good + encode("qp", {"query-hw": 1}) * source.randint(0, 1))
        for _ in range(source.randint(0, 4)):
            body[source.randrange(len(body))] = source.choice(
                (0, 1, 4, 5, 0x7f, 0x80, 0xff, source.randrange(256)))
        body = body[:source.randint(0, len(body))] if source.random() < .3 else body
        client.ask(source.randint(0, 12), bytes(body), source.random() < .3)
        kinds = [kind for kind, _, _ in client.receive()]
        if not kinds:
            raise AssertionError(f"no answer to request {count} of seed {seed}")


@test("two requests in one datagram are both answered")
def batch():
    client = Client()
    body = struct.pack("=BBH", QP, 1, 0) + encode("qp", {"dev-name": "fake0", "qpn": 3})
    one = struct.pack("=IHHII", 16 + len(body), client.family, 5, 77, 0) + body
    client.seq = 77
    client.sock.send(one + one)
    rows = 0
    acks = 0
    while acks < 2:
        for kind, _, _ in client.receive_some():
            acks += kind == NLMSG_ERROR
            rows += kind == client.family
    same((rows, acks), (2, 2))


@test("a dump can be narrowed to a device and to a row")
def filters():
    same(len(Client().dump("qp").rows), 10)
    same(len(Client().dump("qp", dev_name="fake0").rows), 10)
    same([r["qpn"] for r in Client().dump("qp", qpn=4).rows], [4])
    same([r["qpn"] for r in Client().dump("qp", qpn=44).rows], [])
    same(Client().dump("pd").rows, [], "objects this driver does not show")
    knob("rows", 0)
    same(Client().dump("qp").rows, [])
    reset()
