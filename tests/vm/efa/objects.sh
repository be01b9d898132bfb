#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What our driver of EFA adapters knows of objects, and what they cost, in the guest: dumps by any
# user. TAP on stdout. Adapters e0 and e1 are there.
# Usage: objects.sh MODULE
# shellcheck disable=SC2154 # lib.bash sets them
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
. tests/tap.sh
module=$1
. tests/vm/efa/lib.bash

nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}

# ---- dumps by resource tracking, which any user may request

# hold_begin OPTION...: objects of e0, until hold_end.
hold_begin() {
	rm -f "$work/hold.in"
	mkfifo "$work/hold.in"
	hold -d "$(device e0)" -u "$@" <"$work/hold.in" >"$work/hold" 2>&1 &
	holder=$!
	exec 7>"$work/hold.in"
	until_true 60 grep -q ready "$work/hold"
}

hold_end() {
	exec 7>&-
	wait "$holder" || { cat "$work/hold"; return 1; }
}

QPS=250

all_qps() {
	nobody rdma resource show qp link "$(device e0)" >"$work/qps" || return
	same "$QPS" "$(grep -c 'type UD' "$work/qps")"
}

commands() { # of e0
	cat "$config/e0/commands"
}

# Tables of rdma: QPs, CQs, MRs, PDs, contexts.
resources() {
	local what before status=0

	hold_begin -q $QPS || return
	before=$(commands)
	all_qps || status=1
	for what in cq mr pd ctx; do
		nobody rdma resource show $what | grep -q . || status=1
	done
	same "$before" "$(commands)" || status=1
	hold_end && return $status
}

# The queue's first lost command has not even timed out when the dump is complete.
resources_beside_hung_queue() {
	local status=0

	hold_begin -q $QPS && fault cmd_drop count -1 || return
	stats >"$work/stats" 2>&1 &
	local waiter=$!
	until_true 10 lost_one || status=1
	all_qps || status=1
	kill -0 $waiter || { echo "the dump took longer than the command"; status=1; }
	calm
	wait $waiter
	hold_end && return $status
}

lost_one() {
	[ "$(cat "$config/e0/fault/cmd_drop/hits")" -gt 0 ]
}

# Not what the driver remembers: the adapter is asked, and refuses.
query_asks() {
	calm && fault cmd_error target "$QUERY_QP" arg 5 count 1 &&
		fails timeout 60 conform -d "$(device e0)" -q ud query || return
	same 1 "$(cat "$config/e0/fault/cmd_error/hits")" && calm
}

check "probe" insmod "$module"
check "both ports are active" until_true 30 active 2
check "resource dumps of an unprivileged user cost no command" resources
check "a process that queries a QP gets the adapter's answer" query_asks
check "a time limit of 10 s" replug hint_cmd_timeout 10000
check "a dump does not wait for commands that are lost" resources_beside_hung_queue
check "hints as they were" replug hint_cmd_timeout 0
check "removal" rmmod efa
tap_end
