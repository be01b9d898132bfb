# SPDX-License-Identifier: GPL-2.0-or-later
"""Citations of the interface documents, "(hw 4.9)", and whether such a section exists."""

import re
import subprocess

FAMILIES = ("erdma", "efa", "pvrdma")
NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*"
CITED = re.compile(rf"\bhw ({NUMBER}(?:(?:, | and | ?- ?){NUMBER})*)(?![\w>])")
SEE = re.compile(rf'\bsee: "({NUMBER})"')


def sections(text):
    """Numbers of a document's headings, and of the points of its appendices."""
    found = set(re.findall(rf"^#+ (?:Appendix )?({NUMBER}|[A-Z])\b", text, re.M))
    letter = None
    for line in text.splitlines():
        if heading := re.match(r"## (?:Appendix ([A-Z])\b)?", line):
            letter = heading[1]
        elif letter and (point := re.match(r"(\d+)\. ", line)):
            found.add(f"{letter}.{point[1]}")
    return found


def documents():
    """Sections by family."""
    found = {}
    for name in FAMILIES:
        with open(f"docs/hw/{name}.md", encoding="utf-8") as file:
            found[name] = sections(file.read())
    return found


def family(path):
    """Whose document a file cites; None: it belongs to no family."""
    named = {name for name in FAMILIES if re.search(rf"(?<![a-z]){name}(?![a-z])", path)}
    return named.pop() if len(named) == 1 else None


def cited(path, text):
    """Numbers of sections that a file cites."""
    described = SEE.findall(text) if path.startswith("spec/families/") else []
    return described + [number for group in CITED.findall(text) for number in re.findall(NUMBER, group)]


def unknown(path, text, known):
    """Citations of sections that no document of the file's family has."""
    name = family(path)
    there = known[name] if name else set().union(*known.values())
    return [f"{path}: hw {number}" for number in cited(path, text) if number not in there]


def texts():
    """Files of the tree that may cite: their paths and contents."""
    # The last has wrong ones, to see them found.
    not_these = re.compile(r"docs/hw/|tests/tree/docs$")
    these = re.compile(r"\.([chS]|py|sh|yaml|md|scd|bash|bats)$|/[\w-]+$")
    listed = subprocess.run(["git", "ls-files"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for path in listed.splitlines():
        if not_these.match(path) or not these.search(path):
            continue
        try:
            with open(path, encoding="utf-8") as file:
                yield path, file.read()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
