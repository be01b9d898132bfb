#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows what the rules find wrong on this machine or in a capture, and why.

Usage: verdicts.py [CAPTURE]
"""

import sys

import eadm


def main() -> int:
    if len(sys.argv) > 2:
        print(__doc__.splitlines()[-1], file=sys.stderr)
        return 2
    try:
        with eadm.open(*sys.argv[1:]) as source:
            verdicts = source.diagnose()
    except eadm.Error as error:
        print(f"diagnosis: {error.strerror}", file=sys.stderr)
        return 1
    for verdict in verdicts:
        print(f"{verdict.rule} {verdict.device}: {verdict.finding}")
        for evidence in verdict.evidence:
            print(f"    {evidence.object} {evidence.id}: {evidence.name} = {evidence.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
