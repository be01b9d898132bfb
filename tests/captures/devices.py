#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes captures of many devices, or of devices that go and come:
devices.py FILE N[,N...] [NAME], a snapshot with N devices each."""

import sys

from nlcap import Capture
from synth import SEC, counters, device, qp


def main():
    path, steps = sys.argv[1], [int(n) for n in sys.argv[2].split(",")]
    name = sys.argv[3] if len(sys.argv) > 3 else "cloud_{}"
    cap = Capture()
    for number, n in enumerate(steps):
        cap.time = 1700000000 * SEC + number * SEC
        cap.snapshot(number)
        names = [{"dev-index": i, "dev-name": name.format(i)} for i in range(n)]
        cap.family()
        cap.rdma_devices([(i, one["dev-name"], 1) for i, one in enumerate(names)])
        if not n:
            continue
        cap.dump("dev", [{**device(0), **one, "netdev": f"eth{i}"}
                         for i, one in enumerate(names)])
        cap.dump("counters", [{**counters(0), **one, "tx-bytes": 1000 * number}
                              for one in names], hw=True)
        cap.dump("qp", [{**qp(0, 17), **one} for one in names])
    cap.write(path)


main()
