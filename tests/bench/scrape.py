#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU and time of a scrape, of the exporter and of node_exporter's infiniband
collector, beside each other on the devices of this machine, or of a capture.
Usage: scrape.py [--replay CAPTURE] [SCRAPES]"""

import contextlib
import glob
import gzip
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, f"{HERE}/../exporter")
sys.dont_write_bytecode = True

from server import Exporter, eadm, wait_for  # noqa: E402

ACCEPT = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
# As Prometheus asks, which node_exporter follows, and without packing.
ENCODINGS = ("gzip", "identity")
WARM_UP, ROUNDS = 20, 5
# Of InfiniBand, as node_exporter's collector knows them.
COUNTERS = """excessive_buffer_overrun_errors link_downed link_error_recovery
    local_link_integrity_errors multicast_rcv_packets multicast_xmit_packets
    port_rcv_constraint_errors port_rcv_data port_rcv_discards port_rcv_errors
    port_rcv_packets port_rcv_remote_physical_errors
    port_rcv_switch_relay_errors port_xmit_constraint_errors port_xmit_data
    port_xmit_discards port_xmit_packets port_xmit_wait symbol_error
    unicast_rcv_packets unicast_xmit_packets VL15_dropped""".split()
FACTS = {"state": "4: ACTIVE", "phys_state": "5: LinkUp",
         "rate": "100 Gb/sec (4X EDR)"}


def device_names(replay):
    if not replay:
        return os.listdir("/sys/class/infiniband")
    done = eadm("--from", replay, "list", "--json")
    if done.returncode:
        sys.exit(done.stderr)
    rows = json.loads(done.stdout)["rows"]
    return [row["dev_name"] for row in rows]


def infiniband_tree(folder, devices):
    """node_exporter reads ports/N/counters only, which no iWARP device has:
    it gets files with such counters of the same devices, in memory, which
    cost it less than those of sysfs do."""
    for device in devices:
        port = f"{folder}/class/infiniband/{device}/ports/1"
        os.makedirs(f"{port}/counters")
        files = {**{f"{port}/counters/{n}": "12345" for n in COUNTERS},
                 **{f"{port}/{n}": v for n, v in FACTS.items()},
                 **{f"{folder}/class/infiniband/{device}/{n}": "1"
                    for n in ("fw_ver", "board_id", "hca_type")}}
        for path, text in files.items():
            with open(path, "w", encoding="ascii") as file:
                file.write(text + "\n")
    return folder


def cpu_ns(pid):
    """Of all threads; those that end in between do not count."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"^VmHWM:\s+(\d+)", file.read(), re.M)[1])


class Target:
    def __init__(self, name, pid, port):
        self.name, self.pid = name, pid
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.times, self.cpu, self.text = [], [], ""

    def scrape(self, count, encoding):
        begin = cpu_ns(self.pid)
        for _ in range(count):
            at = time.monotonic()
            self.connection.request("GET", "/metrics", headers={
                "Accept": ACCEPT, "Accept-Encoding": encoding})
            answer = self.connection.getresponse()
            data = answer.read()
            self.times.append(time.monotonic() - at)
        if answer.headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        self.text = data.decode()
        self.cpu.append((cpu_ns(self.pid) - begin) / count)

    def forget(self):
        self.times, self.cpu = [], []

    def report(self):
        times, cpu = sorted(self.times), sorted(self.cpu)
        samples = [line for line in self.text.splitlines()
                   if line and line[0] != "#"]
        print(f"{self.name:22} CPU {cpu[len(cpu) // 2] / 1000:8.0f} us "
              f"(least {cpu[0] / 1000:.0f})  p50 {times[len(times) // 2] * 1000:7.2f} ms  "
              f"p99 {times[len(times) * 99 // 100] * 1000:7.2f} ms  "
              f"RSS {resident_kib(self.pid)} KiB  samples {len(samples)}",
              flush=True)
        return cpu[len(cpu) // 2], cpu[0]


def measure(targets, count, encoding):
    """In turns, so that both see the same machine."""
    for target in targets:
        target.scrape(WARM_UP, encoding)
        target.forget()
    for _ in range(ROUNDS):
        for target in targets:
            target.scrape(count // ROUNDS, encoding)
    return [target.report() for target in targets]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


def listening(port):
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def node_exporter(folder, replay):
    """Its process and port; it ends with the block."""
    port = free_port()
    tree = infiniband_tree(f"{folder}/sys", device_names(replay))
    with open(f"{folder}/node.log", "wb") as log:
        node = subprocess.Popen(
            ["prometheus-node-exporter", "--collector.disable-defaults",
             "--collector.infiniband", "--web.disable-exporter-metrics",
             f"--path.sysfs={tree}", f"--web.listen-address=127.0.0.1:{port}"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait_for("node_exporter", lambda: listening(port), 60)
        yield node.pid, port
    finally:
        node.terminate()
        node.wait()


def beside_node_exporter(folder, replay, count):
    with node_exporter(folder, replay) as node, \
            Exporter(folder, replay, "--device-timeout", "4s") as ours, \
            Exporter(folder, replay, "--device-timeout", "4s",
                     "--collectors", "counters") as same:
        targets = [Target("eadm, the counters", same.process.pid, same.port),
                   Target("eadm, all it has", ours.process.pid, ours.port),
                   Target("node_exporter", *node)]
        for encoding in ENCODINGS:
            print(f"Accept-Encoding: {encoding}")
            cpu = measure(targets, count, encoding)
            # The least is what other load on the machine disturbs least.
            for which, same, ours, theirs in zip(("median", "least"), *cpu):
                print(f"CPU of a scrape by node_exporter's, {which}: "
                      f"{same / theirs:.3f} for the ports' counters "
                      f"(wanted: at most 0.2), {ours / theirs:.3f} for all")


def main():
    args = sys.argv[1:]
    replay = None
    if args[:1] == ["--replay"]:
        replay, args = args[1], args[2:]
    count = int(args[0]) if args else 500
    with tempfile.TemporaryDirectory(prefix="eadm-scrape.") as folder:
        beside_node_exporter(folder, replay, count)


if __name__ == "__main__":
    main()
