# SPDX-License-Identifier: GPL-2.0-or-later
"""Who sees what: capabilities, network and PID namespaces, lockdown."""

import errno
import json
import os
import subprocess
import sys

from harness import HERE, Skip, command, knob, reader, reset, same, test, wait_until
from rawnl import Client

NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
          "--inh-caps=-all", "--bounding-set=-all")
IBDEV = "/sys/class/eadm/eadm0/ibdev"
SECRETS = {"lkey", "rkey", "iova", "cgroup-id", "netns", "request", "response"}


def capable(*caps):
    """Starts a command as nobody with these capabilities only."""
    words = ",".join(f"+{cap}" for cap in caps)
    return ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
            f"--inh-caps=-all,{words}", f"--ambient-caps=-all,{words}")


def seen(through):
    """Names of secret fields in all dumps, and the errno of asking the adapter."""
    names = set()
    for obj in "dev", "qp", "mr", "cmd", "failure":
        out = reader("dump", obj, through=through)
        same(out["error"], 0)
        if not out["rows"]:
            raise AssertionError(f"no {obj} rows")
        for row in out["rows"]:
            names |= set(row) & SECRETS
    out = reader("do", "qp", "dev-name=fake0", "qpn=2", "query-hw=1", through=through)
    if out["error"]:
        same("CAP_SYS_RAWIO" in out["msg"], True, out["msg"])
    return names, -out["error"]


@test("everyone sees the objects, secrets are for those with the right")
def capabilities():
    reset()
    knob("cmds", 2)
    knob("fail", "0 16 1")
    admin = {"lkey", "rkey", "iova", "cgroup-id", "netns"}
    same(seen(()), (admin | {"request"}, 0), "root")
    same(seen(NOBODY), (set(), errno.EPERM), "nobody")
    same(seen(capable("net_admin")), (admin, errno.EPERM), "CAP_NET_ADMIN")
    same(seen(capable("sys_rawio")), ({"request"}, 0), "CAP_SYS_RAWIO")
    same(seen(capable("sys_admin", "net_raw")), (set(), errno.EPERM), "other rights")


@test("root of a user namespace is nobody to a device shared with it")
def user_namespace():
    same(seen((*NOBODY, "unshare", "-Ur")), (set(), errno.EPERM))
    same(seen((*NOBODY, "unshare", "-Urn")), (set(), errno.EPERM), "own network namespace")


@test("the dump refused for want of rights says so")
def dump_refused():
    out = reader("dump", "qp", "query-hw=1", through=NOBODY)
    same((out["error"], out["rows"]), (-errno.EPERM, []))


@test("rights are those of the moment the dump began")
def rights_kept():
    knob("rows", 3000)
    client = Client(1 << 15)
    client.ask(6, dump=True)
    keys = [r for r in client.outcome("mr").rows if "lkey" in r]
    same(len(keys), 1)
    client = Client(1 << 15)
    client.ask(2, dump=True)
    first = list(client.receive_some())
    pid = os.fork()
    if not pid:
        os.setgroups([])
        os.setuid(65534)
        rows = client.outcome("qp", first + list(client.receive())).rows
        os._exit(0 if all("netns" in r for r in rows if "pid" in r) else 1)
    same(os.waitpid(pid, 0)[1], 0)
    reset()


def owned(rows):
    """Numbers of the rows that name a process, and the PIDs they name."""
    rows = [r for r in rows if "pid" in r]
    same([r for r in rows if "comm" not in r], [])
    return [r["qpn"] for r in rows], {r["pid"] for r in rows}


ODD, EVEN = [1, 3, 5, 7, 9], [2, 4, 6, 8, 10]


@test("a process is named where it has a PID, the kernel everywhere")
def pid_namespace():
    rows = Client().dump("qp").rows
    same(owned(rows), (ODD, {os.getpid()}))
    same([r["qpn"] for r in rows if r.get("comm") == "[fake]"], EVEN)
    inside = ("unshare", "-pf", "--mount-proc")
    rows = reader("dump", "qp", through=inside)["rows"]
    same((len(rows), owned(rows)), (10, ([], set())), "the outside from inside")
    same([r["qpn"] for r in rows if "comm" in r or "netns" in r or "cgroup-id" in r], EVEN)
    # As owner, a process inside sees its own with its number there.
    script = ('echo 1 >/sys/module/fakediag/parameters/owner; '
              f'{sys.executable} {HERE}/rawnl.py dump qp; true')
    done = command(*inside, "bash", "-c", script)
    same(owned(json.loads(done.stdout)["rows"]), (ODD, {1}))
    reset()


