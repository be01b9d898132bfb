// SPDX-License-Identifier: GPL-2.0-or-later
/* Doorbells (hw 6). A process may ring doorbells only for its own objects. */
#include <errno.h>

#include "function.h"

static bool owns(const struct model *m, uint32_t page, const struct context *owner)
{
	return !page || (owner && m->uars[page] == owner);
}

static void ring_qp(struct model *m, uint32_t page, uint32_t value)
{
	struct qp *qp = table_get(&m->qps, value & PVRDMA_UAR_HANDLE);

	if (!qp || !owns(m, page, qp->pd->context))
		return;
	if (value & PVRDMA_UAR_QP_SEND && !fault_hit(m, FAULT_SQ_DB_LOST, qp->qpn, NULL))
		queue_fetch(m, &qp->sq);
	if (value & PVRDMA_UAR_QP_RECV && !qp->srq)
		queue_fetch(m, &qp->rq);
}

static void ring_cq(struct model *m, uint32_t page, uint32_t value)
{
	struct cq *cq = table_get(&m->cqs, value & PVRDMA_UAR_HANDLE);

	if (cq && owns(m, page, cq->context))
		cq_doorbell(m, cq, value);
}

static void ring_srq(struct model *m, uint32_t page, uint32_t value)
{
	struct srq *srq = table_get(&m->srqs, value & PVRDMA_UAR_HANDLE);

	if (srq && owns(m, page, srq->pd->context) && value & PVRDMA_UAR_SRQ_RECV)
		queue_fetch(m, &srq->queue);
}

int uar_write(struct model *m, uint64_t offset, uint32_t value)
{
	uint32_t page = (uint32_t)(offset / PAGE);

	if (!m->active || page >= MAX_UAR)
		return 0;
	switch (offset % PAGE) {
	case PVRDMA_UAR_QP:
		ring_qp(m, page, value);
		break;
	case PVRDMA_UAR_CQ:
		ring_cq(m, page, value);
		break;
	case PVRDMA_UAR_SRQ:
		ring_srq(m, page, value);
		break;
	default:
		break;
	}
	return 0;
}
