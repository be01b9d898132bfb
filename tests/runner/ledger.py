# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/ledger, which remembers what ran, and the table of suites in tests/README.md.

A line: DATE COMMIT SUITE KERNELS in:KEY kv:VERSION stall:S N passed, M failed, T s
with the digest of the suite's inputs, the version of the first kernel ("-": no guest), and the
seconds for which the runner was not run."""

import datetime
import os
import re
import statistics
import subprocess
import time

import inputs
from suite import TESTS, all_suites

LEDGER = f"{TESTS}/ledger"
README = f"{TESTS}/README.md"
REQUIRED = f"{TESTS}/kernels"
# The minutes of a suite are those of its last runs.
LAST_RUNS = 3
# A pass of older inputs is none; one that is older than this is not one either, as the packages
# of the machine have changed.
DAYS = 60
LINE = re.compile(r"(\S+) \S+ (\S+) (\S+) in:(\S+) kv:\S+ stall:\d+ (\d+) passed, (\d+) failed, (\d+) s$")


class Entry:
    """One line."""

    def __init__(self, match):
        self.date = datetime.date.fromisoformat(match[1])
        self.suite, self.kernels, self.key = match[2], match[3], match[4]
        self.passed, self.failed, self.seconds = (int(match[n]) for n in (5, 6, 7))


def entries():
    with open(LEDGER, encoding="utf-8") as file:
        return [Entry(match) for line in file if (match := LINE.match(line))]


def kernels_of(suite):
    """As the ledger names them."""
    kernels = os.environ.get("EADM_TEST_KERNELS", suite.kernels or "-") \
        if suite.has_guests or suite.kernels else "-"
    return kernels.replace(" ", ",")


def version_of(kernels):
    """Package version of the first of these kernels."""
    if kernels == "-":
        return "-"
    done = subprocess.run([f"{TESTS}/vm/fetch", kernels.split(",")[0]], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=False)
    try:
        with open(f"{done.stdout.strip()}/version", encoding="utf-8") as file:
            return file.read().split()[-1]
    except OSError:
        return "?"


def note(suite, at):
    """Adds what ran to the ledger."""
    kernels = kernels_of(suite)
    version = version_of(kernels)
    if os.environ.get("EADM_TESTS") == "full":
        kernels += "/full"
    with open(LEDGER, "a", encoding="utf-8") as file:
        file.write(f"{time.strftime('%Y-%m-%d')} {at} {suite.name} {kernels} in:{suite.key} "
                   f"kv:{version} stall:{suite.stall:.0f} {suite.passed} passed, "
                   f"{suite.failed} failed, {suite.seconds:.0f} s\n")


def required(suites):
    """Suites of the deep level and the kernels that a release requires them on."""
    with open(REQUIRED, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    for kernel, *words in rows:
        for suite in suites:
            if suite.level == "deep" and f"-{suite.file}" not in words and \
                    {"deep", *suite.tags, suite.file} & set(words):
                yield suite, (suite.kernels or "-").replace(" ", ",") if kernel == "-" else kernel


def stale():
    """(suite, kernels, why) without a pass that counts."""
    last = {}
    for entry in entries():
        last[entry.suite, entry.kernels.removesuffix("/full")] = entry
    oldest = datetime.date.today() - datetime.timedelta(days=DAYS)
    for suite, kernels in required(all_suites()):
        entry = last.get((suite.name, kernels))
        if not entry:
            yield suite.name, kernels, "never run"
        elif entry.failed or not entry.passed:
            yield suite.name, kernels, "failed last"
        elif entry.key != inputs.key(suite):
            yield suite.name, kernels, "its inputs have changed"
        elif entry.date < oldest:
            yield suite.name, kernels, f"passed more than {DAYS} days ago"


def minutes(suites):
    """By suite, the median of its last runs with its own choice of kernels."""
    own = {suite.file: (suite.kernels or "-").replace(" ", ",") for suite in suites}
    took = {}
    for entry in entries():
        if own.get(entry.suite) == entry.kernels:
            took.setdefault(entry.suite, []).append(entry.seconds / 60)
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
