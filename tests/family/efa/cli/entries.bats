# SPDX-License-Identifier: GPL-2.0-or-later
# Entries of queues from the worked values of the hardware document, and objects that only these
# adapters have.
load ../../../cli/common
GOLDENS=$BATS_TEST_DIRNAME/../golden

RINGS=$BATS_TEST_DIRNAME/../captures/rings.pcapng

@test "entries of a receive queue" {
	golden entries-rqe --from "$RINGS" dump rqe 258 --hw
}

@test "entries of completion queues, of 16 and of 32 bytes" {
	golden entries-cqe --from "$RINGS" dump cqe 9 -o +syndrome,ahn,peer-qpn
	golden entries-cqe-wide --from "$RINGS" dump cqe 10 -o +imm,ahn,peer-qpn
}

@test "commands and their completions, which are no CQ" {
	golden entries-cmde --from "$RINGS" dump cmde
	golden entries-cqe-cmd --from "$RINGS" dump cqe -o +syndrome
	run eadm --from "$RINGS" dump cqe 0
	[ "$status" != 0 ]
}

@test "asynchronous events and events of completions" {
	golden entries-aenq --from "$RINGS" dump eqe 0 -o +async-raw,sub-type
	golden entries-eqe --from "$RINGS" dump eqe 1
}

@test "a send queue lies behind a BAR, which is never read" {
	fails 5 "eadm: dump: send queue entries: rdmap0s6: its entries are in adapter memory, which cannot be read" \
		--from "$RINGS" dump sqe 257
}

@test "entries are not decoded by an index rule that their driver does not report" {
	fails 5 "eadm: dump: completion queue entries: rdmap0s6: the driver's index format of this queue does not match the description of efa adapters" \
		--from "$RINGS" dump cqe 11
}

@test "address handles, doorbell pages, and what only these QPs have" {
	golden objects-ah --from "$RINGS" dump ah
	golden objects-uar --from "$RINGS" dump uar
	golden objects-qp --from "$RINGS" dump qp -o +handle,psn,rnr-retry
	[ "$(eadm --from "$RINGS" dump qp -o qkey --json | jq -r '.rows[0].qkey')" = 0x11111111 ]
	[ "$(eadm --from "$RINGS" info --json | jq -c '.rows[0] | [.ahs, .max_ah, .message_mtu]')" = "[3,1024,8928]" ]
}

@test "connections: rdma_cm makes none over these adapters" {
	fails 5 "eadm: dump: rdmap0s6: rdma_cm does not support efa adapters" \
		--from "$RINGS" dump cep -d rdmap0s6
}

@test "JSON is as the schema says" {
	for object in "rqe 258" "cqe 9" "cqe 10" cqe cmde "eqe 0" "eqe 1" ah uar qp; do
		# shellcheck disable=SC2086
		valid --from "$RINGS" dump $object --json
	done
}
