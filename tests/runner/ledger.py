# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/ledger, which remembers what ran, and the table of suites in tests/README.md."""

import os
import re
import statistics
import subprocess
import time

from suite import TESTS, all_suites

LEDGER = f"{TESTS}/ledger"
README = f"{TESTS}/README.md"
# The minutes of a suite are those of its last runs.
LAST_RUNS = 3


def git(*args):
    return subprocess.run(["git", *args], cwd=TESTS, stdout=subprocess.PIPE,
                          text=True, check=True).stdout.strip()


def commit():
    """What is run: the commit, with "+" when the tree differs from it."""
    changed = git("status", "--porcelain", "--", "..", ":!ledger")
    return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")


def note(suites, at):
    """Adds what ran to the ledger."""
    with open(LEDGER, "a", encoding="utf-8") as file:
        for suite in suites:
            if not suite.seconds:
                continue
            kernels = os.environ.get("EADM_TEST_KERNELS", suite.kernels or "-") \
                if suite.has_guests or suite.kernels else "-"
            if os.environ.get("EADM_TESTS") == "full":
                kernels += "/full"
            file.write(f"{time.strftime('%Y-%m-%d')} {at} {suite.name} "
                       f"{kernels.replace(' ', ',')} {suite.passed} passed, "
                       f"{suite.failed} failed, {suite.seconds:.0f} s\n")


def minutes(suites):
    """By suite, the median of its last runs with its own choice of kernels."""
    own = {suite.file: (suite.kernels or "-").replace(" ", ",") for suite in suites}
    took = {}
    with open(LEDGER, encoding="utf-8") as file:
        for line in file:
            match = re.match(r"(?!#)\S+ \S+ (\S+) (\S+) .*, (\d+) s$", line)
            if match and own.get(match[1]) == match[2]:
                took.setdefault(match[1], []).append(int(match[3]) / 60)
    return {name: statistics.median(times[-LAST_RUNS:]) for name, times in took.items()}


def table():
    suites = all_suites()
    took = minutes(suites)
    yield "| suite | level | what | where, below tests/ | minutes |"
    yield "|---|---|---|---|---|"
    for suite in sorted(suites, key=lambda s: (s.level != "gate", s.name)):
        last = f"{took[suite.file]:.1f}" if suite.file in took else ""
        where = ", ".join(f"`{folder}`" for folder in suite.where)
        yield f"| {suite.file} | {suite.level} | {suite.about} | {where} | {last} |"


def update_readme():
    with open(README, encoding="utf-8") as file:
        text = file.read()
    rows = "\n".join(table())
    with open(README, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^\| suite \|.*\n(\|.*\n)*", lambda _: rows + "\n", text, flags=re.M))
