#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes captures that no machine at hand would give: synth.py FOLDER.

Their devices are ERDMA adapters; tests/family/erdma/face.py has what only these show.

  two.pcapng     two devices with a few objects of each kind
  two-be.pcapng  the same from a machine of the other byte order
  dead.pcapng    one device whose command queue is dead, odd values, an attribute
                 and values that nobody knows yet, a torn dump, a refused request
  moments.pcapng counters at three moments, wraps among them
  jobs.pcapng    processes at three moments, on RDMA, on TCP, on both, and idle
  events.pcapng  events of the second device
  foreign.pcapng a device of another vendor
  stock.pcapng   devices of stock drivers and their connections; stock-be.pcapng, too
  sick.pcapng    two moments of devices on which every rule of a diagnosis applies
  well.pcapng    two moments of a healthy device with all that looks like a fault
                 and is none
"""

import ipaddress
import sys

from nlcap import Capture, FAMILY, GENERIC, REPO
from nldev import cm_id, rdma_qp, rdma_srq

sys.path.insert(0, f"{REPO}/tests/family/erdma")
import face as FACE  # pylint: disable=wrong-import-position

FAMILY_NAME = "erdma"
DEVS = [(0, "cloud_0", 1), (3, "cloud_1", 1)]
SEC = 1000000000
WRAP = 1 << FACE.INDEX_BITS     # where indices of queues begin again
CQ_WRAP = 1 << FACE.CQ_INDEX_BITS


def own(obj):
    """What rows of the family have beside the fields of the contract."""
    return FACE.OWN.get(obj, {})


def head(index):
    return {"dev-index": DEVS[index][0], "dev-name": DEVS[index][1], "family": FAMILY_NAME}


def device(i):
    return {**head(i), "driver": FAMILY_NAME, "state": "ready", "bus-addr": f"0001:00:0{i}.0",
            "vendor-id": FACE.VENDOR, "part-id": FACE.PART, "hw-version": 2, "fw-version": "0.2.0",
            "numa-node": -1, "node-guid": bytes([2, 0, 0xED, 0xFF, 0xFE, 0xA0, 0, i]),
            "netdev": f"eth{i}", "netdev-index": 2 + i,
            "mac": bytes([0x52, 0x54, 0, 0xED, 0xA0, i]), "port-state": "active", "mtu": 1500,
            "caps": ["atomic", "query-contexts", "doorbell-pages"], "vectors": 3,
            "max-qp": 131071, "qps": 3 - i, "max-cq": 262143, "cqs": 3, "max-mr": 131072,
            "mrs": 2, "max-pd": 65536, "pds": 2, "max-ctx": 1024, "ctxs": 1,
            "max-mr-size": 1 << 40, "max-send-wr": 8192, "max-recv-wr": 32768,
            "max-cqe": 1 << 20, "age": 93784 * SEC, **own("dev")}


def qp(i, qpn, **more):
    return {**head(i), "qpn": qpn, "type": "rc", "state": "rts", "pdn": 1, "send-cqn": 2,
            "recv-cqn": 3, "sq-depth": 512, "sq-pi": 17, "rq-depth": 256, "rq-pi": 256, "user": 1, "pid": 4711, "comm": "ib_write_bw", "cgroup-id": 5123,
            "netns": 4026531840, "ctxn": 0, "res-id": qpn, "netdev": f"eth{i}",
            "local-addr": bytes([10, 77, i, 1]), "local-port": 18515,
            "peer-addr": bytes([10, 77, 1 - i, 1]), "peer-port": 40000 + qpn,
            "age": 3 * SEC // 2, "state-age": 12345678, "hw-sq-pi": 17, "hw-sq-ci": 16,
            "hw-rq-pi": 256, "hw-rq-ci": 3, "hw-sq-addr": 0x123456789000,
            **FACE.own_state("rts"), **own("qp"), **more}


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
    return [{**head(i), "index": n, "role": role, "eqn": n, "vector": n, "irq": 40 + n,
             "irq-name": FACE.irq_name(kind, n, f"0001:00:0{i}.0"), "ci": 12 * n, "pending": 0,
             "interrupts": 3 + n, "events": 12 * n, "hw-suppressed": 0, "hw-overflow": 0,
             "hw-head": 12 * n, "hw-tail": 12 * n, **common, **own("eq")}
            for n, (kind, role) in enumerate((("aeq", "async"), ("cmdq", "admin"), ("ceq", "completion")))]


def cmdq(i, **more):
    return {**head(i), "index": 0, "state": "event", "sq-depth": 512, "sq-pi": 96, "sq-ci": 96,
            "cq-ci": 24, "eq-ci": 24, "credits": 128, "outstanding": 0, "max-outstanding": 4,
            "submitted": 24, "completed": 24, "errors": 0, "timeouts": 0, "late": 0,
            "spurious": 0, "recoveries": 0, "failed-recoveries": 0,
            "last-submit-age": 4 * SEC, "last-comp-age": 4 * SEC - 90000,
            "timeout": 15 * SEC, "hw-sq-pi": 96, "hw-sq-ci": 96, "hw-cq-pi": 24, **more}


def mr(i, mrn, **more):
    return {**head(i), "mrn": mrn, "type": "normal", "valid": 1, "pdn": 1, "lkey": mrn << 8 | 0x42,
            "rkey": mrn << 8 | 0x42, "iova": 0x7F1200000000, "length": 3 << 30,
            "access": ["local-write", "remote-write", "remote-read"], "page-size": 4096,
            "pages": 786432, "pid": 4711, "comm": "ib_write_bw", "ctxn": 0,
            "res-id": mrn, "age": 61 * SEC, **own("mr"), **more}


def pd(i, pdn):
    return {**head(i), "pdn": pdn, "users": 3, "pid": 4711, "comm": "ib_write_bw", "ctxn": 0,
            "res-id": pdn, "age": 7300 * SEC}


def ctx(i):
    return {**head(i), "ctxn": 0, "qps": 1, "cqs": 2, "mrs": 1, "pds": 1,
            "pid": 4711, "comm": "ib_write_bw", "res-id": 0, "age": 400 * 86400 * SEC,
            **own("ctx")}


def counters(i, **more):
    names = ["tx-requests", "tx-packets", "tx-bytes", "tx-disabled-drops", "tx-bps-limit-drops",
             "tx-pps-limit-drops", "rx-packets", "rx-bytes", "rx-disabled-drops",
             "rx-bps-limit-drops", "rx-pps-limit-drops"]
    return {**head(i), "port": 1, **{n: (k + 1) * 1000 * (i + 1) for k, n in enumerate(names)},
            "cmds-submitted": 24, "cmds-completed": 24, "qp-creates": 3, **more}


def cmd(i, seq, **more):
    return {**head(i), "seq": seq, "time": 1700000000 * SEC + seq * 1000000, "op": "create-qp",
            "state": "done", "status": 0, "syndrome-raw": 0, "latency": 45000 + seq, "tag": seq % 128,
            "outstanding": 1, "polled": 0, "cpu": 1, "pid": 4711, "comm": "ib_write_bw",
            "request": bytes(range(16)), "response": bytes(8), "first-timeout": 0, **more}


def srq(i, srqn, **more):
    return {**head(i), "srqn": srqn, "type": "basic", "pdn": 1, "depth": 256, "stride": 32, "limit": 16,
            "pi": 300, "ci": 60, "posted": 240, "users": 2, "user": 1, "pid": 4711, "comm": "ib_write_bw",
            "ctxn": 0, "res-id": srqn, "age": SEC, "hw-limit": 0, **more}


def two(order="<"):
    cap = Capture(order)
    cap.local("machine", {"eadm": "0.1.0", "kernel": "6.1.0-test", "host": "node7"})
    cap.module(FAMILY_NAME, "0.1.0")
    cap.module("eadm")
    cap.local("verbs-user", on_tcp(4711, "ib_write_bw", 0, files=1))
    cap.snapshot(0)
    cap.family()
    cap.rdma_devices(DEVS)
    both = range(2)
    rows = {
        "dev": [device(i) for i in both],
        "qp": [qp(0, 10), kernel_qp(0), qp(0, 11, state="err", **FACE.own_state("error")),
               qp(1, 10), qp(1, 12, state="init")],
        "cq": [cq(0, 2), cq(0, 3), cq(1, 2, armed=0)],
        "eq": [row for i in both for row in eqs(i)],
        "cmdq": [cmdq(i) for i in both],
        "mr": [mr(0, 5), mr(0, 6, type="fast-reg", length=4096, pages=1), mr(1, 5)],
        "pd": [pd(0, 1), pd(1, 1)],
        "ctx": [ctx(0), ctx(1)],
        "srq": [srq(0, 4, limit=0), srq(0, 5, posted=12, ci=288)],
        "cmd": [cmd(0, s) for s in range(1, 4)] + [cmd(1, 1, latency=12000000, op="reg-mr")],
    }
    for obj, items in rows.items():
        cap.dump(obj, items)
        if obj not in ("dev", "pd", "ctx", "cmd", "mr"):
            cap.dump(obj, items, hw=True)
    cap.dump("counters", [counters(i) for i in both], hw=True)
    links(cap, [(index, name) for index, name, _ in DEVS])
    return cap


def dead():
    cap = Capture()
    cap.local("machine", {"kernel": "6.12.0-test"})
    cap.comm(99, "odd")
    cap.snapshot(0)
    cap.family()
    cap.rdma_devices([(7, "roce_x", 1), (8, "rxe0", 1)])
    row = {**device(0), "dev-index": 7, "dev-name": "roce_x", "state": "dead"}
    row.update({"port-state": 77, "caps": 1 << 1 | 1 << 9, "fw-version": 'a"b\\c\td'})
    cap.dump("dev", [row])
    # What a newer kernel might add, and a name that is no UTF-8.
    own = {"dev-index": 7, "dev-name": "roce_x"}
    seq = cap.request(GENERIC, FAMILY, cap.pack("BBH", cap.spec.cmds["qp"], 1, 0), True)
    body = cap.row("qp", {**own, "qpn": 1, "state": 9})
    body += cap.attr(cap.spec.sets["qp"]["comm"][0], b"bad\xff\xc3\xa9\0") + cap.attr(999, b"\x0a\x0b\x0c")
    cap.packet(GENERIC, cap.message(FAMILY, 0x12, seq, cap.pack("BBH", 2, 1, 0) + body) +
               cap.done(seq))
    cap.dump("cmdq", [cmdq(0, **own, state="dead", timeouts=3, outstanding=3, recoveries=1,
                           **{"failed-recoveries": 1, "oldest-age": 3600 * SEC})])
    cap.dump("cmd", [cmd(0, 1, **own, state="timeout", status=-110, latency=15 * SEC,
                         **{"first-timeout": 1}),
                     cmd(0, 2, **own, op=9999, state="aborted", status=-5, **{"syndrome-raw": 0x1234})])
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
        cap.snapshot(number)
        cap.family()
        cap.rdma_devices(DEVS[:1])
        cap.dump("dev", [device(0)])
        cap.dump("counters", [counters(0, **step)], hw=True)
        row = cq(0, 2, **{"hw-out-of-order": (250 + 10 * number) % 256, "events": 6 + number,
                          "age": (2 + 2 * number) * SEC})
        cap.dump("cq", [row], hw=True)
    return cap


def ring_head():
    return {"dev-index": DEVS[1][0], "dev-name": DEVS[1][1]}


def raw_ring(cap, kind, ident, depth, data, size, hw=True, dev=None, **pointers):
    """What the char device gave of a queue of the second device, or another one; it
    has command 192 for itself."""
    dev = dev or ring_head()
    number = cap.spec.enums["raw-kind"][kind]
    head = cap.pack("BBH", 192, 1, 0)
    ask = cap.row("raw", {"dev-index": dev["dev-index"], "kind": number, "id": ident})
    seq = cap.request(GENERIC, FAMILY, head + ask + (cap.attr(3, b"") if hw else b""), True)
    row = {**dev, "id": ident, "kind": number}
    if depth:
        data = data + bytes(depth * size - len(data))
        row.update({"first": 0, "count": depth, "entry-size": size, "depth": depth, "user": 1})
    row.update({**pointers, "data": data})
    cap.packet(GENERIC, cap.message(FAMILY, 2, seq, head + cap.row("raw", row)) + cap.done(seq))


def add_events(cap):
    """Those of the second device."""
    seq = cap.request(GENERIC, FAMILY, cap.pack("BBH", cap.spec.cmds["event"], 1, 0), True)
    for row in ({"seq": 1, "time": 1700000000 * SEC, "type": "async", "async": "qp-fatal", "qpn": 18},
                {"seq": 2, "time": 1700000001 * SEC, "type": "cmd-timeout", "cmd-seq": 77,
                 "op": "query-eqc"},
                {"seq": 3, "time": 1700000002 * SEC, "type": "recovered", "lost": 2}):
        body = cap.row("event", {**ring_head(), **row})
        cap.packet(GENERIC, cap.message(FAMILY, 2, seq, cap.pack("BBH", cap.spec.cmds["event"], 1, 0)
                                        + body))


def events():
    cap = Capture()
    cap.family()
    cap.rdma_devices(DEVS)
    cap.dump("dev", [device(0), device(1)])
    add_events(cap)
    return cap


def busy():
    """Three moments with 40 QPs: QP 30 + n posts n * 100 blocks in a second."""
    cap = Capture()
    cap.local("machine", {"host": "node7"})
    for number in range(3):
        cap.time = 1700000000 * SEC + number * SEC
        cap.snapshot(number)
        cap.family()
        cap.rdma_devices(DEVS[:1])
        cap.dump("dev", [{**device(0), "qps": 40}])
        cap.dump("counters", [counters(0, **{"tx-bytes": 1000000 * number,
                                             "tx-packets": 1000 * number})], hw=True)
        cap.dump("cmdq", [cmdq(0)])
        rows = [qp(0, 10 + n, pid=4000 + n % 3, comm=("ib_write_bw", "rping", "fio")[n % 3],
                   **{"sq-pi": (WRAP - 536 + max(n - 20, 0) * 100 * number) % WRAP,
                      "rq-pi": 5 * number if n == 39 else 0})
                for n in range(40)]
        cap.dump("qp", rows)
        cap.dump("cmd", [cmd(0, s, time=cap.time - 500000000 + s * 1000000,
                             latency=20000 * s) for s in range(1, 11)])
    return cap


def jobs():
    """What moves the data of processes, as counters of QPs, indices of queues and TCP connections show."""
    mb = 1000000
    cap = Capture()
    cap.local("machine", {"host": "node7"})
    for number in range(3):
        cap.time = 1700000000 * SEC + number * SEC
        cap.snapshot(number)
        cap.local("process", {"pid": 5006, "comm": "static", "pod": "11111111-2222-3333-4444-555555555555"})
        user = lambda pid, comm, tx, **more: {  # pylint: disable=cell-var-from-loop
            "pid": pid, "comm": comm, "libraries": "", "files": 1, "sockets": 1, "tx-bytes": 77 + tx * number,
            "rx-bytes": 5000 * number, **more}
        cap.local("verbs-user", user(5000, "counted", 4000, container="c0ffee" + 58 * "0"),
                  user(5001, "posting", 0), user(5002, "both", 3 * mb, libraries="libfabric"),
                  user(5003, "train", 50 * mb, files=0, libraries="nccl mpi",
                       pod="01234567-89ab-cdef-0123-456789abcdef"),
                  user(5004, "resting", 9000), user(5005, "partly", 0),
                  # Connections that closed take their bytes along.
                  {**user(5007, "closing", 0), "tx-bytes": 30 * mb - 10 * mb * number},
                  {"pid": 0, "hidden": 3})
        bound = lambda counter, qpns, name, value: {  # pylint: disable=cell-var-from-loop
            **head(0), "port": 1, "counter": counter, "mode": "manual", "qpns": qpns, "name": name,
            "value": 500 + value * number}
        cap.local("qp-counter", bound(1, "10 11", "rdma_tx_bytes", 2 * mb), bound(1, "10 11", "rdma_rx_bytes", mb),
                  bound(1, "10 11", "rdma_tx_packets", 7 * mb), bound(2, "13", "tx_bytes", 0),
                  bound(2, "13", "rx_bytes", 0),
                  # One of two QPs, and QPs of two processes.
                  bound(3, "14", "tx_bytes", 9 * mb), bound(4, "15 16", "tx_bytes", 9 * mb), ask={"dev-index": 0})
        cap.family()
        cap.rdma_devices(DEVS[:1])
        cap.dump("dev", [device(0)])
        cap.dump("counters", [counters(0)], hw=True)
        cap.dump("cmdq", [cmdq(0)])
        cap.dump("ctx", [{**ctx(0), "ctxn": pid - 5000, "pid": pid, "comm": comm}
                         for pid, comm in ((5000, "counted"), (5006, "static"))])
        mine = lambda qpn, pid, comm, post=0, **more: qp(  # pylint: disable=cell-var-from-loop
            0, qpn, pid=pid, comm=comm, **{"sq-pi": 17 + post * number, **more})
        cap.dump("qp", [kernel_qp(0), mine(10, 5000, "counted"), mine(11, 5000, "counted"),
                        mine(12, 5001, "posting", post=40), mine(13, 5004, "resting"),
                        mine(14, 5005, "partly", post=3), mine(15, 5005, "partly"),
                        mine(16, 5002, "both", post=5), mine(17, 5006, "static", state="init")])
        cap.dump("cq", [{**cq(0, 2), "pid": 5000, "comm": "counted"}, {**cq(0, 3), "pid": 5001, "comm": "posting"}])
        cap.dump("mr", [{**mr(0, 5), "pid": 5000, "comm": "counted"}, {**mr(0, 6), "pid": 5000, "comm": "counted"}])
    return cap


# ------------------------------------------------------------ for diagnosis

class Machine:
    """Devices at a moment; rows may be changed before they are written."""

    def __init__(self, names):
        self.names = names
        self.rows = {}
        self.rings = []
        self.processes = {}
        self.around = []

    def head(self, dev):
        return {"dev-index": dev, "dev-name": self.names[dev]}

    def add(self, obj, dev, row, **more):
        row = {**row, **self.head(dev), **more}
        self.rows.setdefault(obj, []).append(row)
        return row

    def completions(self, dev, cqn, depth, *cqes):
        """All there have been in a CQ: (operation, QPN, request) of a send queue each.

        Without a number of its request each has the next one; with none it has the
        owner bit of another lap."""
        ring = [bytes(FACE.CQE_SIZE)] * depth
        for i, (op, qpn, *request) in enumerate(cqes):
            lap = i // depth + (request == [None])
            index = request[0] if request and request[0] is not None else i
            ring[i % depth] = FACE.cqe(lap, op, qpn, index)
        self.rings.append((cqn, depth, b"".join(ring), self.head(dev)))

    def write(self, cap, number):
        # Commands that are kept by time are about ten minutes.
        cap.time = 1700000000 * SEC + (number + 1) * 2 * SEC
        cap.snapshot(number)
        cap.local("machine", {"uptime": (100 + 2 * number) * SEC}, want=["uptime"])
        for pid, state in self.processes.items():
            cap.local("process", {"pid": pid, **state})
        for obj, rows in self.around:
            cap.local(obj, *rows)
        for obj in ("health", "qp-counter", "cgroup", "port") if self.around else ():
            had = {rows[0]["dev-index"] for of, rows in self.around if of == obj}
            for dev in set(range(len(self.names))) - had:
                cap.local(obj, ask={"dev-index": dev})
        cap.family()
        cap.rdma_devices([(i, name, 1) for i, name in enumerate(self.names)])
        for obj in ("dev", "qp", "cq", "eq", "cmdq", "ctx", "cmd", "failure", "failure-total"):
            hw = obj in ("qp", "cq", "eq")
            cap.dump(obj, self.rows.get(obj, []), hw=hw)
        cap.dump("counters", self.rows.get("counters", []), hw=True)
        for cqn, depth, data, dev in self.rings:
            raw_ring(cap, "cq", cqn, depth, data, FACE.CQE_SIZE, dev=dev, hw=False)


SICK = ["gone", "dead", "recovering", "stalled", "queues", "rings", "conns", "flushes",
        "halted", "peers", "given-up", "guest", "no-backend"]
# Of a program that is an adapter.
PROGRAM = {"side": "program", "backend": "soft", "backend-state": "works", "vmm-pid": 4712,
           "guest-driver": "active"}
GUEST, PEERS, QUEUES = SICK.index("guest"), SICK.index("peers"), SICK.index("queues")
LOCAL, PEER = bytes([10, 77, 0, 1]), bytes([10, 77, 1, 1])


def conn(qpn, port=4791, peer_side=False, **more):
    """A QP with a connection; those of one port belong together."""
    ends = (PEER, port, LOCAL, 18515) if peer_side else (LOCAL, 18515, PEER, port)
    names = ("local-addr", "local-port", "peer-addr", "peer-port")
    return {**qp(0, qpn), "send-cqn": 1000 + qpn, "recv-cqn": 2000 + qpn, "events": 0,
            "age": 100 * SEC, **dict(zip(names, ends)), "sq-pi": 40, "rq-pi": 20,
            "hw-sq-pi": 40, "hw-sq-ci": 40, "hw-rq-pi": 20, "hw-rq-ci": 10, "hw-send-cqes": 7,
            "hw-recv-cqes": 3, "hw-tx-packets": 50, "hw-rx-packets": 60, "hw-rx-error-drops": 0,
            "hw-rx-invalid-drops": 0, "hw-rto-retrans": 5, **more}


def plain_cq(cqn, **more):
    return {**cq(0, cqn), "ci": 40, "hw-pi": 40, "channel": 1, "age": 90 * SEC, **more}


def sick_devices(m, late):
    for dev in range(len(SICK)):
        m.add("dev", dev, device(0), **{"age": (100 + 2 * late) * SEC})
        m.add("ctx", dev, ctx(0))
    m.rows["dev"][0]["state"] = "gone"
    m.rows["dev"][1].update({"state": "dead", "port-state": "down"})
    m.rows["dev"][2].update({"state": "recovering",
                             "netdev-mac": bytes([2, 0, 0, 0, 0, 9])})
    m.rows["dev"][3].update({"qps": 131000})
    m.rows["dev"][8].update({"state": "halted", "orphans": 5, "orphan-bytes": 3 << 20})
    m.rows["dev"][9].update({"ahs": 1000, "max-ah": 1024})
    del m.rows["ctx"][3]["pid"], m.rows["ctx"][3]["comm"]


def sick_cmdqs(m, late):
    m.add("cmdq", 0, cmdq(0))
    m.add("cmdq", 1, cmdq(0, state="dead", timeouts=3, recoveries=1,
                          **{"failed-recoveries": 1}))
    m.add("cmdq", 2, cmdq(0, state="recovering", timeouts=1, outstanding=2,
                          **{"oldest-age": 15 * SEC}))
    m.add("cmdq", 3, cmdq(0, outstanding=3, **{"oldest-age": 4 * SEC}))
    m.add("cmdq", 4, cmdq(0, spurious=2, timeouts=1, errors=1, recoveries=1,
                          **{"last-spurious-age": 4 * SEC}))
    for dev in (5, 6, 7):
        m.add("cmdq", dev, cmdq(0))
    m.add("cmdq", 8, cmdq(0, state="dead", timeouts=1, **{"failed-recoveries": 9}))
    m.add("cmd", 4, cmd(0, 1, state="timeout", status=-110, latency=15 * SEC))
    m.add("cmd", 4, cmd(0, 2, op="reg-mr", latency=2 * SEC))
    m.add("cmd", 4, cmd(0, 3, op="create-cq", state="error", status=-5, **{"syndrome-raw": 9}))
    # Long ago, or of no account.
    m.add("cmd", 5, cmd(0, 1, state="timeout", time=1699999000 * SEC, status=-110))
    m.add("cmd", 5, cmd(0, 2, op="query-qpc", state="error", status=-5, **{"syndrome-raw": 3}))
    grown = {"tx-bps-limit-drops": 1, "rx-disabled-drops": 3, "qp-create-failures": 1,
             "tx-rnr-naks": 40, "retransmitted-packets": 500, "link-downs": 1, "retries-exceeded": 2}
    first = {"qp-create-failures": 0, "tx-rnr-naks": 5, "retransmitted-packets": 10,
             "link-downs": 2, "retries-exceeded": 3}
    row = m.add("counters", 4, counters(0, **first))
    for name, by in grown.items():
        row[name] += by * late
    m.add("counters", 6, counters(0), **{"tx-packets": 2000 + 1000 * late})
    row = m.add("counters", 7, counters(0), **{"hw-error": -22})
    for name in [n for n in row if n.startswith(("tx-", "rx-"))]:
        del row[name]
    m.add("counters", 5, counters(0), **({"rx-bytes": 3} if late else {}))
    # Nothing is heard of any more; the driver of the other one shows only what it counts.
    grown = {"tx-packets": 700, "retransmitted-packets": 500, "unresponsive-peers": 4,
             "impaired-peers": 2, "rx-drops": 60, "read-errors": 30}
    row = m.add("counters", 9, counters(0), **{"keep-alive-events": 200}, **{n: 5 for n in grown})
    for name, by in grown.items():
        row[name] += by * late
    row = m.add("counters", 10, {"port": 1, "hw-error": -5, "cmds-submitted": 40,
                                 "cmds-completed": 39, "cmds-timed-out": 1, "keep-alive-events": 90})


def ring(index, **more):
    return {**eqs(0)[2], "index": index, "eqn": index - 1, "vector": index - 1, "ci": 100,
            "interrupts": 90, "events": 100, **more}


def sick_rings(m, late):
    m.add("eq", 5, {**eqs(0)[0], "unknown": 1, "last-unknown-age": 3 * SEC})
    m.add("eq", 5, ring(2, **{"hw-overflow": 1}))
    m.add("eq", 5, ring(3, pending=1))
    m.add("eq", 5, ring(4, pending=3, interrupts=90 + late))
    m.add("eq", 5, ring(5, pending=4000, ci=100 + late))
    m.add("eq", 5, ring(6, interrupts=90 + 400 * late))
    m.add("eq", 5, ring(7, missed=3, **{"last-missed-age": 5 * SEC}))
    add = lambda cqn, **more: m.add("cq", 5, plain_cq(cqn, **more), age=(90 + 2 * late) * SEC)
    add(1, errors=1)
    add(2, user=0, ci=10, **{"hw-pi": 2000})
    add(3, eqn=99, **{"hw-pi": 42 + late})
    add(4, armed=0, **{"hw-pi": 42})
    add(5, events=20 + 50 * late, **{"notify-requests": 20 + 50 * late, "hw-pi": 41})
    add(6, events=9, **{"last-extra-age": 6 * SEC})
    # One QP, as old as the CQ, that has completed more than there is.
    add(7, ci=9, users=2, **{"hw-pi": 9})
    m.add("qp", 5, conn(7, **{"send-cqn": 7, "recv-cqn": 7}), age=(90 + 2 * late) * SEC)
    # The second one of 9 has no operation that there is; of 10, the number of another QP. Two
    # of 8 are of one request, and the second one of 11 cannot be seen.
    for cqn, cqes in ((9, (("write", 9), ("none", 9))), (10, (("write", 10), ("write", 9))),
                      (8, (("write", 8, 5), ("write", 8, 5))),
                      (11, (("write", 11), ("write", 11, None)))):
        add(cqn, ci=2, users=2, depth=16, **{"hw-pi": 2})
        m.add("qp", 5, conn(cqn, **{"send-cqn": cqn, "recv-cqn": cqn, "hw-send-cqes": 2,
                                    "hw-recv-cqes": 0}), age=(90 + 2 * late) * SEC)
        m.completions(5, cqn, 16, *cqes)


def sick_conns(m, late):
    def add(dev, qpn, **more):
        m.add("qp", dev, conn(qpn, **more), age=(100 + 2 * late) * SEC)

    # What arrives is asked for again and again: at both ends packets are counted.
    knock = {"hw-tx-packets": 50 + 20 * late}
    hear = {"hw-rx-packets": 60 + 20 * late}
    # The peer of 1 has posted no receive; the doorbells of 2 and 13 were lost.
    add(6, 1, port=1, **{"hw-sq-ci": 30}, **knock)
    add(6, 11, port=1, peer_side=True, **{"hw-rq-ci": 20}, **hear)
    add(6, 2, port=2, **{"hw-sq-pi": 38, "hw-sq-ci": 38})
    add(6, 3, port=3, **{"hw-sq-ci": 30}, **knock)
    add(6, 13, port=3, peer_side=True, **{"rq-pi": 25, "hw-rq-ci": 20}, **hear)
    # 10's receives are there and are not taken. 4 is held back: that the adapter has not looked
    # at the receives of its peer, 14, is as it should be, as nothing has arrived.
    add(6, 10, port=10, **{"hw-sq-ci": 30}, **knock)
    add(6, 20, port=10, peer_side=True, **hear)
    add(6, 4, port=4, **{"hw-sq-ci": 30})
    add(6, 14, port=4, peer_side=True, **{"rq-pi": 25, "hw-rq-ci": 20})
    add(6, 5, port=5, **{"hw-sq-ci": 30, "hw-rto-retrans": 5 + 8 * late})
    add(6, 6, port=6, state="err", events=1, **{
        **FACE.own_state("error"), "first-event": "qp-fatal", "hw-rq-ci": 20,
        "first-cause": "retries-exceeded", "first-event-age": 9 * SEC})
    # 6 gave up, and told the other end.
    add(6, 16, port=6, peer_side=True, state="err", events=1, **{
        **FACE.own_state("error"), "first-event": "qp-fatal", "hw-rq-ci": 20, "hw-rto-retrans": 0,
        "first-cause": "retries-exceeded", "first-event-age": 9 * SEC})
    add(6, 7, port=7, **{"hw-sq-ci": 20 + 2 * late})
    add(6, 8, port=8, **{"hw-rto-retrans": 5 + 80 * late, "hw-tx-packets": 50 + 900 * late})
    add(6, 9, port=9, **{"hw-rx-invalid-drops": 2 * late})
    add(7, 1, port=1, state="err", events=1, **{
        **FACE.own_state("terminate"), "first-event": "access-error", "hw-rq-ci": 20,
        "first-cause": "recv-access", "first-event-age": 3 * SEC})
    add(7, 2, port=2, state="err", events=1, **{**FACE.own_state("error"), "hw-error": -19})
    add(7, 3, port=3, state="err", **{**FACE.own_state("error"), "hw-sq-ci": 33, "state-age": 5 * SEC})
    row = conn(4, state="err")
    for name in ["events", *FACE.own_state("error"),
                 *(n for n in row if n.startswith("hw-"))]:
        del row[name]
    m.add("qp", 7, row, age=(100 + 2 * late) * SEC)


def guest_eq(index, role, **more):
    return {"index": index, "role": role, "eqn": index, "vector": index, "depth": 1024, "ci": 5,
            "pending": 0, "interrupts": 5, "events": 5, "family": FAMILY_NAME, **more}


def guest_cq(cqn, ci, pi, **more):
    return {"cqn": cqn, "depth": 16, "ci": ci, "eqn": 1, "armed": 0, "events": 3, "errors": 0, "users": 1,
            "user": 1, "hw-pi": pi, "made": pi, "family": FAMILY_NAME, **more}


def guest_qp(qpn, **more):
    return {"qpn": qpn, "type": "rc", "state": "rts", "send-cqn": 1, "recv-cqn": 1, "sq-depth": 64,
            "user": 1, "peer-addr": PEER, "events": 0, "backend-state": "rts", "waits-for": "nothing",
            "sq-pi": 40, "sq-ci": 40, "hw-sq-pi": 40, "hw-sq-ci": 40, "family": FAMILY_NAME, **more}


def sick_sides(m, late):
    m.rows["dev"][GUEST].update({
        **PROGRAM, "vmm-pid": 0, "lost-sessions": 1, "last-lost-session-age": 5 * SEC,
        "quota-refusals": 3, "last-quota-refusal-age": 4 * SEC, "pinned": 95 << 20, "max-pinned": 100 << 20})
    m.rows["dev"][GUEST + 1].update({**PROGRAM, "state": "dead", "backend-state": "gone"})
    m.add("cmdq", GUEST, {"index": 0, "state": "event", "family": FAMILY_NAME, "slow-registrations": 1,
                          "slowest-registration": SEC // 4, "last-slow-registration-age": 3 * SEC})
    m.add("eq", GUEST, guest_eq(0, "async", undelivered=2, **{"last-undelivered-age": 2 * SEC}))
    m.add("eq", GUEST, guest_eq(1, "completion", waiting=2))
    m.add("eq", GUEST, guest_eq(2, "admin", undelivered=1, **{"last-undelivered-age": 3 * SEC}))
    m.add("cq", GUEST, guest_cq(1, CQ_WRAP - 6, 6))
    m.add("cq", GUEST, guest_cq(2, 40, 40, made=CQ_WRAP + 41))
    m.add("qp", GUEST, guest_qp(1, **{"backend-state": "err"}))
    m.add("qp", GUEST, guest_qp(2, **{"hw-sq-ci": 38}))
    m.add("qp", GUEST + 1, guest_qp(1, **{"backend-state": "err"}))


def well_sides(m, late, dev):
    """Of a guest: faults of long ago, half a CQ that moves, and requests that take long."""
    old = (3600 + 2 * late) * SEC
    m.add("dev", dev, device(0), age=(100 + 2 * late) * SEC, **{
        **PROGRAM, "lost-sessions": 1, "last-lost-session-age": old, "quota-refusals": 3,
        "last-quota-refusal-age": old, "pinned": 50 << 20, "max-pinned": 100 << 20, "guest-memory": 1 << 30})
    # The guest's processes have no number here.
    m.add("ctx", dev, {"ctxn": 1, "qps": 3, "cqs": 3, "mrs": 1, "pds": 1, "family": FAMILY_NAME},
          age=(90 + 2 * late) * SEC)
    m.add("cmdq", dev, {"index": 0, "state": "event", "family": FAMILY_NAME, "slow-registrations": 1,
                        "slowest-registration": SEC // 4, "last-slow-registration-age": old})
    m.add("eq", dev, guest_eq(0, "async", undelivered=2, **{"last-undelivered-age": old}))
    m.add("eq", dev, guest_eq(1, "completion", waiting=3 * late))
    m.add("eq", dev, guest_eq(2, "admin", undelivered=1, **{"last-undelivered-age": old}))
    m.add("cq", dev, guest_cq(1, 0, 7))
    m.add("cq", dev, guest_cq(2, 20 + late, 32 + late))
    m.add("qp", dev, guest_qp(1, **{"backend-state": "err" if late else "rts"}))
    m.add("qp", dev, guest_qp(2, **{"hw-sq-ci": 38, "waits-for": "turn"}))
    m.add("qp", dev, guest_qp(3, **{"hw-sq-ci": 38 + late}))


def ports(m, dev, *rows):
    """Ports of a device, from number 1 on."""
    m.around.append(("port", [{**m.head(dev), "port": n, **row} for n, row in enumerate(rows, 1)]))


def around(m, dev, *, lost=0, pauses=0, health=(), counters=(), cgroups=(), unresolved=""):
    """What surrounds a device: its interface, its health reporters, counters of QPs, and control
    groups with limits for it."""
    head = m.head(dev)
    m.around += [part for part in (
        ("link", [{**head, "netdev": m.rows["dev"][dev].get("netdev", "eth0"), "state": "up", "downs": 1,
                   "rx-errors": 3, "rx-missed": 4 + lost, "rx-dropped": 900 + 40 * lost, "tx-errors": 0,
                   "rx-pauses": 70 + pauses, "pfc": "3", "rx-pfc": 12 + 3 * pauses,
                   "unresolved": unresolved}]),
        ("health", [{**head, "index": i, "reporter": name, "state": state, "errors": errors,
                     "recoveries": errors - (state == "error"), "auto-recover": 1}
                    for i, (name, state, errors) in enumerate(health)]),
        ("qp-counter", [{**head, "port": 1, "counter": number, "mode": "auto", "qpns": qpns,
                         "name": name, "value": value} for number, qpns, name, value in counters]),
        ("cgroup", [{**head, "index": i, "path": path, "own": 0, "handles": handles,
                     "max-handles": 2 if handles else 0, "objects": objects, "max-objects": 300}
                    for i, (path, handles, objects) in enumerate(cgroups)]))
                 if part[1]]


def on_tcp(pid, comm, moved, **more):
    """A process that has libibverbs loaded, and its TCP connections."""
    return {"pid": pid, "comm": comm, "libraries": "", "files": 0, "sockets": 2, "tx-bytes": 5000 + moved,
            "rx-bytes": 7000 + moved // 2, **more}


def fallback(code, clients, servers):
    """Connections of SMC sockets that are on TCP."""
    return {"code": code, "reason": code, "clients": clients, "servers": servers}


def smc(tcp):
    """Connections of SMC sockets: some use RDMA, the others do not."""
    return {"index": 0, "rdma-clients": 8, "rdma-servers": 3, "shared-clients": 0, "shared-servers": 0,
            "tcp-clients": tcp, "tcp-servers": 0, "client-errors": 0, "server-errors": 0,
            "tx-bytes": 1 << 30, "rx-bytes": 1 << 20}


def sick_links(m, late):
    m.around += [("smc", [smc(6 + late)]),
                 ("smc-fallback", [fallback(0x03030000, 2 + late, 0), fallback(0x03010000, 4, 0),
                                   fallback(0x030F1234, 1, 2)])]
    m.around.append(("verbs-user", [
        on_tcp(4810, "train", 900 * (1 << 20) * late, libraries="nccl"),
        on_tcp(4813, "survivor", 0, files=2, **{"removed-files": 1}),
        on_tcp(4814, "moved", 0, unmatched="NCCL_IB_HCA=mlx5_0 NCCL_IB_GID_INDEX=9"),
        on_tcp(4815, "mixed", 0, **{"verbs-copies": "/usr/lib/libibverbs.so.1.14 /opt/lib/libibverbs.so.1"})]))
    around(m, PEERS, lost=40 * late, pauses=500 * late, health=(("fw", "healthy", 2), ("tx", "error", 3)))
    ports(m, PEERS, {"state": "active", "netdev": "eth0"}, {"state": "down", "netdev": "eth1"},
          {"state": "init", "lid": 0, "sm-lid": 0})
    # A QP for whose peer, perhaps, there is no neighbour.
    m.add("qp", QUEUES, {"qpn": 30, "type": "rc", "state": "init", "pid": 4711, "comm": "ib_write_bw",
                         "family": FAMILY_NAME}, age=(100 + 2 * late) * SEC)
    around(m, QUEUES, unresolved="10.77.1.9 fe80::9", counters=(
        (1, "18 19", "out_of_sequence", 5 + 300 * late), (1, "18 19", "local_ack_timeout_err", 2),
        (2, "20", "out_of_sequence", 9), (2, "20", "rx_write_requests", 9 + 8 * late)),
           cgroups=(("/job.slice/job-1.scope", 1, 300), ("/job.slice/job-2.scope", 1, 290),
                    ("/job.slice/job-3.scope", 1, 200)))


def failure(seq, kind, cause, age, **more):
    """What a driver keeps of a failure; @age in seconds at the first moment."""
    return {**head(0), "seq": seq, "time": (1700000002 - age) * SEC, "age": age * SEC, "kind": kind,
            "cause": cause, "times": 1, **more}


def pinned(limit, used, ipc_lock=0):
    """What a process may pin, and has pinned, in KiB."""
    return {"memlock": limit << 10, "pinned": used << 10, "locked": 0, "ipc-lock": ipc_lock}


OF_JOB = {"pid": 4801, "comm": "ib_write_bw", "ended": 1}


def sick_failures(m, late):
    def add(dev, row):
        m.add("failure", dev, row, age=row["age"] + 2 * late * SEC)

    add(6, failure(1, "qp", "retries-exceeded", 40, id=400, **OF_JOB,
                   **{"syndrome-raw": 16, "async": "qp-fatal", "peer-addr": PEER, "peer-port": 4791}))
    add(6, failure(2, "qp", "retries-exceeded", 39, id=401, **OF_JOB))
    # Its number was given again.
    add(6, failure(3, "qp", "recv-access", 101, id=1, pid=4711, comm="ib_write_bw", ended=0))
    add(6, failure(4, "connection", "timeout", 20, id=9, error=-110, comm="[nvme_rdma]",
                   **{"peer-addr": PEER, "peer-port": 4420}))
    m.add("failure-total", 6, {"class": 16, "kind": "qp", "cause": "retries-exceeded", "count": 4096,
                               "last-time": 1699999963 * SEC, "last-age": 39 * SEC})
    add(7, failure(1, "device", "adapter-reset", 60))
    add(7, failure(2, "qp", "adapter-reset", 60, id=402, **OF_JOB))
    add(7, failure(3, "cq", "overrun", 31, id=77, **OF_JOB, **{"async": "cq-error"}))
    # A process that was stopped; its second QP is listed beside the first.
    for qpn in (50, 51):
        m.add("qp", 7, conn(qpn, port=50 + qpn, pid=4802, comm="rping"), age=(100 + 2 * late) * SEC)
    m.processes[4802] = {"state": "stopped", "wchan": "do_signal_stop", "frozen": 0,
                         "cgroup": "/user.slice/session-1.scope", **pinned(8192, 8190),
                         "open-files": 1024, "max-open-files": 1024}
    m.processes[4711] = {"state": "sleeping", "frozen": 0, "cgroup": "/system.slice/job.service",
                         **pinned(8192, 4096)}
    m.add("ctx", 7, ctx(0), ctxn=1, pid=4802, comm="rping")


def links(cap, devices):
    """By what devices are reached, as files of a machine have it."""
    for i, (index, name) in enumerate(devices):
        dev = {"dev-index": index, "dev-name": name, "netdev": f"eth{i}"}
        cap.local("dev", {**dev, "addresses": f"10.77.{i}.1/24 fe80::5054:ff:feed:a0{i:02x}/64"},
                  want=["addresses"])
        cap.local("dev", {**dev, "link-speed": 25 * 10 ** 9, "pcie-speed": "8.0 GT/s PCIe",
                          "pcie-width": 8, "pcie-max-width": 16,
                          "gids": f"0=fe80::5054:ff:feed:a0{i:02x} 1=::ffff:10.77.{i}.1",
                          "gid-index": 1, "gid-others": "0=same-link"},
                  want=["link-speed"])
        cap.local("link", {**dev, "state": "up", "downs": 1, "rx-errors": 0, "rx-missed": 0,
                           "rx-dropped": 12, "tx-errors": 0, "tx-dropped": 0, "pause-auto": 0,
                           "pause-rx": 1, "pause-tx": 0, "rx-pauses": 40, "tx-pauses": 0, "pfc": "",
                           "rx-pfc": 0, "tx-pfc": 0})
        cap.local("gid", *({"dev-index": index, "dev-name": name, "port": 1, "gid-index": n,
                            "gid": ipaddress.ip_address(gid).packed, "type": "RoCE v2",
                            "netdev": f"eth{i}", "namespace": "this", "scope": scope, "usable": use}
                           for n, (gid, scope, use) in enumerate((
                               (f"fe80::5054:ff:feed:a0{i:02x}", "link-local", "same-link"),
                               (f"::ffff:10.77.{i}.1", "ipv4", "best")))))


def sick():
    cap = Capture()
    cap.local("machine", {"kernel": "6.12.0-test", "host-pids": 1})
    for late in range(2):
        m = Machine(SICK)
        for part in (sick_devices, sick_cmdqs, sick_rings, sick_conns, sick_sides, sick_failures,
                     sick_links):
            part(m, late)
        m.write(cap, late)
    return cap


def well():
    """What a rule might mistake for a fault."""
    cap = Capture()
    cap.local("machine", {"kernel": "6.12.0-test", "host-pids": 1})
    for late in range(2):
        m = Machine(["cloud_0", "idle", "guest"])
        for dev in range(2):
            m.add("dev", dev, device(0), age=(100 + 2 * late) * SEC,
                  **{"netdev-mac": device(0)["mac"]})
            m.add("cmdq", dev, cmdq(0, outstanding=1, **{"oldest-age": SEC // 50}))
            m.add("ctx", dev, ctx(0))
        m.rows["dev"][1].update({"port-state": "down", "qps": 0, "ctxs": 0})
        well_sides(m, late, 2)
        # A few losses and pauses, packets that no protocol wants, faults that are over.
        around(m, 0, lost=6 * late, pauses=100 * late, unresolved="10.77.1.9", health=(("fw", "healthy", 7 + late),),
               cgroups=(("/denied", 0, 0), ("/job", 1, 269)))
        # The subnet manager has ended; the port works without it.
        ports(m, 0, {"state": "active", "netdev": "eth0"}, {"state": "active", "lid": 4, "sm-lid": 0})
        # Busy with QPs, beside its connections for control; idle; and with little to say.
        m.around.append(("verbs-user", [
            on_tcp(4711, "ib_write_bw", 900 * (1 << 20) * late, files=1), on_tcp(4811, "idle", 0),
            on_tcp(4812, "little", 9000 * late, files=2, unmatched="", **{"removed-files": 0})]))
        # Connections of SMC sockets to programs that have none.
        m.around += [("smc", [smc(40 + late)]), ("smc-fallback", [fallback(0x03010000, 40 + late, 0)])]
        # A destroy that was refused keeps some memory; the adapter serves.
        m.rows["dev"][0].update({"orphans": 1, "orphan-bytes": 4096})
        wrap = (1 << 64) - 500
        # A sender who is answered, with peers that went away in an earlier job, and signs of
        # life every other second.
        m.add("counters", 0, counters(0), **{"tx-packets": (wrap + 66436 * late) % (1 << 64),
                                             "retransmitted-packets": 40 + late,
                                             "unresponsive-peers": 7, "impaired-peers": 3,
                                             "rx-drops": 20 + 5 * late, "read-errors": 2,
                                             "cmds-timed-out": 1, "ah-create-failures": 1, "retries-exceeded": 2,
                                             "keep-alive-events": 50})
        m.add("eq", 0, ring(2, pending=3, ci=100 + 40 * late, interrupts=90 + 9 * late))
        m.add("eq", 0, ring(3, pending=late))
        # History.
        m.add("eq", 0, {**eqs(0)[0], "unknown": 1, "last-unknown-age": (3600 + 2 * late) * SEC})
        m.add("eq", 0, ring(4, missed=3, **{"last-missed-age": (3600 + 2 * late) * SEC}))
        m.rows["cmdq"][0].update({"spurious": 2, "last-spurious-age": (3600 + 2 * late) * SEC})
        add = lambda cqn, **more: m.add("cq", 0, plain_cq(cqn, **more),
                                        age=(90 + 2 * late) * SEC)
        # Polled only; armed and served; solicited only; one that waits for nothing.
        add(1, channel=0, armed=0, users=1, **{"hw-pi": 99})
        add(2, events=6 + 9 * late, **{"notify-requests": 7 + 9 * late, "ci": 40 + 5 * late,
                                       "hw-pi": 41 + 5 * late})
        add(3, solicited=1, **{"hw-pi": 44})
        add(4)
        # Other QPs have completed to it before.
        add(5, users=2, ci=70, depth=64, **{"hw-pi": 70})
        n = lambda qpn, **more: m.add("qp", 0, conn(qpn, **more), age=(60 + 2 * late) * SEC)
        n(1, port=1, **{"send-cqn": 5, "recv-cqn": 5})
        m.completions(0, 5, 64, *[("write", 77)] * 50 + [("send", 1)] * 20)
        # Told of each, content to look later: its QP gets on.
        add(7, users=2, ci=0, events=20 + 30 * late, **{"hw-pi": 10,
                                                        "notify-requests": 21 + 30 * late})
        n(7, port=7, **{"send-cqn": 7, "recv-cqn": 7, "hw-send-cqes": 5, "hw-recv-cqes": 5 + 400 * late,
                        "hw-rq-ci": 5 + 400 * late})
        # Asked for again and again, with an event now and then.
        add(8, events=52553, users=1, **{"notify-requests": 52705})
        add(9, events=9, **{"last-extra-age": (3600 + 2 * late) * SEC})
        # So many that the difference looks like the opposite in 16 bits.
        add(6, users=2, ci=42430, depth=4096, **{"hw-pi": 42430})
        n(6, port=6, **{"send-cqn": 6, "recv-cqn": 6, "hw-send-cqes": 1380, "hw-recv-cqes": 0})
        # Sends much, to one who has no receive because nobody sends to it.
        n(2, port=2, **{"hw-sq-ci": (WRAP - 36 + 300 * late) % WRAP, "sq-pi": (WRAP - 6 + 300 * late) % WRAP,
                        "hw-sq-pi": (WRAP - 16 + 300 * late) % WRAP, "hw-send-cqes": 9 + 80 * late,
                        "hw-tx-packets": 50 + 4000 * late, "hw-rto-retrans": 5 + 9 * late})
        # Many more than its counter of 16 bits tells, so that few were sent again.
        n(8, port=8, **{"hw-tx-packets": 50 + 900 * late, "hw-rto-retrans": 5 + 80 * late})
        n(12, port=2, peer_side=True, **{"hw-rq-ci": 20})
        # A receiver that posts late: what is sent waits for it now and then.
        n(10, port=10, **{"sq-pi": 44 + 4 * late, "hw-sq-pi": 44 + 4 * late, "hw-sq-ci": 40 + 4 * late,
                          "hw-send-cqes": 7 + late, "hw-tx-packets": 50 + 12 * late})
        n(11, port=10, peer_side=True, **{"rq-pi": 10 + late, "hw-rq-pi": 10 + late, "hw-rq-ci": 10 + late,
                                          "hw-recv-cqes": 3 + late, "hw-rx-packets": 60 + 12 * late})
        # Receives are heard of when something arrives; a closed one is drained.
        n(3, port=3, **{"rq-pi": 90})
        n(4, port=4, state="err", **{**FACE.own_state("closing"), "hw-rq-ci": 20})
        # Their numbers were given anew: nothing to compare with.
        m.add("qp", 0, conn(5, port=5, **{"hw-sq-ci": 30}), age=SEC if late else 50 * SEC)
        m.add("qp", 0, conn(9, port=9, **{"hw-sq-ci": 30}), age=(9 if late else 1) * SEC // 10)
        # Past failures that explain nothing: long ago, an answer of the peer, and one that was
        # made up for; one of a QP that is there has its own verdict, if it has one.
        past = lambda *row, **more: m.add("failure", 0, failure(*row, **more))
        past(1, "qp", "retries-exceeded", 700, id=300, **OF_JOB)
        past(2, "connection", "rejected", 20, id=1, error=-104, **OF_JOB,
             **{"peer-addr": PEER, "peer-port": 99})
        past(3, "connection", "refused", 20, id=2, error=-111, **OF_JOB,
             **{"peer-addr": PEER, "peer-port": 99})
        past(4, "connection", "timeout", 20, id=3, error=-110, **OF_JOB,
             **{"peer-addr": PEER, "peer-port": 1})
        past(5, "command", "refused", 20, id=77, op="dereg-mr", error=-5)
        # In the kernel at one sample, and asleep at the other. Beyond its limit of pinned memory,
        # which a capability lifts.
        m.processes[4711] = {"frozen": 0, "cgroup": "/job", **pinned(64, 8192, ipc_lock=1),
                             "open-files": 1024, "max-open-files": 1048576, **(
            {"state": "running"} if late else
            {"state": "uninterruptible", "wchan": "folio_wait_bit"})}
        m.write(cap, late)
    return cap


def foreign():
    """A device of another vendor: RDMA netlink, counters of sysfs, limits of libibverbs."""
    cap = Capture()
    cap.local("machine", {"kernel": "6.1.0-test"})
    cap.snapshot(0)
    cap.family(False)
    cap.rdma_devices([(0, "mlx5_0", 1)])
    me = {"dev-index": 0, "dev-name": "mlx5_0"}
    cap.local("port-counter", *({**me, "port": 1, "name": name, "value": value} for name, value in (
        ("port_xmit_data", 1000), ("port_rcv_data", 2000), ("port_xmit_packets", 30),
        ("port_rcv_packets", 40), ("link_downed", 2), ("symbol_error", 5),
        ("port_xmit_discards", 6), ("port_xmit_wait", 7))))
    cap.local("dev", {**me, "driver": "mlx5_core"}, want=["driver"])
    cap.local("dev", {**me, "vendor-id": 713, "part-id": 4123, "hw-version": 0, "max-qp": 131072,
                      "max-cq": 16777216, "max-mr": 16777216, "max-cqe": 4194303}, want=["max-qp"])
    one = cap.attr(1, cap.pack("I", 0)) + cap.attr(3, cap.pack("I", 1))
    # A port, what is in use, and the counters of RDMA netlink.
    answers = {5: cap.attr(12, b"\x04") + cap.attr(51, b"ens1\0"), 9: b""}
    entries = b"".join(cap.attr(81, cap.attr(82, name.encode() + b"\0") +
                                cap.attr(83, cap.pack("Q", value)))
                       for name, value in (("rx_write_requests", 11), ("out_of_sequence", 12),
                                           ("np_ecn_marked_roce_packets", 13)))
    answers[17] = one + cap.attr(80, entries)
    for cmd, body in answers.items():
        kind = 5 << 10 | cmd
        seq = cap.request(20, kind, one if cmd != 9 else cap.attr(1, cap.pack("I", 0)), False)
        cap.packet(20, cap.message(kind, 0, seq, body))
    return cap


def stock(order="<"):
    """Stock drivers whose devices hang below nothing, and their connections."""
    cap = Capture(order)
    cap.local("machine", {"kernel": "6.12.0-test"})
    cap.comm(99, "rping")
    cap.comm(100, "server")
    cap.snapshot(0)
    cap.family(False)
    devices = [(0, "rocep1", 1), (1, "vmw0", 1), (2, "siw0", 1), (3, "siw1", 1),
               (4, "alien0", 1), (5, "gone0", 1)]
    cap.rdma_devices(devices)
    any4, any6 = ("0.0.0.0", 7174), ("::", 7174)
    local, peer = ("10.77.0.1", 7174), ("10.77.1.1", 40001)
    ib = cap.pack("H", 27) + bytes(126)
    connections = {
        0: [cm_id(cap, 1, 8, 99, any4, ("0.0.0.0", 0)), cm_id(cap, 2, 8, "nvmet_rdma", any6),
            cm_id(cap, 3, 5, 99, local, peer, 17), cm_id(cap, 4, 5, 99, ("2001:db8::1", 7174),
                                                         ("2001:db8::2", 40002), 18),
            cm_id(cap, 5, 6, 99, local, ("10.77.1.1", 40003), 19),
            cm_id(cap, 6, 5, "nvme_rdma", ("10.77.0.1", 40009), ("10.77.1.1", 4420), 20),
            # Two of one QP; datagrams; InfiniBand's own addresses; a QP that is not connected.
            cm_id(cap, 7, 5, 100, local, ("10.77.1.1", 40004), 21),
            cm_id(cap, 8, 5, 100, local, ("10.77.1.1", 40005), 21),
            cm_id(cap, 9, 5, 100, local, ("10.77.1.1", 40006), 22, ps=0x111),
            cm_id(cap, 10, 5, 100, ib, ib, 23, ps=0x13F),
            cm_id(cap, 11, 5, 100, local, ("10.77.1.1", 40007), 24),
            # On the way, and what is new.
            cm_id(cap, 12, 2, 100, ("10.77.0.1", 40010), ("10.77.1.1", 4420)),
            cm_id(cap, 13, 7, 100, ("10.77.0.1", 40011), ("0.0.0.0", 0)),
            cm_id(cap, 14, 77, 100, local, ps=0x999)],
        1: [], 2: [cm_id(cap, 1, 5, 99, peer, local, 17)], 3: [], 4: [], 5: []}
    queues = {0: [rdma_qp(cap, 1, 3, "ib_core", 1), *(rdma_qp(cap, n, 3, 99) for n in (17, 18)),
                  rdma_qp(cap, 19, 6, 99), rdma_qp(cap, 20, 3, "nvme_rdma"),
                  *(rdma_qp(cap, n, 3, 100) for n in (21, 22, 23)), rdma_qp(cap, 24, 1, 100)],
              1: [], 2: [rdma_qp(cap, 17, 3, 99)], 3: [], 4: [], 5: []}
    shared = {0: [rdma_srq(cap, 3, 0, "nvmet_rdma", qps=(17, (19, 21), 24)),
                  rdma_srq(cap, 4, 1, 99, cqn=7), rdma_srq(cap, 5, 0, 99, qps=(18,))]}
    for cmd, table, rows in ((11, 30, connections), (10, 19, queues),
                             (23, 88, {i: shared.get(i, []) for i, _, _ in devices})):
        for index, entries in rows.items():
            kind = 5 << 10 | cmd
            one = cap.attr(1, cap.pack("I", index))
            seq = cap.request(20, kind, one, True)
            nest = cap.attr(table, b"".join(cap.attr(table + 1, entry) for entry in entries))
            cap.packet(20, (cap.message(kind, 2, seq, one + nest) if entries else b"") +
                       cap.done(seq))
    # Numbers of their drivers, and what is loaded.
    for (index, name, _), driver in zip(devices, (None, 10, 18, 18, 0x7777, 17)):
        if index == 0:
            cap.local("dev", {"dev-index": index, "dev-name": name, "driver": "mlx5_core",
                              "bus-addr": "0000:01:00.0"}, want=["driver"])
            cap.local("dev", {"dev-index": index, "dev-name": name, "max-qp": 131072,
                              "active-mtu": 1024, "max-mtu": 4096}, want=["max-qp"])
            cap.local("setup", {"dev-index": index, "dev-name": name, "netdev": "ens1",
                                "netdev-mtu": 1500, "subnet": ""})
            continue
        cap.local("setup", {"dev-index": index, "dev-name": name, "uverbs": f"uverbs{index}"},
                  want=["uverbs"])
        kind = 5 << 10 | 15
        one = cap.attr(1, cap.pack("I", index))
        seq = cap.request(20, kind, one + cap.attr(69, b"uverbs\0"), False)
        cap.packet(20, cap.message(kind, 0, seq, one + cap.attr(70, b"uverbs\x30\0") +
                                   cap.attr(71, cap.pack("Q", 1)) +
                                   cap.attr(73, cap.pack("I", driver))))
    cap.module("vmw_pvrdma", functions="0000:00:07.0")
    cap.module("siw", functions="")
    for index, name, _ in devices:
        one = cap.attr(1, cap.pack("I", index))
        port = cap.attr(12, b"\x04") + (b"" if index else cap.attr(51, b"ens1\0"))
        for cmd, body in ((5, port), (9, b"")):
            kind = 5 << 10 | cmd
            ask = one + cap.attr(3, cap.pack("I", 1)) if cmd == 5 else one
            seq = cap.request(20, kind, ask, False)
            cap.packet(20, cap.message(kind, 0, seq, body))
    return cap


def main():
    folder = sys.argv[1]
    two().write(f"{folder}/two.pcapng")
    two(">").write(f"{folder}/two-be.pcapng")
    dead().write(f"{folder}/dead.pcapng")
    moments().write(f"{folder}/moments.pcapng")
    busy().write(f"{folder}/busy.pcapng")
    jobs().write(f"{folder}/jobs.pcapng")
    events().write(f"{folder}/events.pcapng")
    foreign().write(f"{folder}/foreign.pcapng")
    stock().write(f"{folder}/stock.pcapng")
    stock(">").write(f"{folder}/stock-be.pcapng")
    sick().write(f"{folder}/sick.pcapng")
    well().write(f"{folder}/well.pcapng")


if __name__ == "__main__":
    main()
