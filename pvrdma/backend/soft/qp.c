// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "soft.h"

static bool take_number(struct soft_qp *qp, const struct backend_qp_attr *attr)
{
	int64_t number;

	if (attr->gsi) {
		if (qp->port->gsi)
			return false;
		qp->port->gsi = qp;
		qp->qpn = 1;
		return true;
	}
	number = table_add_below(&qp->port->qps, attr->qpn_limit ? attr->qpn_limit : UINT32_MAX, qp);
	qp->qpn = (uint32_t)number;
	return number >= 0;
}

int soft_qp_create(struct backend_port *port, const struct backend_qp_attr *attr,
		   void *client, struct backend_qp **created, uint32_t *qpn)
{
	struct soft_qp *qp;

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->port = soft_port(port);
	qp->pd = attr->pd;
	qp->client = client;
	qp->type = attr->type;
	qp->srq = attr->srq;
	qp->cap = attr->cap;
	TAILQ_INIT(&qp->sends);
	soft_rq_init(&qp->rq, qp->port, qp->srq ? 0 : qp->cap.max_recv_wr,
		     qp->cap.max_recv_sge);
	if (!take_number(qp, attr)) {
		free(qp);
		return -ENOSPC;
	}
	*qpn = qp->qpn;
	*created = (struct backend_qp *)(void *)qp;
	return 0;
}

/* Drops requests without completions. */
static void forget(struct soft_qp *qp)
{
	soft_qp_leave(qp);
	while (!TAILQ_EMPTY(&qp->sends))
		soft_send_free(qp);
	/* A receive taken from an SRQ is returned, not lost. */
	if (qp->taken && qp->srq) {
		TAILQ_INSERT_HEAD(&qp->srq->rq.posted, qp->taken, link);
		qp->srq->rq.count++;
	} else if (qp->taken) {
		soft_recv_free(qp, qp->taken);
	}
	soft_rq_drop(&qp->rq);
	qp->taken = NULL;
	qp->begun = qp->established = qp->last_wqe_sent = false;
	qp->done = 0;
	qp->retries = qp->rnr_retries = 0;
	qp->asked = NULL;
	qp->answered = qp->served = 0;
}

void soft_qp_destroy(struct backend_qp *backend_qp)
{
	struct soft_qp *qp = soft_qp(backend_qp);

	forget(qp);
	if (qp->port->gsi == qp)
		qp->port->gsi = NULL;
	else
		table_del(&qp->port->qps, qp->qpn);
	free(qp);
}

static void set_attributes(struct ibv_qp_attr *own, const struct ibv_qp_attr *attr, int mask)
{
#define TAKE(bit, member) \
	do { \
		if (mask & (bit)) \
			own->member = attr->member; \
	} while (0)
	TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(IBV_QP_PKEY_INDEX, pkey_index);
	TAKE(IBV_QP_PORT, port_num);
	TAKE(IBV_QP_QKEY, qkey);
	TAKE(IBV_QP_AV, ah_attr);
	TAKE(IBV_QP_PATH_MTU, path_mtu);
	TAKE(IBV_QP_TIMEOUT, timeout);
	TAKE(IBV_QP_RETRY_CNT, retry_cnt);
	TAKE(IBV_QP_RNR_RETRY, rnr_retry);
	TAKE(IBV_QP_RQ_PSN, rq_psn);
	TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(IBV_QP_SQ_PSN, sq_psn);
	TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(IBV_QP_PATH_MIG_STATE, path_mig_state);
	TAKE(IBV_QP_DEST_QPN, dest_qp_num);
	TAKE(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
#undef TAKE
}

int soft_qp_modify(struct backend_qp *backend_qp, const struct ibv_qp_attr *attr, int mask,
		   void *request)
{
	struct soft_qp *qp = soft_qp(backend_qp);

	(void)request;
	set_attributes(&qp->attr, attr, mask);
	if (!(mask & IBV_QP_STATE))
		return 0;
	qp->attr.qp_state = attr->qp_state;
	if (attr->qp_state == IBV_QPS_RESET) {
		forget(qp);
		qp->attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET };
		return 0;
	}
	soft_qp_schedule(qp);
	return 0;
}

void soft_qp_query(struct backend_qp *backend_qp, struct ibv_qp_attr *attr)
{
	const struct soft_qp *qp = soft_qp(backend_qp);

	*attr = qp->attr;
	attr->cur_qp_state = qp->attr.qp_state;
	attr->cap = qp->cap;
	attr->sq_draining = qp->attr.qp_state == IBV_QPS_SQD && qp->begun;
}

void soft_qp_stats(struct backend_qp *backend_qp, struct backend_qp_stats *stats)
{
	const struct soft_qp *qp = soft_qp(backend_qp);

	*stats = (struct backend_qp_stats){
		.wait = TAILQ_EMPTY(&qp->sends) ? BACKEND_WAIT_NOTHING :
			qp->queue == SOFT_WAITING ? qp->wait : BACKEND_WAIT_TURN,
		.retries = qp->waits,
	};
}

int soft_qp_send(struct backend_qp *backend_qp, const struct backend_send *send)
{
	struct soft_qp *qp = soft_qp(backend_qp);
	int err = soft_sq_post(qp, send);

	if (!err && qp->queue == SOFT_IDLE)
		soft_qp_schedule(qp);
	return err;
}

int soft_qp_recv(struct backend_qp *backend_qp, const struct ibv_recv_wr *wr)
{
	struct soft_qp *qp = soft_qp(backend_qp);
	int err = soft_rq_post(&qp->rq, wr);

	if (!err && qp->attr.qp_state == IBV_QPS_ERR)
		soft_qp_schedule(qp);
	return err;
}

static void flush_sends(struct soft_qp *qp)
{
	while (!TAILQ_EMPTY(&qp->sends))
		soft_sent(qp, IBV_WC_WR_FLUSH_ERR);
}

static void flush(struct soft_qp *qp)
{
	struct backend_wc wc = { .wc = { .opcode = IBV_WC_RECV } };
	struct soft_recv *recv = qp->taken;

	qp->asked = NULL;
	flush_sends(qp);
	qp->taken = NULL;
	if (recv)
		soft_received(qp, recv, IBV_WC_WR_FLUSH_ERR, &wc);
	if (!qp->srq) {
		while ((recv = soft_take(qp)))
			soft_received(qp, recv, IBV_WC_WR_FLUSH_ERR, &wc);
	} else if (!qp->last_wqe_sent) {
		qp->last_wqe_sent = true;
		soft_event(qp->port, IBV_EVENT_QP_LAST_WQE_REACHED, qp->client);
	}
}

bool soft_qp_step(struct soft_qp *qp)
{
	struct soft_send *send = TAILQ_FIRST(&qp->sends);

	switch (qp->attr.qp_state) {
	case IBV_QPS_ERR:
		flush(qp);
		return false;
	case IBV_QPS_SQE:
		flush_sends(qp);
		return false;
	case IBV_QPS_SQD:
		if (!qp->begun) {
			if (qp->attr.en_sqd_async_notify)
				soft_event(qp->port, IBV_EVENT_SQ_DRAINED, qp->client);
			qp->attr.en_sqd_async_notify = 0;
			return false;
		}
		break;
	case IBV_QPS_RTS:
		break;
	default:
		return false;
	}
	if (!send)
		return false;
	if (send->refused) {
		soft_sent(qp, send->refused);
		soft_qp_fail(qp);
		return false;
	}
	return qp->type == IBV_QPT_RC ? soft_rc_step(qp, send) : soft_ud_step(qp, send);
}
