# SPDX-License-Identifier: GPL-2.0-or-later
"""The test of the test: what is planted by lot in a copy of the tree must be found."""

import contextlib
import glob
import os
import random
import re
import shutil
import tempfile

import families
import rooms

TREE = ("common", "kmod", "libeadm", "eadm", "pvrdma", "spec/families")


@contextlib.contextmanager
def copy_of_the_tree():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as tmp:
        for folder in TREE:
            shutil.copytree(folder, f"{tmp}/{folder}", symlinks=True,
                            ignore=shutil.ignore_patterns("*.o", "*.ko", "__pycache__"))
        os.chdir(tmp)
        try:
            yield
        finally:
            os.chdir(here)


@contextlib.contextmanager
def added(path, text):
    with open(path, encoding="utf-8") as file:
        before = file.read()
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)
    try:
        yield
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(before)


def function(draw, *names):
    body = "".join(f"\t{name}();\n" for name in names)
    return f"\nvoid planted_{draw.randrange(1 << 32)}(void)\n{{\n{body}}}\n"


def calls_of(tree, owner, caller):
    """Names that a file gives, alone, and that another one would call by them."""
    own = {name for name, _ in tree.files[caller][1]}
    return sorted(name for name, owners in tree.owners.items()
                  if owners == [owner] and name not in own)


class Planter:
    def __init__(self, seed, layers, layer_errors):
        self.draw = random.Random(seed)
        self.layers, self.layer_errors = layers, layer_errors
        self.trees = {}

    def tree(self, folder):
        if folder not in self.trees:
            self.trees[folder] = rooms.Tree(folder)
        return self.trees[folder]

    def use(self, tree, user, folder, owners):
        """A use of one of these files, by including it or by a call."""
        headers = [path for path in owners if path.endswith(".h")]
        calls = sorted({name for path in owners if path.endswith(".c")
                        for name in calls_of(tree, path, user)})
        if headers and (not calls or self.draw.random() < .5):
            return f'#include "{os.path.relpath(self.draw.choice(headers), folder)}"\n'
        return function(self.draw, self.draw.choice(calls))

    def crossing(self):
        """A lower room uses what is above it."""
        folder = self.draw.choice(sorted(rooms.ROOMS))
        tree, known = self.tree(folder), rooms.ROOMS[folder]
        low = self.draw.choice(sorted(room for room in known if room and set(known) - {
            "", room, *known[room]}))
        high = self.draw.choice(sorted(set(known) - {"", low, *known[low]}))
        inside = {room: [path for path in tree.files if path.startswith(f"{folder}/{room}/")]
                  for room in (low, high)}
        path = self.draw.choice(sorted(p for p in inside[low] if p.endswith(".c")))
        text = self.use(tree, path, folder, inside[high])
        with added(path, text):
            return path, text, rooms.room_errors(folder)

    def out(self):
        """The tool's room of output uses a command."""
        folder = os.path.dirname(rooms.OUT)
        tree = self.tree(folder)
        path = self.draw.choice(sorted(p for p in tree.files if p.startswith(f"{rooms.OUT}/")
                                       and p.endswith(".c")))
        others = [p for p in tree.files if not p.startswith(f"{rooms.OUT}/")
                  and tree.name(p) not in rooms.OUT_USES]
        text = self.use(tree, path, folder, others)
        with added(path, text):
            return path, text, list(rooms.out_errors())

    def call_circle(self):
        """What is called calls back."""
        while True:
            folder = self.draw.choice(rooms.folders())
            tree = self.tree(folder)
            edges = [(a, b) for a, bs in sorted(tree.uses.items()) for b in sorted(bs)
                     if a.endswith(".c") and b.endswith(".c") and calls_of(tree, a, b)]
            if edges:
                break
        caller, called = self.draw.choice(edges)
        text = function(self.draw, self.draw.choice(calls_of(tree, caller, called)))
        with added(called, text):
            return called, text, list(rooms.circle_errors(folder, {}))

    def include_circle(self):
        while True:
            folder = self.draw.choice(rooms.folders())
            tree = self.tree(folder)
            edges = [(a, b) for a, bs in sorted(tree.includes.items()) for b in sorted(bs)
                     if a.endswith(".h")]
            if edges:
                break
        outer, inner = self.draw.choice(edges)
        text = f'#include "{os.path.relpath(outer, folder)}"\n'
        with added(inner, text):
            return inner, text, list(rooms.circle_errors(folder, {}))

    def include(self):
        """A header that the folder may not have."""
        headers = sorted(path for folder in TREE for path in glob.glob(
            f"{folder}/**/*.h", recursive=True))
        folder = self.draw.choice(sorted(self.layers))
        quoted, _, never, _ = self.layers[folder]
        own = [path for path in glob.glob(f"{folder}/**/*.[ch]", recursive=True)
               if not any(path.startswith(f"{other}/") for other in self.layers
                          if other.startswith(f"{folder}/"))]
        path = self.draw.choice(sorted(own))
        names = {os.path.basename(header) for header in headers
                 if not header.startswith(f"{folder}/")}
        near = os.listdir(folder) + os.listdir(os.path.dirname(path))
        name = self.draw.choice(sorted(n for n in names if n not in near and (
            not re.fullmatch(quoted, n) or re.fullmatch(never, n))))
        text = f'#include "{name}"\n'
        with added(path, text):
            return path, text, list(self.layer_errors(folder, self.layers[folder]))

    def word(self):
        """A family's word where no family belongs."""
        folder = self.draw.choice(families.NEUTRAL)
        path = self.draw.choice([p for p in families.files(folder) if p.endswith((".c", ".h"))])
        word = self.draw.choice(families.words())
        form = self.draw.choice(("/* {0} */", 'f("{0}")', "/* {1} */", "{0}_x = 1;",
                                 "EADM_{1}_X", "{0}0", "x.{0}", '"/run/{0}.sock"'))
        text = form.format(word, word.upper()) + "\n"
        with added(path, text):
            return path, text, list(families.errors((folder,)))


def errors(layers, layer_errors, rounds=6, seed=None):
    seed = random.randrange(1 << 32) if seed is None else seed
    with copy_of_the_tree():
        planter = Planter(seed, layers, layer_errors)
        for number in range(rounds):
            for plant in (planter.crossing, planter.out, planter.call_circle,
                          planter.include_circle, planter.include, planter.word):
                path, text, found = plant()
                if not found:
                    yield (f"seed {seed}, round {number}: {plant.__name__} in {path} "
                           f"was not found: {text.strip()!r}")
