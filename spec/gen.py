#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Derives every table of the tree from spec/eadm.yaml and spec/families.

The output holds data only: numbers, structs, policies, field tables. What is
done with them is written by hand where it is done.
"""

import argparse
import difflib
import glob
import os
import re
import sys

import yaml

from emit import DO_NOT_EDIT, SpecError, c_array, c_const, c_name, c_string, header, packed, roff
from gen_explain import explain_files
from gen_family import OTHER, family_files, family_man
from json_schema import json_schema
from yaml_source import read_yaml

HERE = os.path.dirname(os.path.realpath(__file__))
REPO = os.path.dirname(HERE)

COMMON = ["dev-index", "dev-name", "query-hw", "hw-error", "family"]
# Attributes that the companion fills in itself.
KNOWN = ["dev-index", "dev-name", "family"]
# The nest with a family's fields of an object has this number plus the family's number.
NEST = 256
OWNER = ["pid", "comm", "cgroup-id", "netns", "res-id"]
TYPES = ["flag", "u32", "s32", "u64", "uint", "string", "binary", "unused"]
KINDS = ["id", "gauge", "counter", "state", "flags", "address", "secret", "time",
         "age", "name", "bytes", "data"]
SHOWS = ["always", "wide", "never"]
PERMS = ["none", "admin", "rawio"]
FORMS = ["none", "ip", "mac", "guid"]
REDACTS = ["text", "host", "process", "keep", "drop"]
# What of a host's set-up it is, for comparing hosts; rows of one device differ by a "name".
SETUPS = ["none", "name", "service", "speed", "version"]
METRICS = ["none", "value", "sum", "label", "info"]
ROWS = ["many", "few", "fixed", "past"]
OBJECT_KEYS = {"key", "title", "cmd", "rows", "layout", "metric", "of", "extras"}
# Filters of dumps, with the allowed types of the attribute and of the field.
FILTERS = {"from": [("u32", "u32"), ("uint", "uint")], "among": [("u32", "u32")],
           "least": [("uint", "uint")], "only": [("uint", "uint")]}
INDICES = [None, "sq", "rq", "cq", "eq", "cmd-sq", "cmd-cq"]
VIEW_KEYS = {"tool", "kind", "unit", "head", "show", "perm", "hw", "metric", "len",
             "base", "form", "bits", "cut", "index", "redact", "setup"}
# Words that cannot be the name of a struct member, including macros of the
# kernel.
RESERVED = set("""auto break case char const continue current default do double
else enum extern float for goto has if inline int linux long register restrict
return short signed sizeof static struct switch typedef union unix unsigned void
volatile while""".split())


# ---------------------------------------------------------------- the model

class Enum:
    """A named list of values: an enumeration or a set of flags."""

    def __init__(self, raw):
        self.name = raw["name"]
        self.doc = raw.get("doc", "")
        self.flags = raw["type"] == "flags"
        self.entries = []
        self.classes = {}
        value = -1
        for entry in raw["entries"]:
            entry = {"name": entry} if isinstance(entry, str) else entry
            value = entry.get("value", value + 1)
            self.entries.append((entry["name"], value, entry.get("doc", "")))
            if "x-class" in entry:
                self.classes.setdefault(entry["x-class"], []).append(entry["name"])
        for what in 0, 1:
            seen = [e[what] for e in self.entries]
            if len(set(seen)) != len(seen):
                raise SpecError(f"enum {self.name}: a name or a value is there twice")
        if self.classes and sum(map(len, self.classes.values())) != len(self.entries):
            raise SpecError(f"enum {self.name}: entries with x-class and without")

    def number(self, value):
        return 1 << value if self.flags else value

    def const(self, name):
        return c_const(self.name, name)


class Field:
    """An attribute of a set."""

    def __init__(self, where, number, raw, enums):
        self.name, self.attr, self.type = raw["name"], number, raw["type"]
        self.doc = raw.get("doc", "")
        self.where = f"{where}.{self.name}"
        self.request = raw.get("x-request", False)
        self.set = bool(raw.get("x-set"))
        self.unused = self.type == "unused"
        self.enum = enums.get(raw.get("enum"))
        view = raw.get("x-view", {})
        if self.type not in TYPES:
            raise SpecError(f"{self.where}: unknown type '{self.type}'")
        if raw.get("enum") and not self.enum:
            raise SpecError(f"{self.where}: unknown enum '{raw['enum']}'")
        if bool(raw.get("enum-as-flags")) != bool(self.enum and self.enum.flags):
            raise SpecError(f"{self.where}: enum-as-flags goes with a flags definition")
        if set(view) - VIEW_KEYS:
            raise SpecError(f"{self.where}: unknown x-view key {set(view) - VIEW_KEYS}")
        self.c = c_name(self.name)
        self.kind = view.get("kind", "state")
        self.unit = view.get("unit")
        self.head = view.get("head", self.name.upper())
        self.tool = bool(view.get("tool"))
        self.show = view.get("show", "wide")
        self.perm = view.get("perm", "none")
        self.form = view.get("form", "none")
        self.hw = bool(view.get("hw"))
        self.cut = bool(view.get("cut"))
        self.metric = view.get("metric", self.usual_metric()) or "none"
        self.len = view.get("len", 0)
        self.base = view.get("base", 10)
        self.bits = view.get("bits", 0)
        self.index = view.get("index")
        self.redact = view.get("redact", "text")
        self.setup = view.get("setup", "none")
        self.check(view)

    def usual_metric(self):
        if self.kind in ("gauge", "counter", "age") or self.kind == "state" and self.enum:
            return "value"
        if self.kind in ("name", "address") or self.kind == "id" and self.show == "always":
            return "info"
        return "none"

    def check(self, view):
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", self.name):
            raise SpecError(f"{self.where}: bad name")
        if self.unused or self.request:
            return
        if not view or not self.doc:
            raise SpecError(f"{self.where}: x-view or doc is missing")
        for value, known in ((self.kind, KINDS), (self.show, SHOWS),
                             (self.perm, PERMS), (self.form, FORMS), (self.metric, METRICS),
                             (self.index, INDICES), (self.redact, REDACTS),
                             (self.setup, SETUPS)):
            if value not in known:
                raise SpecError(f"{self.where}: '{value}' is none of {known}")
        if self.redact != "text" and self.type != "string":
            raise SpecError(f"{self.where}: redact is for strings")
        if bool(self.len) != (self.type in ("string", "binary")):
            raise SpecError(f"{self.where}: len goes with strings and binary data")
        if self.c in RESERVED:
            raise SpecError(f"{self.where}: no name for a struct member")

    def json_type(self):
        """How the value is written in JSON: number, name, names or text."""
        if self.enum:
            return "names" if self.enum.flags else "name"
        if self.type in ("string", "binary") or self.base == 16:
            return "text"
        return "number"


class Object:
    """An attribute set: one kind of row."""

    def __init__(self, number, raw, enums):
        self.name, self.doc = raw["name"], raw["doc"]
        self.number = number
        self.c = c_name(self.name)
        view = raw["x-object"]
        self.title = view["title"]
        self.rows = view.get("rows", "many")
        self.upright = view.get("layout") == "upright"
        self.extras = bool(view.get("extras"))
        self.metric = view.get("metric", self.name)
        if set(view) - OBJECT_KEYS or self.rows not in ROWS or \
                view.get("layout", "upright") != "upright":
            raise SpecError(f"{self.name}: bad x-object")
        self.all = [Field(self.name, i + 1, a, enums)
                    for i, a in enumerate(raw["attributes"])]
        names = [f.name for f in self.all]
        if names[:len(COMMON)] != COMMON:
            raise SpecError(f"{self.name}: the first attributes are not {COMMON}")
        if len(set(names)) != len(names):
            raise SpecError(f"{self.name}: an attribute is there twice")
        self.fields = [f for f in self.all if not f.request and not f.unused]
        # The fields that a driver sets; the companion fills in the device itself.
        self.snap = [f for f in self.fields if f.name not in KNOWN and not f.tool]
        # Those of families, and all that ever were: of some every field is retired.
        self.sets, self.known_sets = [], []
        self.slots = len(self.all)
        for field in self.all:
            field.slot = field.attr
        self.key = next((f for f in self.fields
                         if f.name == view["key"]), None)
        if not self.key or self.key.type not in ("u32", "uint"):
            raise SpecError(f"{self.name}: the key is no u32 or uint attribute")
        self.filters = {}
        for field in self.all:
            if isinstance(field.request, dict):
                self.add_filter(field, *next(iter(field.request.items())))
        # Not netlink: read through the char device, or made from what came through it.
        self.machine = view.get("of") == "machine"
        self.local = view.get("cmd", 0 if self.machine else None)
        self.cmd = self.local
        self.verbs = set()

    def add_filter(self, field, test, name):
        """An attribute of dump requests that filters rows by their field of that name."""
        of = next((f for f in self.fields if f.name == name), None)
        if not of or test not in FILTERS or test in self.filters or \
                (field.type, of.type) not in FILTERS[test] or \
                (test in ("from", "only")) != (of is self.key) or \
                test == "only" and len(self.all) > 63:
            raise SpecError(f"{field.where}: bad x-request")
        self.filters[test] = (field, of)

    @property
    def by_device(self):
        """Whether there is one row for each device."""
        return self.key.name == "dev-index"

    @property
    def of_device(self):
        """Whether its rows name their device."""
        return self.all[1].show == "always"

    @property
    def every(self):
        """The fields including those of all families, in the order of their slots."""
        return self.fields + [f for s in self.sets for f in s.fields]

    @property
    def asked(self):
        return [f for f in self.every if f.hw and f.name != "hw-error"]

    @property
    def hw(self):
        """Whether some fields are read from the adapter."""
        return bool(self.asked)

    @property
    def hw_perm(self):
        return max((f.perm for f in self.asked), key=PERMS.index, default="none")

    def attr(self, field):
        return c_const("a", self.name, field.name)


class FamilySet:
    """The fields of an object that only one family has."""

    def __init__(self, family, obj, raws, enums):
        self.family, self.obj = family, obj
        self.name = f"{obj.name}-{family.name}"
        self.c = c_name(self.name)
        self.doc = f"What only {family.title} adapters have of it."
        self.all = [Field(self.name, i + 1, raw, enums) for i, raw in enumerate(raws)]
        self.fields = [f for f in self.all if not f.unused]
        self.snap = self.fields
        self.base = obj.slots
        for field in self.all:
            field.slot = self.base + field.attr
        obj.slots += len(self.all)
        taken = {f.c for f in obj.every}
        for field in self.fields:
            if field.c in taken or field.request:
                raise SpecError(f"{field.where}: another field of {obj.name} has this name")
        obj.known_sets.append(self)
        if self.fields:
            obj.sets.append(self)

    def attr(self, field):
        return c_const("a", self.name, field.name)


class Part:
    """What a family of adapters adds to the contract: spec/families/<name>.yaml."""

    def __init__(self, path):
        self.raw = read_yaml(path)
        self.name, self.number = self.raw["name"], self.raw["number"]
        self.title, self.module = self.raw["title"], self.raw["modules"][0]
        self.c = c_name(self.name)
        if os.path.basename(path) != f"{self.name}.yaml":
            raise SpecError(f"{path}: the file is not named after the family {self.name}")
        if not 0 < self.number < 8192:
            raise SpecError(f"{path}: the number is not between 1 and 8191")

    def sets(self, by_name, enums):
        for name, raws in self.raw.get("sets", {}).items():
            if name not in by_name:
                raise SpecError(f"family {self.name}: there is no object '{name}'")
            FamilySet(self, by_name[name], raws, enums)


class Spec:
    """The specification, checked."""

    def __init__(self, path, families):
        self.raw = read_yaml(path)
        self.families = sorted((Part(p) for p in glob.glob(f"{families}/*.yaml")
                                if os.path.basename(p) != f"{OTHER}.yaml"),
                               key=lambda f: f.number)
        numbers = [f.number for f in self.families]
        if len(set(numbers)) != len(numbers):
            raise SpecError(f"{families}: two families have the same number")
        self.enums = {}
        for raw in self.raw["definitions"]:
            self.enums[raw["name"]] = Enum(raw)
        for family in self.families:
            for raw in family.raw.get("definitions") or []:
                if raw["name"] in self.enums:
                    raise SpecError(f"family {family.name}: enum {raw['name']} is there twice")
                self.enums[raw["name"]] = Enum(raw)
        self.objects = [Object(i, raw, self.enums)
                        for i, raw in enumerate(self.raw["attribute-sets"])]
        self.family = [o for o in self.objects if o.local is None]
        by_name = {o.name: o for o in self.objects}
        for family in self.families:
            family.sets(by_name, self.enums)
        # Command numbers begin at 1, as the kernel's format requires.
        self.ops = []
        for number, raw in enumerate(self.raw["operations"]["list"], 1):
            obj = by_name.get(raw["attribute-set"])
            verb = raw["name"].rpartition("-")[2]
            if (not obj or obj.local is not None or raw["name"] != f"{obj.name}-{verb}" or
                    verb in obj.verbs or verb not in ("get", "set", "ntf")):
                raise SpecError(f"operation {raw['name']}: not the one 'get' of its set")
            obj.verbs.add(verb)
            if verb != "set":
                obj.cmd, obj.op = number, raw["name"]
            self.ops.append((number, raw, obj))
        for obj in self.family:
            if not obj.cmd:
                raise SpecError(f"{obj.name}: no operation reads it")
            # The companion makes events without the driver, so without its fields.
            if obj.sets and obj.verbs == {"ntf"}:
                raise SpecError(f"{obj.name}: events have no fields of {obj.sets[0].family.name}")
        self.check_names()

    def check_names(self):
        names = [c_const("cmd", raw["name"]) for _, raw, _ in self.ops]
        names += [o.attr(f) for o in self.objects for f in o.all]
        names += [s.attr(f) for o in self.objects for s in o.known_sets for f in s.all]
        names += [e.const(n) for e in self.enums.values() for n, _, _ in e.entries]
        names += [c_const("obj", o.name) for o in self.objects]
        twice = {n for n in names if names.count(n) > 1}
        if twice:
            raise SpecError(f"C names that mean two things: {sorted(twice)}")


# ------------------------------------------------------------- the ABI lock

LOCK_HEAD = """\
# SPDX-License-Identifier: GPL-2.0-or-later
# Numbers and types that were given out. spec/gen.py appends and refuses to go
# on when the specification disagrees. A retired attribute keeps its
# place in the specification with type: unused.
"""

def lock_entries(spec):
    """Everything that must never change, in a fixed order: {name: value}."""
    entries = {}
    for number, raw, _ in spec.ops:
        entries[f"cmd {raw['name']}"] = f"{number}"
    for obj in spec.objects:
        entries[f"key {obj.name}"] = obj.key.name
        for owner in [obj, *obj.known_sets]:
            for field in owner.all:
                enum = f" {field.enum.name}" if field.enum else ""
                entries[f"attr {owner.name}.{field.name}"] = f"{field.attr} {field.type}{enum}"
    for family in spec.families:
        entries[f"family {family.name}"] = f"{family.number}"
    for enum in spec.enums.values():
        for name, value, _ in enum.entries:
            kind = "flag" if enum.flags else "value"
            entries[f"{kind} {enum.name}.{name}"] = f"{value}"
    return entries


def lock_compare(key, was, now):
    """What is wrong with a change, or None."""
    if now is None:
        return f"{key} ({was}) was removed"
    if now == was:
        return None
    if key.startswith("attr ") and now.split()[0] == was.split()[0]:
        if now.split()[1] == "unused":
            return None
        return f"{key}: the type changed from '{was}' to '{now}'"
    return f"{key}: changed from '{was}' to '{now}'"


def lock_update(spec, text):
    """Checks the specification against the lock; returns the lock to write."""
    entries = lock_entries(spec)
    locked = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            kind, name, value = line.split(" ", 2)
            locked[f"{kind} {name}"] = value
    wrong = [lock_compare(key, was, entries.get(key)) for key, was in locked.items()]
    # A number that was assigned once stays with its name.
    taken = {}
    for key, value in list(locked.items()) + list(entries.items()):
        if key.startswith("key "):
            continue
        group = key.split(".")[0] if "." in key else key.split()[0]
        other = taken.setdefault((group, value.split()[0]), key)
        if other != key:
            wrong.append(f"{key}: number {value.split()[0]} belongs to {other}")
    wrong = sorted({w for w in wrong if w})
    if wrong:
        raise SpecError("the contract would break:\n  " + "\n  ".join(wrong))
    new = [f"{key} {value}" for key, value in entries.items() if key not in locked]
    text = text or LOCK_HEAD
    return text + "".join(line + "\n" for line in new)


# ---------------------------------------------------------- kernel: headers

def gen_values(spec):
    """The names of values, for drivers, the companion and programs alike."""
    lines = ["#ifndef _UAPI_EADM_VALUES_H", "#define _UAPI_EADM_VALUES_H", "",
             "/* Whether a value is of a class of its enumeration, EADM_..._CLASS_... */",
             "#define EADM_IS_OF(value, class)\t((value) < 32 && (class) >> (value) & 1)"]
    for enum in spec.enums.values():
        lines += ["", f"/* {enum.name}{': ' + enum.doc if enum.doc else ''} */"]
        for name, value, _ in enum.entries:
            number = enum.number(value)
            shown = f"0x{number:x}" if enum.flags else f"{number}"
            lines.append(f"#define {enum.const(name)}\t{shown}")
        if enum.classes:
            lines.append(f"#define {enum.const('count')}\t{len(enum.entries)}")
        for name, members in enum.classes.items():
            bits = sum(1 << value for member, value, _ in enum.entries if member in members)
            lines.append(f"#define {enum.const(f'class-{name}')}\t0x{bits:x} /* a bit each: {', '.join(members)} */")
    lines += ["", "#endif /* _UAPI_EADM_VALUES_H */"]
    return header(lines, "GPL-2.0-only WITH Linux-syscall-note", "h")


def attr_enum(obj):
    lines = ["", f"/* {obj.name}: {obj.doc} */", "enum {"]
    lines += [f"\t{obj.attr(field)} = {field.attr}," for field in obj.all]
    top = c_const("a", obj.name)
    return lines + ["", f"\t__{top}_MAX,", f"\t{top}_MAX = (__{top}_MAX - 1)", "};"]


def gen_nests(spec):
    """Attributes of what only one family has of an object."""
    lines = ["#ifndef _UAPI_EADM_NESTS_H", "#define _UAPI_EADM_NESTS_H", "",
             "/* Nests with what only one family has of an object: EADM_A_NEST + its number. */",
             f"#define EADM_A_NEST\t{NEST}"]
    for family in spec.families:
        number = c_const("family", family.name)
        lines += [f"#define {number}\t{family.number}",
                  f"#define {number}_NAME\t{c_string(family.name)}"]
    for obj in spec.family:
        for fields in obj.known_sets:
            lines += attr_enum(fields)
    lines += ["", "#endif /* _UAPI_EADM_NESTS_H */"]
    return header(lines, "GPL-2.0-only WITH Linux-syscall-note", "h")


def gen_uapi(spec):
    lines = ["#ifndef _UAPI_EADM_NL_H", "#define _UAPI_EADM_NL_H", "",
             '#include "eadm_nests.h"', '#include "eadm_values.h"', "",
             f"#define EADM_FAMILY_NAME\t{c_string(spec.raw['name'])}",
             "#define EADM_FAMILY_VERSION\t1", "", "/* Commands. */", "enum {"]
    for number, raw, _ in spec.ops:
        lines.append(f"\t{c_const('cmd', raw['name'])} = {number},")
    lines += ["", "\t__EADM_CMD_MAX,", "\tEADM_CMD_MAX = (__EADM_CMD_MAX - 1)", "};"]
    for group in spec.raw["mcast-groups"]["list"]:
        name = c_string(group["name"])
        lines += ["", f"#define {c_const('mcgrp', group['name'])}_NAME\t{name}"]
    lines += ["", "/* The first attributes of every object. */", "enum {"]
    for number, name in enumerate(COMMON, 1):
        lines.append(f"\t{c_const('a', 'common', name)} = {number},")
    lines.append("};")
    for obj in spec.family:
        lines += attr_enum(obj)
    lines += ["", "#endif /* _UAPI_EADM_NL_H */"]
    return header(lines, "GPL-2.0-only WITH Linux-syscall-note", "h")


SNAP_TYPES = {"u32": "u32", "s32": "s32", "u64": "u64", "uint": "u64"}


def snap_struct(obj):
    lines = ["", f"/* {obj.doc} */", f"struct eadm_snap_{obj.c} {{"]
    for field in obj.snap:
        if field.type == "string":
            lines.append(f"\tchar {field.c}[{field.len}];")
        elif field.type == "binary":
            lines.append(f"\tu8 {field.c}[{field.len}];")
            lines.append(f"\tu16 {field.c}_len;")
        else:
            lines.append(f"\t{SNAP_TYPES[field.type]} {field.c};")
    # One presence mark per field, several on a line.
    lines += ["\tstruct {", *(f"\t\tu8 {line.strip().rstrip(',')};"
                              for line in packed([f.c for f in obj.snap], 3))]
    return lines + ["\t} has;", "};"]


def gen_snap(spec):
    lines = ["/*",
             " * What a driver reports about each object: values with presence marks, set by the",
             " * SNAP_ macros of eadm_diag.h. The companion adds the device's name and index.",
             " * What only one family has is in <family>_snap.h.",
             " */",
             "#ifndef EADM_SNAP_H", "#define EADM_SNAP_H", "", "#include <linux/types.h>", "",
             '#include "eadm_values.h"', "",
             "enum eadm_obj {"]
    lines += [f"\t{c_const('obj', o.name)}," for o in spec.family]
    lines += ["\tEADM_OBJ_COUNT", "};"]
    for obj in spec.family:
        lines += snap_struct(obj)
    lines += ["", "#endif /* EADM_SNAP_H */"]
    return header(lines, "GPL-2.0-only", "h")


def family_snap(spec, family):
    """kmod/include/<family>_snap.h: fields of objects that only the family has."""
    guard = f"{family.c.upper()}_SNAP_H"
    lines = [f"#ifndef {guard}", f"#define {guard}", "", "#include <linux/types.h>"]
    for obj in spec.family:
        for fields in obj.sets:
            if fields.family is family:
                lines += snap_struct(fields)
    lines += ["", f"#endif /* {guard} */"]
    return header(lines, "GPL-2.0-only", "h")


# ----------------------------------------------------------- kernel: tables

def asked_fields(obj, verb):
    """The attributes of a request."""
    return [f for f in obj.all
            if f.name in COMMON[:2] or f is obj.key or (f.set if verb == "set" else f.request)]


def kernel_policy(obj, verb):
    lines = ["", f"static const struct nla_policy {obj.c}_{verb}_policy[] = {{"]
    for field in asked_fields(obj, verb):
        rule = {"u32": "{ .type = NLA_U32 }", "uint": "COMPAT_NLA_POLICY_UINT",
                "flag": "{ .type = NLA_FLAG }",
                "string": f"{{ .type = NLA_NUL_STRING, .len = {field.len - 1} }}"}[field.type]
        lines.append(f"\t[{obj.attr(field)}] = {rule},")
    return lines + ["};"]


def kernel_sets(obj):
    """The additional fields of each family."""
    lines = []
    for fields in obj.sets:
        lines += kernel_fields(fields)
    if obj.sets:
        lines += ["", f"static const struct eadm_set {obj.c}_sets[] = {{"]
        for fields in obj.sets:
            items = [f".family = {c_string(fields.family.name)}",
                     f".nest = EADM_A_NEST + {c_const('family', fields.family.name)}",
                     f".snap_size = sizeof(struct eadm_snap_{fields.c})",
                     f".n_fields = ARRAY_SIZE({fields.c}_fields)",
                     f".fields = {fields.c}_fields"]
            lines += ["\t{", *packed(items, 2), "\t},"]
        lines += ["\t{}", "};"]
    return lines


def kernel_fields(obj):
    snap = f"struct eadm_snap_{obj.c}"
    lines = ["", f"static const struct eadm_field {obj.c}_fields[] = {{"]
    for field in obj.snap:
        items = [f".attr = {obj.attr(field)}", f".type = EADM_TYPE_{field.type.upper()}"]
        if field.len:
            items.append(f".len = {field.len}")
        if field.perm != "none":
            items.append(f".perm = EADM_PERM_{field.perm.upper()}")
        if field.hw:
            items.append(".hw = true")
        items += [f".off = offsetof({snap}, {field.c})",
                  f".has = offsetof({snap}, has.{field.c})"]
        if field.type == "binary":
            items.append(f".len_off = offsetof({snap}, {field.c}_len)")
        lines += ["\t{", *packed(items, 2), "\t},"]
    return lines + ["};"]


def kernel_object(obj):
    names = [f.name for f in obj.snap]
    lines = [f"\t[{c_const('obj', obj.name)}] = {{",
             f"\t\t.name = {c_string(obj.name)},",
             f"\t\t.snap_size = sizeof(struct eadm_snap_{obj.c}),",
             f"\t\t.fields = {obj.c}_fields,",
             f"\t\t.n_fields = ARRAY_SIZE({obj.c}_fields),",
             f"\t\t.cmd = {c_const('cmd', obj.op)},"]
    if obj.by_device:
        lines.append("\t\t.by_device = true,")
    else:
        lines.append(f"\t\t.key_attr = {obj.attr(obj.key)},")
        lines.append(f"\t\t.key_type = EADM_TYPE_{obj.key.type.upper()},")
    for test, (field, of) in obj.filters.items():
        lines.append(f"\t\t.{test}_attr = {obj.attr(field)},")
        if of is not obj.key:
            lines.append(f"\t\t.{test} = &{obj.c}_fields[{names.index(of.name)}],")
    if obj.hw:
        lines.append("\t\t.hw = true,")
        lines.append(f"\t\t.hw_perm = EADM_PERM_{obj.hw_perm.upper()},")
    if obj.sets:
        lines.append(f"\t\t.sets = {obj.c}_sets,")
    if any(f.perm == "rawio" and not f.hw for f in obj.every):
        lines.append("\t\t.soft_rawio = true,")
    owner = [f"[EADM_OWNER_{c_name(n).upper()}] = &{obj.c}_fields[{names.index(n)}],"
             for n in OWNER if n in names]
    if owner:
        lines += ["\t\t.owner = {"] + [f"\t\t\t{line}" for line in owner] + ["\t\t},"]
    return lines + ["\t},"]


def gen_kernel_tables(spec):
    lines = ["#include <linux/kernel.h>", "#include <linux/stddef.h>",
             "", '#include "eadm_nl.h"', '#include "eadm_table.h"']
    lines += [f'#include "{family.name}_snap.h"' for family in spec.families]
    for obj in spec.family:
        lines += kernel_fields(obj) + kernel_sets(obj)
    lines += ["", "const struct eadm_object eadm_objects[EADM_OBJ_COUNT] = {"]
    for obj in spec.family:
        lines += kernel_object(obj)
    lines += ["};", "", "const u8 eadm_cmd_obj[EADM_CMD_MAX + 1] = {"]
    for _, raw, obj in spec.ops:
        lines.append(f"\t[{c_const('cmd', raw['name'])}] = {c_const('obj', obj.name)},")
    lines += ["};"]
    return header(lines, "GPL-2.0-only")


def gen_kernel_ops(spec):
    """The operations of the netlink family, in a separate file: their functions use the tables."""
    lines = ["#include <linux/kernel.h>", "#include <net/genetlink.h>", "",
             '#include "../eadm.h"']
    for obj in spec.family:
        for verb in sorted(obj.verbs - {"ntf"}):
            lines += kernel_policy(obj, verb)
    lines += ["", "const struct genl_ops eadm_genl_ops[] = {"]
    for _, raw, obj in spec.ops:
        verb = raw["name"].rpartition("-")[2]
        if verb == "ntf":
            continue
        top = obj.attr(max(asked_fields(obj, verb), key=lambda f: f.attr))
        items = [f".cmd = {c_const('cmd', raw['name'])}", f".policy = {obj.c}_{verb}_policy",
                 f".maxattr = {top}"]
        if verb == "get":
            items += [".doit = eadm_nl_doit", ".start = eadm_nl_dump_start",
                      ".dumpit = eadm_nl_dumpit", ".done = eadm_nl_dump_done"]
        else:
            items.append(f".doit = eadm_nl_{c_name(raw['name'])}")
        lines += ["\t{", *packed(items, 2), "\t},"]
    lines += ["};", "", "const unsigned int eadm_n_genl_ops = ARRAY_SIZE(eadm_genl_ops);"]
    return header(lines, "GPL-2.0-only")


def gen_kernel_ids(spec):
    """The auxiliary devices that the companion binds to."""
    names = [f'"{f.module}." EADM_DIAG_NAME' for f in spec.families if f.raw.get("companion")]
    lines = ["#ifndef EADM_IDS_H", "#define EADM_IDS_H", "",
             "static const struct auxiliary_device_id eadm_ids[] = {"]
    lines += [f"\t{{ .name = {name} }}," for name in names]
    lines += ["\t{}", "};", "", "COMPAT_AUX_TABLE(eadm_ids);"]
    lines += [f"COMPAT_AUX_ALIAS({name});" for name in names]
    lines += ["", "#endif /* EADM_IDS_H */"]
    return header(lines, "GPL-2.0-only", "h")


# ------------------------------------------------------------ library tables

def gen_fields_h(spec):
    def block(prefix, names):
        return "\n".join(f"\tEADM_SPEC_{prefix}_{c_name(n).upper()}," for n in names)

    text = read(os.path.join(HERE, "fields.h.in"))
    for mark, value in (
            ("NOTE", f"/* {DO_NOT_EDIT} */"),
            ("TYPES", block("TYPE", [t for t in TYPES if t != "unused"])),
            ("KINDS", block("KIND", KINDS)), ("SHOWS", block("SHOW", SHOWS)),
            ("PERMS", block("PERM", PERMS)), ("FORMS", block("FORM", FORMS)),
            ("REDACTS", block("REDACT", REDACTS)),
            ("SETUPS", block("SETUP", SETUPS)),
            ("METRICS", block("METRIC", METRICS)), ("ROWS", block("ROWS", ROWS)),
            ("OBJECTS", block("OBJ", [o.name for o in spec.objects])),
            ("ATTRS", "\n".join(line for o in spec.objects if o.local is not None
                                for part in [o, *o.known_sets] for line in attr_enum(part)).strip()),
            ("ENUM_COUNT", f"#define EADM_SPEC_ENUM_COUNT\t{len(spec.enums)}")):
        text = text.replace(f"@{mark}@", value)
    return text


def object_class(obj):
    if obj.machine:
        return "MACHINE"
    if obj.local is not None:
        return "RAW" if obj.local else "ENTRIES"
    return "ROWS" if "get" in obj.verbs else "EVENTS"


class Strings:
    """All texts in one string, identified by their offsets. A position-independent program
    relocates each pointer when it starts, and the fields would have thousands."""

    def __init__(self):
        self.places, self.size = {}, 1

    def place(self, text):
        if text not in self.places:
            self.places[text] = self.size
            self.size += len(text.encode()) + 1
        return self.places[text]

    def lines(self):
        return ["", "/* 0 is no text. */", "const char eadm_spec_strings[] = \"\\0\"",
                *[f"\t{c_string(text)[:-1]}\\0\"" for text in self.places], "\t;"]


def spec_field(spec, strings, field, family=None):
    items = [f".slot = {field.slot}", f".type = EADM_SPEC_TYPE_{field.type.upper()}",
             f".kind = EADM_SPEC_KIND_{field.kind.upper()}",
             f".show = EADM_SPEC_SHOW_{field.show.upper()}"]
    if field.perm != "none":
        items.append(f".perm = EADM_SPEC_PERM_{field.perm.upper()}")
    if field.form != "none":
        items.append(f".form = EADM_SPEC_FORM_{field.form.upper()}")
    if field.redact != "text":
        items.append(f".redact = EADM_SPEC_REDACT_{field.redact.upper()}")
    if field.setup != "none":
        items.append(f".setup = EADM_SPEC_SETUP_{field.setup.upper()}")
    items += [f".{name} = {getattr(field, name)}" for name in ("base", "bits", "len")
              if getattr(field, name)]
    if field.metric != "none":
        items.append(f".metric = EADM_SPEC_METRIC_{field.metric.upper()}")
    items += [f".{name} = true" for name in ("hw", "cut") if getattr(field, name)]
    texts = {"name": field.name, "c_name": field.c, "head": field.head, "family": family,
             "unit": field.unit, "index": field.index, "help": field.doc}
    items += [f".{name}_at = {strings.place(text)}" for name, text in texts.items() if text]
    if field.enum:
        place = list(spec.enums).index(field.enum.name)
        items.append(f".names = &eadm_spec_enums[{place}]")
    return [f"\t{{\t/* {field.name} */", *packed(items, 2), "\t},"]


def plain_size(field):
    """Fields from the adapter are only decoded when asked for."""
    sizes = {"u32": 4, "s32": 4, "u64": 8, "uint": 8}
    return "NONE" if field.hw else sizes.get(field.type, "NONE")


def gen_fields_c(spec):
    strings = Strings()
    lines = ['#include "fields.h"', "", "#define NONE\tUINT16_MAX"]
    for enum in spec.enums.values():
        lines += ["", f"static const struct eadm_spec_entry {c_name(enum.name)}_entries[] = {{"]
        for name, value, doc in sorted(enum.entries, key=lambda e: e[1]):
            lines.append(f"\t{{ {enum.number(value)}, {c_string(name)}, {c_string(doc)} }},")
        lines.append("};")
    lines += ["", "const struct eadm_spec_enum eadm_spec_enums[EADM_SPEC_ENUM_COUNT] = {"]
    for enum in spec.enums.values():
        flags = "true" if enum.flags else "false"
        lines.append(f"\t{{ {c_string(enum.name)}, {c_string(enum.doc)}, {flags}, "
                     f"{len(enum.entries)}, {c_name(enum.name)}_entries }},")
    lines.append("};")
    for obj in spec.objects:
        lines += ["", f"static const struct eadm_field {obj.c}_fields[] = {{"]
        for field in obj.fields:
            lines += spec_field(spec, strings, field)
        for part in obj.sets:
            for field in part.fields:
                lines += spec_field(spec, strings, field, part.family.name)
        places = {f.slot: i for i, f in enumerate(obj.every)}
        numbers = [places.get(i, -1) for i in range(obj.slots + 1)]
        lines += ["};", *c_array(f"int16_t {obj.c}_by_slot", numbers)]
        lines += c_array(f"uint16_t {obj.c}_plain",
                         [plain_size(obj.every[n]) if n >= 0 else "NONE" for n in numbers])
        if obj.sets:
            lines += ["", f"static const struct eadm_spec_set {obj.c}_sets[] = {{"]
            lines += [f"\t{{ {c_string(p.family.name)}, {NEST + p.family.number}, {p.base}, "
                      f"{len(p.all)} }}," for p in obj.sets]
            lines.append("};")
    lines += ["", "const struct eadm_object eadm_spec_objects[EADM_SPEC_OBJ_COUNT] = {"]
    for obj in spec.objects:
        lines += [f"\t[EADM_SPEC_OBJ_{obj.c.upper()}] = {{",
                  f"\t\t.name = {c_string(obj.name)},",
                  f"\t\t.c_name = {c_string(obj.c)},",
                  f"\t\t.title = {c_string(obj.title)},",
                  f"\t\t.help = {c_string(obj.doc)},",
                  f"\t\t.cmd = {obj.cmd},",
                  f"\t\t.class = EADM_SPEC_CLASS_{object_class(obj)},",
                  f"\t\t.rows = EADM_SPEC_ROWS_{obj.rows.upper()},",
                  f"\t\t.upright = {'true' if obj.upright else 'false'},",
                  f"\t\t.extras = {'true' if obj.extras else 'false'},",
                  f"\t\t.metric = {c_string(obj.metric)},",
                  f"\t\t.by_device = {'true' if obj.by_device else 'false'},",
                  f"\t\t.hw = {'true' if obj.hw else 'false'},",
                  f"\t\t.hw_perm = EADM_SPEC_PERM_{obj.hw_perm.upper()},",
                  f"\t\t.max_attr = {len(obj.all)},",
                  f"\t\t.n_fields = {len(obj.every)},",
                  f"\t\t.n_sets = {len(obj.sets)},",
                  *([f"\t\t.sets = {obj.c}_sets,"] if obj.sets else []),
                  f"\t\t.fields = {obj.c}_fields,",
                  f"\t\t.key = &{obj.c}_fields[{obj.fields.index(obj.key)}],",
                  f"\t\t.by_slot = {obj.c}_by_slot,", f"\t\t.plain = {obj.c}_plain,",
                  "\t},"]
    lines.append("};")
    return header(lines + strings.lines(), "LGPL-2.1-or-later")


# ------------------------------------------- for other clients: YAML and JSON

def without_x(node):
    if isinstance(node, dict):
        return {k: without_x(v) for k, v in node.items() if not str(k).startswith("x-")}
    if isinstance(node, list):
        return [without_x(v) for v in node]
    return node


class PlainDumper(yaml.SafeDumper):
    """No anchors: an attribute that is in several sets is repeated in full."""

    def ignore_aliases(self, data):
        return True


def gen_ynl(spec):
    raw = without_x(spec.raw)
    raw["attribute-sets"] = [node for obj, node in zip(spec.objects, raw["attribute-sets"])
                             if obj.local is None]
    def hint(fields, attrs):
        for field, attr in zip(fields, attrs):
            if field.type == "binary":
                attr["display-hint"] = {"ip": "ipv4", "mac": "mac"}.get(field.form, "hex")
            elif field.base == 16:
                attr["display-hint"] = "hex"

    for family in spec.families:
        raw["definitions"] += without_x(family.raw.get("definitions") or [])
    nested = []
    for obj, node in zip(spec.family, raw["attribute-sets"]):
        hint(obj.all, node["attributes"])
        for part in obj.known_sets:
            attrs = without_x(part.family.raw["sets"][obj.name])
            hint(part.all, attrs)
            nested.append({"name": part.name, "doc": part.doc, "attributes": attrs})
            node["attributes"].append(
                {"name": f"hw-{part.family.name}", "type": "nest",
                 "value": NEST + part.family.number, "nested-attributes": part.name,
                 "doc": part.doc})
    raw["attribute-sets"] += nested
    for (_, _, obj), node in zip(spec.ops, raw["operations"]["list"]):
        verb = node["name"].rpartition("-")[2]
        reply = {"attributes": [f.name for f in obj.fields] +
                               [f"hw-{part.family.name}" for part in obj.sets]}
        ask = {"attributes": [f.name for f in asked_fields(obj, verb)]}
        if verb == "ntf":
            node["event"] = reply
            continue
        node["do"] = {"request": ask, "reply": reply}
        if verb == "get":
            node["dump"] = {"request": ask, "reply": reply}
    text = yaml.dump(raw, Dumper=PlainDumper, sort_keys=False, width=100)
    licence = "((GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause)"
    return header(text.rstrip("\n").split("\n"), licence, "#")


# ------------------------------------------------------------------ man page

def gen_man(spec):
    out = ['.\\" SPDX-License-Identifier: GPL-2.0-or-later', f'.\\" {DO_NOT_EDIT}',
           '.TH EADM\\-FIELDS 7 "" eadm "Fields of eadm"', ".SH NAME",
           "eadm\\-fields \\- objects and fields that eadm shows", ".SH DESCRIPTION",
           "A field has one name everywhere. Column lists take it as written here; JSON keys",
           "and metrics write it with underscores. An absent value is unknown: it",
           "prints as a dash and is missing in JSON.", ".PP",
           "Marks behind a field:", ".B admin",
           "needs the capability CAP_NET_ADMIN,", ".B rawio",
           "needs CAP_SYS_RAWIO and a kernel that is not locked down,", ".B hw",
           "comes from the adapter itself and is there only when asked for.",
           "The name of a family of adapters marks what only they have."]
    for obj in spec.objects:
        out += [f".SH {roff(obj.name.upper())}", roff(obj.doc),
                f"Key: {roff(obj.key.name)}."]
        families = {f: part.family.name for part in obj.sets for f in part.fields}
        for field in obj.every:
            marks = [m for m in (families.get(field),
                                 field.perm if field.perm != "none" else "",
                                 "hw" if field.hw else "") if m]
            kind = field.kind + (f", {field.unit}" if field.unit else "")
            out += [".TP", f"\\fB{roff(field.name)}\\fR ({roff(kind)})"
                    + (f" [{', '.join(marks)}]" if marks else ""), roff(field.doc)]
            if field.enum:
                out.append(f"Values: see {roff(field.enum.name)} below.")
    out.append(".SH VALUES")
    for enum in spec.enums.values():
        out += [f".SS {roff(enum.name)}"] + ([roff(enum.doc)] if enum.doc else [])
        for name, value, doc in enum.entries:
            out += [".TP", f"\\fB{roff(name)}\\fR ({'bit ' if enum.flags else ''}{value})",
                    roff(doc) if doc else "\\&"]
    out += [".SH SEE ALSO", ".BR eadm (1)"]
    return "\n".join(out) + "\n"


# ---------------------------------------------------------------------- main

OUTPUTS = {
    "kmod/uapi/eadm_values.h": gen_values,
    "kmod/uapi/eadm_nests.h": gen_nests,
    "kmod/uapi/eadm_nl.h": gen_uapi,
    "kmod/include/eadm_snap.h": gen_snap,
    "kmod/eadm/generated/tables.c": gen_kernel_tables,
    "kmod/eadm/generated/ops.c": gen_kernel_ops,
    "kmod/eadm/generated/ids.h": gen_kernel_ids,
    "libeadm/model/generated/fields.h": gen_fields_h,
    "libeadm/model/generated/fields.c": gen_fields_c,
    "spec/generated/eadm-ynl.yaml": gen_ynl,
    "spec/generated/eadm.schema.json": lambda spec: json_schema(spec, DO_NOT_EDIT),
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
                        help="write nothing; fail if a generated file is not current")
    parser.add_argument("--list", action="store_true",
                        help="write nothing; print the paths of the generated files")
    parser.add_argument("--man", metavar="OUT", help="write eadm-fields(7) only")
    parser.add_argument("--family-man", nargs=2, metavar=("FAMILY", "OUT"),
                        help="write eadm-FAMILY(7) only")
    parser.add_argument("--spec", default=os.path.join(HERE, "eadm.yaml"))
    parser.add_argument("--families", default=os.path.join(HERE, "families"),
                        help="folder of the descriptions of families")
    parser.add_argument("--explain", default=os.path.join(HERE, "explain"),
                        help="folder of what eadm explain knows")
    parser.add_argument("--lock", default=os.path.join(HERE, "abi.lock"))
    parser.add_argument("--out", default=REPO, help="root of the generated files")
    opts = parser.parse_args()

    spec = Spec(opts.spec, opts.families)
    if opts.man:
        files = {opts.man: gen_man(spec)}
    elif opts.family_man:
        files = {opts.family_man[1]: family_man(spec, opts.family_man[0], opts.families)}
    else:
        files = {opts.lock: lock_update(spec, read(opts.lock))}
        for path, generate in OUTPUTS.items():
            files[os.path.join(opts.out, path)] = generate(spec)
        for path, text in family_files(spec, opts.families).items():
            files[os.path.join(opts.out, path)] = text
        for path, text in explain_files(opts.explain, spec.families).items():
            files[os.path.join(opts.out, path)] = text
        for family in spec.families:
            path = f"kmod/include/{family.name}_snap.h"
            files[os.path.join(opts.out, path)] = family_snap(spec, family)
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
        raise SpecError(f"{stale} generated files are not current: run spec/gen.py")


if __name__ == "__main__":
    try:
        main()
    except (SpecError, yaml.YAMLError, KeyError, OSError) as error:
        sys.exit(f"gen.py: {type(error).__name__ if isinstance(error, KeyError) else ''}{error}")
