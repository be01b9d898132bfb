// SPDX-License-Identifier: GPL-2.0-only
/* Commands for queue pairs (hw 4.7, 4.8, 4.10). */
#include <linux/bitfield.h>
#include <linux/slab.h>

#include "ev.h"

/* Parameters of one of the two queues in CREATE_QP. */
struct wq_req {
	u32 depth_log2;
	u32 cq;				/* sq_cqn or rq_cqn */
	u32 mtt;
	u64 addr;
	u64 dbrec;
	const __le64 *more;		/* inline entries 1..3, or NULL */
};

static enum ev_syndrome wq_create(struct ev_adapter *ad, struct ev_wq *wq,
				  const struct wq_req *req)
{
	u32 count = FIELD_GET(ERDMA_CREATE_QP_MTT_CNT, req->mtt);
	u8 shift = FIELD_GET(ERDMA_CREATE_QP_PAGE_SIZE, req->cq) +
		   ERDMA_HW_PAGE_SHIFT;
	u32 off = req->mtt & ERDMA_CREATE_QP_MTT_OFFSET;
	__le64 entry[ERDMA_QP_INLINE_MTT];
	struct ev_cq *cq;
	u64 len;
	int ret;

	cq = ev_cq_find(ad, FIELD_GET(ERDMA_CREATE_QP_CQN, req->cq));
	if (!cq)
		return EV_NO_OBJECT;
	wq->dbrec = vdev_dma_record(&ad->vdev, req->dbrec);
	if (!wq->dbrec)
		return EV_BAD_ADDRESS;
	wq->depth = BIT(req->depth_log2);
	wq->addr = req->addr;
	wq->dbrec_addr = req->dbrec;
	wq->page_shift = shift;
	wq->page_offset = off;
	len = (u64)wq->depth * ERDMA_WQEBB_SIZE;
	if (req->mtt & ERDMA_CREATE_QP_MTT_LEVEL) {
		ret = ev_mtt_map_ring_table(ad, &wq->ring, req->addr, count,
					    shift, off, len);
	} else {
		if (!count || count > (req->more ? ERDMA_QP_INLINE_MTT : 1))
			return EV_INVALID;
		/* A single page is as long as the ring, see ev_mtt_map_ring(). */
		if (count == 1 && req->addr % ERDMA_WQEBB_SIZE)
			return EV_INVALID;
		entry[0] = cpu_to_le64(req->addr);
		if (req->more)
			memcpy(entry + 1, req->more,
			       sizeof(entry) - sizeof(entry[0]));
		ret = ev_mtt_map_ring(ad, &wq->ring, entry, count, shift, off,
				      len);
	}
	if (ret)
		return ev_syndrome_of(ret);
	wq->cq = cq;
	cq->users++;
	return EV_OK;
}

static enum ev_syndrome create_wqs(struct ev_adapter *ad, struct ev_qp *qp,
				   const struct ev_cmd *cmd)
{
	const struct erdma_cmd_create_qp *c = (void *)cmd->req;
	u32 cfg0 = le32_to_cpu(c->cfg0);
	u32 cfg1 = le32_to_cpu(c->cfg1);
	bool more = cmd->len >= offsetofend(struct erdma_cmd_create_qp,
					    rq_inline_mtt);
	struct wq_req sq = {
		.depth_log2 = FIELD_GET(ERDMA_CREATE_QP0_SQ_DEPTH, cfg0),
		.cq = le32_to_cpu(c->sq_cqn),
		.mtt = le32_to_cpu(c->sq_mtt),
		.addr = le64_to_cpu(c->sq_addr),
		.dbrec = le64_to_cpu(c->sq_dbrec),
		.more = more ? c->sq_inline_mtt : NULL,
	};
	struct wq_req rq = {
		.depth_log2 = FIELD_GET(ERDMA_CREATE_QP1_RQ_DEPTH, cfg1),
		.cq = le32_to_cpu(c->rq_cqn),
		.mtt = le32_to_cpu(c->rq_mtt),
		.addr = le64_to_cpu(c->rq_addr),
		.dbrec = le64_to_cpu(c->rq_dbrec),
		.more = more ? c->rq_inline_mtt : NULL,
	};
	enum ev_syndrome ret;
	u32 db;

	if (sq.depth_log2 > ilog2(ERDMA_MAX_SQ_DEPTH) ||
	    rq.depth_log2 > ad->params.max_recv_wr)
		return EV_RANGE;
	ret = wq_create(ad, &qp->sq, &sq);
	if (!ret)
		ret = wq_create(ad, &qp->rq, &rq);
	/* The page is only stored, because a doorbell is valid on any page (hw 4.11). */
	if (sq.cq & ERDMA_CREATE_QP_DB_CFG &&
	    cmd->len >= offsetofend(struct erdma_cmd_create_qp, db_cfg)) {
		db = le32_to_cpu(c->db_cfg);
		qp->sq.db_page = FIELD_GET(ERDMA_CREATE_QP_SQDB_PAGE, db);
		qp->rq.db_page = FIELD_GET(ERDMA_CREATE_QP_RQDB_PAGE, db);
		qp->user = true;
	}
	/*
	 * Drivers with short requests do not specify whether the QP is a user QP, but only their
	 * kernel QPs have pages of 1 MiB (hw 4.7, 5.2).
	 */
	if (!more && qp->sq.page_shift != ilog2(SZ_1M))
		qp->user = true;
	return ret;
}

