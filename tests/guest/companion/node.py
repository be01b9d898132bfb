# SPDX-License-Identifier: GPL-2.0-or-later
"""The char device: commands, the stream of records, removal."""

import contextlib
import ctypes
import errno
import json
import os
import select
import struct
import threading

from harness import command, knob, knob_value, reset, same, test, wait_until
from rawnl import ATTRS, CMDS, VALUES, Client, decode
from rights import NOBODY, capable

NODE = "/dev/eadm/0"
INFO, TRACE, RING = 0xEA00, 0xEA01, 0xEA02
OLDEST, NOW, SEQ = 0, 1, 2
PENDING, DONE = 0, 1
REG_MR, CREATE_QP = VALUES["cmd-op"]["reg-mr"], VALUES["cmd-op"]["create-qp"]
BY_OP = 1
TRACES, RINGS = 1, 2
INFO_SIZE, REC_MAX = 80, 4096
LIBC = ctypes.CDLL(None, use_errno=True)
USERFAULTFD, UFFDIO_API, UFFDIO_REGISTER = 323, 0xc018aa3f, 0xc020aa00


def ioctl(fd, number, data):
    """Returns (errno, the bytes after the call)."""
    buffer = ctypes.create_string_buffer(data, len(data))
    if LIBC.ioctl(fd, ctypes.c_ulong(number), buffer) < 0:
        return ctypes.get_errno(), buffer.raw
    return 0, buffer.raw


def messages(data):
    """Rows of whole messages, each as a dump has it."""
    rows = []
    while data:
        size, _, flags, seq, port, cmd = struct.unpack_from("=IHHIIB", data)
        same((flags, seq, port, cmd), (0, 0, 0, CMDS["cmd"]), "head of a record")
        same(20 < size <= min(len(data), REC_MAX), True, "a whole record")
        rows.append(decode("cmd", data[20:size]))
        data = data[size:]
    return rows


class Node:
    """An open node."""

    def __init__(self, flags=os.O_RDONLY | os.O_NONBLOCK):
        self.fd = os.open(NODE, flags)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def trace(self, start=OLDEST, seq=0, latency=0, states=0, op=None):
        data = struct.pack("=IIQQIIII", 40, start, seq, latency, states, op or 0,
                           BY_OP if op is not None else 0, 0)
        same(ioctl(self.fd, TRACE, data)[0], 0, "EADM_IOC_TRACE")
        return self

    def records(self, size=1 << 16):
        """All records there are."""
        out = []
        while True:
            try:
                data = os.read(self.fd, size)
            except BlockingIOError:
                return out
            out += messages(data)

    def seqs(self):
        return [r["seq"] for r in self.records()]

    def losses(self):
        """Number of each record, and of the records lost before it."""
        return [(r["seq"], r.get("lost", 0)) for r in self.records()]

    def poll(self, timeout=0):
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        events = poll.poll(timeout)
        return events[0][1] if events else 0


def error_of(function, *args):
    try:
        function(*args)
    except OSError as error:
        return errno.errorcode[error.errno]
    return None


def fresh(ended=10, oldest=1):
    """A device whose records 1 to ended have ended."""
    command("rmmod", "fakediag")
    command("insmod", os.environ["EADM_FAKE_KO"])
    reset()
    knob("cmds", ended)
    for seq in range(1, ended + 1):
        knob("end", seq)
    knob("oldest", oldest)


@test("the node tells its device")
def info():
    fresh()
    with Node() as node:
        error, data = ioctl(node.fd, INFO, struct.pack("=I", INFO_SIZE) + bytes(INFO_SIZE - 4))
        same(error, 0)
        index = Client().dump("dev").rows[0]["dev-index"]
        same(struct.unpack("=IIII", data[:16]), (INFO_SIZE, index, REC_MAX, TRACES | RINGS))
        same(data[16:].rstrip(b"\0"), b"fake0")
    same(os.stat(NODE).st_mode & 0o777, 0o600)
    done = command(*NOBODY, "cat", NODE, check=False)
    same("Permission denied" in done.stderr, True)


