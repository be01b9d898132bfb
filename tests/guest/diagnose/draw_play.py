# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays random scenes and scores the verdicts of eadm diagnose.

A scene is a pair of programs on two adapters and their operation, a habit of the consumer at one end,
and no fault, one, or two, each at one end. The ground truth is the hit count of each knob of the adapter.
A verdict (a warning or critical) is right if its rule and object are those of a fault that has struck.
Any other verdict is false, including one that reports a consequence as the cause. A fault that has struck
and is visible during the diagnosis, but is not named, is missed, unless the list of masks says that the
other fault hides it.

A scene depends only on the seed and its number: --only N repeats scene N of a seed and prints all details.
--from and --to split a long run; each part saves its score in $VM_OUT, and --add, which requires no guest,
adds them up.

The class Cast has the parts that depend on the adapter family.
"""

import argparse
import collections
import json
import os
import sys
import threading
import time

from draw_adapter import rows, run, until
from draw_fault import OTHER, Masks, fact, when
from draw_scene import FAULTED, ROUND, is_faulted
from draw_score import Score

# command: the program, as on the command line. knobs: a dictionary of draw_fault.Knob; left_out: the reason
# for each knob that is not in it. masks: path of the list. adapters: function that creates the dictionary
# of the adapters of both ends. scene, connection, fault: classes.
Cast = collections.namedtuple("Cast", "command knobs left_out masks adapters scene connection fault")


class Pauses(threading.Thread):
    """Pauses of the whole guest, and so of the adapter, which is one of its threads."""

    def __init__(self):
        super().__init__(daemon=True)
        self.list = []

    def run(self):
        before = time.time()
        while True:
            time.sleep(0.1)
            now = time.time()
            if now - before > 0.4:
                self.list.append((before, now))
            before = now

    def explain(self, row):
        begin = (fact(row, "time") or 0) / 1e9
        end = begin + (fact(row, "latency") or 0) / 1e9
        stood = sum(max(0, min(b, end) - max(a, begin)) for a, b in self.list)
        return row["rule"] == "command-slow" and stood * 2 >= end - begin


class Stage:
    """Plays scenes and keeps the score."""

    def __init__(self, options, cast):
        self.options, self.cast = options, cast
        self.adapters = cast.adapters()
        self.masks = Masks(cast.masks)
        self.must_know_all()
        self.pauses = Pauses()
        self.pauses.start()
        self.past = []          # faults of earlier scenes that have struck
        self.began = time.time()
        self.score = Score()
        self.work = f"/tmp/draw.{os.getpid()}"
        os.mkdir(self.work)

    def must_know_all(self):
        """Exits unless every knob of the adapter is either drawn or left out on purpose."""
        there = set(os.listdir(self.adapters["client"].dir + "/fault"))
        other = there.symmetric_difference({*self.cast.knobs, *self.cast.left_out})
        if other:
            raise SystemExit(f"Bail out! knobs of the adapter and of the draw differ: {sorted(other)}")

    # ---- playing ------------------------------------------------------------------------

    def start(self, scenes):
        """Starts the connections of these scenes. Returns None unless all are established."""
        connections = [self.cast.connection(s, self.adapters, self.work) for s in scenes]
        for c in connections:
            c.start()

        def all_there():
            qps = rows("qp")
            return all([c.look_up(qps) for c in connections])
        if not until(25, all_there):
            self.tell_qps(rows("qp"))
            for c in connections:
                print("#   PIDs", {e: p.pid for e, p in c.proc.items()})
                c.stop()
            return None
        for c in connections:
            c.begin_habit()
        return connections

    @staticmethod
    def strike(faults):
        """Strikes with faults of the connection first, because faults of a device end the connection."""
        near = [f for f in faults if f.knob.level == "connection"]
        for f in near:
            f.set()
        if near and near[0].connection.scene.habit == "few":
            near[0].connection.say()
        for f in near:
            until(4, f.hits)
            f.strike()
        far = [f for f in faults if f not in near]
        for f in sorted(far, key=lambda f: bool(f.knob.after)):
            f.set()
            if f.knob.lasting and not f.knob.strike:
                until(4, f.hits)
            f.strike()
        # Lasting faults need time to stall the traffic, others to be counted.
        time.sleep(0.3 if all(f.knob.lasting for f in faults) else 0.1)
        if any(f.knob.events and not f.knob.lasting for f in faults):
            until(4, lambda: all(f.hits() > 1 for f in faults))

    def look(self, faults, connection):
        """Returns all verdicts, the time, and for each end true if its CQs made no progress meanwhile."""
        near = any(f.name.startswith("cqe_") for f in faults)
        before = connection.indices() if near else {}
        for f in faults:
            f.begin_look()
        result = run("eadm", "diagnose", "-i", "600ms", "--json")
        now = time.time()
        for f in faults:
            f.end_look()
            f.last = f.counted()
        after = connection.indices() if near else {}
        if not result.stdout:
            raise SystemExit(f"Bail out! eadm diagnose: {result.stderr}")
        document = json.loads(result.stdout)
        if document.get("notes"):
            print("#", document["notes"])
        severities = [r["severity"] for r in document["rows"] if r["severity"] != "notice"]
        status = {"critical": 8, "warning": 7}[severities[0]] if severities else \
            6 if document.get("notes") else 0
        if result.returncode != status:
            raise SystemExit(f"Bail out! status {result.returncode}, not {status}")
        return document["rows"], now, {end: before.get(end) == after.get(end) for end in OTHER}

    def play(self, scenes):
        """Plays one scene, or several scenes without faults together."""
        begin = time.monotonic()
        for name, end in scenes[0].faults:
            if self.cast.knobs[name].before:
                getattr(self.adapters[end], self.cast.knobs[name].before)()
        connections = self.start(scenes)
        if not connections:
            self.tell_logs()
            self.score.wrong += [f"{s}: no connection" for s in scenes]
            return
        for name in os.listdir(self.work):
            os.unlink(f"{self.work}/{name}")
        faults = [self.cast.fault(*f, connections[0], self.cast.knobs) for f in scenes[0].faults]
        try:
            words = self.judge(scenes, connections, faults)
        finally:
            for f in faults:
                f.calm()
            for c in connections:
                c.stop()
        for f in sorted(faults, key=lambda f: f.knob.after == "replug"):
            f.mend()
        self.past += [f for f in faults if f.hits() or f.knob.after]
        took = f"{time.monotonic() - begin:.1f} s"
        for s in scenes:
            print(f"# {s}: {'; '.join(words) or 'right'} ({took})")
            if words:
                self.score.wrong.append(f"{s}: {'; '.join(words)}; again: {self.cast.command} "
                                        f"--seed {self.options.seed} --only {s.number}")
        sys.stdout.flush()

    # ---- judging ------------------------------------------------------------------------

    def judge(self, scenes, connections, faults):
        """Returns a list of texts about wrong verdicts."""
        if faults:
            self.strike(faults)
        else:
            time.sleep(0.5)
        every, now, stands = self.look(faults, connections[0])
        qps = rows("qp")
        alive = all(connections[0].row(end, qps) for end in OTHER)
        self.score.played += len(scenes)
        self.score.healthy += 0 if faults else len(scenes)
        struck = [f for f in faults if f.hits()]
        false = []
        for row in every:
            if any(f.is_right(row, now) for f in struck):
                self.score.rules[row["rule"] + "|right"] += 1
            elif row["severity"] != "notice" and not self.is_past(row, now):
                self.score.rules[row["rule"] + "|false"] += 1
                false.append(row)
        missed = [f for f in faults if self.judge_fault(f, faults, every, now, alive, stands)]
        if false or missed or self.options.only is not None:
            self.tell(every, connections, faults, qps)
        return [f"verdict without a hit: {r['rule']} {r['dev_name']} {r['object']} {r.get('id')}"
                for r in false] + [f"missed: {f.name} at {f.end}" for f in missed]

    def is_past(self, row, now):
        """Returns true if an event before this scene, or a pause of the guest, explains the verdict."""
        return (when(row, now) or now) < self.began or self.pauses.explain(row) or \
            any(f.is_right(row, now) or f.is_mending(row, now) for f in self.past)

    def judge_fault(self, fault, faults, every, now, alive, stands):
        """Returns true if the fault is missed."""
        if not fault.hits():
            what = "no hit"
        elif any(fault.is_named_by(row, now) for row in every):
            what = "named"
        elif not fault.shows(alive, stands):
            what = "does not show"
        elif any(self.masks.hide(fault, o) for o in faults if o is not fault and o.hits()):
            what = "masked"
        else:
            what = "missed"
            self.score.rules[fault.knob.named[0][0] + "|missed"] += 1
        self.score.faults[f"{fault.name}|{what}"] += 1
        if what != "named":
            print(f"#   {fault.name} at {fault.end}: {what}, {fault.hits()} hits")
        return what == "missed"

    # ---- output -------------------------------------------------------------------------

    @staticmethod
    def tell_qps(qps):
        keys = ("dev_name", "qpn", "state", "pid", "comm", "sq_pi", "rq_pi", "local_port", "peer_port")
        for r in qps:
            print("#  ", {k: r[k] for k in keys if k in r})

    def tell_logs(self):
        for name in sorted(os.listdir(self.work)):
            with open(f"{self.work}/{name}", encoding="utf-8", errors="replace") as log:
                print("#  ", name, log.read().replace("\n", "\n#      "))

    def tell(self, every, connections, faults, qps):
        for row in every:
            print("#  ", row["severity"], row["rule"], row["dev_name"], row["object"],
                  row.get("id"), row["finding"])
            print("#     ", " ".join(f"{e['name']}={e['value']}" for e in row["evidence"]))
            for a in row.get("affects", []):
                print("#      affects", a["dev_name"], a["object"], a.get("id"), a["finding"])
        for c in connections:
            print("#   QPs", {e: q["qpn"] for e, q in c.qp.items()})
        self.tell_qps(qps)
        for f in faults:
            print(f"#   {f.name} at {f.end}: {f.hits()} hits, {f.last - f.first} in the look")


def groups(scenes):
    """Groups the healthy scenes of each round."""
    found = []
    for s in scenes:
        if found and not s.faults and not found[-1][0].faults and \
                s.number // ROUND == found[-1][0].number // ROUND:
            found[-1].append(s)
        else:
            found.append([s])
    return found


def parse(cast):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--scenes", type=int, default=300,
                        help=f"number of scenes; {FAULTED} of {ROUND} have faults")
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="N")
    parser.add_argument("--to", dest="last", type=int, metavar="N", help="number after the last scene")
    parser.add_argument("--only", type=int, metavar="N")
    parser.add_argument("--knobs", nargs="+", choices=sorted(cast.knobs), metavar="KNOB",
                        help="use these one or two knobs instead of drawn ones")
    parser.add_argument("--add", nargs="+", metavar="FILE", help="add up the scores of the parts of a run")
    return parser.parse_args()


def add(files):
    score = Score()
    for path in files:
        score.add(path)
    score.report("all")
    return 1 if score.wrong else 0


def main(cast):
    """Returns the exit status."""
    options = parse(cast)
    if options.add:
        return add(options.add)
    first, last = options.first, options.scenes if options.last is None else options.last
    if options.only is not None:
        first, last = options.only, options.only + 1
    numbers = [n for n in range(first, last) if not options.knobs or is_faulted(n)]
    stage = Stage(options, cast)
    for group in groups([cast.scene(options.seed, n, options.knobs) for n in numbers]):
        stage.play(group)
    stage.score.report(f"seed {options.seed}, {first} to {last - 1}")
    if os.environ.get("VM_OUT"):
        stage.score.save(f"{os.environ['VM_OUT']}/draw.{options.seed}.{first}-{last}.json")
    good = not stage.score.wrong
    print(f"{'ok' if good else 'not ok'} 1 - scenes {first} to {last - 1} of seed {options.seed}: "
          "each verdict has its fault, each fault its verdict")
    print("1..1")
    return 0 if good else 1
