# SPDX-License-Identifier: GPL-2.0-or-later
"""The exporter under test, and ways to talk to it."""

import http.client
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time

REPO = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
BUILD = f"{REPO}/build"
EADM = f"{BUILD}/eadm/eadm"
# Factor for all limits, on machines that are slow.
PATIENCE = int(os.environ.get("EADM_PATIENCE", 1))
# Seconds for whatever has to happen sooner or later.
LIMIT = 60 * PATIENCE
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
          "--bounding-set=-all", "--no-new-privs"]
PROGRAMS = ["eadm/eadm", "eadm/exporter/eadm-exporter", "libeadm/libeadm.so.0"]


def wait_for(what, condition, limit=60):
    """The first true value of condition(), within the limit, in seconds times the patience."""
    limit *= PATIENCE
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {limit} s")
        time.sleep(0.02)


def for_everybody(folder):
    """The tool where nobody may run it: this tree may be root's alone."""
    for name in PROGRAMS:
        os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
        shutil.copy(f"{BUILD}/{name}", f"{folder}/{name}")
    return f"{folder}/{PROGRAMS[0]}"


def eadm(*args, **kwargs):
    return subprocess.run([EADM, *args], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT,
                          check=False, **kwargs)


def patient(args):
    """The options of an exporter, with a limit for devices that no capture
    reaches on a busy machine, unless they have one."""
    return args if "--device-timeout" in args else ("--device-timeout", "60s", *args)


def once(capture, *args):
    """The metrics of a capture, by --once."""
    done = eadm("--from", capture, "exporter", "--once", *patient(args))
    if done.returncode not in (0, 6):
        raise AssertionError(f"--once: {done.returncode}: {done.stderr}")
    return done.stdout


def values(text):
    """Samples by name with labels; times of the exporter itself as well."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            found[name] = float(value)
    return found


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = dict(response.getheaders())
        self.data = response.read()

    @property
    def text(self):
        return self.data.decode()


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=LIMIT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Exporter:
    """A running exporter, of a capture or, with None, of this machine; ends
    with the block that it is made for."""

    def __init__(self, folder, capture, *args, env=None, listen="127.0.0.1:0",
                 command=None, tls=None, pass_fds=()):
        self.log = f"{folder}/log.{time.monotonic_ns()}"
        self.tls = tls
        command = command or [EADM]
        listen = ["--listen", listen] if listen else []
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*command, *(["--from", capture] if capture else []),
                 "exporter", *listen, *patient(args)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **(env or {})}, pass_fds=pass_fds)
        self.addresses = wait_for("listening", self.listening)
        found = [re.search(r":(\d+)$", a) for a in self.addresses]
        self.port = next((int(f[1]) for f in found if f), None)

    def text_of_log(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def listening(self):
        if self.process.poll() is not None:
            raise AssertionError(f"ended: {self.text_of_log()}")
        return re.findall(r"listening on (\S+)\n", self.text_of_log())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT)

    def connection(self):
        if self.tls:
            return http.client.HTTPSConnection("localhost", self.port,
                                               timeout=LIMIT, context=self.tls)
        return http.client.HTTPConnection("127.0.0.1", self.port,
                                          timeout=LIMIT)

    def get(self, path="/metrics", headers=None, method="GET", body=None,
            connection=None):
        connection = connection or self.connection()
        try:
            connection.request(method, path, body=body, headers=headers or {})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def metrics(self, **kwargs):
        answer = self.get(**kwargs)
        if answer.status != 200:
            raise AssertionError(f"status {answer.status}: {answer.text}")
        return values(answer.text)

    def status(self, key, task=None):
        """A number or word of /proc/PID/status."""
        path = f"/proc/{self.process.pid}/"
        path += f"task/{task}/status" if task else "status"
        with open(path, encoding="utf-8") as file:
            return re.search(rf"^{key}:\s*(\S+)", file.read(), re.M)[1]

    def sockets(self):
        """State, bytes not sent and bytes not read of each socket, as the kernel has them."""
        with open("/proc/net/tcp", encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if words[1].endswith(f":{self.port:04X}"):
                    yield words[3], *(int(n, 16) for n in words[4].split(":"))


def certificates(folder):
    """A CA, a server's and a client's certificate, and one of no client."""
    def openssl(*args):
        subprocess.run(["openssl", *args], check=True, capture_output=True,
                       cwd=folder)
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.crt",
            "-subj", "/CN=test", "-days", "2",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    for name, purpose in (("localhost", "serverAuth"), ("client", "clientAuth"),
                          ("other", "serverAuth")):
        with open(f"{folder}/{name}.ext", "w", encoding="utf-8") as file:
            file.write(f"subjectAltName=DNS:{name},IP:127.0.0.1\n"
                       f"extendedKeyUsage={purpose}\n"
                       "authorityKeyIdentifier=keyid\n")
        openssl("req", *curve, "-keyout", f"{name}.key", "-out",
                f"{name}.csr", "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt",
                "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                "-extfile", f"{name}.ext", "-out", f"{name}.crt")


def client_tls(folder, certificate=None):
    context = ssl.create_default_context(cafile=f"{folder}/ca.crt")
    # The default since Python 3.13.
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    if certificate:
        context.load_cert_chain(f"{folder}/{certificate}.crt",
                                f"{folder}/{certificate}.key")
    return context
