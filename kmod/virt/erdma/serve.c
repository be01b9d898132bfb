// SPDX-License-Identifier: GPL-2.0-only
/*
 * Polling of QPs: their doorbell records are read while they are in RTS or stopped. A QP that is
 * waiting for a receive or for its partner has work without being busy.
 */
#include <linux/ktime.h>
#include <linux/sizes.h>

#include "ev.h"

/* Maximum number of bytes that a QP may move before the next QP is served. */
#define TURN_BYTES	SZ_256K

static bool was_rung(const struct ev_qp *qp, const struct ev_wq *wq)
{
	return (u16)ev_wq_record(wq) != READ_ONCE(wq->pi);
}

/* May be called without the lock held, like ev_qp_is_stopped(). */
static bool has_work(const struct ev_qp *qp)
{
	if (ev_qp_is_stopped(qp))
		return was_rung(qp, &qp->sq) || was_rung(qp, &qp->rq);
	return READ_ONCE(qp->sq.ci) != READ_ONCE(qp->sq.pi) ||
	       was_rung(qp, &qp->sq);
}

/* Returns true if there was progress. One thread at a time is sufficient. */
static bool serve(struct ev_qp *qp)
{
	bool progress;

	if (!mutex_trylock(qp->link))
		return false;
	progress = ev_qp_is_stopped(qp) ? ev_qp_flush(qp) : ev_sq_serve(qp, TURN_BYTES);
	mutex_unlock(qp->link);
	return progress;
}

/*
 * If the partner is on a different adapter, serves the partner as well, because this thread is
 * awake and the other adapter's thread might not be.
 */
static bool serve_pair(struct vdev_queue *queue)
{
	struct ev_qp *qp = container_of(queue, struct ev_qp, queue);
	struct ev_qp *peer = qp->peer;
	bool progress = false;

	if (has_work(qp))
		progress = serve(qp);
	if (peer && peer->ad != qp->ad && vdev_is_served(&peer->ad->vdev) &&
	    has_work(peer))
		progress |= serve(peer);
	return progress;
}

/**
 * ev_qp_poll() - poll doorbells and do the work
 * @vdev: adapter; only a running adapter has QPs
 *
 * Context: ev_fabric held for reading. May be called by several threads.
 * Return: true if there was any work.
 */
bool ev_qp_poll(struct vdev *vdev)
{
	return vdev_queue_poll(vdev, serve_pair);
}

/**
 * ev_qp_poll_faults() - stop QPs that a fault affects
 * @ad: running adapter
 *
 * Also stops QPs whose completion queue is in the error state, because they could not report
 * completions.
 *
 * Context: ev_fabric held for reading.
 */
void ev_qp_poll_faults(struct ev_adapter *ad)
{
	unsigned long index;
	struct ev_qp *qp;
	u64 syndrome;

	xa_for_each(&ad->qps, index, qp) {
		mutex_lock(qp->link);
		if (qp->state != ERDMA_QPS_RTS)
			;
		else if (qp->sq.cq->dead || qp->rq.cq->dead)
			ev_qp_halt(qp, ERDMA_QPS_ERROR, ERDMA_AE_QP_FATAL,
				   ERDMA_WC_GENERAL_ERR);
		else if (ev_fault_hit(ad, EV_FAULT_AEQ_QP_FATAL, qp->qpn,
				      &syndrome))
			ev_qp_halt(qp, ERDMA_QPS_ERROR, ERDMA_AE_QP_FATAL,
				   syndrome);
		mutex_unlock(qp->link);
	}
}
