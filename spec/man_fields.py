# SPDX-License-Identifier: GPL-2.0-or-later
"""Generates eadm-fields(7)."""

from emit import DO_NOT_EDIT, roff

def gen_man(spec):
    out = ['.\\" SPDX-License-Identifier: GPL-2.0-or-later', f'.\\" {DO_NOT_EDIT}',
           '.TH EADM\\-FIELDS 7 "" eadm "Fields of eadm"', ".SH NAME",
           "eadm\\-fields \\- objects and fields that eadm shows", ".SH DESCRIPTION",
           "Each field has the same name everywhere. Column lists use it as written here; JSON keys",
           "and metrics use underscores instead of hyphens. An absent value is unknown: it",
           "is printed as a dash and omitted from JSON.", ".PP",
           "Marks after a field:", ".B admin",
           "requires the capability CAP_NET_ADMIN;", ".B rawio",
           "requires CAP_SYS_RAWIO and a kernel that is not locked down;", ".B hw",
           "is read from the adapter itself, and only on request.",
           "The name of an adapter family marks fields that only this family has."]
    for obj in spec.objects:
        out += [f".SH {roff(obj.name.upper())}", roff(obj.doc),
                f"Key: {roff(obj.key.name)}."]
        families = {f: part.family.name for part in obj.sets for f in part.fields}
        for field in obj.every:
            marks = [m for m in (families.get(field),
                                 field.perm if field.perm != "none" else "",
                                 "hw" if field.hw else "") if m]
            kind = field.kind + (f", {field.unit}" if field.unit else "")
            out += [".TP", f"\\fB{roff(field.name)}\\fR ({roff(kind)})"
                    + (f" [{', '.join(marks)}]" if marks else ""), roff(field.doc)]
            if field.enum:
                out.append(f"Values: see {roff(field.enum.name)} below.")
    out.append(".SH VALUES")
    for enum in spec.enums.values():
        out += [f".SS {roff(enum.name)}"] + ([roff(enum.doc)] if enum.doc else [])
        for name, value, doc in enum.entries:
            out += [".TP", f"\\fB{roff(name)}\\fR ({'bit ' if enum.flags else ''}{value})",
                    roff(doc) if doc else "\\&"]
    out += [".SH SEE ALSO", ".BR eadm (1)"]
    return "\n".join(out) + "\n"
