# SPDX-License-Identifier: GPL-2.0-or-later
"""Generates the manual page of a family, eadm-<family>(7)."""

from emit import roff
from family import field_range


def term(name, doc, *more):
    head = f"\\fB{roff(str(name))}\\fR" + "".join(f" {roff(str(m))}" for m in more if m != "")
    return [".TP", head, roff(doc) if doc else "\\&"]


def see(raw, default=""):
    section = raw.get("see", default)
    return f"(hw {section})" if section else ""


def names(family):
    raw, pci = family.raw, family.raw["pci"]
    ids = ", ".join(f"{pci['vendor']:04x}:{d['id']:04x}" for d in pci["devices"])
    vectors = f"{pci['vectors']} interrupt vectors" if "vectors" in pci else "Interrupt vectors"
    out = [".SH NAMES", *term("PCI", f"{ids} (hw {pci['see']}). {vectors}, "
                              f"including {pci['common-vectors']} not used for completions.")]
    for bar in pci["bars"]:
        out += term(f"BAR {bar['number']}" if "number" in bar else "Another BAR", bar["doc"])
    for key in ("drivers", "modules"):
        out += term(key, ", ".join(raw[key]))
    return out + term("provider", f"lib{raw['provider']} of rdma-core") + \
        (term("interrupts", f"{raw['interrupts']}*") if "interrupts" in raw else [])


def classed(title, entries, section=""):
    """Lists the adapter's codes and the names that eadm shows."""
    if not entries:
        return []
    out = [f".SH {title}"] + ([f"See hw {section}."] if section else [])
    for number, raw, family_name in entries:
        out += term(raw["class"], raw.get("doc", ""), number, family_name, see(raw))
    return out


def numbers(family):
    commands = [(f"{family.command_number(c):#x}", c, c["name"]) for c in family.commands]
    out = classed("COMMANDS", commands)
    for title, enum in (("OPERATIONS", "wqe-op"), ("CAUSES", "cause"),
                        ("ASYNCHRONOUS EVENTS", "async-event")):
        for item in family.enums.values():
            if enum in (item.get("classes"), item.get("command-classes")):
                out += classed(title, [(e["value"], e, e["name"]) for e in item["entries"]],
                               item.get("see", ""))
    return out


def registers(family):
    if not family.registers:
        return []
    where = next(s["see"] for s in family.raw["sections"]
                 if any("registers" in item for item in s["items"]))
    out = [".SH REGISTERS", "Registers that can be read without side effects are shown by",
           ".BR \"eadm dump regs\" ;", f"here, they are marked with an R. See hw {where}."]
    for reg in family.registers:
        out += term(f"{reg['at']:#05x}", reg["doc"], reg["name"], f"{reg.get('width', 32)} bits",
                    "R" if reg.get("read") else "")
    return out


def word(family, path, item):
    raw = item.raw
    if "struct" in raw:
        return []
    order = "" if item.size == 1 else ("big endian" if item.order == "BE" else "little endian")
    out = term(f"{item.offset:#04x}", raw.get("doc", ""), path, f"{item.size} bytes", order)
    if "bits" in raw:
        fields = []
        for field in family.groups[raw["bits"]]["fields"]:
            low, bits = field_range(field)
            place = f"{low + bits - 1}:{low}" if bits > 1 else f"{low}"
            fields.append(f"{field['name']} [{place}]")
        out += [".br", roff("Bits: " + ", ".join(fields) + ".")]
    return out


def layouts(family):
    out, shown = [".SH QUEUE ENTRIES"] if family.raw["formats"] else [], set()
    for fmt in family.raw["formats"]:
        places = fmt.get("places", 1)
        stride = fmt["stride"]
        if isinstance(stride, list):
            stride = " to ".join(map(str, stride))
        size = f"1 to {places} slots of {stride} bytes" if places > 1 else f"{stride} bytes"
        out += [f".SS {roff(fmt['name'])}", roff(f"{size}, index rule {fmt['index']}, in {fmt['memory']} memory."),
                f"See hw\\~{fmt['see']}."]
        for struct in [fmt["struct"], *(b["struct"] for b in fmt.get("bodies", []))]:
            if struct in shown:
                continue
            shown.add(struct)
            ops = [op for b in fmt.get("bodies", []) if b["struct"] == struct
                   for op in b.get("ops", [])]
            out += [".PP", roff(f"struct {family.name}_{struct}"
                                + (f" ({', '.join(ops)}):" if ops else ":"))]
            for path, item in family.structs[struct].words.items():
                out += word(family, path, item)
    for part in ("request", "response"):
        used = dict.fromkeys(c[part] for c in family.commands if part in c)
        out += [f".SH COMMAND {part.upper()}S"] if used else []
        for struct in used:
            of = [c["name"] for c in family.commands if c.get(part) == struct]
            out.append(f".SS {roff(', '.join(of))}")
            for path, item in family.structs[struct].words.items():
                out += word(family, path, item)
    out += [".SH CONTEXTS"] if family.raw["contexts"] else []
    for context in family.raw["contexts"]:
        out += [f".SS {roff(context['kind'])}", f"See hw {context['see']}."]
        for name, item in family.parts(context):
            out += word(family, name, item)
    return out


def family_page(family, note):
    counters = family.raw.get("counters")
    title = f"EADM-{family.name.upper()}"
    return "\n".join([
        '.\\" SPDX-License-Identifier: GPL-2.0-or-later', f'.\\" {note}',
        f'.TH {roff(title)} 7 "" eadm "Adapters supported by eadm"', ".SH NAME",
        f"eadm\\-{family.name} \\- codes and data formats of {roff(family.raw['title'])}",
        ".SH DESCRIPTION",
        "This page lists the codes, registers and data formats of this family of adapters. Names in bold",
        "are those that eadm shows; names in capitals are those of the adapter. \\(lqhw 4.7\\(rq is section 4.7 of",
        f"the interface document, docs/hw/{family.name}.md in the source. Codes that are not listed here,",
        "such as opcodes of newer firmware, are shown as numbers or not at all.",
        *names(family), *numbers(family), *registers(family), *layouts(family),
        *([".SH COUNTERS", f"See hw {counters['see']}.", roff(", ".join(counters["names"]) + ".")]
          if counters else []),
        ".SH SEE ALSO", ".BR eadm (1),", ".BR eadm\\-dump (1),", ".BR eadm\\-fields (7)"]) + "\n"
