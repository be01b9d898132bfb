# SPDX-License-Identifier: GPL-2.0-or-later
"""Virtual adapters of random scenes: their knobs, and how they are restored."""

import json
import os
import subprocess
import time

CONFIG = "/sys/kernel/config/eadm_virt"
PATIENCE = int(os.environ.get("EADM_PATIENCE", "1"))
LIMIT_MS = 2000 * PATIENCE      # for commands that are lost; the default is 15 s


def run(*args, **more):
    return subprocess.run(args, capture_output=True, text=True, check=False, **more)


def until(limit, condition):
    end = time.monotonic() + limit * PATIENCE
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.03)


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def rows(*args):
    out = run("eadm", "dump", *args, "--json").stdout
    return json.loads(out)["rows"] if out else []


class Adapter:
    """The adapter of one end, and its knobs."""

    default_limit_ms = 15000

    def __init__(self, name):
        """name: FAMILY/ADAPTER"""
        self.dir = f"{CONFIG}/{name}"
        self.dev = self.look_up()

    def look_up(self):
        """Returns the name of the adapter's RDMA device, or None."""
        try:
            names = os.listdir(f"/sys/bus/pci/devices/{read(self.dir + '/address')}/infiniband")
        except OSError:
            names = []
        return names[0] if names else None

    def set(self, name, **files):
        for file in ("target", "probability", "arg", "count"):      # count comes last, because it enables the knob
            if file in files:
                write(f"{self.dir}/fault/{name}/{file}", files[file])

    def hits(self, name):
        return int(read(f"{self.dir}/fault/{name}/hits"))

    def calm(self, name):
        for file, value in (("count", 0), ("probability", 100), ("target", -1), ("arg", 0)):
            write(f"{self.dir}/fault/{name}/{file}", value)

    def commands(self):
        return int(read(self.dir + "/commands"))

    def limit(self, ms=None):
        run("eadm", "conf", "set", "cmd-timeout", f"{ms or self.default_limit_ms}ms", "-d", self.dev)

    def ask(self):
        """Returns true if the adapter responds to a command."""
        return run("rdma", "statistic", "show", "link", self.dev + "/1").returncode == 0

    def cmdq(self):
        found = rows("cmdq", "-d", self.dev)
        return found[0] if found else {}

    def state(self):
        found = [r for r in rows("dev") if r["dev_name"] == self.dev]
        return found[0].get("state") if found else None

    def must(self, limit, what, condition):
        if not until(limit, condition):
            raise SystemExit(f"Bail out! {self.dir}: {what}")

    # ---- preparations and repairs: Knob.before and Knob.after ---------------------------

    def serve(self):
        self.must(40, "no service", self.ask)

    def replug(self, **files):
        write(self.dir + "/live", 0)
        self.must(60, "the device is not removed", lambda: not os.path.exists(f"/sys/class/infiniband/{self.dev}"))
        for name in os.listdir(self.dir + "/fault"):
            if read(f"{self.dir}/fault/{name}/count") != "0":
                self.calm(name)
        for file, value in {"flr": 1, **files}.items():
            write(f"{self.dir}/{file}", value)
        write(self.dir + "/live", 1)
        self.must(60, "the device does not appear", self.look_up)
        self.dev = self.look_up()
        self.must(40, "no service", self.ask)

    def without_flr(self):
        self.replug(flr=0)
