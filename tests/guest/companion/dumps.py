# SPDX-License-Identifier: GPL-2.0-or-later
"""Dumps: large, torn, and of devices that go away."""

import errno
import os
import socket
import threading
import time

from harness import command, knob, knob_value, reset, same, test, wait_until
from rawnl import CMDS, NLMSG_DONE, Client, encode

TYPE_MR, TYPE_QP = list(CMDS).index("mr"), list(CMDS).index("qp")


def begin(rows=2000, buffer=1 << 15):
    """A dump of QPs of which the first datagram was read."""
    knob("rows", rows)
    client = Client(buffer)
    client.ask(CMDS["qp"], dump=True)
    return client, list(client.receive_some())


def finish(client, first):
    return client.outcome("qp", first + list(client.receive()))


@test("20000 rows come complete, in order, once each, for any buffer")
def complete():
    reset()
    knob("rows", 20000)
    for buffer in 4096, 8192, 1 << 15, 1 << 18:
        client = Client(buffer)
        out = client.dump("qp")
        same([r["qpn"] for r in out.rows], list(range(1, 20001)), f"rows with {buffer}")
        same((out.error, out.intr), (0, False))
        if buffer >= 1 << 15 and client.messages > 20000 / 60:
            raise AssertionError(f"{client.messages} messages: the buffer is not used")


@test("100000 rows cost about as much each as 5000", timed=True)
def flat():
    reset()

    def cost(rows):
        knob("rows", rows)
        # Time of this process: others may have the processor, too.
        client, began = Client(1 << 15), time.process_time()
        client.ask(CMDS["qp"], dump=True)
        data = b""
        while int.from_bytes(data[4:6], "little") != NLMSG_DONE:
            data = client.sock.recv(1 << 15)
        return (time.process_time() - began) / rows
    cost(5000)
    few, many = min(cost(5000) for _ in range(5)), min(cost(100000) for _ in range(3))
    print(f"# {few * 1e6:.1f} us a row at 5000, {many * 1e6:.1f} at 100000")
    if many > few * 2:
        raise AssertionError("the cost grows with the number of rows")


@test("a dump during which objects came or went is flagged")
def torn():
    out = finish(*begin())
    same(out.intr, False, "quiet")
    client, first = begin()
    knob("touch", TYPE_QP)
    out = finish(client, first)
    same((out.intr, out.error, len(out.rows)), (True, 0, 2000))
    client, first = begin()
    knob("touch", TYPE_MR)
    same(finish(client, first).intr, False, "another type")


@test("a change while the last message was filled is flagged")
def torn_late():
    knob("rows", 10)
    client = Client()
    knob("hold", 1)
    thread = threading.Thread(target=lambda: client.ask(CMDS["qp"], dump=True))
    thread.start()
    wait_until(lambda: knob_value("held") == 1)
    knob("touch", TYPE_QP)
    knob("hold", 0)
    thread.join(20)
    out = client.outcome("qp")
    same((out.intr, len(out.rows)), (True, 10))


@test("removal does not wait for a reader between two messages", timed=True)
def remove_idle():
    reset()
    client, first = begin(20000)
    began = time.monotonic()
    knob("live", 0)
    if time.monotonic() - began > 15:
        raise AssertionError("removal took too long")
    out = finish(client, first)
    same((out.intr, out.error), (True, 0))
    if not 0 < len(out.rows) < 20000:
        raise AssertionError(f"{len(out.rows)} rows")
    same(Client().dump("qp").rows, [])
    reset()


@test("a device that comes back meanwhile is no reason to stop or to hide it")
def remove_and_add():
    client, first = begin(20000)
    knob("live", 0)
    knob("live", 1)
    out = finish(client, first)
    same((out.intr, out.error), (True, 0))
    reset()


@test("a dump narrowed to a device that goes away ends and is flagged")
def remove_filtered():
    knob("rows", 20000)
    client = Client(1 << 15)
    client.ask(CMDS["qp"], encode("qp", {"dev-name": "fake0"}), dump=True)
    first = list(client.receive_some())
    knob("live", 0)
    same(finish(client, first).intr, True)
    reset()


@test("removal waits for a row being filled, new requests are turned away")
def remove_busy():
    knob("hold", 1)
    result = []
    ask = threading.Thread(target=lambda: result.append(Client().do("qp", dev_name="fake0", qpn=1)))
    ask.start()
    wait_until(lambda: knob_value("held") == 1)
    removal = threading.Thread(target=knob, args=("live", 0))
    removal.start()
    # Not for a QP: a request that comes before the removal would be held, too.
    wait_until(lambda: Client().do("dev", dev_name="fake0").error == -errno.ENODEV)
    same(Client().do("qp", dev_name="fake0", qpn=1).error, -errno.ENODEV)
    same(removal.is_alive(), True, "removal waits")
    knob("hold", 0)
    removal.join(20)
    ask.join(20)
    same(removal.is_alive(), False, "removal ended")
    same(result[0].rows[0]["qpn"], 1)
    reset()


