# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests/vm/diagnose/draw plays: a scene that was drawn, and the connection that plays it."""

import os
import random
import signal
import subprocess
import threading
import time

from draw_knobs import HERE, KNOBS
from draw_adapter import rows, run, until

PROGRAMS = os.path.dirname(os.path.dirname(os.path.dirname(HERE))) + "/build/tests/vm/src"
# The server is on the first adapter, the client on the second one.
ADDRESS = {"server": "10.77.0.1", "client": "10.77.1.1"}
OTHER = {"server": "client", "client": "server"}
BEGUN = 64      # blocks that perftest has posted when it is past its preparations
# Each round of scenes begins with so many faulted ones; the others are healthy, played together, and
# must not be accused of what was before.
ROUND, FAULTED = 6, 2

PERFTEST = {"send": "ib_send_bw", "read": "ib_read_bw", "write": "ib_write_bw"}
# Whose processes are stopped, and for how long they then run, in seconds.
HABITS = {
    "busy": None,
    "events": None,
    "stopped": (0, 0),
    "sleeps": (0.05, 1.5),
    "rarely": (0.02, 0.25),
}
FEW = 40        # requests of who rests then, and buries nothing under what comes later


def is_faulted(number):
    return number % ROUND < FAULTED


class Scene:
    """What is drawn, and nothing else."""

    def __init__(self, seed, number, knobs=None):
        """knobs: these instead of any."""
        lot = random.Random(f"{seed}/{number}")
        self.number = number
        names = self.draw_names(lot, seed, number) if is_faulted(number) else []
        names = knobs or names
        programs = ["perftest", "perftest", "rping", "traffic"]
        for name in names:
            can = KNOBS[name].programs
            programs = [p for p in programs if not can or p in can]
        self.program = lot.choice(programs)
        self.op = "rping" if self.program == "rping" else lot.choice(sorted(PERFTEST))
        if {"rq_db_lost", "rnr"} & set(names) and self.op != "rping" and lot.random() < 0.8:
            self.op = "send"
        self.size = lot.choice((64, 1024, 4096))
        self.end = lot.choice(("client", "server"))
        self.faults = [(name, self.draw_end(lot, name)) for name in names]
        self.habit = self.draw_habit(lot)

    @staticmethod
    def draw_names(lot, seed, number):
        """One, each as often as any other, and now and then a second one, if that can be."""
        deck = sorted(KNOBS)
        random.Random(f"{seed}").shuffle(deck)
        a = deck[(number // ROUND * FAULTED + number % ROUND) % len(deck)]
        if lot.random() >= 0.2:
            return [a]
        while True:
            b = lot.choice([name for name in deck if name != a])
            can = [KNOBS[n].programs for n in (a, b) if KNOBS[n].programs]
            if {a, *KNOBS[a].aid}.isdisjoint((b, *KNOBS[b].aid)) and \
                    (not can or set(can[0]).intersection(*can)):
                return [a, b]

    def draw_end(self, lot, name):
        """Any end, but of what needs traffic mostly one where there is some to strike."""
        if self.op == "rping" or KNOBS[name].level == "adapter" or lot.random() < 0.2:
            return lot.choice(("client", "server"))
        return "server" if name in ("rq_db_lost", "rnr", "peer_silent") else "client"

    def needs_awake(self, name, end):
        """Whether a fault strikes only when the consumer of self.end goes on working."""
        if KNOBS[name].level == "adapter":
            return False
        # Who is written to and read from has nothing to do.
        return self.program != "perftest" or self.op == "send" or self.end == "client" or \
            end == "server"

    def draw_habit(self, lot):
        habit = lot.choice(sorted(HABITS))
        if any(KNOBS[name].events for name, _ in self.faults):
            habit = "events"
        if habit == "stopped" and any(self.needs_awake(*fault) for fault in self.faults):
            habit = lot.choice(("sleeps", "rarely"))
        if self.program == "perftest" and self.op != "read" and habit == "events":
            # Of sends it may sleep over its own credit for ever, for writes it has no events.
            habit = "busy"
        if self.program == "traffic" and habit not in ("busy", "events"):
            habit = "busy"              # both of its ends are one process
        if self.program == "traffic" and self.is_buried():
            habit = "few"
        return habit

    def is_buried(self):
        """Whether what is struck is seen only while nothing comes after it."""
        names = [n for n, _ in self.faults if KNOBS[n].level == "connection"]
        return names and all(n.startswith("cqe_") for n in names)

    def waits_for_sleeper(self, end):
        """Whether an end posts one request at a time, when a consumer that sleeps has woken up."""
        return self.habit in ("sleeps", "rarely") and \
            (self.op == "rping" or (self.program == "perftest" and end == "server"))

    def __str__(self):
        what = " + ".join(f"{name} at {end}" for name, end in self.faults) or "healthy"
        return (f"{self.number}: {what}; {self.program} {self.op} {self.size}, "
                f"{self.habit} {self.end}")


class Rhythm(threading.Thread):
    """Lets processes run only now and then."""

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
    """A scene at work."""

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

    def listening(self):
        out = run("rdma", "resource", "show", "cm_id").stdout
        return any("state LISTEN" in line and f":{self.port} " in line
                   for line in out.splitlines())

    def start_perftest(self):
        scene = self.scene
        args = [PERFTEST[scene.op], "-R", "-F", "-p", str(self.port), "-s", str(scene.size)]
        # Duration and events exclude each other.
        args += ["-e", "-n", "1000000"] if scene.habit == "events" else ["-D", "120"]
        self.spawn("server", *args)
        if not until(20, self.listening):
            return
        env = {**os.environ, "LD_PRELOAD": PROGRAMS + "/listener.so",
               "EADM_SOURCE": ADDRESS["client"]}
        self.spawn("client", *args, ADDRESS["server"], env=env)

    def start_rping(self):
        args = ["rping", "-a", ADDRESS["server"], "-p", str(self.port), "-C", "10000000",
                "-S", str(self.scene.size)]
        self.spawn("server", *args, "-s")
        if until(20, self.listening):
            self.spawn("client", *args, "-c", "-I", ADDRESS["client"])

    def start_traffic(self):
        self.spawn("client", PROGRAMS + "/traffic", "-s", ADDRESS["server"], "-c",
                   ADDRESS["client"], "-p", str(self.port), stdin=subprocess.PIPE)

    def say(self):
        mode = " events" if self.scene.habit == "events" else ""
        # More than can be done, or a few.
        count = FEW if self.scene.habit == "few" else 100000000
        self.proc["client"].stdin.write(f"{self.scene.op} {count} {self.scene.size} 100000{mode}\n")
        self.proc["client"].stdin.flush()

    def start(self):
        getattr(self, "start_" + self.scene.program)()

    def owners(self, end):
        """PIDs: of traffic, both ends have the same."""
        proc = self.proc.get(end) or self.proc["client"]
        return [proc.pid]

    def look_up(self, qps):
        """The numbers of both ends, from all QPs that are connected; whether they are there."""
        for end in ADDRESS:
            pids = self.owners(end)
            mine = [r for r in qps if r.get("pid") in pids and r["state"] == "rts"]
            if self.scene.program == "traffic":
                mine = [r for r in mine if r["dev_name"] == self.all[end].dev]
            if not mine:
                return False
            # perftest has one before, for what its ends have to agree on; and its client may well
            # be on the server's adapter, whose address is local to this machine.
            self.qp[end] = max(mine, key=lambda r: r["qpn"])
            self.adapters[end] = next(a for a in self.all.values()
                                      if a.dev == self.qp[end]["dev_name"])
        return self.scene.program != "perftest" or self.qp["client"]["sq_pi"] > BEGUN

    def row(self, end, qps):
        """Of the QP of an end among all of them, or None."""
        return next((r for r in qps if r["dev_name"] == self.adapters[end].dev and
                     r["qpn"] == self.qp[end]["qpn"]), None)

    def cqns(self, end):
        return sorted({self.qp[end]["send_cqn"], self.qp[end]["recv_cqn"]})

    def eqs(self, end):
        """The event queues that tell of completions of an end."""
        dev, cqns = self.adapters[end].dev, self.cqns(end)
        numbers = {r["eqn"] for r in rows("cq", "-d", dev) if r["cqn"] in cqns}
        return [r for r in rows("eq", "-d", dev) if r["role"] == "completion" and r["eqn"] in numbers]

    def indices(self):
        """How far the CQs of each end are."""
        return {end: [r.get("hw_pi") for r in rows("cq", "-d", self.adapters[end].dev, "--hw")
                      if r["cqn"] in self.cqns(end)] for end in ADDRESS}

    def begin_habit(self):
        if self.scene.habit == "few":
            return                      # they come when the faults are set
        runs_rests = HABITS[self.scene.habit]
        if self.scene.program == "traffic":
            self.say()
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
