#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: the kernel's own netlink client and eadm read the same family.

ynl.py TOOLS SPEC OURS: TOOLS has the client and its schema, SPEC is our family
in the kernel's format, OURS the description it was made from. Everything the
client sees must be in eadm's JSON and the other way round, but for what OURS
says the tool adds; what changes by itself is bounded by two reads around eadm's.
Prints TAP.
"""

import json
import re
import subprocess
import sys

import yaml

TOOLS, SPEC, OURS = sys.argv[1:]
sys.path.insert(0, f"{TOOLS}/tools/net/ynl")

from lib import NlError, YnlFamily  # noqa: E402 pylint: disable=wrong-import-position

OBJECTS = ["dev", "qp", "cq", "eq", "cmdq", "mr", "pd", "ctx", "counters", "cmd"]
KEYS = {"qp": "qpn", "cq": "cqn", "eq": "index", "cmdq": "index", "mr": "mrn", "pd": "pdn",
        "ctx": "ctxn", "counters": "port", "cmd": "seq"}
COMMANDS = {"dev": ["info"], "counters": ["stat"], "cmd": ["trace"]}
# Columns that have to be named.
SECRETS = {"mr": "lkey,rkey", "pd": "local-dma-lkey"}
# What the adapter is asked for.
HW = ["qp", "cq", "eq", "cmdq"]


def tool_attributes():
    """By object, what eadm finds outside the family: of the network interface, of PCI."""
    with open(OURS, encoding="utf-8") as spec:
        sets = yaml.safe_load(spec)["attribute-sets"]
    return {of["name"]: {attr["name"].replace("-", "_") for attr in of.get("attributes", [])
                         if attr.get("x-view", {}).get("tool")} for of in sets}


TOOL_ATTRIBUTES = tool_attributes()


def eadm(obj, query_hw):
    command = ["eadm", "--json", *COMMANDS.get(obj, ["dump", obj])] + ["--hw"] * query_hw
    if obj in SECRETS:
        command += ["-o", f"all,{SECRETS[obj]}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        raise AssertionError(f"{command}: status {done.returncode}: {done.stderr}{done.stdout}")
    return json.loads(done.stdout)["rows"]


def by_key(obj, rows):
    key = KEYS.get(obj, "dev-index").replace("-", "_")
    out = {(row["dev_name"], row.get(key)): row for row in rows}
    if len(out) != len(rows):
        raise AssertionError(f"{obj}: two rows with one key")
    return out


def plain(value):
    """The same form for both: bytes without separators, flags as a list."""
    if isinstance(value, (set, list)):
        return sorted(value)
    if isinstance(value, str) and re.fullmatch(r"[0-9a-f]{2,4}([ :]?[0-9a-f]{2,4})+", value):
        return re.sub("[ :]", "", value)
    return value


def flat(row):
    """What lies in a family's nest stands beside the rest in eadm's rows."""
    for name, value in row.items():
        if name.startswith("hw-") and isinstance(value, dict):
            yield from flat(value)
        else:
            yield name.replace("-", "_"), plain(value)


def client_rows(family, obj, ask):
    rows = [dict(flat(row)) for row in family.dump(f"{obj}-get", ask)]
    return by_key(obj, rows)


def is_moved_by_asking(obj, key, name):
    """Each question is a command: it moves the command event queue's state."""
    return obj == "eq" and key[1] == 1 and name == "hw_suppressed"


# ns; a guest's CPU may be taken away between the two.
CLOCKS_APART = 1_000_000_000


def grows(name, low, high):
    """A value that went up between two reads, and not by the clock."""
    return isinstance(low, int) and low < high and not re.search("age$|^latency$", name)


