# SPDX-License-Identifier: GPL-2.0-or-later
"""Test cases as TAP: each gets a folder of its own beside the captures."""

import os
import tempfile
import traceback

import captures

cases = []


def case(name, timed=False):
    """A test case; a timed one depends on how fast the machine is."""
    def add(function):
        cases.append((name, function, timed))
        return function
    return add


def equal(got, want, what="value"):
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


def true(value, what):
    if not value:
        raise AssertionError(what)


class Place:
    """Where a case may write, and where the captures are."""

    def __init__(self, base, number):
        self.captures = f"{base}/captures"
        self.folder = f"{base}/{number}"
        os.mkdir(self.folder)

    def capture(self, name):
        return f"{self.captures}/{name}.pcapng"

    def write(self, name, text):
        path = f"{self.folder}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


def run(names):
    """Runs the cases whose function is named, those that are timed or not (--timed, --untimed),
    or all; the exit status."""
    chosen = [c for c in cases if not names or c[1].__name__ in names or
              ("--timed" if c[2] else "--untimed") in names]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="eadm-exporter.") as base:
        os.mkdir(f"{base}/captures")
        captures.make(f"{base}/captures")
        for number, (name, function, _) in enumerate(chosen, 1):
            try:
                function(Place(base, number))
                print(f"ok {number} - {name}", flush=True)
            except Exception:
                failed += 1
                for line in traceback.format_exc().splitlines():
                    print(f"# {line}")
                print(f"not ok {number} - {name}", flush=True)
    print(f"1..{len(chosen)}")
    return 1 if failed or not chosen else 0
