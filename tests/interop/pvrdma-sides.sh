#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The guest's side of two PVRDMA adapters: it does what pvrdma-host orders by files in
# $VM_OUT, order.N, and puts status and output into answer.N. TAP on stdout.
# Usage: pvrdma-sides.sh MODULE
set -u
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.." || exit 1
# shellcheck source=tests/interop/pvrdma-lib.sh
. tests/interop/pvrdma-lib.sh
module=$1
pids=()

# ---- orders

# start TOOL OPTION...: as server on one adapter and as client on the other, for long.
start() {
	local gid

	gid=$(gid_index "$first") || return
	# perftest and pingpongs have other letters for the index.
	case $1 in
	ibv_*) set -- "$@" -g "$gid" ;;
	*) set -- "$@" -x "$gid" -F ;;
	esac
	"$@" -d "$first" >"$work/server" 2>&1 </dev/null &
	pids=($!)
	until_true "$LIMIT" listening 18515 || return
	"$@" -d "$second" 127.0.0.1 >"$work/client" 2>&1 </dev/null &
	pids+=($!)
}

stop() {
	[ ${#pids[@]} = 0 ] || { kill -KILL "${pids[@]}"; wait "${pids[@]}"; } 2>/dev/null
	pids=()
	cleared "$1" || until_true "$LIMIT" cleared "$1"
}

freeze() { # server|client
	kill -STOP "${pids[$([ "$1" = server ] && echo 0 || echo 1)]}"
}

thaw() {
	kill -CONT "${pids[@]}"
}

# What the kernel of the guest has, in words that are the same on the other side.
kernel_shows() {
	rdma -j resource show qp | jq -c '[.[] | {dev: .ifname, qpn: .lqpn, type: (.type | ascii_downcase),
		state: (.state | ascii_downcase)}] | sort'
}

eadm_shows() {
	build/eadm/eadm dump qp --json | jq -c '[.rows[] | {dev: .dev_name, qpn, type, state}] | sort'
}

numbers() {
	rdma -j resource show | jq -c '[.[] | {dev: .ifname, pd, cq, qp, mr}]'
}

ports() { # N: so many are active
	until_true 20 active "$1"
}

# A command of the driver; what becomes of it is the other side's matter.
query() {
	timeout 60 cat "/sys/class/infiniband/$first/ports/1/rate"
	return 0
}

# A process that makes objects, or tries to.
short() {
	local pid

	ibv_rc_pingpong -d "$first" -g 0 -p 18600 </dev/null &
	pid=$!
	until_true "$LIMIT" eval "listening 18600 || ! kill -0 $pid"
	kill -KILL "$pid"
	wait "$pid"
	return 0
}

set_links() { # up|down
	local net

	for net in $(interfaces); do
		ip link set "$net" "$1" || return
	done
}

# The driver goes and comes back.
again() {
	set_links down && rmmod vmw_pvrdma && insmod "$module" && set_links up && ports 2
}

obey() { # WORD...
	case $1 in
	start | freeze | thaw | kernel_shows | eadm_shows | numbers | ports | query | short | again) "$@" ;;
	stop) stop "$before" ;;
	*) return 127 ;;
	esac
}

check "probe" load "$module"
check "interfaces" network
check "both ports are active" until_true 20 active 2
# shellcheck disable=SC2046 # two words
set -- $(devices)
first=$1 second=$2
check "GIDs of their addresses" until_true 20 gid_index "$second"
before=$(objects)
n=1
: >"$VM_OUT/ready"
while until_true 240 test -e "$VM_OUT/order.$n" >/dev/null; do
	read -r -a words <"$VM_OUT/order.$n"
	[ "${words[0]}" != end ] || break
	obey "${words[@]}" >"$VM_OUT/output.$n" 2>&1
	echo $? >"$VM_OUT/status.$n"
	mv "$VM_OUT/status.$n" "$VM_OUT/answer.$n"
	n=$((n + 1))
done
check "all was ordered" [ "${words[0]-}" = end ]
plan
