# SPDX-License-Identifier: GPL-2.0-or-later
# Entries of queues, contexts and registers from a capture.
load ../../../cli/common
GOLDENS=$BATS_TEST_DIRNAME/../golden

RINGS=$BATS_TEST_DIRNAME/../captures/rings.pcapng

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

@test "JSON is as the schema says" {
	for object in "sqe 18" "rqe 18" "cqe 5" "cqe 0" "eqe 0" "eqe 2" cmde "hwctx qp 18" regs; do
		# shellcheck disable=SC2086
		valid --from "$RINGS" dump $object -d cloud_1 --json
	done
}

@test "a range beyond the queue" {
	run eadm --from "$RINGS" dump sqe 18 --range 0..100000
	[ "$status" = 2 ]
	[[ $output == *"the queue has entries 0 to "* ]]
}

@test "bytes of rings and registers are compared only when named" {
	[ "$(eadm diff "$TWO" "$RINGS" -j | jq -c '[.rows[].object, .notes[].what] |
		map(select(test("cmde|regs|ring|registers")))')" = '[]' ]
	run --separate-stderr eadm diff "$TWO" "$RINGS" regs
	[ "$status" = 6 ]
	[[ $stderr == *"registers: before: not in the capture"* ]]
}
