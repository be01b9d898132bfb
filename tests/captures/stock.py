# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of rdma_rxe, a stock driver, with traffic of one process, for tests that judge it."""

from nlcap import Capture
from nldev import rdma_qp
from synth import SEC

DEVICE = "rxe0"
PID = 99


def counters(cap, values):
    """What "rdma statistic" has of port 1."""
    one = cap.attr(1, cap.pack("I", 0)) + cap.attr(3, cap.pack("I", 1))
    entries = b"".join(cap.attr(81, cap.attr(82, name.encode() + b"\0") +
                                cap.attr(83, cap.pack("Q", value))) for name, value in values)
    return {17: one + cap.attr(80, entries), 5: cap.attr(12, b"\x04"), 9: b""}


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
        entries = [rdma_qp(cap, 1, 3, "ib_core", 1),
                   *(rdma_qp(cap, 17 + n, 3, PID) for n in range(qps))]
        nest = cap.attr(19, b"".join(cap.attr(20, entry) for entry in entries))
        cap.packet(20, cap.message(kind, 2, seq, one + nest) + cap.done(seq))
    return cap
