#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a guest with two EFA adapters: records two snapshots in a capture, between which one adapter sends
# to the other while a process holds objects. Usage: efa-record.sh MODULE FILE
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../../.."
. tests/lib/wait.sh
export PATH=$PWD/build/eadm:$PATH

ports() {
	[ "$(rdma link show | grep -c 'state ACTIVE')" = 2 ]
}

holds() {
	eadm dump qp --json 2>/dev/null | jq -e '.rows | length == 1' >/dev/null
}

insmod "$1"
until_true 30 ports
ibv_ud_pingpong -d efa_0 -g 0 >/dev/null 2>&1 &
until_true 30 holds
eadm record "$2.1"
srd -n 100 efa_1 efa_0
eadm record "$2.2"
cat "$2.1" "$2.2" >"$2"
kill %1
