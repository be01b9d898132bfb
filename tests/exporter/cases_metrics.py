# SPDX-License-Identifier: GPL-2.0-or-later
"""What is exported, and in which form."""

import collections
import concurrent.futures
import glob
import math
import os
import re
import subprocess
import time

import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import captures
import protobuf
from captures import synth
from server import PATIENCE, REPO, Exporter, eadm, once, values, wait_for
from tap import case, equal, true

OPEN = "application/openmetrics-text"
PROTOBUF = ("application/vnd.google.protobuf;"
            "proto=io.prometheus.client.MetricFamily;encoding=delimited")
KIND = PROTOBUF.split(";", maxsplit=1)[0]
TYPE_OF = {2: "gauge", 3: "counter", 5: "untyped"}
# With and without native histograms.
PROMETHEUS_NATIVE = (f"{PROTOBUF},{OPEN};version=1.0.0;q=0.8,"
                     f"{OPEN};version=0.0.1;q=0.75,"
                     "text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
PROMETHEUS = (f"{OPEN};version=1.0.0,{OPEN};version=0.0.1;q=0.75,"
              "text/plain;version=0.0.4;q=0.5,*/*;q=0.1")


def promtool(text):
    done = subprocess.run(["promtool", "check", "metrics"], input=text,
                          capture_output=True, text=True, check=False)
    equal((done.returncode, done.stderr), (0, ""), "promtool")


@case("promtool accepts the metrics of every capture")
def promtool_captures(place):
    names = sorted(name.removesuffix(".pcapng") for name in os.listdir(place.captures))
    true(len(names) >= 10, names)
    for name in names:
        promtool(once(place.capture(name)))
    promtool(once(place.capture("full"), "--processes", "--objects",
                  "qp,cq,mr,pd,ctx"))


@case("no series appears twice, with and without the companion")
def unique(place):
    for path in (*map(place.capture, ("two", "full", "dead", "sick", "odd")),
                 *glob.glob(f"{REPO}/tests/captures/live/*.pcapng"),
                 *glob.glob(f"{REPO}/tests/family/{synth.FAMILY_NAME}/captures/*.pcapng")):
        text = once(path, "--processes", "--objects", "qp,cq,mr,pd,ctx,cep")
        names = [line.rpartition(" ")[0] for line in text.splitlines() if line[0] != "#"]
        equal([n for n, count in collections.Counter(names).items() if count > 1], [], path)
    got = values(once(f"{REPO}/tests/captures/live/rxe.pcapng", "--objects", "mr"))
    equal([got[f'eadm_mr_length_bytes{{device="rxe0",res_id="{n}"}}'] for n in (0, 1)],
          [65536, 65536])
    got = values(once(place.capture("odd"), "--processes"))
    equal(got['eadm_process_qp_objects{device="cloud_0",comm="odd\ufffd"}'], 2)


@case("SRQs of any driver")
def srqs(_):
    text = once(f"{REPO}/tests/captures/synth/stock.pcapng", "--objects", "srq,qp")
    promtool(text)
    got = values(text)
    equal(got['eadm_srq_users{device="rocep1",srqn="3"}'], 5)


@case("GIDs of each port, and which of them to use")
def gids(place):
    text = once(place.capture("two"), "--objects", "gid")
    promtool(text)
    series = ('eadm_gid_info{{device="cloud_{0}",port="1",gid_index="{1}",gid="{2}",type="RoCE v2",'
              'netdev="eth{0}",namespace="this",scope="{3}",usable="{4}"}}').format
    equal({key: value for key, value in values(text).items() if key.startswith("eadm_gid")},
          {name: 1 for n in (0, 1) for name in (
              series(n, 0, f"fe80::5054:ff:feed:a0{n:02x}", "link-local", "same-link"),
              series(n, 1, f"::ffff:10.77.{n}.1", "ipv4", "best"))})


@case("objects of processes by pod and container; those whose process is unknown are counted")
def pods(place):
    text = once(place.capture("pods"), "--pods")
    promtool(text)
    got = values(text)
    name = 'eadm_process_qp_objects{{device="cloud_0",comm="{}"{}}}'.format
    pod = f',pod_uid="{captures.POD}",container_id="{{}}"'.format
    equal({key: value for key, value in got.items() if key.startswith("eadm_process_qp_objects")},
          {name("job", pod(captures.CONTAINERS[0])): 2, name("job", pod(captures.CONTAINERS[1])): 1,
           name("job", ""): 2, name("[nvme]", ""): 1})
    equal(got['eadm_collector_skipped{device="cloud_0",collector="process_qp"}'], 1)
    # Only on request.
    got = values(once(place.capture("pods"), "--processes"))
    equal(got[name("job", "")], 5)
    equal([key for key in got if "skipped" in key or "pod" in key], [])
    # Within the budget, as without pods.
    got = values(once(place.capture("pods"), "--pods", "--max-series", "10"))
    true(got[name("(others)", "")] > 0, got)
    equal(sum(value for key, value in got.items() if key.startswith("eadm_process_qp_objects")), 6)
    equal(got['eadm_scrape_collector_truncated{device="cloud_0",collector="process_qp"}'], 1)


@case("both byte orders show the same")
def byte_orders(place):
    def stable(text):
        return [line for line in text.splitlines()
                if not re.search("duration|_age|^process_", line)]
    equal(stable(once(place.capture("two-be"))),
          stable(once(place.capture("two"))))


@case("every counter of the specification is a metric, with its text as help")
def all_counters(place):
    text = once(place.capture("full"))
    with open(f"{REPO}/spec/eadm.yaml", encoding="utf-8") as file:
        spec = yaml.safe_load(file)
    seen = 0
    for attrs in spec["attribute-sets"]:
        prefix = {"counters": "port"}.get(attrs["name"], attrs["name"])
        if prefix not in ("port", "eq", "cmdq"):
            continue
        for attr in attrs["attributes"]:
            view = attr.get("x-view", {})
            if view.get("kind") != "counter" or view.get("metric") is False:
                continue
            name = f"eadm_{prefix}_{attr['name'].replace('-', '_')}_total"
            true(re.search(rf"^{name}{{", text, re.M), name)
            true(f"# HELP {name} {attr['doc']}\n" in text, f"help of {name}")
            true(f"# TYPE {name} counter\n" in text, f"type of {name}")
            seen += 1
    true(seen > 90, seen)


@case("values, states, limits and names of devices are told")
def devices(place):
    got = values(once(place.capture("two")))
    equal(got['eadm_port_tx_bytes_total{device="cloud_0",port="1"}'], 3000)
    equal(got['eadm_dev_state{device="cloud_1",state="ready"}'], 1)
    equal(got['eadm_dev_state{device="cloud_1",state="dead"}'], 0)
    equal(got['eadm_dev_qps{device="cloud_0"}'], 3)
    equal(got['eadm_dev_max_qp{device="cloud_0"}'], 131071)
    equal(got['eadm_cmdq_timeout_seconds{device="cloud_0"}'], 15)
    equal(got['eadm_eq_events_total{device="cloud_0",eq="2",role="completion"}'], 24)
    info = [name for name in got if name.startswith("eadm_dev_info")]
    equal(len(info), 2)
    true(f'driver="{synth.FAMILY_NAME}"' in info[0] and 'netdev="eth0"' in info[0], info)


@case("failures are counted by kind and cause, with the time since the last one")
def failures(place):
    got = values(once(place.capture("sick")))
    labels = '{device="conns",kind="qp",cause="retries-exceeded"}'
    equal({name: n for name, n in got.items() if name.startswith("eadm_failure_")},
          {f"eadm_failure_count_total{labels}": 4096, f"eadm_failure_last_age_seconds{labels}": 39})


@case("a dead device shows its state and what cannot be read")
def dead_device(place):
    done = eadm("--from", place.capture("dead"), "exporter", "--once")
    equal(done.returncode, 6, "status")
    got = values(done.stdout)
    equal(got['eadm_dev_state{device="roce_x",state="dead"}'], 1)
    equal(got['eadm_cmdq_timeouts_total{device="roce_x"}'], 3)
    verdicts = 'eadm_diagnose_verdicts{{device="roce_x",severity="{}"}}'
    equal([got[verdicts.format(s)] for s in ("critical", "warning", "notice")],
          [1, 1, 0])
    equal(got['eadm_diagnose_findings{device="roce_x",rule="cmdq-dead",'
              'severity="critical"}'], 1)
    gaps = {name: n for name, n in got.items() if name.startswith("eadm_diagnose_rules_unapplied")}
    true(gaps and all(n > 0 for n in gaps.values()), gaps)
    true(not any('device="rxe0"' in name and 'reason="snapshot"' not in name for name in gaps), gaps)
    success = 'eadm_scrape_collector_success{{device="{}",collector="{}"}}'
    equal(got[success.format("roce_x", "cmdq")], 1)
    equal(got[success.format("roce_x", "eq")], 0)
    equal(got[success.format("rxe0", "dev")], 0)


@case("a device of which a part cannot be read shows the rest and an error")
def failed_port(place):
    success = 'eadm_scrape_collector_success{device="mlx5_0",collector="counters"}'
    writes = 'eadm_port_rx_writes_total{device="mlx5_0",port="1"}'
    for name, want in (("failed-port", (6, 0, 7)), ("odd-port", (0, 1, 7))):
        done = eadm("--from", place.capture(name), "exporter", "--once",
                    "--collectors", "dev,counters")
        got = values(done.stdout)
        equal((done.returncode, got[success], got[writes]), want, name)


@case("QP 1 of each port has separate series")
def special_qps(place):
    done = eadm("--from", place.capture("special-qps"), "exporter", "--once",
                "--objects", "qp")
    labels = [line[line.index("{"):line.index("}") + 1] for line in done.stdout.splitlines()
              if line.startswith("eadm_qp_state{")]
    equal(len(labels), len(set(labels)), labels)
    equal(sorted(re.findall('port="(.)"', "".join(labels))), ["1", "2"], labels)


@case("a list of devices that is too long or cannot be read is reported")
def lists(place):
    success = 'eadm_scrape_collector_success{device="",collector="list"}'
    truncated = 'eadm_scrape_collector_truncated{device="",collector="list"}'
    done = eadm("--from", place.capture("many-devices"), "exporter", "--once",
                "--collectors", "cmdq")
    got = values(done.stdout)
    equal((done.returncode, got["eadm_devices"], got[success], got[truncated]), (6, 300, 1, 1))
    with open(place.capture("two"), "rb") as file:
        same = file.read().replace(b"cloud_1", b"cloud_0")
    with open(f"{place.folder}/same.pcapng", "wb") as file:
        file.write(same)
    done = eadm("--from", f"{place.folder}/same.pcapng", "exporter", "--once",
                "--collectors", "cmdq")
    got = values(done.stdout)
    equal((done.returncode, got["eadm_devices"], got[success], got[truncated]), (6, 2, 1, 1))
    with Exporter(place.folder, place.capture("lost-list")) as server:
        got = [server.metrics() for _ in range(2)]
    equal([(g.get("eadm_devices"), g[success], g.get(truncated)) for g in got],
          [(1, 1, 0), (None, 0, None)])


@case("OpenMetrics is parsed by its own library and ends with EOF")
def openmetrics(place):
    for name in ("full", "dead", "two"):
        with Exporter(place.folder, place.capture(name), "--processes",
                      "--objects", "qp,cq,mr") as server:
            answer = server.get(headers={"Accept": OPEN})
        true(answer.text.endswith("\n# EOF\n"), "EOF")
        families = list(text_string_to_metric_families(answer.text))
        kinds = {f.name: f.type for f in families}
        equal(kinds["eadm_dev"], "info")
        equal(kinds["eadm_cmd_latency_seconds"], "histogram")
        true(len(families) > 50 or name != "two", len(families))


@case("the format is negotiated")
def negotiation(place):
    want = {
        None: "text/plain", "*/*": "text/plain", OPEN: OPEN,
        PROMETHEUS: OPEN, "text/plain": "text/plain",
        f"{OPEN};q=0.2,text/plain;q=0.7": "text/plain",
        f"text/plain;q=0.7, {OPEN};version=1.0.0;q=0.9": OPEN,
        f"{OPEN};q=0": "text/plain", f"{OPEN};q=x,text/plain": "text/plain",
        "": "text/plain", ",;,": "text/plain", "text/html": "text/plain",
        PROMETHEUS_NATIVE: KIND, PROTOBUF: KIND, f"{OPEN}, {PROTOBUF}": KIND,
        f"{PROTOBUF};q=0.4,text/plain;q=0.5": "text/plain",
        KIND: "text/plain", f"{KIND};encoding=delimited": "text/plain",
        PROTOBUF.replace("delimited", "text"): "text/plain",
        PROTOBUF.replace("Family", "Families"): "text/plain",
    }
    with Exporter(place.folder, place.capture("two")) as server:
        for accept, kind in want.items():
            headers = {} if accept is None else {"Accept": accept}
            answer = server.get(headers=headers)
            equal(answer.headers["Content-Type"].split(";")[0], kind, accept)
            equal(answer.data.endswith(b"# EOF\n"), kind == OPEN, accept)


def escaped(labels):
    """Labels as the text has them."""
    quoted = [(n, v.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))
              for n, v in labels.items()]
    return ",".join(f'{n}="{v}"' for n, v in quoted)


