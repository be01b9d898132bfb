# SPDX-License-Identifier: GPL-2.0-or-later
"""The text file, and what is shipped beside the program."""

import filecmp
import os
import re
import shutil
import stat
import subprocess
import threading
import time

import yaml

from server import BUILD, EADM, NOBODY, REPO, eadm, for_everybody
from tap import case, equal, true

LAST = 'eadm_port_qp_creates_total{device="cloud_1",port="1"} 3\n'


@case("--textfile replaces the file in one step")
def textfile(place):
    path = f"{place.folder}/eadm.prom"
    # A device that is late on a busy machine would be left out, and be no half file.
    args = ["--from", place.capture("two"), "exporter", "--textfile", path,
            "--device-timeout", "60s"]
    equal(eadm(*args).returncode, 0)
    equal(stat.S_IMODE(os.stat(path).st_mode), 0o644)
    halves, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            with open(path, encoding="utf-8") as file:
                if not file.read().endswith(LAST):
                    halves.append(1)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(60):
            process = subprocess.Popen([EADM, *args])
            if number % 2:
                # Killed somewhere on its way.
                time.sleep(number / 4000)
                process.kill()
            process.wait()
    finally:
        stop.set()
        reader.join()
    equal(halves, [], "half files")
    proms = [n for n in os.listdir(place.folder) if n.endswith(".prom")]
    equal(proms, ["eadm.prom"])


@case("--textfile writes the file that a link leads to, and the link stays")
def textfile_link(place):
    os.mkdir(f"{place.folder}/real")
    os.symlink("real/eadm.prom", f"{place.folder}/eadm.prom")
    with open(f"{place.folder}/real/eadm.prom", "w", encoding="utf-8") as file:
        file.write("old\n")
    done = eadm("--from", place.capture("two"), "exporter", "--textfile",
                f"{place.folder}/eadm.prom")
    equal(done.returncode, 0, done.stderr)
    equal(os.readlink(f"{place.folder}/eadm.prom"), "real/eadm.prom")
    equal(os.listdir(f"{place.folder}/real"), ["eadm.prom"])
    with open(f"{place.folder}/real/eadm.prom", encoding="utf-8") as file:
        true(file.read().endswith(LAST), "metrics")


@case("--textfile replaces neither pipes nor the capture that is read")
def textfile_targets(place):
    capture, path = place.capture("two"), f"{place.folder}/pipe"
    os.mkfifo(path)
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE, text=True) as reader:
        try:
            equal(eadm("--from", capture, "exporter", "--textfile", path).returncode, 0)
            true(stat.S_ISFIFO(os.stat(path).st_mode), "it is a pipe still")
            true(reader.stdout.read().endswith(LAST), "metrics")
        finally:
            reader.kill()
    copy = shutil.copy(capture, place.folder)
    done = eadm("--from", copy, "exporter", "--textfile", copy)
    equal((done.returncode, done.stderr),
          (2, f"eadm: exporter: {copy}: is the input file of --from\n"))
    true(filecmp.cmp(copy, capture, shallow=False), "the capture is as before")


@case("--textfile keeps mode and group of the caller's older file, and no other's")
def textfile_mode(place):
    path = place.write("eadm.prom", "old\n")
    args = ["--from", place.capture("two"), "exporter", "--textfile", path]
    owner, group = os.geteuid(), os.getegid()
    cases = [(owner, group, 0o600, 0o600), (owner, group, 0o640, 0o640),
             (owner, group, 0o777, 0o664)]
    if not owner:
        cases += [(owner, 65534, 0o640, 0o640), (65534, 65534, 0o600, 0o644)]
    for uid, gid, mode, want in cases:
        os.chown(path, uid, gid)
        os.chmod(path, mode)
        equal(eadm(*args).returncode, 0)
        st = os.stat(path)
        equal((st.st_uid, st.st_gid, stat.S_IMODE(st.st_mode)),
              (owner, gid if uid == owner else group, want), (uid, gid, mode))


@case("--textfile refuses the pipe of another user, and one that no process reads")
def textfile_pipe(place):
    path = f"{place.folder}/eadm.prom"
    os.mkfifo(path)
    args = ["--from", place.capture("two"), "exporter", "--textfile", path]
    if os.geteuid():
        print("# no other user: this requires root")
    else:
        os.chown(path, 65534, 65534)
        for mode in (0o1777, 0o777, 0o755):
            os.chmod(place.folder, mode)
            done = eadm(*args)
            equal((done.returncode, done.stderr),
                  (4, f"eadm: exporter: {path}: the pipe or device belongs to another user\n"))
        os.chown(path, 0, 0)
    done = eadm(*args)
    equal((done.returncode, done.stderr),
          (1, f"eadm: exporter: {path}: no reader on the pipe\n"))


