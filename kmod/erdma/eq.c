// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event queues: rings and their indices (hw 8). Interpretation of entries, and polling for them, is
 * in events.c.
 */

#include <linux/bitfield.h>
#include <linux/io-64-nonatomic-lo-hi.h>

#include "erdma.h"

/*
 * Returns the next valid entry, or NULL. All entries are 16 bytes with the
 * owner bit at the top of the first 32-bit word.
 */
static const void *eq_peek(const struct erdma_eq *eq, u16 ci)
{
	const void *entry = eq->base.ring.va + (ci & (eq->base.depth - 1)) * ERDMA_EQE_SIZE;
	u32 word = le32_to_cpu(READ_ONCE(*(const __le32 *)entry));

	return erdma_hw_owned(word & ERDMA_AEQE_OWNER, ci, eq->base.depth) ? entry : NULL;
}

static bool is_new(const struct eadm_eq *eq, u32 index)
{
	return eq_peek(container_of(eq, struct erdma_eq, base), index);
}

static const void *eq_next(struct erdma_eq *eq)
{
	const void *entry = eq_peek(eq, eq->base.ci);

	lockdep_assert_held(&eq->base.lock);
	if (!entry)
		return NULL;
	/* Read the owner bit before the rest of the entry. */
	dma_rmb();
	/* The index is truncated to 16 bits because the adapter compares only these bits. */
	eq->base.ci = (u16)(eq->base.ci + 1);
	eq->base.events++;
	eq->base.last_event = local_clock();
	return entry;
}

/**
 * erdma_eq_take() - consume the next entry of an EQ
 * @eq: the EQ
 * @entry: set to a copy of the entry
 *
 * Context: any.
 * Return: true if there was an entry.
 */
bool erdma_eq_take(struct erdma_eq *eq, union erdma_eqe *entry)
{
	const union erdma_eqe *next;
	unsigned long flags;

	spin_lock_irqsave(&eq->base.lock, flags);
	next = eq_next(eq);
	if (next)
		*entry = *next;
	spin_unlock_irqrestore(&eq->base.lock, flags);
	return next;
}

/**
 * erdma_eq_consume() - consume all entries of an EQ whose contents are irrelevant
 * @eq: the EQ
 *
 * Context: any.
 * Return: number of entries.
 */
u32 erdma_eq_consume(struct erdma_eq *eq)
{
	unsigned long flags;
	u32 n = 0;

	spin_lock_irqsave(&eq->base.lock, flags);
	while (n < eq->base.depth && eq_next(eq))
		n++;
	spin_unlock_irqrestore(&eq->base.lock, flags);
	return n;
}

/**
 * erdma_eq_arm() - request the next interrupt
 * @eq: the EQ
 *
 * Context: any.
 */
void erdma_eq_arm(struct erdma_eq *eq)
{
	unsigned long flags;
	u64 db;

	spin_lock_irqsave(&eq->base.lock, flags);
	if (eq->base.live) {
		db = ERDMA_EQ_DB_ARM | FIELD_PREP(ERDMA_EQ_DB_CI, eq->base.ci);
		WRITE_ONCE(*eq->rec.va, cpu_to_le64(db));
		writeq(db, eq->db);
	}
	spin_unlock_irqrestore(&eq->base.lock, flags);
}

/**
 * erdma_eq_interrupt() - record an interrupt
 * @eq: the EQ
 *
 * Context: hard interrupt.
 * Return: true if there are entries to consume.
 */
bool erdma_eq_interrupt(struct erdma_eq *eq)
{
	bool pending;

	spin_lock(&eq->base.lock);
	eq->base.interrupts++;
	pending = eq_peek(eq, eq->base.ci);
	spin_unlock(&eq->base.lock);
	return pending;
}

/**
 * erdma_eq_init() - allocate an EQ
 * @eq: the EQ, zeroed
 * @dev: the device
 * @index: EADM number
 * @role: EADM_EQ_ROLE_*
 * @depth: number of entries
 * @db: doorbell register
 *
 * Context: process.
 * Return: 0 or -ENOMEM; the caller must call erdma_eq_free() in either case.
 */
int erdma_eq_init(struct erdma_eq *eq, struct erdma_dev *dev, u8 index, u8 role, u32 depth, u32 db)
{
	int ret;

	mutex_init(&eq->kick_lock);
	eq->db = dev->adapter.bar + db;
	eq->base.is_new = is_new;
	ret = eadm_eq_init(&eq->base, &dev->adapter, index, role, depth, depth * ERDMA_EQE_SIZE);
	return ret ? ret : erdma_dbrec_alloc(dev, &eq->rec);
}

/**
 * erdma_eq_free() - free an EQ
 * @eq: the EQ; may be zeroed
 * @dev: the device
 *
 * Context: process; the adapter is halted.
 */
void erdma_eq_free(struct erdma_eq *eq, struct erdma_dev *dev)
{
	erdma_dbrec_free(dev, &eq->rec);
	eadm_ring_free(&dev->adapter, &eq->base.ring);
}

/**
 * erdma_eq_reset() - empty an EQ that the adapter no longer uses
 * @eq: the EQ
 *
 * Context: process; the adapter is halted.
 */
void erdma_eq_reset(struct erdma_eq *eq)
{
	spin_lock_irq(&eq->base.lock);
	eq->base.live = false;
	eq->base.ci = 0;
	memset(eq->base.ring.va, 0, eq->base.ring.size);
	*eq->rec.va = 0;
	spin_unlock_irq(&eq->base.lock);
}

/**
 * erdma_eq_is_stuck() - check whether the same entry was pending at the last check
 * @eq: the EQ
 *
 * Also counts lost interrupts.
 *
 * Context: process; called periodically.
 * Return: true if the EQ has to be polled.
 */
bool erdma_eq_is_stuck(struct erdma_eq *eq)
{
	bool waiting, stuck;

	spin_lock_irq(&eq->base.lock);
	waiting = eq->base.live && eq_peek(eq, eq->base.ci);
	stuck = waiting && eq->base.waiting && eq->looked_at == eq->base.events;
	eq->base.waiting = waiting;
	eq->looked_at = eq->base.events;
	/*
	 * On an overloaded CPU, the interrupt may have been taken although its work has not run
	 * yet.
	 */
	if (stuck && eq->base.interrupts_then == eq->base.interrupts)
		eadm_eq_suspect(&eq->base);
	eq->base.interrupts_then = eq->base.interrupts;
	spin_unlock_irq(&eq->base.lock);
	return stuck;
}
