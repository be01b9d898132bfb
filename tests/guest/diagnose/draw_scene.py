# SPDX-License-Identifier: GPL-2.0-or-later
"""Random scenes of tests/guest/diagnose/draw_play.py, and their processes, independent of the adapter
family."""

import os
import random
import signal
import subprocess
import threading
import time

from draw_adapter import rows, run
from draw_fault import OTHER

PROGRAMS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))) + "/build/tests/lib/src"
# Each round of scenes begins with FAULTED faulty ones; the others are healthy, are played together, and
# must not have verdicts on earlier faults.
ROUND, FAULTED = 6, 2

# Habits with processes that are stopped repeatedly: seconds that they run and that they are stopped.
HABITS = {
    "busy": None,
    "events": None,
    "stopped": (0, 0),
    "sleeps": (0.05, 1.5),
    "rarely": (0.02, 0.25),
}


def is_faulted(number):
    return number % ROUND < FAULTED


class Scene:
    """The drawn parameters of a scene. Subclasses for a family have knobs and compose()."""

    knobs = {}

    def __init__(self, seed, number, knobs=None):
        """knobs: names of the knobs to use instead of drawn ones"""
        lot = random.Random(f"{seed}/{number}")
        self.number = number
        names = self.draw_names(lot, seed, number) if is_faulted(number) else []
        self.compose(lot, knobs or names)

    def compose(self, lot, names):
        """Sets program, op, size, end, faults and habit."""
        raise NotImplementedError

    def draw_names(self, lot, seed, number):
        """Draws one knob, each equally often, and sometimes a second one that can be combined with it."""
        deck = sorted(self.knobs)
        random.Random(f"{seed}").shuffle(deck)
        a = deck[(number // ROUND * FAULTED + number % ROUND) % len(deck)]
        if lot.random() >= 0.2:
            return [a]
        while True:
            b = lot.choice([name for name in deck if name != a])
            can = [self.knobs[n].programs for n in (a, b) if self.knobs[n].programs]
            if {a, *self.knobs[a].aid}.isdisjoint((b, *self.knobs[b].aid)) and \
                    (not can or set(can[0]).intersection(*can)):
                return [a, b]

    def programs_of(self, programs, names):
        """Returns the programs that can play all of these faults."""
        for name in names:
            can = self.knobs[name].programs
            programs = [p for p in programs if not can or p in can]
        return programs

    def __str__(self):
        what = " + ".join(f"{name} at {end}" for name, end in self.faults) or "healthy"
        return (f"{self.number}: {what}; {self.program} {self.op} {self.size}, "
                f"{self.habit} {self.end}")


class Rhythm(threading.Thread):
    """Stops and continues processes alternately."""

    def __init__(self, pids, runs, rests):
        super().__init__(daemon=True)
        self.pids, self.runs, self.rests, self.over = pids, runs, rests, False

    def signal(self, number):
        for pid in self.pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def run(self):
        while not self.over:
            self.signal(signal.SIGSTOP)
            time.sleep(self.rests)
            self.signal(signal.SIGCONT)
            time.sleep(self.runs)


class Connection:
    """A running scene. Subclasses for a family have start_PROGRAM() and look_up()."""

    port = 18500

    def __init__(self, scene, adapters, work):
        Connection.port += 2
        self.scene, self.all, self.work = scene, adapters, work
        self.adapters = dict(adapters)
        self.port = Connection.port
        self.proc = {}
        self.qp = {}
        self.rhythm = None

    def spawn(self, end, *args, **more):
        log = open(f"{self.work}/{self.port}.{end}", "w", encoding="ascii")
        self.proc[end] = subprocess.Popen(
            ["nice", "-n", "15", *args], stdout=log, stderr=log,
            stdin=more.pop("stdin", subprocess.DEVNULL), text=True, **more)
        log.close()

    def start(self):
        getattr(self, "start_" + self.scene.program)()

    def owners(self, end):
        """Returns the PIDs of an end; one process may have both ends."""
        proc = self.proc.get(end) or self.proc["client"]
        return [proc.pid]

    def row(self, end, qps):
        """Returns the row of the QP of an end, or None."""
        return next((r for r in qps if r["dev_name"] == self.adapters[end].dev and
                     r["qpn"] == self.qp[end]["qpn"]), None)

    def cqns(self, end):
        return sorted({self.qp[end]["send_cqn"], self.qp[end]["recv_cqn"]})

    def eqs(self, end):
        """Returns the event queues for completions of an end."""
        dev, cqns = self.adapters[end].dev, self.cqns(end)
        numbers = {r.get("eqn") for r in rows("cq", "-d", dev) if r["cqn"] in cqns}
        return [r for r in rows("eq", "-d", dev) if r["role"] == "completion" and r["eqn"] in numbers]

    def indices(self):
        """Returns the producer indices of the CQs of each end."""
        return {end: [r.get("hw_pi") for r in rows("cq", "-d", self.adapters[end].dev, "--hw")
                      if r["cqn"] in self.cqns(end)] for end in OTHER}

    def begin_habit(self):
        runs_rests = HABITS.get(self.scene.habit)       # the program itself implements the others
        if not runs_rests:
            return
        pids = self.owners(self.scene.end)
        if runs_rests == (0, 0):
            os.kill(pids[0], signal.SIGSTOP)
            return
        self.rhythm = Rhythm(pids, *runs_rests)
        self.rhythm.start()

    def stop(self):
        if self.rhythm:
            self.rhythm.over = True
            self.rhythm.join()
        for proc in self.proc.values():
            proc.kill()
        for proc in self.proc.values():
            if proc.stdin:
                proc.stdin.close()
            proc.wait()
