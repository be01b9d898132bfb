// SPDX-License-Identifier: GPL-2.0-only
/*
 * The family's own knobs: one row per knob in this file, and one call to ev_fault_hit() where the
 * fault is injected. tests/guest/faults/README.md describes their effects; a test compares the
 * names.
 */
#include "ev.h"

#define TARGET_CMD	"; target: submodule * 256 + opcode"
#define TARGET_EQ	"; target: EQ (0: AEQ, 1: command EQ, then CEQs)"
#define TARGET_CQ	"; target: CQN"
#define TARGET_QP	"; target: QPN"

#define KNOB(id) \
	[EV_FAULT_##id - VDEV_FAULT_COMMON]

const struct vdev_knob ev_knobs[EV_FAULT_COUNT - VDEV_FAULT_COMMON] = {
	KNOB(CMD_DROP) = { "cmd_drop",
		"a command never completes; with arg 1, it is executed nevertheless" TARGET_CMD },
	KNOB(CMD_DELAY) = { "cmd_delay",
		"a command and all later commands complete arg ms later" TARGET_CMD },
	KNOB(CMD_ERROR) = { "cmd_error",
		"a command is not executed and fails with syndrome arg" TARGET_CMD },
	KNOB(CMD_DUPLICATE) = { "cmd_duplicate",
		"a command is completed twice" TARGET_CMD },
	KNOB(CMD_SLOW) = { "cmd_slow",
		"a command takes about arg us; one in 100 takes ten times as long" TARGET_CMD },
	KNOB(CMD_DB_LOST) = { "cmd_db_lost",
		"a doorbell of the command queue is ignored" },
	KNOB(CMD_ARM_LOST) = { "cmd_arm_lost",
		"arming the command queue is ignored" },
	KNOB(ANSWER_GARBAGE) = { "answer_garbage",
		"the buffer of a query is filled with garbage" TARGET_CMD },
	KNOB(EQ_DB_LOST) = { "eq_db_lost",
		"an EQ's doorbell is ignored and no interrupt follows" TARGET_EQ },
	KNOB(EQ_OVERFLOW) = { "eq_overflow",
		"an EQ overflows and an event is dropped" TARGET_EQ },
	KNOB(EQE_DUPLICATE) = { "eqe_duplicate",
		"an event is written twice; arg 1: the copy goes to the next completion EQ"
		TARGET_EQ },
	KNOB(AEQ_QP_FATAL) = { "aeq_qp_fatal",
		"a connected QP fails with syndrome arg" TARGET_QP },
	KNOB(AEQ_CQ_ERROR) = { "aeq_cq_error",
		"a CQ fails, and so do its QPs" TARGET_CQ },
	KNOB(AEQ_UNKNOWN) = { "aeq_unknown",
		"an event of type arg refers to an object that does not exist" },
	KNOB(CQ_ARM_LOST) = { "cq_arm_lost",
		"arming a CQ is ignored" TARGET_CQ },
	KNOB(CQ_OVERRUN) = { "cq_overrun",
		"a CQ overflows at a completion and fails" TARGET_CQ },
	KNOB(CQE_LOST) = { "cqe_lost",
		"a completion is not written" TARGET_CQ },
	KNOB(CQE_DUPLICATE) = { "cqe_duplicate",
		"a completion is written twice" TARGET_CQ },
	KNOB(CQE_OWNER) = { "cqe_owner",
		"a completion has the wrong owner bit" TARGET_CQ },
	KNOB(CQE_OPCODE) = { "cqe_opcode",
		"a completion has opcode arg" TARGET_CQ },
	KNOB(CQE_QPN) = { "cqe_qpn",
		"a completion has QP number arg" TARGET_CQ },
	KNOB(SQ_DB_LOST) = { "sq_db_lost",
		"a doorbell of a send queue is ignored" TARGET_QP },
	KNOB(RQ_DB_LOST) = { "rq_db_lost",
		"a doorbell of a receive queue is ignored" TARGET_QP },
	KNOB(QP_STALL) = { "qp_stall",
		"a QP sends nothing for arg ms (0: until the QP is stopped)" TARGET_QP },
	KNOB(WR_ERROR) = { "wr_error",
		"a work request fails with syndrome arg" TARGET_QP },
	KNOB(WR_SLOW) = { "wr_slow",
		"a work request waits about arg us; one in 100 waits ten times as long" TARGET_QP },
	KNOB(DMA_FAULT) = { "dma_fault",
		"the memory of a work request is inaccessible" TARGET_QP },
	KNOB(RNR) = { "rnr",
		"a message finds no receive and is sent again arg ms later; target: receiver" },
	KNOB(PEER_SILENT) = { "peer_silent",
		"a QP does not acknowledge its peer's transmission" TARGET_QP },
	KNOB(RETRANSMIT) = { "retransmit",
		"a message is lost in transit and sent again arg ms later" TARGET_QP },
	KNOB(LINK_DOWN) = { "link_down",
		"a sent or received message is dropped because the port is disabled" },
	KNOB(BPS_LIMIT) = { "bps_limit",
		"a message exceeds the bit rate and is sent again arg ms later" TARGET_QP },
	KNOB(PPS_LIMIT) = { "pps_limit",
		"a message exceeds the packet rate and is sent again arg ms later" TARGET_QP },
	KNOB(COUNTERS_WRAP) = { "counters_wrap",
		"all counters of the port are at 2^64 - arg" },
	KNOB(INIT_LOST) = { "init_lost",
		"a start request is ignored" },
	KNOB(RESET_LOST) = { "reset_lost",
		"a reset request is ignored, and everything continues to work" },
	KNOB(RESET_LATE) = { "reset_late",
		"a reset request takes effect arg ms later; until then, the adapter works" },
	KNOB(FALSE_GONE) = { "false_gone",
		"the version reads as all ones for arg ms (0: forever), but all else works" },
};
