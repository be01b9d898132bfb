#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests a virtual EFA adapter in a guest with one CPU, which the kernel's own driver keeps
# busy while it waits for the adapter: prints TAP lines. Usage: efa-cpu.sh MODULE
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
. tests/lib/tap.sh

active() { # N: exactly N ports are active
	[ "$(rdma link show | grep -c '^link .* state ACTIVE')" = "$1" ]
}

check "one CPU" same 1 "$(nproc)"
for turn in 1 2 3; do
	check "probe, $turn" insmod "$1"
	check "both ports are active, $turn" until_true 30 active 2
	check "data, $turn" srd -n 50 efa_0 efa_1
	check "removal, $turn" rmmod efa
done
tap_end
