# SPDX-License-Identifier: GPL-2.0-or-later
"""What the made-up scenes of tests/captures show of this family alone."""

import struct

VENDOR, PART = 0x1234, 0x5A5A
# Fields that rows have beside those of the contract.
OWN = {
    "qp": {"order": "scattered", "hw-paths": 40},
    "eq": {"moderation": 64000},
}
# Fields that scenes give to rows, but this family has not.
LACKS = {
    "qp": {"hw-send-cqes", "hw-recv-cqes", "hw-tx-packets", "hw-rx-packets",
           "hw-rx-error-drops", "hw-rx-invalid-drops", "hw-rto-retrans"},
    "cq": {"hw-out-of-order"},
}
INDEX_BITS = CQ_INDEX_BITS = 32
CQE_SIZE = 48
OPS = {"write": 1, "send": 0, "none": 29}


def irq_name(kind, number, bus):
    return f"zenith {kind} {number} of {bus}"


def own_state(name):  # pylint: disable=unused-argument
    """The adapter has no state of a QP that is not that of verbs."""
    return {}


def cqe(lap, op, qpn, index):
    """A completion of a request of a send queue."""
    head = OPS[op] << 8 | 1 << 1 | (0 if lap & 1 else 1)
    return struct.pack(">QII16x", 0, qpn, index) + struct.pack("<QI", 64, 0) + \
        struct.pack(">I", head)
