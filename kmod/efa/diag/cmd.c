// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: the admin queue. */

#include "diag.h"

static u64 oldest_submit(const struct efa_dev *dev)
{
	const struct efa_aq *q = &dev->aq;
	u64 oldest = U64_MAX;
	int i;

	lockdep_assert_held(&dev->adapter.lock);
	for (i = 0; i < ARRAY_SIZE(q->slots); i++)
		if (q->slots[i].base.cmd)
			oldest = min(oldest, q->slots[i].base.submit);
	return oldest;
}

static void fill_aq(struct efa_dev *dev, struct eadm_snap_cmdq *s)
{
	struct efa_aq *q = &dev->aq;

	spin_lock_irq(&dev->adapter.lock);
	eadm_commands_fill(&dev->adapter, s, EFA_AQ_DEPTH, oldest_submit(dev));
	SNAP_SET(s, sq_pi, (u16)q->pi);
	SNAP_SET(s, sq_ci, (u16)q->read);
	SNAP_SET(s, cq_ci, (u16)q->ci);
	spin_unlock_irq(&dev->adapter.lock);
}

static int cmdq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		     const struct eadm_diag_req *req)
{
	struct eadm_snap_cmdq *s = snap;
	struct efa_dev *dev = diag_to_dev(dd);

	SNAP_SET(s, index, 0);
	SNAP_SET(s, sq_depth, EFA_AQ_DEPTH);
	SNAP_SET(s, sq_stride, EFA_AQE_SIZE);
	fill_aq(dev, s);
	return 0;
}

const struct eadm_diag_obj efa_diag_cmdq = {
	.type = EADM_OBJ_CMDQ,
	.next = eadm_cmdq_row_next,
	.fill = cmdq_fill,
};
