#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the control plane of the virtual EFA adapter against the hardware interface.

Runs in the guest with no EFA driver loaded; prints TAP lines."""

import errno
import os
import struct
import sys
import time

import efa_raw as efa
import pci
from efa_raw import BUSY, ILLEGAL, MALFORMED, NO_RESOURCE, OK, UNSUPPORTED, adapter
from tap import case, equal, run

GID = bytes.fromhex("fe800000000000000c1122fffe334455")


def start(ad, **params):
    return ad.plug(**params).init()


def status_of(function, *args, **kwargs):
    """Returns the status of a command."""
    try:
        function(*args, **kwargs)
    except efa.Refused as err:
        return err.status
    return OK


@case("parameters: defaults, refused values, no changes while plugged in")
def parameters(ad):
    defaults = {"generation": "1", "version": "0x0001", "caps": "0x1b", "features": "0xfe",
                "mtu": "8928", "max_qp": "256", "max_cq": "512", "max_ah": "1024",
                "ah_per_pd": "0", "max_mr_pages": "1048576", "max_sq_depth": "1024", "max_eq": "0",
                "max_inline_ext": "0", "sub_cqs": "1", "speed": "100", "keep_alive": "1000",
                "cmd_timeout": "0", "hint_mmio_timeout": "0", "hint_watchdog": "0",
                "hint_cmd_timeout": "0", "hint_poll_interval": "0"}
    for name, value in defaults.items():
        equal(ad.read(name), value, name)

    def refused(error, name, value):
        try:
            ad.write(name, value)
        except OSError as err:
            assert err.errno in error, f"{name}: {value!r}: {err}"
        else:
            raise AssertionError(f"{name}: {value!r} accepted")

    for name, values in {"generation": "4 -1", "caps": "0x20", "features": "0x10000",
                         "mtu": "255 65496", "max_qp": "0 32769", "max_ah": "65536",
                         "ah_per_pd": "2", "max_eq": "33", "max_cq_depth": "32769", "max_inline_ext": "81",
                         "sub_cqs": "0 5", "cmd_timeout": "16", "hint_cmd_timeout": "65536",
                         "gid": "1 x fe80::1::2",
                         "vectors": "1 34"}.items():
        for value in values.split():
            refused([errno.EINVAL, errno.ERANGE], name, value)
    ad.write("gid", "fe80::c11:22ff:fe33:4455")
    equal(ad.read("gid"), "fe80:0000:0000:0000:0c11:22ff:fe33:4455")
    ad.plug()
    for name in [*defaults, "gid"]:
        refused([errno.EBUSY], name, ad.read(name))


@case("generations: different PCI IDs, same device")
def generations(ad):
    for number in range(4):
        dev = ad.plug(generation=number)
        equal([dev.config16(at) for at in (0, 2, 0x2e)],
              [0x1d0f, 0xefa0 + number, 0xefa0 + number])
        dev.init()
        equal(dev.get_feature(3)[0], OK)


@case("registers after power-on, by readless reads")
def power_on(ad):
    dev = ad.plug(cmd_timeout=15)
    dev.master()
    dev.write_base(efa.RESP, dev.resp.addr)
    equal(dev.read(efa.DEV_STS), efa.READY)
    equal(dev.read(efa.VERSION), 1)
    equal(dev.read(efa.CONTROLLER), 0x00010203)
    caps = dev.read(efa.CAPS)
    assert caps & 1 and 10 <= caps >> 1 & 31 and caps >> 8 & 0xff == 48, hex(caps)
    equal(caps >> 16, 15, "time-out of commands")
    # Reads of write-only registers return 0.
    equal([dev.read(reg) for reg in (efa.DEV_CTL, efa.AQ_BASE, 0x6c, 0xfffc)], [0] * 4)
    # Request numbers wrap.
    dev.seq = 0xfffe
    equal([dev.read(efa.VERSION) for _ in range(4)], [1] * 4)
    # A request that is overwritten before its response is discarded.
    dev.ask(efa.CAPS)
    equal(dev.read(efa.VERSION), 1)


@case("reset: in progress until released; destroys all objects")
def reset(ad):
    dev = start(ad, max_pd=2)
    pd, uar = dev.alloc_pd(), dev.alloc_uar()
    dev.alloc_pd()
    dev.create_ah(GID, pd)
    eq = dev.create_eq()
    cq = efa.Cq(dev, uar, eq=eq)
    qp = efa.Qp(dev, pd, uar, cq, cq)
    mr = efa.Mr(dev, dev.alloc(4096), 4096, pd)
    equal(dev.set_feature(2, struct.pack("<II", 0, 0x1e)), OK)
    dev.write32(efa.DEV_CTL, 1)
    dev.write_base(efa.RESP, dev.resp.addr)
    pci.wait_until(lambda: dev.read(efa.DEV_STS) & efa.RESETTING, "in progress")
    for _ in range(20):
        equal(dev.read(efa.DEV_STS), efa.READY | efa.RESETTING, "until it is released")
    equal(ad.read("state"), "powered")
    dev.write32(efa.DEV_CTL, 0)
    pci.wait_until(lambda: dev.read(efa.DEV_STS) == efa.READY, "end of the reset")
    dev.prepare()
    equal(struct.unpack("<II", dev.get_feature(2)[1][:8]), (0x1e, 0), "groups")
    equal([dev.drop(efa.DEALLOC_PD, pd), dev.drop(efa.DEALLOC_UAR, uar), cq.destroy(),
           qp.destroy(), mr.dereg(), dev.drop(efa.DESTROY_EQ, eq.number)], [ILLEGAL] * 6)
    for _ in range(2):
        dev.alloc_pd()
    equal(status_of(dev.alloc_pd), NO_RESOURCE)


@case("rings: set up in any order; doorbells from before a reset are not replayed")
def rings(ad):
    dev = start(ad)
    for _ in range(5):
        equal(dev.get_feature(1)[0], OK)
    for reason, depth in (0, 32), (3, 64), (6, 1):
        dev.reset(reason)
        equal(ad.read("reset_reason"), str(reason))
        commands = ad.read("commands")
        dev.prepare(depth=depth)
        equal(dev.get_feature(1)[0], OK)
        equal(int(ad.read("commands")), int(commands) + 1)
    # AQ first.
    dev.reset()
    dev.depth = 32
    dev.aq, acq, aenq = (dev.alloc(2048) for _ in range(3))
    dev.acq, dev.pi = efa.Ring(acq, 32, 64, 3), 0
    for base, caps, block in ((efa.AQ_BASE, efa.AQ_CAPS, dev.aq),
                              (efa.ACQ_BASE, efa.ACQ_CAPS, acq),
                              (efa.AENQ_BASE, efa.AENQ_CAPS, aenq)):
        dev.write_base(base, block.addr)
        dev.write32(caps, 64 << 16 | (16 if block is aenq else 32))
    equal(dev.get_feature(1)[0], OK)


@case("with invalid rings, the device does not start")
def bad_rings(ad):
    dev = start(ad)
    for reg, value in ((efa.AQ_CAPS, 64 << 16), (efa.AQ_CAPS, 64 << 16 | 48),
                       (efa.AQ_CAPS, 32 << 16 | 32), (efa.ACQ_CAPS, 64 << 16 | 16),
                       (efa.AENQ_CAPS, 64 << 16 | 3), (efa.AENQ_CAPS, 16 << 16 | 16),
                       (efa.AQ_BASE, 8), (efa.ACQ_BASE, 4), (efa.AENQ_BASE, 16)):
        dev.prepare()
        dev.write32(reg, value)
        dev.post(efa.GET_FEATURE)
        pci.wait_until(lambda: dev.read32(efa.AQ_DB) == 0, "doorbell taken back")
        equal((ad.read("state"), dev.acq.peek()), ("powered", None))
    dev.prepare()
    equal(dev.get_feature(1)[0], OK)


@case("features: responses equal the examples of the interface document")
def features(ad):
    dev = start(ad, gid="fe80::8877:6655:4433:2211", caps="0x0b", max_rq_depth=1024,
                max_cq_depth=4096, vectors=5)
    for feature, answer in (
            (1, "fe000000 00000000 00f0ffff 00000000 03020100 01000000 01000000 04003030 "
                "0b000000 00000040 88776655 44332211 64000000"),
            (3, "fe800000 00000000 88776655 44332211 e0220000"),
            (4, "00010000 00040000 20000000 00040000 00020000 00100000 01000000 02000200 "
                "00400000 00001000 00010000 00040000 00000100 01001000"),
            (5, ""), (7, "04000000 00020000 01000000"), (2, "1e000000 00000000")):
        want = bytes.fromhex(answer).ljust(56, b"\0")
        equal(dev.get_feature(feature), (OK, want), f"feature {feature}")
    dev = start(ad, hint_mmio_timeout=1, hint_watchdog=2, hint_cmd_timeout=3,
                hint_poll_interval=65535)
    equal(dev.get_feature(5), (OK, struct.pack("<4H", 1, 2, 3, 65535).ljust(56, b"\0")))
    dev = start(ad, features="0x2fe", max_inline_ext=80)
    equal(dev.get_feature(9), (OK, struct.pack("<H", 80).ljust(56, b"\0")))


@case("features that are unknown or unsupported: status 5")
def no_features(ad):
    dev = start(ad, features="0x2e")
    equal([dev.get_feature(n)[0] for n in (1, 2, 3, 5)], [OK] * 4)
    equal([dev.get_feature(n)[0] for n in (0, 4, 6, 7, 8, 9, 10, 31, 32, 64, 255)],
          [ILLEGAL] * 11)
    equal([dev.set_feature(n, b"") for n in (0, 1, 3, 4, 5, 6, 7, 8, 9, 255)], [ILLEGAL] * 10)


@case("unknown opcodes: status 3, with an empty response")
def no_opcodes(ad):
    dev = start(ad)
    for opcode in (0, *range(20, 40), 64, 128, 255):
        equal(dev.command(opcode, b"\x55" * 60), (UNSUPPORTED, bytes(56)), f"opcode {opcode}")
    equal(int(ad.read("command_errors")), 24)
    equal(dev.get_feature(1)[0], OK)


@case("completions return command numbers; many commands at once, and many laps")
def numbers(ad):
    dev = start(ad)
    for number in 0, 1, 0x7ff, 0xfff:
        dev.post(efa.ALLOC_PD, number=number)
        equal(dev.completion()[:2], (number, OK))
    for lap in range(5):
        posted = [dev.post(efa.GET_STATS, bytes(15), ring=False) for _ in range(32)]
        dev.write32(efa.AQ_DB, dev.pi)
        equal([dev.completion()[0] for _ in posted], posted, f"lap {lap}")
    # A doorbell beyond the size of the ring is ignored.
    commands = ad.read("commands")
    dev.write32(efa.AQ_DB, dev.pi + 33)
    for _ in range(20):
        dev.read(efa.DEV_STS)
    equal(ad.read("commands"), commands)
    dev.write32(efa.AQ_DB, dev.pi)
    equal(dev.get_feature(1)[0], OK)


@case("version 0.2: completions have a checksum")
def checksum(ad):
    dev = start(ad, version=2, gid="fe80::8877:6655:4433:2211", caps="0x0b")
    equal(dev.read(efa.VERSION), 2)
    dev.post(efa.GET_FEATURE, struct.pack("<12xBBH", 0, 1, 0), number=0)
    equal(dev.acq.wait()[:8].hex(), "00000001dd270000")
    dev.post(efa.ALLOC_UAR, number=0)
    entry = dev.acq.wait()
    crc = 0xffff
    for byte in entry[:4] + bytes(2) + entry[6:]:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xa001 if crc & 1 else 0)
    equal(struct.unpack("<H", entry[4:6])[0], crc ^ 0xffff)


@case("vector 0: one interrupt for each command, and none while masked")
def vector(ad):
    dev = start(ad, keep_alive=0)
    dev.config16(0x42, 0x8000)
    dev.write32(efa.MSIX_TABLE + 12, 1)

    def pending():
        return dev.read32(efa.MSIX_PENDING) & 1

    equal(pending(), 0)
    dev.get_feature(1)
    pci.wait_until(pending, "an interrupt")
    dev.write32(efa.MSIX_TABLE + 12, 0)
    pci.wait_until(lambda: not pending(), "delivery")
    dev.write32(efa.MSIX_TABLE + 12, 1)
    dev.write32(efa.INTR_MASK, 1)
    dev.get_feature(1)
    for _ in range(20):
        dev.read(efa.DEV_STS)
    equal(pending(), 0)
    dev.write32(efa.INTR_MASK, 0)
    pci.wait_until(pending, "an interrupt that was masked")


@case("asynchronous events: groups, keep-alives, none when the ring is full")
def events(ad):
    dev = start(ad, keep_alive=5)
    dev.get_feature(1)
    for _ in range(50):
        dev.read(efa.DEV_STS)
    equal(dev.aenq.peek(), None, "an event of a group that is off")
    equal(dev.set_feature(2, struct.pack("<II", 0, 0x20)), ILLEGAL)
    equal(dev.set_feature(2, struct.pack("<II", 0, 0x10)), OK)
    equal(struct.unpack("<II", dev.get_feature(2)[1][:8]), (0x1e, 0x10))
    # Other groups are disabled.
    ad.fault("aenq_event", arg=1, count=1)
    pci.wait_until(lambda: ad.read("fault/aenq_event/hits") == "1", "the knob")
    before = 0
    for _ in range(40):
        group, syndrome, _, low, high = struct.unpack("<HHIII", dev.aenq.wait()[:16])
        equal((group, syndrome), (4, 0))
        assert low | high << 32 >= before, "time goes back"
        before = low | high << 32
        dev.write32(efa.AENQ_DB, dev.aenq.ci)
    # The ring is full: unconsumed entries are not overwritten.
    pci.wait_until(lambda: int(ad.read("events")) >= 56, "a full ring")
    for _ in range(50):
        dev.read(efa.DEV_STS)
    equal(int(ad.read("events")), 56)
    for _ in range(16):
        assert dev.aenq.get()
    equal(dev.aenq.peek(), None)
    dev.write32(efa.AENQ_DB, dev.aenq.ci)
    dev.aenq.wait("the next keep-alive event")


@case("knobs of commands: slow commands, a lost doorbell, a garbage response")
def command_knobs(ad):
    dev = start(ad)
    stats = dev.stats(0)
    ad.fault("cmd_slow", arg=100000, count=1)
    begin = time.monotonic()
    dev.stats(0)
    assert time.monotonic() - begin >= 0.05, "it was slow"
    ad.fault("cmd_db_lost", count=1)
    numbers = [dev.post(efa.GET_STATS, bytes(15))]
    pci.wait_until(lambda: ad.read("fault/cmd_db_lost/hits") == "1", "the knob")
    for _ in range(20):
        dev.read(efa.DEV_STS)
    equal(dev.acq.peek(), None, "an answer without a doorbell")
    numbers.append(dev.post(efa.GET_STATS, bytes(15)))
    equal([dev.completion()[0] for _ in numbers], numbers)
    ad.fault("answer_garbage", count=-1)
    assert dev.stats(0) != stats
    ad.fault("answer_garbage", count=0)
    equal(dev.stats(0), stats)


@case("a late reset: everything works until then")
def late_reset(ad):
    dev = start(ad)
    ad.fault("reset_late", arg=500, count=1)
    begin = time.monotonic()
    dev.write32(efa.DEV_CTL, 7 << 28 | 1)
    pci.wait_until(lambda: ad.read("fault/reset_late/hits") == "1", "the knob")
    if time.monotonic() - begin < 0.3:
        equal(dev.get_feature(1)[0], OK)
        equal(dev.read(efa.DEV_STS), efa.READY)
    pci.wait_until(lambda: dev.read(efa.DEV_STS) & efa.RESETTING, "in progress")
    assert time.monotonic() - begin >= 0.5, "it was late"
    equal(ad.read("reset_reason"), "7")
    # A withdrawn reset request is discarded.
    dev.reset()
    dev.prepare()
    equal(dev.get_feature(1)[0], OK)
    ad.fault("reset_late", arg=3600000, count=1)
    dev.write32(efa.DEV_CTL, 1)
    pci.wait_until(lambda: ad.read("fault/reset_late/hits") == "2", "the knob")
    dev.write32(efa.DEV_CTL, 0)
    # The model checks DEV_CTL before the response to a read, not before each command: if a request is
    # withdrawn and repeated without a read in between, it is still the first one, and late.
    equal(dev.read(efa.DEV_STS), efa.READY)
    equal(dev.get_feature(1)[0], OK)
    dev.reset(3)
    equal(ad.read("reset_reason"), "3")


@case("host info is read before the command completes; invalid host info is refused")
def host_info(ad):
    dev = start(ad)
    block = dev.alloc(4096)
    block[0:180] = bytes(range(180))
    for length, address, flags, status in (
            (180, block.addr, 2, OK), (179, block.addr, 2, MALFORMED),
            (180, block.addr, 0, MALFORMED), (180, block.addr, 6, MALFORMED),
            (180, 1 << 46, 2, ILLEGAL)):
        equal(dev.set_feature(6, b"", flags, struct.pack("<IQ", length, address)), status)
    equal(ad.read("host_info"), bytes(range(180)).hex())
    dev.reset()
    equal(ad.read("host_info"), "")


@case("statistics of all types; unknown types are refused")
def statistics(ad):
    dev = start(ad)
    equal([dev.stats(kind) for kind in range(5)], [(0,) * 6] * 5)
    equal([dev.stats(5), dev.stats(255), dev.stats(0, scope=1)], [ILLEGAL] * 3)
    ad.fault("counters_wrap", arg=1, count=1)
    pci.wait_until(lambda: ad.read("fault/counters_wrap/hits") == "1", "the knob")
    equal(dev.stats(4), ((1 << 64) - 1,) * 6)


def fill(make, drop, most):
    """Creates the maximum number of objects, fails to create one more, and replaces a destroyed one."""
    made = [make() for _ in range(most)]
    equal(status_of(make), NO_RESOURCE, f"number {most + 1}")
    equal(drop(made[most // 2]), OK)
    made[most // 2] = make()
    equal(status_of(make), NO_RESOURCE)
    for thing in made:
        equal(drop(thing), OK)


@case("the announced number of objects, then status 1")
def exhaustion(ad):
    dev = start(ad, max_pd=5, max_ah=6, max_mr=7, max_cq=8, max_qp=9, vectors=4)
    fill(dev.alloc_pd, lambda n: dev.drop(efa.DEALLOC_PD, n), 5)
    fill(dev.alloc_uar, lambda n: dev.drop(efa.DEALLOC_UAR, n), 256)
    fill(dev.create_eq, lambda eq: dev.drop(efa.DESTROY_EQ, eq.number), 3)
    pd, uar = dev.alloc_pd(), dev.alloc_uar()
    gids = iter(range(100))
    fill(lambda: dev.create_ah(bytes(15) + bytes((next(gids),)), pd),
         lambda n: dev.drop(efa.DESTROY_AH, n, pd), 6)
    block = dev.alloc(4096)
    fill(lambda: efa.Mr(dev, block, 4096, pd), efa.Mr.dereg, 7)
    fill(lambda: efa.Cq(dev, uar), efa.Cq.destroy, 8)
    cq = efa.Cq(dev, uar)
    fill(lambda: efa.Qp(dev, pd, uar, cq, cq), efa.Qp.destroy, 9)


@case("unknown object numbers: status 5")
def bad_numbers(ad):
    dev = start(ad)
    pd, uar = dev.alloc_pd(), dev.alloc_uar()
    cq = efa.Cq(dev, uar)
    for opcode in (efa.DEALLOC_PD, efa.DEALLOC_UAR, efa.DESTROY_AH, efa.DESTROY_CQ,
                   efa.DESTROY_EQ):
        for number in 77, 0xffff:
            equal(dev.drop(opcode, number), ILLEGAL, f"opcode {opcode}, {number}")
    for opcode in efa.DESTROY_QP, efa.QUERY_QP, efa.DEREG_MR:
        for number in 0, 77, 0xffffffff:
            equal(dev.command(opcode, struct.pack("<I", number))[0], ILLEGAL)
    equal(dev.command(efa.MODIFY_QP, struct.pack("<II", 0, 77))[0], ILLEGAL)
    equal(status_of(dev.create_ah, GID, 77), ILLEGAL)
    equal(status_of(efa.Mr, dev, dev.alloc(4096), 4096, 77), ILLEGAL)
    equal(status_of(efa.Qp, dev, 77, uar, cq, cq), ILLEGAL)
    missing = type("Cq", (), {"number": 77})
    equal(status_of(efa.Qp, dev, pd, uar, missing, cq), ILLEGAL)
    equal(status_of(efa.Qp, dev, pd, uar, cq, missing), ILLEGAL)
    # Without the UAR, there is no page for the doorbell.
    equal(status_of(efa.Cq, dev, 77), NO_RESOURCE)
    equal(status_of(efa.Qp, dev, pd, 77, cq, cq), NO_RESOURCE)


@case("objects in use cannot be destroyed: status 7")
def busy(ad):
    dev = start(ad)
    pd, uar = dev.alloc_pd(), dev.alloc_uar()
    ah = dev.create_ah(GID, pd)
    equal(dev.drop(efa.DEALLOC_PD, pd), BUSY)
    equal(dev.drop(efa.DESTROY_AH, ah, pd + 1), ILLEGAL, "AH of another PD")
    equal(dev.drop(efa.DESTROY_AH, ah, pd), OK)
    mr = efa.Mr(dev, dev.alloc(4096), 4096, pd)
    equal(dev.drop(efa.DEALLOC_PD, pd), BUSY)
    equal(mr.dereg(), OK)
    eq = dev.create_eq()
    cq = efa.Cq(dev, uar, eq=eq)
    qp = efa.Qp(dev, pd, uar, cq, cq)
    equal([dev.drop(efa.DEALLOC_PD, pd), dev.drop(efa.DEALLOC_UAR, uar), cq.destroy(),
           dev.drop(efa.DESTROY_EQ, eq.number)], [BUSY] * 4)
    equal([qp.destroy(), cq.destroy(), dev.drop(efa.DESTROY_EQ, eq.number),
           dev.drop(efa.DEALLOC_UAR, uar), dev.drop(efa.DEALLOC_PD, pd)], [OK] * 5)


@case("address handles are reference-counted: create returns the same one again")
def address_handles(ad):
    dev = start(ad)
    pd, other = dev.alloc_pd(), dev.alloc_pd()
    ah = dev.create_ah(GID, pd)
    equal([dev.create_ah(GID, pd) for _ in range(2)], [ah, ah])
    assert len({ah, dev.create_ah(GID, other), dev.create_ah(bytes(16), pd), 0xffff}) == 4
    for _ in range(3):
        equal(dev.drop(efa.DESTROY_AH, ah, pd), OK)
    equal(dev.drop(efa.DESTROY_AH, ah, pd), ILLEGAL)


@case("address handles are numbered within each PD")
def handles_of_pds(ad):
    dev = start(ad, ah_per_pd=1, max_ah=3)
    pds = [dev.alloc_pd() for _ in range(2)]
    gids = [bytes(15) + bytes((n,)) for n in range(4)]
    for pd in pds:
        equal([dev.create_ah(gid, pd) for gid in gids[:3]], [0, 1, 2])
        equal(status_of(dev.create_ah, gids[3], pd), NO_RESOURCE)
    equal(dev.drop(efa.DESTROY_AH, 1, pds[0]), OK)
    equal(dev.drop(efa.DESTROY_AH, 1, pds[0]), ILLEGAL)
    equal(dev.create_ah(gids[3], pds[0]), 1)
    equal(dev.create_ah(gids[1], pds[1]), 1, "as before")
    for _ in range(2):
        equal(dev.drop(efa.DESTROY_AH, 1, pds[1]), OK)


@case("memory regions: page lists in three forms, limits, keys of 24 bits")
def regions(ad):
    dev = start(ad, max_mr_pages=1 << 18)
    pd, page, table = dev.alloc_pd(), dev.alloc(4096).addr, dev.alloc(8192)
    table[0:4096] = struct.pack("<Q", page) * 512

    def inline(count, length=None, iova=0, **kwargs):
        return dev.reg_mr_raw(pd, struct.pack("<4Q", *[page] * min(count, 4), *[0] * (4 - count)),
                              length or count * 4096, iova, **kwargs)[0]

    def direct(count, length=None, address=table.addr):
        return dev.reg_mr_raw(pd, struct.pack("<IQ20x", length or count * 8, address),
                              count * 4096, 0, flags=2)[0]

    equal([inline(n) for n in (1, 2, 3, 4, 5)], [OK] * 4 + [ILLEGAL])
    equal([direct(n) for n in (1, 4, 5, 512)], [OK] * 4)
    equal([direct(5, 32), direct(5, None, 1 << 46)], [ILLEGAL] * 2, "short, nowhere")
    equal([inline(1, shift=shift) for shift in (0, 11, 21, 31)], [ILLEGAL] * 4)
    equal(inline(1, rights=8), ILLEGAL)
    equal(dev.reg_mr_raw(pd, bytes(32), 0, 0)[0], ILLEGAL, "no length")
    equal(dev.reg_mr_raw(pd, bytes(32), 2, (1 << 64) - 1)[0], ILLEGAL, "beyond all addresses")
    big = pci.Memory().phys & ~((2 << 20) - 1)
    equal(dev.reg_mr_raw(pd, struct.pack("<Q24x", big), 2 << 20, 0, shift=21)[0], OK)
    # Pages of the list may repeat; 262144 pages require two chunks.
    for pages, status in (261120, OK), (1 << 18, OK), ((1 << 18) + 1, ILLEGAL):
        first, second = dev.alloc(4096), dev.alloc(4096)
        first[0:4080] = struct.pack("<Q", table.addr) * 510
        first[4080:4092] = struct.pack("<IQ", 8 * 2 + 12, second.addr)
        second[0:16] = struct.pack("<Q", table.addr) * 2
        equal(dev.reg_mr_raw(pd, struct.pack("<IQ20x", 4092, first.addr), pages * 4096, 0,
                             flags=6)[0], status, f"{pages} pages")
    keys = {dev.reg_mr_raw(pd, struct.pack("<4Q", page, 0, 0, 0), 4096, 0)[1][0]
            for _ in range(300)}
    equal(len(keys), 300)
    assert max(keys) < 1 << 24 and min(keys) > 0, "keys"
    key = keys.pop()
    equal([dev.command(efa.DEREG_MR, struct.pack("<I", key))[0] for _ in range(2)],
          [OK, ILLEGAL])


@case("completion queues: depths, entries, sub-CQs, events; doorbells in the page of the UAR")
def completion_queues(ad):
    dev = start(ad, max_cq_depth=1024)
    uars, eq = [dev.alloc_uar() for _ in range(2)], dev.create_eq()
    none = type("Eq", (), {"number": 5})
    for kwargs in ({"depth": 0}, {"depth": 48}, {"depth": 2048}, {"words": 5}, {"words": 16},
                   {"words": 4, "src": True}, {"subs": 2}, {"subs": 0}, {"eq": none}):
        equal(status_of(efa.Cq, dev, uars[0], **kwargs), ILLEGAL, str(kwargs))
    pages, places = [set(), set()], []
    for depth, words in (1, 4), (1, 8), (512, 4), (1024, 8):
        for which, uar in enumerate(uars):
            cq = efa.Cq(dev, uar, depth=depth, words=words, eq=eq, src=words == 8)
            equal((cq.depth, cq.flags & 1), (depth, 1))
            places.append(cq.db)
            pages[which].add(cq.db & ~4095)
    equal(len(set(places)), len(places), "doorbells")
    assert not pages[0] & pages[1], "two UARs in one page"


@case("queue pairs: geometry, addresses of rings and doorbells, numbers")
def queue_pairs(ad):
    dev = start(ad, caps="0x0b", max_qp=64, max_sq_depth=256, min_sq_depth=4)
    pd, uars = dev.alloc_pd(), [dev.alloc_uar() for _ in range(2)]
    cqs = [efa.Cq(dev, uar) for uar in uars]

    def make(which=0, **kwargs):
        return efa.Qp(dev, pd, uars[which], cqs[which], cqs[which], **kwargs)

    for kwargs in ({"kind": 0}, {"kind": 3}, {"flags": 1}, {"flags": 2}, {"flags": 4},
                   {"sq_depth": 2}, {"sq_depth": 48}, {"sq_depth": 512}, {"wqe": 32},
                   {"wqe": 128}, {"rq_depth": 3}):
        equal(status_of(make, **kwargs), ILLEGAL, str(kwargs))
    rings, doorbells, pages = [], [], [set(), set()]
    for i in range(30):
        qp = make(i % 2, sq_depth=4 << i % 7, rq_depth=i % 3 * 16, kind=1 + i % 2)
        first = qp.llq // 4096
        rings.append((first, first + -(-qp.sq_depth * 64 // 4096), i))
        pages[i % 2] |= {qp.sq_db & ~4095, qp.rq_db & ~4095}
        doorbells += [qp.sq_db, qp.rq_db] if qp.rq_depth else [qp.sq_db]
    rings.sort()
    assert all(a[1] <= b[0] for a, b in zip(rings, rings[1:])), f"rings share pages: {rings}"
    assert rings[-1][1] * 4096 <= len(dev.bars[efa.LLQ]), "ring beyond the BAR"
    equal(len(set(doorbells)), len(doorbells), "doorbells")
    assert not pages[0] & pages[1], "two UARs in one page"
    # A number is not reused at once, and the low bits of 64 QPs differ.
    numbers = []
    for _ in range(34):
        qp = make()
        numbers.append(qp.qpn)
        equal(qp.destroy(), OK)
    equal(len(set(numbers)), 34)
    assert max(numbers) < 64, numbers


@case("queue pairs: states and queries")
def states(ad):
    dev = start(ad)
    pd, uar = dev.alloc_pd(), dev.alloc_uar()
    cq = efa.Cq(dev, uar)
    qp = efa.Qp(dev, pd, uar, cq, cq)
    equal(qp.query(), (efa.RESET, 0, 0, 0, 7))
    for state in efa.RTR, efa.RTS, efa.SQD, efa.SQE, 7, 0xffffffff:
        equal(qp.go(state, efa.RESET), ILLEGAL, f"RESET to {state}")
    equal(qp.go(efa.INIT, efa.RTR, qkey=1), ILLEGAL, "a wrong current state")
    equal(qp.go(efa.INIT, efa.RESET, qkey=0x11111111), OK)
    equal(qp.go(efa.INIT, efa.INIT, qkey=0x22222222), OK)
    equal(qp.go(efa.RTS, efa.INIT), ILLEGAL)
    equal(qp.go(efa.RTR, efa.INIT), OK)
    equal(qp.go(efa.RTS, efa.RTR, psn=0x1234, rnr=8), ILLEGAL)
    equal(qp.query(), (efa.RTR, 0x22222222, 0, 0, 7), "nothing of what was refused")
    equal(qp.go(efa.RTS, efa.RTR, psn=0x1234, rnr=3), OK)
    equal(qp.query(), (efa.RTS, 0x22222222, 0x1234, 0, 3))
    equal(qp.go(efa.SQD, efa.RTS), OK)
    equal(qp.go(efa.RTS, efa.SQD), OK)
    equal(qp.go(efa.ERR, efa.RTS), OK)
    equal(qp.go(efa.RTS, efa.ERR), ILLEGAL)
    equal(qp.go(efa.RESET, efa.ERR), OK)
    equal(qp.query()[0], efa.RESET)
    equal(qp.modify(efa.QKEY, qkey=5), OK)
    equal(qp.query()[1], 5)
    dev = start(ad, caps="0x01")
    pd, uar = dev.alloc_pd(), dev.alloc_uar()
    cq = efa.Cq(dev, uar)
    qp = efa.Qp(dev, pd, uar, cq, cq)
    equal(qp.modify(efa.RNR_RETRY, rnr=3), ILLEGAL, "without that capability")


@case("without bus mastering, no memory is accessed and no doorbell is lost")
def master_off(ad):
    dev = start(ad)
    pd = dev.alloc_pd()
    dev.master(False)
    commands = ad.read("commands")
    number = dev.post(efa.DEALLOC_PD, struct.pack("<H", pd))
    ad.fault("stall", count=1, arg=20)
    pci.wait_until(lambda: ad.read("fault/stall/hits") == "1", "the knob")
    equal((ad.read("state"), ad.read("commands"), dev.acq.peek()), ("running", commands, None))
    dev.master()
    equal(dev.completion()[:2], (number, OK))


@case("function level reset")
def flr(ad):
    dev = start(ad)
    pd = dev.alloc_pd()
    dev.reset_function()
    equal(ad.read("state"), "powered")
    dev.init()
    equal(dev.drop(efa.DEALLOC_PD, pd), ILLEGAL)
    pd = dev.alloc_pd()
    ad.write("flr_ms", 1000)
    with dev.resetting_function(1):
        pci.wait_until(lambda: ad.read("state") == "gone", "a function in reset")
    equal((ad.read("state"), dev.config16(0)), ("powered", 0x1d0f))
    dev.init()
    equal(dev.drop(efa.DEALLOC_PD, pd), ILLEGAL)
    ad.unplug()
    ad.write("flr", 0)
    dev = ad.plug()
    equal(os.path.exists(f"{dev.sysfs}/reset"), False, "reset without FLR")


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], adapter))
