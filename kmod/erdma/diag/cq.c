// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: completion queues. */

#include <linux/bitfield.h>

#include "diag.h"

static void fill_kernel(struct erdma_cq *cq, struct eadm_snap_cq *s)
{
	spin_lock_irq(&cq->lock);
	SNAP_SET(s, ci, cq->ci);
	SNAP_SET(s, armed, cq->armed);
	SNAP_SET(s, solicited, cq->armed && cq->solicited);
	SNAP_SET(s, notify_requests, cq->notify_count);
	spin_unlock_irq(&cq->lock);
}

/* For a process's CQ only the last notification request is known. */
static void fill_user(struct erdma_cq *cq, struct eadm_snap_cq *s)
{
	u64 db = erdma_dbref_read(&cq->db, 0);
	bool armed;

	SNAP_SET(s, ctxn, cq->ctx->base.ctxn);
	/* Uverbs stores the completion channel here. */
	SNAP_SET(s, channel, !!cq->ibcq.cq_context);
	if (!(db & ERDMA_CQ_DB_ARM)) {
		SNAP_SET(s, armed, 0);
		SNAP_SET(s, notify_requests, erdma_cq_requests(cq, db));
		return;
	}
	if (FIELD_GET(ERDMA_CQ_DB_CQN, db) != cq->cqn)
		return;
	armed = db != READ_ONCE(cq->event_db);
	SNAP_SET(s, ci, FIELD_GET(ERDMA_CQ_DB_CI, db));
	SNAP_SET(s, armed, armed);
	SNAP_SET(s, solicited, armed && db & ERDMA_CQ_DB_SOL);
	SNAP_SET(s, notify_requests, erdma_cq_requests(cq, db));
}

static void fill_hw(struct erdma_dev *dev, struct erdma_cq *cq, struct eadm_snap_cq *s,
		    struct eadm_snap_cq_erdma *o)
{
	struct erdma_cqc c;
	int ret;

	ret = erdma_diag_may_query(dev, &cq->obj);
	if (!ret)
		ret = erdma_cmd_query_cqc(dev, cq->cqn, &c, NULL);
	if (ret) {
		SNAP_SET(s, hw_error, ret);
		return;
	}
	SNAP_SET(s, hw_pi, le32_to_cpu(c.pi));
	SNAP_SET(s, hw_enabled, c.enabled);
	if (c.depth_log2 < 32)
		SNAP_SET(s, hw_depth, BIT(c.depth_log2));
	SNAP_SET(o, hw_owner, c.owner);
	SNAP_SET(o, hw_bad_db_type, c.bad_db_type);
	SNAP_SET(o, hw_bad_db_ci, le32_to_cpu(c.bad_db_ci));
	SNAP_SET(o, hw_out_of_order, c.out_of_order);
	SNAP_SET(o, hw_duplicate, c.duplicate);
	SNAP_SET(o, hw_db_addr, le64_to_cpu(c.db_addr));
	SNAP_SET(o, hw_dbrec, le64_to_cpu(c.dbrec));
}

static int cq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct erdma_cq *cq = container_of(obj, struct erdma_cq, obj);
	u64 last_event = READ_ONCE(cq->last_event), last_extra = READ_ONCE(cq->last_extra);
	struct eadm_snap_cq *s = snap;

	SNAP_SET(s, cqn, cq->cqn);
	SNAP_SET(s, depth, cq->depth);
	SNAP_SET(s, vector, cq->vector);
	SNAP_SET(s, eqn, ERDMA_EQN_CEQ(cq->vector));
	SNAP_SET(s, events, READ_ONCE(cq->events));
	SNAP_SET(s, errors, READ_ONCE(cq->errors));
	SNAP_SET(s, users, atomic_read(&cq->ibcq.usecnt));
	SNAP_SET(s, user, !!cq->ctx);
	SNAP_SET(s, age, eadm_age(cq->obj.created));
	if (last_extra)
		SNAP_SET(s, last_extra_age, eadm_age(last_extra));
	if (last_event)
		SNAP_SET(s, last_event_age, eadm_age(last_event));
	if (cq->ctx)
		fill_user(cq, s);
	else
		fill_kernel(cq, s);
	if (req->hw)
		fill_hw(diag_to_dev(dd), cq, s, own);
	return 0;
}

const struct eadm_diag_obj erdma_diag_cq = EADM_OBJECT_ROWS(CQ, eadm_cq_row_next, cq_fill);
