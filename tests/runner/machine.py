# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine under the tests: how fast it is, when it stood still, whose processes are left."""

import ctypes
import math
import os
import signal
import subprocess
import threading
import time

TESTS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
# Seconds that a guest without modules takes on two quiet cores without KVM.
BARE_GUEST = 7
STEP = 0.5
PR_SET_CHILD_SUBREAPER = 36


class NotReady(Exception):
    """The tests cannot begin."""


def patience():
    """Factor for all limits: how many times longer than usual a bare guest takes here."""
    if os.environ.get("EADM_PATIENCE"):
        return int(os.environ["EADM_PATIENCE"])
    if subprocess.run([f"{TESTS}/vm/fetch", "6.12"], stdin=subprocess.DEVNULL,
                      stdout=subprocess.DEVNULL, check=False).returncode:
        raise NotReady("there is no guest kernel")
    begin = time.monotonic()
    done = subprocess.run([f"{TESTS}/vm/run", "--no-modules", "--timeout", "600", "--", "true"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    took = time.monotonic() - begin
    if done.returncode:
        raise NotReady(f"a bare guest ends with status {done.returncode}:\n{done.stdout}")
    factor = max(1, math.ceil(took / BARE_GUEST))
    print(f"# patience {factor}: a bare guest took {took:.1f} s", flush=True)
    return factor


class Stalls:
    """Notes when this process was not run although it wanted to: a sleep that took more than
    a second too long."""

    def __init__(self):
        self.found = []     # of (monotonic time at its end, seconds too long)
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        while True:
            begin = time.monotonic()
            time.sleep(STEP)
            end = time.monotonic()
            if end - begin - STEP > 1:
                self.found.append((end, end - begin - STEP))

    def since(self, moment):
        """Seconds that were lost since then."""
        return sum(lost for end, lost in list(self.found) if end >= moment)


def adopt_orphans():
    """Processes whose parent ended become this process's children, so that none is lost."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _children():
    """Process IDs by parent."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            found.setdefault(parent, []).append(int(name))
    return found


def kill_descendants():
    """Kills all that this process or its descendants started and that is still there."""
    while True:
        by_parent, todo, left = _children(), [os.getpid()], []
        while todo:
            children = by_parent.get(todo.pop(), [])
            left += children
            todo += children
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        time.sleep(0.05)