def differences(obj, before, ours, after):
    """What eadm has otherwise than the client before and after it."""
    # Objects come and go only with the programs that hold them.
    stable = set(before) & set(after)
    for key in sorted(stable ^ (set(ours) & (set(before) | set(after))), key=str):
        if key in stable:
            yield f"{obj} {key}: not in eadm"
    for key in sorted(stable & set(ours), key=str):
        one, two, our = before[key], after[key], ours[key]
        for name in sorted((set(one) & set(two)) | set(our) - TOOL_ATTRIBUTES[obj]):
            if name not in our:
                yield f"{obj} {key}: no {name} in eadm"
            elif name not in one and name not in two:
                yield f"{obj} {key}: {name} only in eadm"
            elif name in one and name in two:
                low, value, high = one[name], plain(our[name]), two[name]
                # The client writes numbers of variable size in decimal.
                if isinstance(low, int) and isinstance(value, str):
                    value = int(value, 16)
                if is_moved_by_asking(obj, key, name):
                    continue
                if name == "time":
                    # Made from two clocks, read one after the other each time.
                    if abs(value - low) > CLOCKS_APART:
                        yield f"{obj} {key}: {name}: client {low}, eadm {value}"
                    continue
                if low == high and value != low:
                    yield f"{obj} {key}: {name}: client {low!r}, eadm {value!r}"
                elif grows(name, low, high) and not low <= value <= high:
                    yield f"{obj} {key}: {name}: {value} is not between {low} and {high}"


def compare(family, obj, query_hw):
    ask = {"query-hw": True} if query_hw else {}
    # eadm asks for the adapter's counters by itself.
    if obj == "counters":
        ask = {"query-hw": True}
    before = client_rows(family, obj, ask)
    ours = by_key(obj, eadm(obj, query_hw))
    after = client_rows(family, obj, ask)
    if not set(before) & set(after) & set(ours):
        raise AssertionError(f"{obj}: no row that both have: {list(before)} {list(ours)}")
    found = list(differences(obj, before, ours, after))
    if found:
        raise AssertionError("\n".join(found[:20]))
    if query_hw and not any(name.startswith("hw_") and name != "hw_error"
                            for row in ours.values() for name in row):
        raise AssertionError(f"{obj}: nothing from the adapter")


def single(family):
    """One row asked for is the row of the dump."""
    for obj, key in KEYS.items():
        rows = family.dump(f"{obj}-get", {})
        row = family.do(f"{obj}-get", {"dev-index": rows[0]["dev-index"], key: rows[0][key]})
        if row[key] != rows[0][key] or set(row) ^ set(rows[0]) - {"last-event-age"}:
            raise AssertionError(f"{obj}: {row}\n{rows[0]}")


def refused(family):
    for ask, number in (({"dev-index": 9999, "qpn": 1}, 19), ({"dev-name": "nope", "qpn": 1}, 19),
                        ({"dev-name": first(family), "qpn": 0xffffff}, 2),
                        ({"dev-name": first(family)}, 22)):
        try:
            family.do("qp-get", ask)
            raise AssertionError(f"{ask} was answered")
        except NlError as error:
            if error.error != number and error.error != -number:
                raise AssertionError(f"{ask}: {error}") from error
            if "msg" not in (error.nl_msg.extack or {}):
                raise AssertionError(f"{ask}: no message") from error


def first(family):
    return family.dump("dev-get", {})[0]["dev-name"]


def main():
    family = YnlFamily(SPEC, f"{TOOLS}/Documentation/netlink/genetlink.yaml")
    tests = [(f"{obj}: the client and eadm agree", lambda o=obj: compare(family, o, False))
             for obj in OBJECTS]
    tests += [(f"{obj}: they agree on what the adapter says", lambda o=obj: compare(family, o, True))
              for obj in HW]
    tests += [("a row asked for by its key is that of the dump", lambda: single(family)),
              ("refusals reach the client with a message", lambda: refused(family))]
    failed = 0
    for name, test in tests:
        try:
            test()
            print(f"ok - {name}", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            for line in f"{type(error).__name__}: {error}".splitlines():
                print(f"# {line}")
            print(f"not ok - {name}", flush=True)
    return 1 if failed else 0


sys.exit(main())
