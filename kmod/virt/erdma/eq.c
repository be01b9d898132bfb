// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event queues: AEQ, command EQ and CEQs (hw 8).
 *
 * An EQ that is armed and not empty raises its vector and disarms. The doorbell register is private
 * to the EQ and cleared when read, so any value in the register is a newer doorbell.
 */
#include <linux/bitfield.h>
#include <linux/log2.h>

#include "ev.h"

/**
 * ev_eq_setup() - initialise, once per adapter
 * @eq: event queue
 */
void ev_eq_setup(struct ev_eq *eq)
{
	spin_lock_init(&eq->lock);
}

/**
 * ev_eq_init() - set up an event queue
 * @ad: adapter
 * @eq: event queue that does not exist yet
 * @ring_addr: DMA address of the ring
 * @depth: number of entries
 * @dbrec_addr: DMA address of the doorbell record
 * @vector: MSI-X vector
 * @reg: BAR0 offset of the doorbell
 *
 * Context: any, but only in the model's turn (see vdev_trylock()).
 * Return: 0, -EINVAL for an unsupported geometry, -EFAULT, -ENOMEM.
 */
int ev_eq_init(struct ev_adapter *ad, struct ev_eq *eq, u64 ring_addr,
	       u32 depth, u64 dbrec_addr, u16 vector, u32 reg)
{
	struct vdev_buf ring;
	unsigned long flags;
	int ret;

	if (!is_power_of_2(depth) || depth > ERDMA_EQ_MAX_DEPTH ||
	    ring_addr % ERDMA_EQE_SIZE)
		return -EINVAL;
	if (!vdev_dma_record(&ad->vdev, dbrec_addr))
		return -EFAULT;
	ret = vdev_buf_map(&ad->vdev, &ring, ring_addr, (u64)depth * ERDMA_EQE_SIZE,
			   GFP_ATOMIC);
	if (ret)
		return ret;
	spin_lock_irqsave(&eq->lock, flags);
	ev_reg_write64(ad, reg, 0);
	eq->ring = ring;
	eq->reg = reg;
	eq->ring_addr = ring_addr;
	eq->depth = depth;
	eq->dbrec_addr = dbrec_addr;
	eq->vector = vector;
	eq->pi = 0;
	eq->ci = 0;
	eq->db = 0;
	eq->overflow = false;
	/* Drivers rely on receiving the first event without arming (hw 2.3). */
	eq->armed = true;
	eq->exists = true;
	spin_unlock_irqrestore(&eq->lock, flags);
	return 0;
}

/**
 * ev_eq_exit() - tear down an event queue
 * @eq: event queue; need not exist
 *
 * Context: any, but only in the model's turn (see vdev_trylock()).
 */
void ev_eq_exit(struct ev_eq *eq)
{
	unsigned long flags;

	spin_lock_irqsave(&eq->lock, flags);
	eq->exists = false;
	spin_unlock_irqrestore(&eq->lock, flags);
	vdev_buf_unmap(&eq->ring);
}

/* Returns the number of an EQ as used by QUERY_EQC and the knobs. */
static s64 index_of(const struct ev_adapter *ad, const struct ev_eq *eq)
{
	return eq == &ad->aeq ? ERDMA_EQC_INDEX_AEQ :
	       eq - ad->eq + ERDMA_EQC_INDEX_CMDQ;
}

static bool eq_evaluate(struct ev_adapter *ad, struct ev_eq *eq)
{
	u64 db = ev_reg_take64(ad, eq->reg);

	if (db & ERDMA_EQ_DB_ARM &&
	    !ev_fault_hit(ad, EV_FAULT_EQ_DB_LOST, index_of(ad, eq), NULL)) {
		eq->db = db;
		eq->ci = FIELD_GET(ERDMA_EQ_DB_CI, db);
		eq->armed = true;
		atomic64_inc(&ad->vdev.counters.doorbells);
	}
	if (!eq->armed || eq->ci == (u16)eq->pi)
		return false;
	eq->armed = false;
	vdev_msi_raise(&ad->vdev, eq->vector);
	return true;
}

/*
 * Returns false if there was no room. An entry dropped because of a fault or the end of bus
 * mastering counts as written.
 */
