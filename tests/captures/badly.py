#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes captures of machines in a bad way: badly.py FOLDER.

  badly/unset.pcapng  two adapters whose machine lacks what they and applications need
  badly/none.pcapng   no adapter, no library, no module
  badly/hung.pcapng   two moments of a job that hangs, as a debugger has stopped one of its
                      processes: the picture in README.md
"""

import os
import sys

import synth
from nlcap import Capture


def unset():
    eqs = synth.eqs
    synth.eqs = lambda i: eqs(i) + [{**eqs(i)[2], "index": 3, "eqn": 3, "irq": 43}]
    cap = synth.two()
    synth.eqs = eqs
    cap.local("machine", {"cpus": 4, "memlock": 8 << 20, "netns-mode": "exclusive",
                          "lockdown": "none [integrity] confidentiality"})
    for name, loaded in (("ib_core", 1), ("ib_uverbs", 1), ("rdma_cm", 1), ("rdma_ucm", 0),
                         ("nvidia_peermem", 0)):
        cap.local("module", {"name": name, "loaded": loaded})
    cap.local("verbs", {"installed": 1, "providers": "rxe siw", "rdma-cm-error": -13})
    for (index, name, _), own in zip(synth.DEVS, (
            {"netdev": "eth0", "netdev-ipv4": 1, "netdev-mtu": 9000, "iommu": "DMA-FQ",
             "gid-index": 1, "gid": "0000:0000:0000:0000:0000:ffff:0a4d:0001",
             "uverbs": "uverbs0", "uverbs-error": -13, "subnet": "eth1=10.77.0.2/24",
             "arp-answers": "eth1", "arp-ignore": 0, "arp-announce": 0, "rp-filter": 0,
             "route-netdev": "eth0"},
            {"netdev": "eth1", "netdev-ipv4": 0, "netdev-mtu": 1500, "iommu": "identity",
             "gid": "", "uverbs": "uverbs1", "uverbs-error": 0, "subnet": "eth0=10.77.0.1/24",
             "arp-answers": "", "arp-ignore": 0, "arp-announce": 0, "rp-filter": 1,
             "route-netdev": "eth0"})):
        cap.local("setup", {"dev-index": index, "dev-name": name, **own})
    for irq in (42, 43):
        cap.local("irq", {"irq": irq, "affinity": "2"})
    return cap


def none():
    cap = Capture()
    cap.family(there=False)
    cap.rdma_devices([])
    cap.local("machine", {"cpus": 2, "memlock": (1 << 64) - 1, "netns-mode": "shared"})
    cap.local("module", {"name": "ib_core", "loaded": 1})
    for name in ("ib_uverbs", "rdma_cm", "rdma_ucm"):
        cap.local("module", {"name": name, "loaded": 0})
    cap.local("verbs", {"installed": 0, "rdma-cm-error": -2})
    return cap


def hung():
    cap = Capture()
    cap.local("machine", {"kernel": "6.12.0-test", "host-pids": 1})
    for late in range(2):
        m = synth.Machine(["cloud_0", "cloud_1"])
        for dev in range(2):
            m.add("dev", dev, synth.device(dev), **{"netdev-mac": synth.device(dev)["mac"]})
            m.add("cmdq", dev, synth.cmdq(0))
            m.add("counters", dev, synth.counters(0))
        age = (100 + 2 * late) * synth.SEC
        job = {"pid": 4711, "comm": "all_reduce"}
        m.add("qp", 0, synth.conn(18, port=40010, **job, **{
            "hw-sq-ci": 30, "hw-tx-packets": 50 + 20 * late}), age=age)
        m.add("qp", 1, synth.conn(21, port=40010, peer_side=True, **{**job, "pid": 4802}, **{
            "hw-rq-ci": 20, "hw-rx-packets": 60 + 20 * late}), age=age)
        m.processes[4711] = {"state": "sleeping", "frozen": 0, "cgroup": "/system.slice/job.service"}
        m.processes[4802] = {"state": "traced", "wchan": "ptrace_stop", "frozen": 0,
                             "cgroup": "/system.slice/job.service"}
        m.write(cap, late)
        synth.links(cap, list(enumerate(m.names)))
    return cap


def main():
    os.makedirs(f"{sys.argv[1]}/badly", exist_ok=True)
    unset().write(f"{sys.argv[1]}/badly/unset.pcapng")
    none().write(f"{sys.argv[1]}/badly/none.pcapng")
    hung().write(f"{sys.argv[1]}/badly/hung.pcapng")


if __name__ == "__main__":
    main()
