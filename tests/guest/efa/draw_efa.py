# SPDX-License-Identifier: GPL-2.0-or-later
"""EFA's knobs as tests/guest/efa/draw uses them, the verdicts expected for each, and the scenes."""

import itertools
import os
import threading
import time

from draw_adapter import Adapter, read, rows, run, until
from draw_fault import Fault, knob
from draw_scene import HABITS, PROGRAMS, Connection, Scene

CREATE_AH = 5
GET_STATS = 13
ALWAYS = {"count": -1}
SOMETIMES = {"probability": 10, "count": -1}
# To the other end, an adapter that does not work is an unresponsive peer.
DEAF = "peer-unresponsive counters+, peer-unreachable cq+, peer-vanished cq+"
GOES_ON = ("srd",)                      # programs that continue when a request fails

KNOBS = {
    # Registers: read and written when the adapter is reset after a lost command.
    "read_lost": knob("adapter-halted dev, cmdq-dead cmdq, cmdq-recovering cmdq", settings=ALWAYS,
                      level="adapter", strike="halt", aid={"cmd_drop": ALWAYS},
                      before="without_flr", after="replug", beside=DEAF),
    "reset_stuck": knob("adapter-halted dev, cmdq-dead cmdq, cmdq-recovering cmdq", settings=ALWAYS,
                        level="adapter", strike="halt", aid={"cmd_drop": ALWAYS},
                        before="without_flr", after="replug", beside=DEAF),
    # Admin queues.
    "cmd_drop": knob("command-lost cmdq, cmdq-recovering cmdq", target=GET_STATS,
                     level="adapter", strike="ask_short"),
    "cmd_delay": knob("command-slow cmdq", settings={"arg": 1500, "count": 1}, target=GET_STATS,
                      level="adapter", strike="ask"),
    "cmd_slow": knob("command-slow cmdq", settings={"arg": 1000000, "count": 12},
                     target=GET_STATS, level="adapter", strike="ask_thrice"),
    "cmd_db_lost": knob("command-lost cmdq, cmdq-recovering cmdq", level="adapter",
                        strike="ask_short"),
    "cmd_error": knob("command-failed cmdq", settings={"arg": 5, "count": 1}, target=CREATE_AH,
                      level="adapter", strike="make"),
    "cmd_duplicate": knob("spurious-completion cmdq", target=GET_STATS, level="adapter",
                          strike="ask"),
    "keep_alive_lost": knob("keep-alive-lost counters", settings=ALWAYS, level="adapter",
                            strike="fall_silent"),
    "aenq_event": knob("adapter-event eq", False, {"arg": 2 + 77 * 65536}, level="adapter",
                       strike="feed"),
    "ah_full": knob("command-failed cmdq, create-failures counters", level="adapter",
                    strike="make"),
    # Completion queues.
    "cq_overrun": knob("", programs=GOES_ON, target="cq"),
    "cqe_lost": knob("", programs=GOES_ON, target="cq"),
    "cqe_duplicate": knob("", programs=GOES_ON, target="cq"),
    "cqe_status": knob("failed-requests cq", False, {"arg": 12, **SOMETIMES}, GOES_ON, "cq"),
    "cqe_opcode": knob("unknown-opcode cq", False, {"arg": 5}, GOES_ON, "cq", strike="drip"),
    # The highest QP number: QPs get low numbers first.
    "cqe_qpn": knob("stray-completion cq", False, {"arg": 255}, GOES_ON, "cq", strike="drip"),
    "cqe_phase": knob("damaged-completion cq", programs=GOES_ON, target="cq"),
    "eqe_lost": knob("", programs=GOES_ON, target="cq", events=True),
    "eqe_duplicate": knob("", programs=GOES_ON, target="cq", events=True),
    # Queue pairs and the wire.
    "sq_db_lost": knob("", settings=ALWAYS, target="qp"),
    "rq_db_lost": knob("", settings=ALWAYS, target="qp"),
    "qp_stall": knob("", settings={"arg": 0, "count": 1}, target="qp"),
    "wr_error": knob("failed-requests cq", False, {"arg": 6, **SOMETIMES}, GOES_ON, "qp"),
    "wr_slow": knob("", settings={"arg": 20000, "count": -1}, target="qp"),
    "dma_fault": knob("failed-requests cq", False, SOMETIMES, GOES_ON, "qp"),
    "rnr": knob("peer-not-ready cq+, receive-drops counters", False, SOMETIMES, GOES_ON, "qp"),
    "peer_silent": knob("peer-unresponsive counters, peer-unreachable cq, peer-vanished cq", False,
                        ALWAYS, GOES_ON, "qp"),
    "retransmit": knob("packet-loss counters", False, {"probability": 50, "arg": 1, "count": -1},
                       target="qp"),
    "impaired": knob("path-impaired counters", False, {"arg": 5, **SOMETIMES}, target="qp"),
    # The device.
    "counters_wrap": knob("counters-restarted counters", settings={"arg": 100}, level="adapter",
                          strike="between", between={"arg": 100, "count": 1}),
    "irq_lost": knob("missed-interrupt eq, lost-interrupt eq", False, ALWAYS, GOES_ON, "vector",
                     events=True),
    "irq_spurious": knob("spurious-interrupt eq", False, {}, None, 1, "adapter", "feed"),
    "stall": knob("cmdq-stalled cmdq, command-slow cmdq", settings={"arg": 10000, "count": 1},
                  level="adapter", strike="wait_long", after="serve", beside=DEAF),
    "dev_hang": knob("command-lost cmdq, cmdq-recovering cmdq, qp-forgotten qp", level="adapter",
                     strike="ask_short", after="serve", beside=DEAF),
    "fw_reset": knob("command-lost cmdq, qp-forgotten qp", level="adapter",
                     strike="ask_and_wait", after="serve", beside=DEAF),
    "dev_gone": knob("adapter-gone dev", level="adapter", strike="state", after="replug",
                     beside=DEAF),
}

