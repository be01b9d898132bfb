#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a guest with two EFA adapters, whose driver lets devices move: one of them is in another network
# namespace. Prints TAP.
here=$(dirname "$(readlink -f "$0")")
. tests/lib/tap.sh
# shellcheck source=tests/guest/host/lib.sh
. "$here/lib.sh"
trap 'rm -rf "$work"' EXIT
function_of() { # DEVICE
	basename "$(readlink -f "/sys/class/infiniband/$1/device")"
}
lent=$(function_of efa_0)
kept=$(function_of efa_1)

rdma system set netns exclusive
ip netns add pod
check "a device is lent to a namespace" rdma dev set efa_0 netns pod

# one_here FUNCTION COMMAND...: the other one is here; also from a capture.
one_here() {
	local where="note 1 of 2 adapters is in this network namespace; $1 is in another one"
	shift

	ends 0 "$@" eadm check --json && has_row devices "$where" || return
	"$@" eadm record -n 1 -o - >"$work/saved" && ends 0 eadm --from "$work/saved" check --json &&
		has_row devices "$where"
}
check "the host has one of two" one_here "$lent"
check "an unprivileged user, too" one_here "$lent" "${as_user[@]}"
check "the namespace has the other one" one_here "$kept" ip netns exec pod
# Its only GID is the right one, though it is link-local and "IB/RoCE v1" for the kernel.
only_gid() {
	local gid

	ends 0 "$@" "${as_user[@]}" eadm dump gid --json &&
		same "1 0 best null null" "$(jq -r '.rows[] | "\(.port) \(.gid_index) \(.usable) \(.scope) \(.netdev)"' "$work/said")" &&
		gid=$(jq -r '.rows[0].gid' "$work/said") && [[ $gid == fe80::* ]] &&
		ends 0 "$@" eadm check --json && has_row gid "ok GID 0 is $gid" &&
		same "0 " "$("$@" eadm info --json | jq -r '.rows[] | "\(.gid_index) \(.gid_others)"')"
}
check "the host's has a GID" only_gid
check "the namespace's, too" only_gid ip netns exec pod
in_bundle() {
	ip netns exec pod eadm bundle create -o "$work/bundle.tar.zst" &&
		ends 0 eadm --from "$work/bundle.tar.zst" check --json &&
		has_row devices "note 1 of 2 adapters is in this network namespace; $kept is in another one"
}
check "and says so in a bundle" in_bundle
check "strictly it is a warning" ends 7 eadm check --strict
check "the namespace ends" ip netns delete pod
both() {
	ends 0 eadm check --json && has_row devices "ok 2 RDMA devices"
}
check "both are here" until_true 20 both
tap_end
