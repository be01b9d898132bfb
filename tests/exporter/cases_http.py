# SPDX-License-Identifier: GPL-2.0-or-later
"""The web server: paths, sockets, rights, bounds."""

import base64
import glob
import http.client
import os
import re
import select
import signal
import socket
import ssl
import stat
import subprocess
import time

from passwords import hashed
from server import (EADM, LIMIT, REPO, Exporter, UnixConnection, certificates, client_tls,
                    eadm, values, wait_for)
from tap import case, equal, true


def basic(user, password):
    pair = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"Authorization": f"Basic {pair}"}


def status_of(server, password):
    """None while the server drops connections to start anew."""
    try:
        return server.get(headers=basic("prom", password)).status
    except (ConnectionError, http.client.HTTPException):
        return None


@case("paths and methods")
def paths(place):
    with Exporter(place.folder, place.capture("two")) as server:
        equal(server.get("/healthz").text, "ok\n")
        true('href="/metrics"' in server.get("/").text, "landing page")
        equal(server.get("/nothing").status, 404)
        equal(server.get("/metrics/../metrics").status, 404)
        head = server.get(method="HEAD")
        equal((head.status, head.text), (200, ""))
        for method in ("POST", "PUT", "DELETE"):
            answer = server.get(method=method, body="x" * 100000)
            equal(answer.status, 405, method)
            equal(answer.headers["Allow"], "GET, HEAD")
        connection = server.connection()
        for _ in range(3):
            connection.request("GET", "/metrics")
            equal(len(connection.getresponse().read()) > 1000, True)
        connection.close()
        equal(server.stop(), 0, "status at the end")


@case("requests that are none are answered or dropped, and harm nobody")
def nonsense(place):
    with Exporter(place.folder, place.capture("two")) as server:
        for data in (b"\0" * 5000, b"GET", b"GET /metrics\r\n\r\n",
                     b"GET / HTTP/1.1\r\n" + b"A: " + b"b" * 100000,
                     b"GET /%00%ff HTTP/1.1\r\nHost: x\r\n\r\n",
                     b"POST / HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n",
                     os.urandom(3000)):
            with socket.create_connection(("127.0.0.1", server.port)) as sock:
                try:
                    sock.sendall(data)
                    sock.shutdown(socket.SHUT_WR)
                    # Some wait for more, as they may.
                    sock.settimeout(0.3)
                    while sock.recv(65536):
                        pass
                except OSError:
                    pass
        equal(server.get("/healthz").text, "ok\n")


@case("several addresses, a UNIX socket, a stale one")
def listening(place):
    path = f"{place.folder}/socket"
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(path)
    stale.close()
    with Exporter(place.folder, place.capture("two"),
                  listen=f"127.0.0.1:0,localhost:0,unix:{path}") as server:
        true(len(server.addresses) >= 3, server.addresses)
        equal(server.get("/healthz").text, "ok\n")
        answer = server.get(connection=UnixConnection(path))
        true("eadm_devices 2\n" in answer.text, "over the UNIX socket")
        equal(stat.S_IMODE(os.stat(path).st_mode), 0o660)
        second = eadm("--from", place.capture("two"), "exporter", "--listen",
                      f"unix:{path}")
        true(second.returncode == 1 and "in use" in second.stderr,
             second.stderr)


@case("sockets that systemd passes")
def activation(place):
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
        os.set_inheritable(sock.fileno(), True)
        shell = (f"exec 3<&{sock.fileno()}; export LISTEN_PID=$$ LISTEN_FDS=1;"
                 ' exec "$0" "$@"')
        with Exporter(place.folder, place.capture("two"), listen=None,
                      command=["bash", "-c", shell, EADM],
                      pass_fds=(sock.fileno(),)) as server:
            equal(server.port, port)
            true("eadm_devices 2\n" in server.get().text, "metrics")


