#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU and memory of the exporter and of node_exporter's infiniband collector over an hour,
on all devices of this guest, which hold 10,000 QPs together: virtual adapters, and devices of
rdma_rxe to make 64. Usage: scrape_hour.py [SECONDS [QPS]]

Both are scraped every 15 s, as Prometheus does. A line for each window of five minutes: medians of
the CPU times of its scrapes and of the memory after each, and the most memory, which a diagnosis
that is under way needs. Fails if the last window costs 3 % more CPU, or
1 % more memory, than the second one (the first warms up), or if the exporter costs more than half.
"""

import os
import subprocess
import sys
import tempfile
import time

import scrape

DEVICES, INTERVAL, WINDOW = 64, 15, 300
VERBS = "/sys/class/infiniband"


def device_names():
    return sorted(os.listdir(VERBS))


def add_stock_devices(count):
    subprocess.run(["modprobe", "rdma_rxe"], check=True)
    for index in range(count):
        netdev = f"stock{index}"
        for command in (f"ip link add {netdev} type dummy", f"ip link set {netdev} up",
                        f"rdma link add rxe_{index} type rxe netdev {netdev}"):
            subprocess.run(command.split(), check=True)


def are_active():
    states = (f"{VERBS}/{name}/ports/1/state" for name in device_names())
    return all(open(state, encoding="ascii").read().startswith("4") for state in states)


def hold_qps(devices, total):
    """A program for each device; its QPs share eight CQs."""
    holders = []
    for index, device in enumerate(devices):
        share = total // len(devices) + (index < total % len(devices))
        command = ["hold", "-d", device, "-q", str(share), "-c", "8", "-m", "0"]
        if device.startswith("efa"):
            command.append("-u")
        holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        holders.append(holder)
    for holder in holders:
        if not holder.stdout.readline():
            sys.exit("scrape_hour.py: a program could not create its QPs")
    return holders


def resident_now_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def median(values):
    return sorted(values)[len(values) // 2]


def watch(targets, seconds):
    """Per window, for each target: medians of CPU in ns and memory in KiB, and the most memory."""
    windows = []
    begin = time.monotonic()
    due = begin
    while due < begin + seconds:
        end = due + min(WINDOW, seconds)
        resident = [[] for _ in targets]
        while due < end:
            time.sleep(max(0, due - time.monotonic()))
            for target, kib in zip(targets, resident):
                target.scrape(1, "gzip")
                kib.append(resident_now_kib(target.pid))
            due += INTERVAL
        windows.append([(median(t.cpu), median(kib), max(kib)) for t, kib in zip(targets, resident)])
        for target in targets:
            target.forget()
        print(f"{due - begin:6.0f} s  " + "  ".join(
            f"{t.name}: {cpu / 1e6:.2f} ms, {kib} KiB (at most {most})"
            for t, (cpu, kib, most) in zip(targets, windows[-1])),
            flush=True)
    return windows


def judge(windows):
    """Whether the figures are as wanted; of ours, then of node_exporter's."""
    (cpu, kib, _), _ = windows[min(1, len(windows) - 1)]
    (last_cpu, last_kib, _), (theirs, _, _) = windows[-1]
    print(f"CPU of the last window by the second's: {last_cpu / cpu:.3f} (wanted: at most 1.03); "
          f"memory: {last_kib / kib:.3f} (at most 1.01)")
    print(f"CPU by node_exporter's: {last_cpu / theirs:.3f} (wanted: at most 0.5)")
    return last_cpu <= 1.03 * cpu and last_kib <= 1.01 * kib and last_cpu <= 0.5 * theirs


def main():
    seconds = int(sys.argv[1]) if sys.argv[1:] else 3600
    total = int(sys.argv[2]) if sys.argv[2:] else 10000
    scrape.wait_for("active ports", are_active, 60)
    add_stock_devices(max(0, DEVICES - len(device_names())))
    devices = device_names()
    holders = hold_qps(devices, total)
    count = subprocess.run(["rdma", "resource", "show", "qp"], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.count("\n")
    print(f"{len(devices)} devices, {count} QPs", flush=True)
    with tempfile.TemporaryDirectory(prefix="eadm-hour.") as folder, \
            scrape.node_exporter(folder, None) as node, \
            scrape.Exporter(folder, None, "--device-timeout", "10s") as ours:
        windows = watch([scrape.Target("eadm", ours.process.pid, ours.port),
                         scrape.Target("node_exporter", *node)], seconds)
    for holder in holders:
        holder.terminate()
        holder.wait()
    if not judge(windows):
        sys.exit(1)


if __name__ == "__main__":
    main()
