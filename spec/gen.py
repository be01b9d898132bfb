#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Derives all tables from spec/eadm.yaml and spec/families.

The output contains only data: numbers, structs, policies and field tables. The code that
uses them is written by hand. The generated files of the kernel modules, and one page of the
documentation, are in the tree. The tables of user space are divided into parts, which the
build derives (spec/derive).
"""

import argparse
import difflib
import os
import sys

import yaml

from contract import Spec
from emit import DO_NOT_EDIT, SpecError
from gen_counters import counter_files
from gen_explain import explain_page, explain_table, read_explain
from gen_family import Families
from gen_kernel import (family_snap, gen_interface, gen_kernel_ids, gen_kernel_ops, gen_kernel_tables, gen_nests,
                        gen_snap, gen_uapi, gen_values)
from gen_library import gen_fields_c, gen_fields_h
from gen_ynl import gen_ynl
from json_schema import json_schema
from lock import lock_update
from man_fields import gen_man

HERE = os.path.dirname(os.path.realpath(__file__))
REPO = os.path.dirname(HERE)
# Headers that are not generated, and are shared by the companion and the drivers.
INTERFACE = [f"{REPO}/kmod/include/{name}.h" for name in ("eadm_diag", "eadm_failures")]


def tree_files(spec, families, explain):
    """Returns the generated files that are in the tree: text by path."""
    files = {"kmod/uapi/eadm_values.h": gen_values(spec),
             "kmod/uapi/eadm_nests.h": gen_nests(spec),
             "kmod/uapi/eadm_nl.h": gen_uapi(spec),
             "kmod/include/eadm_snap.h": gen_snap(spec),
             "kmod/eadm/generated/tables.c": gen_kernel_tables(spec),
             "kmod/eadm/generated/ops.c": gen_kernel_ops(spec),
             "kmod/eadm/generated/ids.h": gen_kernel_ids(spec),
             "docs/explain.md": explain_page(explain),
             **families.kernel_files(), **families.list_for_meson()}
    for family in spec.families:
        files[f"kmod/include/{family.name}_snap.h"] = family_snap(spec, family)
    snaps = [text for path, text in files.items() if path.endswith("_snap.h")]
    files["kmod/include/eadm_interface.h"] = gen_interface([*snaps, *map(read, INTERFACE)])
    return files


def parts_of(spec, families, explain):
    """Returns a function for each part that the build derives, which returns text by file name."""
    return {
        "model": lambda: {"fields.h": gen_fields_h(spec), "fields.c": gen_fields_c(spec),
                          **counter_files()},
        "family": families.tables,
        "probe": families.commands,
        "explain": lambda: {"table.c": explain_table(explain)},
        "contract": lambda: {"eadm.yaml": gen_ynl(spec),
                             "eadm.schema.json": json_schema(spec, DO_NOT_EDIT)},
        "man": lambda: {"eadm-fields.7": gen_man(spec), **families.pages()},
    }


def read(path):
    try:
        with open(path, encoding="utf-8") as source:
            return source.read()
    except FileNotFoundError:
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--check", action="store_true",
                        help="write nothing; fail if a generated file is out of date")
    parser.add_argument("--list", action="store_true",
                        help="write nothing; print the paths of the generated files")
    parser.add_argument("--part", help="write only this part of the files that the build derives")
    parser.add_argument("--spec", default=os.path.join(HERE, "eadm.yaml"))
    parser.add_argument("--families", default=os.path.join(HERE, "families"),
                        help="directory with the descriptions of families")
    parser.add_argument("--explain", default=os.path.join(HERE, "explain"),
                        help="directory with the data of eadm explain")
    parser.add_argument("--lock", default=os.path.join(HERE, "abi.lock"))
    parser.add_argument("--out", default=REPO, help="root directory for the generated files")
    opts = parser.parse_args()

    spec = Spec(opts.spec, opts.families)
    families = Families(spec, opts.families)
    lock = None if opts.part else lock_update(spec, read(opts.lock))
    explain = read_explain(opts.explain, spec.families)
    parts = parts_of(spec, families, explain)
    if opts.part and opts.part not in parts:
        raise SpecError(f"unknown part '{opts.part}' (known: {', '.join(parts)})")
    if opts.part:
        made = parts[opts.part]()
    else:
        # Derive all parts of the build as well, to detect errors in a description early.
        for derive in parts.values():
            derive()
        made = tree_files(spec, families, explain)
    files = {os.path.join(opts.out, path): text for path, text in made.items()}
    if lock is not None:
        files[opts.lock] = lock
    if opts.list:
        print(*sorted(os.path.relpath(path, opts.out) for path in files), sep="\n")
        return
    stale = 0
    for path, text in files.items():
        old = read(path)
        if old == text:
            continue
        stale += 1
        if opts.check:
            diff = difflib.unified_diff(old.splitlines(True), text.splitlines(True),
                                        path, "generated", n=1)
            sys.stdout.writelines(list(diff)[:40])
            continue
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
    if opts.check and stale:
        raise SpecError(f"{stale} generated files are out of date: run spec/gen.py")


if __name__ == "__main__":
    try:
        main()
    except (SpecError, yaml.YAMLError, KeyError, OSError) as error:
        sys.exit(f"gen.py: {type(error).__name__ if isinstance(error, KeyError) else ''}{error}")