@test("sizes of arguments: too small, from the future, absurd")
def sizes():
    with Node() as node:
        for number, size in (INFO, INFO_SIZE), (TRACE, 40):
            def call(told, tail=b""):
                data = struct.pack("=I", told) + bytes(max(size, 16) - 4) + tail
                return errno.errorcode.get(ioctl(node.fd, number, data)[0])
            for told in 0, 1, 4, 8, size - 4, size - 1:
                same(call(told), "EINVAL", f"size {told}")
            same(call(size), None, "its size")
            same(call(size + 8, bytes(8)), None, "a zero tail")
            same(call(size + 8, bytes(7) + b"\1"), "E2BIG", "a tail with a message")
            for told in 1 << 16, 1 << 30, 0xffffffff:
                same(call(told), "E2BIG", f"size {told}")
            same(ioctl(node.fd, number, b"")[0] in (errno.EINVAL, errno.E2BIG, errno.EFAULT), True)
            LIBC.ioctl(node.fd, ctypes.c_ulong(number), ctypes.c_void_p(8))
            same(ctypes.get_errno(), errno.EFAULT, "a bad pointer")
        # The last bytes of the argument lie on a page that is not there.
        LIBC.mmap.restype = ctypes.c_void_p
        start = LIBC.mmap(None, ctypes.c_size_t(8192), 3, 0x22, -1, ctypes.c_long(0))
        ctypes.memmove(start + 4096 - 8, struct.pack("=II", INFO_SIZE, 0), 8)
        LIBC.munmap(ctypes.c_void_p(start + 4096), ctypes.c_size_t(4096))
        LIBC.ioctl(node.fd, ctypes.c_ulong(INFO), ctypes.c_void_p(start + 4096 - 8))
        same(ctypes.get_errno(), errno.EFAULT, "half an argument")


@test("unknown commands give ENOTTY, soiled arguments EINVAL")
def wrong():
    with Node() as node:
        for number in (0, 1, 0xEA05, 0xEAFF, 0xEB00, 0xC0500000 | INFO, 0x5401, 0xffffffff):
            same(errno.errorcode.get(ioctl(node.fd, number, bytes(256))[0]), "ENOTTY", hex(number))
        data = struct.pack("=II", INFO_SIZE, 1) + bytes(INFO_SIZE - 8)
        same(ioctl(node.fd, INFO, data)[0], errno.EINVAL)
        good = [40, OLDEST, 0, 0, 0, 0, 0, 0]
        for place, value in (1, 3), (1, 0xffffffff), (2, 5), (5, 1), (6, 2), (6, 0x80000000), (7, 1):
            bad = list(good)
            bad[place] = value
            same(ioctl(node.fd, TRACE, struct.pack("=IIQQIIII", *bad))[0], errno.EINVAL, str(bad))
        same(error_of(os.read, node.fd, 4096), "EBADFD", "read before TRACE")
        node.trace()
        size = struct.unpack_from("=I", os.read(node.trace().fd, REC_MAX))[0]
        node.trace()
        same(error_of(os.read, node.fd, size - 1), "EINVAL", "room for no record")
        same(error_of(os.read, node.fd, 0), "EINVAL")
        same(error_of(os.write, node.fd, b"x"), "EBADF")
        same(error_of(os.lseek, node.fd, 0, 0), "ESPIPE")


