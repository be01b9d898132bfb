// SPDX-License-Identifier: GPL-2.0-only
/* Queue pairs: lifetime and states (hw 4.7, 6.8). */
#include <linux/sizes.h>
#include <linux/slab.h>

#include "ev.h"

/* Maximum number of bytes that a QP may still move when it is closed. */
#define LAST_BYTES	SZ_1M

/**
 * ev_qp_find() - look up a QP
 * @ad: adapter
 * @qpn: number, any value
 *
 * Context: ev_fabric held.
 * Return: the QP or NULL.
 */
struct ev_qp *ev_qp_find(struct ev_adapter *ad, u32 qpn)
{
	return xa_load(&ad->qps, qpn);
}

/**
 * ev_qp_free() - free a QP that is no longer in any table
 * @qp: QP; parts that were never set up are zero
 *
 * Context: ev_fabric held for writing.
 */
void ev_qp_free(struct ev_qp *qp)
{
	ev_conn_close(qp);
	vdev_queue_unwatch(&qp->ad->vdev, &qp->queue);
	if (qp->sq.cq)
		qp->sq.cq->users--;
	if (qp->rq.cq)
		qp->rq.cq->users--;
	vdev_buf_unmap(&qp->sq.ring);
	vdev_buf_unmap(&qp->rq.ring);
	kfree(qp);
}

/**
 * ev_qp_stop() - enter a stop state and flush all posted requests (hw 6.9)
 * @qp: QP in any state
 * @state: CLOSING, TERMINATE or ERROR
 *
 * CLOSING is a graceful stop: earlier requests that can be executed at once are executed. A stalled
 * QP executes none.
 *
 * Context: ev_fabric held for writing.
 */
void ev_qp_stop(struct ev_qp *qp, enum erdma_qp_state state)
{
	if (qp->state == ERDMA_QPS_RTS && state == ERDMA_QPS_CLOSING)
		ev_sq_serve(qp, LAST_BYTES);
	ev_conn_close(qp);
	qp->state = state;
	ev_qp_drain(qp);
	/* Later posts are flushed, too. */
	vdev_queue_watch(&qp->ad->vdev, &qp->queue);
}
