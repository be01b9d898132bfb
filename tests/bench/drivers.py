#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's part of tests/bench/drivers: two drivers take turns on two adapters.

Usage: drivers.py FAMILY OURS THEIRS ROUNDS    files of modules; at least two rounds

All figures are CPU time: of the process that writes to "bind" for a probe, of
the process that makes objects, and of both ends of a program's run, in the
kernel, too. Threads that serve the virtual adapter are in none of them.
"""

import os
import statistics
import subprocess
import sys
import time

FAMILY = sys.argv[1]
DRIVER = f"/sys/bus/pci/drivers/{FAMILY}"
DEVICES = [f"{FAMILY}_0", f"{FAMILY}_1"]
VERBS = "/sys/class/infiniband"
LIMIT = 60 * int(os.environ.get("EADM_PATIENCE", 1))
CONTROLS = ("ib_send", "fi_pingpong")
# Name: port, command, devices of server and client.
RUNS = {"efa": {
    "ibv_ud_pingpong -e": (18515, "ibv_ud_pingpong -e -g 0 -n 1000 -d {}", "efa_0", "efa_1"),
    "ib_send_lat -c SRD": (18515, "ib_send_lat -c SRD -s 64 -n 1000 -x 0 -F -d {}", "efa_0", "efa_1"),
    "ib_send_lat -c UD": (18515, "ib_send_lat -c UD -s 64 -n 1000 -x 0 -F -d {}", "efa_0", "efa_1"),
    "ib_send_bw -c SRD": (18515, "ib_send_bw -c SRD -s 4096 -n 1000 -x 0 -F -d {}", "efa_0", "efa_1"),
    "ib_send_bw -c UD": (18515, "ib_send_bw -c UD -Q 1 -s 2048 -n 1000 -x 0 -F -d {}", "efa_0", "efa_1"),
} | {f"fi_pingpong -S {size}": (47592, f"fi_pingpong -p efa -e rdm -I 200 -S {size} -d {{}}",
                              "efa_0-rdm", "efa_1-rdm") for size in (64, 4096, 65536)},
    "erdma": {}}


def wait_until(what, condition):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"drivers.py: not within {LIMIT} s: {what}")
        time.sleep(0.01)


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def active():
    return [name for name in sorted(os.listdir(VERBS)) if name in DEVICES
            and read(f"{VERBS}/{name}/ports/1/state") == "4: ACTIVE"] == DEVICES


def listening(port):
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(path, encoding="ascii") as file:
            for line in file.readlines()[1:]:
                words = line.split()
                if words[1].endswith(f":{port:04X}") and words[3] == "0A":
                    return True
    return False


def end(process):
    """Waits; CPU time of a process in us."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"drivers.py: status {process.returncode}: {' '.join(process.args)}")
    return (usage.ru_utime + usage.ru_stime) * 1e6


def run(port, command, server, client):
    def start(device, *more):
        return subprocess.Popen(command.format(device).split() + list(more),
                                stdout=subprocess.DEVNULL)

    first = start(server)
    wait_until(f"port {port}", lambda: listening(port))
    second = start(client, "localhost")
    return end(second) + end(first)


def probe():
    """The median of what the probes of both adapters take, in us."""
    took = []
    for address in sorted(os.listdir(DRIVER)):
        if ":" not in address:
            continue
        for name in ("unbind", "bind"):
            fd = os.open(f"{DRIVER}/{name}", os.O_WRONLY)
            begin = time.thread_time_ns()
            os.write(fd, address.encode())
            if name == "bind":
                took.append((time.thread_time_ns() - begin) / 1e3)
            os.close(fd)
    return statistics.median(took)


def objects():
    output = subprocess.run(["objects", "-n", "500", "-r", "3", "-m", "4", DEVICES[0]], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    return {words[0]: float(words[1]) / 1e3 for words in map(str.split, output.splitlines())}


def turn(module):
    subprocess.run(["insmod", module], check=True)
    wait_until("two active ports", active)
    figures = {"probe": probe()}
    wait_until("two active ports", active)
    figures |= objects()
    for name, args in RUNS[FAMILY].items():
        figures[name] = run(*args)
    subprocess.run(["rmmod", FAMILY], check=True)
    return figures


def spread(values):
    """First and third quartile."""
    return statistics.quantiles(values, n=4, method="inclusive")[::2]


def main():
    ours, theirs, rounds = sys.argv[2], sys.argv[3], int(sys.argv[4])
    if rounds < 2:
        sys.exit("drivers.py: at least two rounds")
    os.environ["FI_EFA_ENABLE_SHM_TRANSFER"] = "0"
    subprocess.run(["modprobe", "-a", "ib_uverbs", "rdma_ucm", "iw_cm"], check=True)
    seen = [[], []]
    for _ in range(rounds):
        for i, module in enumerate((ours, theirs)):
            seen[i].append(turn(module))
    print(f"{'CPU time, us':20} {'first':>12} {'quartiles':>20} {'second':>12} {'quartiles':>20} "
          f"{'ratio':>6}")
    for name in seen[0][0]:
        sides = [[figures[name] for figures in side] for side in seen]
        median = [statistics.median(side) for side in sides]
        quartiles = [spread(side) for side in sides]
        ratio = median[0] / median[1]
        if name.startswith(CONTROLS):
            word = "apart" if abs(ratio - 1) > 0.03 else ""
        else:
            word = "over" if ratio > 1 and quartiles[0][0] > quartiles[1][1] else ""
        texts = (f"{median[i]:12.2f} {quartiles[i][0]:9.2f} {quartiles[i][1]:10.2f}" for i in (0, 1))
        print(f"{name:20} {' '.join(texts)} {ratio:6.3f} {word}")


main()