@test("records come from the oldest, from now on, from a number")
def positions():
    fresh(10)
    with Node() as node:
        same(node.trace(OLDEST).seqs(), list(range(1, 11)))
        same(node.trace(SEQ, 8).seqs(), [8, 9, 10])
        same(node.trace(SEQ, 100).seqs(), [])
        same(node.trace(NOW).seqs(), [])
        knob("cmds", 11)
        same(node.seqs(), [], "pending")
        knob("end", 11)
        same(node.seqs(), [11])
        record = node.trace(SEQ, 10).records()[0]
        row = Client().dump("cmd").rows[9]
        same(record, row, "a record and a row of the dump")
        same((record["seq"], record["time"], record["latency"], record["op"], record["state"]),
             (10, 10 * 10 ** 9, 10000, REG_MR, DONE))
        same((record["pid"], record["comm"]), (1, "init"))
        same(bytes.fromhex(record["request"]), b"secret!")
        whole = os.read(node.trace().fd, 1 << 16)
        first = struct.unpack_from("=I", whole)[0]
        same(os.read(node.trace().fd, 2 * first - 1), whole[:first], "whole records only")


@test("filters pick records by command, time and outcome")
def filters():
    fresh(10)
    with Node() as node:
        same(node.trace(op=REG_MR).seqs(), [2, 4, 6, 8, 10])
        same(node.trace(op=0).seqs(), [])
        same(node.trace(latency=7000).seqs(), [7, 8, 9, 10])
        same(node.trace(states=1 << DONE).seqs(), list(range(1, 11)))
        same(node.trace(states=4).seqs(), [])
        same(node.trace(op=CREATE_QP, latency=7000).seqs(), [7, 9])


@test("a hung command does not hold up those behind it")
def out_of_order():
    fresh(3)
    knob("cmds", 6)
    with Node() as node, Node() as late:
        same(node.trace().seqs(), [1, 2, 3])
        knob("end", 6)
        late.trace(NOW)
        same(node.seqs(), [6])
        knob("end", 5)
        same(node.seqs(), [5])
        knob("end", 4)
        same(node.seqs(), [4])
        same(node.seqs(), [])
        same(sorted(late.seqs()), [4, 5])


@test("records overwritten before they were read are told")
def lost():
    fresh(10)
    with Node() as node:
        same(node.trace(SEQ, 3).seqs(), list(range(3, 11)))
        knob("cmds", 60)
        for seq in range(11, 61):
            knob("end", seq)
        knob("oldest", 41)
        same(node.losses()[:3], [(41, 30), (42, 0), (43, 0)])
        same(node.trace(SEQ, 31).losses()[0], (41, 10))
        same(node.trace(OLDEST).losses()[0], (41, 0))
        # Filtered ones are not lost, lost ones count although filtered.
        same(node.trace(SEQ, 31, op=REG_MR).losses()[:2],
             [(42, 10), (44, 0)])


@test("from now on, and from number 0: what was lost, and no more")
def lost_from_the_start():
    fresh(10)
    with Node() as node:
        same(node.trace(SEQ, 0).losses()[0], (1, 0))
        same(node.trace(NOW).seqs(), [])
        knob("cmds", 60)
        for seq in range(11, 61):
            knob("end", seq)
        knob("oldest", 41)
        same(node.losses()[:2], [(41, 30), (42, 0)])


@test("a reader that waits is woken by the next record")
def blocking():
    fresh(2)
    knob("cmds", 3)
    with Node(os.O_RDONLY) as node:
        node.trace(NOW)
        got = []
        thread = threading.Thread(target=lambda: got.append(os.read(node.fd, 4096)))
        thread.start()
        same(node.poll(), 0)
        knob("end", 3)
        thread.join(20)
        same([messages(d)[0]["seq"] for d in got], [3])
        knob("cmds", 4)
        same(node.poll(50), 0)
        timer = threading.Timer(0.2, knob, ("end", 4))
        timer.start()
        same(node.poll(20000), select.POLLIN)
        same(messages(os.read(node.fd, REC_MAX))[0]["seq"], 4)


@test("a driver is asked for each command by those who follow them, while they do")
def followers():
    fresh(1)
    with Node() as node, Node() as other:
        same(knob_value("followers"), 0, "files that are only open")
        node.trace()
        node.trace(NOW)
        other.trace()
        same(knob_value("followers"), 2)
    same(knob_value("followers"), 0, "closed")
    with Node() as node:
        node.trace()
        knob("live", 0)
        knob("live", 1)
        same(knob_value("followers"), 0, "a file of a device that is gone")
    same(knob_value("followers"), 0)