@case("names and passwords, and a new configuration by SIGHUP")
def authentication(place):
    config = place.write("web.yml", "basic_auth_users:\n  prom: "
                         f"{hashed('secret')}\n"
                         "http_server_config:\n  headers:\n"
                         "    X-Frame-Options: deny\n")
    with Exporter(place.folder, place.capture("two"), "--web-config",
                  config) as server:
        for headers in ({}, basic("prom", "wrong"), basic("prom", ""),
                        basic("other", "secret"), basic("", ""),
                        {"Authorization": "Basic !"},
                        {"Authorization": "Bearer x"}):
            for path in ("/", "/metrics", "/healthz", "/nothing"):
                equal(server.get(path, headers=headers).status, 401, headers)
        answer = server.get(headers=basic("prom", "secret"))
        equal((answer.status, answer.headers["X-Frame-Options"]),
              (200, "deny"))
        equal(values(answer.text)["eadm_exporter_auth_failures_total"], 28)
        place.write("web.yml", "basic_auth_users: {prom: plain}\n")
        server.process.send_signal(signal.SIGHUP)
        wait_for("the refusal", lambda: "bcrypt" in server.text_of_log())
        equal(server.get(headers=basic("prom", "secret")).status, 200)
        place.write("web.yml", "basic_auth_users:\n  prom: "
                    f"{hashed('new')}\n")
        server.process.send_signal(signal.SIGHUP)
        wait_for("the change", lambda: status_of(server, "new") == 200)
        equal(server.get(headers=basic("prom", "secret")).status, 401)


@case("TLS, certificates of clients, versions")
def tls(place):
    certificates(place.folder)
    text = ("tls_server_config:\n  cert_file: localhost.crt\n"
            "  key_file: localhost.key\n")
    config = place.write("web.yml", text)
    with Exporter(place.folder, place.capture("two"), "--web-config", config,
                  tls=client_tls(place.folder)) as server:
        true("eadm_devices 2\n" in server.get().text, "metrics")
        old = client_tls(place.folder)
        old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        server.tls = old
        try:
            server.get()
            raise AssertionError("TLS 1.1 was spoken")
        except (ssl.SSLError, ConnectionError):
            pass
        server.tls = None
        try:
            server.get()
            raise AssertionError("HTTP was spoken")
        except (http.client.HTTPException, ConnectionError):
            pass
    config = place.write("web.yml", text + "  client_ca_file: ca.crt\n"
                         "  client_auth_type: RequireAndVerifyClientCert\n")
    with Exporter(place.folder, place.capture("two"), "--web-config", config,
                  tls=client_tls(place.folder, "client")) as server:
        equal(server.get().status, 200)
        server.tls = client_tls(place.folder)
        equal(server.get().status, 403, "without a certificate")
        server.tls = client_tls(place.folder, "other")
        equal(server.get().status, 403, "with that of a server")


@case("a web configuration that cannot be kept to is refused")
def bad_configs(place):
    certificates(place.folder)
    pair = "cert_file: localhost.crt, key_file: localhost.key"
    place.write("empty.crt", "")
    for text, why in {
        "a: [": "line",
        "unknown: {}": "unknown: not supported",
        "[]": "expected a mapping",
        "basic_auth_users: {a: secret}": "bcrypt",
        "tls_server_config: {cert_file: localhost.crt}": "together",
        "tls_server_config: {cert_file: none, key_file: none}": "No such file",
        "tls_server_config: {cert_file: empty.crt, key_file: none}": "PEM",
        "tls_server_config: {cert_file: localhost.crt, key_file: client.key}":
            "",
        f"tls_server_config: {{{pair}, cipher_suites: [x]}}": "not supported",
        f"tls_server_config: {{{pair}, min_version: SSL3}}": "not a TLS version",
        f"tls_server_config: {{{pair}, min_version: TLS13, max_version: TLS12}}":
            "above",
        f"tls_server_config: {{{pair}, client_auth_type: "
        "RequireAndVerifyClientCert}": "client_ca_file",
        f"tls_server_config: {{{pair}, client_auth_type: RequireAnyClientCert}}":
            "not supported",
        "http_server_config: {headers: {Set-Cookie: x}}": "this header cannot be set",
        'http_server_config: {headers: {X-Frame-Options: "a\\nb"}}': "control",
    }.items():
        config = place.write("web.yml", text)
        done = eadm("--from", place.capture("two"), "exporter", "--listen",
                    "127.0.0.1:0", "--web-config", config)
        true(done.returncode == 1 and why in done.stderr,
             f"{text}: {done.returncode} {done.stderr}")


