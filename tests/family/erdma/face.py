# SPDX-License-Identifier: GPL-2.0-or-later
"""What the made-up scenes of tests/captures show of this family alone."""

import struct

VENDOR, PART = 0x1DED, 0x107F
# Fields that rows have beside those of the contract.
OWN = {
    "dev": {"cc": "cubic"},
    "qp": {"cookie": 0xC0FFEE, "remote-cookie": 0xBEEF, "cc": "cubic", "hw-rto-retrans": 0,
           "hw-tx-packets": 65535},
    "mr": {"mtt-level": 2},
    "ctx": {"db-type": "page", "sq-db-offset": 0x12000},
}
INDEX_BITS, CQ_INDEX_BITS = 16, 24
CQE_SIZE = 32
OPS = {"write": 0, "send": 2, "none": 29}


def irq_name(kind, number, bus):
    return f"erdma-{kind}{number}@pci:{bus}"


def own_state(name):
    """The adapter's own state of a QP."""
    return {"iwarp-state": name}


def cqe(lap, op, qpn, index):
    """A completion of a request of a send queue."""
    owner = 0 if lap & 1 else 1 << 31
    return struct.pack(">IIIIIIII", owner | OPS[op] << 16, index, qpn, 0, 64, 0, 0, 0)
