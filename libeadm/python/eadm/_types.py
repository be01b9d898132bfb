# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results of functions besides rows: named tuples, which the C part fills in.

Their attributes are the interface; the number and order of their items may change.
"""

from typing import Dict, List, NamedTuple, Optional, Tuple


class Note(NamedTuple):
    """Data missing from a result, and the reason."""

    error: int  # errno if data that should exist could not be read, or 0
    device: str  # the device concerned, "" for all
    what: str  # the missing data
    why: str  # the reason
    reason: Optional[str]  # stable name of the reason, or None
    remedy: Optional[str]  # how to resolve the problem, or None
    missing: int  # number of missing things
    of: int  # total number


class Field(NamedTuple):
    """A field of an object."""

    name: str  # name, such as "sq-pi"
    key: str  # key of rows and of JSON, such as "sq_pi"
    heading: str  # heading of a column
    help: str  # description in a sentence
    unit: str  # base unit, "" if it has none
    kind: str  # meaning, such as "counter"
    right: str  # privilege required to see it: "none", "admin" or "rawio"
    hw: bool  # True if the value comes from the adapter itself
    bits: int  # width of a counter
    family: Optional[str]  # the only family of adapters that has it, or None
    names: Dict[str, int]  # the values of a state, by name


class Object(NamedTuple):
    """A kind of object."""

    name: str  # short name, such as "qp"
    title: str  # plural name for display
    help: str  # description in a sentence
    key: Optional[str]  # key of the field that identifies a row of a device
    fields: Dict[str, Field]  # its fields, by key


class Family(NamedTuple):
    """A family of adapters."""

    name: str  # short name
    drivers: Tuple[str, ...]  # names of its drivers
    modules: Tuple[str, ...]  # kernel modules, the RDMA driver first
    provider: str  # libibverbs provider
    companion: bool  # True if eadm comes with a driver for the family
    pci_ids: Tuple[Tuple[int, int], ...]  # pairs of vendor and device


class Rule(NamedTuple):
    """A rule of a diagnosis."""

    name: str  # stable name, such as "receiver-starved"
    check_name: Optional[str]  # its name in eadm check, or None
    severity: str  # "notice", "warning" or "critical"
    object: str  # the kind of objects it judges
    help: str  # description of its findings
    cause: str  # the likely cause
    alike: str  # similar behaviour that is not a fault
    snapshots: int  # number of snapshots that it requires


class Evidence(NamedTuple):
    """A value on which a verdict is based."""

    object: str  # kind of object that has the value
    id: int  # value of that object's key
    name: str  # name of the value
    text: str  # the value as text
    number: Optional[int]  # the value, or None


class Consequence(NamedTuple):
    """Effect of a cause on another object."""

    device: str  # name of the device
    object: str  # kind of object
    id: Optional[int]  # value of its key, or None
    pid: Optional[int]  # process that owns it, or None
    comm: str  # its name, "" if unknown
    finding: str  # description of the effect


class Verdict(NamedTuple):
    """A finding of a rule."""

    rule: str  # name of the rule
    severity: str  # "ok", "unseen", "notice", "warning" or "critical"
    device: str  # name of the device
    object: str  # kind of object concerned
    id: Optional[int]  # value of that object's key, or None
    pid: Optional[int]  # process that owns it, or None
    comm: str  # its name, "" if unknown
    finding: str  # the problem
    cause: str  # the likely cause
    next: str  # a command that shows more details, or a remedy
    evidence: List[Evidence]  # values on which the verdict is based
    affects: List[Consequence]  # consequences of the cause


class Gap(NamedTuple):
    """Rules that could not be applied."""

    device: str  # name of the device
    reason: str  # stable name of the reason
    missing: int  # number of rules
    of: int  # total number of rules
    why: str  # the reason, as a sentence
    remedy: str  # how to resolve the problem


class Redaction(NamedTuple):
    """Number of replaced values."""

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

    name: str  # name of the file in the bundle
    size: int  # length of the file in bytes
