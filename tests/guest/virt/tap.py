# SPDX-License-Identifier: GPL-2.0-or-later
"""Test cases in the guest: TAP lines, a fresh adapter for each."""

import os
import sys
import traceback

CONFIG = "/sys/kernel/config/eadm_virt"
cases = []


def case(name):
    def add(function):
        cases.append((name, function))
        return function
    return add


def brief(value):
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}... ({len(text)})"


def equal(got, want, what=""):
    if got != want:
        raise AssertionError(
            f"{what or 'value'}: got {brief(got)}, want {brief(want)}")


class Adapter:
    """An adapter in configfs; plug() gives the function on PCI: make(address, ...).

    fixed: parameters that it has in all its lives."""

    def __init__(self, family, name, make, **fixed):
        self.path, self.make, self.fixed = f"{CONFIG}/{family}/{name}", make, fixed
        self.device = None
        os.mkdir(self.path)

    def read(self, name):
        with open(f"{self.path}/{name}") as file:
            return file.read().strip()

    def write(self, name, value):
        with open(f"{self.path}/{name}", "w") as file:
            file.write(str(value))

    def plug(self, options=None, **params):
        """Plugs in afresh, with parameters; options are the driver's."""
        self.unplug()
        for name, value in {**self.fixed, **params}.items():
            self.write(name, value)
        self.write("live", 1)
        self.device = self.make(self.read("address"), **(options or {}))
        return self.device

    def unplug(self):
        """Takes the function away first: it uses the device's memory."""
        self.write("live", 0)
        if self.device:
            self.device.close()
            self.device = None

    def fault(self, knob, **settings):
        for name in sorted(settings, key=lambda name: name == "count"):
            self.write(f"fault/{knob}/{name}", settings[name])

    def remove(self):
        self.unplug()
        os.rmdir(self.path)


def run(names, make):
    """Runs the cases whose function is named, or all; the exit status."""
    failed = 0
    for name, function in cases:
        if names and function.__name__ not in names:
            continue
        subject = make()
        try:
            function(subject)
            print(f"ok - {name}")
        except Exception:
            failed += 1
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
            print(f"not ok - {name}")
        finally:
            subject.remove()
        sys.stdout.flush()
    return 1 if failed else 0
