// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: queue pairs. Their indices are known only to the process and the adapter. */

#include "diag.h"

/* The adapter numbers states as verbs do. */
static_assert((int)EFA_QPS_RESET == EADM_QP_STATE_RESET);
static_assert((int)EFA_QPS_ERR == EADM_QP_STATE_ERR);

static void fill_own(struct efa_qp *qp, struct eadm_snap_qp_efa *o)
{
	SNAP_SET(o, handle, qp->handle);
	SNAP_SET(o, qkey, READ_ONCE(qp->qkey));
	SNAP_SET(o, psn, READ_ONCE(qp->psn));
	SNAP_SET(o, rnr_retry, READ_ONCE(qp->rnr_retry));
	SNAP_SET(o, send_sub_cq, qp->send_sub_cq);
	SNAP_SET(o, recv_sub_cq, qp->recv_sub_cq);
	SNAP_SET(o, unsolicited, !!(qp->flags & EFA_CREATE_QP_UNSOLICITED));
	SNAP_SET(o, sq_db_offset, qp->sq_db);
	SNAP_SET(o, llq_offset, qp->llq);
	if (qp->rq_bytes)
		SNAP_SET(o, rq_db_offset, qp->rq_db);
}

static void fill_hw(struct efa_dev *dev, struct efa_qp *qp, struct eadm_snap_qp *s,
		    struct eadm_snap_qp_efa *o)
{
	struct efa_resp_query_qp resp;
	int ret;

	ret = -ENODEV;
	if (!eadm_object_is_dead(&dev->adapter, &qp->obj))
		ret = efa_cmd_query_qp(dev, qp, &resp);
	if (ret) {
		SNAP_SET(s, hw_error, ret);
		return;
	}
	SNAP_SET(o, hw_state, le32_to_cpu(resp.state));
	SNAP_SET(o, hw_psn, le32_to_cpu(resp.sq_psn));
	SNAP_SET(o, hw_sq_draining, resp.sq_draining);
	SNAP_SET(o, hw_rnr_retry, resp.rnr_retry);
}

static int qp_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct efa_qp *qp = container_of(obj, struct efa_qp, obj);
	struct efa_dev *dev = diag_to_dev(dd);
	bool dead = eadm_object_is_dead(&dev->adapter, obj);
	struct eadm_snap_qp *s = snap;

	SNAP_SET(s, qpn, qp->qpn);
	SNAP_SET(s, type, qp->ibqp.qp_type);
	SNAP_SET(s, state, dead ? IB_QPS_ERR : READ_ONCE(qp->state));
	SNAP_SET(s, pdn, to_eadm_pd(qp->ibqp.pd)->pdn);
	SNAP_SET(s, send_cqn, to_efa_cq(qp->ibqp.send_cq)->cqn);
	SNAP_SET(s, recv_cqn, to_efa_cq(qp->ibqp.recv_cq)->cqn);
	SNAP_SET(s, sq_depth, qp->cap.max_send_wr);
	if (qp->cap.max_send_wr)
		SNAP_SET(s, sq_stride, qp->sq_bytes / qp->cap.max_send_wr);
	SNAP_SET(s, rq_depth, qp->rq_bytes / EFA_RQE_SIZE);
	SNAP_SET(s, rq_stride, EFA_RQE_SIZE);
	SNAP_SET(s, user, 1);
	SNAP_SET(s, ctxn, qp->ctx->base.ctxn);
	SNAP_SET(s, age, eadm_age(qp->obj.created));
	SNAP_SET(s, state_age, eadm_age(READ_ONCE(qp->state_since)));
	SNAP_SET(s, events, READ_ONCE(qp->events));
	fill_own(qp, own);
	if (req->hw)
		fill_hw(dev, qp, s, own);
	return 0;
}

const struct eadm_diag_obj efa_diag_qp = EADM_OBJECT_ROWS(QP, eadm_qp_row_next, qp_fill);