def flat(families):
    """Samples by name with labels, as the text has them."""
    found = {}
    for name, _, kind, metrics in families:
        for labels, value in metrics:
            text = escaped(labels)
            if kind != "histogram":
                number, = value
                equal(TYPE_OF[number], kind, name)
                found[f"{name}{{{text}}}" if text else name] = value[number][1][0]
                continue
            value = value[7]
            found[f"{name}_count{{{text}}}"] = value[1][0]
            found[f"{name}_sum{{{text}}}"] = value[2][0]
            bounds = map(protobuf.fields, value[3])
            for bound in bounds:
                found[name, text, bound[2][0]] = bound[1][0]
    return found


@case("protobuf says what the text says")
def same_in_protobuf(place):
    checked = 0
    for name in ("two", "full", "dead", "recorder"):
        with Exporter(place.folder, place.capture(name)) as server:
            families = list(protobuf.families(
                server.get(headers={"Accept": PROTOBUF}).data))
        text = once(place.capture(name))
        want = values(text)
        for family, help_text, _, _ in families:
            true(help_text in text or family.startswith("eadm_exporter_"),
                 help_text)
        got = flat(families)
        for key, value in got.items():
            if isinstance(key, tuple):
                family, labels, le = key
                key = next(n for n in want if n.startswith(
                    f'{family}_bucket{{{labels},le="')
                    and float(n.rsplit('"', 2)[1]) == le)
            if not re.search("duration|diagnose_age|process_|exporter_", key):
                true(math.isclose(value, want.pop(key), abs_tol=1e-12), key)
                checked += 1
        left = [n for n in want
                if not re.search('duration|diagnose_age|process_|exporter_|le="[+]Inf"',
                                 n)]
        equal(left, [], name)
    true(checked > 300, checked)