@case("1,000 slow clients are bounded and disturb nobody", timed=True)
def slow_clients(place):
    with Exporter(place.folder, place.capture("two")) as server:
        socks = []
        for number in range(1000):
            sock = socket.create_connection(("127.0.0.1", server.port))
            if number % 2:
                sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX")
            else:
                # Ask again and again, and read nothing.
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 5)
            socks.append(sock)
            if number % 100 == 99:
                begin = time.monotonic()
                server.metrics()
                took = time.monotonic() - begin
                true(took < 3, f"a scrape with {number + 1} others: {took} s")
        # Those that came last are spared for a moment.
        wait_for("few connections",
                 lambda: server.metrics()["eadm_exporter_connections"] <= 160)
        got = server.metrics()
        true(got["eadm_exporter_connections_evicted_total"] > 500,
             got["eadm_exporter_connections_evicted_total"])
        rss = int(server.status("VmHWM"))
        true(rss < 24 * 1024, f"{rss} KiB")
        wait_for("few descriptors", lambda: len(
            os.listdir(f"/proc/{server.process.pid}/fd")) < 350)
        for sock in socks:
            sock.close()
        wait_for("their end", lambda: server.metrics()[
            "eadm_exporter_connections"] < 5)


@case("clients that read slowly do not make the server keep the metrics of many scrapes")
def slow_readers(place):
    with Exporter(place.folder, place.capture("many"), "--objects", "qp", "--max-series",
                  "200000") as server:
        size = len(server.get().data)
        socks = []
        for _ in range(20):
            sock = socket.socket()
            sock.settimeout(LIMIT)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(("127.0.0.1", server.port))
            sock.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            # The next client gets the metrics of another scrape.
            sock.recv(1, socket.MSG_PEEK)
            socks.append(sock)
        rss = int(server.status("VmHWM"))
        unsent = max(n for state, n, _ in server.sockets() if state == "01")
        got = []
        for sock in socks:
            with sock, sock.makefile("rb") as file:
                try:
                    got.append(len(file.read()))
                except ConnectionError:
                    got.append(0)
        print(f"# {size} bytes, {rss} KiB resident", got)
        true(rss * 1024 < 16 * size, f"{rss} KiB")
        true(0 < unsent < 300_000, f"{unsent} bytes in a send buffer")
        true(all(n > size - 100 for n in got[-4:]), got)
        true(all(n < size for n in got[:4]), got)


@case("the process started before it was asked")
def start_time(place):
    before = time.time()
    with Exporter(place.folder, place.capture("two")) as server:
        after = time.time()
        started = server.metrics()["process_start_time_seconds"]
    true(before < started < after, (before, started, after))


@case("all threads are in the sandbox; it takes 8 MiB at most")
def sandbox(place):
    with Exporter(place.folder, place.capture("two")) as server:
        for _ in range(50):
            server.metrics()
        tasks = [os.path.basename(t)
                 for t in glob.glob(f"/proc/{server.process.pid}/task/*")]
        true(len(tasks) >= 4, tasks)
        for task in tasks:
            equal(server.status("Seccomp", task), "2")
            equal(server.status("NoNewPrivs", task), "1")
        rss = int(server.status("VmRSS"))
        print(f"# {rss} KiB resident, "
              f"{server.metrics()['process_cpu_seconds_total'] / 51 * 1000:.2f}"
              " ms CPU a scrape")
        true(rss <= 8192, f"{rss} KiB")
    with Exporter(place.folder, place.capture("two"),
                  "--no-seccomp") as server:
        equal(server.status("Seccomp"), "0")


@case("an address without a host accepts IPv4 and, if available, IPv6")
def all_addresses(place):
    with open("/proc/net/if_inet6", encoding="ascii") as file:
        local = ["::1"] if re.search("^0{31}1 ", file.read(), re.M) else []
    for kind, hosts in (("ipv4", ["127.0.0.1"]), ("ipv6", ["127.0.0.1", *local])):
        env = {"LD_PRELOAD": f"{REPO}/build/tests/exporter/sockets.so", "SOCKETS": kind}
        with Exporter(place.folder, place.capture("two"), listen=":0", env=env) as server:
            equal(len(server.addresses), 1, kind)
            for host in hosts:
                connection = http.client.HTTPConnection(host, server.port, timeout=LIMIT)
                equal(server.get("/healthz", connection=connection).status, 200, (kind, host))


