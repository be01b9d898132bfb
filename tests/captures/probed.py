#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes captures of what the probe records of stock drivers: probed.py FOLDER.

Each row is as tests/guest/probe/failures.sh makes it in a guest.

  failing.pcapng  every rule by what the probe recorded applies
  well.pcapng     what looks like each of them, and is as it should be
  overwritten.pcapng
                  the same, where the probe's records are incomplete
"""

import socket
import sys

from nlcap import Capture, MULTI, RDMA

SEC = 1000000000
MS = SEC // 1000
NOW = 1700000000 * SEC
DEV = {"dev-index": 0, "dev-name": "rocep1"}
LIMITS = {"max-qp": 131072, "max-cq": 16777216, "max-mr": 16777216, "max-cqe": 4096,
          "max-send-wr": 1024, "max-recv-wr": 2048}
RTS, ERR = 3, 6                 # states of QPs in RDMA netlink
PEER = "10.77.1.1"
REGIONS = 400
FUNCTIONS = {"create-qp": "ib_create_qp_user", "modify-qp": "ib_modify_qp_with_udata",
             "destroy-qp": "ib_destroy_qp_user", "reg-mr": "ib_uverbs_reg_mr",
             "dereg-mr": "ib_dereg_mr_user", "cm-disconnect": "rdma_disconnect"}
# Of a driver that has its commands recorded, too.
COMMAND = {"family": "cloud", "function": "cloud_command"}
# Of RDMA netlink.
CTXS, CTXN = 86, 64


def gid(address):
    """Of an IPv4 address."""
    return bytes(10) + b"\xff\xff" + socket.inet_aton(address)


class Scene:
    """One stock device, with what the probe recorded of it."""

    def __init__(self):
        self.calls, self.events, self.qps, self.contexts = [], [], [], []

    def call(self, age, op, pid, comm, **more):
        """A call that began @age ns ago; with an underscore where a name has a dash."""
        more = {name.replace("_", "-"): value for name, value in more.items()}
        row = {**DEV, "time": NOW - age, "op": op, "state": "done", "status": 0,
               "latency": 50000, "pid": pid, "comm": comm, "tid": pid, "family": "verbs",
               "function": FUNCTIONS[op], **more}
        if row["status"] < 0:
            row["state"] = "error"
        if row["state"] == "pending":
            del row["status"], row["latency"]
        self.calls.append(row)

    def overwritten(self, age, op, pid, comm, **more):
        """A call whose record was overwritten: it has left only a gap in the numbers."""
        self.call(age, op, pid, comm, **more)
        self.calls[-1]["gone"] = True

    def command(self, age, op, raw, pid, comm, **more):
        """A command of the driver, which is part of a call."""
        self.call(age, op, pid, comm, op_raw=raw, **COMMAND, **more)

    def event(self, age, kind, **more):
        more = {name.replace("_", "-"): value for name, value in more.items()}
        row = {**DEV, "time": NOW - age, "type": kind, **more}
        self.events.append({name: value for name, value in row.items() if value is not None})

    def connection(self, age, event, port, status=0, pid=200, cm_id=None, **more):
        """An event of the connection manager, of a process with its peer."""
        self.event(age, "cm", cm_event=event, status=status, cm_id=cm_id or port, pid=pid,
                   comm="rping", peer_addr=socket.inet_aton(PEER), peer_port=port,
                   step=150 * MS, **more)

    def connect(self, age, qpn, pid, comm, index=1):
        """A QP is made and connected."""
        self.call(age + 3 * MS, "create-qp", pid, comm, qpn=qpn, entries=64, recv_entries=64)
        self.reconnect(age, qpn, pid, comm, index)

    def reconnect(self, age, qpn, pid, comm, index=1):
        """A QP that is in state RESET is connected."""
        self.call(age + 2 * MS, "modify-qp", pid, comm, qpn=qpn, new_state="init", port=1)
        self.call(age + MS, "modify-qp", pid, comm, qpn=qpn, new_state="rtr", port=1,
                  gid_index=index, peer_qpn=qpn + 1000, peer_gid=gid(PEER))
        self.call(age, "modify-qp", pid, comm, qpn=qpn, new_state="rts")

    def qp(self, qpn, state, pid):
        self.qps.append((qpn, state, pid))

    def gid(self, age, kind, index, address):
        self.event(age, kind, port=1, gid_index=index, gid=gid(address))

    def regions(self, pid, comm, ages, back=False):
        """Regions that are made @ages ago, and with @back destroyed at once."""
        self.contexts.append(pid)
        for number, age in enumerate(ages):
            self.call(age, "reg-mr", pid, comm, mrn=number, size=4096)
            if back:
                self.call(age - MS, "dereg-mr", pid, comm, mrn=number)

    def capture(self):
        cap = Capture()
        cap.local("machine", {"kernel": "6.12.0-test", "host-pids": 1})
        cap.time = NOW
        cap.snapshot(0)
        cap.local("machine", {"uptime": 86400 * SEC}, want=["uptime"])
        made = len(self.calls) + len(self.events)
        cap.local("probe", {"index": 0, "state": "running", "level": "typed", "age": 3600 * SEC,
                            "made": made, "recorded": made, "lost": 0,
                            "overwritten": sum("gone" in row for row in self.calls),
                            "pending": sum(row["state"] == "pending" for row in self.calls),
                            "capacity": 4096, "functions": 52, "missing": "",
                            "blind": "data path of processes"})
        cap.family(False)
        cap.rdma_devices([(0, DEV["dev-name"], 1)])
        for obj, rows in (("cmd", self.calls), ("event", self.events)):
            rows.sort(key=lambda row: row["time"])
            cap.local(obj, *({**row, "seq": seq} for seq, row in enumerate(rows, 1)
                             if "gone" not in row))
        cap.local("dev", {**DEV, "driver": "mlx5_core"}, want=["driver"])
        cap.local("dev", {**DEV, **LIMITS}, want=["max-qp"])
        for pid in self.contexts:
            cap.comm(pid, "leaker")
        self.netlink(cap)
        return cap

    def netlink(self, cap):
        """What RDMA netlink has of the device now."""
        one = cap.attr(1, cap.pack("I", 0))
        owner = lambda pid: cap.attr(28, cap.pack("I", pid))
        qps = [cap.attr(21, cap.pack("I", qpn)) + cap.attr(26, b"\x02") +
               cap.attr(27, bytes([state])) + owner(pid) for qpn, state, pid in self.qps]
        contexts = [cap.attr(CTXN, cap.pack("I", number)) + owner(pid)
                    for number, pid in enumerate(self.contexts, 1)]
        for cmd, table, entries in ((10, 19, qps), (22, CTXS, contexts)):
            kind = 5 << 10 | cmd
            seq = cap.request(RDMA, kind, one, True)
            nest = cap.attr(table, b"".join(cap.attr(table + 1, entry) for entry in entries))
            cap.packet(RDMA, (cap.message(kind, MULTI, seq, one + nest) if entries else b"") +
                       cap.done(seq))
        for cmd, ask, body in ((5, one + cap.attr(3, cap.pack("I", 1)), cap.attr(12, b"\x04")),
                               (9, one, b"")):
            kind = 5 << 10 | cmd
            seq = cap.request(RDMA, kind, ask, False)
            cap.packet(RDMA, cap.message(kind, 0, seq, body))


def failing():
    s = Scene()
    s.connection(30 * SEC, "rejected", 7003, 8)
    s.connection(20 * SEC, "unreachable", 7005, -110)
    # No RDMA device has the local address; address resolution fails; so does the path query.
    s.connection(19 * SEC, "addr-error", 7006, -19, dev_index=None, dev_name=None)
    s.connection(18 * SEC, "addr-error", 7007, -110, dev_index=None, dev_name=None)
    s.connection(17 * SEC, "addr-error", 7008, -22, dev_index=None, dev_name=None)
    s.connection(16 * SEC, "route-error", 7009, -22)
    # Killed, with a QP that had a peer; an iWARP connection is closed first.
    s.connect(90 * SEC, 17, 210, "job")
    s.call(15 * SEC + MS, "modify-qp", 210, "job", qpn=17, new_state="err", exit_signal=9)
    s.call(15 * SEC, "destroy-qp", 210, "job", qpn=17, exit_signal=9)
    # Moved to the error state by its owner, and kept; an earlier connection was closed.
    s.connect(88 * SEC, 18, 211, "quitter")
    s.call(86 * SEC, "cm-disconnect", 211, "quitter", qpn=18)
    s.connection(86 * SEC, "disconnected", 7010, pid=211, qpn=18)
    s.call(84 * SEC, "modify-qp", 211, "quitter", qpn=18, new_state="reset")
    s.reconnect(80 * SEC, 18, 211, "quitter")
    s.call(40 * SEC, "modify-qp", 211, "quitter", qpn=18, new_state="err")
    s.qp(18, ERR, 211)
    # The address that it sends from is removed.
    s.connect(70 * SEC, 19, 212, "server", index=3)
    s.gid(25 * SEC, "gid-removed", 3, "10.77.0.50")
    s.qp(19, RTS, 212)
    s.call(12 * SEC, "create-qp", 213, "greedy", entries=4096, recv_entries=16, status=-22)
    s.call(11 * SEC, "reg-mr", 214, "locked", size=1 << 20, memlock=65536, pinned=1 << 20, status=-12)
    # An unaligned buffer has a page more than its size.
    s.call(11 * SEC, "reg-mr", 218, "odd", size=65536, memlock=65536, pinned=17 * 4096, status=-12)
    s.call(10 * SEC, "reg-mr", 215, "paged", size=4096, mrn=3, latency=1500 * MS)
    s.call(9 * SEC, "dereg-mr", 216, "stuck", mrn=4, state="pending")
    # Calls before the leak are missing, which does not hide it.
    s.call(30 * SEC, "reg-mr", 217, "leaker", mrn=REGIONS, size=4096)
    s.overwritten(25 * SEC, "dereg-mr", 217, "leaker", mrn=REGIONS)
    s.regions(217, "leaker", [20 * SEC - 19 * SEC * i // REGIONS for i in range(REGIONS)])
    return s.capture()


def well():
    s = Scene()
    # The peer's application rejects; a later attempt succeeds, of both kinds.
    s.connection(50 * SEC, "rejected", 7001, 28)
    s.connection(49 * SEC, "rejected", 7002, 8)
    s.connection(48 * SEC, "established", 7002)
    s.connection(47 * SEC, "unreachable", 7004, -110)
    s.connection(46 * SEC, "connect-response", 7004)
    # Another end of a UD endpoint responds that it has no QP.
    s.connection(45 * SEC, "unreachable", 7006, 3)
    # An hour ago.
    s.connection(3600 * SEC, "rejected", 7003, 8)
    # One exits, one is asked to end; the QP of the one that is killed has no peer.
    for qpn, signal in ((17, 0), (18, 15)):
        s.connect(90 * SEC, qpn, 200 + qpn, "job")
        s.call(15 * SEC, "destroy-qp", 200 + qpn, "job", qpn=qpn, exit_signal=signal)
    s.call(90 * SEC, "create-qp", 219, "job", qpn=19, entries=1)
    s.call(15 * SEC, "destroy-qp", 219, "job", qpn=19, exit_signal=9)
    # One is torn down, the other one was disconnected.
    s.connect(80 * SEC, 20, 220, "ending")
    s.call(SEC // 2, "modify-qp", 220, "ending", qpn=20, new_state="err")
    s.qp(20, ERR, 220)
    s.connect(80 * SEC, 21, 221, "closed")
    s.call(40 * SEC, "cm-disconnect", 221, "closed", qpn=21)
    s.call(39 * SEC, "modify-qp", 221, "closed", qpn=21, new_state="err")
    s.qp(21, ERR, 221)
    # Another process's QP had the number; the QP was disconnected long before.
    s.connect(90 * SEC, 26, 240, "first")
    s.call(80 * SEC, "destroy-qp", 240, "first", qpn=26)
    s.call(20 * SEC, "create-qp", 241, "second", qpn=26, entries=1)
    s.call(15 * SEC, "destroy-qp", 241, "second", qpn=26, exit_signal=9)
    s.connect(90 * SEC, 27, 242, "idle")
    s.call(60 * SEC, "modify-qp", 242, "idle", qpn=27, new_state="err")
    s.call(60 * SEC - MS, "cm-disconnect", 242, "idle", qpn=27)
    s.call(15 * SEC, "destroy-qp", 242, "idle", qpn=27, exit_signal=9)
    # Moved to the error state by its owner, connected again, then failed by the adapter.
    s.connect(90 * SEC, 28, 243, "again")
    s.call(80 * SEC, "modify-qp", 243, "again", qpn=28, new_state="err")
    s.call(79 * SEC, "modify-qp", 243, "again", qpn=28, new_state="reset")
    s.reconnect(76 * SEC, 28, 243, "again")
    s.qp(28, ERR, 243)
    # The earlier life of its number sent from the GID that is removed.
    s.connect(70 * SEC, 29, 244, "moved", index=4)
    s.call(60 * SEC, "destroy-qp", 244, "moved", qpn=29)
    s.call(50 * SEC, "create-qp", 244, "moved", qpn=29, entries=64)
    s.qp(29, RTS, 244)
    # One that no QP sends from, one that is added again, a QP that is connected later.
    s.connect(70 * SEC, 22, 222, "server", index=1)
    s.gid(25 * SEC, "gid-removed", 2, "10.77.0.51")
    s.qp(22, RTS, 222)
    s.connect(70 * SEC, 23, 223, "server", index=3)
    s.gid(25 * SEC, "gid-removed", 3, "10.77.0.50")
    s.gid(24 * SEC, "gid-added", 3, "10.77.0.50")
    s.qp(23, RTS, 223)
    s.gid(25 * SEC, "gid-removed", 4, "10.77.0.52")
    s.connect(20 * SEC, 24, 224, "server", index=4)
    s.qp(24, RTS, 224)
    # It looks for the limit and finds it; another one fails within all limits.
    s.call(12 * SEC, "create-qp", 225, "search", entries=2048, status=-22)
    s.call(11 * SEC, "create-qp", 225, "search", entries=1024, qpn=25)
    s.call(12 * SEC, "create-qp", 226, "odd", entries=64, status=-22)
    # Within the limit and yet no memory; none to be had without a limit.
    s.call(11 * SEC, "reg-mr", 227, "small", size=4096, memlock=65536, pinned=65536, status=-12)
    s.call(11 * SEC, "reg-mr", 228, "free", size=1 << 40, status=-12)
    # As long as its pages need; part of a second on a busy machine.
    s.call(10 * SEC, "reg-mr", 229, "large", size=1 << 30, mrn=1, latency=2 * SEC)
    s.call(10 * SEC, "reg-mr", 230, "waits", size=4096, mrn=2, latency=700 * MS)
    # It took long, and returned; one that has only begun.
    s.call(30 * SEC, "dereg-mr", 231, "slow", mrn=4, latency=9 * SEC)
    s.call(SEC // 2, "dereg-mr", 232, "begun", mrn=5, state="pending")
    # A burst, a cache that is full, as many destroyed as made.
    s.regions(233, "burst", [20 * SEC - i * MS for i in range(REGIONS)])
    s.regions(234, "cache", [300 * SEC - 20 * SEC * i // REGIONS for i in range(REGIONS)])
    s.regions(235, "even", [20 * SEC - 19 * SEC * i // REGIONS for i in range(REGIONS)], back=True)
    # Commands of the driver are not the process's calls.
    for i in range(REGIONS):
        s.command(20 * SEC - 19 * SEC * i // REGIONS, "reg-mr", 8, 236, "twice")
    s.command(10 * SEC, "create-qp", 1, 236, "twice", entries=4096, status=-22)
    s.command(10 * SEC, "reg-mr", 8, 236, "twice", size=4096, latency=1500 * MS)
    s.command(9 * SEC, "dereg-mr", 9, 236, "twice", state="pending")
    return s.capture()


def overwritten():
    """Each region is destroyed at once, on a CPU whose records are kept for 3.5 s only."""
    s = Scene()
    s.contexts.append(217)
    for number in range(REGIONS):
        age = 40 * SEC - 39 * SEC * number // REGIONS
        s.call(age, "reg-mr", 217, "leaker", mrn=number, size=4096)
        keep = s.call if age < 3500 * MS else s.overwritten
        keep(age - MS, "dereg-mr", 217, "leaker", mrn=number)
    return s.capture()


def main():
    folder = sys.argv[1]
    failing().write(f"{folder}/failing.pcapng")
    well().write(f"{folder}/well.pcapng")
    overwritten().write(f"{folder}/overwritten.pcapng")


if __name__ == "__main__":
    main()
