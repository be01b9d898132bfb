# SPDX-License-Identifier: GPL-2.0-or-later
"""The score of random scenes: counts that can be added up."""

import collections
import json
import sys


class Score:
    """Counts of verdicts and faults."""

    def __init__(self):
        self.rules = collections.Counter()      # "rule|right"
        self.faults = collections.Counter()     # "fault|named"
        self.wrong = []
        self.played = self.healthy = 0

    def save(self, path):
        with open(path, "w", encoding="ascii") as file:
            json.dump({**self.__dict__}, file)

    def add(self, path):
        with open(path, encoding="ascii") as file:
            part = json.load(file)
        self.rules.update(part["rules"])
        self.faults.update(part["faults"])
        self.wrong += part["wrong"]
        self.played += part["played"]
        self.healthy += part["healthy"]

    @staticmethod
    def table(counter, head, columns):
        print(f"# | {head:22} | " + " | ".join(columns) + " |")
        print("# " + "|---" * (len(columns) + 1) + "|")
        for name in sorted({key.split("|")[0] for key in counter}):
            print(f"# | {name:22} | " + " | ".join(
                f"{counter[f'{name}|{c}']:{len(c)}}" for c in columns) + " |")

    def report(self, title):
        self.table(self.rules, "rule", ("right", "false", "missed"))
        self.table(self.faults, "fault",
                   ("named", "missed", "masked", "does not show", "no hit"))

        def total(counter, what):
            return sum(n for key, n in counter.items() if key.endswith("|" + what))
        right, false = total(self.rules, "right"), total(self.rules, "false")
        named, missed = total(self.faults, "named"), total(self.faults, "missed")
        print(f"# {title}: {self.played} scenes, {self.healthy} of them healthy; {right} verdicts "
              f"right, {false} false; {named} faults named, {missed} missed; precision "
              f"{right / (right + false) if right + false else 1:.3f}, recall "
              f"{named / (named + missed) if named + missed else 1:.3f}")
        for line in self.wrong:
            print("# wrong:", line)
        sys.stdout.flush()
