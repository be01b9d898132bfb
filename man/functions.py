#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""functions.py --list HEADER... | functions.py FOLDER HEADER...: manual pages of libeadm.

Makes a page for each group of functions from the comments in the public headers, and for each
function a page that refers to it. --list prints the names of all pages.
"""

import re
import sys

# Prefix of a name, and the subject of the page for that group; the first match applies.
GROUPS = {
    "eadm_dump": "read objects",
    "eadm_entry": "read objects",
    "eadm_command": "read objects",
    "eadm_hwctx": "read objects",
    "eadm_around": "read objects",
    "eadm_record": "rows of a dump",
    "eadm_value": "rows of a dump",
    "eadm_extra": "rows of a dump",
    "eadm_trace": "follow a flight recorder",
    "eadm_object_class": "kinds of objects",
    "eadm_rows": "kinds of objects",
    "eadm_object": "kinds of objects",
    "eadm_metric": "fields of objects",
    "eadm_field": "fields of objects",
    "eadm_events": "listen to events",
    "eadm_conf": "change settings of an adapter",
    "eadm_capture": "write a capture",
    "eadm_output": "write files atomically",
    "eadm_bundle": "read and write bundles",
    "eadm_member": "read and write bundles",
    "eadm_redact": "redact text and captures",
    "eadm_severity": "rules of a diagnosis",
    "eadm_rule": "rules of a diagnosis",
    "eadm_diagnosis": "find faults and their causes",
    "eadm_sample": "find faults and their causes",
    "eadm_evidence": "find faults and their causes",
    "eadm_verdict": "find faults and their causes",
    "eadm_consequence": "find faults and their causes",
    "eadm_gap": "find faults and their causes",
    "eadm_family": "families of adapters",
    "eadm_note": "data missing from a result",
    "eadm_": "contexts, sources, snapshots and devices",
}
# Pages by subject.
PAGES = {
    "read objects": "eadm_dump", "rows of a dump": "eadm_record",
    "follow a flight recorder": "eadm_trace", "kinds of objects": "eadm_object",
    "fields of objects": "eadm_field", "listen to events": "eadm_events",
    "change settings of an adapter": "eadm_conf", "write a capture": "eadm_capture",
    "write files atomically": "eadm_output", "read and write bundles": "eadm_bundle",
    "redact text and captures": "eadm_redactor", "rules of a diagnosis": "eadm_rule",
    "find faults and their causes": "eadm_diagnosis", "families of adapters": "eadm_family",
    "data missing from a result": "eadm_note",
    "contexts, sources, snapshots and devices": "eadm_context",
}

BLOCK = re.compile(r"^/\*\*\n(.*?)^ \*/\n(.*?)(?=^/\*\*|^#|^/\* ----|\Z)", re.M | re.S)


class Item:
    """A function, struct, enum or typedef, as its comment describes it."""

    def __init__(self, header, comment, code):
        lines = [line[2:].lstrip(" ") if not line.startswith(" *\t") else "\t" + line[3:]
                 for line in comment.splitlines()]
        head = re.match(r"(?:(struct|enum|typedef) )?(\w+)(\(\))? - (.*)", lines[0])
        self.header, self.kind, self.name, self.what = header, head[1], head[2], head[4]
        self.function = bool(head[3])
        self.code = code.strip().split(";\n\n")[0].rstrip(";") + ";"
        self.members, self.paragraphs, self.returns = [], [], []
        self.read(lines[1:])
        self.group = next(group for group in GROUPS if self.name.startswith(group))

    def read(self, lines):
        """Reads members or arguments, then paragraphs, then the result."""
        into = None
        for line in lines:
            member = re.match(r"@(\w+): ?(.*)", line)
            if member and not self.paragraphs:
                self.members.append([member[1], member[2]])
                into = self.members[-1]
            elif line.startswith("\t") and into:
                into[-1] += " " + line.strip()
            elif not line.strip():
                into = None
            elif line.startswith("Since:"):
                into = None
            elif line.startswith("Return:"):
                self.returns = [line[len("Return:"):].strip()]
                into = self.returns
            elif into is not None:
                into[-1] += " " + line.strip()
            else:
                self.paragraphs.append(line.strip())
                into = self.paragraphs


def items(headers):
    found = []
    for path in headers:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for comment, code in BLOCK.findall(text):
            if re.match(r" \* (?:(?:struct|enum|typedef) )?\w+(\(\))? - ", comment):
                found.append(Item(path.rpartition("/")[2], comment, code))
    return found


# ---- a page ---------------------------------------------------------------------------


def roff(text):
    """Escapes text; puts arguments in italics, functions and constants in bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"[@&](?:struct )?([\w.>\\-]*\w)", r"\\fI\1\\fR", text)
    text = re.sub(r"\b(eadm_\w+)\(\)", r"\\fB\1\\fR()", text)
    text = re.sub(r"\b(EADM_[A-Z_]+\w*|E[A-Z]{3,}|NULL)\b", r"\\fB\1\\fR", text)
    return re.sub(r"^([.'])", r"\\&\1", text)


def describe(item):
    yield f".SS {item.name}()" if item.function else f".SS {item.kind} {item.name}"
    yield roff(item.what[0].upper() + item.what[1:] + ".")
    for name, text in item.members:
        yield ".TP"
        yield f".I {name}" if item.kind != "enum" else f".B {name}"
        yield roff(text)
    for text in item.paragraphs:
        yield ".PP"
        yield roff(text)
    if item.returns:
        text = item.returns[0]
        yield ".PP"
        yield f"Returns {roff(text if text[:2].isupper() else text[0].lower() + text[1:])}"


def page(title, about, members, others):
    functions = [item for item in members if item.function]
    yield f'.TH {title.upper()} 3 "" "eadm" "libeadm"'
    yield ".SH NAME"
    yield ", ".join(item.name for item in functions or members) + f" \\- {about}"
    yield ".SH SYNOPSIS"
    yield ".nf"
    yield ".B #include <eadm.h>"
    for item in functions:
        yield ".PP"
        yield from ("\\fB" + line.replace("\\", "\\e") + "\\fR" for line in item.code.splitlines())
    yield ".fi"
    yield ".SH DESCRIPTION"
    yield ".BR libeadm (3)"
    yield "describes the rules for all functions: errors, ownership, and structs that grow."
    for item in members:
        yield from describe(item)
    yield ".SH SEE ALSO"
    yield ",\n".join(f".BR {other} (3)" for other in ["libeadm", *others])


def main():
    listing = sys.argv[1] == "--list"
    found = items(sys.argv[2:])
    pages = {}
    for item in found:
        pages.setdefault(GROUPS[item.group], []).append(item)
    names = {PAGES[about]: about for about in pages}
    links = {item.name: PAGES[GROUPS[item.group]] for item in found
             if item.function and item.name not in names}
    if listing:
        print("\n".join(f"{name}.3" for name in [*names, *links]))
        return
    for name, about in names.items():
        others = sorted(other for other in names if other != name)
        with open(f"{sys.argv[1]}/{name}.3", "w", encoding="utf-8") as file:
            print("\n".join(page(name, about, pages[about], others)), file=file)
    for name, target in links.items():
        with open(f"{sys.argv[1]}/{name}.3", "w", encoding="utf-8") as file:
            print(f".so man3/{target}.3", file=file)


main()
