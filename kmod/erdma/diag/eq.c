// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: event queues. */

#include <linux/nospec.h>

#include "diag.h"

static void *eq_next(struct eadm_diag_dev *dd, u64 *id)
{
	struct erdma_dev *dev = diag_to_dev(dd);
	u64 ceq;

	if (*id == ERDMA_EQC_INDEX_AEQ)
		return &dev->aeq;
	if (*id == ERDMA_EQC_INDEX_CMDQ)
		return &dev->cmdq_eq;
	ceq = *id - ERDMA_EQC_INDEX_CEQ(0);
	if (ceq >= dev->nr_ceqs)
		return NULL;
	return &dev->ceqs[array_index_nospec(ceq, ERDMA_MAX_VECTORS - 1)];
}

static u32 eq_role(const struct erdma_eq *eq)
{
	switch (eq->index) {
	case ERDMA_EQC_INDEX_AEQ:
		return EADM_EQ_ROLE_ASYNC;
	case ERDMA_EQC_INDEX_CMDQ:
		return EADM_EQ_ROLE_ADMIN;
	default:
		return EADM_EQ_ROLE_COMPLETION;
	}
}

static void fill_hw(struct erdma_dev *dev, struct erdma_eq *eq, struct eadm_snap_eq *s,
		    struct eadm_snap_eq_erdma *o)
{
	struct erdma_eqc c;
	int ret;

	ret = erdma_diag_may_query(dev, NULL);
	if (!ret)
		ret = erdma_cmd_query_eqc(dev, eq->index, &c);
	if (ret) {
		SNAP_SET(s, hw_error, ret);
		return;
	}
	SNAP_SET(s, hw_depth, le16_to_cpu(c.depth));
	SNAP_SET(s, hw_vector, le16_to_cpu(c.vector));
	SNAP_SET(s, hw_suppressed, c.suppressed);
	SNAP_SET(s, hw_overflow, c.overflow);
	SNAP_SET(s, hw_head, le32_to_cpu(c.head));
	SNAP_SET(s, hw_tail, le32_to_cpu(c.tail));
	SNAP_SET(o, hw_head_owner, c.head_owner);
	SNAP_SET(o, hw_tail_owner, c.tail_owner);
	SNAP_SET(s, hw_ring_addr, le64_to_cpu(c.ring_addr));
	SNAP_SET(o, hw_db_addr, le64_to_cpu(c.db_addr));
	SNAP_SET(o, hw_dbrec, le64_to_cpu(c.dbrec));
}

static int eq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct erdma_dev *dev = diag_to_dev(dd);
	struct eadm_snap_eq *s = snap;
	struct erdma_eq *eq = obj;
	u64 last_missed;

	SNAP_SET(s, index, eq->index);
	SNAP_SET(s, role, eq_role(eq));
	/* The AEQ has no number among the EQs. */
	if (eq != &dev->aeq)
		SNAP_SET(s, eqn, eq->eqn);
	SNAP_SET(s, vector, eq->vector);
	SNAP_SET(s, irq, pci_irq_vector(dev->pdev, eq->vector));
	SNAP_STR(s, irq_name, eq->irq_name);
	SNAP_SET(s, depth, eq->depth);
	SNAP_SET(s, pending, erdma_eq_pending(eq));
	SNAP_SET(s, age, eadm_age(eq->created));
	if (eq->index >= ERDMA_EQC_INDEX_CEQ(0))
		SNAP_SET(s, cqs, atomic_read(&eq->cqs));
	spin_lock_irq(&eq->lock);
	SNAP_SET(s, ci, eq->ci);
	SNAP_SET(s, interrupts, eq->interrupts);
	SNAP_SET(s, events, eq->events);
	SNAP_SET(s, unknown, eq->unknown);
	SNAP_SET(s, missed, eq == &dev->cmdq_eq ? READ_ONCE(dev->cmdq.missed_events) :
						  READ_ONCE(eq->missed.count));
	last_missed = eq == &dev->cmdq_eq ? READ_ONCE(dev->cmdq.last_missed) :
					    READ_ONCE(eq->missed.last);
	if (last_missed)
		SNAP_SET(s, last_missed_age, eadm_age(last_missed));
	if (eq->last_unknown)
		SNAP_SET(s, last_unknown_age, eadm_age(eq->last_unknown));
	if (eq->last_event)
		SNAP_SET(s, last_event_age, eadm_age(eq->last_event));
	spin_unlock_irq(&eq->lock);
	if (req->hw)
		fill_hw(dev, eq, s, own);
	return 0;
}

const struct eadm_diag_obj erdma_diag_eq = {
	.type = EADM_OBJ_EQ,
	.next = eq_next,
	.put = eadm_put_none,
	.fill = eq_fill,
};
