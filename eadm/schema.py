#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a C source of the JSON schema: schema.py SCHEMA OUT."""

import sys

with open(sys.argv[1], encoding="utf-8") as source:
    lines = source.read().splitlines()
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write("// SPDX-License-Identifier: GPL-2.0-or-later\n")
    out.write('#include "schema.h"\n\nconst char json_schema[] =\n')
    for line in lines:
        line = line.replace("\\", "\\\\").replace('"', '\\"')
        out.write(f'\t"{line}\\n"\n')
    out.write("\t;\n")
