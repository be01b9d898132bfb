// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: the admin queue and the flight recorder. */

#include "eadm_recorder_rows.h"
#include "efa_classes.h"
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

static u64 oldest_submit(const struct efa_dev *dev)
{
	const struct efa_aq *q = &dev->aq;
	u64 oldest = U64_MAX;
	int i;

	lockdep_assert_held(&dev->adapter.lock);
	for (i = 0; i < ARRAY_SIZE(q->slots); i++)
		if (q->slots[i].cmd)
			oldest = min(oldest, q->slots[i].submit);
	return oldest;
}

static void fill_aq(struct efa_dev *dev, struct eadm_snap_cmdq *s)
{
	struct efa_aq *q = &dev->aq;

	spin_lock_irq(&dev->adapter.lock);
	SNAP_SET(s, state, states[dev->adapter.state]);
	SNAP_SET(s, sq_pi, (u16)q->pi);
	SNAP_SET(s, sq_ci, (u16)q->read);
	SNAP_SET(s, cq_ci, (u16)q->ci);
	SNAP_SET(s, credits, EFA_AQ_DEPTH - q->quarantined);
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
	if (q->outstanding)
		SNAP_SET(s, oldest_age, diag_age(oldest_submit(dev)));
	spin_unlock_irq(&dev->adapter.lock);
}

static int cmdq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		     const struct eadm_diag_req *req)
{
	struct eadm_snap_cmdq *s = snap;
	struct efa_dev *dev = obj;

	SNAP_SET(s, index, 0);
	SNAP_SET(s, sq_depth, EFA_AQ_DEPTH);
	SNAP_SET(s, sq_stride, EFA_AQE_SIZE);
	SNAP_SET(s, timeout, (u64)efa_cmd_timeout_ms(dev) * NSEC_PER_MSEC);
	fill_aq(dev, s);
	return 0;
}

const struct eadm_diag_obj efa_diag_cmdq = {
	.type = EADM_OBJ_CMDQ,
	.next = cmdq_next,
	.put = efa_diag_put_none,
	.fill = cmdq_fill,
};

static void *cmd_next(struct eadm_diag_dev *dd, u64 *id)
{
	struct efa_dev *dev = diag_to_dev(dd);

	return eadm_cmd_row_next(&dev->aq.rec, &dev->adapter.lock, id);
}

static u64 cmd_seek(struct eadm_diag_dev *dd, u64 id, const struct eadm_diag_req *req)
{
	struct efa_dev *dev = diag_to_dev(dd);

	return eadm_cmd_row_seek(&dev->aq.rec, &dev->adapter.lock, id, req);
}

static int cmd_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	const struct eadm_cmd_row *row = obj;
	struct efa_dev *dev = diag_to_dev(dd);
	struct eadm_snap_cmd *s = snap;

	SNAP_SET(s, op, efa_op_class(row->rec.op));
	eadm_cmd_row_fill(&dev->aq.rec, &dev->adapter.lock, row, s, req, efa_cmd_cause_class);
	return 0;
}

const struct eadm_diag_obj efa_diag_cmd = {
	.type = EADM_OBJ_CMD,
	.next = cmd_next,
	.seek = cmd_seek,
	.put = eadm_cmd_row_put,
	.fill = cmd_fill,
};
