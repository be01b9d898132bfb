#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a guest: a nested guest of the same kernel with its upstream driver, whose two adapters are
# those of two programs on rdma_rxe devices with a wire between them. A long run.
# Usage: verbs-nested.sh MODULE KERNEL; inside: verbs-nested.sh MODULE inside
LIMIT=600
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
. tests/pvrdma/verbs-lib.sh
. tests/interop/pvrdma-lib.sh
module=$1

# meet NAME TOOL OPTION...: its server on the first adapter, its client on the other
meet() {
	local name=$1

	shift
	pair "$name" 18515 "$@" -d "$first" -g "$(gid_index "$first")" -- \
		"$@" -d "$second" -g "$(gid_index "$second")" 127.0.0.1
}

inside() {
	local net

	check "the driver is loaded" load "$module"
	net=$(interfaces | head -n 1)
	ip link set "$net" up && ip addr add $near/24 dev "$net"
	net=$(interfaces | tail -n 1)
	ip link set "$net" up && ip addr add $far/24 dev "$net"
	check "two adapters are active" until_true "$LIMIT" active 2
	first=$(devices | head -n 1)
	second=$(devices | tail -n 1)
	check "their addresses are GIDs" until_true "$LIMIT" eval "gid_index $first && gid_index $second"
	meet ibv_rc_pingpong ibv_rc_pingpong -n 20
	meet "ibv_rc_pingpong with events" ibv_rc_pingpong -n 20 -e
	meet ibv_ud_pingpong ibv_ud_pingpong -n 20 -s 512
	meet "ibv_srq_pingpong with events" ibv_srq_pingpong -n 20 -q 2 -e
	pair "rping, within one adapter" 7174 rping -s -a $near -v -C 3 -- rping -c -a $near -v -C 3 -V
	plan
}

if [ "${2-}" = inside ]; then
	inside
	exit
fi
check "two rdma_rxe devices with a wire between them" wire
for end in near far; do
	build/pvrdma/eadm-pvrdma --mtu 4096 --backend verbs:rxe_$end "$work/$end.sock" 2>"$work/$end" &
	until_true 60 grep -q 'listening on' "$work/$end"
done
before=$(packets far rx)
tap_of nested tests/vm/run --kernel "$2" --no-modules --devices 0 --cpus 1 --mem 640M \
	--pvrdma-at "$work/near.sock,0" --pvrdma-at "$work/far.sock,1" --timeout 2400 -- \
	tests/pvrdma/verbs-nested.sh "$module" inside
after=$(packets far rx)
check "packets came over the wire: $((after - before))" [ $((after - before)) -gt 40 ]
sed 's/^/# near: /' "$work/near"
sed 's/^/# far: /' "$work/far"
kill %1 %2
plan
