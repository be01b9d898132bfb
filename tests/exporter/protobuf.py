# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the protobuf format of Prometheus, by the wire format alone."""

import struct

TYPES = {0: "counter", 1: "gauge", 3: "untyped", 4: "histogram"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Values of a message by number of the field: int, float or bytes."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif tag & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            if len(value) != length:
                raise ValueError("a message ends early")
        else:
            raise ValueError(f"wire type {tag & 7}")
        found.setdefault(tag >> 3, []).append(value)
    return found


def signed(value):
    return value >> 1 ^ -(value & 1)


def families(data):
    """Name, help, type and metrics (labels and fields) of each family."""
    at = 0
    while at < len(data):
        length, at = varint(data, at)
        family = fields(data[at:at + length])
        at += length
        metrics = []
        for raw in family[4]:
            metric = fields(raw)
            labels = [fields(pair) for pair in metric.pop(1, [])]
            metrics.append(({pair[1][0].decode(): pair.get(2, [b""])[0].decode()
                             for pair in labels},
                            {number: fields(value[0])
                             for number, value in metric.items()}))
        yield (family[1][0].decode(), family[2][0].decode(),
               TYPES[family[3][0]], metrics)


def native_buckets(histogram):
    """Number of each bucket that is not empty, and its count."""
    found, number, count = {}, 0, 0
    deltas = iter(histogram.get(13, []))
    for span in map(fields, histogram[12]):
        number += signed(span.get(1, [0])[0])
        for _ in range(span.get(2, [0])[0]):
            count += signed(next(deltas))
            found[number] = count
            number += 1
    if next(deltas, None) is not None:
        raise ValueError("more counts than spans")
    return found
