/* SPDX-License-Identifier: GPL-2.0-only */
/* Event queues: the one of asynchronous events, and those of completions. */
#ifndef EFA_EQ_H
#define EFA_EQ_H

#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/spinlock.h>

#include "eadm_missed.h"
#include "efa_hw.h"
#include "mem.h"

#define EFA_IRQ_NAME_LEN	40

/* For completions: CREATE_EQ names a vector by 8 bits, and theirs begin at 1. */
#define EFA_MAX_EQS		U8_MAX

struct efa_dev;

/**
 * struct efa_eq - an event queue
 * @lock: guards everything below; taken in interrupts
 * @dev: the device
 * @ring: entries
 * @index: EADM number: 0 asynchronous events, 1.. completions
 * @eqn: the adapter's number
 * @vector: MSI-X vector
 * @depth: entries, a power of two
 * @shift: log2 of the size of one
 * @live: the adapter knows of it
 * @ci: entries consumed since the last reset
 * @interrupts: taken; the handler's, without the lock
 * @events: entries consumed
 * @unknown: entries that named an unknown object
 * @missed: number of times that entries were pending without an interrupt; includes
 *	command completions if they share the vector
 * @last_unknown: local_clock() when @unknown last grew, 0 = never
 * @waiting: entries were pending at the last check
 * @interrupts_then: @interrupts then
 * @keep_alives: keep-alive events
 * @last_keep_alive: local_clock(), 0 = none yet
 * @created: local_clock()
 * @last_event: local_clock(), 0 = none yet
 * @cqs: CQs that report to it
 * @irq: interrupt number, 0 = not requested
 * @irq_name: its name
 * @affinity: where it goes
 */
struct efa_eq {
	spinlock_t lock;	/* ring, indices and counters */
	struct efa_dev *dev;
	struct efa_ring ring;
	u8 index;
	u16 eqn;
	u8 vector;
	u32 depth;
	u8 shift;
	bool live;
	u32 ci;
	u64 interrupts;
	u64 events;
	u64 unknown;
	struct eadm_missed missed;
	u64 last_unknown;
	bool waiting;
	u64 interrupts_then;
	u64 keep_alives;
	u64 last_keep_alive;
	u64 created;
	u64 last_event;
	atomic_t cqs;
	int irq;
	char irq_name[EFA_IRQ_NAME_LEN];
	cpumask_t affinity;
};

int efa_aenq_init(struct efa_dev *dev);
int efa_eqs_init(struct efa_dev *dev);
void efa_eqs_free(struct efa_dev *dev);
int efa_eqs_request(struct efa_dev *dev);
int efa_eqs_create(struct efa_dev *dev);
void efa_eqs_stop(struct efa_dev *dev, bool destroy);
int efa_mgmt_request(struct efa_dev *dev);
void efa_mgmt_free(struct efa_dev *dev);
void efa_eqs_reset(struct efa_dev *dev);
void efa_eqs_kick(struct efa_dev *dev);
u32 efa_eq_pending(struct efa_eq *eq);

#endif /* EFA_EQ_H */
