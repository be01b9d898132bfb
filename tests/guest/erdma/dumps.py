#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the commands in its arguments, one after the other, at least once and until its
input ends. Adapters may vanish meanwhile. Each command has to end in time with a complete
JSON document that contains rows or a clear error. If a command does not, prints the first
bad outputs and exits with status 1."""

import collections
import json
import os
import select
import subprocess
import sys

LIMIT = 30 * int(os.environ.get("EADM_PATIENCE", 1))
SHOWN = 5


def judge(status, out, err):
    """Returns None, or the reason why the output is bad."""
    try:
        document = json.loads(out)
    except ValueError as error:
        return f"no JSON document: {error}"
    if not isinstance(document, dict) or document.get("schema") != 1:
        return "no document of ours"
    if status == 0:
        return None if "rows" in document else "no rows"
    # Rows, with something left out and the reason.
    if status == 6 and document.get("rows") and all(n.get("why") for n in document["notes"]):
        return None if document["notes"] else "nothing says what is missing"
    error = document.get("error")
    if not isinstance(error, dict) or not error.get("why"):
        return "no reason"
    if error.get("status") != status:
        return f"status {error.get('status')} inside"
    if err and not err.startswith("eadm: "):
        return "noise on standard error"
    return None


def main(commands):
    told, bad = collections.Counter(), 0
    ended = False
    while not ended:
        for command in commands:
            try:
                done = subprocess.run(command.split(), stdin=subprocess.DEVNULL, check=False,
                                      capture_output=True, text=True, timeout=LIMIT)
            except subprocess.TimeoutExpired:
                bad += 1
                print(f"'{command}' does not end within {LIMIT} s")
                continue
            told[f"{command}: status {done.returncode}"] += 1
            wrong = judge(done.returncode, done.stdout, done.stderr)
            if wrong:
                bad += 1
                if bad <= SHOWN:
                    print(f"'{command}', status {done.returncode}: {wrong}\n"
                          f"{done.stdout[-500:]}\n{done.stderr[-500:]}")
        ended = select.select([sys.stdin], [], [], 0)[0]
    for what, times in sorted(told.items()):
        print(f"{times} times {what}")
    return 1 if bad else 0


sys.exit(main(sys.argv[1:]))