@case("native histograms hold each command in the bucket of its time")
def native(place):
    with Exporter(place.folder, place.capture("recorder")) as server:
        for _ in range(2):
            data = server.get(headers={"Accept": PROTOBUF}).data
    metrics, = [m for name, _, _, m in protobuf.families(data)
                if name == "eadm_cmd_latency_seconds"]
    for (labels, fields), op, times in zip(metrics, ("create-qp", "destroy-qp"),
                                           ((20e-6, 15), (0.2,)), strict=True):
        equal(labels["op"], op)
        histogram = fields[7]
        equal(protobuf.signed(histogram[5][0]), 3, "schema")
        want = {math.ceil(math.log2(t) * 8): 1 for t in times}
        equal(protobuf.native_buckets(histogram), want)
        equal(histogram[1][0], len(times), "count")


@case("the flight recorder's commands count once each, when they end")
def recorder(place):
    count = 'eadm_cmd_latency_seconds_count{device="cloud_0",op="create-qp"}'
    other = 'eadm_cmd_latency_seconds_count{device="cloud_0",op="destroy-qp"}'
    lost = 'eadm_cmd_records_lost_total{device="cloud_0"}'
    slow = 'eadm_cmd_latency_seconds_bucket{device="cloud_0",op="create-qp",le="0.1"}'
    timeout = ('eadm_cmd_records_total{device="cloud_0",op="create-qp",'
               'state="timeout"}')
    with Exporter(place.folder, place.capture("recorder")) as server:
        got = [server.metrics() for _ in range(5)]
    equal([g[count] for g in got], [1, 2, 3, 1, 1], "commands")
    equal([g.get(other) for g in got], [None, 1, 1, None, None], "other commands")
    equal([g[lost] for g in got], [0, 0, 10, 0, 0], "lost ones")
    equal([g[slow] for g in got], [1, 1, 2, 1, 1], "fast ones")
    equal([g.get(timeout) for g in got], [None, 1, 1, None, None], "timeouts")
    equal(got[1]['eadm_cmd_latency_seconds_sum{device="cloud_0",op="create-qp"}'], 15.00002)


