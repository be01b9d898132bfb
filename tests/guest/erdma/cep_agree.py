#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the connections that eadm shows with a second source:
cep_agree.py rdma DEVICE       the list of "rdma resource show cm_id"
cep_agree.py companion FILE    the rows in FILE, dumped while the companion was loaded
Connections must not change meanwhile, so the processes have to be stopped."""

import json
import subprocess
import sys

STATES = {"listen": "listening", "disconnect": "closed"}
NOWHERE = ("0.0.0.0", "::", None)


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return json.loads(done.stdout)


def rows(what):
    return output("eadm", "dump", what, "--json")["rows"]


def address(entry, end):
    """Returns an address from rdma: "ADDRESS:PORT" or two members, depending on the version."""
    text, port = entry.get(f"{end}-addr"), entry.get(f"{end}-port")
    if text is None:
        return None, None
    if port is None:
        text, _, port = text.rpartition(":")
    return text.strip("[]"), int(port)


def told_by_rdma(device):
    out = []
    for entry in output("rdma", "-j", "resource", "show", "cm_id"):
        if entry["ifname"] != device:
            continue
        state = entry["state"].lower().replace("_", "-")
        peer = address(entry, "dst")
        out.append((entry["cm-idn"], STATES.get(state, state), entry.get("lqpn"),
                    entry["ps"].lower(), entry.get("pid"), *address(entry, "src"),
                    *((None, None) if peer[0] in NOWHERE else peer)))
    return sorted(out)


def told_by_eadm(device):
    return sorted((row["res_id"], row["state"], row.get("qpn"), row["ps"], row.get("pid"),
                   row.get("local_addr"), row.get("local_port"), row.get("peer_addr"),
                   row.get("peer_port"))
                  for row in rows("cep") if row["dev_name"] == device)


def ends(entries):
    """Returns both addresses of each QP that is connected."""
    return sorted((row["dev_name"], row["qpn"], row["local_addr"], row["local_port"],
                   row["peer_addr"], row["peer_port"])
                  for row in entries if "qpn" in row and "peer_addr" in row)


def compare(what, wanted, got):
    if wanted and wanted == got:
        return 0
    print(f"{what}:\nwanted {wanted}\ngot    {got}")
    return 1


def main():
    kind, name = sys.argv[1:]
    if kind == "rdma":
        return compare("cm_id", told_by_rdma(name), told_by_eadm(name))
    with open(name, encoding="utf-8") as file:
        before = ends(json.load(file)["rows"])
    return compare("dump cep", before, ends(rows("cep"))) or \
        compare("dump qp", before, ends(rows("qp")))


if __name__ == "__main__":
    sys.exit(main())
