# SPDX-License-Identifier: GPL-2.0-or-later
"""What must not stop the exporter: bad configurations, strangers, its end."""

import concurrent.futures
import contextlib
import http.client
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import time

from captures import one_process
from cases_http import basic
from passwords import SALT, hashed
from server import (EADM, LIMIT, REPO, Exporter, certificates, client_tls, eadm,
                    wait_for)
from tap import case, equal, true

# As slow as those that htpasswd makes.
SLOW = "$2b$10$abcdefghijklmnopqrst{}u"
TLS = "cert_file: localhost.crt, key_file: localhost.key"
CLIENTS = "client_auth_type: RequireAndVerifyClientCert, client_ca_file: "
HASH = "$2b$04$abcdefghijklmnopqrstuu" + 31 * "."
SCRAPE_LIMIT = 5


def user(password, salt=SALT):
    return f"basic_auth_users: {{prom: {hashed(password, salt)}}}\n"


def tls(more=""):
    return f"tls_server_config: {{{TLS}{', ' + more if more else ''}}}\n"


BAD = {
    "another key": "tls_server_config: {cert_file: localhost.crt, key_file: client.key}\n",
    "no such file": "tls_server_config: {cert_file: none.crt, key_file: none.key}\n",
    "a key that is none": "tls_server_config: {cert_file: localhost.crt, key_file: junk}\n",
    "a CA without a certificate": tls(CLIENTS + "junk"),
    "no YAML": "a: [\n",
    "binary": "\0\1\2",
    "a list": "[]\n",
    "a second document": "{}\n---\n" + user("other"),
    "an unknown key": user("other") + "more: {}\n",
    "a broken hash": f"basic_auth_users: {{prom: {HASH[:-1]}?}}\n",
    "a version that is none": tls("min_version: SSL3"),
}


@case("a bad configuration leaves the old one at work, a good one takes effect")
def bad_reload(place):
    certificates(place.folder)
    place.write("junk", "nothing\n")
    for text, context in (
            (user("old"), None),
            (user("old") + tls(), client_tls(place.folder)),
            (user("old") + tls(CLIENTS + "ca.crt"),
             client_tls(place.folder, "client"))):
        config = place.write("web.yml", text)
        with Exporter(place.folder, place.capture("two"), "--web-config",
                      config, tls=context) as server:
            def status(password, server=server):
                return server.get("/healthz",
                                  headers=basic("prom", password)).status
            def reload(text, server=server):
                before = server.text_of_log()
                place.write("web.yml", text)
                server.process.send_signal(signal.SIGHUP)
                wait_for("a line on it",
                         lambda: server.text_of_log()[len(before):].endswith("\n"))
                return server.text_of_log()[len(before):]
            for what, bad in BAD.items():
                said = reload(bad)
                true("web.yml: " in said, f"{what}: {said}")
                equal(status("old"), 200, what)
            os.unlink(config)
            server.process.send_signal(signal.SIGHUP)
            wait_for("a word on it", lambda: "No such file" in
                     server.text_of_log().splitlines()[-1])
            equal(status("old"), 200, "without a file")
            reload(text.replace(user("old"), user("new")))
            equal((status("new"), status("old")), (200, 401))
            equal(server.stop(), 0)


def hup(server, said):
    """Sends SIGHUP and waits for a line with these words that comes after."""
    before = len(server.text_of_log())
    server.process.send_signal(signal.SIGHUP)
    wait_for(said, lambda: said in server.text_of_log()[before:])


LOADED = "eadm_exporter_reload_success"


@case("only regular files are read, and no other one delays a reload")
def irregular(place):
    certificates(place.folder)
    os.mkfifo(f"{place.folder}/fifo")
    for name in ("fifo", "/dev/zero", "/dev/tty", "."):
        path = os.path.join(place.folder, name)
        done = eadm("--from", place.capture("two"), "exporter", "--listen", "127.0.0.1:0",
                    "--web-config", path)
        equal((done.returncode, done.stderr),
              (1, f"eadm: exporter: {path}: not a regular file\n"))
        refused(place, tls(CLIENTS + name), "line 1: ", "not a regular file")
    config = place.write("web.yml", user("old") + tls())
    with Exporter(place.folder, place.capture("two"), "--web-config", config,
                  tls=client_tls(place.folder)) as server:
        def got(password):
            return server.metrics(headers=basic("prom", password))
        equal(got("old")[LOADED], 1)
        threads = int(server.status("Threads"))
        for name in ("localhost.crt", "localhost.key"):
            place.write("web.yml", user("new") + tls().replace(name, "fifo"))
            hup(server, "fifo: not a regular file")
            equal(got("old")[LOADED], 0, name)
        os.rename(config, f"{place.folder}/aside")
        os.rename(f"{place.folder}/fifo", config)
        for _ in range(100):
            server.process.send_signal(signal.SIGHUP)
        hup(server, "web.yml: not a regular file")
        equal(got("old")[LOADED], 0, "the file itself")
        true(int(server.status("Threads")) <= threads + 1, server.status("Threads"))
        place.write("aside", user("new") + tls())
        os.rename(f"{place.folder}/aside", config)
        hup(server, "reloaded the web configuration")
        equal(got("new")[LOADED], 1)