@case("a device that was made anew counts from 0, however old it has grown")
def remade(place):
    count = 'eadm_cmd_latency_seconds_count{device="cloud_0",op="create-qp"}'
    lost = 'eadm_cmd_records_lost_total{device="cloud_0"}'
    with Exporter(place.folder, place.capture("remade")) as server:
        got = [server.metrics() for _ in range(4)]
    equal([(g[count], g[lost]) for g in got], [(2, 0), (1, 0), (3, 0), (3, 0)])


@case("each record counts once after the probe restarts or a stock device is re-created")
def renumbered(place):
    records = 'eadm_cmd_records_total{{device="rocep1",op="reg-mr",state="{}"}}'
    lost = 'eadm_cmd_records_lost_total{device="rocep1"}'

    def scrape(name, times):
        with Exporter(place.folder, place.capture(name)) as server:
            got = [server.metrics() for _ in range(times)]
        return [(*(g.get(records.format(state)) for state in ("done", "error")), g[lost])
                for g in got]

    equal(scrape("probe-restart", 7), [(30, None, 0), (31, None, 0), (31, 2, 0), (69, 2, 0),
                                    (109, 2, 10), (110, 2, 10), (110, 2, 10)], "probe")
    equal(scrape("device-recreated", 4), [(30, None, 0), (None, 2, 0), (38, 2, 0), (38, 2, 0)],
          "device")
    equal(scrape("first-record", 3), [(None, None, 0), (2, None, 0), (2, None, 0)],
          "first record")


