// SPDX-License-Identifier: GPL-2.0-only
/* Queue pairs: when their doorbells are looked at, and what a state does to queues. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "efv.h"

/**
 * efv_qp_find() - look up a QP
 * @ad: adapter
 * @qpn: may be anything
 *
 * Context: efv_fabric held.
 * Return: the QP or NULL.
 */
struct efv_qp *efv_qp_find(struct efv_adapter *ad, u16 qpn)
{
	return xa_load(&ad->qps, qpn);
}

/**
 * efv_qp_free() - free a QP that is in no table any more
 * @qp: QP
 *
 * Context: efv_fabric held for writing.
 */
void efv_qp_free(struct efv_qp *qp)
{
	vdev_buf_unmap(&qp->rq);
	kvfree(qp->wqe);
	kfree(qp);
}

/**
 * efv_qp_clear() - queues as of a new QP
 * @qp: QP in RESET
 *
 * Context: efv_fabric held for writing.
 */
void efv_qp_clear(struct efv_qp *qp)
{
	struct efv_wqe *w, *next;

	list_for_each_entry_safe(w, next, &qp->todo, link)
		list_del_init(&w->link);
	efv_db_clear(qp->ad, qp->sq_db);
	efv_db_clear(qp->ad, qp->rq_db);
	qp->sq_pi = 0;
	qp->rq_pi = 0;
	qp->rq_ci = 0;
	qp->sq_deaf = EFV_NOT_DEAF;
	qp->rq_deaf = EFV_NOT_DEAF;
}

/**
 * efv_qp_flush() - complete all that is posted, with an error
 * @qp: QP in ERR
 *
 * Context: efv_fabric held for writing.
 */
void efv_qp_flush(struct efv_qp *qp)
{
	efv_sq_flush(qp);
	efv_rq_flush(qp);
}

static bool is_stalled(struct efv_qp *qp)
{
	u64 ms;

	if (efv_fault_hit(qp->ad, EFV_FAULT_QP_STALL, qp->qpn, &ms))
		qp->stall_until = ms ? ktime_add_ms(ktime_get(), ms) : KTIME_MAX;
	if (likely(!qp->stall_until))
		return false;
	if (ktime_before(ktime_get(), qp->stall_until))
		return true;
	qp->stall_until = 0;
	return false;
}

/* Returns whether there was progress. One thread at a time is enough. */
static bool serve(struct vdev_queue *queue)
{
	struct efv_qp *qp = container_of(queue, struct efv_qp, queue);
	u8 state = READ_ONCE(qp->state);
	bool progress = false;

	if (state == EFA_QPS_RTS && READ_ONCE(qp->sq_pi) == (u16)efv_db_read(qp->ad, qp->sq_db) &&
	    list_empty(&qp->todo))
		return false;
	if (!mutex_trylock(&qp->sq_lock))
		return false;
	if (state == EFA_QPS_ERR) {
		progress = efv_sq_flush(qp);
		mutex_lock(&qp->rq_lock);
		progress |= efv_rq_flush(qp);
		mutex_unlock(&qp->rq_lock);
	} else if (!is_stalled(qp)) {
		if (state == EFA_QPS_RTS)
			progress = efv_sq_update(qp);
		/* What has begun ends also in SQD. */
		progress |= efv_sq_run(qp);
	}
	mutex_unlock(&qp->sq_lock);
	return progress;
}

/**
 * efv_qp_poll() - look for doorbells and do the work
 * @vdev: adapter; without QPs unless it runs
 *
 * Context: efv_fabric held for reading. May be called by several threads.
 * Return: whether there was something to do.
 */
bool efv_qp_poll(struct vdev *vdev)
{
	return vdev_queue_poll(vdev, serve);
}
