# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks numbers and types against spec/abi.lock, which records all that were assigned."""

from emit import SpecError

LOCK_HEAD = """\
# SPDX-License-Identifier: GPL-2.0-or-later
# All numbers and types that were assigned. spec/gen.py only appends lines, and fails
# if the specification differs from this file. A retired attribute keeps its
# place in the specification, with "type: unused".
"""

def lock_entries(spec):
    """Returns all that must never change, in a fixed order, as {name: value}."""
    entries = {}
    for number, raw, _ in spec.ops:
        entries[f"cmd {raw['name']}"] = f"{number}"
    for obj in spec.objects:
        entries[f"key {obj.name}"] = obj.key.name
        for owner in [obj, *obj.known_sets]:
            for field in owner.all:
                enum = f" {field.enum.name}" if field.enum else ""
                entries[f"attr {owner.name}.{field.name}"] = f"{field.attr} {field.type}{enum}"
    for family in spec.families:
        entries[f"family {family.name}"] = f"{family.number}"
    for enum in spec.enums.values():
        for name, value, _ in enum.entries:
            kind = "flag" if enum.flags else "value"
            entries[f"{kind} {enum.name}.{name}"] = f"{value}"
    return entries


def lock_compare(key, was, now):
    """Returns a description of an incompatible change, or None."""
    if now is None:
        return f"{key} ({was}) was removed"
    if now == was:
        return None
    if key.startswith("attr ") and now.split()[0] == was.split()[0]:
        if now.split()[1] == "unused":
            return None
        return f"{key}: the type changed from '{was}' to '{now}'"
    return f"{key}: changed from '{was}' to '{now}'"


def lock_update(spec, text):
    """Checks the specification against the lock; returns the lock to write."""
    entries = lock_entries(spec)
    locked = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            kind, name, value = line.split(" ", 2)
            locked[f"{kind} {name}"] = value
    wrong = [lock_compare(key, was, entries.get(key)) for key, was in locked.items()]
    # A number, once assigned, always belongs to the same name.
    taken = {}
    for key, value in list(locked.items()) + list(entries.items()):
        if key.startswith("key "):
            continue
        group = key.split(".")[0] if "." in key else key.split()[0]
        other = taken.setdefault((group, value.split()[0]), key)
        if other != key:
            wrong.append(f"{key}: number {value.split()[0]} belongs to {other}")
    wrong = sorted({w for w in wrong if w})
    if wrong:
        raise SpecError("the change breaks compatibility:\n  " + "\n  ".join(wrong))
    new = [f"{key} {value}" for key, value in entries.items() if key not in locked]
    text = text or LOCK_HEAD
    return text + "".join(line + "\n" for line in new)