@case("each scrape shows the next moment of a capture, the last one for ever")
def moments(place):
    name = 'eadm_port_tx_bytes_total{device="cloud_0",port="1"}'
    with Exporter(place.folder, place.capture("moments")) as server:
        equal([server.metrics()[name] for _ in range(4)],
              [3000, 5003000, 15003000, 15003000])


@case("scrapes begin with the moment of --at, a server waits for its device")
def at_moment(place):
    name = 'eadm_port_tx_packets_total{device="cloud_0",port="1"}'
    first = {at: values(once(place.capture("moments"), "--at", at))[name]
             for at in ("#1", "#2", "#3")}
    equal(len(set(first.values())), 3, first)
    with Exporter(place.folder, place.capture("moments"), "--at", "#2") as server:
        equal([server.metrics()[name] for _ in range(3)],
              [first["#2"], first["#3"], first["#3"]])
    with Exporter(place.folder, place.capture("moments"), "-d", "cloud_9") as server:
        true("cloud_9: no such RDMA device" in server.text_of_log(), "log")
        equal(server.metrics()["eadm_devices"], 0)


@case("only the collectors that are wanted")
def collectors(place):
    text = once(place.capture("two"), "--collectors", "counters,cmd")
    names = set(re.findall(r'collector="(\w+)"', text))
    equal(names, {"counters", "cmd", "list"})
    true("eadm_port_tx_bytes_total{" in text and "eadm_dev_" not in text, "rows")
    promtool(text)
    done = eadm("--from", place.capture("two"), "exporter", "--once",
                "--collectors", "qp")
    equal((done.returncode, done.stderr), (2, "eadm: exporter: qp: not a collector "
          "(dev, cmdq, eq, cmd, failure-total, counters, diagnose)\n"))


