# SPDX-License-Identifier: GPL-2.0-or-later
# Events from a capture, and wrong use of what shows entries of queues, contexts and settings.
load common

@test "events of a device" {
	[ "$(eadm --from "$EVENTS" events -d cloud_1 -j 2>/dev/null | wc -l)" = 3 ]
	# Those that were lost are of the other one.
	fails 0 "" --from "$EVENTS" events -d cloud_0
	fails 3 "eadm: events: cloud_9: no such RDMA device (did you mean 'cloud_0'?)" \
		--from "$EVENTS" events -d cloud_9
	[ "$(eadm --from "$EVENTS" events -d cloud_9 -j | jq .error.status)" = 3 ]
	fails 2 "eadm: events: --count: must be greater than 0" --from "$EVENTS" events -n 0
	fails 2 "eadm: trace: --count: must be greater than 0" trace -f -n 0
}

@test "events of a capture" {
	golden entries-events --from "$EVENTS" events
}

@test "JSON is as the schema says" {
	eadm --from "$EVENTS" events --json | while read -r line; do
		"$REPO/tests/cli/validate" <<<"$line"
	done
}

@test "wrong use" {
	fails 2 "eadm: dump: sqe: missing queue number" --from "$EVENTS" dump sqe
	fails 2 "eadm: dump: --range: 'x..3' is not a range such as 8..15" --from "$EVENTS" dump sqe 1 --range x..3
	fails 2 "eadm: dump: --range: '7..3' ends before it starts" --from "$EVENTS" dump sqe 1 --range 7..3
	fails 2 "eadm: dump: --around: cannot be used with --range" --from "$EVENTS" dump sqe 1 --range 1 --around pi
	fails 2 "eadm: dump: --around: must be pi or ci, not 'x'" --from "$EVENTS" dump sqe 1 --around x
	fails 2 "eadm: dump: --payload: applies to sqe, rqe, cqe, eqe and cmde only" dump qp --payload
	fails 2 "eadm: dump: mr: only qp, cq and eq have contexts" dump hwctx mr 1
	fails 2 "eadm: dump: hwctx: missing queue type ('eadm dump hwctx qp|cq|eq N')" dump hwctx
	fails 2 "eadm: conf: cc: expected list, get SETTING, set SETTING VALUE or set SETTING=VALUE" conf cc
	fails 5 "eadm: conf: cc: settings cannot be changed in a capture" --from "$TWO" conf set cc 1 -d cloud_0
	fails 5 "eadm: events: events: the capture contains no events ('eadm events --save' records them)" \
		--from "$TWO" events
	fails 3 "eadm: dump: send queue entries: not in the capture" --from "$TWO" dump sqe 10 -d cloud_0
}
