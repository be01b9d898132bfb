# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files use which, by their includes and by the functions they name.

A room is a folder below libeadm. It may use itself and the rooms below it; no
room and no folder may have a circle. A function counts as used where its name
stands, be it called or put into a table; a call through a table is not seen,
so that a lower room may call what an upper one put into the lower one's table.
"""

import collections
import fnmatch
import glob
import os
import random
import re
import shutil
import tempfile

# Each room with those that it may use.
ROOMS = {
    "base": (),
    "model": ("base",),
    "source": ("base", "model"),
    "family": ("base", "model", "source"),
    "read": ("base", "model", "source", "family"),
    "diagnose": ("base", "model", "source", "family", "read"),
    "bundle": ("base", "model", "source", "family", "read"),
    # The roof, which makes a context and frees it.
    "": ("base", "model", "source", "family", "read", "diagnose", "bundle"),
}

# What the tool's room of output may use of the files beside it.
OUT, OUT_USES = "eadm/out", {"cli.h", "clock.h", "error.c", "grow.h", "late.c",
                             "late.h", "opts.c", "signals.c", "signals.h"}

# Folders without a circle.
FOLDERS = ("libeadm", "kmod/eadm", "kmod/erdma", "kmod/virt", "eadm")

# Uses that are still left, "who > whom" by the files' names: mend one, and
# remove its line. Each has its reason.
EXCUSES = {
    "eadm": {
    },
}

PUBLIC = re.compile(r"(eadm|eadm_[a-z]+)\.h")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
NOT_CODE = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S)
FUNCTION = re.compile(
    r"^(?P<head>[A-Za-z_][\w \t*]*[ \t\n*])(?P<name>[A-Za-z_]\w*)"
    r"\([^;{}]*\)\s*\{(?P<body>.*?)^\}", re.M | re.S)
DATA = re.compile(
    r"^(?P<head>(?:[A-Za-z_]\w*[ \t*]+)+)(?P<name>[A-Za-z_]\w*)"
    r"(?:\[[^\]\n]*\])*\s*(?:=|;)", re.M)
NOT_DATA = re.compile(r"\b(static|extern|typedef|return|goto|struct \w+$)\b")
# Not the member of a struct that is called like a function.
USED = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)")


def sources(folder):
    return sorted(path for path in glob.glob(f"{folder}/**/*.[ch]", recursive=True)
                  if not path.endswith(".mod.c"))


def code_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    bare = NOT_CODE.sub(" ", text)
    # A macro may use what it likes where it stands, not where it is defined.
    bare = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", bare, flags=re.M)
    return INCLUDE.findall(text), bare


class Tree:
    """The files of a folder, and who uses whom."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {path: code_of(path) for path in sources(folder)}
        self.owners = collections.defaultdict(list)
        self.uses = collections.defaultdict(set)
        self.includes = collections.defaultdict(set)
        for path, (_, code) in self.files.items():
            for name, static in self.defined(path, code):
                if not static:
                    self.owners[name].append(path)
        for path, (includes, code) in self.files.items():
            self.add_includes(path, includes)
            self.add_uses(path, code)

    @staticmethod
    def defined(path, code):
        """Names that a file gives, and whether only it knows them."""
        header = path.endswith(".h")
        for found in FUNCTION.finditer(code):
            yield found["name"], "static" in found["head"] and not header
        if not header:
            for found in DATA.finditer(FUNCTION.sub("", code)):
                if not re.search(r"\b(static|extern|typedef|return|goto)\b",
                                 found["head"]):
                    yield found["name"], False

    def add_includes(self, path, includes):
        for name in includes:
            for place in (os.path.dirname(path), self.folder,
                          f"{self.folder}/include"):
                target = os.path.normpath(f"{place}/{name}")
                if target in self.files and target != path:
                    self.includes[path].add(target)
                    break

    def add_uses(self, path, code):
        own = {name for name, _ in self.defined(path, code)}
        if path.endswith(".h"):
            code = " ".join(found["body"] for found in FUNCTION.finditer(code))
        for word in set(USED.findall(code)) - own:
            if word in self.owners:
                self.uses[path].add(nearest(path, self.owners[word]))

    def name(self, path):
        return os.path.relpath(path, self.folder)

    def crossings(self):
        """What a room uses and may not."""
        for how, edges in (("includes", self.includes), ("uses", self.uses)):
            for path in sorted(edges):
                room = self.name(path).rpartition("/")[0].split("/")[0]
                for target in sorted(edges[path]):
                    below = self.name(target)
                    other = below.rpartition("/")[0].split("/")[0]
                    if other == room or PUBLIC.fullmatch(below):
                        continue
                    if room not in ROOMS:
                        yield f"{path}: in a room that this test does not know"
                    elif other not in ROOMS[room]:
                        yield f"{path}: {how} {below}"

    def circles(self, excuses):
        """Circles without the excused uses; the excuses are ticked off."""
        for how, edges in (("includes", self.includes), ("calls", self.calls())):
            kept = {path: {target for target in targets
                           if not excused(path, target, excuses)}
                    for path, targets in edges.items()}
            for circle in components(kept):
                yield how, sorted(self.name(path) for path in circle)

    def calls(self):
        """A header's inline functions are its file's, where there is one."""
        edges = collections.defaultdict(set)
        for path, targets in self.uses.items():
            edges[self.node(path)] |= {self.node(target) for target in targets}
        for node, targets in edges.items():
            targets.discard(node)
        return edges

    def node(self, path):
        other = path[:-1] + "c"
        return other if path.endswith(".h") and other in self.files else path


