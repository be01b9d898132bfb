# SPDX-License-Identifier: GPL-2.0-or-later
"""Derives the headers and the tables of the kernel modules."""

import hashlib
import re

from contract import COMMON, NEST, OWNER, asked_fields, attr_enum
from emit import c_const, c_name, c_string, header, packed

def gen_values(spec):
    """Generates the names of values, which drivers, the companion and programs share."""
    lines = ["#ifndef _UAPI_EADM_VALUES_H", "#define _UAPI_EADM_VALUES_H", "",
             "/* True if a value belongs to a class of its enumeration, EADM_..._CLASS_... */",
             "#define EADM_IS_OF(value, class)\t((value) < 32 && (class) >> (value) & 1)"]
    for enum in spec.enums.values():
        lines += ["", f"/* {enum.name}{': ' + enum.doc if enum.doc else ''} */"]
        for name, value, _ in enum.entries:
            number = enum.number(value)
            shown = f"0x{number:x}" if enum.flags else f"{number}"
            lines.append(f"#define {enum.const(name)}\t{shown}")
        if enum.classes:
            lines.append(f"#define {enum.const('count')}\t{len(enum.entries)}")
        for name, members in enum.classes.items():
            bits = sum(1 << value for member, value, _ in enum.entries if member in members)
            lines.append(f"#define {enum.const(f'class-{name}')}\t0x{bits:x} /* one bit each: {', '.join(members)} */")
    lines += ["", "#endif /* _UAPI_EADM_VALUES_H */"]
    return header(lines, "GPL-2.0-only WITH Linux-syscall-note", "h")


def gen_nests(spec):
    """Generates the attributes of objects that only one family has."""
    lines = ["#ifndef _UAPI_EADM_NESTS_H", "#define _UAPI_EADM_NESTS_H", "",
             "/* Nests with the additional fields of a family: EADM_A_NEST + its number. */",
             f"#define EADM_A_NEST\t{NEST}"]
    for family in spec.families:
        number = c_const("family", family.name)
        lines += [f"#define {number}\t{family.number}",
                  f"#define {number}_NAME\t{c_string(family.name)}"]
    for obj in spec.family:
        for fields in obj.known_sets:
            lines += attr_enum(fields)
    lines += ["", "#endif /* _UAPI_EADM_NESTS_H */"]
    return header(lines, "GPL-2.0-only WITH Linux-syscall-note", "h")


def gen_uapi(spec):
    lines = ["#ifndef _UAPI_EADM_NL_H", "#define _UAPI_EADM_NL_H", "",
             '#include "eadm_nests.h"', '#include "eadm_values.h"', "",
             f"#define EADM_FAMILY_NAME\t{c_string(spec.raw['name'])}",
             "#define EADM_FAMILY_VERSION\t1", "", "/* Commands. */", "enum {"]
    for number, raw, _ in spec.ops:
        lines.append(f"\t{c_const('cmd', raw['name'])} = {number},")
    lines += ["", "\t__EADM_CMD_MAX,", "\tEADM_CMD_MAX = (__EADM_CMD_MAX - 1)", "};"]
    for group in spec.raw["mcast-groups"]["list"]:
        name = c_string(group["name"])
        lines += ["", f"#define {c_const('mcgrp', group['name'])}_NAME\t{name}"]
    lines += ["", "/* The first attributes of every object. */", "enum {"]
    for number, name in enumerate(COMMON, 1):
        lines.append(f"\t{c_const('a', 'common', name)} = {number},")
    lines.append("};")
    for obj in spec.family:
        lines += attr_enum(obj)
    lines += ["", "#endif /* _UAPI_EADM_NL_H */"]
    return header(lines, "GPL-2.0-only WITH Linux-syscall-note", "h")


SNAP_TYPES = {"u32": "u32", "s32": "s32", "u64": "u64", "uint": "u64"}


def snap_struct(obj):
    lines = ["", f"/* {obj.doc} */", f"struct eadm_snap_{obj.c} {{"]
    for field in obj.snap:
        if field.type == "string":
            lines.append(f"\tchar {field.c}[{field.len}];")
        elif field.type == "binary":
            lines.append(f"\tu8 {field.c}[{field.len}];")
            lines.append(f"\tu16 {field.c}_len;")
        else:
            lines.append(f"\t{SNAP_TYPES[field.type]} {field.c};")
    # One presence flag per field, several on a line.
    lines += ["\tstruct {", *(f"\t\tu8 {line.strip().rstrip(',')};"
                              for line in packed([f.c for f in obj.snap], 3))]
    return lines + ["\t} has;", "};"]