@test("a dump that removal cuts short is flagged while another reader still holds the device")
def remove_held():
    knob("rows", 10)
    knob("hold", 1)
    client = Client()
    dump = threading.Thread(target=lambda: client.ask(CMDS["qp"], dump=True))
    dump.start()
    wait_until(lambda: knob_value("held") == 1)
    other = threading.Thread(target=lambda: Client().do("qp", dev_name="fake0", qpn=9))
    other.start()
    wait_until(lambda: knob_value("held") == 2)
    removal = threading.Thread(target=knob, args=("live", 0))
    removal.start()
    wait_until(lambda: Client().do("dev", dev_name="fake0").error == -errno.ENODEV)
    # The dump goes on and ends after its first row, the other one waits.
    knob("hold", 2)
    dump.join(20)
    out = client.outcome("qp")
    same((out.intr, len(out.rows), removal.is_alive()), (True, 1, True))
    knob("hold", 0)
    for thread in other, removal:
        thread.join(20)
    reset()


@test("readers that leave in the middle of a dump leave nothing behind")
def abandoned():
    for _ in range(50):
        client, _ = begin(5000)
        client.sock.close()
    reset()


@test("ten readers at once each get all")
def parallel():
    knob("rows", 3000)
    counts = []
    readers = [threading.Thread(target=lambda: counts.append(len(Client().dump("qp").rows)))
               for _ in range(10)]
    for thread in readers:
        thread.start()
    for thread in readers:
        thread.join(60)
    same(counts, [3000] * 10)
    reset()


@test("devices come and go under readers")
def storm():
    stop = threading.Event()
    faults = []

    def read():
        while not stop.is_set():
            try:
                out = Client().dump("qp")
                if out.error:
                    faults.append(out.error)
            except OSError as error:
                faults.append(error)
    knob("rows", 500)
    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    for _ in range(25):
        knob("live", 0)
        knob("live", 1)
    stop.set()
    for thread in readers:
        thread.join(60)
    same(faults, [])
    reset()


def loaded(name):
    return os.path.isdir(f"/sys/module/{name}")


@test("the companion cannot be unloaded under a dump or an open node, but unbound")
def unload():
    client, first = begin(5000)
    same(command("rmmod", "eadm", check=False).returncode, 1, "rmmod during a dump")
    bound = "/sys/bus/auxiliary/drivers/eadm"
    name = next(n for n in os.listdir(bound) if ".diag2." in n)
    with open(f"{bound}/unbind", "w", encoding="ascii") as file:
        file.write(name)
    same(finish(client, first).intr, True)
    same(Client().dump("dev").rows, [])
    with open(f"{bound}/bind", "w", encoding="ascii") as file:
        file.write(name)
    same(len(Client().dump("dev").rows), 1)

    node = os.open("/dev/eadm/0", os.O_RDONLY)
    same(command("rmmod", "eadm", check=False).returncode, 1, "rmmod with an open node")
    os.close(node)


@test("driver and companion live without each other")
def alone():
    module = os.environ["EADM_KO"]
    command("rmmod", "eadm")
    same(loaded("eadm"), False)
    knob("live", 0)
    knob("live", 1)
    knob("touch", TYPE_QP)
    try:
        Client()
        raise AssertionError("the family is still there")
    except FileNotFoundError:
        pass
    command("insmod", module)
    same([r["dev-name"] for r in Client().dump("dev").rows], ["fake0"])
    command("rmmod", "fakediag")
    same(Client().dump("dev").rows, [])
    command("insmod", os.environ["EADM_FAKE_KO"])
    same(Client().dump("dev").rows, [])
    reset()
    for _ in range(10):
        command("rmmod", "eadm")
        command("insmod", module)
    same(len(Client().dump("qp").rows), 10)


def kernel_log():
    return command("dmesg").stdout


@test("a driver from another build serves, and the companion refuses it and logs why")
def interfaces():
    bus = "/sys/bus/auxiliary"
    ours = knob_value("interface")
    with open(f"{bus}/drivers/eadm/interface", encoding="ascii") as file:
        same(int(file.read(), 16), ours)
    for theirs in (ours ^ 1, 0):
        knob("live", 0)
        knob("interface", theirs)
        knob("live", 1)
        name = next(n for n in os.listdir(f"{bus}/devices") if ".diag2." in n)
        why = (f"{name}: not shown: eadm.ko has interface {ours:08x}, but the driver has {theirs:08x}; "
               "load both from the same build\n")
        same(kernel_log().count(why), 1)
        same(os.path.exists(f"{bus}/devices/{name}/driver"), False)
        same(Client().dump("dev").rows, [])
        same("fake0" in command("rdma", "dev").stdout, True)
        # The driver that is loaded first is refused, too.
        command("rmmod", "eadm")
        command("insmod", os.environ["EADM_KO"])
        same(Client().dump("dev").rows, [])
        same(kernel_log().count(why), 2)
    knob("live", 0)
    knob("interface", ours)
    knob("live", 1)
    same(len(Client().dump("dev").rows), 1)


@test("udev learns the name of the RDMA device and that it changed")
def rename():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15) as events:
        events.bind((0, 1))
        events.settimeout(20)
        command("rdma", "dev", "set", "fake0", "name", "other")
        while not events.recv(1 << 16).split(b"\0")[0].endswith(b"/eadm/eadm0"):
            pass
    with open("/sys/class/eadm/eadm0/ibdev", encoding="ascii") as file:
        same(file.read(), "other\n")
    same([r["dev-name"] for r in Client().dump("dev").rows], ["other"])
    same(Client().do("dev", dev_name="fake0").error, -errno.ENODEV)
    command("rdma", "dev", "set", "other", "name", "fake0")