@case("a file that cannot be read for a while: a message, one thread, then the last SIGHUP counts")
def slow_reload(place):
    certificates(place.folder)
    stop = f"{place.folder}/stop"
    os.mkfifo(stop)
    slow = shutil.copy(f"{place.folder}/localhost.crt", f"{place.folder}/slow.crt")
    env = {"LD_PRELOAD": f"{REPO}/build/tests/exporter/hang.so", "HANG_FILE": stop,
           "HANG_OPEN": slow}
    config = place.write("web.yml", user("old") + tls())
    with Exporter(place.folder, place.capture("two"), "--web-config", config, env=env,
                  tls=client_tls(place.folder)) as server:
        def got(password):
            return server.metrics(headers=basic("prom", password))
        got("old")
        threads = int(server.status("Threads"))
        place.write("web.yml", user("hung") + tls().replace("localhost.crt", "slow.crt"))
        hup(server, "web.yml: not loaded within 5 s of SIGHUP")
        equal(got("old")[LOADED], 0)
        place.write("web.yml", user("new") + tls())
        hup(server, "will be reloaded afterwards")
        for _ in range(100):
            server.process.send_signal(signal.SIGHUP)
            equal(server.get("/healthz", headers=basic("prom", "old")).status, 200)
        true(int(server.status("Threads")) <= threads + 1, server.status("Threads"))
        equal(server.text_of_log().count("will be reloaded afterwards"), 1)
        # The file server is back.
        with open(stop, "wb"):
            pass
        wait_for("the last configuration", lambda: server.get(
            "/healthz", headers=basic("prom", "new")).status == 200)
        wait_for("the metric", lambda: got("new")[LOADED] == 1)


@case("a reload leaves no request without its answer")
def reload_under_load(place):
    config = place.write("web.yml", user("x"))
    with Exporter(place.folder, place.capture("two"), "--web-config",
                  config) as server, \
            concurrent.futures.ThreadPoolExecutor(4) as pool:
        done = []
        def ask():
            while len(done) < 10:
                equal(server.get(headers=basic("prom", "x")).status, 200)
        askers = [pool.submit(ask) for _ in range(4)]
        try:
            for number in range(10):
                server.process.send_signal(signal.SIGHUP)
                wait_for("the reload", lambda n=number: server.text_of_log()
                         .count("reloaded the web configuration") > n)
                done.append(number)
        finally:
            done += range(10)
        for asker in askers:
            asker.result()


def refused(place, text, *why):
    config = place.write("web.yml", text)
    done = eadm("--from", place.capture("two"), "exporter", "--listen",
                "127.0.0.1:0", "--web-config", config)
    true(done.returncode == 1 and all(w in done.stderr for w in why),
         f"{text}: {done.returncode} {done.stderr}")


@case("a CA file without a certificate is refused")
def empty_ca(place):
    certificates(place.folder)
    place.write("junk", "nothing\n")
    for name in ("ca.key", "junk"):
        refused(place, tls(CLIENTS + name), "client_ca_file")


@case("a hash that bcrypt cannot have made is refused")
def broken_hashes(place):
    good = hashed("x")
    for bad in (good[:-1], good + ".", good[:-1] + "?", good[:10] + "?" + good[11:],
                good.replace("$04$", "$03$"), good.replace("$04$", "$32$"),
                good.replace("$04$", "$xx$"), good.replace("$2b", "$2q"),
                good[:28] + "v" + good[29:], good[:-1] + "/", "$2b$04$",
                "$6$salt$" + 52 * "a"):
        refused(place, f"basic_auth_users: {{prom: '{bad}'}}\n", "prom", "hash")
    refused(place, f"basic_auth_users: {{prom: '{good.replace('$04$', '$16$')}'}}\n",
            "prom", "cost of 16")
    refused(place, f"basic_auth_users: {{prom: '{good}', prom: '{good}'}}\n",
            "prom", "twice")


@case("a second document is refused")
def second_document(place):
    for text in ("---\n{}\n---\n" + user("x"), user("x") + "---\n{}\n",
                 "{}\n--- [\n"):
        refused(place, text, "line")


