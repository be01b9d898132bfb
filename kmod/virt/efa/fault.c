// SPDX-License-Identifier: GPL-2.0-only
/*
 * The family's own knobs: one row per knob in this file, and one call to efv_fault_hit() where the
 * fault is injected.
 */
#include "efv.h"

#define TARGET_CMD	"; target: opcode"
#define TARGET_CQ	"; target: CQ index"
#define TARGET_QP	"; target: QPN"

#define KNOB(id) \
	[EFV_FAULT_##id - VDEV_FAULT_COMMON]

const struct vdev_knob efv_knobs[EFV_FAULT_COUNT - VDEV_FAULT_COMMON] = {
	KNOB(READ_LOST) = { "read_lost",
		"the device does not respond to a readless read; target: offset of the register" },
	KNOB(RESET_STUCK) = { "reset_stuck",
		"a reset does not complete until the count is 0" },
	KNOB(RESET_LATE) = { "reset_late",
		"a reset request takes effect arg ms later; until then, the adapter works" },
	KNOB(CMD_DROP) = { "cmd_drop",
		"a command never completes; with arg 1, it is executed nevertheless" TARGET_CMD },
	KNOB(CMD_DELAY) = { "cmd_delay",
		"a command and all later commands complete arg ms later" TARGET_CMD },
	KNOB(CMD_ERROR) = { "cmd_error",
		"a command is not executed and fails with status arg" TARGET_CMD },
	KNOB(CMD_DUPLICATE) = { "cmd_duplicate",
		"a command is completed twice" TARGET_CMD },
	KNOB(CMD_SLOW) = { "cmd_slow",
		"a command takes about arg us; one in 100 takes ten times as long" TARGET_CMD },
	KNOB(CMD_DB_LOST) = { "cmd_db_lost",
		"a doorbell of the command ring is ignored until the next doorbell" },
	KNOB(ANSWER_GARBAGE) = { "answer_garbage",
		"the response to a query command is garbage" TARGET_CMD },
	KNOB(KEEP_ALIVE_LOST) = { "keep_alive_lost",
		"a keep-alive event is not sent" },
	KNOB(AENQ_EVENT) = { "aenq_event",
		"a spurious event is raised; arg: group + syndrome * 65536" },
	KNOB(AH_FULL) = { "ah_full",
		"the creation of an AH fails" },
	KNOB(CQ_OVERRUN) = { "cq_overrun",
		"a completion overwrites the one before it" TARGET_CQ },
	KNOB(CQE_LOST) = { "cqe_lost",
		"a completion is not written" TARGET_CQ },
	KNOB(CQE_DUPLICATE) = { "cqe_duplicate",
		"a completion is written twice" TARGET_CQ },
	KNOB(CQE_STATUS) = { "cqe_status",
		"a completion has status arg" TARGET_CQ },
	KNOB(CQE_OPCODE) = { "cqe_opcode",
		"a completion has operation number arg" TARGET_CQ },
	KNOB(CQE_QPN) = { "cqe_qpn",
		"a completion has QP number arg" TARGET_CQ },
	KNOB(CQE_PHASE) = { "cqe_phase",
		"a completion has the wrong phase" TARGET_CQ },
	KNOB(EQE_LOST) = { "eqe_lost",
		"a completion event is not written" TARGET_CQ },
	KNOB(EQE_DUPLICATE) = { "eqe_duplicate",
		"a completion event is written twice" TARGET_CQ },
	KNOB(SQ_DB_LOST) = { "sq_db_lost",
		"a doorbell of a send queue is ignored until the next doorbell" TARGET_QP },
	KNOB(RQ_DB_LOST) = { "rq_db_lost",
		"a doorbell of a receive queue is ignored until the next doorbell" TARGET_QP },
	KNOB(QP_STALL) = { "qp_stall",
		"a QP sends nothing for arg ms (0: forever)" TARGET_QP },
	KNOB(WR_ERROR) = { "wr_error",
		"a work request is not executed and fails with status arg" TARGET_QP },
	KNOB(WR_SLOW) = { "wr_slow",
		"a work request waits about arg us; one in 100 waits ten times as long" TARGET_QP },
	KNOB(DMA_FAULT) = { "dma_fault",
		"the local memory of a work request is inaccessible" TARGET_QP },
	KNOB(RNR) = { "rnr",
		"a receiver is not ready, even if it has posted receives" TARGET_QP },
	KNOB(PEER_SILENT) = { "peer_silent",
		"a transmission is not acknowledged" TARGET_QP },
	KNOB(RETRANSMIT) = { "retransmit",
		"a message is sent arg more times than necessary" TARGET_QP },
	KNOB(IMPAIRED) = { "impaired",
		"a path is reported as impaired, and a message is delayed by arg ms" TARGET_QP },
	KNOB(COUNTERS_WRAP) = { "counters_wrap",
		"all counters start arg below their wrap-around" },
};
