#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Follows the flight recorder of a device, or shows that of a capture: slow commands only.

Usage: slow.py DEVICE MILLISECONDS [CAPTURE]
"""

import sys
from typing import Iterable

import eadm


def main() -> int:
    if len(sys.argv) not in (3, 4) or not sys.argv[2].isdecimal():
        print(__doc__.splitlines()[-1], file=sys.stderr)
        return 2
    device, least = sys.argv[1], int(sys.argv[2]) * 1000000
    try:
        with eadm.open(*sys.argv[3:]) as source:
            # Live, it waits for the next command; a capture has only those recorded.
            commands: Iterable[eadm.Record]
            if source.live:
                commands = source.trace(device, min_latency=least)
            else:
                commands = source.dump("cmd", device=device, min_latency=least)
            for command in commands:
                print(f"{command['op']} {command['state']} {command.raw('latency') / 1e6:.3f} ms",
                      flush=True)
    except eadm.Error as error:
        print(f"{device}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