@test("a process inside is named outside with its number there, while it lives")
def pid_namespace_outside():
    with subprocess.Popen(["unshare", "-pf", "bash", "-c",
                           "echo 1 >/sys/module/fakediag/parameters/owner; echo; read -r x"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as inside:
        inside.stdout.readline()
        numbers, pids = owned(Client().dump("qp").rows)
        same((numbers, len(pids)), (ODD, 1))
        same(pids.pop() > inside.pid, True, "the number out here")
        beside = reader("dump", "qp", through=("unshare", "-pf", "--mount-proc"))["rows"]
        same((len(beside), owned(beside)), (10, ([], set())), "a namespace beside it")
        inside.stdin.close()
        inside.wait(20)
    rows = Client().dump("qp").rows
    same((len(rows), owned(rows)), (10, ([], set())), "ended")
    reset()


def in_net(*args):
    return reader(*args, through=("ip", "netns", "exec", "eadm-test"))


def node_status(through):
    done = command(*through, "bash", "-c", "exec 3</dev/eadm/0", check=False)
    return "No such device" in done.stderr if done.returncode else None


@test("with exclusive network namespaces a device is seen in its own only")
def net_namespace():
    inside = ("ip", "netns", "exec", "eadm-test")
    command("ip", "netns", "add", "eadm-test")
    same(len(in_net("dump", "dev")["rows"]), 1, "shared mode")
    same(node_status(inside), None, "node, shared mode")
    command("ip", "netns", "del", "eadm-test")
    # Refused while there is another network namespace: the last ones may
    # still be on their way out.
    wait_until(lambda: not command("rdma", "system", "set", "netns", "exclusive",
                                   check=False).returncode)
    command("ip", "netns", "add", "eadm-test")
    try:
        same(in_net("dump", "dev")["rows"], [], "inside, before")
        number = Client().dump("dev").rows[0]["dev-index"]
        same(in_net("do", "qp", f"dev-index={number}", "qpn=1")["error"], -errno.ENODEV)
        same(in_net("do", "qp", "dev-name=fake0", "qpn=1")["error"], -errno.ENODEV)
        same(in_net("dump", "qp", "dev-name=fake0")["error"], -errno.ENODEV)
        same(node_status(inside), True, "node inside, before")
        same(command(*inside, "cat", IBDEV, check=False).stdout, "", "name inside, before")
        same(command("cat", IBDEV).stdout, "fake0\n", "name outside, before")
        same(len(Client().dump("dev").rows), 1, "outside, before")
        command("rdma", "dev", "set", "fake0", "netns", "eadm-test")
        same(len(in_net("dump", "dev")["rows"]), 1, "inside, after")
        same(Client().dump("dev").rows, [], "outside, after")
        same(Client().do("dev", dev_name="fake0").error, -errno.ENODEV)
        same(node_status(()), True, "node outside, after")
        same(node_status(inside), None, "node inside, after")
        same("lkey" in in_net("dump", "mr")["rows"][0], True)
    finally:
        knob("live", 0)
        command("ip", "netns", "del", "eadm-test")
    reset()


@test("the owner of a network namespace administers the devices in it")
def net_namespace_owner():
    with subprocess.Popen([*NOBODY, "unshare", "-Urn", "bash", "-c", "echo; read -r x"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        owner.stdout.readline()
        through = ("nsenter", "-t", str(owner.pid), "-U", "-n")
        command("ip", "netns", "attach", "eadm-owned", str(owner.pid))
        try:
            command("rdma", "dev", "set", "fake0", "netns", "eadm-owned")
            row = reader("dump", "mr", through=through)["rows"][0]
            same(SECRETS & set(row), {"lkey", "rkey", "iova"})
            out = reader("do", "qp", "dev-name=fake0", "qpn=2", "query-hw=1", through=through)
            same(out["error"], -errno.EPERM)
        finally:
            knob("live", 0)
            command("ip", "netns", "del", "eadm-owned")
            owner.stdin.close()
    wait_until(lambda: not command("rdma", "system", "set", "netns", "shared",
                                   check=False).returncode)
    reset()


@test("a locked-down kernel shows neither adapter nor request bytes, even to root")
def lockdown():
    path = "/sys/kernel/security/lockdown"
    if not os.path.isdir("/sys/kernel/security"):
        raise Skip("a kernel with security modules")
    if not os.path.exists(path):
        command("mount", "-t", "securityfs", "none", "/sys/kernel/security")
    with open(path, "w", encoding="ascii") as file:
        file.write("integrity")
    same(seen(()), ({"lkey", "rkey", "iova", "cgroup-id", "netns"}, errno.EPERM))
