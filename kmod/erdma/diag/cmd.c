// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: the command queue and the flight recorder. */

#include "eadm_recorder_rows.h"
#include "erdma_classes.h"
#include "diag.h"

static const u8 states[] = {
	[EADM_QUEUE_POLLING]	= EADM_CMDQ_STATE_POLLING,
	[EADM_QUEUE_EVENT]	= EADM_CMDQ_STATE_EVENT,
	[EADM_QUEUE_RECOVERING]	= EADM_CMDQ_STATE_RECOVERING,
	[EADM_QUEUE_DEAD]	= EADM_CMDQ_STATE_DEAD,
};

static void *cmdq_next(struct eadm_diag_dev *dd, u64 *id)
{
	return *id ? NULL : diag_to_dev(dd);
}

static void fill_cmdq(struct erdma_dev *dev, struct eadm_snap_cmdq *s)
{
	struct erdma_cmdq *q = &dev->cmdq;
	u16 oldest;

	spin_lock_irq(&dev->adapter.lock);
	SNAP_SET(s, state, states[dev->adapter.state]);
	SNAP_SET(s, sq_pi, q->sq_pi);
	SNAP_SET(s, sq_ci, q->sq_ci);
	SNAP_SET(s, cq_ci, q->cq_ci);
	SNAP_SET(s, credits, ERDMA_CMDQ_MAX_OUTSTANDING - q->quarantined);
	SNAP_SET(s, outstanding, q->outstanding);
	SNAP_SET(s, max_outstanding, q->max_outstanding);
	SNAP_SET(s, submitted, q->submitted);
	SNAP_SET(s, completed, q->completed);
	SNAP_SET(s, errors, q->errors);
	SNAP_SET(s, timeouts, q->timeouts);
	SNAP_SET(s, late, q->late);
	SNAP_SET(s, spurious, q->spurious);
	if (q->last_spurious)
		SNAP_SET(s, last_spurious_age, diag_age(q->last_spurious));
	SNAP_SET(s, recoveries, dev->adapter.recoveries);
	SNAP_SET(s, failed_recoveries, dev->adapter.failed_recoveries);
	if (q->last_submit)
		SNAP_SET(s, last_submit_age, diag_age(q->last_submit));
	if (q->last_comp)
		SNAP_SET(s, last_comp_age, diag_age(q->last_comp));
	if (q->outstanding) {
		oldest = q->sq_ci / ERDMA_CMDQ_SLOT_WQEBB % ERDMA_CMDQ_MAX_OUTSTANDING;
		SNAP_SET(s, oldest_age, diag_age(q->slots[oldest].submit));
	}
	spin_unlock_irq(&dev->adapter.lock);
}

static void fill_cmdq_hw(struct erdma_dev *dev, struct eadm_snap_cmdq *s)
{
	struct erdma_qpc qpc;
	struct erdma_cqc cqc;
	int ret;

	/* Number 0 is the command queue's QP and CQ. */
	ret = erdma_diag_may_query(dev, NULL);
	if (!ret)
		ret = erdma_cmd_query_qpc(dev, 0, &qpc);
	if (!ret)
		ret = erdma_cmd_query_cqc(dev, 0, &cqc);
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
	struct erdma_dev *dev = obj;

	SNAP_SET(s, index, 0);
	SNAP_SET(s, sq_depth, ERDMA_CMDQ_DEPTH);
	SNAP_SET(s, sq_stride, ERDMA_WQEBB_SIZE);
	SNAP_SET(s, eq_ci, READ_ONCE(dev->cmdq_eq.ci));
	SNAP_SET(s, timeout, (u64)erdma_cmd_timeout_ms(dev) * NSEC_PER_MSEC);
	fill_cmdq(dev, s);
	if (req->hw)
		fill_cmdq_hw(dev, s);
	return 0;
}

const struct eadm_diag_obj erdma_diag_cmdq = {
	.type = EADM_OBJ_CMDQ,
	.next = cmdq_next,
	.put = erdma_diag_put_none,
	.fill = cmdq_fill,
};

static void *cmd_next(struct eadm_diag_dev *dd, u64 *id)
{
	struct erdma_dev *dev = diag_to_dev(dd);

	return eadm_cmd_row_next(&dev->cmdq.rec, &dev->adapter.lock, id);
}

static u64 cmd_seek(struct eadm_diag_dev *dd, u64 id, const struct eadm_diag_req *req)
{
	struct erdma_dev *dev = diag_to_dev(dd);

	return eadm_cmd_row_seek(&dev->cmdq.rec, &dev->adapter.lock, id, req);
}

static int cmd_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	const struct eadm_cmd_row *row = obj;
	struct erdma_dev *dev = diag_to_dev(dd);
	struct eadm_snap_cmd *s = snap;

	SNAP_SET(s, op, erdma_op_class(row->rec.op));
	eadm_cmd_row_fill(&dev->cmdq.rec, &dev->adapter.lock, row, s, req, erdma_cmd_cause_class);
	return 0;
}

const struct eadm_diag_obj erdma_diag_cmd = {
	.type = EADM_OBJ_CMD,
	.next = cmd_next,
	.seek = cmd_seek,
	.put = eadm_cmd_row_put,
	.fill = cmd_fill,
};
