// SPDX-License-Identifier: GPL-2.0-only
/* Receive queues: finding receives for incoming messages (hw 6.6). */
#include <linux/bitfield.h>

#include "ev.h"

/**
 * ev_rq_peek() - peek at the next receive
 * @qp: QP in RTS
 * @rqe: set to a copy of the entry
 *
 * Context: ev_fabric and @qp->link held.
 * Return: 0, EV_WAIT if none is posted or memory must not be accessed, or
 * ERDMA_WC_RECV_WQE_FORMAT_ERR.
 */
int ev_rq_peek(struct ev_qp *qp, struct erdma_rqe *rqe)
{
	struct ev_wq *rq = &qp->rq;

	if (rq->ci == rq->pi && !ev_wq_update(qp, rq))
		return EV_WAIT;
	if (!ev_wq_read(rq, rq->ci, rqe, sizeof(*rqe)))
		return EV_WAIT;
	if (le16_to_cpu(rqe->qe_idx) != (u16)(rq->ci + 1) ||
	    le32_to_cpu(rqe->qpn) != qp->qpn)
		return ERDMA_WC_RECV_WQE_FORMAT_ERR;
	return 0;
}

/**
 * ev_rq_complete() - complete the next receive
 * @qp: QP with a receive
 * @wc: opcode, syndrome, bytes, data and solicited are set
 *
 * Context: ev_fabric and @qp->link held.
 */
void ev_rq_complete(struct ev_qp *qp, struct ev_wc *wc)
{
	struct ev_wq *rq = &qp->rq;

	wc->qpn = qp->qpn;
	wc->qtype = ERDMA_CQE_QTYPE_RQ;
	wc->index = rq->ci;
	ev_cq_post(rq->cq, wc);
	rq->last = rq->ci++;
	rq->cqes++;
}
