# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files use which, by their includes and by the functions they name.

A room is a folder below libeadm or pvrdma. It may use itself and the rooms below it;
no room and no folder may have a circle. A function counts as used where its name
stands, be it called or put into a table; a call through a table is not seen,
so that a lower room may call what an upper one put into the lower one's table.
"""

import collections
import fnmatch
import functools
import glob
import os
import re

# Folder: each of its rooms with those that it may use. The roof is "".
ROOMS = {
    "libeadm": {
        "base": (),
        "model": ("base",),
        "source": ("base", "model"),
        "family": ("base", "model", "source"),
        "read": ("base", "model", "source", "family"),
        "diagnose": ("base", "model", "source", "family", "read"),
        "bundle": ("base", "model", "source", "family", "read"),
        # Which makes a context and frees it.
        "": ("base", "model", "source", "family", "read", "diagnose", "bundle"),
    },
    "pvrdma": {
        "base": (),
        "vfio": ("base",),
        "backend": ("base",),
        "model": ("base", "vfio", "backend"),
        "control": ("base", "vfio", "backend", "model"),
        "": ("base", "vfio", "backend", "model", "control"),
    },
}

# What the tool's room of output may use of the files beside it.
OUT, OUT_USES = "eadm/out", {"cli.h", "clock.h", "error.c", "grow.h", "late.c",
                             "late.h", "opts.c", "signals.c", "signals.h"}

# Uses that are still left in a folder, "who > whom" by the files' names: mend one, and
# remove its line. Each has its reason.
EXCUSES = {
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


def folders():
    """Those without a circle."""
    return ["libeadm", "libeadm/python", "eadm", "pvrdma",
            *(path.rstrip("/") for path in sorted(glob.glob("kmod/*/")) if sources(path[:-1]))]


def sources(folder):
    """The binding is no room: it is a program that uses what is public."""
    return sorted(path for path in glob.glob(f"{folder}/**/*.[ch]", recursive=True)
                  if not path.endswith(".mod.c") and not path.startswith(f"{folder}/python/"))


@functools.lru_cache(maxsize=None)
def parsed(path, *_state):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    bare = NOT_CODE.sub(" ", text)
    # A macro may use what it likes where it stands, not where it is defined.
    bare = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", bare, flags=re.M)
    names = list(defined(path, bare))
    if path.endswith(".h"):
        bare = " ".join(found["body"] for found in FUNCTION.finditer(bare))
    return INCLUDE.findall(text), names, set(USED.findall(bare)) - {name for name, _ in names}


def code_of(path):
    """What it includes, names that it gives, and words by which it may use others' names."""
    state = os.stat(path)
    return parsed(path, state.st_mtime_ns, state.st_size)


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


class Tree:
    """The files of a folder, and who uses whom."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {path: code_of(path) for path in sources(folder)}
        self.owners = collections.defaultdict(list)
        self.uses = collections.defaultdict(set)
        self.includes = collections.defaultdict(set)
        for path, (_, names, _) in self.files.items():
            for name, static in names:
                if not static:
                    self.owners[name].append(path)
        for path, (includes, _, words) in self.files.items():
            self.add_includes(path, includes)
            for word in words & self.owners.keys():
                self.uses[path].add(nearest(path, self.owners[word]))

    def add_includes(self, path, includes):
        for name in includes:
            places = [os.path.normpath(f"{place}/{name}") for place in (
                os.path.dirname(path), self.folder, f"{self.folder}/include")]
            # The build has some rooms among those where headers are looked for.
            places += [other for other in self.files if other.endswith(f"/{name}")]
            target = next((place for place in places if place in self.files), path)
            if target != path:
                self.includes[path].add(target)

    def name(self, path):
        return os.path.relpath(path, self.folder)

    def crossings(self):
        """What a room uses and may not."""
        rooms = ROOMS[self.folder]
        for how, edges in (("includes", self.includes), ("uses", self.uses)):
            for path in sorted(edges):
                room = self.name(path).rpartition("/")[0].split("/")[0]
                for target in sorted(edges[path]):
                    below = self.name(target)
                    other = below.rpartition("/")[0].split("/")[0]
                    if other == room or PUBLIC.fullmatch(below):
                        continue
                    if room not in rooms:
                        yield f"{path}: in a room that this test does not know"
                    elif other not in rooms[room]:
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


def room_errors(folder):
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
