// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send queues (hw 7.4, 7.5): work requests are copied when the doorbell is rung, and each is
 * executed as soon as possible.
 */
#include <linux/sizes.h>

#include "efv.h"

/* Limits of bytes moved and of requests checked for a QP before the next QP is served. */
#define TURN_BYTES	SZ_256K
#define TURN_WQES	128

static const struct efa_wqe_meta *meta_of(const struct efv_wqe *w)
{
	return (const struct efa_wqe_meta *)w->raw;
}

/**
 * efv_sq_update() - copy the work requests that the doorbell announces
 * @qp: QP
 *
 * Context: @qp->sq_lock, or efv_fabric for writing, held.
 * Return: true if there were any.
 */
bool efv_sq_update(struct efv_qp *qp)
{
	u16 pi = efv_db_read(qp->ad, qp->sq_db), count = pi - qp->sq_pi;
	void *llq = qp->ad->vdev.bar[EFA_MEM_BAR] + qp->llq;
	struct efv_wqe *w;
	bool any = false;
	u32 place;

	if (!count || count > qp->sq_depth || pi == qp->sq_deaf)
		return false;
	qp->sq_deaf = EFV_NOT_DEAF;
	if (efv_fault_hit(qp->ad, EFV_FAULT_SQ_DB_LOST, qp->qpn, NULL)) {
		qp->sq_deaf = pi;
		return false;
	}
	/* Pairs with the process's barrier before its doorbell. */
	smp_rmb();
	for (; count; count--) {
		place = qp->sq_pi & (qp->sq_depth - 1);
		w = &qp->wqe[place];
		/* The slot's previous request has not completed yet: wait for it. */
		if (!list_empty(&w->link))
			break;
		memcpy(w->raw, llq + place * qp->wqe_size, qp->wqe_size);
		w->not_before = 0;
		w->done = 0;
		w->lost = 0;
		w->rnr = 0;
		w->begun = false;
		list_add_tail(&w->link, &qp->todo);
		WRITE_ONCE(qp->sq_pi, qp->sq_pi + 1);
		any = true;
	}
	if (any)
		atomic64_inc(&qp->ad->vdev.counters.doorbells);
	return any;
}

static void finish(struct efv_qp *qp, struct efv_wqe *w, u8 status)
{
	const struct efa_wqe_meta *meta = meta_of(w);
	struct efa_cqe cqe = {
		.req_id = meta->req_id,
		.status = status,
		.flags = FIELD_PREP(EFA_CQE_QTYPE, EFA_QTYPE_SQ) |
			 FIELD_PREP(EFA_CQE_OP, FIELD_GET(EFA_WQE1_OP, meta->ctrl1)),
		.qpn = cpu_to_le16(qp->qpn),
	};

	/* The slot may be reused as soon as the completion is visible. */
	list_del_init(&w->link);
	efv_cq_post(qp->send_cq, qp->send_sub, &cqe);
}

/**
 * efv_sq_run() - execute all requests that can be executed
 * @qp: QP
 *
 * Context: @qp->sq_lock held, efv_fabric for reading.
 * Return: true if there was progress.
 */
bool efv_sq_run(struct efv_qp *qp)
{
	u32 budget = TURN_BYTES, n = TURN_WQES;
	struct efv_wqe *w, *next;
	bool progress = false;
	LIST_HEAD(waiting);
	ktime_t now = ktime_get();
	int ret;

	list_for_each_entry_safe(w, next, &qp->todo, link) {
		if (!n-- || !budget || !vdev_is_served(&qp->ad->vdev))
			break;
		if (w->not_before && ktime_before(now, w->not_before)) {
			list_move_tail(&w->link, &waiting);
			continue;
		}
		ret = efv_xfer(qp, w, &budget);
		if (ret == EFV_MORE) {
			progress = true;
			break;
		}
		if (ret == EFV_WAIT) {
			list_move_tail(&w->link, &waiting);
			continue;
		}
		finish(qp, w, ret);
		progress = true;
	}
	/* In the next turn, begin with the requests that were not reached in this turn. */
	list_splice_tail(&waiting, &qp->todo);
	return progress;
}

static bool flush_copied(struct efv_qp *qp)
{
	struct efv_wqe *w, *next;
	bool any = !list_empty(&qp->todo);

	list_for_each_entry_safe(w, next, &qp->todo, link)
		finish(qp, w, EFA_WC_FLUSHED);
	return any;
}

/**
 * efv_sq_flush() - complete all work requests with an error
 * @qp: QP in ERR
 *
 * Context: @qp->sq_lock, or efv_fabric for writing, held.
 * Return: true if there were any.
 */
bool efv_sq_flush(struct efv_qp *qp)
{
	bool any = flush_copied(qp);

	/* Do this only once, because a process may post requests endlessly. */
	if (efv_sq_update(qp))
		any |= flush_copied(qp);
	return any;
}
