/* SPDX-License-Identifier: GPL-2.0-only */
/* An event queue and its interrupt. */
#ifndef EADM_INTERRUPT_H
#define EADM_INTERRUPT_H

#include <linux/cpumask.h>
#include <linux/interrupt.h>

#include "adapter.h"
#include "ring.h"

#define EADM_IRQ_NAME_LEN	50

/**
 * struct eadm_eq - common part of all families' event queues
 * @lock: protects the ring, its indices and the counters; taken in interrupt context
 * @ad: the adapter
 * @ring: memory of the entries
 * @is_new: return whether the entry at this index is valid and not consumed yet; set by the family
 * @node: in @ad->eqs
 * @index: EADM number
 * @role: EADM_EQ_ROLE_*; the queue of role EADM_EQ_ROLE_ASYNC has number 0 and no @eqn
 * @eqn: the adapter's number for the queue
 * @vector: MSI-X vector
 * @depth: number of entries, a power of two
 * @ci: consumer index; as wide as the adapter's
 * @live: the adapter uses the queue
 * @interrupts: interrupts taken; written by the handler only
 * @events: entries consumed
 * @unknown: entries that referred to an unknown object
 * @last_unknown: local_clock() when @unknown last increased, 0 = never
 * @waiting: entries were pending at the last check
 * @interrupts_then: @interrupts at the last check
 * @created: local_clock() of creation
 * @last_event: local_clock() of the last event, 0 = none yet
 * @cqs: CQs that report to it
 * @irq: interrupt number, 0 = not requested
 * @irq_name: name of the interrupt
 * @affinity: CPU that should take the interrupt
 * @check: compares the counters, on the vector's CPU
 * @suspected: @check is pending; the setter owns @then until @check has run
 * @then: @interrupts when unannounced entries were found
 * @missed: lost interrupts, including those of other users of the vector. Written by @check only
 * @last_missed: local_clock() when @missed last increased, 0 = never
 */
struct eadm_eq {
	spinlock_t lock;	/* see above */
	struct eadm_adapter *ad;
	struct eadm_ring ring;
	bool (*is_new)(const struct eadm_eq *eq, u32 index);
	struct list_head node;
	u8 index;
	u8 role;
	u16 eqn;
	u8 vector;
	u32 depth;
	u32 ci;
	bool live;
	u64 interrupts;
	u64 events;
	u64 unknown;
	u64 last_unknown;
	bool waiting;
	u64 interrupts_then;
	u64 created;
	u64 last_event;
	atomic_t cqs;
	int irq;
	char irq_name[EADM_IRQ_NAME_LEN];
	cpumask_t affinity;
	struct work_struct check;
	atomic_t suspected;
	u64 then;
	u64 missed;
	u64 last_missed;
};

int eadm_eq_init(struct eadm_eq *eq, struct eadm_adapter *ad, u8 index, u8 role, u32 depth,
		 size_t size);
struct eadm_eq *eadm_eq_find(struct eadm_adapter *ad, u64 index);
int eadm_eq_request(struct eadm_eq *eq, irq_handler_t handler, void *data, u32 cpu);
void eadm_eq_release(struct eadm_eq *eq, void *data);
void eadm_eq_set_live(struct eadm_eq *eq, bool live);
void eadm_eq_unknown(struct eadm_eq *eq);
void eadm_eq_suspect(struct eadm_eq *eq);
void eadm_eq_row_fill(struct eadm_eq *eq, struct eadm_snap_eq *s);

#endif /* EADM_INTERRUPT_H */