def gen_snap(spec):
    lines = ["/*",
             " * Data that a driver reports about each object: values with presence marks, set by the",
             " * SNAP_ macros of eadm_diag.h. The companion adds the device's name and index.",
             " * Fields that only one family has are in <family>_snap.h.",
             " */",
             "#ifndef EADM_SNAP_H", "#define EADM_SNAP_H", "", "#include <linux/types.h>", "",
             '#include "eadm_values.h"', "",
             "enum eadm_obj {"]
    lines += [f"\t{c_const('obj', o.name)}," for o in spec.family]
    lines += ["\tEADM_OBJ_COUNT", "};"]
    for obj in spec.family:
        lines += snap_struct(obj)
    lines += ["", "#endif /* EADM_SNAP_H */"]
    return header(lines, "GPL-2.0-only", "h")


def family_snap(spec, family):
    """Generates kmod/include/<family>_snap.h: the fields of objects that only this family has."""
    guard = f"{family.c.upper()}_SNAP_H"
    lines = [f"#ifndef {guard}", f"#define {guard}", "", "#include <linux/types.h>"]
    for obj in spec.family:
        for fields in obj.sets:
            if fields.family is family:
                lines += snap_struct(fields)
    lines += ["", f"#endif /* {guard} */"]
    return header(lines, "GPL-2.0-only", "h")


def kernel_policy(obj, verb):
    lines = ["", f"static const struct nla_policy {obj.c}_{verb}_policy[] = {{"]
    for field in asked_fields(obj, verb):
        rule = {"u32": "{ .type = NLA_U32 }", "uint": "COMPAT_NLA_POLICY_UINT",
                "flag": "{ .type = NLA_FLAG }",
                "string": f"{{ .type = NLA_NUL_STRING, .len = {field.len - 1} }}"}[field.type]
        lines.append(f"\t[{obj.attr(field)}] = {rule},")
    return lines + ["};"]


def kernel_sets(obj):
    """Generates the tables of the additional fields of each family."""
    lines = []
    for fields in obj.sets:
        lines += kernel_fields(fields)
    if obj.sets:
        lines += ["", f"static const struct eadm_set {obj.c}_sets[] = {{"]
        for fields in obj.sets:
            items = [f".family = {c_string(fields.family.name)}",
                     f".nest = EADM_A_NEST + {c_const('family', fields.family.name)}",
                     f".snap_size = sizeof(struct eadm_snap_{fields.c})",
                     f".n_fields = ARRAY_SIZE({fields.c}_fields)",
                     f".fields = {fields.c}_fields"]
            lines += ["\t{", *packed(items, 2), "\t},"]
        lines += ["\t{}", "};"]
    return lines


def kernel_fields(obj):
    snap = f"struct eadm_snap_{obj.c}"
    lines = ["", f"static const struct eadm_field {obj.c}_fields[] = {{"]
    for field in obj.snap:
        items = [f".attr = {obj.attr(field)}", f".type = EADM_TYPE_{field.type.upper()}"]
        if field.len:
            items.append(f".len = {field.len}")
        if field.perm != "none":
            items.append(f".perm = EADM_PERM_{field.perm.upper()}")
        if field.hw:
            items.append(".hw = true")
        items += [f".off = offsetof({snap}, {field.c})",
                  f".has = offsetof({snap}, has.{field.c})"]
        if field.type == "binary":
            items.append(f".len_off = offsetof({snap}, {field.c}_len)")
        lines += ["\t{", *packed(items, 2), "\t},"]
    return lines + ["};"]


def kernel_object(obj):
    names = [f.name for f in obj.snap]
    lines = [f"\t[{c_const('obj', obj.name)}] = {{",
             f"\t\t.name = {c_string(obj.name)},",
             f"\t\t.snap_size = sizeof(struct eadm_snap_{obj.c}),",
             f"\t\t.fields = {obj.c}_fields,",
             f"\t\t.n_fields = ARRAY_SIZE({obj.c}_fields),",
             f"\t\t.cmd = {c_const('cmd', obj.op)},"]
    if obj.by_device:
        lines.append("\t\t.by_device = true,")
    else:
        lines.append(f"\t\t.key_attr = {obj.attr(obj.key)},")
        lines.append(f"\t\t.key_type = EADM_TYPE_{obj.key.type.upper()},")
    for test, (field, of) in obj.filters.items():
        lines.append(f"\t\t.{test}_attr = {obj.attr(field)},")
        if of is not obj.key:
            lines.append(f"\t\t.{test} = &{obj.c}_fields[{names.index(of.name)}],")
    if obj.hw:
        lines.append("\t\t.hw = true,")
        lines.append(f"\t\t.hw_perm = EADM_PERM_{obj.hw_perm.upper()},")
    if obj.sets:
        lines.append(f"\t\t.sets = {obj.c}_sets,")
    if any(f.perm == "rawio" and not f.hw for f in obj.every):
        lines.append("\t\t.soft_rawio = true,")
    owner = [f"[EADM_OWNER_{c_name(n).upper()}] = &{obj.c}_fields[{names.index(n)}],"
             for n in OWNER if n in names]
    if owner:
        lines += ["\t\t.owner = {"] + [f"\t\t\t{line}" for line in owner] + ["\t\t},"]
    return lines + ["\t},"]


