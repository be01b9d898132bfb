# SPDX-License-Identifier: GPL-2.0-or-later
"""Derives the field tables of the library."""

import os

from contract import FORMS, KINDS, METRICS, NEST, PERMS, REDACTS, ROWS, SETUPS, SHOWS, TYPES, attr_enum
from emit import DO_NOT_EDIT, c_array, c_name, c_string, header, packed

HERE = os.path.dirname(os.path.realpath(__file__))

def gen_fields_h(spec):
    def block(prefix, names):
        return "\n".join(f"\tEADM_SPEC_{prefix}_{c_name(n).upper()}," for n in names)

    with open(os.path.join(HERE, "fields.h.in"), encoding="utf-8") as template:
        text = template.read()
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
    relocates every pointer when it starts, and the fields would have thousands of them."""

    def __init__(self):
        self.places, self.size = {}, 1

    def place(self, text):
        if text not in self.places:
            self.places[text] = self.size
            self.size += len(text.encode()) + 1
        return self.places[text]

    def lines(self):
        return ["", "/* Offset 0 means no text. */", "const char eadm_spec_strings[] = \"\\0\"",
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
    """Omits fields from the adapter, which are decoded only on request."""
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
