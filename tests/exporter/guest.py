#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The exporter as nobody in a guest with two virtual adapters, through faults:
a lost command, an adapter that vanishes, one that is unplugged. Debian's
Prometheus watches, and its alerts must tell. TAP."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True

import captures  # noqa: E402
from cases_prometheus import (FOREIGN, SHIPPED, Prometheus,  # noqa: E402
                              load, names_in, shipped_panels, shipped_rules)
from server import (NOBODY, REPO, Exporter, eadm, for_everybody,  # noqa: E402
                    once, values, wait_for)
from tap import Place, equal, true  # noqa: E402

CONFIG = "/sys/kernel/config/eadm_virt/erdma"
GET_STATS = 260
SUCCESS = 'eadm_scrape_collector_success{{device="{}",collector="{}"}}'.format
HERE = ["erdma (mainline)", "rdma_rxe"]
STATE = 'eadm_dev_state{{device="{}",state="{}"}}'.format
number = failed = 0


def write(name, value):
    with open(f"{CONFIG}/{name}", "w", encoding="ascii") as file:
        file.write(str(value))


def step(name, function, *args):
    """A result even if it fails; the rest goes on."""
    global number, failed
    number += 1
    begin = time.monotonic()
    try:
        function(*args)
        print(f"ok {number} - {name} # {time.monotonic() - begin:.1f} s",
              flush=True)
    except Exception:
        failed += 1
        for line in traceback.format_exc().splitlines():
            print(f"# {line}")
        print(f"not ok {number} - {name}", flush=True)


class Watched(Exporter):
    """Keeps the names of all metrics that it ever had."""

    names = set()

    def metrics(self, **kwargs):
        return self.keep(super().metrics(**kwargs))

    def keep(self, got):
        found = {name.partition("{")[0] for name in got}
        # A native histogram has the bare name.
        found |= {name.removesuffix("_bucket") for name in found}
        self.names.update(found)
        return got


def sound(exporter):
    got = exporter.metrics()
    equal(got["eadm_devices"], 2)
    bad = [n for n, v in got.items()
           if n.startswith("eadm_scrape_collector_success") and v != 1]
    equal(bad, [])
    for device in ("erdma_0", "erdma_1"):
        equal(got[STATE(device, "ready")], 1)
        true(sum(value for name, value in got.items() if name.startswith(
            f'eadm_cmd_latency_seconds_count{{device="{device}"')) >= 5,
             "the flight recorder is read")
        true(got[f'eadm_eq_events_total{{device="{device}",eq="1",'
                 'role="admin"}'] >= 1, "events are counted")
        true(f'eadm_port_tx_packets_total{{device="{device}",port="1"}}' in got,
             "the adapter is asked for its counters")
    text = exporter.get().text
    done = subprocess.run(["promtool", "check", "metrics"], input=text,
                          capture_output=True, text=True, check=False)
    equal((done.returncode, done.stderr), (0, ""), "promtool")


def lost_command(exporter):
    """The counters of one adapter never come; the other is not disturbed."""
    write("v0/fault/cmd_drop/target", GET_STATS)
    write("v0/fault/cmd_drop/count", 1)
    slowest = 0

    def timed_out():
        nonlocal slowest
        begin = time.monotonic()
        got = exporter.metrics()
        slowest = max(slowest, time.monotonic() - begin)
        equal(got[SUCCESS("erdma_1", "counters")], 1)
        return got.get('eadm_cmdq_timeouts_total{device="erdma_0"}', 0) >= 1

    # The first scrape loses its command; while the driver waits for it, another exporter
    # sees it in the queue. Both have time for that on a busy machine, too.
    eadm("conf", "set", "cmd-timeout", "30s", "-d", "erdma_0")
    exporter.metrics()
    oldest = 'eadm_cmdq_oldest_age_seconds{device="erdma_0"}'
    wait_for("the age of the command", lambda: oldest in exporter.keep(values(eadm(
        "exporter", "--once", "--device-timeout", "10s").stdout)), 28)
    wait_for("the time-out", timed_out)
    eadm("conf", "set", "cmd-timeout", "15s", "-d", "erdma_0")
    true(slowest < 8, f"the slowest scrape took {slowest:.1f} s")
    wait_for("the return of the counters", lambda: exporter.metrics().get(
        SUCCESS("erdma_0", "counters")) == 1, 60)
    got = exporter.metrics()
    equal(got[STATE("erdma_0", "ready")], 1)
    true(got['eadm_cmdq_recoveries_total{device="erdma_0"}'] >= 1,
         "the recovery is counted")
    equal(got['eadm_cmd_records_total{device="erdma_0",op="get-stats",'
              'state="timeout"}'], 1)


