# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures for the exporter's tests."""

import errno
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, f"{HERE}/../captures")

import synth  # noqa: E402
from nlcap import RDMA, Capture  # noqa: E402
from nldev import rdma_qp  # noqa: E402

SEC = synth.SEC


def sample(field, number):
    """Some value of a field's type."""
    kind = field["type"]
    if kind == "string":
        return f"text{number}"
    if kind == "binary":
        length = field["x-view"]["len"]
        return bytes([number % 250 + 1] * (4 if field["x-view"].get("form") == "ip"
                                            else length))
    return 1 if field.get("enum") else number


def full(path):
    """A device that has every field of every object that is exported."""
    cap = Capture()
    cap.snapshot(0)
    cap.family()
    cap.rdma_devices([(0, "cloud_0", 1)])
    for obj in ("dev", "cmdq", "eq", "cmd", "counters", "qp", "cq", "mr", "pd", "ctx"):
        row = {}
        for name, (number, field) in cap.spec.sets[obj].items():
            view = field.get("x-view", {})
            hw = view.get("hw") and obj != "counters"
            if not field.get("x-request") and not hw and name != "hw-error":
                row[name] = sample(field, number)
        row.update({"dev-index": 0, "dev-name": "cloud_0"})
        cap.dump(obj, [row], hw=obj == "counters")
    cap.write(path)


def recorder(path):
    """Four moments of a flight recorder: commands end, are lost, begin anew."""
    cap = Capture()
    steps = [
        [(7, "done", 20000), (8, "pending", 0)],
        [(7, "done", 20000), (8, "timeout", 15 * SEC), (9, "done", 200000000, "destroy-qp"),
         (10, "pending", 0)],
        # The one that was waited for was overwritten, too.
        [(20, "done", 20000)],
        [(1, "done", 20000)],
    ]
    for moment, rows in enumerate(steps):
        cap.snapshot(moment)
        cap.family()
        cap.rdma_devices([(0, "cloud_0", 1)])
        device = synth.device(0)
        # In the last one the driver was loaded anew.
        device["age"] = SEC if moment == 3 else (100 + moment) * SEC
        cap.dump("dev", [device])
        cap.dump("cmd", [synth.cmd(0, seq, state=state, latency=latency,
                                   **({"op": op[0]} if op else {}))
                         for seq, state, latency, *op in rows])
    cap.write(path)


def remade(path):
    """Three looks, an hour apart, at a device that was made anew after the first
    one and is older at the second one than it was then."""
    cap = Capture()
    for moment, (age, seqs) in enumerate(((60, (1, 2)), (1800, (1,)), (5400, (1, 2, 3)))):
        cap.snapshot(moment)
        cap.family()
        cap.rdma_devices([(0, "cloud_0", 1)])
        cap.dump("dev", [{**synth.device(0), "age": age * SEC}])
        cap.dump("cmd", [synth.cmd(0, seq) for seq in seqs])
        cap.time += 3600 * SEC
    cap.write(path)


def stock(path, looks):
    """Looks, a minute apart, at a device of a stock driver: its index, the age of the probe in
    seconds, and the numbers and states of the records."""
    cap = Capture()
    cap.local("machine", {"kernel": "6.12.0-test", "host-pids": 1})
    for moment, (index, age, rows) in enumerate(looks):
        device = {"dev-index": index, "dev-name": "rocep1"}
        cap.time += 60 * SEC
        cap.snapshot(moment)
        cap.local("probe", {"index": 0, "state": "running", "age": age * SEC})
        cap.family(False)
        cap.rdma_devices([(index, "rocep1", 1)])
        cap.local("cmd", *({**device, "time": cap.time - SEC, "op": "reg-mr", "state": state,
                            "latency": 50000, "function": "ib_uverbs_reg_mr",
                            "family": "verbs", "seq": seq} for seq, state in rows))
        cap.local("dev", {**device, "driver": "mlx5_core"}, want=["driver"])
        cap.local("dev", {**device, "max-qp": 1024}, want=["max-qp"])
        # What RDMA netlink has of the device and its port.
        one = cap.attr(1, cap.pack("I", index))
        for cmd, ask, body in ((5, one + cap.attr(3, cap.pack("I", 1)), cap.attr(12, b"\x04")),
                               (9, one, b"")):
            seq = cap.request(RDMA, 5 << 10 | cmd, ask, False)
            cap.packet(RDMA, cap.message(5 << 10 | cmd, 0, seq, body))
    cap.write(path)


def renumbered(folder):
    """Numbers of records start from 1 again, with the probe or with the device."""
    def done(first, last):
        return [(seq, "done") for seq in range(first, last + 1)]

    failed = [(seq, "error") for seq in (1, 2)]
    stock(f"{folder}/probe-restart.pcapng",
          [(0, 3600, done(1, 30)), (0, 3660, done(1, 31)), (0, 5, failed),
           (0, 65, failed + done(3, 40)), (0, 20, done(11, 50)), (0, 80, done(11, 51))])
    stock(f"{folder}/device-recreated.pcapng",
          [(0, 3600, done(1, 30)), (1, 3660, failed), (1, 3720, failed + done(3, 40))])
    stock(f"{folder}/first-record.pcapng", [(0, 60, []), (0, 120, done(1, 2))])


