# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the functions return besides rows: named tuples, which the C part fills in."""

from typing import Dict, List, NamedTuple, Optional, Tuple


class Note(NamedTuple):
    """What a result does not contain, and why."""

    error: int  # errno if something that should be there could not be read, or 0
    device: str  # the device in question, "" for all
    what: str  # what is missing
    why: str  # the reason
    reason: Optional[str]  # stable name of the reason, or None
    remedy: Optional[str]  # what to do about it, or None
    missing: int  # how many are missing
    of: int  # how many there are in total


class Field(NamedTuple):
    """A field of an object."""

    name: str  # name, such as "sq-pi"
    key: str  # key of rows and of JSON, such as "sq_pi"
    heading: str  # heading of a column
    help: str  # a sentence about it
    unit: str  # base unit, "" if it has none
    kind: str  # what it means, such as "counter"
    right: str  # privilege required to see it: "none", "admin" or "rawio"
    hw: bool  # whether it comes from the adapter itself
    bits: int  # width of a counter
    family: Optional[str]  # the only family of adapters that has it, or None
    names: Dict[str, int]  # the values of a state, by name


class Object(NamedTuple):
    """A kind of objects."""

    name: str  # short name, such as "qp"
    title: str  # plural for people
    help: str  # a sentence about it
    key: Optional[str]  # key of the field that identifies a row of a device
    fields: Dict[str, Field]  # its fields, by key


class Family(NamedTuple):
    """A family of adapters."""

    name: str  # short name
    drivers: Tuple[str, ...]  # names of its drivers
    modules: Tuple[str, ...]  # kernel modules, the RDMA driver first
    provider: str  # libibverbs provider
    companion: bool  # whether eadm comes with a driver for it
    pci_ids: Tuple[Tuple[int, int], ...]  # pairs of vendor and device


class Rule(NamedTuple):
    """A rule of a diagnosis."""

    name: str  # stable name, such as "receiver-starved"
    check_name: Optional[str]  # its name in eadm check, or None
    severity: str  # "notice", "warning" or "critical"
    object: str  # the kind of objects it judges
    help: str  # a sentence about what it finds
    cause: str  # the likely cause
    alike: str  # what looks similar without being a fault
    snapshots: int  # how many snapshots it needs


class Evidence(NamedTuple):
    """A value that a verdict rests on."""

    object: str  # kind of object that has the value
    id: int  # value of that object's key
    name: str  # what was seen
    text: str  # the value as text
    number: Optional[int]  # the value, or None


class Consequence(NamedTuple):
    """What a cause does to another object."""

    device: str  # name of the device
    object: str  # kind of object
    id: Optional[int]  # value of its key, or None
    pid: Optional[int]  # process that owns it, or None
    comm: str  # its name, "" if unknown
    finding: str  # how it is affected


class Verdict(NamedTuple):
    """What a rule found."""

    rule: str  # name of the rule
    severity: str  # "ok", "unseen", "notice", "warning" or "critical"
    device: str  # name of the device
    object: str  # kind of object it is about
    id: Optional[int]  # value of that object's key, or None
    pid: Optional[int]  # process that owns it, or None
    comm: str  # its name, "" if unknown
    finding: str  # what is wrong
    cause: str  # the likely cause
    next: str  # a command that shows more, or a remedy
    evidence: List[Evidence]  # what it is based on
    affects: List[Consequence]  # what follows from the cause


class Gap(NamedTuple):
    """Rules that could not be applied."""

    device: str  # name of the device
    reason: str  # stable name of the reason
    missing: int  # number of rules
    of: int  # total number of rules
    why: str  # the reason, as a sentence
    remedy: str  # what to do about it


class Redaction(NamedTuple):
    """How often things were replaced."""

    ipv4: int  # IPv4 addresses
    ipv6: int  # IPv6 addresses and GIDs
    macs: int  # MAC addresses
    guids: int  # GUIDs and other hardware addresses
    hosts: int  # host names
    processes: int  # process names
    secrets: int  # keys and raw bytes left out
    dropped: int  # values left out because their meaning is unknown


class Member(NamedTuple):
    """A file in a bundle."""

    name: str  # its name within the bundle
    size: int  # its length in bytes
