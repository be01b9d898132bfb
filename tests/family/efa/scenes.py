#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes captures of what only this family has: scenes.py FOLDER.

  rings.pcapng    entries of queues, from the worked values of the hardware document
  completions.pcapng  two moments of CQs, between which requests fail
  setup.pcapng    a machine where applications meet obstacles
  network.pcapng  two moments of an adapter whose driver shows the statistics of the
                  network, and of its neighbour on which nothing is wrong
"""

import os
import struct
import sys

sys.path.insert(0, f"{os.path.dirname(os.path.realpath(__file__))}/../../captures")
sys.dont_write_bytecode = True

from nlcap import GENERIC, FAMILY, RDMA, Capture  # noqa: E402 pylint: disable=wrong-import-position

DEVS = [(0, "rdmap0s6", 1), (1, "rdmap0s7", 1)]
SEC = 1000000000
GID = bytes.fromhex("fe800000000000000c1122fffe334455")


def device(i):
    return {"dev-index": i, "dev-name": DEVS[i][1], "family": "efa", "driver": "efa",
            "state": "ready", "bus-addr": f"0000:00:0{6 + i}.0", "vendor-id": 0x1D0F,
            "part-id": 0xEFA1, "port-state": "active", "max-qp": 256, "qps": 2, "max-ah": 1024,
            "ahs": 3, "efa-caps": ["rdma-read", "rnr-retry", "rdma-write"], "gid": GID,
            "message-mtu": 8928}


def raw_ring(cap, kind, ident, depth, size, entries, **more):
    """What the char device gave of a queue of the first device."""
    own = {"dev-index": 0, "dev-name": DEVS[0][1], "id": ident,
           "kind": cap.spec.enums["raw-kind"][kind]}
    if "sub" in more:
        own["sub"] = more["sub"]
    head = cap.pack("BBH", 192, 1, 0)
    ask = cap.row("raw", {n: own[n] for n in ("dev-index", "kind", "id", "sub") if n in own})
    seq = cap.request(GENERIC, FAMILY, head + ask + cap.attr(3, b""), True)
    data = b"".join(e + bytes(size - len(e)) for e in entries)
    row = {**own, "first": 0, "count": depth, "entry-size": size, "depth": depth, "user": 1,
           **more, "data": data + bytes(depth * size - len(data))}
    cap.packet(GENERIC, cap.message(FAMILY, 2, seq, head + cap.row("raw", row)) + cap.done(seq))


def words(text):
    return bytes.fromhex(text.replace(" ", ""))


def rings():
    cap = Capture()
    cap.family()
    cap.rdma_devices(DEVS[:1])
    cap.dump("dev", [device(0)])
    cap.dump("ah", [{"dev-index": 0, "dev-name": DEVS[0][1], "family": "efa", "ahn": 3, "pdn": 5,
                     "peer-gid": GID, "users": 2, "pid": 4711, "comm": "fi_pingpong", "ctxn": 1,
                     "age": 5 * SEC, "pd-ahn": 3},
                    {"dev-index": 0, "dev-name": DEVS[0][1], "family": "efa", "ahn": 65536, "pdn": 7,
                     "peer-gid": GID, "users": 1, "pid": 4712, "comm": "fi_pingpong", "ctxn": 2,
                     "age": 4 * SEC, "pd-ahn": 3}])
    cap.dump("uar", [{"dev-index": 0, "dev-name": DEVS[0][1], "family": "efa", "uarn": 2, "qps": 2,
                      "cqs": 1, "pid": 4711, "comm": "fi_pingpong", "ctxn": 1, "age": 6 * SEC}])
    cap.dump("qp", [{"dev-index": 0, "dev-name": DEVS[0][1], "family": "efa", "qpn": 0x101,
                     "type": "driver", "state": "rts", "pdn": 5, "send-cqn": 9, "recv-cqn": 9,
                     "handle": 1, "qkey": 0x11111111, "psn": 0x1234, "rnr-retry": 7,
                     "pid": 4711, "comm": "fi_pingpong"}])
    raw_ring(cap, "rq", 0x102, 8, 16, [
        words("00300000 007f0000 07000010 011000c0"), words("00300000 007f0000 07000010 01100040"),
        words("00800000 007f0000 00000002 01100080")], **{"sw-pi": 3, "hw-ci": 0})
    raw_ring(cap, "cq", 9, 8, 16, [
        words("00000003 01010000"), words("01000a03 01010000"), words("00000d03 01010000"),
        words("0700000d 02010500 03000101 44332211"), words("07000005 02010500 ffff0101")],
             **{"ring-index": "phase"})
    raw_ring(cap, "cq", 10, 8, 32, [
        words("07000005 02010500 ffff0101 00000000 fe800000 00000000 0c1122ff fe334455"),
        words("0800002d 0201a086 03000101 44332211 01000000")], **{"ring-index": "phase"})
    # Of a driver that counts as no EFA adapter does.
    raw_ring(cap, "cq", 11, 8, 16, [words("00000003 01010000")], **{"ring-index": "lap"})
    raw_ring(cap, "cmd-sq", 0, 32, 64, [
        words("00000b01 00000000 00000000 00000000 00010000"), words("00000e01"),
        words("00000501 fe800000 00000000 0c1122ff fe334455 05000000")],
             user=0, **{"sw-pi": 3, "sw-ci": 3})
    raw_ring(cap, "cmd-cq", 0, 32, 64, [
        words("00000001 00000000 fe000000"), words("00000001 00000000 05000000"),
        words("00000101")], user=0, **{"ring-index": "phase", "sw-ci": 3})
    raw_ring(cap, "eq", 0, 16, 64, [words("04000000 01000000 00100000"),
                                    words("02004d00 01000000 00200000")],
             user=0, **{"ring-index": "phase", "sw-ci": 2})
    raw_ring(cap, "eq", 1, 8, 16, [words("01000000 00000000 09000000")],
             user=0, **{"ring-index": "phase", "sw-ci": 1})
    raw_ring(cap, "sq", 0x101, 8, 64, [], memory="device")
    return cap


# ------------------------------------------------------------ what completions say

DEPTH = 8


def ring_of(statuses, qpn=0x101):
    """All completions there have been, in a ring where each lap has another phase. What is no
    status is one of a receive, "r", of another QP, "q", or has the phase of another lap, "p"."""
    ring = [bytes(16)] * DEPTH
    for i, status in enumerate(statuses):
        phase = 1 - i // DEPTH % 2
        queue = 0x04 if status == "r" else 0x02
        ring[i % DEPTH] = struct.pack(
            "<HBBH10x", i, {"r": 5}.get(status, status if isinstance(status, int) else 0),
            queue | (phase ^ (status == "p")), 0x1FF if status == "q" else qpn)
    return ring


# Of each part of CQs, at two moments.
COMPLETIONS = {
    9: [([0] * 6, [0] * 6 + [15, 0, 15, 14])],          # a peer that never answers, over a lap's end
    10: [([15] * 5, [15] * 5 + [0, 0, 1])],             # before, and of a QP that was stopped
    11: [([0, 0], [0, 0, 9, 10, 13, 6])],               # gone away, or without a receive
    12: [([], [])],
    13: [([0], [0, 0]), ([0, 9], [0, 9, 9, 0])],        # in its second part
    14: [([0, "p", 0, 0], [0, "p", 0, 0])],             # unseen by its consumer
    15: [([0, 0], [0, "q", 0])],                        # not the same at both: nothing is sure
    16: [([0] * 4, [0] * 4 + ["q", 0])],
    17: [([0], [0, "r"])],
    18: [([0] * 7 + ["p", 0, 0], [0] * 7 + ["p", 0, 0])],   # unseen, before the end of a lap
}


def completions():
    """Two moments of CQs."""
    cap = Capture()
    cap.local("machine", {"host-pids": 1})
    for number in range(2):
        cap.time = 1700000000 * SEC + number * 2 * SEC
        cap.snapshot(number)
        cap.family()
        cap.rdma_devices(DEVS[:1])
        own = {"dev-index": 0, "dev-name": DEVS[0][1], "family": "efa"}
        cap.dump("dev", [device(0)])
        for hw in (True, False):
            # One's QP may have more requests than there is room for.
            cap.dump("qp", [{**own, "qpn": 0x100 + cqn - 8, "type": "driver", "state": "rts",
                             "send-cqn": cqn, "recv-cqn": cqn, "age": 90 * SEC, "rnr-retry": 7,
                             "sq-depth": 64 if cqn == 17 else 4, "rq-depth": 4,
                             "pid": 4711, "comm": "fi_pingpong"} for cqn in COMPLETIONS], hw=hw)
        cap.dump("cq", [{**own, "cqn": cqn, "depth": DEPTH, "subs": len(parts), "users": 2,
                         "user": 1, "age": 90 * SEC, "entry-size": 16, "pid": 4711,
                         "comm": "fi_pingpong"} for cqn, parts in COMPLETIONS.items()])
        for cqn, parts in COMPLETIONS.items():
            for sub, moments in enumerate(parts):
                raw_ring(cap, "cq", cqn, DEPTH, 16, ring_of(moments[number], 0x100 + cqn - 8),
                         **{"ring-index": "phase", **({"sub": sub} if sub else {})})
    return cap


# ------------------------------------------------------------ by RDMA netlink alone

PORT = {"tx_bytes": 4096000, "tx_pkts": 1000, "rx_bytes": 64000, "rx_pkts": 500, "rx_drops": 0,
        "retrans_bytes": 0, "retrans_pkts": 0, "retrans_timeout_events": 0,
        "unresponsive_remote_events": 7, "impaired_remote_conn_events": 3}
OWN = {"submitted_cmds": 60, "completed_cmds": 60, "cmds_err": 0, "no_completion_cmds": 0,
       "keep_alive_rcvd": 3000, "reg_mr_err": 1, "create_ah_err": 0}


def ask(cap, cmd, index, answer, port=False):
    kind = 5 << 10 | cmd
    one = cap.attr(1, cap.pack("I", index))
    where = one + (cap.attr(3, cap.pack("I", 1)) if port else b"")
    seq = cap.request(RDMA, kind, where, False)
    cap.packet(RDMA, cap.message(kind, 0, seq, answer))


def moment(cap, number, grown):
    """All devices; @grown: counters of the first one that differ."""
    cap.time = 1700000000 * SEC + number * 2 * SEC
    cap.snapshot(number)
    cap.local("machine", {"uptime": (3100 + 2 * number) * SEC}, want=["uptime"])
    cap.family(False)
    cap.rdma_devices(DEVS)
    for index, name, _ in DEVS:
        me = {"dev-index": index, "dev-name": name}
        cap.local("dev", {**me, "driver": "efa", "bus-addr": f"0000:00:0{6 + index}.0"},
                  want=["driver"])
        own = {**OWN, **{n: v for n, v in (grown if not index else {}).items() if n in OWN}}
        port = {**PORT, **{n: v for n, v in (grown if not index else {}).items() if n in PORT}}
        # It sends one way, and is answered; signs of life come.
        own["keep_alive_rcvd"] += 2 * number
        if index:
            port["tx_pkts"] += 50000 * number
        cap.local("port-counter", *({**me, "port": 0, "name": n, "value": v}
                                    for n, v in own.items()))
        ask(cap, 5, index, cap.attr(12, b"\x04"), port=True)
        ask(cap, 9, index, b"")
        one = cap.attr(1, cap.pack("I", index)) + cap.attr(3, cap.pack("I", 1))
        entries = b"".join(cap.attr(81, cap.attr(82, n.encode() + b"\0") +
                                    cap.attr(83, cap.pack("Q", v))) for n, v in port.items())
        ask(cap, 17, index, one + cap.attr(80, entries), port=True)


def network():
    cap = Capture()
    cap.local("machine", {"kernel": "6.17.0-test"})
    for number, grown in enumerate((
            {},
            # Nothing is heard of any peer.
            {"tx_pkts": 1700, "unresponsive_remote_events": 19, "retrans_pkts": 640,
             "retrans_timeout_events": 40},
            # One of them is silent, a path is bad.
            {"tx_pkts": 9000, "rx_pkts": 8000, "unresponsive_remote_events": 20,
             "retrans_pkts": 1200, "retrans_timeout_events": 40, "impaired_remote_conn_events": 5},
            {"tx_pkts": 19000, "rx_pkts": 18000, "unresponsive_remote_events": 20,
             "retrans_pkts": 1201, "retrans_timeout_events": 40, "impaired_remote_conn_events": 5,
             "reg_mr_err": 4, "create_ah_err": 2})):
        moment(cap, number, grown)
    return cap


# ------------------------------------------------------------ how a machine is set up


def setup():
    """What an application of these adapters finds in its way."""
    cap = Capture()
    cap.local("machine", {"kernel": "5.4.0-test", "cpus": 8, "memlock": 65536, "huge-pages": 512,
                          "huge-pages-free": 0, "copy-on-fork": 0})
    for name in ("ib_core", "ib_uverbs", "nvidia"):
        cap.module(name)
    cap.family(False)
    cap.rdma_devices(DEVS[:1])
    cap.local("dev", {"dev-index": 0, "dev-name": DEVS[0][1], "driver": "efa",
                      "bus-addr": "0000:00:06.0"}, want=["driver"])
    ask(cap, 5, 0, cap.attr(12, b"\x04"), port=True)
    ask(cap, 9, 0, b"")
    return cap


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    rings().write(f"{sys.argv[1]}/rings.pcapng")
    completions().write(f"{sys.argv[1]}/completions.pcapng")
    setup().write(f"{sys.argv[1]}/setup.pcapng")
    network().write(f"{sys.argv[1]}/network.pcapng")
