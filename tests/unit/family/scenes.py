#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a capture of an adapter of the invented family beside one of ERDMA: scenes.py FILE [ORDER],
the order of delivery of its second QP.

The bytes of its queues are written out here, not made from invented.yaml.
"""

import os
import struct
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, f"{HERE}/../../captures")
sys.dont_write_bytecode = True

from nlcap import FAMILY, GENERIC, Capture  # noqa: E402 pylint: disable=wrong-import-position
from synth import cmdq, cq, device, qp  # noqa: E402 pylint: disable=wrong-import-position

DEVS = [(0, "cloud_0", 1), (1, "inv_0", 1)]
OWN = {"dev-index": 1, "dev-name": "inv_0", "family": "invented"}
DEPTH = 300
SEC = 1000000000


def raw(cap, kind, ident, size, entries, depth=DEPTH, sub=0, **more):
    """The bytes of a queue, by place, or of a context."""
    own = {"dev-index": 1, "dev-name": "inv_0", "id": ident,
           "kind": cap.spec.enums["raw-kind"][kind], **({"sub": sub} if sub else {})}
    head = cap.pack("BBH", 192, 1, 0)
    ask = cap.row("raw", {n: own[n] for n in ("dev-index", "kind", "id", "sub") if n in own})
    row = {**own, **more, "data": entries}
    if size:
        ask += cap.attr(3, b"")
        row.update({"first": 0, "count": depth, "entry-size": size, "depth": depth, "user": 1,
                    "data": b"".join(entries.get(i, bytes(size)) for i in range(depth))})
    if not row["data"]:
        row.update({"count": 0, "data": b""})
    seq = cap.request(GENERIC, FAMILY, head + ask, True)
    cap.packet(GENERIC, cap.message(FAMILY, 2, seq, head + cap.row("raw", row)) + cap.done(seq))


def cqe(qpn, place, phase, op, queue, cause=0):
    return struct.pack(">QII16x", 0, qpn, place) + struct.pack("<QI", 0xABCDEF << 40 | 4096 << 8 | 0xFF, 0) + \
        struct.pack(">I", cause << 16 | op << 8 | queue << 1 | phase)


def eqe(place):
    return struct.pack(">I", (1 if place & 1 else 3) << 24 | 1) + struct.pack("<I16x", place)


def rings(cap):
    first = {i: cqe(0, i, 1, i, 0 if i == 2 else 1, 15 if i == 1 else 0) for i in range(3)}
    raw(cap, "cq", 0, 48, first, **{"ring-index": "phase", "sw-ci": 1})
    # In its other part the producer is in the second lap, the consumer at the end of the first.
    laps = {i: cqe(1, 1000 + i, 0 if i < 4 else 1, 0, 1) for i in range(DEPTH)}
    raw(cap, "cq", 0, 48, laps, sub=1, **{"ring-index": "phase", "sw-ci": 297})
    raw(cap, "rq", 0, 24, {i: struct.pack(">QI", 0x8000000000001000 + i, 0x80000040) +
                           struct.pack("<I8x", 77) for i in (299, 0)},
        **{"ring-index": "lap", "sw-pi": 301, "hw-ci": 299})
    raw(cap, "eq", 0, 24, {i: eqe(i) for i in range(3)}, **{"ring-index": "phase", "sw-ci": 2})
    raw(cap, "sq", 0, 64, {}, depth=0, memory="device")
    raw(cap, "qpc", 1, 0, struct.pack(">II616xQ", 1, 41, 0x123456789A) + struct.pack("<Q", 640))


def capture(order):
    cap = Capture(more=[f"{HERE}/invented.yaml"])
    cap.local("machine", {"kernel": "6.12.0-test"})
    cap.snapshot(0)
    cap.family()
    cap.rdma_devices(DEVS)
    cap.dump("dev", [{**device(0), "qps": 1, "cqs": 1},
                     {**OWN, "driver": "invented", "state": "ready", "port-state": "active", "qps": 2}])
    for hw in (False, True):
        cap.dump("qp", [qp(0, 10), *({**OWN, "qpn": n, "type": "driver", "state": "rts", "sq-depth": DEPTH,
                                      "order": order if n else "ordered", "hw-sq-pi": 599,
                                      "hw-paths": 40 + n} for n in range(2))], hw=hw)
        cap.dump("cq", [cq(0, 2), {**OWN, "cqn": 0, "depth": DEPTH, "subs": 2, "events": 17}], hw=hw)
        cap.dump("eq", [{**OWN, "index": 0, "role": "async", "depth": DEPTH, "ci": 2, "moderation": 64000}], hw=hw)
        cap.dump("cmdq", [cmdq(0), {**OWN, "index": 0, "state": "event", "submitted": 5, "completed": 4,
                                    "timeouts": 1, "outstanding": 0}], hw=hw)
    cap.dump("cmd", [{**OWN, "seq": 1, "time": cap.time, "op": "create-qp", "op-raw": 8, "state": "done"},
                     {**OWN, "seq": 2, "time": cap.time, "op": "reg-mr", "op-raw": 1, "state": "timeout",
                      "status": -110, "latency": 30 * SEC, "first-timeout": 1}])
    rings(cap)
    return cap


if __name__ == "__main__":
    capture((sys.argv[2:] or ["scattered"])[0]).write(sys.argv[1])