def failed_port(path, error):
    """A device of a stock driver with two ports; the counters of one cannot be read."""
    cap = Capture()
    cap.snapshot(0)
    cap.family(False)
    cap.rdma_devices([(0, "mlx5_0", 2)])
    device = {"dev-index": 0, "dev-name": "mlx5_0"}
    cap.local("dev", {**device, "driver": "mlx5_core"}, want=["driver"])
    cap.local("dev", {**device, "max-qp": 1024}, want=["max-qp"])
    one = cap.attr(1, cap.pack("I", 0))
    counter = cap.attr(81, cap.attr(82, b"rx_write_requests\0") +
                       cap.attr(83, cap.pack("Q", 7)))
    active = cap.attr(12, b"\x04")
    for cmd, port, body in ((9, 0, b""), (5, 1, active), (5, 2, active),
                            (17, 1, cap.attr(80, counter)), (17, 2, None)):
        ask = one + (cap.attr(3, cap.pack("I", port)) if port else b"")
        seq = cap.request(RDMA, 5 << 10 | cmd, ask, False)
        cap.packet(RDMA, cap.error(seq, error) if body is None else
                   cap.message(5 << 10 | cmd, 0, seq, ask + body))
    cap.write(path)


def special_qps(path):
    """QP 1 of each port of a device of a stock driver, and a QP that has no port yet."""
    cap = Capture()
    cap.snapshot(0)
    cap.family(False)
    cap.rdma_devices([(0, "mlx5_0", 2)])
    one = cap.attr(1, cap.pack("I", 0))
    entries = b"".join(
        cap.attr(20, rdma_qp(cap, qpn, 3, "ib_core", kind) +
                 (cap.attr(3, cap.pack("I", port)) if port else b""))
        for qpn, kind, port in ((1, 1, 1), (1, 1, 2), (17, 2, None)))
    seq = cap.request(RDMA, 5 << 10 | 10, one, True)
    cap.packet(RDMA, cap.message(5 << 10 | 10, 2, seq, one + cap.attr(19, entries)) + cap.done(seq))
    cap.write(path)


def lists(folder):
    """More devices than are read; a list that cannot be read the second time."""
    cap = Capture()
    cap.snapshot(0)
    cap.family(False)
    cap.rdma_devices([(n, f"mlx5_{n}", 1) for n in range(300)])
    cap.write(f"{folder}/many-devices.pcapng")
    cap = Capture()
    for moment in range(2):
        cap.snapshot(moment)
        cap.family(False)
        if not moment:
            cap.rdma_devices([(0, "mlx5_0", 1)])
            continue
        seq = cap.request(RDMA, 5 << 10 | 1, b"", True)
        cap.packet(RDMA, cap.error(seq, -errno.EIO))
    cap.write(f"{folder}/lost-list.pcapng")


def odd(path):
    """Processes whose names differ in what is no UTF-8, or far behind, only."""
    cap = Capture()
    cap.snapshot(0)
    cap.family()
    cap.rdma_devices([(0, "cloud_0", 1)])
    cap.dump("dev", [synth.device(0)])
    cap.dump("qp", [synth.qp(0, 10 + n, comm=comm) for n, comm in enumerate(
        ("odd\1", "odd\2", 70 * "x" + "1", 70 * "x" + "2"))])
    cap.data = cap.data.replace(b"odd\1", b"odd\xfe").replace(b"odd\2", b"odd\xff")
    cap.write(path)


POD, CONTAINERS = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", ("ab" * 32, "cd" * 32)


def pods(path):
    """Processes of one name in two containers of a pod and outside of any, one that has ended
    since, and the kernel itself."""
    cap = Capture()
    cap.snapshot(0)
    cap.family()
    cap.rdma_devices([(0, "cloud_0", 1)])
    cap.dump("dev", [synth.device(0)])
    rows = [synth.qp(0, 10 + n, pid=pid, comm="job")
            for n, pid in enumerate((101, 101, 102, 103, 104))]
    rows.append(synth.qp(0, 20, comm="[nvme]"))
    del rows[-1]["pid"]
    cap.dump("qp", rows)
    for pid, more in ((101, {"pod": POD, "container": CONTAINERS[0]}),
                      (102, {"pod": POD, "container": CONTAINERS[1]}), (103, {})):
        cap.local("process", {"pid": pid, "comm": "job", "state": "sleeping", "frozen": 0,
                              "cgroup": "/x", **more})
    cap.write(path)


def one_process(path, name):
    """A queue pair of a process of this name."""
    cap = Capture()
    cap.snapshot(0)
    cap.family()
    cap.rdma_devices([(0, "cloud_0", 1)])
    cap.dump("dev", [synth.device(0)])
    cap.dump("qp", [synth.qp(0, 10, comm=name)])
    cap.write(path)


def make(folder):
    subprocess.run([sys.executable, "-B", f"{HERE}/../captures/synth.py", folder],
                   check=True)
    subprocess.run([sys.executable, "-B", f"{HERE}/../captures/many.py", "5000",
                    f"{folder}/many.pcapng"], check=True)
    full(f"{folder}/full.pcapng")
    recorder(f"{folder}/recorder.pcapng")
    remade(f"{folder}/remade.pcapng")
    renumbered(folder)
    lists(folder)
    special_qps(f"{folder}/special-qps.pcapng")
    failed_port(f"{folder}/failed-port.pcapng", -errno.EIO)
    failed_port(f"{folder}/odd-port.pcapng", -errno.EOPNOTSUPP)
    odd(f"{folder}/odd.pcapng")
    pods(f"{folder}/pods.pcapng")
