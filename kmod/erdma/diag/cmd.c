// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: the command queue. */

#include "diag.h"

static void fill_cmdq(struct erdma_dev *dev, struct eadm_snap_cmdq *s)
{
	struct erdma_cmdq *q = &dev->cmdq;
	u16 oldest;

	spin_lock_irq(&dev->adapter.lock);
	oldest = q->sq_ci / ERDMA_CMDQ_SLOT_WQEBB % ERDMA_CMDQ_MAX_OUTSTANDING;
	eadm_commands_fill(&dev->adapter, s, ERDMA_CMDQ_MAX_OUTSTANDING,
			   q->slots[oldest].base.submit);
	SNAP_SET(s, sq_pi, q->sq_pi);
	SNAP_SET(s, sq_ci, q->sq_ci);
	SNAP_SET(s, cq_ci, q->cq_ci);
	spin_unlock_irq(&dev->adapter.lock);
}

static void fill_cmdq_hw(struct erdma_dev *dev, struct eadm_snap_cmdq *s)
{
	struct erdma_qpc qpc;
	struct erdma_cqc cqc;
	int ret;

	/* QP 0 and CQ 0 belong to the command queue. */
	ret = erdma_diag_may_query(dev, NULL);
	if (!ret)
		ret = erdma_cmd_query_qpc(dev, 0, &qpc, NULL);
	if (!ret)
		ret = erdma_cmd_query_cqc(dev, 0, &cqc, NULL);
	if (ret) {
		SNAP_SET(s, hw_error, ret);
		return;
	}
	SNAP_SET(s, hw_sq_pi, le16_to_cpu(qpc.sq.pi));
	SNAP_SET(s, hw_sq_ci, le16_to_cpu(qpc.sq.ci));
	SNAP_SET(s, hw_cq_pi, le32_to_cpu(cqc.pi));
}

static int cmdq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		     const struct eadm_diag_req *req)
{
	struct eadm_snap_cmdq *s = snap;
	struct erdma_dev *dev = diag_to_dev(dd);

	SNAP_SET(s, index, 0);
	SNAP_SET(s, sq_depth, ERDMA_CMDQ_DEPTH);
	SNAP_SET(s, sq_stride, ERDMA_WQEBB_SIZE);
	SNAP_SET(s, eq_ci, READ_ONCE(dev->cmdq_eq.base.ci));
	fill_cmdq(dev, s);
	if (req->hw)
		fill_cmdq_hw(dev, s);
	return 0;
}

const struct eadm_diag_obj erdma_diag_cmdq = {
	.type = EADM_OBJ_CMDQ,
	.next = eadm_cmdq_row_next,
	.fill = cmdq_fill,
};
