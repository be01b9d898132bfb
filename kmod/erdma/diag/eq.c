// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: event queues. */

#include "diag.h"

static void fill_hw(struct erdma_dev *dev, struct erdma_eq *eq, struct eadm_snap_eq *s,
		    struct eadm_snap_eq_erdma *o)
{
	struct erdma_eqc c;
	int ret;

	ret = erdma_diag_may_query(dev, NULL);
	if (!ret)
		ret = erdma_cmd_query_eqc(dev, eq->base.index, &c);
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

/* Issuers of commands detect lost events. */
static void fill_missed(const struct erdma_cmdq *q, struct eadm_snap_eq *s)
{
	u64 last = READ_ONCE(q->last_missed);

	SNAP_SET(s, missed, READ_ONCE(q->missed_events));
	if (last)
		SNAP_SET(s, last_missed_age, eadm_age(last));
}

static int eq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct erdma_dev *dev = diag_to_dev(dd);
	struct eadm_snap_eq *s = snap;
	struct erdma_eq *eq = container_of(obj, struct erdma_eq, base);

	/* pci_irq_vector() may sleep. */
	SNAP_SET(s, irq, pci_irq_vector(dev->pdev, eq->base.vector));
	spin_lock_irq(&eq->base.lock);
	eadm_eq_row_fill(&eq->base, s);
	spin_unlock_irq(&eq->base.lock);
	if (eq == &dev->cmdq_eq)
		fill_missed(&dev->cmdq, s);
	if (req->hw)
		fill_hw(dev, eq, s, own);
	return 0;
}

const struct eadm_diag_obj erdma_diag_eq = {
	.type = EADM_OBJ_EQ,
	.next = eadm_eq_row_next,
	.fill = eq_fill,
};
