# SPDX-License-Identifier: GPL-2.0-or-later
"""Parses and checks the description of a family of adapters, spec/families/<family>.yaml."""

from emit import SpecError
from yaml_source import read_yaml

WORDS = {"u8": (1, "LE"), "le16": (2, "LE"), "le32": (4, "LE"), "le64": (8, "LE"),
         "be16": (2, "BE"), "be32": (4, "BE"), "be64": (8, "BE")}
# Index rules, and the number of bits of an index if the rule determines it.
INDEXES = {"FREE16": 16, "FREE32": 32, "LAP": 0, "PHASE": 0}
FORMS = ["dec", "hex", "ip", "log2"]
# The object to which the rows of each kind of queue belong.
OBJECTS = {"sq": "sqe", "rq": "rqe", "cq": "cqe", "cmd-cq": "cqe", "eq": "eqe", "cmd-sq": "cmde"}


def field_range(raw):
    """Returns the lowest bit of a field and its number of bits."""
    at = raw["at"]
    high, low = at if isinstance(at, list) else (at, at)
    return low, high - low + 1


class Word:
    """Part of a structure: one or more numbers in some byte order."""

    def __init__(self, offset, size, order, raw):
        self.offset, self.size, self.order, self.raw = offset, size, order, raw


class Bits:
    """Some bits of a word in an entry."""

    def __init__(self, word, shift=0, bits=0):
        self.word, self.shift, self.bits = word, shift, bits

    def c(self):
        return (f"{{ {self.word.offset}, {self.word.size}, EADM_{self.word.order}, "
                f"{self.shift}, {self.bits} }}")


class Struct:
    """A structure with its members by path, and their offsets."""

    def __init__(self, family, raw):
        self.name, self.raw, self.family = raw["struct"], raw, family
        self.words = {}
        self.size = self.place(raw["members"], 0, "")
        if self.size != raw["size"]:
            raise SpecError(f"{self.name}: the size is {self.size} bytes, not {raw['size']}")

    def place(self, members, offset, path):
        for raw in members:
            if "comment" in raw:
                continue
            if "union" in raw:
                offset = max(self.place([part], offset, path) for part in raw["union"])
            elif isinstance(raw.get("struct"), list):
                offset = self.place(raw["struct"], offset, path)
            else:
                offset = self.place_one(raw, offset, path + raw["name"])
        return offset

    def place_one(self, raw, offset, path):
        count = self.family.number(raw.get("count", 1))
        if "struct" in raw:
            inner = self.family.structs[raw["struct"]]
            for name, word in inner.words.items():
                self.words[f"{path}.{name}"] = Word(offset + word.offset, word.size, word.order,
                                                    word.raw)
            size, order = inner.size, "LE"
        else:
            size, order = WORDS[raw["type"]]
            if offset % size and not self.raw.get("packed"):
                raise SpecError(f"{self.name}.{path}: the compiler would insert a gap before this member")
        self.words[path] = Word(offset, size * max(count, 1), order, raw)
        return offset + size * count

    def bits(self, ref):
        """Resolves "member", "low+high", "member/FIELD", "member/HIGH+LOW" or "member/*"."""
        path, _, names = ref.partition("/")
        words = [self.words[part] for part in path.split("+")]
        for word, following in zip(words, words[1:]):
            if word.offset + word.size != following.offset:
                raise SpecError(f"{self.name}: the members {path} are not adjacent")
        word = Word(words[0].offset, sum(w.size for w in words), words[0].order, words[0].raw)
        if not names:
            return Bits(word)
        fields = self.family.groups[word.raw["bits"]]["fields"]
        if names == "*":
            chosen = [f for f in fields if "class" in f]
        else:
            chosen = [next(f for f in fields if f["name"] == n) for n in names.split("+")]
        ranges = [field_range(f) for f in chosen]
        low = min(r[0] for r in ranges)
        bits = max(sum(r) for r in ranges) - low
        if bits != sum(r[1] for r in ranges):
            raise SpecError(f"{self.name}: the bits of {ref} have a hole")
        return Bits(word, low, bits)


