// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is done when a QP is looked at: its doorbell records are, while it is in RTS
 * or stopped. A QP that waits, for a receive or its partner, has work without being
 * busy.
 */
#include <linux/ktime.h>
#include <linux/sizes.h>

#include "ev.h"

/* What one QP may move before the next has its turn. */
#define TURN_BYTES	SZ_256K

static bool is_stopped(const struct ev_qp *qp)
{
	return READ_ONCE(qp->state) >= ERDMA_QPS_CLOSING;
}

static bool was_rung(const struct ev_qp *qp, const struct ev_wq *wq)
{
	return (u16)ev_wq_record(wq) != READ_ONCE(wq->pi);
}

/* Without the lock: a change that is missed is seen the next time. */
static bool has_work(const struct ev_qp *qp)
{
	if (is_stopped(qp))
		return was_rung(qp, &qp->sq) || was_rung(qp, &qp->rq);
	return READ_ONCE(qp->sq.ci) != READ_ONCE(qp->sq.pi) ||
	       was_rung(qp, &qp->sq);
}

/**
 * ev_qp_is_stalled() - does a fault keep a QP from working?
 * @qp: QP in RTS
 *
 * Context: @qp->link, or ev_fabric for writing, held.
 */
bool ev_qp_is_stalled(struct ev_qp *qp)
{
	ktime_t now;
	u64 ms;

	if (ev_fault_hit(qp->ad, EV_FAULT_QP_STALL, qp->qpn, &ms))
		qp->stall_until = ms ? ktime_add_ms(ktime_get(), ms) : KTIME_MAX;
	if (likely(!qp->stall_until))
		return false;
	now = ktime_get();
	if (ktime_before(now, qp->stall_until))
		return true;
	qp->stall_until = 0;
	return false;
}

/* Returns whether there was progress. One thread at a time is enough. */
static bool serve(struct ev_qp *qp)
{
	bool progress;

	if (!mutex_trylock(qp->link))
		return false;
	if (is_stopped(qp)) {
		progress = ev_qp_flush(qp);
	} else if (ev_qp_is_stalled(qp)) {
		/* It hears what it does not do. */
		progress = ev_wq_update(qp, &qp->sq);
	} else {
		progress = ev_wq_update(qp, &qp->sq);
		progress |= ev_sq_run(qp, TURN_BYTES);
	}
	mutex_unlock(qp->link);
	return progress;
}

/*
 * The partner on another adapter is served along: this thread is awake, the
 * other's may not be.
 */
static bool serve_pair(struct vdev_queue *queue)
{
	struct ev_qp *qp = container_of(queue, struct ev_qp, queue);
	struct ev_qp *peer = qp->peer;
	bool progress = false;

	if (has_work(qp))
		progress = serve(qp);
	if (peer && peer->ad != qp->ad && ev_qp_is_served(peer) &&
	    has_work(peer))
		progress |= serve(peer);
	return progress;
}

/**
 * ev_qp_poll() - look for doorbells and do the work
 * @vdev: adapter; without QPs unless it runs
 *
 * Context: ev_fabric held for reading. May be called by several threads.
 * Return: whether there was something to do.
 */
bool ev_qp_poll(struct vdev *vdev)
{
	return vdev_queue_poll(vdev, serve_pair);
}

/**
 * ev_qp_poll_faults() - stop QPs that a fault strikes
 * @ad: running adapter
 *
 * Also those whose completion queue is in error: nobody would hear of them.
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

/**
 * ev_qp_is_served() - is a QP's adapter able to do anything?
 * @qp: QP
 *
 * Context: ev_fabric held.
 */
bool ev_qp_is_served(const struct ev_qp *qp)
{
	return vdev_is_served(&qp->ad->vdev);
}

/**
 * ev_qp_watch() - look at a QP's doorbell records from now on
 * @qp: QP that enters RTS or a stop state
 *
 * Context: ev_fabric held for writing.
 */
void ev_qp_watch(struct ev_qp *qp)
{
	vdev_queue_watch(&qp->ad->vdev, &qp->queue);
}

/**
 * ev_qp_unwatch() - do not look any more
 * @qp: QP that goes
 *
 * Context: ev_fabric held for writing.
 */
void ev_qp_unwatch(struct ev_qp *qp)
{
	vdev_queue_unwatch(&qp->ad->vdev, &qp->queue);
}
