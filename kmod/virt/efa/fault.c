// SPDX-License-Identifier: GPL-2.0-only
/*
 * The family's own knobs: one row each here, and one call of efv_fault_hit() where it
 * strikes.
 */
#include "efv.h"

#define TARGET_CMD	"; target: opcode"
#define TARGET_CQ	"; target: CQ index"
#define TARGET_QP	"; target: QPN"

#define KNOB(id) \
	[EFV_FAULT_##id - VDEV_FAULT_COMMON]

const struct vdev_knob efv_knobs[EFV_FAULT_COUNT - VDEV_FAULT_COMMON] = {
	KNOB(READ_LOST) = { "read_lost",
		"a readless read gets no answer; target: offset of the register" },
	KNOB(RESET_STUCK) = { "reset_stuck",
		"a reset never ends, until the count is 0" },
	KNOB(RESET_LATE) = { "reset_late",
		"a request to reset is obeyed arg ms later, everything works until then" },
	KNOB(CMD_DROP) = { "cmd_drop",
		"a command is never completed; arg 1: but executed" TARGET_CMD },
	KNOB(CMD_DELAY) = { "cmd_delay",
		"a command and all after it complete arg ms later" TARGET_CMD },
	KNOB(CMD_ERROR) = { "cmd_error",
		"a command is not executed and fails with status arg" TARGET_CMD },
	KNOB(CMD_DUPLICATE) = { "cmd_duplicate",
		"a command is completed twice" TARGET_CMD },
	KNOB(CMD_SLOW) = { "cmd_slow",
		"a command takes about arg us, one in 100 ten times that" TARGET_CMD },
	KNOB(CMD_DB_LOST) = { "cmd_db_lost",
		"a doorbell of the command ring is not noticed until the next one" },
	KNOB(ANSWER_GARBAGE) = { "answer_garbage",
		"the answer to a command that queries is garbage" TARGET_CMD },
	KNOB(KEEP_ALIVE_LOST) = { "keep_alive_lost",
		"a keep-alive event is not sent" },
	KNOB(AENQ_EVENT) = { "aenq_event",
		"an event that nothing has caused; arg: group, and syndrome * 65536" },
	KNOB(AH_FULL) = { "ah_full",
		"there is no room for another AH" },
	KNOB(CQ_OVERRUN) = { "cq_overrun",
		"a completion overwrites the one before it" TARGET_CQ },
	KNOB(CQE_LOST) = { "cqe_lost",
		"a completion is not written" TARGET_CQ },
	KNOB(CQE_DUPLICATE) = { "cqe_duplicate",
		"a completion is written twice" TARGET_CQ },
	KNOB(CQE_STATUS) = { "cqe_status",
		"a completion has status arg" TARGET_CQ },
	KNOB(CQE_OPCODE) = { "cqe_opcode",
		"a completion is of operation arg" TARGET_CQ },
	KNOB(CQE_QPN) = { "cqe_qpn",
		"a completion is of QP arg" TARGET_CQ },
	KNOB(CQE_PHASE) = { "cqe_phase",
		"a completion has the wrong phase" TARGET_CQ },
	KNOB(EQE_LOST) = { "eqe_lost",
		"a completion event is not written" TARGET_CQ },
	KNOB(EQE_DUPLICATE) = { "eqe_duplicate",
		"a completion event is written twice" TARGET_CQ },
	KNOB(SQ_DB_LOST) = { "sq_db_lost",
		"a doorbell of a send queue is not noticed until the next one" TARGET_QP },
	KNOB(RQ_DB_LOST) = { "rq_db_lost",
		"a doorbell of a receive queue is not noticed until the next one" TARGET_QP },
	KNOB(QP_STALL) = { "qp_stall",
		"a QP sends nothing for arg ms, 0: forever" TARGET_QP },
	KNOB(WR_ERROR) = { "wr_error",
		"a work request is not executed and fails with status arg" TARGET_QP },
	KNOB(WR_SLOW) = { "wr_slow",
		"a work request waits about arg us, one in 100 ten times that" TARGET_QP },
	KNOB(DMA_FAULT) = { "dma_fault",
		"a work request's own memory cannot be reached" TARGET_QP },
	KNOB(RNR) = { "rnr",
		"a receiver is not ready, whatever it has posted" TARGET_QP },
	KNOB(PEER_SILENT) = { "peer_silent",
		"a transmission gets no answer" TARGET_QP },
	KNOB(RETRANSMIT) = { "retransmit",
		"a message is sent arg more times than necessary" TARGET_QP },
	KNOB(IMPAIRED) = { "impaired",
		"a connection is found impaired, its message takes arg ms more" TARGET_QP },
	KNOB(COUNTERS_WRAP) = { "counters_wrap",
		"all counters stand arg before their end" },
};
