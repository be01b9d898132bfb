/* SPDX-License-Identifier: GPL-2.0-only */
/* Event queues. */
#ifndef ERDMA_EQ_H
#define ERDMA_EQ_H

#include <linux/interrupt.h>
#include <linux/mutex.h>

#include "../core/interrupt.h"
#include "erdma_hw.h"
#include "mem.h"

struct erdma_dev;

/**
 * struct erdma_eq - an event queue
 * @base: common part of all families; number 0 is the AEQ, 1 the command EQ, 2.. are CEQs. The
 *	doorbell is not rung unless the queue is live
 * @rec: doorbell record
 * @db: doorbell register
 * @looked_at: event count at the last check
 * @kick_lock: serialises calls of consumers without an event, see erdma_cq_kick()
 * @tasklet: consumes a CEQ
 * @work: consumes the AEQ
 */
struct erdma_eq {
	struct eadm_eq base;
	struct erdma_dbrec rec;
	void __iomem *db;
	u64 looked_at;
	struct mutex kick_lock;		/* serialises calls without an event */
	union {
		struct tasklet_struct tasklet;
		struct work_struct work;
	};
};

/* An entry of any type of queue. */
union erdma_eqe {
	struct erdma_aeqe async;
	struct erdma_ceqe completion;
};

static_assert(sizeof(union erdma_eqe) == ERDMA_EQE_SIZE);

int erdma_eq_init(struct erdma_eq *eq, struct erdma_dev *dev, u8 index, u8 role, u32 depth, u32 db);
void erdma_eq_free(struct erdma_eq *eq, struct erdma_dev *dev);
void erdma_eq_reset(struct erdma_eq *eq);
bool erdma_eq_take(struct erdma_eq *eq, union erdma_eqe *entry);
u32 erdma_eq_consume(struct erdma_eq *eq);
void erdma_eq_arm(struct erdma_eq *eq);
bool erdma_eq_interrupt(struct erdma_eq *eq);
bool erdma_eq_is_stuck(struct erdma_eq *eq);

/* Functions for all event queues of a device, defined in events.c. */
int erdma_eqs_init(struct eadm_adapter *ad);
void erdma_eqs_free(struct eadm_adapter *ad);
int erdma_ceqs_start(struct erdma_dev *dev);
int erdma_ceqs_create(struct erdma_dev *dev);
void erdma_ceqs_stop(struct erdma_dev *dev);
int erdma_common_irq_request(struct erdma_dev *dev);
void erdma_common_irq_free(struct erdma_dev *dev);
void erdma_eqs_reset(struct erdma_dev *dev);
void erdma_eqs_kick(struct erdma_dev *dev);
void erdma_eqs_set_live(struct erdma_dev *dev);

#endif /* ERDMA_EQ_H */
