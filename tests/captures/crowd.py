#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes two snapshots of many QPs, for rules that must not take long: crowd.py COUNT ILL FILE.

The QPs are connected in pairs on one device. Each has a CQ and a process, each CQ an EQ. One
pair in ILL failed: the request of one end, and the other end with it. As many CQs wait for an
event that does not come, and the driver has as many failures of QPs that are gone. ILL 0: none.
"""

import sys

from nlcap import Capture
from synth import DEVS, FACE, SEC, cmdq, cq, ctx, device, eqs, qp

FIRST_PID = 100000


def address(n):
    return bytes([10, 77, n >> 8 & 255, n & 255])


def is_ill(n, one_in):
    return one_in and n // 2 % one_in == 0


def queue_pair(n, ill):
    """QPs 2k and 2k+1 are connected with each other."""
    peer = n ^ 1
    row = qp(0, n + 1, pid=FIRST_PID + n, **{
        "send-cqn": n + 1, "recv-cqn": n + 1, "ctxn": n, "local-addr": address(n),
        "peer-addr": address(peer), "local-port": 20000 + n % 30000, "peer-port": 20000 + peer % 30000})
    if ill:
        first = n % 2 == 0
        row.update({"state": "err", **FACE.own_state("error"), "events": 1, "first-event":
                    "qp-fatal" if first else "access-error", "first-cause": "retries-exceeded",
                    "first-event-age": 2 * SEC, "state-age": 2 * SEC})
    return row


def event_queue(n):
    return {**eqs(0)[2], "index": n + 2, "eqn": n + 2, "vector": n + 1, "irq": 50 + n}


def failure(n, count):
    return {"dev-index": DEVS[0][0], "dev-name": DEVS[0][1], "seq": n + 1, "time": 1700000000 * SEC,
            "age": 30 * SEC, "kind": "qp", "id": count + n + 10, "cause": "retries-exceeded",
            "pid": FIRST_PID + n, "comm": "ib_write_bw", "peer-addr": address(n), "peer-port": 20000 + n}


def main():
    count, one_in, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    ill = [is_ill(n, one_in) for n in range(count)]
    cap = Capture()
    rows = {
        "dev": [device(0)], "cmdq": [cmdq(0)],
        "eq": eqs(0)[:2] + [event_queue(n) for n in range(count)],
        "cq": [cq(0, n + 1, eqn=n + 2, vector=n + 1, pid=FIRST_PID + n, ctxn=n, **{"hw-pi": 40 + ill[n]})
               for n in range(count)],
        "qp": [queue_pair(n, ill[n]) for n in range(count)],
        "ctx": [{**ctx(0), "ctxn": n, "pid": FIRST_PID + n, "res-id": n} for n in range(count)],
        "failure": [failure(n, count) for n in range(count) if ill[n]],
    }
    for number in range(2):
        cap.time += number * 2 * SEC
        cap.snapshot(number)
        cap.family()
        cap.rdma_devices(DEVS[:1])
        for obj, items in rows.items():
            cap.dump(obj, items)
            if obj in ("qp", "cq", "eq", "cmdq"):
                cap.dump(obj, items, hw=True)
    cap.write(path)


main()
