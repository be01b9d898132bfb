# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that random scenes inject through knobs, independent of the adapter family."""

import collections
import threading
import time

from draw_adapter import LIMIT_MS, PATIENCE, until

SLACK_S = 5     # between an event and its notification: the driver polls at intervals
SHORT = ("ask_short", "ask_and_wait", "halt")   # strikes that leave a short command timeout
OTHER = {"server": "client", "client": "server"}

Knob = collections.namedtuple("Knob", "named lasting settings programs target level strike aid "
                              "events before after between beside")


def knob(named, lasting=True, settings=None, programs=None, target=None, level="connection",
         strike=None, aid=None, events=False, before=None, after=None,
         between=None, beside=""):
    """named: the expected verdicts, "RULE OBJECT" separated by commas; "+" after an object: that of the
    other end; empty if the fault is not visible: then no verdict may be reported.
    lasting: the effect persists once the fault has struck; otherwise it is visible only while it strikes.
    programs: programs that can play the fault; others hide it or exit.
    target: kind of the object that is struck: qp, cq, eq, vector, or a command.
    level: connection, or adapter for faults that strike even if no consumer is running.
    strike: method of the fault that makes it strike, in addition to traffic.
    aid: other knobs that the fault requires, and their settings.
    events: the consumer has to wait for events.
    before, after: methods of the adapter that prepare and restore it.
    between: settings that the method between() applies between the two samples.
    beside: like named: verdicts that are correct, but do not name the fault."""
    named, beside = ([tuple(pair.split()) for pair in text.split(",") if pair]
                     for text in (named, beside))
    return Knob(named, lasting, settings or {"count": 1}, programs, target, level, strike,
                aid or {}, events, before, after, between or {}, beside)


class Masks:
    """Pairs of faults of which one hides the other, read from a file."""

    def __init__(self, path):
        self.pairs = set()
        with open(path, encoding="ascii") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    self.pairs.add(tuple(line.split()[:2]))

    def hide(self, fault, other):
        """Returns true if another fault of the scene hides this one."""
        return (other.name, fault.name) in self.pairs or \
            ((other.name, "*") in self.pairs and fault.knob.level == "connection") or \
            ((other.name, "adapter") in self.pairs and fault.adapter is other.adapter)


# Evidence that has the time of the last fault: older counts and records are ignored.
AGES = ("last_missed_age", "last_unknown_age", "last_extra_age", "last_spurious_age")


def when(row, now):
    """Returns the time of the event that a verdict reports, s since 1970; None for a current state."""
    for fact in row["evidence"]:
        if fact["name"] in AGES:
            return now - fact["value"] / 1e9
        if fact["name"] == "time":
            return fact["value"] / 1e9
    return None


def fact(row, name):
    return next((e["value"] for e in row["evidence"] if e["name"] == name), None)