@test("request bytes need the right of the one who opened the node")
def bytes_of_requests():
    fresh(1)
    script = ("import fcntl, os, struct, sys; fd = int(sys.argv[1]);"
              "fcntl.ioctl(fd, 0xEA01, struct.pack('=IIQQIIII', 40, 0, 0, 0, 0, 0, 0, 0));"
              "print(b'secret' in os.read(fd, 4096))")
    # The node itself is root's: let nobody open it to see the check behind.
    os.chmod(NODE, 0o666)
    for through, want in (NOBODY, "False"), (capable("sys_rawio"), "True"), ((), "True"):
        done = command(*through, "bash", "-c", f'exec 9<{NODE}; exec python3 -c "{script}" 9')
        same(done.stdout.strip(), want, str(through))
    os.chmod(NODE, 0o600)


@test("removal ends waiting readers, later calls give ENODEV")
def removal():
    fresh(1)
    with Node(os.O_RDONLY) as node, Node() as other:
        node.trace(NOW)
        got = []
        thread = threading.Thread(target=lambda: got.append(error_of(os.read, node.fd, 4096)))
        thread.start()
        wait_until(lambda: waits(thread))
        knob("live", 0)
        thread.join(20)
        same(got, ["ENODEV"])
        for one in node, other:
            same(bool(one.poll() & select.POLLHUP), True)
            same(errno.errorcode.get(ioctl(one.fd, INFO, struct.pack("=I", INFO_SIZE) +
                                           bytes(INFO_SIZE - 4))[0]), "ENODEV")
            for number in TRACE, RING, 0xEA05:
                same(errno.errorcode.get(ioctl(one.fd, number, bytes(256))[0]), "ENODEV")
            for size in 0, 4096:
                same(error_of(os.read, one.fd, size), "ENODEV")
        same(os.path.exists(NODE), False)
        knob("live", 1)
        same(bool(other.poll() & select.POLLHUP), True, "the old file stays with the old device")
        with Node() as again:
            same(again.trace().seqs(), [1])


@test("what is around a pointer is chosen where it stands when the bytes are read")
def around():
    fresh(0)
    for _ in range(10):
        done = command("eadm", "dump", "cqe", "1", "-d", "fake0", "--around", "ci", "--json")
        rows = json.loads(done.stdout)["rows"]
        at = [row["index"] for row in rows if "sw-ci" in row.get("mark", [])]
        same(len(at), 1, "entries with the pointer")
        same([row["index"] for row in rows],
             list(range(max(at[0] - 8, 0), min(at[0] + 8, 255) + 1)))


@test("200 readers of one node while records end")
def many():
    fresh(1)
    nodes = [Node().trace(NOW) for _ in range(200)]
    knob("cmds", 21)
    for seq in range(2, 22):
        knob("end", seq)
    for node in nodes:
        same(node.seqs(), list(range(2, 22)))
        os.close(node.fd)


@test("unbind and removal while nodes are read")
def storm():
    fresh(50)
    stop = threading.Event()

    def read():
        while not stop.is_set():
            try:
                with Node() as node:
                    node.trace()
                    node.seqs()
            except (OSError, AssertionError):
                pass
    readers = [threading.Thread(target=read) for _ in range(3)]
    for thread in readers:
        thread.start()
    for _ in range(25):
        knob("live", 0)
        knob("live", 1)
    stop.set()
    for thread in readers:
        thread.join(60)
    with Node() as node:
        same(len(node.trace().seqs()), 50)


