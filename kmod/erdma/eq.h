/* SPDX-License-Identifier: GPL-2.0-only */
/* Event queues: rings and their indices. */
#ifndef ERDMA_EQ_H
#define ERDMA_EQ_H

#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "eadm_missed.h"
#include "erdma_hw.h"
#include "mem.h"

#define ERDMA_IRQ_NAME_LEN	50

struct erdma_cq;
struct erdma_dev;

/**
 * struct erdma_eq - an event queue
 * @lock: guards everything below; taken in interrupts
 * @dev: the device
 * @ring: entries
 * @rec: doorbell record
 * @db: doorbell register
 * @index: EADM number: 0 AEQ, 1 command EQ, 2.. CEQs
 * @eqn: the adapter's number
 * @vector: MSI-X vector
 * @depth: entries
 * @live: the adapter knows of it; no doorbell otherwise
 * @ci: consumer index, 16 bits as the adapter compares it
 * @interrupts: taken
 * @events: entries consumed
 * @unknown: entries that named an unknown object
 * @missed: number of times that entries were pending without an interrupt
 * @last_unknown: local_clock() when @unknown last grew, 0 = never
 * @waiting: entries were pending at the last check
 * @looked_at: @events then
 * @interrupts_then: @interrupts then
 * @created: local_clock()
 * @last_event: local_clock(), 0 = none yet
 * @cqs: CQs that report to it
 * @irq: interrupt number, 0 = not requested
 * @irq_name: its name
 * @kicks: struct erdma_cq whose consumers are to be called without an event; a
 *	CQ in it is referenced
 * @affinity: its affinity
 * @tasklet: consumes a CEQ
 * @work: consumes the AEQ
 */
struct erdma_eq {
	spinlock_t lock;	/* ring, indices and counters */
	struct erdma_dev *dev;
	struct erdma_ring ring;
	struct erdma_dbrec rec;
	void __iomem *db;
	u8 index;
	u8 eqn;
	u8 vector;
	u32 depth;
	bool live;
	u16 ci;
	u64 interrupts;
	u64 events;
	u64 unknown;
	struct eadm_missed missed;
	u64 last_unknown;
	bool waiting;
	u64 looked_at;
	u64 interrupts_then;
	u64 created;
	u64 last_event;
	atomic_t cqs;
	int irq;
	char irq_name[ERDMA_IRQ_NAME_LEN];
	cpumask_t affinity;
	struct list_head kicks;
	union {
		struct tasklet_struct tasklet;
		struct work_struct work;
	};
};

/* An entry, by the kind of its queue. */
union erdma_eqe {
	struct erdma_aeqe async;
	struct erdma_ceqe completion;
};

static_assert(sizeof(union erdma_eqe) == ERDMA_EQE_SIZE);

int erdma_eq_init(struct erdma_eq *eq, struct erdma_dev *dev, u8 index, u32 depth, u32 db);
void erdma_eq_free(struct erdma_eq *eq);
void erdma_eq_reset(struct erdma_eq *eq);
void erdma_eq_set_live(struct erdma_eq *eq, bool live);
bool erdma_eq_take(struct erdma_eq *eq, union erdma_eqe *entry);
u32 erdma_eq_consume(struct erdma_eq *eq);
void erdma_eq_arm(struct erdma_eq *eq);
u32 erdma_eq_pending(struct erdma_eq *eq);
bool erdma_eq_interrupt(struct erdma_eq *eq);
void erdma_eq_unknown(struct erdma_eq *eq);
bool erdma_eq_is_stuck(struct erdma_eq *eq);
void erdma_eq_kick_cq(struct erdma_eq *eq, struct erdma_cq *cq);
struct erdma_cq *erdma_eq_kicked(struct erdma_eq *eq);

#endif /* ERDMA_EQ_H */