@case("a text file that cannot be written leaves nothing behind")
def textfile_errors(place):
    done = eadm("--from", place.capture("two"), "exporter", "--textfile",
                f"{place.folder}/none/eadm.prom")
    true(done.returncode == 1 and "No such file" in done.stderr, done.stderr)
    os.mkdir(f"{place.folder}/eadm.prom")
    done = eadm("--from", place.capture("two"), "exporter", "--textfile",
                f"{place.folder}/eadm.prom")
    true(done.returncode == 1 and "directory" in done.stderr, done.stderr)
    equal(os.listdir(place.folder), ["eadm.prom"])
    with open("/dev/full", "wb") as full:
        done = subprocess.run([EADM, "--from", place.capture("two"),
                               "exporter", "--once"], stdout=full,
                              stderr=subprocess.PIPE, check=False)
    true(done.returncode == 1 and b"No space" in done.stderr, done.stderr)


@case("no other command loads the libraries of a web server")
def lean(_place):
    text = subprocess.run(["ldd", EADM], capture_output=True, text=True,
                          check=True).stdout
    for name in ("microhttpd", "gnutls", "yaml", "seccomp"):
        true(name not in text, name)


@case("without its program, the command says what a server is missing")
def without_program(place):
    shutil.copy(EADM, f"{place.folder}/eadm")
    installed = re.search(rb"\0(/[!-~]*/eadm)/eadm-exporter\0",
                          open(EADM, "rb").read())
    if installed and os.path.exists(installed[1] + b"/eadm-exporter"):
        return
    def lone(*args):
        return subprocess.run([f"{place.folder}/eadm", *args],
                              capture_output=True, text=True, check=False,
                              env={**os.environ,
                                   "LD_LIBRARY_PATH": f"{BUILD}/libeadm"})

    done = lone("--from", place.capture("two"), "exporter", "--once")
    equal(done.returncode, 0, done.stderr)
    true(done.stdout.endswith(LAST), "metrics")
    done = lone("exporter", "--listen", f"unix:{place.folder}/socket")
    equal(done.returncode, 5, done.stderr)
    true("eadm-exporter" in done.stderr, done.stderr)


@case("every option and port is in the manual page")
def manual(_place):
    with open(f"{REPO}/man/eadm-exporter.1.scd", encoding="utf-8") as file:
        page = file.read()
    text = eadm("help", "exporter").stdout
    own = text[text.index("\nOptions:"):text.index("\nGlobal options:")]
    for option in re.findall(r"--[a-z-]+", own):
        true(f"*{option}*" in page, option)
    for name in ("packaging/systemd/eadm-exporter.socket",
                 "packaging/kubernetes/eadm-exporter.yaml",
                 "man/eadm-exporter.1.scd"):
        with open(f"{REPO}/{name}", encoding="utf-8") as file:
            true("10707" in file.read(), name)


@case("systemd takes the unit and finds it hardened")
def unit(place):
    for name in ("service", "socket"):
        with open(f"{REPO}/packaging/systemd/eadm-exporter.{name}",
                  encoding="utf-8") as file:
            text = file.read()
        # The program and its page are not installed here.
        text = re.sub(r"/usr/bin/eadm", "/bin/true", text)
        text = re.sub(r"^Documentation=.*\n", "", text, flags=re.M)
        place.write(f"eadm-exporter.{name}", text)
    done = subprocess.run(
        ["systemd-analyze", "verify", f"{place.folder}/eadm-exporter.service",
         f"{place.folder}/eadm-exporter.socket"],
        capture_output=True, text=True, check=False)
    equal((done.returncode, done.stderr), (0, ""))
    subprocess.run(["systemd-analyze", "security", "--offline=true",
                    "--threshold=20", f"{place.folder}/eadm-exporter.service"],
                   capture_output=True, check=True)


@case("the DaemonSet takes no right and serves the port")
def daemonset(_place):
    with open(f"{REPO}/packaging/kubernetes/eadm-exporter.yaml",
              encoding="utf-8") as file:
        spec = yaml.safe_load(file)["spec"]["template"]["spec"]
    container = spec["containers"][0]
    equal(container["securityContext"]["capabilities"], {"drop": ["ALL"]})
    true(spec["securityContext"]["runAsNonRoot"], "runs as root")
    equal(container["ports"][0]["containerPort"], 10707)
    # The command is the image's (packaging/container).
    equal(container["image"].split(":")[0], "eadm-exporter")
    for word in container["args"]:
        if word.startswith("--"):
            true(word in eadm("help", "exporter").stdout, word)


@case("metrics take neither root nor a capability")
def unprivileged(place):
    drop = [] if os.geteuid() else NOBODY
    # The captures lie in a folder of the user that runs this.
    os.chmod(os.path.dirname(place.captures), 0o755)
    done = subprocess.run(
        [*drop, for_everybody(place.folder), "--from", place.capture("two"), "exporter", "--once"],
        capture_output=True, text=True, check=False)
    equal(done.returncode, 0, done.stderr)
    true(done.stdout.endswith(LAST), "metrics")
