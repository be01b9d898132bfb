#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: checks the host info (hw 5.8) that a virtual adapter has received from its driver.

Usage: efa_host.py FOLDER (of the adapter in configfs)"""

import os
import re
import struct
import sys

LAYOUT = "<128sI32sIIHHI"
SPEC_VERSION = 0x200


def read(name):
    with open(f"{sys.argv[1]}/{name}", encoding="ascii") as file:
        return file.read().strip()


def number_of(host):
    """Returns LINUX_VERSION_CODE. With Debian, only the version always contains the patch level."""
    found = re.search(r"Debian (\d+)\.(\d+)\.(\d+)", host.version) or \
        re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", host.release)
    major, minor, patch = (int(part or 0) for part in found.groups())
    return major << 16 | min(minor, 255) << 8 | min(patch, 255)


def bdf_of(address):
    bus, device, function = (int(part, 16) for part in address.replace(".", ":").split(":")[1:])
    return bus << 8 | device << 3 | function


def text(raw):
    return raw.split(b"\0")[0].decode()


def main():
    raw = bytes.fromhex(read("host_info"))
    print(raw.hex(" ", -4))
    assert len(raw) == struct.calcsize(LAYOUT), f"{len(raw)} bytes"
    (release, system, version, number, _, bdf, spec, _) = struct.unpack(LAYOUT, raw)
    host = os.uname()
    assert text(release) == host.release, release
    assert system == 0, f"operating system {system}"
    # The field may truncate the version.
    assert text(version)[:31] == host.version[:31], version
    assert number == number_of(host), hex(number)
    assert bdf == bdf_of(read("address")), hex(bdf)
    assert spec == SPEC_VERSION, hex(spec)


if __name__ == "__main__":
    main()
