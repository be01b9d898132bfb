# SPDX-License-Identifier: GPL-2.0-or-later
"""Parses and checks the specification in spec/eadm.yaml and spec/families."""

import glob
import os
import re

from emit import SpecError, c_const, c_name
from gen_family import OTHER
from yaml_source import read_yaml

COMMON = ["dev-index", "dev-name", "query-hw", "hw-error", "family"]
# Attributes that the companion fills in itself.
KNOWN = ["dev-index", "dev-name", "family"]
# The number of the nest with a family's fields of an object is this plus the family's number.
NEST = 256
OWNER = ["pid", "comm", "cgroup-id", "netns", "res-id"]
TYPES = ["flag", "u32", "s32", "u64", "uint", "string", "binary", "unused"]
KINDS = ["id", "gauge", "counter", "state", "flags", "address", "secret", "time",
         "age", "name", "bytes", "data"]
SHOWS = ["always", "nonzero", "wide", "never"]
PERMS = ["none", "admin", "rawio"]
FORMS = ["none", "ip", "mac", "guid"]
REDACTS = ["text", "host", "process", "keep", "drop", "settings"]
# Aspect of a host's setup that a field affects; a "name" distinguishes rows of a device.
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
# Words that cannot be names of struct members, including macros of the kernel.
RESERVED = set("""auto break case char const continue current default do double
else enum extern float for goto has if inline int linux long register restrict
return short signed sizeof static struct switch typedef union unix unsigned void
volatile while""".split())


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
                raise SpecError(f"enum {self.name}: duplicate name or value")
        if self.classes and sum(map(len, self.classes.values())) != len(self.entries):
            raise SpecError(f"enum {self.name}: either all entries or none must have x-class")

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
            raise SpecError(f"{self.where}: enum-as-flags requires a definition of type flags")
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
                raise SpecError(f"{self.where}: '{value}' is not one of {known}")
        if self.redact != "text" and self.type != "string":
            raise SpecError(f"{self.where}: redact requires a string")
        if bool(self.len) != (self.type in ("string", "binary")):
            raise SpecError(f"{self.where}: len requires a string or binary data, and these require len")
        if self.c in RESERVED:
            raise SpecError(f"{self.where}: invalid name for a struct member")

    def json_type(self):
        """Returns the form of the value in JSON: number, name, names or text."""
        if self.enum:
            return "names" if self.enum.flags else "name"
        if self.type in ("string", "binary") or self.base == 16:
            return "text"
        return "number"


class Object:
    """An attribute set, which describes one kind of row."""

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
            raise SpecError(f"{self.name}: duplicate attribute")
        self.fields = [f for f in self.all if not f.request and not f.unused]
        # The fields that a driver sets; the companion fills in the device itself.
        self.snap = [f for f in self.fields if f.name not in KNOWN and not f.tool]
        # Sets of families' fields: those with a field in use, and all, including retired ones.
        self.sets, self.known_sets = [], []
        self.slots = len(self.all)
        for field in self.all:
            field.slot = field.attr
        self.key = next((f for f in self.fields
                         if f.name == view["key"]), None)
        if not self.key or self.key.type not in ("u32", "uint"):
            raise SpecError(f"{self.name}: the key must be a u32 or uint attribute")
        self.filters = {}
        for field in self.all:
            if isinstance(field.request, dict):
                self.add_filter(field, *next(iter(field.request.items())))
        # Objects that are not read through netlink: from files or from the char device.
        self.machine = view.get("of") == "machine"
        self.local = view.get("cmd", 0 if self.machine else None)
        self.cmd = self.local
        self.verbs = set()

    def add_filter(self, field, test, name):
        """Adds an attribute of dump requests that filters rows by the field with that name."""
        of = next((f for f in self.fields if f.name == name), None)
        if not of or test not in FILTERS or test in self.filters or \
                (field.type, of.type) not in FILTERS[test] or \
                (test in ("from", "only")) != (of is self.key) or \
                test == "only" and len(self.all) > 63:
            raise SpecError(f"{field.where}: bad x-request")
        self.filters[test] = (field, of)

    @property
    def by_device(self):
        """True if each device has one row."""
        return self.key.name == "dev-index"

    @property
    def of_device(self):
        """True if rows show the name of their device."""
        return self.all[1].show == "always"

    @property
    def every(self):
        """All fields, including those of all families, in the order of their slots."""
        return self.fields + [f for s in self.sets for f in s.fields]

    @property
    def asked(self):
        return [f for f in self.every if f.hw and f.name != "hw-error"]

    @property
    def hw(self):
        """True if some fields are read from the adapter."""
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
        self.doc = f"Additional fields of {family.name.upper()} adapters."
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
    """The part of spec/families/<name>.yaml that extends the specification."""

    def __init__(self, path):
        self.raw = read_yaml(path)
        self.name, self.number = self.raw["name"], self.raw["number"]
        self.title, self.module = self.raw["title"], self.raw["modules"][0]
        self.c = c_name(self.name)
        if os.path.basename(path) != f"{self.name}.yaml":
            raise SpecError(f"{path}: the file name does not match the family {self.name}")
        if not 0 < self.number < 8192:
            raise SpecError(f"{path}: the number is not between 1 and 8191")

    def sets(self, by_name, enums):
        for name, raws in self.raw.get("sets", {}).items():
            if name not in by_name:
                raise SpecError(f"family {self.name}: unknown object '{name}'")
            FamilySet(self, by_name[name], raws, enums)


class Spec:
    """The specification. Raises SpecError if it is invalid."""

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
                    raise SpecError(f"family {family.name}: duplicate enum {raw['name']}")
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
                raise SpecError(f"operation {raw['name']}: not the only SET-get, SET-set or SET-ntf of its set")
            obj.verbs.add(verb)
            if verb != "set":
                obj.cmd, obj.op = number, raw["name"]
            self.ops.append((number, raw, obj))
        for obj in self.family:
            if not obj.cmd:
                raise SpecError(f"{obj.name}: no operation reads this object")
            # The companion creates events itself, so they have no fields from a driver.
            if obj.sets and obj.verbs == {"ntf"}:
                raise SpecError(f"{obj.name}: events cannot have fields of {obj.sets[0].family.name}")
        self.check_names()

    def check_names(self):
        names = [c_const("cmd", raw["name"]) for _, raw, _ in self.ops]
        names += [o.attr(f) for o in self.objects for f in o.all]
        names += [s.attr(f) for o in self.objects for s in o.known_sets for f in s.all]
        names += [e.const(n) for e in self.enums.values() for n, _, _ in e.entries]
        names += [c_const("obj", o.name) for o in self.objects]
        twice = {n for n in names if names.count(n) > 1}
        if twice:
            raise SpecError(f"ambiguous C names: {sorted(twice)}")


def attr_enum(obj):
    lines = ["", f"/* {obj.name}: {obj.doc} */", "enum {"]
    lines += [f"\t{obj.attr(field)} = {field.attr}," for field in obj.all]
    top = c_const("a", obj.name)
    return lines + ["", f"\t__{top}_MAX,", f"\t{top}_MAX = (__{top}_MAX - 1)", "};"]


def asked_fields(obj, verb):
    """The attributes of a request."""
    return [f for f in obj.all
            if f.name in COMMON[:2] or f is obj.key or (f.set if verb == "set" else f.request)]
