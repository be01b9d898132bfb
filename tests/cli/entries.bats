# SPDX-License-Identifier: GPL-2.0-or-later
# Entries of queues, contexts, registers and events from a capture.
load common

RINGS=$BATS_TEST_DIRNAME/../captures/synth/rings.pcapng

@test "entries of a send queue" {
	golden entries-sqe --from "$RINGS" dump sqe 18 --hw
	golden entries-sqe-raw --from "$RINGS" dump sqe 18 --range 0..4 --raw
}

@test "entries of a receive queue" {
	golden entries-rqe --from "$RINGS" dump rqe 18 --hw --around pi
}

@test "entries of completion queues" {
	golden entries-cqe --from "$RINGS" dump cqe 5
	golden entries-cqe-cmd --from "$RINGS" dump cqe 0 -o +syndrome,response
}

@test "entries of event queues and of the command ring" {
	golden entries-eqe --from "$RINGS" dump eqe 2 --hw --range 0..1
	golden entries-aeq --from "$RINGS" dump eqe 0
	golden entries-cmde --from "$RINGS" dump cmde
}

@test "contexts and registers" {
	golden entries-hwctx --from "$RINGS" dump hwctx qp 18
	golden entries-regs --from "$RINGS" dump regs
}

@test "payload is left out of what a capture has of it" {
	[ "$(eadm --from "$RINGS" dump sqe 18 --raw -o bytes --json | grep -c 68656c6c6f)" = 0 ]
	[ "$(eadm --from "$RINGS" dump sqe 18 -o sge0-key --json | jq -r '.rows[0].sge0_key')" = 0x2100 ]
}

@test "events of a device" {
	[ "$(eadm --from "$RINGS" events -d cloud_1 -j 2>/dev/null | wc -l)" = 3 ]
	# Those that were lost are of the other one.
	fails 0 "" --from "$RINGS" events -d cloud_0
	fails 3 "eadm: events: cloud_9: no such RDMA device (did you mean 'cloud_0'?)" \
		--from "$RINGS" events -d cloud_9
	[ "$(eadm --from "$RINGS" events -d cloud_9 -j | jq .error.status)" = 3 ]
	fails 2 "eadm: events: --count: more than 0" --from "$RINGS" events -n 0
	fails 2 "eadm: trace: --count: more than 0" trace -f -n 0
}

@test "events of a capture" {
	golden entries-events --from "$RINGS" events
}

@test "JSON is as the schema says" {
	for object in "sqe 18" "rqe 18" "cqe 5" "cqe 0" "eqe 0" "eqe 2" cmde "hwctx qp 18" regs; do
		# shellcheck disable=SC2086
		valid --from "$RINGS" dump $object -d cloud_1 --json
	done
	eadm --from "$RINGS" events --json | while read -r line; do
		"$REPO/tests/cli/validate" <<<"$line"
	done
}

@test "wrong use" {
	fails 2 "eadm: dump: sqe: missing queue number" --from "$RINGS" dump sqe
	fails 2 "eadm: dump: --range: 'x..3': no range such as 8..15" --from "$RINGS" dump sqe 1 --range x..3
	fails 2 "eadm: dump: --range: '7..3' ends before it begins" --from "$RINGS" dump sqe 1 --range 7..3
	fails 2 "eadm: dump: --around: not with --range" --from "$RINGS" dump sqe 1 --range 1 --around pi
	fails 2 "eadm: dump: --around: 'x': pi or ci" --from "$RINGS" dump sqe 1 --around x
	fails 2 "eadm: dump: --payload: applies to sqe, rqe, cqe, eqe and cmde only" dump qp --payload
	fails 2 "eadm: dump: mr: the adapter keeps contexts of qp, cq and eq" dump hwctx mr 1
	fails 2 "eadm: dump: hwctx: missing kind of queue ('eadm dump hwctx qp|cq|eq N')" dump hwctx
	fails 2 "eadm: conf: cc: list, get SETTING or set SETTING VALUE" conf cc
	fails 5 "eadm: conf: cc: settings of a capture cannot be changed" --from "$TWO" conf set cc 1 -d cloud_0
	fails 5 "eadm: events: events: the capture has no events ('eadm events --save' makes one)" \
		--from "$TWO" events
	fails 3 "eadm: dump: send queue entries: the capture does not have it" --from "$TWO" dump sqe 10 -d cloud_0
	run eadm --from "$RINGS" dump sqe 18 --range 0..100000
	[ "$status" = 2 ]
	[[ $output == *"the queue has entries 0 to "* ]]
}
