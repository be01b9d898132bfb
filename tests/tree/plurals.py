#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages that would say "1 commands": a plural right after a number that may be 1.
They are to choose the word by eadm_plural(), in programs plural()."""

import glob
import os
import re
import sys

os.chdir(f"{os.path.dirname(os.path.realpath(__file__))}/../..")

# Literals that the compiler joins, with the macros of inttypes.h between them.
MESSAGE = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*(?:PRI[a-zA-Z0-9]+|"(?:[^"\\\n]|\\.)*"))*')
NOT_ONE = r"(?<!more than )(?<!at most )(?<!up to )(?<! to )(?<!\bof )"
PLURAL = re.compile(NOT_ONE + r"(?<!=)%[0-9.*]*(?:ll|[lzj])?[ud] (?:\w+ ){0,2}?"
                    r"(?!(?:as|is|was|has|says|asks|sends|names|belongs|does|ms|bytes)\b)([a-zA-Z]\w*s|were|are)\b")
# What the number cannot be where these are, by the code around them.
NEVER_ONE = {
    'days"': "two of them are the least that is shown in days",
    "are required": "a server has several",
    "asynchronous": "an adjective",
    "interrupts within %s, but the queue": "ten",
    "events within %s, but no": "ten",
    "retransmissions to": "ten",
    "completions in a queue of": "more than the queue has",
    'requests"': "more than there is room for",
    "completion interrupts": "two",
    "memory regions (": "a leak",
    "belong to the same request": "an index",
    'ports"': "more than there may be",
}


def messages(text):
    for match in MESSAGE.finditer(text):
        whole = re.sub(r'"\s*PRI[a-z]*[du][A-Z0-9]*\s*"?', "u", match[0])
        yield re.sub(r'"\s*"', "", whole)


def bad(text):
    for message in messages(text):
        for match in PLURAL.finditer(message):
            rest = message[match.start():].split(" ", 1)[1]
            if not any(rest.startswith(known) for known in NEVER_ONE):
                yield message


def main():
    # It finds what it is there to find.
    if not list(bad('f("%u commands" " were")')) or not list(bad('f("%" PRIu64\n  " old CQs")')) or \
       list(bad('f("%u %s refused, at most %u times, QP %u was")')):
        sys.exit("the pattern does not work")
    found = [f"{path}: {message}"
             for folder in ("libeadm", "eadm", "pvrdma")
             for path in sorted(glob.glob(f"{folder}/**/*.[ch]", recursive=True))
             for message in bad(open(path, encoding="utf-8").read())]
    print("\n".join(found))
    sys.exit(bool(found))


main()
