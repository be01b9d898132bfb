#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the control plane of the virtual adapter against the hardware interface.

Runs in the guest with no ERDMA driver loaded; prints TAP lines."""

import errno
import os
import struct
import sys
import time

import pci
import raw
from raw import COMMON, RDMA, adapter
from tap import case, equal, run

(NO_OBJECT, NO_MEMORY, BAD_ADDRESS, BUSY, EXISTS, INVALID, NO_SPACE, RANGE,
 UNKNOWN, BAD_INDEX, SHORT) = 2, 12, 14, 16, 17, 22, 28, 34, 38, 71, 90


@case("parameters: defaults, refused values, no changes while plugged in")
def parameters(ad):
    defaults = {"vectors": "32", "qblock": "32", "max_mr_size": "40",
                "max_recv_wr": "15", "max_cqe": "20", "flags": "7 6 5 3",
                "grp_num": "0", "version": "0x01000000",
                "fw_version": "0x00000225", "cc": "1", "proto": "0", "flr": "1",
                "reset_done": "1"}
    for name, value in defaults.items():
        equal(ad.read(name), value, name)
    equal((ad.read("state"), ad.read("address")), ("unplugged", ""))

    def refused(error, name, value):
        try:
            ad.write(name, value)
        except OSError as err:
            assert err.errno in error, f"{name}: {value!r}: {err}"
        else:
            raise AssertionError(f"{name}: {value!r} accepted")

    # Without a MAC, the adapter cannot be assigned to a network interface.
    refused([errno.EINVAL], "live", 1)
    for value in ("\n", "1", "52:54:00:ed:a0", "52:54:00:ed:a0:0",
                  "52:54:00:ed:a0:01:02", "52:54:00:ed:a0:zz",
                  "01:00:5e:00:00:01", "x" * 4000):
        refused([errno.EINVAL], "mac", value)
    for name, values in {
            "vectors": ("1", "33", "x", "-1", "0x100000020"),
            "qblock": "3 513".split(), "max_mr_size": "11 49".split(),
            "max_recv_wr": "0 16".split(), "max_cqe": "5 21".split(),
            "flags": "8 -1 7,6 4".split(), "grp_num": ["33"],
            "version": "0 0x100000000".split(), "fw_version": ["-1"],
            "cc": ["5"], "proto": ["2"], "flr": ["2"], "reset_done": ["2"],
            "flr_ms": "-1 60001 x".split(),
            "stale": ["maybe"], "log_level": ["3"], "live": "2 maybe".split(),
            "surprise": ["0"], "fault/stall/count": "-2 x".split(),
            "fault/stall/probability": ["101"], "fault/stall/target": ["-2"],
            "fault/stall/arg": ["x"]}.items():
        for value in values:
            refused([errno.EINVAL, errno.ERANGE], name, value)
    refused([errno.ENODEV], "surprise", 1)
    ad.write("flags", "3 5")
    equal(ad.read("flags"), "5 3")
    ad.write("flags", "\n")
    equal(ad.read("flags"), "")
    ad.plug()
    for name in list(defaults) + ["mac"]:
        refused([errno.EBUSY], name, ad.read(name) or "3")
    ad.write("live", 1)
    ad.write("log_level", 0)
    ad.unplug()
    ad.unplug()


@case("registers after power-on")
def power_on(ad):
    dev = ad.plug()
    equal(dev.read32(0x00), 0x01000000)
    equal(dev.read32(0x0c), 0)
    equal(dev.read32(0x14), 0)
    mac = bytes.fromhex(ad.read("mac").replace(":", ""))
    equal(struct.pack(">HI", dev.read32(0x1c), dev.read32(0x18)), mac)
    equal(dev.read32(0x4c), 0)


@case("RESET and INIT work in any order and without each other")
def reset_init(ad):
    dev = ad.plug()
    dev.master()
    dev.reset()
    equal(dev.read32(0x14), 1)
    dev.init()
    equal(dev.read32(0x14), 2)
    equal(ad.read("state"), "running")
    equal(dev.command(COMMON, raw.QUERY_FW_INFO)[:2], (0, 0x225))
    # INIT without RESET: old doorbells must not be replayed.
    dev.command(COMMON, raw.QUERY_FW_INFO)
    dev.init()
    commands = int(ad.read("commands"))
    equal(dev.command(COMMON, raw.QUERY_FW_INFO)[0], 0)
    equal(int(ad.read("commands")), commands + 1)
    dev.reset()
    equal(dev.read32(0x14), 1)
    equal(ad.read("state"), "powered")
    # INIT overwrites RESET before the device has read it.
    dev.prepare()
    dev.write32(0x10, 1)
    dev.write32(0x10, 2)
    pci.wait_until(lambda: dev.read32(0x14) & 2, "INIT_DONE")
    equal(dev.command(COMMON, raw.QUERY_FW_INFO)[0], 0)


@case("INIT while the device is stalled discards earlier doorbells")
def init_after_stall(ad):
    dev = ad.plug()
    dev.init()
    dev.command(COMMON, raw.QUERY_FW_INFO)
    ad.fault("stall", count=1, arg=1000)
    pci.wait_until(lambda: ad.read("fault/stall/hits") == "1", "stall")
    dev.post(COMMON, raw.QUERY_FW_INFO)
    dev.arm()
    dev.prepare()
    dev.write32(0x10, 2)
    equal(dev.read32(0x10), 2, "device awake too early")
    pci.wait_until(lambda: dev.read32(0x10) == 0, "INIT taken")
    pci.wait_until(lambda: dev.read32(0x14) & 2, "INIT_DONE")
    pci.wait_until(lambda: dev.read64(0x200) == (1 << 64) - 1 and
                   dev.read64(0x300) == 0, "doorbells taken")
    for _ in range(3):
        equal(dev.command(COMMON, raw.QUERY_FW_INFO), (0, 0x225, 0))
    equal(dev.eq.get(), None, "event although not armed")


@case("without bus mastering, no memory is accessed and no doorbell is lost")
def master_off(ad):
    dev = ad.plug()
    dev.init()
    equal(dev.command(COMMON, raw.QUERY_FW_INFO)[0], 0)
    equal(dev.reg_mr(7, [dev.alloc(4096).addr], 4096), 0)
    dev.master(False)
    equal((dev.read32(0x14), ad.read("state")), (2, "running"))
    commands = int(ad.read("commands"))
    first = dev.post(COMMON, raw.QUERY_FW_INFO)
    # The device polls several times and keeps the doorbell.
    ad.fault("stall", count=1, arg=20)
    pci.wait_until(lambda: ad.read("fault/stall/hits") == "1", "stall")
    equal((dev.cq.get(), int(ad.read("commands"))), (None, commands))
    dev.master()
    equal(dev.completion(first)[0], 0)
    equal(dev.reg_mr(7, [dev.alloc(4096).addr], 4096) != 0, True, "MR 7 lives")
    # RESET and INIT only use registers.
    dev.master(False)
    dev.reset()
    equal(dev.read32(0x14), 1)
    dev.prepare()
    dev.write32(0x10, 2)
    pci.wait_until(lambda: dev.read32(0x14) & 2, "INIT_DONE")
    dev.master()
    equal(dev.command(COMMON, raw.QUERY_FW_INFO)[0], 0)
    equal(dev.reg_mr(7, [dev.alloc(4096).addr], 4096), 0)


@case("reset_done 0: a reset only clears INIT_DONE")
def reset_unreported(ad):
    ad.write("reset_done", 0)
    dev = ad.plug()
    dev.init()
    dev.write32(0x10, 1)
    pci.wait_until(lambda: not dev.read32(0x10), "RESET taken")
    pci.wait_until(lambda: ad.read("state") == "powered", "reset")
    equal(dev.read32(0x14), 0)
    dev.init()
    equal(dev.command(COMMON, raw.QUERY_FW_INFO)[0], 0)


@case("state of an earlier driver stays until RESET, as after kexec")
def stale(ad):
    dev = ad.plug()
    dev.init()
    page = dev.alloc(4096).addr
    equal(dev.reg_mr(7, [page], 4096), 0)
    ad.write("stale", 1)
    equal(dev.dereg_mr(7, 0), 0)
    dev.reset()
    equal(dev.read32(0x14), 1)
    dev.master(False)
    pci.wait_until(lambda: ad.read("stale") == "0", "left")
    equal((dev.read32(0x14), ad.read("state")), (2, "running"))
    dev.master()
    equal(dev.reg_mr(7, [page], 4096) != 0, True, "MR 7 lives")
    dev.reset()
    equal(ad.read("state"), "powered")
    dev.init()
    equal(dev.reg_mr(7, [page], 4096), 0)


@case("INIT with invalid rings never completes")
def bad_init(ad):
    dev = ad.plug()
    dev.master()
    for reg, value in ((0x30, 0), (0x30, 500), (0x30, 1 << 20), (0x34, 3),
                       (0x34, 65536), (0x48, 0), (0x24, 0xffffff), (0x20, 4),
                       (0x3c, 0xffffff), (0x38, 8), (0x44, 0x7fffffff),
                       (0x64, 0x7fffff), (0x6c, 0x7fffff), (0x74, 0x7fffff),
                       (0x78, 4)):
        dev.memory.used = 0
        dev.prepare()
        dev.write32(reg, value)
        dev.write32(0x10, 2)
        pci.wait_until(lambda: dev.read32(0x10) == 0, "INIT taken")
        # The device executes requests in order, so INIT has ended after this reset.
        dev.write32(0x10, 1)
        pci.wait_until(lambda: dev.read32(0x14) & 1, "RESET")
        equal(dev.read32(0x14), 1, f"register {reg:#x} = {value:#x}")
    dev.init()


@case("both slot sizes, ring wrap, garbage after the request")
def slots(ad):
    for slot in 64, 128:
        dev = ad.plug({"slot": slot})
        dev.init(depth=32)
        for i in range(100):
            first = dev.post(COMMON, raw.QUERY_FW_INFO)
            equal(first, i * slot // 32 & 0xffff)
            equal(dev.completion(first), (0, 0x225, 0))
        # The 16-bit index also wraps.
        dev.init(depth=32)
        for i in range(65536 // dev.wqebbs // 4):
            firsts = [dev.post(COMMON, raw.QUERY_FW_INFO, ring=False)
                      for _ in range(4)]
            dev.ring()
            for first in firsts:
                equal(dev.completion(first)[0], 0)
        equal(dev.pi, 0)
        equal(dev.command(COMMON, raw.QUERY_FW_INFO)[0], 0)


@case("event mode: exactly one event per arm")
def events(ad):
    dev = ad.plug()
    dev.init()
    dev.command(COMMON, raw.QUERY_FW_INFO)
    equal(dev.eq.get(), None, "event although not armed")
    for i in range(300):
        dev.arm()
        firsts = [dev.post(COMMON, raw.QUERY_FW_INFO) for _ in range(3)]
        dev.eq.wait("an event")
        dev.cmdsn += 1
        for first in firsts:
            dev.completion(first)
        equal(dev.eq.get(), None, "second event")
        dev.arm_eq(0, dev.eq)
    # A completion between poll and arm raises an event at once.
    first = dev.post(COMMON, raw.QUERY_FW_INFO)
    pci.wait_until(dev.cq.peek, "completion")
    equal(dev.eq.get(), None)
    dev.arm()
    dev.eq.wait("an event for what was there before the arm")
    dev.completion(first)
    # Without an unconsumed completion, there is no event.
    dev.cmdsn += 1
    doorbells = int(ad.read("doorbells"))
    dev.arm()
    pci.wait_until(lambda: int(ad.read("doorbells")) > doorbells, "arm seen")
    equal(dev.eq.get(), None)


@case("commands complete while a driver spins on any CPU")
def busy_waiting(ad):
    limit = "/proc/sys/kernel/sched_rt_runtime_us"
    with open(limit) as file:
        share = file.read()
    dev = ad.plug()
    dev.init()
    cpus = os.sched_getaffinity(0)
    assert len(cpus) > 1, "one CPU"

    def spin():
        dev.post(COMMON, raw.QUERY_FW_INFO)
        end = time.monotonic() + 60 * int(os.environ.get("EADM_PATIENCE", 1))
        while not dev.cq.peek():
            assert time.monotonic() < end, "no answer"
        equal(dev.completion()[0], 0)

    try:
        with open(limit, "w") as file:
            file.write("-1")
        for cpu in cpus:
            print(f"# CPU {cpu}")
            os.sched_setaffinity(0, {cpu})
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
            for _ in range(3):
                spin()
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, cpus)
        with open(limit, "w") as file:
            file.write(share)


@case("MSI-X masks, pending bits and replay")
def msix(ad):
    dev = ad.plug()
    dev.init()

    def pending():
        return dev.read64(0x800, bar=2)

    def event():
        dev.arm()
        dev.command(COMMON, raw.QUERY_FW_INFO)
        dev.eq.wait("an event")
        dev.cmdsn += 1

    dev.config16(0x42, 0x8000)
    dev.write32(12, 1, bar=2)
    event()
    pci.wait_until(lambda: pending() == 1, "pending bit of a masked vector")
    raised = int(ad.read("interrupts"))
    dev.write32(12, 0, bar=2)
    pci.wait_until(lambda: pending() == 0, "replay after unmask")
    equal(int(ad.read("interrupts")), raised)
    dev.config16(0x42, 0xc000)
    dev.arm_eq(0, dev.eq)
    event()
    pci.wait_until(lambda: pending() == 1, "pending bit under MASKALL")
    # Entries left when the EQ is armed raise the vector again.
    dev.config16(0x42, 0x8000)
    pci.wait_until(lambda: pending() == 0, "replay after MASKALL")
    dev.arm_eq(0, dev.eq)
    event()
    raised = int(ad.read("interrupts"))
    left = raw.Ring(dev.eq.block, dev.eq.depth, 16, False)
    left.ci = dev.eq.ci - 1
    dev.arm_eq(0, left)
    pci.wait_until(lambda: int(ad.read("interrupts")) == raised + 1,
                   "interrupt for entries left")
    doorbells = int(ad.read("doorbells"))
    dev.arm_eq(0, dev.eq)
    dev.arm_eq(-1, dev.aeq)
    dev.arm_eq(0, dev.eq)
    dev.command(COMMON, raw.QUERY_FW_INFO)
    pci.wait_until(lambda: int(ad.read("doorbells")) > doorbells, "doorbell")
    equal(int(ad.read("interrupts")), raised + 1)
    equal(dev.config16(0x42) & 0x7ff, 31)


@case("malformed commands fail without stopping the queue")
def malformed(ad):
    dev = ad.plug()
    dev.init()
    for sub in range(4):
        for opcode in range(256):
            if (sub, opcode) in KNOWN:
                continue
            equal(dev.command(sub, opcode)[0], UNKNOWN, f"{sub}/{opcode}")
    equal(dev.command(COMMON, raw.QUERY_FW_INFO, index=3)[0], BAD_INDEX)
    # The slot claims to be larger than the posted one.
    at = dev.pi & dev.depth - 1
    first = dev.pi
    dev.sq.set64(at * 32, 7 << 52 | COMMON << 24 | raw.QUERY_FW_INFO << 16 |
                 first + 8)
    dev.pi += 4
    dev.ring()
    assert dev.completion(first)[0] in (SHORT, BAD_INDEX)
    # The slot is too small for its request.
    equal(dev.command(RDMA, raw.CREATE_QP, wqebbs=1)[0], SHORT)
    equal(dev.command(RDMA, raw.REG_MR, struct.pack("<II", 1 << 31 | 5, 0),
                      wqebbs=1)[0], SHORT)
    # An invalid doorbell is ignored.
    dev.write64(0x200, (dev.pi + dev.depth + 4) & 0xffff)
    dev.ring()
    equal(dev.command(COMMON, raw.QUERY_FW_INFO), (0, 0x225, 0))


KNOWN = {(RDMA, n) for n in (0, 1, 2, 3, 4, 5, 6, 8, 9, 11, 12)} | \
    {(COMMON, n) for n in range(12)}


@case("QUERY_DEVICE returns the parameters")
def query_device(ad):
    dev = ad.plug()
    dev.init()
    equal(dev.command(RDMA, raw.QUERY_DEVICE),
          (0, 40 | 15 << 16 | 0xe8 << 24 | 20 << 40,
           32 << 16 | 1 << 28 | 0xffffff00 << 32))
    dev = ad.plug(max_mr_size=36, max_recv_wr=10, max_cqe=16, qblock=8, cc=3,
                  flags="6 5", fw_version=0x010203, grp_num=24, version=2)
    equal(dev.read32(0), 2)
    equal(dev.read32(0x4c), 24)
    dev.init()
    equal(dev.command(RDMA, raw.QUERY_DEVICE),
          (0, 36 | 10 << 16 | 0x60 << 24 | 16 << 40,
           8 << 16 | 3 << 28 | 0xffffff00 << 32))
    equal(dev.command(COMMON, raw.QUERY_FW_INFO)[1], 0x010203)


@case("configuration commands")
def configuration(ad):
    dev = ad.plug()
    dev.init()

    def conf(opcode, fmt, *values):
        return dev.command(COMMON, opcode, struct.pack(fmt, *values))[0]

    equal(conf(raw.CONF_MTU, "<I", 1500), 0)
    equal(conf(raw.CONF_MTU, "<I", 9000), 0)
    equal(conf(raw.CONF_MTU, "<I", 0), INVALID)
    equal(conf(raw.CONF_MTU, "<I", 1 << 20), INVALID)
    equal(conf(raw.CONF_DEVICE, "<I20x", 1 << 31 | 12), 0)
    equal(conf(raw.CONF_DEVICE, "<I20x", 1 << 31 | 3), INVALID)
    equal(conf(raw.CONF_DEVICE, "<I20x", 3), 0)
    equal(conf(raw.SET_RETRANS_NUM, "<I", 24), 0)
    equal(conf(raw.SET_RETRANS_NUM, "<I", 0), INVALID)
    equal(conf(raw.SET_RETRANS_NUM, "<I", 256), INVALID)
    equal(conf(raw.SET_EXT_ATTR, "<IBB", 1, 7, 0), 0)
    equal(conf(raw.SET_EXT_ATTR, "<IBB", 2, 7, 0), INVALID)
    answer = dev.query(COMMON, raw.GET_EXT_ATTR)
    equal(struct.unpack("<HBBI", answer[:8])[0], 0x5566)
    equal(struct.unpack("<IIB", answer[16:25]), (5, 1, 7))


@case("doorbell pages: distinct, many contexts, freed once")
def doorbell_pages(ad):
    dev = ad.plug()
    dev.init()
    dev.command(COMMON, raw.CONF_DEVICE, struct.pack("<I20x", 1 << 31 | 12))
    request = struct.pack("<IHHHH12x", 7, 0, 0, 0, 0)
    pages = []
    for _ in range(200):
        status, answer, _ = dev.command(COMMON, raw.ALLOC_DB, request)
        equal(status, 0)
        sdb, cdb, rdb = (answer & 0xffff, answer >> 32 & 0xffff, answer >> 48)
        equal(len({sdb, cdb, rdb}), 3)
        assert all(0 < page < 128 for page in (sdb, cdb, rdb)), hex(answer)
        pages.append((sdb, cdb, rdb))
    first = [page for triple in pages[:30] for page in triple]
    equal(len(set(first)), 90, "pages of the first contexts")

    def free(sdb, cdb, rdb):
        return dev.command(COMMON, raw.FREE_DB, struct.pack(
            "<IHHHH12x", 7, rdb, sdb, 0, cdb))[0]

    for triple in pages:
        equal(free(*triple), 0)
    equal(free(*pages[0]), NO_OBJECT)
    equal(free(70, 70, 71), NO_OBJECT)
    equal(free(0xffff, 1, 2), RANGE)
    # Subsets: the bits are SQ, RQ and CQ; no bit means all of them.
    fields = 0xffff, 0xffff << 32, 0xffff << 48
    for bits in range(8):
        status, answer, _ = dev.command(COMMON, raw.ALLOC_DB, struct.pack(
            "<IHHHH12x", bits, 0, 0, 0, 0))
        equal((status, [bool(answer & field) for field in fields]),
              (0, [bool((bits or 7) & 1 << i) for i in range(3)]), "pages")
        pages = struct.pack("<HHHH12x", answer >> 48, answer & 0xffff, 0,
                            answer >> 32 & 0xffff)
        for one in (1 << i for i in range(3) if (bits or 7) & 1 << i):
            for status in 0, NO_OBJECT:
                equal(dev.command(COMMON, raw.FREE_DB, struct.pack("<I", one) +
                                  pages)[0], status)


@case("event queues: creation, limits, contexts")
def event_queues(ad):
    dev = ad.plug(vectors=4)
    dev.init()
    for eqn in 1, 2, 3:
        assert isinstance(dev.create_eq(eqn), raw.Ring)
    equal(dev.create_eq(1), EXISTS)
    equal(dev.create_eq(4), RANGE)
    equal(dev.create_eq(0), RANGE)
    equal(dev.create_eq(255), RANGE)
    equal(dev.destroy_eq(2), 0)
    equal(dev.destroy_eq(2), NO_OBJECT)
    equal(dev.destroy_eq(0), RANGE)
    equal(dev.destroy_eq(1, kind=0), INVALID)
    equal(dev.create_eq(2, log2=16), INVALID)
    equal(dev.create_eq(2, kind=0), INVALID)
    equal(dev.create_eq(2, vector=9), RANGE)
    bad = pci.Block(dev.memory, 0, 16)
    bad.addr = 1 << 50
    equal(dev.create_eq(2, ring=bad), BAD_ADDRESS)
    equal(dev.create_eq(2, dbrec=bad), BAD_ADDRESS)
    assert isinstance(dev.create_eq(2, log2=12), raw.Ring)
    eqc = dev.query(COMMON, raw.QUERY_EQC, 3)
    equal(struct.unpack("<HHI", eqc[0:2] + eqc[4:6] + eqc[4:8])[0], 0x5566)
    equal(struct.unpack("<HHBBBBII", eqc[16:32]),
          (4096, 2, 0, 1, 1, 0, 0, 0))
    for index in 0, 1, 2, 4:
        assert isinstance(dev.query(COMMON, raw.QUERY_EQC, index), bytes)
    equal(dev.query(COMMON, raw.QUERY_EQC, 5), NO_OBJECT)
    equal(dev.query(COMMON, raw.QUERY_EQC, 0xffffffff), RANGE)


@case("completion queues: creation, limits, contexts")
def completion_queues(ad):
    dev = ad.plug()
    dev.init()
    dev.create_eq(1)
    cq = dev.create_cq(5)
    equal(cq.syndrome, 0)
    equal(dev.create_cq(5).syndrome, EXISTS)
    equal(dev.create_cq(0).syndrome, RANGE)
    equal(dev.create_cq(65535).syndrome, 0)
    equal(dev.create_cq(65536).syndrome, RANGE)
    equal(dev.create_cq(6, eqn=2).syndrome, NO_OBJECT)
    equal(dev.create_cq(6, eqn=0).syndrome, RANGE)
    equal(dev.create_cq(6, eqn=1023).syndrome, RANGE)
    equal(dev.create_cq(7, direct_bit=1).syndrome, 0)
    equal(dev.create_cq(8, log2=0).syndrome, 0)

    def create(cqn, log2, shift, addr, count, table, off=0, dbrec=None):
        return dev.command(RDMA, raw.CREATE_CQ, struct.pack(
            "<IIIIQII", log2 << 24 | shift - 12 << 20 | cqn, addr & 0xffffffff,
            addr >> 32, count << 16 | table << 15 | 1,
            dbrec or cq.dbrec.addr, off, 0))[0]

    ring = dev.alloc(65536, 65536)
    table = dev.alloc(64, 8)
    for i in range(4):
        table.set64(8 * i, ring.addr + 4096 * (3 - i))
    equal(create(9, 9, 12, table.addr, 4, 1), 0)
    equal(create(10, 9, 12, table.addr, 3, 1), INVALID, "ring beyond its pages")
    equal(create(10, 9, 12, table.addr, 4, 0), INVALID, "table not announced")
    equal(create(10, 8, 12, table.addr, 3, 1, off=32 * 16), 0)
    equal(create(11, 8, 12, table.addr, 2, 1, off=32), INVALID)
    equal(create(11, 6, 12, table.addr, 2, 1, off=4096), INVALID)
    equal(create(11, 6, 12, table.addr, 2, 1, off=7), INVALID)
    equal(create(11, 6, 12, ring.addr, 0, 1), INVALID)
    equal(create(11, 21, 25, ring.addr, 1, 0), RANGE)
    equal(create(11, 6, 12, ring.addr, 1, 0, dbrec=1 << 45), BAD_ADDRESS)
    equal(create(11, 6, 12, ring.addr, 1, 0, dbrec=cq.dbrec.addr + 4),
          BAD_ADDRESS)
    equal(create(11, 6, 12, 1 << 45, 1, 0), BAD_ADDRESS)
    table.set64(8, ring.addr + 64)
    equal(create(11, 9, 12, table.addr, 4, 1), INVALID, "entry not aligned")
    table.set64(8, 1 << 45)
    equal(create(11, 9, 12, table.addr, 4, 1), BAD_ADDRESS)
    equal(create(11, 6, 12, 0, 1, 0), BAD_ADDRESS)

    cqc = dev.query(RDMA, raw.QUERY_CQC, 9)
    equal(struct.unpack("<HBBI", cqc[:8])[::3], (0x5566, 9))
    equal(struct.unpack("<IBBB", cqc[16:23]), (0, 1, 9, 1))
    equal(dev.query(RDMA, raw.QUERY_CQC, 4711), NO_OBJECT)
    cqc = dev.query(RDMA, raw.QUERY_CQC, 0)
    equal(struct.unpack("<IBB", cqc[16:22]), (dev.cq.ci - 1, 1, 9))
    equal(dev.query(RDMA, raw.QUERY_CQC, 5, length=16), INVALID)
    equal(dev.query(RDMA, raw.QUERY_CQC, 5, addr=1 << 45), BAD_ADDRESS)
    equal(cq.destroy(), 0)
    equal(cq.destroy(), NO_OBJECT)
    cq.cqn = 1 << 31
    equal(cq.destroy(), RANGE)


@case("queue pairs: creation, limits, contexts")
def queue_pairs(ad):
    dev = ad.plug()
    dev.init()
    dev.create_eq(1)
    scq, rcq = dev.create_cq(1), dev.create_cq(2)
    qp = dev.create_qp(0x12, scq, rcq)
    equal((qp.syndrome, qp.cookie), (0, 0x12))
    equal(dev.create_qp(0x12, scq, rcq).syndrome, EXISTS)
    equal(dev.create_qp(0, scq, rcq).syndrome, RANGE)
    equal(dev.create_qp(32767, scq, rcq).syndrome, 0)
    equal(dev.create_qp(32768, scq, rcq).syndrome, RANGE)
    scq.cqn = 99
    equal(dev.create_qp(5, scq, rcq).syndrome, NO_OBJECT)
    scq.cqn = 1
    equal(scq.destroy(), BUSY)

    def create(qpn, sq=(6, 12, 1, 0, 0), rq=(4, 12, 1, 0, 0), inline=(), sqa=0,
               rqa=0, dbrec=None, wqebbs=4):
        """sq and rq: log2, page shift, count, level and offset of the queue."""
        body = struct.pack(
            "<IIIIQQIIQQ", sq[0] << 20 | qpn, rq[0] << 20 | 3,
            sq[1] - 12 << 28 | 1, rq[1] - 12 << 28 | 2, sqa or buf.addr,
            rqa or buf.addr + 65536, sq[4] | sq[2] << 1 | sq[3],
            rq[4] | rq[2] << 1 | rq[3], dbrec or qp.dbrec.addr,
            (dbrec or qp.dbrec.addr) + 8)
        if inline:
            body += b"".join(struct.pack("<Q", entry) for entry in inline)
        return dev.command(RDMA, raw.CREATE_QP, body, wqebbs=wqebbs)[0]

    buf = dev.alloc(131072, 65536)
    table = dev.alloc(128, 8)
    for i in range(16):
        table.set64(8 * i, buf.addr + 4096 * i)
    pages = [buf.addr + 4096 * i for i in (3, 2, 1)]
    equal(create(20, sq=(9, 12, 4, 0, 0), inline=pages + pages), 0)
    equal(create(21, sq=(9, 12, 5, 0, 0), inline=pages + pages), INVALID)
    equal(create(21, sq=(10, 12, 4, 0, 0), inline=pages + pages), INVALID)
    equal(create(21, sq=(11, 12, 16, 1, 0), sqa=table.addr), 0)
    equal(create(22, sq=(7, 12, 1, 1, 0), sqa=table.addr), 0)
    equal(create(23, sq=(11, 12, 15, 1, 0), sqa=table.addr), INVALID)
    equal(create(23, sq=(10, 13, 4, 1, 4096), sqa=table.addr), INVALID,
          "page aligned to less than its size")
    for i in range(8):
        table.set64(8 * i, buf.addr + 8192 * i)
    equal(create(23, sq=(10, 13, 5, 1, 4096), sqa=table.addr), 0)
    equal(create(24, sq=(6, 12, 1, 0, 4096)), INVALID, "offset beyond page")
    equal(create(24, sq=(6, 12, 0, 0, 0)), INVALID)
    equal(create(24, sq=(16, 20, 1, 0, 0)), RANGE)
    equal(create(24, rq=(16, 20, 1, 0, 0)), RANGE)
    equal(create(24, sq=(4095, 20, 1, 0, 0)), RANGE)
    equal(create(24, sqa=1 << 45), BAD_ADDRESS)
    equal(create(24, sqa=buf.addr + 7), INVALID)
    equal(create(24, dbrec=1 << 45), BAD_ADDRESS)
    equal(create(24, dbrec=qp.dbrec.addr + 1), BAD_ADDRESS)
    # 64 byte slots end before the inline entries.
    equal(create(24, wqebbs=2), 0)
    equal(create(25, sq=(6, 12, 2, 0, 0), wqebbs=2), INVALID)

    qpc = dev.query(RDMA, raw.QUERY_QPC, 0x12)
    equal(struct.unpack("<HBBI", qpc[:8])[::3], (0x5566, 0x12))
    equal(struct.unpack("<4B2H", qpc[16:24]), (1, 0, 8, 6, 0, 0))
    equal(struct.unpack("<4B2H", qpc[24:32]), (1, 0, 8, 4, 0, 0))
    equal(struct.unpack("<I", qpc[0x38:0x3c])[0], 3)
    equal(struct.unpack("<II4Q", qpc[0x48:0x70]),
          (1, 2, qp.sq.addr, qp.rq.addr, qp.dbrec.addr, qp.dbrec.addr + 8))
    equal(dev.query(RDMA, raw.QUERY_QPC, 4711), NO_OBJECT)
    qpc = dev.query(RDMA, raw.QUERY_QPC, 0)
    equal(struct.unpack("<H", qpc[0x14:0x16])[0], dev.pi)
    equal(qp.destroy(), 0)
    equal(qp.destroy(), NO_OBJECT)
    for qpn in 32767, 20, 21, 22, 23, 24:
        qp.qpn = qpn
        equal(qp.destroy(), 0)
    equal(scq.destroy(), 0)
    equal(rcq.destroy(), 0)


@case("memory regions: levels, versions, limits")
def memory_regions(ad):
    dev = ad.plug()
    dev.init()
    page = dev.alloc(16384)
    reg = dev.reg_mr
    equal(reg(1, [page.addr], 4096), 0)
    equal(reg(1, [page.addr], 4096), EXISTS)
    equal(reg(0, [page.addr], 1, start=5), 0)
    equal(reg(65535, [page.addr], 4096), 0)
    equal(reg(65536, [page.addr], 4096), RANGE)
    equal(reg(2, [page.addr + 4096 * i for i in range(4)], 16384), 0)
    equal(reg(3, [page.addr], 4097), INVALID, "longer than its pages")
    equal(reg(3, [page.addr], 4096, start=1), INVALID)
    equal(reg(3, [page.addr] * 4, 16384 - 7, start=0x1007), 0)
    equal(reg(4, [page.addr + 8], 100), INVALID)
    equal(reg(4, [1 << 45], 100), BAD_ADDRESS)
    equal(reg(4, [page.addr], 4096, shift=11), INVALID)
    equal(reg(4, [page.addr], 4096, shift=31), INVALID)
    equal(reg(4, [page.addr], 4096, count=0), INVALID)
    equal(reg(4, [page.addr], 4096, count=5), INVALID)
    equal(reg(4, [page.addr], 4096, kind=3), INVALID)
    equal(reg(4, [page.addr], 4096, version=2), INVALID)
    equal(reg(4, [page.addr], 4096, start=(1 << 64) - 4096), INVALID)
    # Larger than 4 GiB with version 0: the number of pages determines the length.
    table = dev.alloc(4096)
    inside = page.addr % (1 << 30)
    for i in range(512):
        table.set64(8 * i, page.addr - inside)
    equal(reg(4, [table.addr], (6 << 30) - inside, start=inside, shift=30,
              level=1, count=6), 0)
    equal(reg(12, [page.addr - inside], 4096, start=inside, shift=30), 0)
    equal(dev.dereg_mr(12), 0)
    # DMA MR: no translation.
    equal(reg(5, [], 0, kind=2, valid=0, shift=0), 0)
    # Level 1 in both versions, then trees.
    table = dev.alloc(4096)
    for i in range(512):
        table.set64(8 * i, page.addr)
    equal(reg(6, [table.addr], 512 * 4096, level=1, count=512), 0)
    equal(reg(7, [table.addr], 512 * 4096, level=1, count=512, version=1), 0)
    equal(reg(8, [table.addr + 4], 4096, level=1, count=1), INVALID)
    equal(reg(8, [1 << 45], 4096, level=1, count=1), BAD_ADDRESS)
    equal(reg(8, [table.addr], 4096, level=2, count=1), INVALID,
          "a tree in version 0")
    top = dev.alloc(4096)
    for i in range(512):
        top.set64(8 * i, table.addr)
    count = 512 * 300 + 7
    equal(reg(8, [top.addr], count * 4096, level=2, count=count, version=1), 0)
    root = dev.alloc(4096)
    for i in range(8):
        root.set64(8 * i, top.addr)
    count = 512 * 512 * 5 + 1
    equal(reg(9, [root.addr], count * 4096 - 3, level=3, count=count,
              version=1), 0)
    equal(reg(10, [top.addr], 1 << 30, level=2, count=512 * 512 + 1,
              version=1), INVALID, "more entries than the level holds")
    equal(reg(10, [root.addr], 1 << 41, level=3, count=1 << 21, version=1,
              shift=20), RANGE)
    # More pages than the largest region requires, although this one is short.
    equal(reg(10, [root.addr], 4096, level=3, count=(1 << 20) + 3, version=1,
              shift=20), RANGE)
    equal(reg(10, [table.addr], 0, level=1, count=(512 << 10) + 1, kind=1,
              valid=0), RANGE)
    top.set64(8 * 100, 1 << 45)
    equal(reg(10, [top.addr], 300 << 20, level=2, count=512 * 150, version=1),
          BAD_ADDRESS)
    top.set64(8 * 100, table.addr + 8)
    equal(reg(10, [top.addr], 300 << 20, level=2, count=512 * 150, version=1),
          INVALID)
    # Fast registration: not valid yet; the table exists and is filled later.
    equal(reg(11, [table.addr], 0, level=1, count=512, kind=1, valid=0), 0)
    equal(dev.dereg_mr(1, key=9), INVALID)
    equal(dev.dereg_mr(11, key=9), 0)
    for index in 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 65535:
        equal(dev.dereg_mr(index), 0)
    equal(dev.dereg_mr(1), NO_OBJECT)
    equal(dev.dereg_mr(65536), RANGE)


@case("statistics buffer")
def statistics(ad):
    dev = ad.plug()
    dev.init()
    answer = dev.query(COMMON, raw.GET_STATS)
    equal(answer[:2], b"\x66\x55")
    equal(answer[16:], bytes(240))
    equal(dev.query(COMMON, raw.GET_STATS, length=64), INVALID)


@case("QP states")
def states(ad):
    dev = ad.plug()
    dev.init()
    dev.create_eq(1)
    cq = dev.create_cq(1)
    qp = dev.create_qp(7, cq, cq)
    equal(qp.modify(raw.RTR), 0)
    equal(qp.modify(raw.IDLE), 0)
    equal(qp.modify(raw.RTS, cc=9), INVALID)
    equal(qp.modify(raw.RTS, cookie=9, dip=0x0a000002, sip=0x0a000001,
                    sport=1111, dport=2222), 0)
    qpc = dev.query(RDMA, raw.QUERY_QPC, 7)
    equal(struct.unpack(">IIHH", qpc[0x80:0x8c]),
          (0x0a000001, 0x0a000002, 1111, 2222))
    equal(qp.modify(raw.RTR), INVALID)
    equal(qp.modify(raw.RTS), INVALID)
    equal(qp.modify(raw.CLOSING), 0)
    equal(qp.modify(raw.RTS), INVALID)
    equal(qp.modify(raw.ERROR), 0)
    equal(qp.modify(6), INVALID)
    equal(qp.modify(255), INVALID)
    qp.qpn = 8
    equal(qp.modify(raw.ERROR), NO_OBJECT)
    equal(qp.reflush(0, 0), NO_OBJECT)


@case("stop states flush, and so do later posts and REFLUSH")
def flush(ad):
    for state in raw.CLOSING, raw.TERMINATE, raw.ERROR:
        dev = ad.plug()
        dev.init()
        ceq = dev.create_eq(1)
        scq, rcq = dev.create_cq(1), dev.create_cq(2)
        qp = dev.create_qp(7, scq, rcq)
        scq.arm(solicited=1)
        firsts = [qp.post_raw(2, bytes(24)), qp.post_raw(0, bytes(60)),
                  qp.post_raw(17, bytes(56))]
        for _ in range(5):
            qp.post_recv()
        equal(scq.get(), None)
        equal(qp.modify(state), 0)
        for first, opcode in zip(firsts, (2, 0, 17)):
            cqe = scq.wait()
            equal((cqe.index, cqe.opcode, cqe.syndrome, cqe.qtype, cqe.qpn,
                   cqe.bytes), (first, opcode, 15, 0, 7, 0))
        for i in range(5):
            cqe = rcq.wait()
            equal((cqe.index, cqe.opcode, cqe.syndrome, cqe.qtype, cqe.qpn),
                  (i, 4, 15, 1, 7))
        event = ceq.wait("a CEQE")
        equal(struct.unpack("<Q", event[:8])[0] & 0xfffff, 1)
        equal(ceq.get(), None)
        # Requests posted after the stop: with a doorbell, and only with REFLUSH.
        first = qp.post_raw(2, bytes(24))
        equal(scq.wait().index, first)
        equal(rcq.get(), None)
        rq_first = qp.post_recv()
        equal(rcq.wait().index, rq_first)
        first = qp.post_raw(14, bytes(24), ring=False)
        rq_first = qp.post_recv(ring=False)
        equal(qp.reflush(qp.pi, qp.rpi), 0)
        equal(scq.wait().index, first)
        equal(rcq.wait().index, rq_first)
        equal(qp.reflush(qp.pi, qp.rpi), 0)
        equal((scq.get(), rcq.get()), (None, None))
        equal(qp.reflush(1 << 20, 0), RANGE)
        # An arm with an index behind the producer raises an event at once.
        scq.arm(ci=0)
        event = ceq.wait("a CEQE for entries that were there")
        equal(struct.unpack("<Q", event[:8])[0] & 0xfffff, 1)
        qpc = dev.query(RDMA, raw.QUERY_QPC, 7)
        equal(struct.unpack("<HH", qpc[0x14:0x18]), (qp.pi, qp.pi))
        equal(struct.unpack("<HH", qpc[0x24:0x28]), (5, 7))
        equal(qpc[0x42:0x44], b"\1\1")
        equal(struct.unpack("<HH", qpc[0x44:0x48]), (qp.pi, qp.rpi))
        cqc = dev.query(RDMA, raw.QUERY_CQC, 1)
        equal(struct.unpack("<I", cqc[16:20])[0], 5)
        equal(qp.destroy(), 0)


@case("flush with wrapped rings and garbage entries")
def flush_garbage(ad):
    dev = ad.plug()
    dev.init()
    dev.create_eq(1)
    cq = dev.create_cq(1, log2=10)
    qp = dev.create_qp(7, cq, cq, sq_log2=4)
    # Records with a different QP or invalid indices are ignored.
    qp.dbrec.set64(0, 8 << 32 | 4)
    qp.dbrec.set64(8, 7 << 32 | 40000)
    equal(qp.modify(raw.ERROR), 0)
    equal(cq.get(), None)
    qp.dbrec.set64(0, 0)
    qp.dbrec.set64(8, 0)
    for _ in range(40):
        firsts = [qp.post_raw(0, bytes(56)) for _ in range(3)]
        for first in firsts:
            equal(cq.wait().index, first)
    # The position of the next entry is unknown: one completion for all others.
    for at in range(0, 16 * 32, 32):
        qp.sq[at:at + 32] = b"\xff" * 32
    qp.pi = (qp.pi + 9) & 0xffff
    qp.ring()
    cqe = cq.wait()
    equal((cqe.syndrome, cqe.opcode < 19), (15, True))
    first = qp.post_raw(2, bytes(24))
    equal(cq.wait().index, first)


@case("faults: commands dropped, delayed, failed, duplicated")
def faults(ad):
    dev = ad.plug()
    dev.init()
    target = COMMON * 256 + raw.CONF_MTU
    mtu = struct.pack("<I", 1500)
    ad.fault("cmd_error", count=1, target=target, arg=99)
    equal(dev.command(COMMON, raw.QUERY_FW_INFO)[0], 0)
    equal(dev.command(COMMON, raw.CONF_MTU, mtu)[0], 99)
    equal(dev.command(COMMON, raw.CONF_MTU, mtu)[0], 0)
    equal(ad.read("fault/cmd_error/hits"), "1")
    ad.fault("cmd_delay", count=1, arg=300)
    begin = time.monotonic()
    equal(dev.command(COMMON, raw.CONF_MTU, mtu)[0], 0)
    assert time.monotonic() - begin >= 0.3
    ad.fault("cmd_duplicate", count=1)
    first = dev.post(COMMON, raw.CONF_MTU, mtu)
    equal(dev.completion(first)[0], 0)
    equal(dev.completion(first)[0], 0)
    ad.fault("cmd_drop", count=1)
    dev.post(COMMON, raw.CONF_MTU, mtu)
    second = dev.post(COMMON, raw.QUERY_FW_INFO)
    equal(dev.completion(second)[0], 0)
    ad.fault("cmd_drop", count=-1, probability=50)
    seen = int(ad.read("commands"))
    for _ in range(60):
        dev.post(COMMON, raw.CONF_MTU, mtu)
    # One command was dropped before.
    pci.wait_until(lambda: int(ad.read("commands")) + int(ad.read("fault/cmd_drop/hits")) ==
                   seen + 1 + 60, "all are answered or dropped")
    ad.fault("cmd_drop", target=0)
    dev.post(COMMON, raw.QUERY_FW_INFO)
    done = 0
    while dev.completion()[1] != 0x225:
        done += 1
    assert 5 < done < 55, done
    equal(int(ad.read("fault/cmd_drop/hits")), 1 + 60 - done)
    assert int(ad.read("commands")) >= seen


@case("faults: stall, lost interrupt, device gone and back")
def device_faults(ad):
    dev = ad.plug()
    dev.init()
    ad.fault("stall", count=1, arg=300)
    begin = time.monotonic()
    pci.wait_until(lambda: ad.read("fault/stall/hits") == "1", "stall")
    equal(dev.command(COMMON, raw.QUERY_FW_INFO)[0], 0)
    assert time.monotonic() - begin >= 0.28
    dev.config16(0x42, 0xc000)
    ad.fault("irq_lost", count=1, target=0)
    dev.arm()
    dev.command(COMMON, raw.QUERY_FW_INFO)
    dev.eq.wait("an event")
    equal(dev.read64(0x800, bar=2), 0)
    ad.fault("dev_gone", count=1, arg=300)
    pci.wait_until(lambda: dev.read32(0) == 0xffffffff, "gone")
    equal(dev.config16(0), 0xffff)
    equal(ad.read("state"), "gone")
    # Registers and config space return in either order: a different thread restores them, and may be
    # preempted in between.
    pci.wait_until(lambda: dev.read32(0) == 0x01000000, "back")
    pci.wait_until(lambda: dev.config16(0) == 0x1ded, "back in config space")
    equal(dev.read32(0x14), 0)
    dev.init()
    equal(dev.command(COMMON, raw.QUERY_FW_INFO)[0], 0)


@case("function level reset")
def flr(ad):
    dev = ad.plug()
    dev.init()
    dev.config16(0x42, 0x8000)
    with open(f"{dev.sysfs}/reset_method") as file:
        equal(file.read().split(), ["flr"])
    dev.reset_function()
    equal(ad.read("state"), "powered")
    equal(dev.read32(0x14), 0)
    dev.init()
    equal(dev.command(COMMON, raw.QUERY_FW_INFO)[0], 0)
    ad.write("flr_ms", 1000)
    with dev.resetting_function(1):
        pci.wait_until(lambda: dev.read32(0) == 0xffffffff, "a function in reset")
        equal(ad.read("state"), "gone")
    equal((dev.read32(0), dev.config16(0)), (0x01000000, 0x1ded))
    dev.init()
    equal(dev.command(COMMON, raw.QUERY_FW_INFO)[0], 0)
    ad.unplug()
    ad.write("flr", 0)
    dev = ad.plug()
    equal(os.path.exists(f"{dev.sysfs}/reset"), False, "reset without FLR")


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], adapter))