def counted_faults(exporter):
    """Counters of faults have an age from when they have counted one."""
    def seen(*names):
        wait_for(f"{names}", lambda: exporter.metrics() and
                 set(names) <= exporter.names, 60)

    write("v0/fault/cmd_duplicate/count", 10)
    write("v0/fault/aeq_unknown/arg", 3)
    write("v0/fault/aeq_unknown/count", 1)
    seen("eadm_cmdq_last_spurious_age_seconds", "eadm_eq_last_unknown_age_seconds")
    write("v0/fault/cmd_duplicate/count", 0)
    # Too slow to be answered before the exporter sleeps, and asks for an event.
    write("v0/fault/cmd_delay/target", GET_STATS)
    write("v0/fault/cmd_delay/arg", 5)
    write("v0/fault/cmd_delay/count", 3)
    write("v0/fault/cmd_arm_lost/count", 1)
    seen("eadm_eq_last_missed_age_seconds")


def vanished(exporter):
    write("v1/fault/dev_gone/count", 1)

    def gone():
        got = exporter.metrics()
        equal(got[SUCCESS("erdma_0", "counters")], 1)
        return got.get(STATE("erdma_1", "gone")) == 1 or \
            got.get(STATE("erdma_1", "dead")) == 1

    wait_for("the state", gone)


def unplugged(exporter):
    write("v1/live", 0)
    wait_for("one device", lambda: exporter.metrics()["eadm_devices"] == 1)
    got = exporter.metrics()
    equal([n for n in got if 'device="erdma_1"' in n], [])
    equal(got[SUCCESS("erdma_0", "counters")], 1)


def software_device(exporter):
    """Another vendor's counters, by a device without a companion."""
    subprocess.run(["modprobe", "rdma_rxe"], check=True)
    subprocess.run(["rdma", "link", "add", "rxe0", "type", "rxe", "netdev",
                    "eth0"], check=True)
    wait_for("its counters", lambda: exporter.metrics().get(
        'eadm_port_tx_packets_total{device="rxe0",port="1"}') is not None, 30)
    equal(exporter.metrics()[SUCCESS("rxe0", "counters")], 1)
    subprocess.run(["rdma", "link", "delete", "rxe0"], check=True)


# What only a program that is an adapter has.
OF_PROGRAMS = {f"eadm_{name}" for name in (
    "dev_side", "dev_backend_state", "dev_guest_driver", "dev_guest_memory_bytes",
    "dev_sessions_total", "dev_lost_sessions_total", "dev_last_lost_session_age_seconds",
    "dev_pinned_bytes", "dev_max_pinned_bytes", "dev_quota_refusals_total",
    "dev_last_quota_refusal_age_seconds", "eq_waiting", "eq_undelivered_total",
    "eq_last_undelivered_age_seconds", "cmdq_slow_registrations_total",
    "cmdq_slowest_registration_seconds", "cmdq_last_slow_registration_age_seconds")}


