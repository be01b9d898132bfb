#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a capture of two devices with QPs on a stock driver: unread.py FILE [ERRNO [DEVICES]].

The QPs of the DEVICES (default: 1), numbered from 0, could not be read: ERRNO.
"""

import sys

from nlcap import Capture
from nldev import rdma_qp


def unread(path, error=0, devices="1"):
    cap = Capture()
    cap.comm(99, "rping")
    cap.snapshot(0)
    cap.family(False)
    cap.rdma_devices([(0, "rocep1", 1), (1, "rocep2", 1)])
    kind = 5 << 10 | 10
    for index in range(2):
        one = cap.attr(1, cap.pack("I", index))
        seq = cap.request(20, kind, one, True)
        if error and str(index) in devices:
            cap.packet(20, cap.error(seq, -int(error)))
            continue
        nest = cap.attr(19, b"".join(cap.attr(20, rdma_qp(cap, n, 3, 99)) for n in (17, 18)))
        cap.packet(20, cap.message(kind, 2, seq, one + nest) + cap.done(seq))
    cap.write(path)


if __name__ == "__main__":
    unread(*sys.argv[1:])