class Fault:
    """A knob of a scene, set at one end. Subclasses for a family add shows() and their own strikes."""

    def __init__(self, name, end, connection, knobs):
        self.name, self.end, self.knob = name, end, knobs[name]
        self.connection = connection
        self.adapter = connection.adapters[end]
        self.before = self.adapter.hits(name)
        self.timeouts = self.adapter.cmdq().get("timeouts", 0)
        self.since = time.time()
        self.mended = self.until = None # while the fault lasts
        self.first = self.last = 0
        self.over = threading.Event()   # ends strikes that continue during the diagnosis
        self.beside = None
        self.begun = None
        self.eq = None
        self.ready = True               # false: the fault cannot be visible

    # ---- striking -----------------------------------------------------------------------

    def target(self):
        if self.knob.target == "qp":
            return self.connection.qp[self.end]["qpn"]
        if self.knob.target == "cq":
            # The CQ in which requests complete.
            field = "recv_cqn" if self.end == "server" else "send_cqn"
            return self.connection.qp[self.end][field]
        if self.knob.target in ("eq", "vector"):
            self.eq = self.connection.eqs(self.end)[0]
            return self.eq["index" if self.knob.target == "eq" else "vector"]
        return -1 if self.knob.target is None else self.knob.target

    def set(self):
        for name, files in self.knob.aid.items():
            self.adapter.set(name, **files)
        self.adapter.set(self.name, target=self.target(), **self.knob.settings)

    def hits(self):
        return self.adapter.hits(self.name) - self.before

    def strike(self):
        if self.knob.strike:
            getattr(self, self.knob.strike)()

    def ask(self):
        self.adapter.ask()

    def ask_short(self):
        self.adapter.limit(LIMIT_MS)
        self.adapter.ask()

    def ask_thrice(self):
        for _ in range(3):
            self.adapter.ask()

    def feed(self):
        """Raises interrupts repeatedly during the diagnosis."""
        def again():
            while not self.over.wait(0.01):
                self.adapter.set(self.name, count=2)
        self.beside = threading.Thread(target=again, daemon=True)
        self.beside.start()

    def drip(self):
        """Raises one at intervals during the diagnosis: a rate that the system can sustain."""
        def again():
            while not self.over.wait(0.1):
                self.adapter.set(self.name, count=1)
        self.beside = threading.Thread(target=again, daemon=True)
        self.beside.start()

    def between(self):
        """Strikes between the two samples: after the first command of the first sample."""
        def once():
            while not self.over.wait(0.01):
                if self.begun is not None and self.adapter.commands() > self.begun:
                    self.adapter.set(self.name, **self.knob.between)
                    return
        self.beside = threading.Thread(target=once, daemon=True)
        self.beside.start()

    def wait_long(self):
        if until(5, self.hits):
            self.beside = threading.Thread(target=self.adapter.ask, daemon=True)
            self.beside.start()
            self.ready = until(6, lambda: self.adapter.cmdq().get("oldest_age", 0) >= 1.2e9)

    def fail(self):
        before = self.adapter.cmdq().get("failed_recoveries", 0)
        self.ready = until(20, lambda: self.adapter.cmdq().get("failed_recoveries", 0) > before)

    def halt(self):
        self.ask_short()
        self.state()

    def state(self):
        self.ready = until(20, lambda: self.adapter.state() in ("gone", "halted"))

    def begin_look(self):
        self.first = 0 if self.knob.lasting else self.hits()
        self.begun = self.adapter.commands()

    def counted(self):
        """Returns the number of hits up to the end of the diagnosis."""
        return self.hits()

    def end_look(self):
        self.over.set()
        if self.beside and self.knob.strike != "wait_long":
            self.beside.join()

    def calm(self):
        self.end_look()
        for name in (self.name, *self.knob.aid):
            self.adapter.calm(name)
        if self.knob.strike in SHORT and self.adapter.look_up():
            self.adapter.limit()

    def mend(self):
        """Restores the adapter once no process uses it."""
        if self.beside:
            self.beside.join()
        self.mended = time.time()
        if self.knob.after:
            getattr(self.adapter, self.knob.after)()
        self.until = time.time() + SLACK_S * PATIENCE

    # ---- judging ------------------------------------------------------------------------

    def is_object(self, row, kind):
        """Returns true if the verdict is on the object that was struck."""
        end = OTHER[self.end] if kind.endswith("+") else self.end
        kind = kind.rstrip("+")
        if row["object"] != kind or row["dev_name"] != self.connection.adapters[end].dev:
            return False
        if kind == "qp" and self.knob.level == "connection":
            return row["id"] == self.connection.qp[end]["qpn"]
        if kind == "cq" and self.knob.target in ("cq", "qp"):
            return row["id"] in self.connection.cqns(end)
        if kind == "eq":
            return row["id"] == (self.eq["index"] if self.eq else self.eq_index())
        return True

    def eq_index(self):
        """Returns the event queue of a fault that does not strike one of the connection's."""
        return 0

    def is_time(self, row, now):
        """Returns true if the event occurred while the fault was set; command-lost has the time of the
        first lost command."""
        at = when(row, now)
        if row["rule"] == "command-lost" and self.until is None:
            return (fact(row, "timeouts") or 0) > self.timeouts
        return at is None and self.until is None or \
            at is not None and self.since - 0.5 <= at <= (self.until or now)

    def is_mending(self, row, now):
        """Returns true if restoring the adapter caused the verdict."""
        return self.knob.after and row["dev_name"] == self.adapter.dev and \
            self.mended <= (when(row, now) or 0) <= self.until

    def is_among(self, pairs, row, now):
        return any(row["rule"] == rule and self.is_object(row, kind)
                   for rule, kind in pairs) and self.is_time(row, now)

    def is_named_by(self, row, now):
        return self.is_among(self.knob.named, row, now)

    def is_right(self, row, now):
        return self.is_named_by(row, now) or self.is_among(self.knob.beside, row, now)
