/* SPDX-License-Identifier: GPL-2.0-only */
/* Knobs of this family; fault.c has what they do. */
#ifndef EFV_FAULT_H
#define EFV_FAULT_H

#include "../core/fault.h"

/* Besides those of all adapters. */
enum efv_fault_id {
	/* registers */
	EFV_FAULT_READ_LOST = VDEV_FAULT_COMMON,
	EFV_FAULT_RESET_STUCK,
	/* admin queues */
	EFV_FAULT_CMD_DROP,
	EFV_FAULT_CMD_DELAY,
	EFV_FAULT_CMD_ERROR,
	EFV_FAULT_CMD_DUPLICATE,
	EFV_FAULT_KEEP_ALIVE_LOST,
	EFV_FAULT_AENQ_EVENT,
	EFV_FAULT_AH_FULL,
	/* completion queues */
	EFV_FAULT_CQ_OVERRUN,
	EFV_FAULT_CQE_LOST,
	EFV_FAULT_CQE_DUPLICATE,
	EFV_FAULT_CQE_STATUS,
	EFV_FAULT_CQE_QPN,
	EFV_FAULT_CQE_PHASE,
	EFV_FAULT_EQE_LOST,
	/* queue pairs and the wire */
	EFV_FAULT_SQ_DB_LOST,
	EFV_FAULT_RQ_DB_LOST,
	EFV_FAULT_QP_STALL,
	EFV_FAULT_WR_ERROR,
	EFV_FAULT_RNR,
	EFV_FAULT_PEER_SILENT,
	EFV_FAULT_RETRANSMIT,
	EFV_FAULT_IMPAIRED,
	/* the device */
	EFV_FAULT_COUNTERS_WRAP,
	EFV_FAULT_COUNT
};

static_assert(EFV_FAULT_COUNT <= VDEV_MAX_FAULTS);

extern const struct vdev_knob efv_knobs[EFV_FAULT_COUNT - VDEV_FAULT_COMMON];

#endif /* EFV_FAULT_H */