@case("a port is one, or is refused")
def ports(place):
    for port in ("65536", "99999", "-1", "4294967296", "1x"):
        done = subprocess.run(
            [EADM, "--from", place.capture("two"), "exporter",
             "--listen", f"127.0.0.1:{port}"], capture_output=True, text=True,
            check=False, timeout=LIMIT)
        true(done.returncode == 2 and "port" in done.stderr,
             f"{port}: {done.returncode} {done.stderr}")


@case("with few descriptors fewer clients are served, and served they are")
def descriptors(place):
    def limit(number):
        return ["prlimit", f"--nofile={number}:{number}", EADM]
    with Exporter(place.folder, place.capture("two"), command=limit(200),
                  ) as server, contextlib.ExitStack() as stack:
        for _ in range(400):
            stack.enter_context(socket.create_connection(
                ("127.0.0.1", server.port), LIMIT))
        equal(server.get().status, 200)
        true("ulimit -n" in server.text_of_log(), server.text_of_log())
    done = subprocess.run([*limit(60), "--from", place.capture("two"), "exporter",
                           "--listen", "127.0.0.1:0"], capture_output=True,
                          text=True, check=False, timeout=LIMIT)
    true(done.returncode == 1 and "ulimit -n" in done.stderr, done.stderr)
    # Few clients take few.
    with Exporter(place.folder, place.capture("two"), "--max-connections", "4",
                  command=limit(128)) as server, contextlib.ExitStack() as stack:
        true("ulimit" not in server.text_of_log(), server.text_of_log())
        for _ in range(400):
            stack.enter_context(socket.create_connection(
                ("127.0.0.1", server.port), LIMIT))
        equal(server.get().status, 200)
    # The soft limit alone is no limit.
    soft = ["prlimit", "--nofile=256:4096", EADM]
    with Exporter(place.folder, place.capture("two"), command=soft) as server:
        true("ulimit" not in server.text_of_log(), server.text_of_log())


@case("targets of requests as RFC 9112 has them; versions of formats")
def targets(place):
    with Exporter(place.folder, place.capture("two")) as server:
        def status(target):
            with socket.create_connection(("127.0.0.1", server.port),
                                          LIMIT) as sock:
                sock.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\n"
                             "Connection: close\r\n\r\n".encode())
                return int(sock.makefile("rb").readline().split()[1])
        for target, want in {
                "http://x/metrics": 200, "HTTP://x:1/metrics?a=b": 200,
                "https://x/healthz": 200, "http://x": 200,
                "http://x/nothing": 404, "/metrics?a=%00": 200,
                "/%6detrics": 200, "/metrics%00x": 404, "/metrics%00": 404,
                "/metrics%": 404, "x/metrics": 404}.items():
            equal(status(target), want, target)
        om, text = "application/openmetrics-text", "text/plain"
        for accept, want in {
                f"{om};version=2.0.0": text, f"{om}; version=1.0.0": om,
                om: om, f"{om};version=2.0.0,{om};version=1.0.0;q=0.5": om,
                f"{om};version=2.0.0, text/plain;version=0.0.4;q=0.3": text,
                f"{text};version=1.0.0;q=0.9,{om};version=1.0.0;q=0.2": om,
                }.items():
            got = server.get(headers={"Accept": accept}).headers
            equal(got["Content-Type"].split(";")[0], want, accept)


@case("a terminal gets no control characters, a reader all of them")
def terminal(place):
    name = "a\x1b[31mb\x9bc"
    capture = f"{place.folder}/escape.pcapng"
    one_process(capture, name)
    args = [EADM, "--from", capture, "exporter", "--once", "--processes"]
    piped = subprocess.run(args, capture_output=True, check=True).stdout
    true(f'"{name}"'.encode() in piped, "the reader's label")
    main, terminal_end = pty.openpty()
    with subprocess.Popen(args, stdout=terminal_end) as process:
        os.close(terminal_end)
        shown = b""
        # The end of a terminal is an error.
        with contextlib.suppress(OSError):
            while data := os.read(main, 65536):
                shown += data
    equal(process.returncode, 0)
    os.close(main)
    true(b"\x1b" not in shown and "\x9b".encode() not in shown, shown[-300:])
    true(b'"a?[31mb?c"' in shown, "the label is there")
    equal(shown.count(b"\n"), piped.count(b"\n"), "lines")


@contextlib.contextmanager
def strangers(server, *kinds):
    """Runs flood.py with these; from when all of them have asked."""
    with subprocess.Popen([sys.executable, "-B", f"{REPO}/tests/exporter/flood.py",
                           str(server.port), *kinds],
                          stdout=subprocess.PIPE) as process:
        try:
            equal(process.stdout.readline(), b"all\n")
            wait_for("all taken", lambda: not backlog(server))
            yield
        finally:
            process.kill()


