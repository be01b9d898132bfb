#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows every field that each row of an object has, and what is missing.

Usage: fields.py OBJECT [CAPTURE]
"""

import sys

import eadm


def main() -> int:
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in eadm.objects():
        print(__doc__.splitlines()[-1], file=sys.stderr)
        return 2
    fields = eadm.objects()[sys.argv[1]].fields
    try:
        with eadm.open(*sys.argv[2:]) as source:
            rows = source.dump(sys.argv[1])
            for row in rows:
                print(*(f"{fields[key].name}={row.text(key)}{fields[key].unit}" for key in row))
            for note in rows.notes:
                print(f"{note.what}: {note.why}", file=sys.stderr)
    except eadm.Error as error:
        print(f"{sys.argv[1]}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
