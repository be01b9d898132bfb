#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: our driver takes over an adapter in the state in which another kernel left it. TAP.

kexec.py MODULE

The virtual adapters disappear with the kernel that provides them, so a kernel that is really
started by kexec finds none. Therefore a raw driver in user space plays the former kernel. It
leaves behind an adapter with queues and memory regions, and a peer on a second adapter that
continues to write to memory that meanwhile has a different owner.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../virt"))

import efa_pair as p  # noqa: E402
from efa_raw import adapter  # noqa: E402
from pci import wait_until  # noqa: E402
from tap import Adapter, case, equal, run  # noqa: E402

DRIVER = Path("/sys/bus/pci/drivers/efa")
PCI = Path("/sys/bus/pci")
MODULE = sys.argv[1]
SIZE, CAPS = 4096, 8
OURS, THEIRS = b"\x0f" * SIZE, b"\xa5" * SIZE


class Left:
    """The adapter that is left behind, and the peer's adapter; both have no driver."""

    def __init__(self):
        # A function level reset alone would also stop the adapter.
        self.old, self.new = adapter("left"), adapter("peer")
        for each in self.old, self.new:
            each.fixed["flr"] = 0

    def remove(self):
        if DRIVER.exists():
            subprocess.run(["rmmod", "efa"], check=True)
        self.old.remove()
        self.new.remove()

    def connect(self):
        self.here, self.there = p.far_pair(self.old, self.new)
        self.here.host.ah(self.there.host)
        self.there.fill(THEIRS)
        # No driver may bind to a function before bind() allows it.
        for each in self.old, self.new:
            self.override(each, "none")

    def override(self, which, driver):
        (PCI / "devices" / which.read("address") / "driver_override").write_text(driver)

    def write(self):
        """Posts the peer's next write, and returns its status, success or not."""
        there = self.there
        there.write(there.mr.sge(0, SIZE), self.here.mr.remote(0, SIZE))
        return there.scq.wait(there.qp.send_sub).status

    def own(self):
        """Fills the memory with data of its new owner, the new kernel."""
        self.here.fill(OURS)

    def is_kept(self, what):
        statuses = [self.write() for _ in range(20)]
        equal(self.here.data(SIZE), OURS, f"memory {what}")
        equal(p.SUCCESS in statuses, False, f"success of a write {what}")

    def bind(self):
        """Returns true if the driver binds; the peer continues to write meanwhile."""
        bound = []
        self.override(self.old, "efa")

        def work():
            try:
                (DRIVER / "bind").write_text(self.old.read("address"))
                bound.append(True)
            except OSError:
                bound.append(False)

        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive():
            self.write()
        thread.join()
        return bound[0]

    def is_master(self):
        return bool(self.here.device.config16(4) & 4)

    def name(self, address):
        return next((PCI / "devices" / address / "infiniband").iterdir()).name


def serves(left):
    """Checks traffic between the adapter that was left behind and another adapter."""
    other = Adapter("efa", "other", lambda address: None)
    try:
        other.plug()
        names = [left.name(each.read("address")) for each in (left.old, other)]
        for pair in names, names[::-1]:
            equal(subprocess.run(["srd", "-n", "16", *pair]).returncode, 0, f"traffic {pair}")
    finally:
        other.remove()


def found(left, orderly):
    left.connect()
    equal((left.write(), left.here.data(SIZE)), (p.SUCCESS, THEIRS), "a write")
    if orderly:
        # The kernel disables bus mastering of PCI functions before it starts another kernel.
        left.here.device.master(False)
        left.own()
        left.is_kept("without mastering")
        # This delays the driver's first steps.
        left.old.fault("read_lost", count=3, target=CAPS)
    else:
        left.own()
        equal((left.write(), left.here.data(SIZE)), (p.SUCCESS, THEIRS), "a write before a driver")
    subprocess.run(["insmod", MODULE], check=True)
    left.old.fault("reset_stuck", count=-1)
    equal(left.bind(), False, "a driver without a confirmed reset")
    if orderly:
        equal(left.here.data(SIZE), OURS, "memory while a driver enables mastering")
        left.old.fault("read_lost", count=0)
    equal(left.is_master(), False, "mastering")
    left.own()
    left.is_kept("while the adapter cannot be reset")
    left.old.fault("reset_stuck", count=0)
    wait_until(left.bind, "a driver")
    left.own()
    left.is_kept("after the driver has bound")
    serves(left)


@case("an adapter with queues and regions, left by kexec")
def by_kexec(left):
    found(left, True)


@case("an adapter left by a crash, with bus mastering still enabled")
def by_crash(left):
    found(left, False)


if __name__ == "__main__":
    sys.exit(run([], Left))