LEFT_OUT = {
    "reset_late": "it prolongs a recovery but is not visible beside the fault that caused the recovery",
    "answer_garbage": "counters become random numbers, which cannot be recognized as wrong",
}

PERFTEST = {
    "send": ("ib_send_bw", "-c", "SRD"),
    "read": ("ib_read_bw", "-c", "SRD"),
}
SRD_OPS = ("imm", "inline", "read", "send", "ud")
RECEIVED = ("imm", "inline", "send", "ud")     # operations that consume receives
WORKS = ("rts", "rtr")    # a QP that only receives stays in RTR
BEGUN = 64      # doorbells after which a program has finished its preparations
PAUSE_MS = 50


class EfaAdapter(Adapter):
    """An EFA adapter, with the default time limit of the hardware interface."""

    default_limit_ms = 30000


class EfaScene(Scene):
    """Messages, datagrams and accesses from the client's adapter to the server's."""

    knobs = KNOBS

    def compose(self, lot, names):
        self.program = lot.choice(self.programs_of(["perftest", "srd"], names))
        self.op = lot.choice(sorted(PERFTEST) if self.program == "perftest" else SRD_OPS)
        if {"rq_db_lost", "rnr"} & set(names) and self.op == "read":
            self.op = "send"
        if "dma_fault" in names and self.op == "inline":
            self.op = "send"            # inline data is in the request itself
        self.size = lot.choice((64, 1024) if self.op == "ud" else (64, 1024, 4096))
        if self.op == "inline":
            self.size = 32
        self.end = lot.choice(("client", "server"))
        self.faults = [(name, self.draw_end(lot, name)) for name in names]
        # Only a sender that does not retry without limit learns that the receiver is not ready.
        self.retries = lot.choice((2, 7)) if "rnr" in names else 7
        self.habit = self.draw_habit(lot)

    def draw_end(self, lot, name):
        """Returns a random end, but for a fault that needs traffic one that has such traffic."""
        if name in ("rq_db_lost", "rnr"):
            return "server"
        if KNOBS[name].level == "adapter" or \
                (KNOBS[name].target == "cq" and self.op in RECEIVED and not KNOBS[name].events):
            return lot.choice(("client", "server"))
        return "client"

    def draw_habit(self, lot):
        habit = lot.choice(sorted([*HABITS, "late"]))
        if any(KNOBS[name].events for name, _ in self.faults):
            return "events"
        if any(name in ("cqe_opcode", "cqe_qpn") for name, _ in self.faults):
            return "late"               # otherwise later completions overwrite it
        if habit == "stopped" and any(KNOBS[name].level != "adapter" for name, _ in self.faults):
            habit = lot.choice(("sleeps", "rarely"))
        if habit in ("late", "events") and self.program == "perftest":
            habit = "busy"
        return habit


