// SPDX-License-Identifier: GPL-2.0-only
/* Receive queues (hw 7.6). */
#include "efv.h"

static_assert(VDEV_MAX_SPANS >= 4);

/* Maximum number of descriptors of a receive. */
#define MAX_SGE		4

/* Records posted descriptors; an invalid doorbell is ignored. */
static void update(struct efv_qp *qp)
{
	u16 pi = efv_db_read(qp->ad, qp->rq_db);

	if (pi == qp->rq_pi || (u16)(pi - qp->rq_ci) > qp->rq_depth || pi == qp->rq_deaf)
		return;
	qp->rq_deaf = EFV_NOT_DEAF;
	if (efv_fault_hit(qp->ad, EFV_FAULT_RQ_DB_LOST, qp->qpn, NULL)) {
		qp->rq_deaf = pi;
		return;
	}
	qp->rq_pi = pi;
	atomic64_inc(&qp->ad->vdev.counters.doorbells);
	/* Pairs with the process's write barrier before its doorbell. */
	smp_rmb();
}

static bool fetch(struct efv_qp *qp, u16 index, struct efa_rqe *rqe)
{
	if (!vdev_dma_begin(&qp->ad->vdev))
		return false;
	memcpy(rqe, vdev_buf_at(&qp->rq, (index & (qp->rq_depth - 1)) * sizeof(*rqe)),
	       sizeof(*rqe));
	vdev_dma_end(&qp->ad->vdev);
	return true;
}

/* Returns false unless all descriptors of the receive are posted. */
static bool load(struct efv_qp *qp, struct efv_recv *recv)
{
	u16 n = qp->rq_pi - qp->rq_ci, i;
	struct efa_rqe rqe;
	u32 key, len;

	memset(recv, 0, sizeof(*recv));
	for (i = 0; i < n; i++) {
		if (!fetch(qp, qp->rq_ci + i, &rqe))
			return false;
		key = le32_to_cpu(rqe.key);
		len = le16_to_cpu(rqe.length);
		if (!i)
			recv->req_id = le16_to_cpu(rqe.req_id);
		recv->count++;
		if (i >= MAX_SGE || !efv_sgl_add(&recv->sgl, qp->ad, qp->pd,
						 FIELD_GET(EFA_RQE_LKEY, key),
						 le64_to_cpu(rqe.addr), len, EFA_MR_LOCAL_WRITE))
			recv->bad = true;
		recv->length += len;
		if (key & EFA_RQE_LAST)
			return true;
	}
	return false;
}

/**
 * efv_rq_peek() - look at the next posted receive
 * @qp: QP
 * @recv: set to the receive
 *
 * Context: @qp->rq_lock held; efv_fabric held as long as @recv is used.
 * Return: true if a receive is posted. It remains posted until efv_rq_take().
 */
bool efv_rq_peek(struct efv_qp *qp, struct efv_recv *recv)
{
	if (!qp->rq_depth || efv_fault_hit(qp->ad, EFV_FAULT_RNR, qp->qpn, NULL))
		return false;
	update(qp);
	return qp->rq_pi != qp->rq_ci && load(qp, recv);
}

/**
 * efv_rq_take() - consume a receive
 * @qp: QP
 * @recv: receive from efv_rq_peek()
 *
 * Context: @qp->rq_lock held.
 */
void efv_rq_take(struct efv_qp *qp, const struct efv_recv *recv)
{
	qp->rq_ci += recv->count;
}

/**
 * efv_rq_flush() - complete all receives with an error
 * @qp: QP in ERR
 *
 * Context: @qp->rq_lock, or efv_fabric for writing, held.
 * Return: true if there were any receives.
 */
bool efv_rq_flush(struct efv_qp *qp)
{
	struct efa_cqe cqe = {
		.status = EFA_WC_FLUSHED,
		.flags = FIELD_PREP(EFA_CQE_QTYPE, EFA_QTYPE_RQ),
		.qpn = cpu_to_le16(qp->qpn),
		.ah = cpu_to_le16(EFA_AH_NONE),
	};
	struct efv_recv recv;
	bool any = false;

	if (!qp->rq_depth)
		return false;
	update(qp);
	while (qp->rq_pi != qp->rq_ci && load(qp, &recv)) {
		cqe.req_id = cpu_to_le16(recv.req_id);
		efv_cq_post(qp->recv_cq, qp->recv_sub, &cqe);
		efv_rq_take(qp, &recv);
		any = true;
	}
	return any;
}
