/* SPDX-License-Identifier: GPL-2.0-only */
/* Knobs that make an adapter fail; fault.c has what is done with them. */
#ifndef EV_FAULT_H
#define EV_FAULT_H

#include <linux/configfs.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct ev_adapter;

/* In the order of tests/vm/faults/README.md, which explains them. */
enum ev_fault_id {
	/* command queue */
	EV_FAULT_CMD_DROP,
	EV_FAULT_CMD_DELAY,
	EV_FAULT_CMD_ERROR,
	EV_FAULT_CMD_DUPLICATE,
	EV_FAULT_CMD_SLOW,
	EV_FAULT_CMD_DB_LOST,
	EV_FAULT_CMD_ARM_LOST,
	EV_FAULT_ANSWER_GARBAGE,
	/* interrupts and events */
	EV_FAULT_IRQ_LOST,
	EV_FAULT_IRQ_SPURIOUS,
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
	EV_FAULT_DEV_GONE,
	EV_FAULT_STALL,
	EV_FAULT_DEV_HANG,
	EV_FAULT_FW_RESET,
	EV_FAULT_INIT_LOST,
	EV_FAULT_RESET_LOST,
	EV_FAULT_RESET_LATE,
	EV_FAULT_FALSE_GONE,
	EV_FAULT_COUNT
};

/**
 * struct ev_fault - one knob's setting
 * @ad:          whose
 * @lock:        guards the rest
 * @count:       how many more times it strikes; -1 for ever
 * @probability: percent
 * @target:      what it applies to, -1 for anything
 * @arg:         meaning depends on the knob
 * @hits:        how often it struck
 */
struct ev_fault {
	struct config_group group;
	struct ev_adapter *ad;
	const char *about;
	spinlock_t lock;		/* all below */
	int count;
	u32 probability;
	s64 target;
	u64 arg;
	u64 hits;
};

#endif /* EV_FAULT_H */
