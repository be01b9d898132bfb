# SPDX-License-Identifier: GPL-2.0-or-later
"""Prometheus itself, and the rules, alerts and dashboard for it."""

import json
import re
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request

import yaml

from passwords import hashed
from server import REPO, Exporter, certificates, client_tls, once, wait_for
from tap import case, equal, true

SHIPPED = f"{REPO}/packaging"
# Of Prometheus, not of the exporter.
FOREIGN = {"up", "ALERTS"}


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def recorded():
    return {rule["record"] for group in
            load(f"{SHIPPED}/prometheus/rules.yml")["groups"]
            for rule in group["rules"]}


def exported(place):
    """All names of samples, by a device that has everything."""
    text = once(place.capture("full"))
    names = set(re.findall(r"^([a-z_]+)[{ ]", text, re.M))
    # A native one has no suffixes.
    names |= set(re.findall(r"^# TYPE (\S+) histogram$", text, re.M))
    # Told by the server only.
    return names | {"eadm_exporter_connections"}


def names_in(expr):
    """Names of metrics in an expression."""
    bare = re.sub(r'"(?:\\.|[^"\\])*"', '""', expr)
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]", " ", bare)
    bare = re.sub(r"\b(by|without|ignoring|on|group_left)\s*\([^)]*\)", " ",
                  bare)
    return {name for name in re.findall(r"[A-Za-z_:][A-Za-z0-9_:]*", bare)
            if name.startswith("eadm") or name in FOREIGN}


def check_names(place, exprs):
    known = exported(place) | recorded() | FOREIGN
    seen = set()
    for where, expr in exprs:
        names = names_in(expr)
        true(names, f"{where}: no metric in {expr}")
        for name in names:
            true(name in known, f"{where}: nobody exports {name}")
        seen |= names
    return seen


def shipped_rules(*names):
    """Name and expression of each rule."""
    return [(rule.get("record") or rule["alert"], rule["expr"])
            for name in names
            for group in load(f"{SHIPPED}/prometheus/{name}.yml")["groups"]
            for rule in group["rules"]]


def shipped_panels():
    """Title and expression of all that the dashboard's panels show."""
    with open(f"{SHIPPED}/grafana/eadm.json", encoding="utf-8") as file:
        return [(panel["title"], target["expr"])
                for panel in json.load(file)["panels"]
                if panel["type"] != "row" for target in panel["targets"]]


@case("rules and alerts use metrics that are exported")
def rule_names(place):
    exprs = shipped_rules("rules", "alerts")
    true(len(exprs) >= 20, len(exprs))
    check_names(place, exprs)


@case("the dashboard's panels show metrics that are exported")
def dashboard(place):
    with open(f"{SHIPPED}/grafana/eadm.json", encoding="utf-8") as file:
        board = json.load(file)
    panels = [p for p in board["panels"] if p["type"] != "row"]
    exprs = shipped_panels()
    exprs += [(v["name"], re.sub(r"^label_values\((.*),[^,]*\)$", r"\1",
                                 v["definition"]))
              for v in board["templating"]["list"] if v["type"] == "query"]
    seen = check_names(place, exprs)
    true(len(panels) >= 20 and len(seen) >= 50, (len(panels), len(seen)))
    equal(len({p["id"] for p in board["panels"]}), len(board["panels"]))
    # Each expression is one that Prometheus understands.
    rules = [{"record": "x:y", "labels": {"n": str(n)},
              "expr": re.sub(r"\$__rate_interval", "5m", expr)}
             for n, (_, expr) in enumerate(exprs)]
    path = place.write("panels.yml", yaml.safe_dump(
        {"groups": [{"name": "panels", "rules": rules}]}))
    done = subprocess.run(["promtool", "check", "rules", path],
                          capture_output=True, text=True, check=False)
    equal(done.returncode, 0, done.stderr + done.stdout)


@case("every alert fires and resolves")
def alerts(_place):
    path = f"{REPO}/tests/exporter/alerts.yml"
    done = subprocess.run(["promtool", "test", "rules", path],
                          capture_output=True, text=True, check=False)
    equal(done.returncode, 0, done.stdout + done.stderr)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for group in load(f"{SHIPPED}/prometheus/alerts.yml")["groups"]:
        for rule in group["rules"]:
            name = rule["alert"]
            true(text.count(f'alertname="{name}"') >= 3, f"{name}: no test")
            true(set(rule["annotations"]) == {"summary", "description"}, name)
            true(rule["labels"]["severity"] in ("critical", "warning", "info"),
                 name)


class Prometheus:
    """Debian's Prometheus on a port of its own."""

    def __init__(self, place, config, *args):
        with socket.create_server(("127.0.0.1", 0)) as sock:
            self.port = sock.getsockname()[1]
        path = place.write("prometheus.yml", yaml.safe_dump(config))
        with open(f"{place.folder}/prometheus.log", "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={path}",
                 f"--storage.tsdb.path={place.folder}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}", *args],
                stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, path, **params):
        url = (f"http://127.0.0.1:{self.port}/api/v1/{path}?"
               f"{urllib.parse.urlencode(params)}")
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def query(self, expr):
        """Values by device or instance; empty while there is nothing."""
        data = self.ask("query", query=expr)
        return {row["metric"].get("device", row["metric"].get("job")):
                float(row["value"][1])
                for row in (data or {"result": []})["result"]}