class EfaConnection(Connection):
    """A connection between two programs, or within one program that has both ends."""

    def __init__(self, scene, adapters, work):
        super().__init__(scene, adapters, work)
        self.rung = self.doorbells()

    def doorbells(self):
        return int(read(self.all["client"].dir + "/doorbells"))

    def listening(self):
        with open("/proc/net/tcp", encoding="ascii") as file:
            return any(f":{self.port:04X} " in line.split(maxsplit=2)[1] + " " and " 0A " in line
                       for line in file.readlines()[1:])

    def start_perftest(self):
        program, *args = PERFTEST[self.scene.op]
        args += ["-F", "-x", "0", "-p", str(self.port), "-s", str(self.scene.size), "-D", "120"]
        self.spawn("server", program, *args, "-d", self.all["server"].dev)
        if until(20, self.listening):
            self.spawn("client", program, *args, "-d", self.all["client"].dev, "localhost")

    def start_srd(self):
        args = ["-u", "-o", self.scene.op, "-s", str(self.scene.size), "-t", "600000",
                "-r", str(self.scene.retries)]
        args += {"events": ["-e"], "late": ["-p", str(PAUSE_MS)]}.get(self.scene.habit, [])
        self.spawn("client", PROGRAMS + "/srd", *args, self.all["client"].dev,
                   self.all["server"].dev)

    def look_up(self, qps):
        """Looks up the QP numbers of both ends; returns true if both ends transfer data."""
        for end, adapter in self.all.items():
            mine = [r for r in qps if r.get("pid") in self.owners(end) and r["state"] in WORKS and
                    r["dev_name"] == adapter.dev]
            if not mine:
                return False
            self.qp[end] = max(mine, key=lambda r: r["qpn"])
        return self.doorbells() - self.rung > BEGUN


class EfaFault(Fault):
    """A fault of these adapters, and the conditions under which it is visible."""

    def __init__(self, *args):
        super().__init__(*args)
        self.watch = None       # thread that samples hits and the number of commands
        self.course = []

    def make(self):
        """Creates an AH on this adapter, to send to the other one."""
        other = next(a for a in self.connection.all.values() if a is not self.adapter)
        run(PROGRAMS + "/srd", "-n", "1", self.adapter.dev, other.dev)

    def ask_and_wait(self):
        """Sends a command that is lost, and waits until the driver has recovered."""
        self.ask_short()
        self.ready = until(30, lambda: self.adapter.cmdq().get("state") == "event")

    def eq_index(self):
        return 1 if self.name == "irq_spurious" else 0

    def fall_silent(self):
        def silent():
            """Returns true after more than four intervals without a keep-alive; three are normal."""
            eq = next(r for r in rows("eq", "-d", self.adapter.dev) if r["role"] == "async")
            return eq.get("last_keep_alive_age", 0) > 4 * max(
                1e9, eq["age"] / max(eq["keep_alive_events"], 1))
        self.ready = until(20, silent)

    def begin_look(self):
        super().begin_look()
        if not self.knob.lasting and any(kind == "counters" for _, kind in self.knob.named):
            self.watch = threading.Thread(target=self.follow, daemon=True)
            self.watch.start()

    def follow(self):
        while not self.over.wait(0.005):
            self.course.append((time.monotonic(), self.adapter.commands(), self.hits()))

    def counted(self):
        """Returns the number of hits at the end of the longest pause between two commands.

        A client that sleeps sends in bursts, and hits before the first or after the last reading
        of the counters are not seen as growth. Only hits during this pause count."""
        if not self.watch:
            return self.hits()
        self.watch.join()
        pauses = [list(group) for commands, group in
                  itertools.groupby(self.course, lambda point: point[1])
                  if self.begun < commands < self.adapter.commands()]
        if not pauses:
            return self.first
        pause = max(pauses, key=lambda points: points[-1][0] - points[0][0])
        self.first = pause[0][2]
        return pause[-1][2]

    def shows(self, alive, _):
        """Returns true if the fault is visible now: it has struck, and its effect persists."""
        during, scene = self.last - self.first, self.connection.scene
        if not self.knob.named or not self.hits() or not self.ready:
            return False
        if self.name == "irq_spurious":
            return scene.habit != "events" and during >= 20
        if self.knob.level == "adapter":
            return self.knob.lasting or during > 0
        if not alive or (self.name == "peer_silent" and scene.op == "ud"):
            return False
        if self.name == "rnr" and scene.op != "ud" and scene.retries == 7:
            return False                # retried without limit, and no counter shows the retries
        return self.knob.lasting or during >= {"retransmit": 40, "rnr": 40}.get(self.name, 2)


MASKS = os.path.dirname(os.path.realpath(__file__)) + "/draw.masks"
