# SPDX-License-Identifier: GPL-2.0-or-later
"""Test cases in the guest: prints TAP lines; each case has a new adapter."""

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
    """An adapter in configfs; plug() returns its PCI function: make(address, ...).

    fixed: parameters for each plug()."""

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
        """Unplugs the adapter and plugs it in with parameters; options are passed to the driver."""
        self.unplug()
        for name, value in {**self.fixed, **params}.items():
            self.write(name, value)
        self.write("live", 1)
        self.device = self.make(self.read("address"), **(options or {}))
        return self.device

    def unplug(self):
        """Removes the function before freeing the driver's memory, which the function uses."""
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
    """Runs the cases with these function names, or all. Returns the exit status."""
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