def nearest(path, owners):
    """Programs of one tree may each have a function of the name."""
    return max(owners, key=lambda owner: (
        len(os.path.commonpath((path, owner))), -owner.count("/")))


def excused(path, target, needed):
    for excuse in needed:
        who, whom = excuse.split(" > ")
        if (fnmatch.fnmatch(os.path.basename(path), who)
                and fnmatch.fnmatch(os.path.basename(target), whom)):
            needed[excuse] = True
            return True
    return False


def components(edges):
    """Strongly connected ones of more than one node (Tarjan's way)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in edges.get(node, ()):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(stack[at:])
            del stack[at:]

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def room_errors(folder="libeadm"):
    return sorted(set(Tree(folder).crossings()))


def out_errors():
    tree = Tree(os.path.dirname(OUT))
    for how, edges in (("includes", tree.includes), ("uses", tree.uses)):
        for path in sorted(path for path in edges if path.startswith(f"{OUT}/")):
            for target in sorted(edges[path]):
                if not target.startswith(f"{OUT}/") and tree.name(target) not in OUT_USES:
                    yield f"{path}: {how} {tree.name(target)}"


def circle_errors(folder, excuses=None):
    excuses = dict(EXCUSES.get(folder, {}) if excuses is None else excuses)
    needed = dict.fromkeys(excuses, False)
    for how, circle in Tree(folder).circles(needed):
        yield f"{folder}: a circle of {how}: {' '.join(circle)}"
    for excuse, used in needed.items():
        if not used:
            yield f"{folder}: nothing needs the excuse '{excuse}'"


# ---- the test of the test ------------------------------------------------------


def add(path, text):
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


def plant_crossing(draw, tree, folder):
    """A lower room includes or calls what is above it."""
    low, high = sorted(draw.sample(sorted(r for r in ROOMS if r and rooms_files(tree, r)), 2),
                       key=list(ROOMS).index)
    path = draw.choice(rooms_files(tree, low))
    if draw.random() < .5:
        header = draw.choice([f for f in tree.files if f"/{high}/" in f and f.endswith(".h")])
        add(path, f'#include "{os.path.relpath(header, folder)}"\n')
    else:
        add(path, call(draw, tree, high))
    return room_errors(folder)


def rooms_files(tree, room):
    return sorted(f for f in tree.files if f.startswith(f"{tree.folder}/{room}/")
                  and f.endswith(".c"))


def call(draw, tree, room, path=None):
    names = sorted(name for name, owners in tree.owners.items()
                   for owner in owners if owner.endswith(".c") and
                   (owner == path if path else f"/{room}/" in owner))
    return f"\nvoid planted_{draw.randrange(1 << 32)}(void)\n{{\n\t{draw.choice(names)}();\n}}\n"


def plant_call_circle(draw, tree, folder):
    """What is called calls back."""
    givers = {owner for owners in tree.owners.values() for owner in owners}
    edges = [(a, b) for a, bs in sorted(tree.uses.items()) for b in sorted(bs)
             if a.endswith(".c") and b.endswith(".c") and a in givers]
    caller, called = draw.choice(edges)
    add(called, call(draw, tree, None, caller))
    return list(circle_errors(folder, {}))


def plant_include_circle(draw, tree, folder):
    edges = [(a, b) for a, bs in sorted(tree.includes.items()) for b in sorted(bs)
             if a.endswith(".h")]
    outer, inner = draw.choice(edges)
    add(inner, f'#include "{os.path.relpath(outer, folder)}"\n')
    return list(circle_errors(folder, {}))


def self_test_errors(draws=10, seed=None):
    """Crossings and circles planted by lot must be found, each of them."""
    seed = random.randrange(1 << 32) if seed is None else seed
    draw = random.Random(seed)
    plants = (plant_crossing, plant_call_circle, plant_include_circle)
    for number in range(draws):
        with tempfile.TemporaryDirectory() as tmp:
            folder = f"{tmp}/libeadm"
            shutil.copytree("libeadm", folder)
            plant = plants[number % len(plants)]
            if not plant(draw, Tree(folder), folder):
                yield f"seed {seed}, draw {number}: {plant.__name__} was not found"