@case("objects and processes are shown within the budget only")
def budget(place):
    got = values(once(place.capture("many"), "--objects", "qp",
                      "--max-series", "100"))
    series = [name for name in got if name.startswith("eadm_qp_")]
    true(50 < len(series) <= 100, len(series))
    flag = 'eadm_scrape_collector_truncated{device="cloud_0",collector="qp"}'
    equal(got[flag], 1)
    got = values(once(place.capture("many"), "--objects", "qp", "--processes",
                      "--max-series", "200000"))
    equal(got[flag], 0)
    equal(len([n for n in got if n.startswith("eadm_qp_info")]), 5000)
    equal(got['eadm_process_qp_objects{device="cloud_0",'
              'comm="ib_write_bw"}'], 5000)
    plain = values(once(place.capture("many")))
    equal([n for n in plain if n.startswith("eadm_qp_")], [])


@case("all values of a row are taken in one call")
def one_call(place):
    shared = f"{REPO}/build/eadm/eadm-shared"
    for capture, least, options in (("full", 9, ("--objects", "qp,cq,mr,pd,ctx")),
                                    ("many", 10000, ("--objects", "qp", "--processes")),
                                    ("pods", 7, ("--pods",)), ("recorder", 1, ())):
        counts = f"{place.folder}/{capture}"
        subprocess.run([shared, "--from", place.capture(capture), "exporter", "--once",
                        "--collectors", "dev,cmdq,eq,cmd,failure-total,counters", *options],
                       stdout=subprocess.DEVNULL, timeout=60 * PATIENCE, check=True,
                       env={**os.environ, "COUNT_FILE": counts,
                            "LD_PRELOAD": f"{REPO}/build/tests/exporter/count.so"})
        with open(counts, encoding="ascii") as file:
            rows, calls, single = map(int, file.read().split())
        true(rows >= least, f"{capture}: {rows} rows")
        equal((calls, single), (rows, 0), capture)


def requests_of(path):
    """The lines of tests/exporter/requests.c since the last call."""
    with open(path, "r+", encoding="ascii") as file:
        lines = file.read().splitlines()
        file.truncate(0)
    return lines


def by_device(lines, devices):
    """Requests about each device, without its number; and those about none."""
    found = {device: [] for device in (*devices, None)}
    for line in lines:
        device = re.search(r" 1=(\d+)", line)
        found[device and int(device[1])].append(line.replace(device[0], "", 1) if device else line)
    return found


# One dump of each object, besides: whether the adapter still answers (cmdq get), and from
# the recorder all new commands, those that failed and those that were slow.
DIAGNOSED = ["dev dump", "eq dump", "cmdq dump", "cmd dump", "failure-total dump",
             "counters dump", "cgroup dump", "ctx dump", "cq dump", "qp dump", "link dump",
             "health dump", "qp-counter dump", "cmdq get", "cmd dump", "cmd dump",
             "failure dump", "port dump"]
STEADY = ["dev dump", "eq dump", "cmdq get", "cmd dump", "failure-total dump",
          "counters get"]
MACHINE = ["machine dump", "machine dump", "probe dump", "process dump"]
LIST = ["family get", "dev dump"]


@case("live, each request is sent once for a device and round, and no others than needed")
def requests(place):
    devices = {0: "cloud_0", 3: "cloud_1"}
    for name in devices.values():
        os.makedirs(f"{place.folder}/root/sys/class/infiniband/{name}")
    path = place.write("requests", "")
    env = {"REQUESTS_FILE": path, "REQUESTS_ROOT": f"{place.folder}/root",
           "REQUESTS_FROM": f"{REPO}/tests/captures/synth/two.pcapng"}
    built = f"{REPO}/build/tests/exporter"

    def scrape_once():
        subprocess.run([f"{built}/once-counted", "exporter", "--once"], check=True,
                       env={**os.environ, **env}, stdout=subprocess.DEVNULL, timeout=60 * PATIENCE)

    def check(want, rest):
        found = by_device(requests_of(path), devices)
        for device in devices:
            lines = found[device]
            equal(sorted(set(lines)), sorted(lines), f"device {device}: none twice")
            equal(sorted(" ".join(line.split()[:2]) for line in lines), sorted(want),
                  f"device {device}")
        equal(sorted(" ".join(line.split()[:2]) for line in found[None]), sorted(rest), "others")

    # The list of devices is read for the exporter and for each device.
    first = 3 * LIST + 2 * MACHINE
    scrape_once()
    check(DIAGNOSED, first)
    with Exporter(place.folder, None, command=[f"{built}/exporter-counted"], env=env) as server:
        server.metrics()
        check(DIAGNOSED, first)
        for _ in range(2):
            server.metrics()
            check(STEADY, [])
    # Processes of which nothing is known are looked at once, too.
    env["REQUESTS_FROM"] = f"{REPO}/tests/captures/synth/busy.pcapng"
    scrape_once()
    processes = [line for line in requests_of(path) if line.startswith("process")]
    equal(sorted(set(processes)), sorted(processes), "processes")
    equal(len(processes), 3)


