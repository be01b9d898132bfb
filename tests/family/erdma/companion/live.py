# SPDX-License-Identifier: GPL-2.0-or-later
"""The companion with the real driver on virtual adapters."""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import select
import struct
import subprocess
import threading
import time

from harness import HERE, Skip, command, reader, same, test, wait_until
from node import LIBC, Node, ioctl
from rawnl import CMDS, VALUES, Client, encode
from rights import NOBODY, capable

HOLD = os.path.realpath(f"{HERE}/../../../build/tests/lib/src/hold")
REGS = 0xEA04
INSIDE = ("unshare", "-pf", "--mount-proc")


class Holder:
    """Verbs objects in another process."""

    def __init__(self, *args, through=()):
        # The device may be new: its node comes a moment later.
        for _ in range(100):
            # Ended through its input.
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                [*through, HOLD, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            if self.process.stdout.readline() == b"ready\n":
                return
            self.process.wait()
            time.sleep(0.1)
        raise AssertionError("no verbs objects")

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)


def rdma_rows(through, kind, key):
    done = command(*through, "rdma", "-j", "resource", "show", kind)
    rows = json.loads(done.stdout or "[]")
    return {(r["ifname"], r[key], r.get("pid"), r.get("comm")) for r in rows if key in r}


def our_rows(through, obj, key):
    out = reader("dump", obj, through=through)
    same(out["error"], 0)
    # RDMA netlink writes the kernel's consumers in brackets as well.
    return {(r["dev-name"], r[key], r.get("pid"), r.get("comm"))
            for r in out["rows"] if "res-id" in r}


@test("every reader sees the objects that RDMA netlink shows it")
def as_rdma_netlink():
    with Holder("-q", "3", "-c", "2", "-m", "2"), \
         Holder("-d", "erdma_1", "-q", "2", through=INSIDE), \
         Holder("-q", "2", through=("setpriv", "--reuid", "1000", "--clear-groups")):
        for through in (), NOBODY, capable("net_admin"), INSIDE, (*NOBODY, "unshare", "-Ur"):
            for kind, obj, rdma_key, our_key in (("qp", "qp", "lqpn", "qpn"),
                                                 ("cq", "cq", "cqn", "res-id"),
                                                 ("mr", "mr", "mrn", "res-id"),
                                                 ("pd", "pd", "pdn", "res-id"),
                                                 ("ctx", "ctx", "ctxn", "res-id")):
                theirs = rdma_rows(through, kind, rdma_key)
                same(our_rows(through, obj, our_key), theirs, f"{kind} through {through}")
        same(len(our_rows((), "qp", "qpn")), 7)
        same([r for r in our_rows(INSIDE, "qp", "qpn") if r[2]], [], "processes named inside")
    wait_until(lambda: not Client().dump("qp").rows)


@test("a record of the past names its process where it is known")
def requester():
    script = f"{HOLD} -q 1 -- /usr/bin/python3 {HERE}/rawnl.py dump cmd"
    rows = json.loads(command(*INSIDE, "bash", "-c", script).stdout)["rows"]
    mine = [r for r in rows if r.get("comm") == "hold"]
    same(bool(mine), True, "commands of hold")
    # The shell made way for it.
    same({r["pid"] for r in mine}, {1})
    # The processes outside are not known in there.
    same([r for r in rows if "pid" in r and r["pid"] != 1], [])
    # From outside, the same one has another number.
    outside = [r["pid"] for r in Client().dump("cmd").rows if r.get("comm") == "hold"]
    same(1 in outside, False)


@test("the stream of records is that of the dump")
def stream():
    with Node() as node:
        node.trace()
        with Holder("-q", "20"):
            pass
        streamed = {r["seq"]: r for r in node.records()}
    rows = Client().dump("cmd", dev_name="erdma_0").rows
    same(streamed, {r["seq"]: r for r in rows})


@test("commands picked by state and latency are those of the whole recorder")
def picked():
    with Holder("-q", "200"):
        pass
    rows = Client().dump("cmd", dev_name="erdma_0").rows
    latency = sorted(r["latency"] for r in rows if "latency" in r)[-10]
    done = VALUES["cmd-state"]["done"]
    same(Client().dump("cmd", dev_name="erdma_0", min_latency=latency).rows,
         [r for r in rows if r.get("latency", -1) >= latency])
    same(Client().dump("cmd", dev_name="erdma_0", states=1 << done, min_latency=latency).rows,
         [r for r in rows if r["state"] == done and r["latency"] >= latency])
    same(Client().dump("cmd", dev_name="erdma_0", states=~(1 << done) & 0xffffffff).rows,
         [r for r in rows if r["state"] != done])


