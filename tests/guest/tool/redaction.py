#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Searches the bytes of a redacted bundle for all that names this machine, as
text and as the kernel has it. What a plain bundle of the same moment has of it
shows that the search finds things.
Usage: redaction.py PLAIN REDACTED NAME-OF-PROCESS..."""

import glob
import ipaddress
import json
import re
import socket
import subprocess
import sys

AT_LEAST = 15


def command(*args):
    return subprocess.run(args, stdout=subprocess.PIPE, check=True).stdout


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def hardware(text):
    """A MAC or GUID: with and without what stands between, and its bytes."""
    plain = re.sub("[^0-9a-f]", "", text)
    return {text.encode(), plain.encode(), bytes.fromhex(plain)} if plain.strip("0") else set()


def address(text):
    """An IP address as text and bytes, and as a GID."""
    ip = ipaddress.ip_address(text)
    if ip.is_loopback or ip.is_unspecified:
        return set()
    found = {text.encode(), ip.packed}
    if ip.version == 6:
        found |= {ip.exploded.encode()}
    return found


def originals(processes):
    found = {socket.gethostname().encode()} | {name.encode() for name in processes}
    for path in glob.glob("/sys/class/net/*/address"):
        found |= hardware(read(path))
    for link in json.loads(command("ip", "-j", "addr")):
        for info in link["addr_info"]:
            found |= address(info["local"])
    for path in glob.glob("/sys/class/infiniband/*/node_guid") + \
            glob.glob("/sys/class/infiniband/*/sys_image_guid"):
        found |= hardware(read(path))
    for path in glob.glob("/sys/class/infiniband/*/ports/*/gids/*"):
        gid = read(path)
        if gid.strip("0:"):
            found |= address(gid) | hardware(gid)
    return found


def main():
    plain, redacted = (command("zstd", "-dcq", path) for path in sys.argv[1:3])
    names = originals(sys.argv[3:])
    seen = {name for name in names if name in plain}
    left = {name for name in names if name in redacted}
    print(f"{len(names)} originals, {len(seen)} of them in the plain bundle: {sorted(seen)}")
    print(f"in the redacted one: {sorted(left)}")
    missing = [name for name in sys.argv[3:] if name.encode() not in seen]
    if missing:
        print(f"not even in the plain one: {missing}")
    return 1 if left or missing or len(seen) < AT_LEAST else 0


sys.exit(main())
