#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether eadm and rdma say the same, row by row: agree.py OBJECT[,OBJECT...] [DEVICE]."""

import json
import subprocess
import sys

# eadm's key: rdma's key, for keys that both may have.
SAME = {
    "qp": {"dev_name": "ifname", "qpn": "lqpn", "type": "type", "state": "state", "pdn": "pdn",
           "pid": "pid", "comm": "comm"},
    "cq": {"dev_name": "ifname", "res_id": "cqn", "pid": "pid", "comm": "comm"},
    "mr": {"dev_name": "ifname", "res_id": "mrn", "length": "mrlen", "pid": "pid", "comm": "comm"},
    "pd": {"dev_name": "ifname", "res_id": "pdn", "pid": "pid", "comm": "comm"},
    # No comm: rdma (iproute2 6.1) prints the list of QPs as the name of the process.
    "srq": {"dev_name": "ifname", "srqn": "srqn", "type": "type", "pdn": "pdn", "qpns": "lqpn",
            "pid": "pid"},
    "ctx": {"dev_name": "ifname", "res_id": "ctxn", "pid": "pid", "comm": "comm"},
}
# Names of erdma's and rxe's counters.
COUNTERS = {
    "tx_reqs_cnt": "tx_requests", "tx_packets_cnt": "tx_packets", "tx_bytes_cnt": "tx_bytes",
    "tx_disable_drop_cnt": "tx_disabled_drops", "tx_bps_limit_drop_cnt": "tx_bps_limit_drops",
    "tx_pps_limit_drop_cnt": "tx_pps_limit_drops", "rx_packets_cnt": "rx_packets",
    "rx_bytes_cnt": "rx_bytes", "rx_disable_drop_cnt": "rx_disabled_drops",
    "rx_bps_limit_drop_cnt": "rx_bps_limit_drops", "rx_pps_limit_drop_cnt": "rx_pps_limit_drops",
    "sent_pkts": "tx_packets", "rcvd_pkts": "rx_packets", "rdma_sends": "send_requests",
    "duplicate_request": "duplicate_requests", "link_downed": "link_downs",
}


def run(*command):
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=False, text=True).stdout
    return json.loads(out) if out.strip() else []


def only(rows, key, device):
    return [r for r in rows if device in (None, r.get(key))]


def normal(value):
    """Text; a list of QPs is one in rdma, and text in eadm."""
    if isinstance(value, list):
        value = " ".join(map(str, value))
    return str(value).lower().strip("[]")


def counters(device):
    ours = {(r["dev_name"], r["port"]): r
            for r in only(run("eadm", "stat", "--json")["rows"], "dev_name", device)}
    theirs = only(run("rdma", "-j", "statistic", "show"), "ifname", device)
    seen = 0
    for row in theirs:
        mine = ours[row["ifname"], row["port"]]
        for name, canonical in COUNTERS.items():
            if name not in row:
                continue
            seen += 1
            if mine.get(canonical) != row[name]:
                sys.exit(f"{name}: rdma {row[name]}, eadm {mine.get(canonical)}")
    if not seen:
        sys.exit("rdma shows no counter that is known here")
    print(f"{seen} counters agree")


def objects(kind, device):
    keys = SAME[kind]
    ours = only(run("eadm", "dump", kind, "--json")["rows"], "dev_name", device)
    theirs = only(run("rdma", "-j", "resource", "show", kind), "ifname", device)
    # eadm may say more of a row than rdma, never less.
    def view(row, names):
        return {k: normal(row[n]) for k, n in names if n in row}
    if "pdn" in keys:
        # rdma numbers domains as the RDMA core does, eadm as the adapter does.
        numbers = {(r["dev_name"], r["pdn"]): r["res_id"]
                   for r in run("eadm", "dump", "pd", "--json")["rows"]}
        for row in ours:
            if "pdn" in row:
                row["pdn"] = numbers[row["dev_name"], row["pdn"]]
    mine = [view(r, [(k, k) for k in keys]) for r in ours]
    other = [view(r, list(keys.items())) for r in theirs]
    if len(mine) != len(other):
        sys.exit(f"{kind}: rdma has {len(other)} rows, eadm {len(mine)}")
    if not mine:
        sys.exit(f"{kind}: there are no rows to compare")
    for row in other:
        match = [m for m in mine if all(m.get(k) == v for k, v in row.items())]
        if not match:
            sys.exit(f"rdma has {row}, eadm not: {mine}")
        mine.remove(match[0])
    print(f"{kind}: {len(other)} rows agree")


def main():
    device = sys.argv[2] if len(sys.argv) > 2 else None
    if sys.argv[1] == "counters":
        counters(device)
    else:
        for kind in sys.argv[1].split(","):
            objects(kind, device)


main()
