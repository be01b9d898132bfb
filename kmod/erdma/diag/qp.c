// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: queue pairs. */

#include <linux/bitfield.h>

#include "erdma_classes.h"
#include "diag.h"

static void fill_kernel(struct erdma_qp *qp, struct eadm_snap_qp *s)
{
	const struct erdma_kqp *kqp = qp->kqp;
	u64 post = READ_ONCE(kqp->last_post), comp = READ_ONCE(kqp->last_comp);

	SNAP_SET(s, sq_pi, READ_ONCE(kqp->sq.pi));
	SNAP_SET(s, sq_ci, READ_ONCE(kqp->sq.ci));
	SNAP_SET(s, rq_pi, READ_ONCE(kqp->rq.pi));
	SNAP_SET(s, rq_ci, READ_ONCE(kqp->rq.ci));
	if (post)
		SNAP_SET(s, last_post_age, diag_age_coarse(post));
	if (comp)
		SNAP_SET(s, last_comp_age, diag_age_coarse(comp));
}

/* A process passes its producer indices directly to the adapter, in its doorbell records. */
static void fill_user(struct erdma_qp *qp, struct eadm_snap_qp *s)
{
	SNAP_SET(s, sq_pi, FIELD_GET(ERDMA_SQ_DB_PI, erdma_dbref_read(&qp->db, 0)));
	SNAP_SET(s, rq_pi, FIELD_GET(ERDMA_RQ_DB_PI, erdma_dbref_read(&qp->db, 1)));
	SNAP_SET(s, ctxn, qp->ctx->base.ctxn);
}

static void fill_connection(struct erdma_dev *dev, struct erdma_qp *qp, struct eadm_snap_qp *s,
			    struct eadm_snap_qp_erdma *o, const struct eadm_diag_req *req)
{
	struct erdma_rts conn;
	bool connected;

	spin_lock(&qp->conn_lock);
	connected = qp->connected;
	if (connected)
		conn = qp->conn;
	spin_unlock(&qp->conn_lock);

	if (eadm_diag_sees(req, dev->netdev))
		SNAP_STR(s, netdev, dev->netdev->name);
	if (!connected)
		return;
	SNAP_BIN(s, local_addr, &conn.sip, sizeof(conn.sip));
	SNAP_SET(s, local_port, be16_to_cpu(conn.sport));
	SNAP_BIN(s, peer_addr, &conn.dip, sizeof(conn.dip));
	SNAP_SET(s, peer_port, be16_to_cpu(conn.dport));
	SNAP_SET(o, remote_cookie, conn.remote_cookie);
	SNAP_SET(o, cc, conn.cc);
}

static void fill_hw_connection(const struct erdma_qpc *c, struct eadm_snap_qp *s,
			       struct eadm_snap_qp_erdma *o)
{
	if (!c->sip && !c->dip)
		return;
	SNAP_BIN(o, hw_local_addr, &c->sip, sizeof(c->sip));
	SNAP_BIN(o, hw_peer_addr, &c->dip, sizeof(c->dip));
	SNAP_SET(o, hw_local_port, be16_to_cpu(c->sport));
	SNAP_SET(o, hw_peer_port, be16_to_cpu(c->dport));
	SNAP_SET(s, hw_remote_qpn, le32_to_cpu(c->remote_qpn));
}

static void fill_hw(struct erdma_dev *dev, struct erdma_qp *qp, struct eadm_snap_qp *s,
		    struct eadm_snap_qp_erdma *o)
{
	struct erdma_qpc c;
	int ret;