def adapter(name):
    return os.path.realpath(f"/sys/class/infiniband/{name}/device")


def bind(how, pci):
    with open(f"/sys/bus/pci/drivers/erdma/{how}", "w", encoding="ascii") as file:
        file.write(pci)


@test("driver unbound under a half-read dump, an open node and a blocked reader")
def unbind():
    path = adapter("erdma_0")
    pci = os.path.basename(path)
    with Holder("-q", "300") as holder, Node(os.O_RDONLY) as node:
        client = Client(4096)
        client.ask(CMDS["qp"], encode("qp", {"dev-name": "erdma_0"}), dump=True)
        first = list(client.receive_some())
        node.trace(1)
        got = []

        def read():
            try:
                os.read(node.fd, 4096)
                got.append(0)
            except OSError as error:
                got.append(error.errno)
        thread = threading.Thread(target=lambda: [read() for _ in range(1000) if not got or
                                                  got[-1] != errno.ENODEV])
        thread.start()
        bind("unbind", pci)
        thread.join(60)
        same(got[-1], errno.ENODEV, "the blocked reader")
        out = client.outcome("qp", first + list(client.receive()))
        same((out.error, out.intr), (0, True))
        same(Client().do("dev", dev_name="erdma_0").error, -errno.ENODEV)
        holder.stdin.close()
        holder.wait(60)
    bind("bind", pci)
    wait_until(lambda: len(Client().dump("dev").rows) == 2)
    with Holder("-q", "2"):
        same(len(Client().dump("qp").rows), 2)


class MissingPage:
    """A page of memory that comes when this ends (userfaultfd)."""

    SYSCALL, API, REGISTER, MISSING = 323, 0xc018aa3f, 0xc020aa00, 1

    def __init__(self):
        self.fd = LIBC.syscall(self.SYSCALL, os.O_CLOEXEC | os.O_NONBLOCK)
        if self.fd < 0:
            raise Skip("no userfaultfd")
        self.memory = mmap.mmap(-1, 4096)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        fcntl.ioctl(self.fd, self.API, struct.pack("=QQQ", 0xaa, 0, 0))
        fcntl.ioctl(self.fd, self.REGISTER,
                    struct.pack("=QQQQ", self.address, 4096, self.MISSING, 0))

    def __enter__(self):
        return self

    def wait(self):
        """Until somebody waits for it."""
        same(select.select([self.fd], [], [], 60)[0], [self.fd], "the page is asked for")

    def come(self):
        os.close(self.fd)
        self.fd = None

    def __exit__(self, *_):
        if self.fd is not None:
            self.come()


@test("driver unbound while raw bytes go to a page that does not come")
def missing_page():
    pci = os.path.basename(adapter("erdma_0"))
    got = []
    with MissingPage() as page, Node() as node:
        regs = struct.pack("=IIQQ", 24, 16, page.address, 0)
        asks = threading.Thread(target=lambda: got.append(ioctl(node.fd, REGS, regs)[0]))
        asks.start()
        page.wait()
        unbinds = threading.Thread(target=bind, args=("unbind", pci))
        unbinds.start()
        try:
            wait_until(lambda: not unbinds.is_alive())
            same(got, [], "nobody got the bytes meanwhile")
        finally:
            page.come()
            asks.join(60)
            unbinds.join(60)
    same(got, [0], "the reader")
    bind("bind", pci)
    wait_until(lambda: len(Client().dump("dev").rows) == 2)


@test("ten removals under readers who ask the adapter")
def removal_storm():
    stop = threading.Event()
    faults = []

    def ask():
        while not stop.is_set():
            for obj in "qp", "cq", "eq", "cmdq", "counters":
                out = Client().dump(obj, query_hw=True)
                if out.error:
                    faults.append((obj, out.error, out.msg))
    readers = [threading.Thread(target=ask) for _ in range(2)]
    for thread in readers:
        thread.start()
    for _ in range(10):
        with Holder("-q", "20"):
            pci = os.path.basename(adapter("erdma_0"))
            bind("unbind", pci)
            bind("bind", pci)
        wait_until(lambda: len(Client().dump("dev").rows) == 2)
    stop.set()
    for thread in readers:
        thread.join(60)
    same(faults, [])


@test("companion unloaded and loaded under a working driver")
def reload():
    with Holder("-q", "5"):
        for _ in range(10):
            command("rmmod", "eadm")
            command("insmod", os.environ["EADM_KO"])
        same(len(Client().dump("qp").rows), 5)
