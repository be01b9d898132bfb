// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: completion queues. */

#include "diag.h"

static int cq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct efa_cq *cq = container_of(obj, struct efa_cq, obj);
	u64 last_event = READ_ONCE(cq->last_event);
	struct eadm_snap_cq_efa *o = own;
	struct eadm_snap_cq *s = snap;

	SNAP_SET(s, cqn, cq->cqn);
	SNAP_SET(s, depth, cq->depth);
	SNAP_SET(s, subs, le16_to_cpu(diag_to_dev(dd)->caps.queue.sub_cqs));
	SNAP_SET(s, channel, !!cq->eq);
	if (cq->eq) {
		SNAP_SET(s, vector, cq->eq->base.index - 1);
		SNAP_SET(s, eqn, cq->eq->base.eqn);
	}
	SNAP_SET(s, events, atomic64_read(&cq->events));
	SNAP_SET(s, users, atomic_read(&cq->ibcq.usecnt));
	SNAP_SET(s, user, 1);
	SNAP_SET(s, ctxn, cq->ctx->base.ctxn);
	SNAP_SET(s, age, eadm_age(cq->obj.created));
	if (last_event)
		SNAP_SET(s, last_event_age, eadm_age(last_event));
	SNAP_SET(o, entry_size, cq->entry_size);
	SNAP_SET(o, source_address, cq->src_addr);
	if (cq->has_db)
		SNAP_SET(o, db_offset, cq->db);
	return 0;
}

const struct eadm_diag_obj efa_diag_cq = EADM_OBJECT_ROWS(CQ, eadm_cq_row_next, cq_fill);
