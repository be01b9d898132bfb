#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes captures that no machine at hand would give: synth.py FOLDER.

  two.pcapng     two erdma devices with a few objects of each kind
  two-be.pcapng  the same from a machine of the other byte order
  dead.pcapng    one device whose command queue is dead, odd values, an attribute
                 and values that nobody knows yet, a torn dump, a refused request
  moments.pcapng counters at three moments, wraps among them
"""

import sys

from nlcap import Capture, FAMILY, GENERIC

DEVS = [(0, "erdma_0", 1), (3, "erdma_1", 1)]
SEC = 1000000000


def head(index):
    return {"dev-index": DEVS[index][0], "dev-name": DEVS[index][1]}


def device(i):
    return {**head(i), "driver": "erdma", "state": "ready", "bus-addr": f"0001:00:0{i}.0",
            "vendor-id": 0x1DED, "part-id": 0x107F, "hw-version": 2, "fw-version": "0.2.0",
            "numa-node": -1, "node-guid": bytes([2, 0, 0xED, 0xFF, 0xFE, 0xA0, 0, i]),
            "netdev": f"eth{i}", "netdev-index": 2 + i,
            "mac": bytes([0x52, 0x54, 0, 0xED, 0xA0, i]), "port-state": "active", "mtu": 1500,
            "caps": ["atomic", "query-qc", "extend-db"], "cc": "cubic", "vectors": 3,
            "max-qp": 131071, "qps": 3 - i, "max-cq": 262143, "cqs": 3, "max-mr": 131072,
            "mrs": 2, "max-pd": 65536, "pds": 2, "max-ctx": 1024, "ctxs": 1,
            "max-mr-size": 1 << 40, "max-send-wr": 8192, "max-recv-wr": 32768,
            "max-cqe": 1 << 20, "age": 93784 * SEC}


def qp(i, qpn, **more):
    return {**head(i), "qpn": qpn, "type": "rc", "state": "rts", "iwarp-state": "rts",
            "pdn": 1, "send-cqn": 2, "recv-cqn": 3, "sq-depth": 512, "sq-pi": 17, "rq-depth": 256,
            "rq-pi": 256, "user": 1, "pid": 4711, "comm": "ib_write_bw", "cgroup-id": 5123,
            "netns": 4026531840, "ctxn": 0, "res-id": qpn, "netdev": f"eth{i}",
            "local-addr": bytes([10, 77, i, 1]), "local-port": 18515,
            "peer-addr": bytes([10, 77, 1 - i, 1]), "peer-port": 40000 + qpn,
            "cookie": 0xC0FFEE, "remote-cookie": 0xBEEF, "cc": "cubic", "age": 3 * SEC // 2,
            "state-age": 12345678, "hw-sq-pi": 17, "hw-sq-ci": 16, "hw-rq-pi": 256,
            "hw-rq-ci": 3, "hw-rto-retrans": 0, "hw-tx-packets": 65535,
            "hw-sq-addr": 0x123456789000, **more}


def kernel_qp(i):
    row = qp(i, 2, comm="[nvme_rdma]", user=0)
    for name in ("pid", "ctxn", "cgroup-id", "netns"):
        del row[name]
    row.update({"sq-ci": 9, "rq-ci": 250, "last-post-age": 800, "last-comp-age": 64000,
                "peer-addr": bytes([0x20, 1, 0xD, 0xB8] + [0] * 11 + [1])})
    return row


def cq(i, cqn, **more):
    return {**head(i), "cqn": cqn, "depth": 1024, "ci": 40, "vector": 1, "eqn": 2, "armed": 1,
            "solicited": 0, "notify-requests": 7, "events": 6, "errors": 0, "users": 2, "user": 1,
            "pid": 4711, "comm": "ib_write_bw", "ctxn": 0, "res-id": cqn, "age": 2 * SEC,
            "hw-pi": 41, "hw-enabled": 1, **more}


def eqs(i):
    common = {"depth": 4096, "age": 93784 * SEC, "last-event-age": 5 * SEC, "unknown": 0}
    return [{**head(i), "index": n, "type": kind, "eqn": n, "vector": n, "irq": 40 + n,
             "irq-name": f"erdma-{kind}{n}@pci:0001:00:0{i}.0", "ci": 12 * n, "pending": 0,
             "interrupts": 3 + n, "events": 12 * n, "hw-suppressed": 0, "hw-overflow": 0,
             "hw-head": 12 * n, "hw-tail": 12 * n, **common}
            for n, kind in enumerate(("aeq", "cmdq", "ceq"))]


def cmdq(i, **more):
    return {**head(i), "index": 0, "state": "event", "sq-depth": 512, "sq-pi": 96, "sq-ci": 96,
            "cq-ci": 24, "eq-ci": 24, "credits": 128, "outstanding": 0, "max-outstanding": 4,
            "submitted": 24, "completed": 24, "errors": 0, "timeouts": 0, "late": 0,
            "spurious": 0, "recoveries": 0, "failed-recoveries": 0,
            "last-submit-age": 4 * SEC, "last-comp-age": 4 * SEC - 90000,
            "timeout": 15 * SEC, "hw-sq-pi": 96, "hw-sq-ci": 96, "hw-cq-pi": 24, **more}


def mr(i, mpt, **more):
    return {**head(i), "mpt": mpt, "type": "normal", "valid": 1, "pdn": 1, "lkey": mpt << 8 | 0x42,
            "rkey": mpt << 8 | 0x42, "iova": 0x7F1200000000, "length": 3 << 30,
            "access": ["local-write", "remote-write", "remote-read"], "page-size": 4096,
            "pages": 786432, "mtt-level": 2, "pid": 4711, "comm": "ib_write_bw", "ctxn": 0,
            "res-id": mpt, "age": 61 * SEC, **more}


def pd(i, pdn):
    return {**head(i), "pdn": pdn, "users": 3, "pid": 4711, "comm": "ib_write_bw", "ctxn": 0,
            "res-id": pdn, "age": 7300 * SEC}


def ctx(i):
    return {**head(i), "ctxn": 0, "qps": 1, "cqs": 2, "mrs": 1, "pds": 1, "db-type": "page",
            "sq-db-offset": 0x12000, "pid": 4711, "comm": "ib_write_bw", "res-id": 0,
            "age": 400 * 86400 * SEC}


def counters(i, **more):
    names = ["tx-requests", "tx-packets", "tx-bytes", "tx-disabled-drops", "tx-bps-limit-drops",
             "tx-pps-limit-drops", "rx-packets", "rx-bytes", "rx-disabled-drops",
             "rx-bps-limit-drops", "rx-pps-limit-drops"]
    return {**head(i), "port": 1, **{n: (k + 1) * 1000 * (i + 1) for k, n in enumerate(names)},
            "cmds-submitted": 24, "cmds-completed": 24, "qp-creates": 3, **more}


def cmd(i, seq, **more):
    return {**head(i), "seq": seq, "time": 1700000000 * SEC + seq * 1000000, "op": "create-qp",
            "state": "done", "status": 0, "syndrome": 0, "latency": 45000 + seq, "cookie": seq % 128,
            "outstanding": 1, "polled": 0, "cpu": 1, "pid": 4711, "comm": "ib_write_bw",
            "request": bytes(range(16)), "response": bytes(8), "first-timeout": 0, **more}


def two(order="<"):
    cap = Capture(order)
    for key, value in (("eadm", "0.1.0"), ("kernel", "6.1.0-test"), ("host", "node7"),
                       ("module.erdma", "0.1.0"), ("module.eadm", ""), ("moment", "0")):
        cap.fact(key, value)
    cap.family()
    cap.rdma_devices(DEVS)
    both = range(2)
    rows = {
        "dev": [device(i) for i in both],
        "qp": [qp(0, 10), kernel_qp(0), qp(0, 11, state="err", **{"iwarp-state": "error"}),
               qp(1, 10), qp(1, 12, state="init")],
        "cq": [cq(0, 2), cq(0, 3), cq(1, 2, armed=0)],
        "eq": [row for i in both for row in eqs(i)],
        "cmdq": [cmdq(i) for i in both],
        "mr": [mr(0, 5), mr(0, 6, type="fast-reg", length=4096, pages=1), mr(1, 5)],
        "pd": [pd(0, 1), pd(1, 1)],
        "ctx": [ctx(0), ctx(1)],
        "cmd": [cmd(0, s) for s in range(1, 4)] + [cmd(1, 1, latency=12000000, op="reg-mr")],
    }
    for obj, items in rows.items():
        cap.dump(obj, items)
        if obj not in ("dev", "pd", "ctx", "cmd", "mr"):
            cap.dump(obj, items, hw=True)
    cap.dump("counters", [counters(i) for i in both], hw=True)
    return cap


def dead():
    cap = Capture()
    cap.fact("kernel", "6.12.0-test")
    cap.fact("comm.99", "odd")
    cap.fact("moment", "0")
    cap.family()
    cap.rdma_devices([(7, "roce_x", 1), (8, "rxe0", 1)])
    row = {**device(0), "dev-index": 7, "dev-name": "roce_x", "state": "dead"}
    row.update({"port-state": 77, "caps": 1 << 1 | 1 << 9, "fw-version": 'a"b\\c\td'})
    cap.dump("dev", [row])
    # What a newer kernel might add, and a name that is no UTF-8.
    own = {"dev-index": 7, "dev-name": "roce_x"}
    seq = cap.request(GENERIC, FAMILY, cap.pack("BBH", cap.spec.cmds["qp"], 1, 0), True)
    body = cap.row("qp", {**own, "qpn": 1, "state": 9})
    body += cap.attr(20, b"bad\xff\xc3\xa9\0") + cap.attr(999, b"\x0a\x0b\x0c")
    cap.packet(GENERIC, cap.message(FAMILY, 0x12, seq, cap.pack("BBH", 2, 1, 0) + body) +
               cap.done(seq))
    cap.dump("cmdq", [cmdq(0, **own, state="dead", timeouts=3, outstanding=3, recoveries=1,
                           **{"failed-recoveries": 1, "oldest-age": 3600 * SEC})])
    cap.dump("cmd", [cmd(0, 1, **own, state="timeout", status=-110, latency=15 * SEC,
                         **{"first-timeout": 1}),
                     cmd(0, 2, **own, op=9999, state="aborted", status=-5, syndrome=0x1234)])
    cap.refused("eq", -1)
    cap.refused("cmdq", -1, hw=True)
    # The other device, as far as RDMA netlink knows it.
    kind = 5 << 10 | 10
    seq = cap.request(20, kind, cap.attr(1, cap.pack("I", 8)), True)
    entry = (cap.attr(23, cap.pack("I", 17)) + cap.attr(28, b"\x02") + cap.attr(29, b"\x01") +
             cap.attr(30, cap.pack("I", 99)))
    cap.packet(20, cap.message(kind, 2, seq, cap.attr(1, cap.pack("I", 8)) +
                               cap.attr(21, cap.attr(22, entry))) + cap.done(seq))
    return cap


def moments():
    cap = Capture()
    steps = [{}, {"tx-bytes": 3000 + 5000000, "tx-packets": 2500},
             {"tx-bytes": 3000 + 15000000, "tx-packets": 100}]
    for number, step in enumerate(steps):
        cap.time = 1700000000 * SEC + number * 2 * SEC
        cap.fact("moment", number)
        cap.family()
        cap.rdma_devices(DEVS[:1])
        cap.dump("dev", [device(0)])
        cap.dump("counters", [counters(0, **step)], hw=True)
        row = cq(0, 2, **{"hw-out-of-order": (250 + 10 * number) % 256, "events": 6 + number})
        cap.dump("cq", [row], hw=True)
    return cap


def busy():
    """Three moments with 40 QPs: QP 30 + n posts n * 100 blocks in a second."""
    cap = Capture()
    cap.fact("host", "node7")
    for number in range(3):
        cap.time = 1700000000 * SEC + number * SEC
        cap.fact("moment", number)
        cap.family()
        cap.rdma_devices(DEVS[:1])
        cap.dump("dev", [{**device(0), "qps": 40}])
        cap.dump("counters", [counters(0, **{"tx-bytes": 1000000 * number,
                                             "tx-packets": 1000 * number})], hw=True)
        cap.dump("cmdq", [cmdq(0)])
        rows = [qp(0, 10 + n, pid=4000 + n % 3, comm=("ib_write_bw", "rping", "fio")[n % 3],
                   **{"sq-pi": (65000 + max(n - 20, 0) * 100 * number) % 65536,
                      "rq-pi": 5 * number if n == 39 else 0})
                for n in range(40)]
        cap.dump("qp", rows)
        cap.dump("cmd", [cmd(0, s, time=cap.time - 500000000 + s * 1000000,
                             latency=20000 * s) for s in range(1, 11)])
    return cap


def main():
    folder = sys.argv[1]
    two().write(f"{folder}/two.pcapng")
    two(">").write(f"{folder}/two-be.pcapng")
    dead().write(f"{folder}/dead.pcapng")
    moments().write(f"{folder}/moments.pcapng")
    busy().write(f"{folder}/busy.pcapng")


if __name__ == "__main__":
    main()