enum ev_syndrome ev_cmd_create_qp(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_create_qp *c = (void *)cmd->req;
	u32 qpn = FIELD_GET(ERDMA_CREATE_QP0_QPN, le32_to_cpu(c->cfg0));
	enum ev_syndrome ret;
	struct ev_qp *qp;

	if (!qpn || qpn >= ev_max_qp(ad))
		return EV_RANGE;
	if (ev_qp_find(ad, qpn))
		return EV_EXISTS;
	qp = kzalloc(sizeof(*qp), GFP_KERNEL);
	if (!qp)
		return EV_NO_MEMORY;
	vdev_queue_init(&qp->queue);
	INIT_LIST_HEAD(&qp->waiting);
	mutex_init(&qp->lock);
	qp->link = &qp->lock;
	qp->ad = ad;
	qp->qpn = qpn;
	qp->pd = FIELD_GET(ERDMA_CREATE_QP1_PD, le32_to_cpu(c->cfg1));
	qp->state = ERDMA_QPS_IDLE;
	ret = create_wqs(ad, qp, cmd);
	if (!ret && xa_is_err(xa_store(&ad->qps, qpn, qp, GFP_KERNEL)))
		ret = EV_NO_MEMORY;
	if (ret) {
		ev_qp_free(qp);
		return ret;
	}
	/* This is the cookie; real devices also return the QPN (hw 4.7). */
	cmd->resp[0] = qpn;
	return EV_OK;
}

enum ev_syndrome ev_cmd_destroy_qp(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_destroy_qp *req = (void *)cmd->req;
	u32 qpn = le32_to_cpu(req->qpn);
	struct ev_qp *qp;

	if (qpn >= ev_max_qp(ad))
		return EV_RANGE;
	qp = xa_erase(&ad->qps, qpn);
	if (!qp)
		return EV_NO_OBJECT;
	/* Permitted, but probably a driver bug: drivers stop the QP first. */
	if (qp->state == ERDMA_QPS_RTS)
		ev_log(ad, ERRORS, "QP %u is destroyed while connected\n", qpn);
	ev_qp_free(qp);
	return EV_OK;
}

static enum ev_syndrome to_rts(struct ev_qp *qp,
			       const struct erdma_cmd_modify_qp *req, u8 cc)
{
	if (cc > ERDMA_CC_HPCC_INT)
		return EV_INVALID;
	if (qp->state != ERDMA_QPS_IDLE && qp->state != ERDMA_QPS_RTR)
		return EV_INVALID;
	if (qp->sq.cq->dead || qp->rq.cq->dead)
		return EV_INVALID;
	qp->remote_cookie = le32_to_cpu(req->remote_cookie);
	qp->dip = req->dip;
	qp->sip = req->sip;
	qp->sport = req->sport;
	qp->dport = req->dport;
	qp->cc = cc;
	qp->state = ERDMA_QPS_RTS;
	ev_conn_open(qp);
	vdev_queue_watch(&qp->ad->vdev, &qp->queue);
	return EV_OK;
}

enum ev_syndrome ev_cmd_modify_qp(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_modify_qp *req = (void *)cmd->req;
	u32 cfg = le32_to_cpu(req->cfg);
	u32 state = FIELD_GET(ERDMA_MODIFY_QP_STATE, cfg);
	struct ev_qp *qp;

	qp = ev_qp_find(ad, FIELD_GET(ERDMA_MODIFY_QP_QPN, cfg));
	if (!qp)
		return EV_NO_OBJECT;
	switch (state) {
	case ERDMA_QPS_IDLE:
	case ERDMA_QPS_RTR:
		if (qp->state > ERDMA_QPS_RTR)
			return EV_INVALID;
		qp->state = state;
		return EV_OK;
	case ERDMA_QPS_RTS:
		return to_rts(qp, req, FIELD_GET(ERDMA_MODIFY_QP_CC, cfg));
	case ERDMA_QPS_CLOSING:
	case ERDMA_QPS_TERMINATE:
	case ERDMA_QPS_ERROR:
		ev_qp_stop(qp, state);
		return EV_OK;
	default:
		return EV_INVALID;
	}
}

enum ev_syndrome ev_cmd_reflush(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_reflush *req = (void *)cmd->req;
	u32 sq_pi = le32_to_cpu(req->sq_pi);
	u32 rq_pi = le32_to_cpu(req->rq_pi);
	struct ev_qp *qp;

	qp = ev_qp_find(ad, le32_to_cpu(req->qpn));
	if (!qp)
		return EV_NO_OBJECT;
	if (sq_pi > U16_MAX || rq_pi > U16_MAX)
		return EV_RANGE;
	ev_qp_reflush(qp, sq_pi, rq_pi);
	return EV_OK;
}