@case("the sandbox allows all system calls for a capture, a bundle and a peer")
def system_calls(place):
    env = {"LD_PRELOAD": f"{REPO}/build/tests/exporter/strict.so"}
    capture, bundle = place.capture("two"), f"{place.folder}/two.tar.zst"
    control = f"{place.folder}/control"
    done = eadm("--from", capture, "bundle", "create", "-o", bundle)
    equal(done.returncode, 0, done.stderr)
    peer = subprocess.Popen([f"{REPO}/build/pvrdma/eadm-pvrdma", "--control", control,
                             f"{place.folder}/socket"], stderr=subprocess.DEVNULL)
    try:
        wait_for("the peer", lambda: os.path.exists(control))
        for source, devices in ((["--from", capture], 2), (["--from", bundle], 2),
                                (["--peer", control], 1)):
            with Exporter(place.folder, None, "--max-connections", "2",
                          command=[EADM, *source], env=env) as server:
                equal(server.metrics()["eadm_devices"], devices, source)
                # The server examines an idle connection before it closes it.
                socks = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(4)]
                wait_for("an eviction", lambda: server.metrics() and
                         select.select(socks, [], [], 0)[0])
                for sock in socks:
                    sock.close()
                equal(server.stop(), 0, server.text_of_log())
    finally:
        peer.terminate()
        peer.wait()


@case("wrong options are told")
def wrong_options(place):
    capture = place.capture("two")
    for args, status, why in (
            (["--listen", "nonsense"], 2, "not an address"),
            (["--listen", "127.0.0.1:x"], 2, "127.0.0.1:x"),
            (["--listen", ","], 2, "no address"),
            (["--listen", "unix:"], 2, "the path must be"),
            (["--listen", "192.0.2.1:1"], 1, "192.0.2.1:1"),
            (["--objects", "qp,eq"], 2, "eq"),
            (["--objects", "nothing"], 2, "nothing"),
            (["--max-series", "1"], 2, "from 10"),
            (["--max-connections", "0"], 2, "from 1"),
            (["--device-timeout", "5m"], 2, "60s"),
            (["--web-config", "/nonexistent"], 1, "No such file"),
            (["--at", "#2"], 3, "the capture has 1 snapshot"),
            (["--save", "x"], 2, "cannot be used with exporter"),
            (["--once", "--listen", ":0"], 2, "--listen: cannot be used with --once"),
            (["--once", "--web-config", "/x"], 2, "--web-config: cannot be used with --once"),
            (["--once", "--max-connections", "9"], 2,
             "--max-connections: cannot be used with --once"),
            (["--textfile", "/nonexistent/x", "--no-seccomp"], 2,
             "--no-seccomp: cannot be used with --textfile"),
            (["--once", "--textfile", "-"], 2, "--once: cannot be used with --textfile"),
            (["--once", "--collectors", ","], 2, "--collectors: no name"),
            (["--once", "--objects", ",,"], 2, "--objects: no name"),
            (["--once", "--collectors", "dev,diagnose", "--diagnose-interval", "0"], 2,
             "--diagnose-interval: 0 cannot be used with --collectors diagnose"),
            (["-d", "cloud_9", "--once"], 3,
             "cloud_9: no such RDMA device (did you mean 'cloud_0'?)"),
            (["-d", "cloud_9", "--textfile", "/nonexistent/x"], 3, "no such RDMA"),
            (["--unknown"], 2, "unknown option"),
            (["word"], 2, "unexpected argument")):
        done = eadm("--from", capture, "exporter", *args)
        true(done.returncode == status and why in done.stderr,
             f"{args}: {done.returncode} {done.stderr}")
    done = eadm("--from", capture, "exporter", "--once", "--json")
    true(done.returncode == 2 and "cannot be used with exporter" in done.stdout, done)
    pipe = f"{place.folder}/pipe"
    os.mkfifo(pipe)
    for source in ("-", pipe, "/dev/zero"):
        for args in (["--once"], ["--listen", "127.0.0.1:0"]):
            done = eadm("--from", source, "exporter", *args)
            true(done.returncode == 2 and "requires a regular file" in done.stderr, done)
    done = eadm("--from", "/nonexistent", "exporter", "--once")
    true(done.returncode == 1 and "No such file" in done.stderr, done.stderr)
    true("--listen" in eadm("help", "exporter").stdout, "help")