def gen_kernel_tables(spec):
    lines = ["#include <linux/kernel.h>", "#include <linux/stddef.h>",
             "", '#include "eadm_nl.h"', '#include "eadm_table.h"']
    lines += [f'#include "{family.name}_snap.h"' for family in spec.families]
    for obj in spec.family:
        lines += kernel_fields(obj) + kernel_sets(obj)
    lines += ["", "const struct eadm_object eadm_objects[EADM_OBJ_COUNT] = {"]
    for obj in spec.family:
        lines += kernel_object(obj)
    lines += ["};", "", "const u8 eadm_cmd_obj[EADM_CMD_MAX + 1] = {"]
    for _, raw, obj in spec.ops:
        lines.append(f"\t[{c_const('cmd', raw['name'])}] = {c_const('obj', obj.name)},")
    lines += ["};"]
    return header(lines, "GPL-2.0-only")


def gen_kernel_ops(spec):
    """Generates the operations of the netlink family, in a separate file, because their functions use the tables."""
    lines = ["#include <linux/kernel.h>", "#include <net/genetlink.h>", "",
             '#include "../eadm.h"']
    for obj in spec.family:
        for verb in sorted(obj.verbs - {"ntf"}):
            lines += kernel_policy(obj, verb)
    lines += ["", "const struct genl_ops eadm_genl_ops[] = {"]
    for _, raw, obj in spec.ops:
        verb = raw["name"].rpartition("-")[2]
        if verb == "ntf":
            continue
        top = obj.attr(max(asked_fields(obj, verb), key=lambda f: f.attr))
        items = [f".cmd = {c_const('cmd', raw['name'])}", f".policy = {obj.c}_{verb}_policy",
                 f".maxattr = {top}"]
        if verb == "get":
            items += [".doit = eadm_nl_doit", ".start = eadm_nl_dump_start",
                      ".dumpit = eadm_nl_dumpit", ".done = eadm_nl_dump_done"]
        else:
            items.append(f".doit = eadm_nl_{c_name(raw['name'])}")
        lines += ["\t{", *packed(items, 2), "\t},"]
    lines += ["};", "", "const unsigned int eadm_n_genl_ops = ARRAY_SIZE(eadm_genl_ops);"]
    return header(lines, "GPL-2.0-only")


def gen_kernel_ids(spec):
    """Generates the list of auxiliary devices to which the companion binds."""
    names = [f'"{f.module}." EADM_DIAG_NAME' for f in spec.families if f.raw.get("companion")]
    lines = ["#ifndef EADM_IDS_H", "#define EADM_IDS_H", "",
             "static const struct auxiliary_device_id eadm_ids[] = {"]
    lines += [f"\t{{ .name = {name} }}," for name in names]
    lines += ["\t{}", "};", "", "COMPAT_AUX_TABLE(eadm_ids);"]
    lines += [f"COMPAT_AUX_ALIAS({name});" for name in names]
    lines += ["", "#endif /* EADM_IDS_H */"]
    return header(lines, "GPL-2.0-only", "h")


def gen_interface(texts):
    """Returns a number that changes with everything shared by companion and drivers, except comments and spaces."""
    digest = hashlib.sha256()
    for text in texts:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
        digest.update(" ".join(text.split()).encode() + b"\0")
    lines = ["#ifndef EADM_INTERFACE_H", "#define EADM_INTERFACE_H", "",
             "/* Companion and driver work together only if both were built with this number. */",
             f"#define EADM_DIAG_INTERFACE\t0x{digest.hexdigest()[:8]}", "",
             "#endif /* EADM_INTERFACE_H */"]
    return header(lines, "GPL-2.0-only", "h")