def of_others():
    """What only other devices than those of this guest have, by the dictionary of
    counters; and of fields of a device AHs and SRQs, and what is of programs."""
    drivers = load(f"{REPO}/spec/counters.yaml")["drivers"]
    ours = {f"eadm_port_{name.replace('-', '_')}_total"
            for driver in drivers if driver["driver"] in HERE
            for name in driver["counters"].values()}
    return {f"eadm_port_{name.replace('-', '_')}_total"
            for driver in drivers
            for name in driver["counters"].values()} - ours | {
                "eadm_dev_ahs", "eadm_dev_max_ah", "eadm_dev_srqs",
                "eadm_dev_max_srq"} | OF_PROGRAMS


def every_metric(exporter, place):
    """What a device with every field of the specification would have."""
    path = f"{place.folder}/full.pcapng"
    captures.full(path)
    wanted = {name.partition("{")[0] for name in values(once(path))}
    missing = wanted - exporter.names - of_others()
    true(len(wanted) > 150, len(wanted))
    equal(missing, set())


def all_there(exporter):
    """What rules, alerts and panels ask for was there at some time."""
    others = of_others()
    records = {name: set() for name, _ in shipped_rules("rules")}
    for name, expr in shipped_rules("rules"):
        records[name] |= names_in(expr)
    panels = {}
    for name, expr in shipped_rules("rules", "alerts") + shipped_panels():
        panels.setdefault(name, set()).update(*(
            records.get(n, {n}) for n in names_in(expr)))
    true(len(panels) > 40, len(panels))
    for name, wanted in panels.items():
        missing = wanted - exporter.names - FOREIGN
        equal(missing - others, set(), name)
        # Some alerts are about devices of another family alone.
        true(wanted - missing or wanted <= others, f"{name}: nothing of it is here")
    print(f"# {len(exporter.names)} names in all, asked for by others' "
          f"devices only: {len(set().union(*panels.values()) & others)}")


def alert(prometheus, name, device):
    wait_for(name, lambda: device in prometheus.query(
        f'count by (device) (ALERTS{{alertname="{name}"}})'), 60)


def targets_up(prometheus):
    wait_for("the target", lambda: prometheus.query("up") == {"eadm": 1})


def main():
    with tempfile.TemporaryDirectory(prefix="eadm-exporter.") as base:
        os.chmod(base, 0o755)
        place = Place(base, "guest")
        for name in ("rules.yml", "alerts.yml"):
            shutil.copy(f"{SHIPPED}/prometheus/{name}", place.folder)
        tool = for_everybody(f"{base}/bin")
        # An emulated machine is slow: Prometheus alone keeps it busy.
        with Watched(place.folder, None, "--device-timeout", "4s",
                      command=[*NOBODY, tool]) as exporter:
            config = {
                "global": {"scrape_interval": "5s", "scrape_timeout": "5s",
                           "evaluation_interval": "5s"},
                "rule_files": ["rules.yml", "alerts.yml"],
                "scrape_configs": [{"job_name": "eadm", "static_configs": [
                    {"targets": [f"127.0.0.1:{exporter.port}"]}]}]}
            step("nobody reads everything of two devices", sound, exporter)
            with Prometheus(place, config) as server:
                step("Prometheus scrapes them", targets_up, server)
                step("a lost command disturbs its device only", lost_command,
                     exporter)
                step("the alert for lost commands tells", alert, server,
                     "EadmCommandTimeouts", "erdma_0")
                step("faults that are counted have an age", counted_faults,
                     exporter)
                step("an adapter that vanishes is told", vanished, exporter)
                step("the alert for dead devices tells", alert, server,
                     "EadmDeviceDead", "erdma_1")
                step("one that is unplugged leaves no metrics", unplugged,
                     exporter)
            step("a device of another vendor stands beside them",
                 software_device, exporter)
            step("every metric of the specification was there", every_metric,
                 exporter, place)
            step("all that rules, alerts and panels ask for was there",
                 all_there, exporter)
            step("the exporter ends well",
                 lambda: equal(exporter.stop(), 0))
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
