# SPDX-License-Identifier: GPL-2.0-or-later
"""The scenes of tests/guest/diagnose/draw: connections between ERDMA adapters."""

import os
import subprocess

from draw_adapter import run, until
from draw_fault import OTHER
from draw_knobs import KNOBS
from draw_scene import HABITS, PROGRAMS, Connection, Scene

# The server is on the first adapter, the client on the second one.
ADDRESS = {"server": "10.77.0.1", "client": "10.77.1.1"}
BEGUN = 64      # blocks that perftest has posted when it is past its preparations
PERFTEST = {"send": "ib_send_bw", "read": "ib_read_bw", "write": "ib_write_bw"}
FEW = 40        # requests of who rests then, and buries nothing under what comes later


class ErdmaScene(Scene):
    """A connection by rdma_cm."""

    knobs = KNOBS

    def compose(self, lot, names):
        programs = ["perftest", "perftest", "rping", "traffic"]
        self.program = lot.choice(self.programs_of(programs, names))
        self.op = "rping" if self.program == "rping" else lot.choice(sorted(PERFTEST))
        if {"rq_db_lost", "rnr"} & set(names) and self.op != "rping" and lot.random() < 0.8:
            self.op = "send"
        self.size = lot.choice((64, 1024, 4096))
        self.end = lot.choice(("client", "server"))
        self.faults = [(name, self.draw_end(lot, name)) for name in names]
        self.habit = self.draw_habit(lot)

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


class ErdmaConnection(Connection):
    """Two programs of which each has an end, or one that has both."""

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

    def begin_habit(self):
        if self.scene.habit == "few":
            return                      # they come when the faults are set
        if self.scene.program == "traffic":
            self.say()
        super().begin_habit()
