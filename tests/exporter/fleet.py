# SPDX-License-Identifier: GPL-2.0-or-later
"""Many exporters, each of a recorded host, scraped by one Prometheus."""

import glob
import os
import re
import subprocess
import time

from cases_prometheus import Prometheus
from server import BUILD, wait_for

PORT = 10707
STARTED_AT_ONCE = 50


def address(number):
    """Each host has an address of its own, as in a fleet; all are loopback."""
    return f"127.107.{number // 250}.{number % 250 + 1}"


def start(place, captures, numbers):
    """Start exporters and wait until they listen."""
    started = []
    for number in numbers:
        log = f"{place.folder}/log.{number}"
        with open(log, "wb") as file:
            started.append((log, subprocess.Popen(
                [f"{BUILD}/eadm/eadm", "--from", captures[number % len(captures)],
                 "exporter", "--listen", f"{address(number)}:{PORT}"],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file)))
    for log, process in started:
        wait_for(f"listening: {log}", lambda log=log: b"listening on" in
                 open(log, "rb").read(), 120)
        os.unlink(log)
        if process.poll() is not None:
            raise AssertionError(f"{log}: ended")
    return [process for _, process in started]


def resident(processes):
    """KiB: private to each on average, and the largest as ps shows it."""
    private, largest = 0, 0
    for process in processes:
        with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as file:
            text = file.read()
        private += sum(map(int, re.findall(r"^Private_\w+:\s+(\d+)", text, re.M)))
        largest = max(largest, int(re.search(r"^Rss:\s+(\d+)", text, re.M)[1]))
    return private // len(processes), largest


def cpu_seconds(processes):
    """What their threads have run; ticks would miss most of it."""
    total = 0
    for process in processes:
        for path in glob.glob(f"/proc/{process.pid}/task/*/schedstat"):
            with open(path, encoding="ascii") as file:
                total += int(file.read().split()[0])
    return total / 1e9


def measure(place, captures, number, interval, rounds):
    """Figures of some rounds of scrapes, all hosts up."""
    config = {"global": {"scrape_interval": f"{interval}s",
                         "scrape_timeout": f"{min(interval, 10)}s"},
              "scrape_configs": [{"job_name": "fleet", "static_configs": [
                  {"targets": [f"{address(n)}:{PORT}"
                               for n in range(number)]}]}]}
    processes = []
    try:
        for first in range(0, number, STARTED_AT_ONCE):
            processes += start(place, captures, range(
                first, min(first + STARTED_AT_ONCE, number)))
        with Prometheus(place, config) as server:
            def value(expr):
                rows = (server.ask("query", query=expr) or {"result": []})["result"]
                return float(rows[0]["value"][1]) if rows else 0

            wait_for("all hosts up", lambda: value("sum(up)") == number,
                     60 + 3 * interval)
            begin, cpu = time.monotonic(), cpu_seconds(processes)
            window = f"[{rounds * interval}s]"
            wait_for("the rounds", lambda: value(
                f"min(count_over_time(up{window}))") >= rounds,
                60 + 2 * rounds * interval)
            span = time.monotonic() - begin
            cpu = cpu_seconds(processes) - cpu
            private, largest = resident(processes)
            duration = "scrape_duration_seconds"
            return {
                "hosts": number,
                "up in every round": value(f"sum(min_over_time(up{window}))"),
                "scrape_duration_seconds, median": value(
                    f"quantile(0.5, avg_over_time({duration}{window}))"),
                "scrape_duration_seconds, p99": value(
                    f"quantile(0.99, max_over_time({duration}{window}))"),
                "scrape_duration_seconds, longest of all": value(
                    f"max(max_over_time({duration}{window}))"),
                "samples a round": value("sum(scrape_samples_scraped)"),
                "CPU of all exporters, s per s": cpu / span,
                "memory of one exporter alone, KiB": private,
                "largest RSS, KiB": largest,
            }
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
