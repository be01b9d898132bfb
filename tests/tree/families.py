# SPDX-License-Identifier: GPL-2.0-or-later
"""Where no adapter is known: what only a family's description and its folders may name."""

import functools
import glob
import os
import re
import shutil
import sys
import tempfile

import yaml

OTHER = "other"
NEUTRAL = ("kmod/compat", "kmod/core", "kmod/eadm", "kmod/include", "kmod/virt/core", "libeadm", "eadm")

# (file, word in lower case), each with its reason.
EXCUSES = {
    # The kernel's number of a driver, which older kernels do not have.
    ("kmod/compat/Kbuild", "erdma"),
    ("kmod/compat/compat_rdma.h", "erdma"),
}

# The module of all virtual adapters.
NOBODYS = {"eadm_virt"}
# Of ERDMA's connections, and of EFA's QPs.
PROTOCOLS = {"iwarp", "srd"}
# Documentation of a state says to which protocol it belongs.
EXPLAINED = {"iwarp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](.*/)?family/[^/\n]+/', re.M)


@functools.cache
def described():
    """Families whose formats are described, with their description."""
    found = []
    for path in sorted(glob.glob("spec/families/*.yaml")):
        with open(path, encoding="utf-8") as file:
            raw = yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        if "formats" in raw:
            found.append(raw)
    return found


def words():
    """Names of families, of their drivers, modules and providers, and their PCI ids."""
    found = set(PROTOCOLS)
    for raw in described():
        found |= {raw["name"], raw["provider"], *raw["drivers"], *raw["modules"],
                  raw["title"].split(" (")[0].lower()}
        found |= {f"0x{n:04x}" for n in (raw["pci"]["vendor"],
                                         *(device["id"] for device in raw["pci"]["devices"]))}
        # Values that only its fields have.
        found |= {f"eadm_{item['name'].replace('-', '_')}" for item in raw.get("definitions") or []}
    return sorted(found - NOBODYS)


def pattern(chosen):
    """Only whole words: "fa" in "default" does not count. "_" and digits end a word."""
    return re.compile("|".join(rf"(?<![a-z]){re.escape(word)}(?![a-z])" for word in
                               sorted(chosen, key=len, reverse=True)) or "$^", re.I)


def files(folder):
    """Hand-written files of a folder that are no family's."""
    names = "|".join(re.escape(raw["name"]) for raw in described())
    own = re.compile(rf"(.*/)?generated/.*|kmod/include/({names})_[a-z_]+\.h|"
                     rf"libeadm/family/[^/]+/.*|eadm/test/family/({names})\.c|.*\.(mod\.c|pyc)")
    return sorted(path for path in glob.glob(f"{folder}/**", recursive=True)
                  if os.path.isfile(path) and not own.fullmatch(path))


def errors(folders=NEUTRAL):
    word = pattern(words())
    needed = {excuse: False for excuse in EXCUSES if excuse[1] in words()}
    for folder in folders:
        for path in files(folder):
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            if INCLUDE.search(text):
                yield f"{path}: includes a file of a family"
            for found in word.finditer(text):
                excuse = (path, found[0].lower())
                if excuse in needed:
                    needed[excuse] = True
                    continue
                line = text.count("\n", 0, found.start()) + 1
                yield f"{path}:{line}: knows {found[0]}"
    if set(folders) == set(NEUTRAL):
        for excuse, used in needed.items():
            if not used:
                yield f"nothing needs the excuse {excuse}"


def generated():
    """The text of each file that is generated or derived where no family is described, by name."""
    sys.path.insert(0, "spec")
    import gen  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(f"spec/families/{OTHER}.yaml", folder)
        spec = gen.Spec("spec/eadm.yaml", folder)
        none = gen.Families(spec, folder)
        explain = gen.read_explain("spec/explain", spec.families)
        yield from gen.tree_files(spec, none, explain).items()
        for part, derive in gen.parts_of(spec, none, explain).items():
            yield from ((f"{part}/{name}", text) for name, text in derive().items())


def generated_errors():
    word = pattern(set(words()) - EXPLAINED)
    for name, text in generated():
        for found in word.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{name}:{line}: knows {found[0]} where no family is described"
