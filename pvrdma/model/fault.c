// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "function.h"

#define TARGET_CMD "; target: code of the command"
#define TARGET_CQ "; target: handle of the CQ"
#define TARGET_QP "; target: QPN"

const struct fault_knob fault_knobs[FAULT_COUNT] = {
	[FAULT_IRQ_LOST] = { "irq_lost", "an interrupt is not delivered; target: vector" },
	[FAULT_DEV_GONE] = { "dev_gone", "reads return all ones and writes are ignored while the knob is set" },
	[FAULT_CMD_DROP] = { "cmd_drop",
		"a command gets no response; arg 1: it is executed anyway" TARGET_CMD },
	[FAULT_CMD_DELAY] = { "cmd_delay", "the response to a command is delayed by arg ms" TARGET_CMD },
	[FAULT_CMD_ERROR] = { "cmd_error",
		"a command is not executed and fails with errno arg" TARGET_CMD },
	[FAULT_EQ_OVERFLOW] = { "eq_overflow",
		"a ring overflows; target 0: event ring, 1: notification ring" },
	[FAULT_EQE_LOST] = { "eqe_lost", "a notification is not written" TARGET_CQ },
	[FAULT_AEQ_QP_FATAL] = { "aeq_qp_fatal", "a connected QP fails, and an event reports it" TARGET_QP },
	[FAULT_QP_ERROR] = { "qp_error",
		"a connected QP fails in the backend without notice to the guest" TARGET_QP },
	[FAULT_CQ_ARM_LOST] = { "cq_arm_lost",
		"arming a CQ is ignored" TARGET_CQ },
	[FAULT_CQ_OVERRUN] = { "cq_overrun",
		"a CQ overflows at a completion and fails" TARGET_CQ },
	[FAULT_CQE_LOST] = { "cqe_lost", "a completion is not written" TARGET_CQ },
	[FAULT_CQE_OPCODE] = { "cqe_opcode", "a completion has opcode arg" TARGET_CQ },
	[FAULT_SQ_DB_LOST] = { "sq_db_lost",
		"a doorbell of a send queue is ignored" TARGET_QP },
	[FAULT_QP_STALL] = { "qp_stall",
		"a QP sends nothing for arg ms; 0: until the QP is reset" TARGET_QP },
	[FAULT_WR_ERROR] = { "wr_error", "a work request fails with status arg" TARGET_QP },
	[FAULT_LINK_DOWN] = { "link_down", "the port is down while the knob is set" },
	[FAULT_BACKEND_GONE] = { "backend_gone",
		"the backend is gone while the knob is set: commands fail and QPs stop" },
	[FAULT_SURPRISE] = { "surprise", "the adapter is removed from the VMM without notice" },
};

void fault_init(struct fault faults[FAULT_COUNT])
{
	unsigned int i;

	for (i = 0; i < FAULT_COUNT; i++)
		faults[i] = (struct fault){ .probability = 100, .target = -1 };
}

bool fault_on(const struct model *m, enum fault_id id)
{
	return m->faults[id].count;
}

bool fault_hit(struct model *m, enum fault_id id, int64_t target, uint64_t *arg)
{
	struct fault *fault = &m->faults[id];

	if (!fault->count || (fault->target >= 0 && fault->target != target) ||
	    (uint32_t)(random() % 100) >= fault->probability)
		return false;
	fault->hits++;
	if (fault->count > 0)
		fault->count--;
	if (arg)
		*arg = fault->arg;
	return true;
}
