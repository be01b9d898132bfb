# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of stock drivers, for tests that judge their counters and QPs."""

from nlcap import Capture
from nldev import rdma_qp
from synth import SEC

DEVICE = "rxe0"
PID = 99


def entries(cap, values):
    """What "rdma statistic" has of a port."""
    return cap.attr(80, b"".join(cap.attr(81, cap.attr(82, name.encode() + b"\0") +
                                          cap.attr(83, cap.pack("Q", value)))
                                 for name, value in values))


def counters(cap, values):
    """Of port 1 of the first device."""
    one = cap.attr(1, cap.pack("I", 0)) + cap.attr(3, cap.pack("I", 1))
    return {17: one + entries(cap, values), 5: cap.attr(12, b"\x04"), 9: b""}


def traffic(samples, qps):
    """Samples of packets sent, packets received and repeated requests, a second apart;
    connected QPs from number 17 on."""
    cap = Capture()
    cap.comm(PID, "ib_send_bw")
    for number, (sent, received, again) in enumerate(samples):
        cap.time = 1700000000 * SEC + number * SEC
        cap.snapshot(number)
        cap.family(False)
        cap.rdma_devices([(0, DEVICE, 1)])
        cap.local("setup", {"dev-index": 0, "dev-name": DEVICE, "uverbs": "uverbs0"},
                  want=["uverbs"])
        answers = counters(cap, (("sent_pkts", sent), ("rcvd_pkts", received),
                                 ("completer_retry_err", again)))
        for cmd, body in answers.items():
            kind = 5 << 10 | cmd
            ask = cap.attr(1, cap.pack("I", 0))
            seq = cap.request(20, kind, ask + (cap.attr(3, cap.pack("I", 1)) if cmd != 9 else b""),
                              False)
            cap.packet(20, cap.message(kind, 0, seq, body))
        kind = 5 << 10 | 10
        one = cap.attr(1, cap.pack("I", 0))
        seq = cap.request(20, kind, one, True)
        rows = [rdma_qp(cap, 1, 3, "ib_core", 1),
                *(rdma_qp(cap, 17 + n, 3, PID) for n in range(qps))]
        nest = cap.attr(19, b"".join(cap.attr(20, row) for row in rows))
        cap.packet(20, cap.message(kind, 2, seq, one + nest) + cap.done(seq))
    return cap


def qp(qpn, who=PID, state=3, kind=2, **more):
    """Connected and able to send, unless said otherwise."""
    return {"qpn": qpn, "who": who, "state": state, "kind": kind, **more}


def adapter(*ports, name="mlx5_0", index=0, driver="mlx5_core", qps=(qp(17, peer=77),)):
    """Its ports are named values of the driver's counters."""
    return {"index": index, "name": name, "driver": driver, "ports": ports, "qps": qps}


def add_adapter(cap, dev):
    me = {"dev-index": dev["index"], "dev-name": dev["name"]}
    one = cap.attr(1, cap.pack("I", dev["index"]))

    def answer(cmd, ask, body, dump=False):
        kind = 5 << 10 | cmd
        seq = cap.request(20, kind, ask, dump)
        cap.packet(20, cap.message(kind, 2 if dump else 0, seq, ask + body) +
                   (cap.done(seq) if dump else b""))

    cap.local("dev", {**me, "driver": dev["driver"]}, want=["driver"])
    for number, values in enumerate(dev["ports"], 1):
        port = one + cap.attr(3, cap.pack("I", number))
        answer(5, port, cap.attr(12, b"\x04"))
        answer(17, port, entries(cap, values.items()))
    answer(9, one, b"")
    answer(10, one, cap.attr(19, b"".join(cap.attr(20, rdma_qp(cap, **row))
                                          for row in dev["qps"])), True)


def judged(path, *samples, seconds=2, names=None):
    """Samples of adapters, and the names of their processes."""
    cap = Capture()
    for pid, name in (names or {PID: "job"}).items():
        cap.comm(pid, name)
    for number, adapters in enumerate(samples):
        cap.time = 1700000000 * SEC + number * seconds * SEC
        cap.snapshot(number)
        cap.family(False)
        cap.rdma_devices([(dev["index"], dev["name"], len(dev["ports"])) for dev in adapters])
        for dev in adapters:
            add_adapter(cap, dev)
    cap.write(path)


def grown(path, *ports, **more):
    """Two samples of an adapter whose ports' counters grow by these values."""
    judged(path, *([adapter(*({name: 1000 + n * value for name, value in port.items()}
                              for port in ports), **more)] for n in range(2)))
