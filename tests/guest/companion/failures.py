# SPDX-License-Identifier: GPL-2.0-or-later
"""Past failures: what is kept of them, how long, and who sees whose they were."""

import os
import subprocess

from harness import KNOBS, knob, reader, reset, same, test, wait_until
from rawnl import VALUES, Client

QP, DEVICE = VALUES["failure-kind"]["qp"], VALUES["failure-kind"]["device"]
RETRIES, OVERRUN = VALUES["cause"]["retries-exceeded"], VALUES["cause"]["overrun"]
KEPT, RUN = 1024, 256


def rows():
    return Client().dump("failure").rows


def totals():
    return {(r["kind"], r["cause"]): r["count"] for r in Client().dump("failure-total").rows}


@test("a failure has its time, object, owner, peer and cause")
def one():
    reset()
    knob("fail", f"{QP} {RETRIES} 1")
    row = rows()[-1]
    with open("/proc/self/comm", encoding="ascii") as file:
        comm = file.read().strip()
    same({name: row[name] for name in ("kind", "cause", "id", "times", "pid", "comm", "ended",
                                       "peer-port")},
         {"kind": QP, "cause": RETRIES, "id": 1, "times": 1, "pid": os.getpid(),
          "comm": comm, "ended": 0, "peer-port": 7174})
    same("local-addr" in row, False, "an address that is not known")
    same(0 < row["age"] < 600 * 10**9, True, "age")
    same(Client().do("failure", **{"dev-name": "fake0", "seq": row["seq"]}).rows[0]["id"], 1)


@test("its process is known to have ended, and is not taken for a later one")
def ended():
    with subprocess.Popen(["bash", "-c", f"echo {QP} {RETRIES} 1 >{KNOBS}/fail; echo; read -r x"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        same((rows()[-1]["pid"], rows()[-1]["ended"]), (process.pid, 0))
        process.stdin.close()
        # A zombie until it is waited for.
        wait_until(lambda: rows()[-1]["ended"] == 1)
        process.wait()
    same((rows()[-1]["pid"], rows()[-1]["comm"], rows()[-1]["ended"]), (process.pid, "bash", 1))


@test("in another PID namespace only its own processes are named")
def namespaces():
    inside = ("unshare", "-pf", "--mount-proc")
    out = reader("dump", "failure", through=inside)["rows"]
    same(len(out) > 0, True, "rows")
    same([r for r in out if {"pid", "comm", "ended", "cgroup-id"} & set(r)], [])


@test("a failure can be noted in an interrupt")
def interrupt():
    before = totals().get((DEVICE, VALUES["cause"]["adapter-gone"]), 0)
    knob("fail_irq", 1)
    same(totals()[(DEVICE, VALUES["cause"]["adapter-gone"])], before + 1)
    row = rows()[-1]
    same((row["kind"], "id" in row, "pid" in row), (DEVICE, False, False))


@test("a storm of one cause does not drive out what was before it")
def storm():
    before, last = totals(), rows()[-1]["seq"]
    knob("fail", f"{QP} {OVERRUN} 3000")
    new = [r for r in rows() if r["seq"] > last]
    same(len(new), RUN)
    same((new[0]["times"], new[-1]["times"]), (1, 3000 - RUN + 1))
    same(totals()[(QP, OVERRUN)], before.get((QP, OVERRUN), 0) + 3000)
    same(rows()[0]["seq"], 1, "the oldest one")


@test("the newest ones are kept, and totals forget nothing")
def newest():
    before, last = totals(), rows()[-1]["seq"]
    for _ in range(KEPT // 200 + 1):
        knob("fail", f"{QP} {RETRIES} 100")
        knob("fail", f"{QP} {OVERRUN} 100")
    added = (KEPT // 200 + 1) * 200
    seqs = [r["seq"] for r in rows()]
    same(seqs, list(range(last + added - KEPT + 1, last + added + 1)))
    same(totals()[(QP, RETRIES)], before[(QP, RETRIES)] + added // 2)