def let_go(fifo):
    """Ends all that hang.so holds, and whoever comes later."""
    writer = os.open(fifo, os.O_RDWR)
    os.unlink(fifo)
    os.close(writer)


@case("a device that hangs costs nobody else anything", timed=True)
def hang(place):
    stop = f"{place.folder}/hang"
    os.mkfifo(stop)
    env = {"LD_PRELOAD": f"{REPO}/build/tests/exporter/hang.so",
           "HANG_DEVICE": "cloud_1", "HANG_FILE": stop}
    success = ('eadm_scrape_collector_success{{device="{}",'
               'collector="counters"}}').format
    good = 'eadm_port_tx_bytes_total{device="cloud_0",port="1"}'
    bad = 'eadm_port_tx_bytes_total{device="cloud_1",port="1"}'

    def scrape(server, **kwargs):
        begin = time.monotonic()
        got = server.metrics(**kwargs)
        return got, time.monotonic() - begin

    with Exporter(place.folder, place.capture("two"), "--device-timeout",
                  "2s", env=env) as server:
        got, took = scrape(server, headers={
            "X-Prometheus-Scrape-Timeout-Seconds": "0.5"})
        true(took < 1.5, f"the scrape's own limit: {took} s")
        equal((got[success("cloud_0")], got[success("cloud_1")]), (1, 0))
        equal((good in got, bad in got), (True, False))
        equal(got['eadm_cmdq_submitted_total{device="cloud_1"}'], 24,
              "what else the device told")
        wait_for("the first scrape's end", lambda: scrape(server)[1] < 1)
        got, took = scrape(server)
        true(took < 1, f"one that hangs is not waited for again: {took} s")
        true(good in got and bad not in got, "the others are there")
        equal(server.get("/healthz").text, "ok\n")
        let_go(stop)
        wait_for("the device's return", lambda: bad in scrape(server)[0])


@case("when everything hangs, each scrape is answered still", timed=True)
def all_hang(place):
    stop = f"{place.folder}/hang"
    env = {"LD_PRELOAD": f"{REPO}/build/tests/exporter/hang.so",
           "HANG_ALL": "1", "HANG_FILE": stop}
    good = ['eadm_port_tx_bytes_total{device="cloud_%d",port="1"}' % n for n in (0, 1)]
    success = ['eadm_scrape_collector_success{device="%s",collector="%s"}' % pair
               for pair in (("cloud_0", "counters"), ("cloud_1", "counters"), ("", "list"))]

    with Exporter(place.folder, place.capture("two"), "--device-timeout",
                  "1s", env=env) as server:
        got = server.metrics()
        equal([n in got for n in good], [True, True])
        os.mkfifo(stop)
        for number in range(5):
            begin = time.monotonic()
            got = server.metrics()
            took = time.monotonic() - begin
            # It is waited for once.
            true(took < 3, f"scrape {number}: {took} s")
            equal([got[n] for n in success], [0, 0, 0])
            equal(server.get("/healthz").text, "ok\n")
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(lambda _: server.get().status, range(100)))
        equal(answers, 100 * [200])
        threads = len(os.listdir(f"/proc/{server.process.pid}/task"))
        true(threads <= 8, f"{threads} threads")
        let_go(stop)
        wait_for("the return of all", lambda: [
            server.metrics().get(n) for n in success] == [1, 1, 1])
        equal(server.stop(), 0)