def backlog(server):
    """Connections that the server has not taken."""
    return sum(unread for state, _, unread in server.sockets() if state == "0A")


def unread_bytes(server):
    return sum(unread for state, _, unread in server.sockets() if state == "01")


def scrape(server, password=None):
    """Status of a scrape on a connection of its own, or what went wrong."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port,
                                            timeout=SCRAPE_LIMIT)
    begin = time.monotonic()
    try:
        headers = basic("prom", password) if password else {}
        answer = server.get(headers=headers, connection=connection)
        took = time.monotonic() - begin
        return answer.status if took < SCRAPE_LIMIT else f"took {took} s"
    except (OSError, http.client.HTTPException) as error:
        return repr(error)


def end_in_time(server):
    begin = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    equal(server.process.wait(60), 0)
    took = time.monotonic() - begin
    true(took < 2, f"the end took {took} s")


@case("floods of wrong passwords and unread requests keep no scraper out", timed=True)
def flood(place):
    config = place.write("web.yml", user("first", SLOW.format("a")))
    with Exporter(place.folder, place.capture("two"), "--web-config",
                  config) as server, \
            strangers(server, "wrong:300", "pipeline:200", "others:100"):
        # Nobody is known yet; and again with another password, and another salt.
        for number, (password, salt) in enumerate((
                ("first", "a"), ("first", "a"), ("second", "a"), ("second", "b"))):
            if number:
                place.write("web.yml", user(password, SLOW.format(salt)))
                server.process.send_signal(signal.SIGHUP)
                wait_for("the reload", lambda n=number: server.text_of_log()
                         .count("reloaded the web configuration") == n)
            for n in range(15):
                equal(scrape(server, password), 200, f"scrape {n} after {number}")
        true(int(server.status("VmHWM")) < 32 * 1024, server.status("VmHWM"))
        end_in_time(server)


@case("clients that read nothing keep no scraper out", timed=True)
def unread(place):
    with Exporter(place.folder, place.capture("two")) as server, \
            strangers(server, "pipeline:200", "idle:200"):
        for n in range(30):
            equal(scrape(server), 200, f"scrape {n}")
            equal(server.get("/healthz").status, 200)
        end_in_time(server)


@case("200 scrapes at once are answered while devices hang, and so is who comes then", timed=True)
def many_while_hanging(place):
    stop = f"{place.folder}/hang"
    os.mkfifo(stop)
    for env in ({"HANG_DEVICE": "cloud_1"}, {"HANG_ALL": "1"}):
        env = {"LD_PRELOAD": f"{REPO}/build/tests/exporter/hang.so",
               "HANG_FILE": stop, **env}
        with Exporter(place.folder, place.capture("two"), "--device-timeout",
                      "1s", env=env) as server, \
                concurrent.futures.ThreadPoolExecutor(200) as pool:
            answers = [pool.submit(scrape, server) for _ in range(200)]
            equal(server.get("/healthz").text, "ok\n")
            equal([a.result() for a in answers], 200 * [200])
            end_in_time(server)


@case("it ends within two seconds, whatever it is doing", timed=True)
def prompt_end(place):
    stop = f"{place.folder}/hang"
    os.mkfifo(stop)
    env = {"LD_PRELOAD": f"{REPO}/build/tests/exporter/hang.so",
           "HANG_FILE": stop, "HANG_ALL": "1"}
    slow = SLOW.format("a").replace("$10$", "$15$")
    hash_of = slow + 31 * "."
    config = place.write("web.yml", f"basic_auth_users: {{prom: '{hash_of}'}}\n")
    env["HANG_OPEN"] = f"{place.folder}/slow.crt"
    place.write("slow.crt", "")
    for args, headers in ((["--device-timeout", "60s"], ""),
                          (["--web-config", config],
                           "Authorization: Basic cHJvbTp4\r\n")):
        with Exporter(place.folder, place.capture("two"), *args, env=env) as server:
            socks = [socket.create_connection(("127.0.0.1", server.port))
                     for _ in range(20)]
            for sock in socks:
                sock.sendall(f"GET /metrics HTTP/1.1\r\nHost: x\r\n{headers}\r\n"
                             .encode())
            # All requests are taken when those that came later are.
            wait_for("the requests", lambda: not backlog(server) and
                     not unread_bytes(server))
            if headers:
                # A configuration that takes for ever to read.
                place.write("web.yml", tls().replace("localhost.crt", "slow.crt"))
                server.process.send_signal(signal.SIGHUP)
            end_in_time(server)
            for sock in socks:
                sock.close()
