# SPDX-License-Identifier: GPL-2.0-or-later
"""Derives the specification for other netlink clients."""

import yaml

from contract import NEST, asked_fields
from emit import header

def without_x(node):
    if isinstance(node, dict):
        return {k: without_x(v) for k, v in node.items() if not str(k).startswith("x-")}
    if isinstance(node, list):
        return [without_x(v) for v in node]
    return node


class PlainDumper(yaml.SafeDumper):
    """Writes no anchors: an attribute of several sets is repeated in full."""

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