class Family:
    """The description of a family."""

    def __init__(self, path, spec):
        self.raw = read_yaml(path)
        self.name, self.spec = self.raw["name"], spec
        for optional, nothing in (("index-bits", {}), ("formats", []), ("contexts", [])):
            self.raw.setdefault(optional, nothing)
        self.numbers, self.groups, self.enums, self.structs = {}, {}, {}, {}
        self.commands, self.registers = [], []
        for section in self.raw["sections"]:
            for item in section["items"]:
                self.take(item)
        self.classes = self.collect_classes()
        # The adapter's codes for the outcomes of commands, and the classes of their causes.
        self.command_causes = [(e["value"], e["class"]) for item in self.enums.values()
                               if "command-classes" in item for e in item["entries"]]
        self.check()
        self.rules = self.collect_rules()
        self.index_bits = {**{kind: INDEXES[rule] for kind, rule in self.rules.items()
                              if INDEXES[rule]}, **self.raw["index-bits"]}

    def take(self, item):
        if isinstance(item, str):
            return
        if "const" in item:
            self.numbers[item["const"]] = item.get("value", item.get("hex"))
        elif "bits" in item:
            self.groups[item.get("id", item["bits"])] = item
        elif "enum" in item:
            self.enums[item["enum"]] = item
        elif "struct" in item:
            self.structs[item["struct"]] = Struct(self, item)
        elif "commands" in item:
            self.commands += item["commands"]
        elif "registers" in item:
            self.registers += item["registers"]

    def number(self, value):
        return value if isinstance(value, int) else self.numbers[value]

    def command_number(self, raw):
        if "module" not in raw:
            return raw["opcode"]
        module = next(e for e in self.enums["sub_mod"]["entries"] if e["name"] == raw["module"])
        return module["value"] * 256 + raw["opcode"]

    def collect_classes(self):
        """Returns the adapter's codes and their names in eadm.yaml."""
        classes = {"cmd-op": [(self.command_number(c), c["class"]) for c in self.commands]}
        # Bits as positioned in their word; in classes, they are shifted to begin at bit 0.
        self.word_bits = {}
        for item in self.enums.values():
            # The first such enumeration is the default; a format may choose another one.
            if "classes" in item:
                classes.setdefault(item["classes"],
                                   [(e["value"], e["class"]) for e in item["entries"]])
        for item in self.groups.values():
            if "classes" in item:
                fields = [f for f in item["fields"] if "class" in f]
                self.word_bits[item["classes"]] = [(1 << f["at"], f["class"]) for f in fields]
                low = min(f["at"] for f in fields)
                classes[item["classes"]] = [(1 << (f["at"] - low), f["class"]) for f in fields]
        return classes

    def collect_rules(self):
        """Returns the index rule of each kind of queue."""
        rules = {}
        for fmt in self.raw["formats"]:
            kind, rule = fmt["kind"], fmt["index"]
            if rules.setdefault(kind, rule) != rule:
                raise SpecError(f"{self.name}: {kind}: queues of the same kind have different index rules")
            if INDEXES[rule] and kind in self.raw["index-bits"]:
                raise SpecError(f"{self.name}: {kind}: {rule} already determines index-bits")
        return rules

    def check(self):
        for name, entries in [*self.classes.items(), ("cause", self.command_causes)]:
            known = {e[0] for e in self.spec.enums[name].entries}
            wrong = {c for _, c in entries} - known
            if wrong:
                raise SpecError(f"{self.name}: {name} in eadm.yaml does not have {sorted(wrong)}")
        for raw in self.raw["formats"]:
            if raw["index"] not in INDEXES or raw["kind"] not in OBJECTS:
                raise SpecError(f"{self.name}: {raw['name']}: unknown kind or index rule")
        for raw in self.raw["contexts"]:
            for path, word in self.parts(raw):
                if word.raw.get("form", "dec") not in FORMS:
                    raise SpecError(f"{self.name}: {path}: unknown form")

    def parts(self, context):
        """Yields the name and word of each member of a context that is shown."""
        for path, word in self.structs[context["struct"]].words.items():
            inner = "struct" in word.raw
            hidden = any(part.startswith("rsvd") for part in path.split("."))
            if inner or hidden or path.startswith("hdr."):
                continue
            yield word.raw.get("show", path.replace(".", "-").replace("_", "-")), word

    def operations(self, fmt):
        """Returns the enumeration with a format's operations."""
        raw = self.structs[fmt["struct"]].words[fmt["op"].partition("/")[0]].raw
        group = raw.get("bits", fmt["op"])
        names = {n for body in fmt["bodies"] for n in body.get("ops", [])}
        for item in self.enums.values():
            entries = {e["name"]: e["value"] for e in item["entries"]}
            if names and names <= set(entries):
                return entries
        raise SpecError(f"{self.name}: {group}: no enum has these operations")
