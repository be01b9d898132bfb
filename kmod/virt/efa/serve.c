// SPDX-License-Identifier: GPL-2.0-only
/* Polling of queue pair doorbells, and the effect of a QP's state on its queues. */
#include <linux/mm.h>

#include "efv.h"

/**
 * efv_qp_flush() - complete all posted requests with an error
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

/* Returns true if there was progress. One thread at a time is sufficient. */
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
		/* Requests that have begun are also finished in state SQD. */
		progress |= efv_sq_run(qp);
	}
	mutex_unlock(&qp->sq_lock);
	return progress;
}

/**
 * efv_qp_poll() - poll doorbells and do the work
 * @vdev: adapter; only a running adapter has QPs
 *
 * Context: efv_fabric held for reading. May be called by several threads.
 * Return: true if there was any work.
 */
bool efv_qp_poll(struct vdev *vdev)
{
	return vdev_queue_poll(vdev, serve);
}