static bool write_entry(struct ev_adapter *ad, struct ev_eq *eq, u64 lo, u64 hi)
{
	bool full = (u16)(eq->pi - eq->ci) >= eq->depth;
	struct erdma_ceqe *eqe;

	if (full ||
	    ev_fault_hit(ad, EV_FAULT_EQ_OVERFLOW, index_of(ad, eq), NULL)) {
		if (!eq->overflow)
			ev_log(ad, ERRORS, "EQ of vector %u overflowed\n",
			       eq->vector);
		eq->overflow = true;
		return !full;
	}
	if (!vdev_dma_begin(&ad->vdev))
		return true;
	eqe = vdev_buf_at(&eq->ring,
			  (eq->pi & (eq->depth - 1)) * ERDMA_EQE_SIZE);
	eqe->rsvd = cpu_to_le64(hi);
	if (!(eq->pi & eq->depth))
		lo |= ERDMA_CEQE_OWNER;
	/* The owner bit makes the entry valid; pairs with the driver's read. */
	smp_store_release(&eqe->word, cpu_to_le64(lo));
	vdev_dma_end(&ad->vdev);
	eq->pi++;
	atomic64_inc(&ad->vdev.counters.events);
	return true;
}

/* Returns the completion EQ after @eq, or NULL; that EQ need not exist. */
static struct ev_eq *next_completion_eq(struct ev_adapter *ad, struct ev_eq *eq)
{
	if (eq < &ad->eq[ERDMA_EQN_CEQ(0)] || eq >= &ad->eq[ARRAY_SIZE(ad->eq) - 1])
		return NULL;
	return eq + 1;
}

/**
 * ev_eq_post() - add an event
 * @ad: adapter
 * @eq: event queue; need not exist
 * @lo: first 8 bytes without the owner bit, which is bit 31 in every EQ
 * @hi: last 8 bytes
 *
 * Context: any.
 * Return: false if the queue is full: the caller may retry.
 */
bool ev_eq_post(struct ev_adapter *ad, struct ev_eq *eq, u64 lo, u64 hi)
{
	struct ev_eq *other = NULL;
	bool posted = true;
	unsigned long flags;
	u64 arg;

	spin_lock_irqsave(&eq->lock, flags);
	if (eq->exists) {
		eq_evaluate(ad, eq);
		posted = write_entry(ad, eq, lo, hi);
		if (posted && ev_fault_hit(ad, EV_FAULT_EQE_DUPLICATE,
					   index_of(ad, eq), &arg)) {
			if (arg)
				other = next_completion_eq(ad, eq);
			else
				write_entry(ad, eq, lo, hi);
		}
		/* Write the entry before reading the doorbell: see eq_evaluate(). */
		smp_mb();
		eq_evaluate(ad, eq);
	}
	spin_unlock_irqrestore(&eq->lock, flags);
	if (other)
		ev_eq_post(ad, other, lo, hi);
	return posted;
}

/**
 * ev_eq_post_async() - add an event to the AEQ
 * @ad: adapter
 * @id: QPN or CQN
 * @type: enum erdma_aeqe_type
 * @sub_type: syndrome
 *
 * Context: any.
 */
void ev_eq_post_async(struct ev_adapter *ad, u32 id, u8 type, u8 sub_type)
{
	ev_eq_post(ad, &ad->aeq, (u64)id << 32 |
		   FIELD_PREP(ERDMA_AEQE_TYPE, type) |
		   FIELD_PREP(ERDMA_AEQE_SUB_TYPE, sub_type), 0);
}

/**
 * ev_eq_poll() - poll the doorbell of an event queue with unconsumed entries
 * @ad: adapter
 * @eq: event queue; need not exist
 *
 * Context: @ad->lock held.
 * Return: true if an interrupt was raised.
 */
bool ev_eq_poll(struct ev_adapter *ad, struct ev_eq *eq)
{
	unsigned long flags;
	bool raised;

	if (!eq->exists || eq->ci == (u16)eq->pi)
		return false;
	spin_lock_irqsave(&eq->lock, flags);
	raised = eq->exists && eq_evaluate(ad, eq);
	spin_unlock_irqrestore(&eq->lock, flags);
	return raised;
}
