# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests as functions, results as TAP, and the knobs of the fake driver."""

import json
import os
import subprocess
import sys
import time
import traceback

HERE = os.path.dirname(os.path.realpath(__file__))
KNOBS = "/sys/module/fakediag/parameters"
# Keep in order: later tests may leave the machine changed.
TESTS = []


class Skip(Exception):
    """This machine cannot show it; says what is missing."""


def test(name, timed=False):
    """A test; a timed one depends on how fast the machine is."""
    def add(function):
        function.timed = timed
        TESTS.append((name, function))
        return function
    return add


def same(got, want, what="value"):
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


def wait_until(condition, limit=20):
    """Waits for a condition; fails after so many seconds."""
    end = time.monotonic() + limit * int(os.environ.get("EADM_PATIENCE", 1))
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("the condition did not come true")
        time.sleep(0.01)


def knob(name, value):
    with open(f"{KNOBS}/{name}", "w", encoding="ascii") as file:
        file.write(str(value))


def knob_value(name):
    with open(f"{KNOBS}/{name}", encoding="ascii") as file:
        return int(file.read())


def reset():
    """The device with ten QPs that this process owns."""
    knob("hold", 0)
    knob("rows", 10)
    knob("owner", 1)
    knob("live", 1)


def command(*args, check=True):
    done = subprocess.run(args, text=True, check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if check and done.returncode:
        raise AssertionError(f"{args}: status {done.returncode}: {done.stderr}{done.stdout}")
    return done


def reader(*args, through=()):
    """Asks from a process of its own, started through a command."""
    done = command(*through, sys.executable, f"{HERE}/rawnl.py", *args)
    return json.loads(done.stdout)


def run():
    failed = 0
    for name, function in TESTS:
        try:
            function()
            print(f"ok - {name}", flush=True)
        except Skip as missing:
            print(f"ok - {name} # SKIP {missing}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
            print(f"not ok - {name}", flush=True)
            if os.path.isdir(KNOBS):
                reset()
    return 1 if failed else 0
