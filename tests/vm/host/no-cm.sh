#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a guest whose only devices are EFA adapters: "eadm test" names the alternative. Prints TAP.
here=$(dirname "$(readlink -f "$0")")
. tests/tap.sh
# shellcheck source=tests/vm/host/lib.sh
. "$here/lib.sh"
trap 'rm -rf "$work"' EXIT

refused() { # ARGUMENTS...
	ends 5 eadm test "$@" &&
		said 'rdma_cm makes no connections over efa adapters \(use fi_pingpong -p efa or ibv_ud_pingpong\)'
}
check "a server is refused" refused server
check "a client is refused" refused client 192.0.2.1
check "with --device, too" refused server -d efa_0
tap_end
