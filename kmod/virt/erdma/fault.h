/* SPDX-License-Identifier: GPL-2.0-only */
/* Knobs of this family; described in fault.c. */
#ifndef EV_FAULT_H
#define EV_FAULT_H

#include "../core/fault.h"

/*
 * Knobs in addition to those of all adapters; in the order of tests/guest/faults/README.md, which
 * explains them.
 */
enum ev_fault_id {
	/* command queue */
	EV_FAULT_CMD_DROP = VDEV_FAULT_COMMON,
	EV_FAULT_CMD_DELAY,
	EV_FAULT_CMD_ERROR,
	EV_FAULT_CMD_DUPLICATE,
	EV_FAULT_CMD_SLOW,
	EV_FAULT_CMD_DB_LOST,
	EV_FAULT_CMD_ARM_LOST,
	EV_FAULT_ANSWER_GARBAGE,
	/* interrupts and events */
	EV_FAULT_EQ_DB_LOST,
	EV_FAULT_EQ_OVERFLOW,
	EV_FAULT_EQE_DUPLICATE,
	EV_FAULT_AEQ_QP_FATAL,
	EV_FAULT_AEQ_CQ_ERROR,
	EV_FAULT_AEQ_UNKNOWN,
	/* completion queues */
	EV_FAULT_CQ_ARM_LOST,
	EV_FAULT_CQ_OVERRUN,
	EV_FAULT_CQE_LOST,
	EV_FAULT_CQE_DUPLICATE,
	EV_FAULT_CQE_OWNER,
	EV_FAULT_CQE_OPCODE,
	EV_FAULT_CQE_QPN,
	/* queue pairs and the wire */
	EV_FAULT_SQ_DB_LOST,
	EV_FAULT_RQ_DB_LOST,
	EV_FAULT_QP_STALL,
	EV_FAULT_WR_ERROR,
	EV_FAULT_WR_SLOW,
	EV_FAULT_DMA_FAULT,
	EV_FAULT_RNR,
	EV_FAULT_PEER_SILENT,
	EV_FAULT_RETRANSMIT,
	EV_FAULT_LINK_DOWN,
	EV_FAULT_BPS_LIMIT,
	EV_FAULT_PPS_LIMIT,
	/* the device */
	EV_FAULT_COUNTERS_WRAP,
	EV_FAULT_INIT_LOST,
	EV_FAULT_RESET_LOST,
	EV_FAULT_RESET_LATE,
	EV_FAULT_FALSE_GONE,
	EV_FAULT_COUNT
};

static_assert(EV_FAULT_COUNT <= VDEV_MAX_FAULTS);

extern const struct vdev_knob ev_knobs[EV_FAULT_COUNT - VDEV_FAULT_COMMON];

#endif /* EV_FAULT_H */
