# SPDX-License-Identifier: LGPL-2.1-or-later
"""The state of RDMA adapters, live or from a capture.

    import eadm

    for qp in eadm.open().dump("qp"):
        print(qp["dev_name"], qp["qpn"], qp["state"])

A source is this machine or a file. It dumps objects - devices, queue pairs,
counters and so on - as rows: mappings whose keys and values are those of
"eadm --json". A field that was not measured, or that the caller may not see, is
not in the row. eadm-fields(7) and objects() list all objects and fields.

Other results, such as verdicts, are named tuples. Use their attributes: later
versions may add items, and may change the order of the items.

Only one thread at a time may use a source and everything opened on it; other
threads can run while a call waits.
"""

import collections.abc
import os
import time as _time
from typing import List, Optional, Union

from . import _eadm
from ._eadm import (Bundle, BundleWriter, Capture, Diagnosis, Dump, Error, Events, Record, Redactor,
                    Trace, families, objects, rules, version)
from ._types import (Consequence, Evidence, Family, Field, Gap, Member, Note, Object, Redaction,
                     Rule, Verdict)

__all__ = [
    "Bundle", "BundleWriter", "Capture", "Consequence", "Diagnosis", "Dump", "Error", "Events",
    "Evidence", "Family", "Field", "Gap", "Member", "Note", "Object", "Record", "Redaction",
    "Redactor", "Rule", "Source", "Trace", "Verdict", "families", "objects", "open", "rules",
    "version",
]

__version__ = version()

# Number of additional intervals for which a stuck object is watched before it is reported.
_MORE_INTERVALS = 2

collections.abc.Mapping.register(Record)


class Source(_eadm.Source):
    """This machine, or a capture or bundle."""

    def __enter__(self) -> "Source":
        return self

    def check(self, device: Optional[str] = None) -> List[Verdict]:
        """Check the setup of the machine, like "eadm check"; includes passed checks."""
        diagnosis = Diagnosis()
        diagnosis.sample(self, state=False, setup=True, device=device)
        return diagnosis.evaluate()

    def diagnose(self, device: Optional[str] = None, interval: float = 1.0,
                 hw: bool = True) -> List[Verdict]:
        """Find faults, worst first, like "eadm diagnose".

        On this machine, reads two snapshots, the given interval in seconds apart, and
        up to two more if the result is in doubt. For a capture, reads the last two
        snapshots.
        """
        diagnosis = Diagnosis()
        if not self.live:
            last = self.snapshots - 1
            for index in range(max(last - 1, 0), last + 1):
                self.go(index)
                diagnosis.sample(self, device=device, hw=hw, more=index < last)
            return diagnosis.evaluate()
        diagnosis.sample(self, device=device, hw=hw, more=True)
        verdicts: List[Verdict] = []
        for more in range(1 + _MORE_INTERVALS):
            _time.sleep(interval)
            diagnosis.sample(self, device=device, hw=hw, extend=more > 0)
            verdicts = diagnosis.evaluate()
            if not diagnosis.in_doubt:
                break
        return verdicts


def open(path: Union[str, bytes, "os.PathLike[str]", None] = None, *,  # pylint: disable=redefined-builtin
         timeout: Optional[float] = None) -> Source:
    """Open this machine, or the capture or bundle at the path ("-": standard input)."""
    source = Source(path)
    if timeout is not None:
        source.set_timeout(timeout)
    return source