@case("Prometheus scrapes with TLS and password; rules and alerts work", timed=True)
def prometheus(place):
    certificates(place.folder)
    web = place.write("web.yml", "tls_server_config:\n"
                      "  cert_file: localhost.crt\n"
                      "  key_file: localhost.key\n"
                      "basic_auth_users:\n"
                      f"  prom: {hashed('secret')}\n")
    for name in ("rules.yml", "alerts.yml"):
        shutil.copy(f"{SHIPPED}/prometheus/{name}", place.folder)
    with Exporter(place.folder, place.capture("two"), "--web-config", web,
                  tls=client_tls(place.folder)) as good, \
            Exporter(place.folder, place.capture("dead")) as bad:
        config = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s",
                       "evaluation_interval": "1s"},
            "rule_files": ["rules.yml", "alerts.yml"],
            "scrape_configs": [
                {"job_name": "eadm", "scheme": "https",
                 "tls_config": {"ca_file": f"{place.folder}/ca.crt"},
                 "basic_auth": {"username": "prom", "password": "secret"},
                 "static_configs": [{"targets": [f"localhost:{good.port}"]}]},
                {"job_name": "dead",
                 "static_configs": [{"targets": [f"127.0.0.1:{bad.port}"]}]}],
        }
        with Prometheus(place, config) as server:
            wait_for("both targets", lambda: server.query("up") == {
                "eadm": 1.0, "dead": 1.0})
            equal(server.query('eadm_dev_qps{job="eadm"}'),
                  {"cloud_0": 3.0, "cloud_1": 2.0})
            wait_for("the recorded series", lambda: server.query(
                'eadm:dev_limit_use:ratio{object="qp",job="eadm"}'))
            equal(server.query(
                "histogram_quantile(0.9, sum without (op) (eadm_cmd_latency_seconds_bucket"
                '{job="eadm",device="cloud_0"}))')["cloud_0"] < 0.0001, True)
            wait_for("the alert", lambda: server.query(
                'count by (device) (ALERTS{alertname="EadmDeviceDead"})'
            ) == {"roce_x": 1.0})
            targets = server.ask("targets")["activeTargets"]
            equal([t["lastError"] for t in targets], ["", ""])
            meta = server.ask("metadata", metric="eadm_port_tx_bytes")
            meta = meta or server.ask("metadata",
                                      metric="eadm_port_tx_bytes_total")
            true("counter" in json.dumps(meta), meta)


@case("Prometheus takes the latencies as a native histogram", timed=True)
def native_histogram(place):
    for name in ("rules.yml", "alerts.yml"):
        shutil.copy(f"{SHIPPED}/prometheus/{name}", place.folder)
    with Exporter(place.folder, place.capture("two")) as exporter:
        config = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s",
                       "evaluation_interval": "1s"},
            "rule_files": ["rules.yml", "alerts.yml"],
            "scrape_configs": [{"job_name": "eadm", "static_configs": [
                {"targets": [f"127.0.0.1:{exporter.port}"]}]}]}
        with Prometheus(place, config,
                        "--enable-feature=native-histograms") as server:
            def taken():
                found = server.ask("query", query="sum without (op) "
                                   '(eadm_cmd_latency_seconds{device="cloud_0"})')
                return (found or {"result": None})["result"]
            row, = wait_for("the histogram", taken)
            count = sum(value for name, value in exporter.metrics().items() if
                        name.startswith('eadm_cmd_latency_seconds_count{device="cloud_0"'))
            equal(float(row["histogram"][1]["count"]), count)
            equal(sum(float(bucket[3]) for bucket in
                      row["histogram"][1]["buckets"]), count)
            # The rules work with either kind.
            wait_for("the recorded quantile", lambda: server.query(
                "eadm:cmd_latency_seconds:p99_10m"))
            equal(server.query("eadm_cmd_latency_seconds_bucket"), {})
            # All else comes as it does in text.
            equal(server.query("eadm_dev_qps"),
                  {"cloud_0": 3.0, "cloud_1": 2.0})
            targets = server.ask("targets")["activeTargets"]
            equal([t["lastError"] for t in targets], [""])
            meta = server.ask("metadata", metric="eadm_port_tx_bytes_total")
            equal(meta["eadm_port_tx_bytes_total"][0]["type"], "counter")


@case("one Prometheus scrapes 50 hosts (1,000: tests/bench/fleet)", timed=True)
def many_hosts(place):
    import fleet  # which needs the class above
    captures = [place.capture(name) for name in ("two", "full")]
    figures = fleet.measure(place, captures, 50, 2, 3)
    equal(figures["up in every round"], 50)
    for name, figure in figures.items():
        print(f"# {name}: {figure:.6g}")