	ret = erdma_diag_may_query(dev, &qp->obj);
	if (!ret)
		ret = erdma_cmd_query_qpc(dev, qp->qpn, &c, NULL);
	if (ret) {
		SNAP_SET(s, hw_error, ret);
		return;
	}
	SNAP_SET(s, hw_sq_enabled, c.sq.enabled);
	SNAP_SET(s, hw_sq_pi, le16_to_cpu(c.sq.pi));
	SNAP_SET(s, hw_sq_ci, le16_to_cpu(c.sq.ci));
	SNAP_SET(s, hw_rq_enabled, c.rq.enabled);
	SNAP_SET(s, hw_rq_pi, le16_to_cpu(c.rq.pi));
	SNAP_SET(s, hw_rq_ci, le16_to_cpu(c.rq.ci));
	SNAP_SET(o, hw_last_sqe, le16_to_cpu(c.last_sqe));
	SNAP_SET(o, hw_last_rqe, le16_to_cpu(c.last_rqe));
	SNAP_SET(o, hw_send_cqes, le16_to_cpu(c.send_cqes));
	SNAP_SET(o, hw_recv_cqes, le16_to_cpu(c.recv_cqes));
	SNAP_SET(o, hw_tx_packets, le16_to_cpu(c.tx_packets));
	SNAP_SET(o, hw_rx_packets, le16_to_cpu(c.rx_packets));
	SNAP_SET(o, hw_rx_error_drops, le16_to_cpu(c.rx_error_drops));
	SNAP_SET(o, hw_rx_invalid_drops, le16_to_cpu(c.rx_invalid_drops));
	SNAP_SET(o, hw_rto_retrans, le32_to_cpu(c.rto_retrans));
	SNAP_SET(s, hw_pdn, le32_to_cpu(c.pd));
	SNAP_SET(o, hw_fw_sq_pi, le16_to_cpu(c.fw_sq_pi));
	SNAP_SET(o, hw_fw_sq_ci, le16_to_cpu(c.fw_sq_ci));
	SNAP_SET(o, hw_fw_rq_ci, le16_to_cpu(c.fw_rq_ci));
	SNAP_SET(o, hw_sq_flushing, c.sq_flushing);
	SNAP_SET(o, hw_rq_flushing, c.rq_flushing);
	SNAP_SET(o, hw_flushed_sq_pi, le16_to_cpu(c.flushed_sq_pi));
	SNAP_SET(o, hw_flushed_rq_pi, le16_to_cpu(c.flushed_rq_pi));
	SNAP_SET(s, hw_send_cqn, le32_to_cpu(c.send_cqn));
	SNAP_SET(s, hw_recv_cqn, le32_to_cpu(c.recv_cqn));
	SNAP_SET(s, hw_sq_addr, le64_to_cpu(c.sq_addr));
	SNAP_SET(s, hw_rq_addr, le64_to_cpu(c.rq_addr));
	SNAP_SET(o, hw_sq_dbrec_addr, le64_to_cpu(c.sq_dbrec_addr));
	SNAP_SET(o, hw_rq_dbrec_addr, le64_to_cpu(c.rq_dbrec_addr));
	SNAP_SET(o, hw_sq_dbrec, le64_to_cpu(c.sq_dbrec));
	SNAP_SET(o, hw_rq_dbrec, le64_to_cpu(c.rq_dbrec));
	fill_hw_connection(&c, s, o);
}

static void fill_first_event(struct erdma_qp *qp, struct eadm_snap_qp *s)
{
	/* Pairs with the release in note_first(). */
	u64 time = smp_load_acquire(&qp->first_event_time);

	if (!time)
		return;
	SNAP_SET(s, first_event, erdma_event_class(qp->first_event));
	SNAP_SET(s, first_event_raw, qp->first_event);
	SNAP_SET(s, first_cause, erdma_cause_class(qp->first_syndrome));
	SNAP_SET(s, first_syndrome_raw, qp->first_syndrome);
	SNAP_SET(s, first_event_age, eadm_age(time));
}

static int qp_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct erdma_qp *qp = container_of(obj, struct erdma_qp, obj);
	struct erdma_dev *dev = diag_to_dev(dd);
	struct eadm_snap_qp_erdma *o = own;
	struct eadm_snap_qp *s = snap;

	SNAP_SET(s, qpn, qp->qpn);
	SNAP_SET(s, type, qp->ibqp.qp_type);
	SNAP_SET(s, state, erdma_qp_ib_state(qp));
	SNAP_SET(o, iwarp_state, READ_ONCE(qp->state));
	SNAP_SET(s, pdn, to_eadm_pd(qp->ibqp.pd)->pdn);
	SNAP_SET(s, send_cqn, to_erdma_cq(qp->ibqp.send_cq)->cqn);
	SNAP_SET(s, recv_cqn, to_erdma_cq(qp->ibqp.recv_cq)->cqn);
	SNAP_SET(s, sq_depth, qp->sq_depth);
	SNAP_SET(s, sq_stride, ERDMA_WQEBB_SIZE);
	SNAP_SET(s, rq_depth, qp->rq_depth);
	SNAP_SET(s, rq_stride, sizeof(struct erdma_rqe));
	SNAP_SET(s, user, !qp->kqp);
	SNAP_SET(o, cookie, qp->cookie);
	SNAP_SET(s, age, eadm_age(qp->obj.created));
	SNAP_SET(s, state_age, eadm_age(READ_ONCE(qp->state_since)));
	SNAP_SET(s, events, atomic64_read(&qp->events));
	if (qp->kqp)
		fill_kernel(qp, s);
	else
		fill_user(qp, s);
	fill_connection(dev, qp, s, o, req);
	fill_first_event(qp, s);
	if (req->hw)
		fill_hw(dev, qp, s, o);
	return 0;
}

const struct eadm_diag_obj erdma_diag_qp = EADM_OBJECT_ROWS(QP, eadm_qp_row_next, qp_fill);
