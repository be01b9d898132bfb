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
BEGUN = 64      # blocks that perftest has posted once its setup is done
PERFTEST = {"send": "ib_send_bw", "read": "ib_read_bw", "write": "ib_write_bw"}
FEW = 40        # requests in habit "few": no later completions hide a fault


class ErdmaScene(Scene):
    """A connection that uses rdma_cm."""

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
        """Draws an end; for faults that need traffic, mostly the end that has such traffic."""
        if self.op == "rping" or KNOBS[name].level == "adapter" or lot.random() < 0.2:
            return lot.choice(("client", "server"))
        return "server" if name in ("rq_db_lost", "rnr", "peer_silent") else "client"

    def needs_awake(self, name, end):
        """Returns true if the fault strikes only while the consumer of self.end is running."""
        if KNOBS[name].level == "adapter":
            return False
        # The passive end of RDMA writes and reads has no work.
        return self.program != "perftest" or self.op == "send" or self.end == "client" or \
            end == "server"

    def draw_habit(self, lot):
        habit = lot.choice(sorted(HABITS))
        if any(KNOBS[name].events for name, _ in self.faults):
            habit = "events"
        if habit == "stopped" and any(self.needs_awake(*fault) for fault in self.faults):
            habit = lot.choice(("sleeps", "rarely"))
        if self.program == "perftest" and self.op != "read" and habit == "events":
            # perftest may sleep forever waiting for credit with sends, and has no events for writes.
            habit = "busy"
        if self.program == "traffic" and habit not in ("busy", "events"):
            habit = "busy"              # one process has both ends
        if self.program == "traffic" and self.is_buried():
            habit = "few"
        return habit

    def is_buried(self):
        """Returns true if later completions would hide all faults of the connection."""
        names = [n for n, _ in self.faults if KNOBS[n].level == "connection"]
        return names and all(n.startswith("cqe_") for n in names)

    def waits_for_sleeper(self, end):
        """Returns true if an end posts one request each time that a sleeping consumer wakes up."""
        return self.habit in ("sleeps", "rarely") and \
            (self.op == "rping" or (self.program == "perftest" and end == "server"))


class ErdmaConnection(Connection):
    """Two programs with one end each, or one program with both ends."""

    def listening(self):
        out = run("rdma", "resource", "show", "cm_id").stdout
        return any("state LISTEN" in line and f":{self.port} " in line
                   for line in out.splitlines())

    def start_perftest(self):
        scene = self.scene
        args = [PERFTEST[scene.op], "-R", "-F", "-p", str(self.port), "-s", str(scene.size)]
        # Duration and events are mutually exclusive.
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
        # More requests than can complete during the test, or a few.
        count = FEW if self.scene.habit == "few" else 100000000
        self.proc["client"].stdin.write(f"{self.scene.op} {count} {self.scene.size} 100000{mode}\n")
        self.proc["client"].stdin.flush()

    def look_up(self, qps):
        """Finds the QPs of both ends among all QPs. Returns true if both are connected."""
        for end in ADDRESS:
            pids = self.owners(end)
            mine = [r for r in qps if r.get("pid") in pids and r["state"] == "rts"]
            if self.scene.program == "traffic":
                mine = [r for r in mine if r["dev_name"] == self.all[end].dev]
            if not mine:
                return False
            # perftest first creates a QP to exchange parameters. Its client may be on the server's
            # adapter, because the address of that is local to this machine.
            self.qp[end] = max(mine, key=lambda r: r["qpn"])
            self.adapters[end] = next(a for a in self.all.values()
                                      if a.dev == self.qp[end]["dev_name"])
        return self.scene.program != "perftest" or self.qp["client"]["sq_pi"] > BEGUN

    def begin_habit(self):
        if self.scene.habit == "few":
            return                      # requests are posted once the faults are set
        if self.scene.program == "traffic":
            self.say()
        super().begin_habit()