@contextlib.contextmanager
def stuck_reader(node):
    """Until the end, a thread waits in read() for a page that does not come."""
    LIBC.mmap.restype = ctypes.c_void_p
    start = LIBC.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))
    fault = LIBC.syscall(USERFAULTFD, os.O_CLOEXEC | os.O_NONBLOCK)
    same(fault >= 0, True, "userfaultfd()")
    same(ioctl(fault, UFFDIO_API, struct.pack("=QQQ", 0xaa, 0, 0))[0], 0)
    same(ioctl(fault, UFFDIO_REGISTER, struct.pack("=QQQQ", start, 4096, 1, 0))[0], 0)
    read = threading.Thread(target=LIBC.read, args=(
        node.fd, ctypes.c_void_p(start), ctypes.c_size_t(4096)))
    read.start()
    try:
        same(bool(select.select([fault], [], [], 20)[0]), True, "the reader waits")
        yield
    finally:
        # Ends the wait: the page is one like any other then.
        os.close(fault)
        read.join()


@test("a reader whose page does not come does not delay polling")
def poll_beside_reader():
    fresh()
    seen = []
    with Node(os.O_RDONLY) as node:
        poll = threading.Thread(target=lambda: seen.append(node.poll()), daemon=True)
        with stuck_reader(node.trace()):
            poll.start()
            poll.join(20)
            same(seen, [select.POLLIN], "poll() beside it")
        poll.join()


def waits(thread):
    with open(f"/proc/self/task/{thread.native_id}/wchan", encoding="ascii") as file:
        return file.read() not in ("0", "")


@test("nor does a caller that waits for such a reader hold up removal")
def removal_beside_reader():
    fresh()
    got = []
    with Node(os.O_RDONLY) as node:
        data = struct.pack("=IIQQIIII", 40, OLDEST, 0, 0, 0, 0, 0, 0)
        again = threading.Thread(target=lambda: got.append(ioctl(node.fd, TRACE, data)[0]))
        remove = threading.Thread(target=knob, args=("live", 0))
        with stuck_reader(node.trace()):
            again.start()
            wait_until(lambda: waits(again))
            remove.start()
            remove.join(20)
            gone = not remove.is_alive()
        again.join()
        remove.join()
    same(gone, True, "removal beside it")
    same(got, [errno.ENODEV])
    reset()


@test("records that there is no memory for are not the end of the recorder")
def no_memory():
    fresh()
    knob("no_memory", 4)
    try:
        same(Client().dump("cmd").error, -errno.ENOMEM, "dump")
        with Node() as node:
            node.trace()
            same(len(messages(os.read(node.fd, 1 << 16))), 3, "records before")
            same(error_of(os.read, node.fd, 1 << 16), "ENOMEM", "the next one")
            knob("no_memory", 0)
            same(node.seqs(), list(range(4, 11)), "records after")
    finally:
        knob("no_memory", 0)


@test("a dump of commands leaves out those, and of each what, is not asked for")
def picked():
    fresh(10)
    knob("cmds", 12)
    rows = Client().dump("cmd", dev_name="fake0").rows
    same([r["seq"] for r in rows], list(range(1, 13)))
    for ask, want in (({"states": 1 << PENDING}, [11, 12]), ({"states": 1 << DONE}, list(range(1, 11))),
                      ({"states": 1 << PENDING | 1 << DONE}, list(range(1, 13))),
                      ({"states": 0}, list(range(1, 13))), ({"states": 1 << 31}, []),
                      ({"min-latency": 8000}, [8, 9, 10]), ({"min-latency": 10001}, []),
                      ({"min-latency": 1 << 40}, []),
                      ({"states": 1 << PENDING, "min-latency": 1}, []),
                      ({"states": 1 << DONE, "min-latency": 9000, "from-seq": 10}, [10])):
        same(Client().dump("cmd", **{"dev-name": "fake0", **ask}).rows,
             [r for r in rows if r["seq"] in want], str(ask))
    known = ("dev-index", "dev-name", "family", "seq")
    for names in (("op", "state"), ("latency",)):
        mask = sum(1 << ATTRS["cmd"][name][0] for name in names)
        same(Client().dump("cmd", dev_name="fake0", fields=mask).rows,
             [{k: v for k, v in r.items() if k in known + names} for r in rows], str(names))
