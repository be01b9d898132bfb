#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""python_live.py DEVICE: the Python binding on a live device of the companion."""

import json
import os
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, f"{os.path.dirname(os.path.realpath(__file__))}/../../../build/libeadm/python")
import eadm  # pylint: disable=wrong-import-position

DEVICE = sys.argv[1]


def tool(*args):
    done = subprocess.run(["eadm", *args, "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False, text=True)
    return json.loads(done.stdout)["rows"]


def rows(source):
    """What does not change from one read to the next."""
    for kind, keys in (("qp", ("dev_name", "qpn", "state", "pid")), ("mr", ("mrn", "length")),
                       ("dev", ("dev_name", "driver", "state", "bus_addr"))):
        want = [[row.get(key) for key in keys] for row in tool("dump", kind, "-d", DEVICE)]
        got = [[row.get(key) for key in keys] for row in source.dump(kind, device=DEVICE)]
        assert got == want and got, (kind, got, want)
    assert source.live and DEVICE in source.devices()


def recorder(source):
    """What has been, and what comes while a thread waits for it."""
    with source.trace(DEVICE, oldest=True) as trace:
        assert trace.read(5)["op"] and trace.fileno() >= 0
    with source.trace(DEVICE) as trace:
        assert trace.read(0.05) is None
        asker = threading.Thread(target=lambda: list(
            eadm.open().dump("qp", device=DEVICE, hw=True)))
        asker.start()
        assert trace.read(20)["op"].startswith("query")
        asker.join()
        assert trace.lost == 0


def settings(source):
    """A setting is what it was; an event says that it was set."""
    conf = next(row for row in source.dump("conf", device=DEVICE)
                if row.get("lowest", 1) <= row.get("value", 0) <= row.get("highest", 0))
    with eadm.open().events() as events:
        value = conf.raw("value")
        assert source.set_conf(DEVICE, conf["param"], value) == value
        assert events.read(20)["dev_name"] == DEVICE


def captures(source):
    with tempfile.TemporaryDirectory() as temp:
        with source.record(f"{temp}/live.pcapng") as capture:
            capture.snapshot(hw=True)
            capture.rings(1 << 20)
        with eadm.open(f"{temp}/live.pcapng") as copy:
            want = [qp["qpn"] for qp in source.dump("qp")]
            assert [qp["qpn"] for qp in copy.dump("qp")] == want and want
    assert isinstance(source.diagnose(interval=0.1), list)
    assert any(verdict.rule == "devices" for verdict in source.check())


def main():
    with eadm.open() as source:
        for part in (rows, recorder, settings, captures):
            part(source)
            print(f"{part.__name__}: as it should be")


main()
