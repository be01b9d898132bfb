# SPDX-License-Identifier: LGPL-2.1-or-later
"""The state of RDMA adapters, live or from a capture.

    import eadm

    for qp in eadm.open().dump("qp"):
        print(qp["dev_name"], qp["qpn"], qp["state"])

A source is this machine or a file. It dumps objects - devices, queue pairs,
counters and so on - as rows: mappings whose keys and values are those of
"eadm --json". A field that was not measured, or that the caller may not see, is
not in the row. eadm-fields(7) has all objects and fields, and so has objects().

A source, and all that was opened on it, belongs to one thread at a time; others
run while it waits.
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

# How many more intervals something that looks stuck is watched before it is reported.
_MORE_INTERVALS = 2

collections.abc.Mapping.register(Record)


class Source(_eadm.Source):
    """This machine, or a capture or bundle."""

    def __enter__(self) -> "Source":
        return self

    def check(self, device: Optional[str] = None) -> List[Verdict]:
        """How the machine is set up, as by "eadm check": what is well, too."""
        diagnosis = Diagnosis()
        diagnosis.sample(self, state=False, setup=True, device=device)
        return diagnosis.evaluate()

    def diagnose(self, device: Optional[str] = None, interval: float = 1.0,
                 hw: bool = True) -> List[Verdict]:
        """What is wrong, the worst first, as by "eadm diagnose".

        Of this machine two snapshots are read, the interval of seconds apart, and
        a third and fourth one if they leave doubt; of a capture its last two.
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
    """This machine, or the capture or bundle at the path ("-": standard input)."""
    source = Source(path)
    if timeout is not None:
        source.set_timeout(timeout)
    return source
