// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recording of failures (eadm_failures.h). Results of a consumer's own requests, such as stopping a
 * QP, closing or rejecting a connection, or querying a context that does not exist, are not
 * failures; neither are their consequences.
 */
#include <linux/pid.h>
#include <linux/sched/task.h>

#include "erdma.h"
#include "erdma_classes.h"

static void set_connection(struct eadm_failure *what, struct erdma_qp *qp)
{
	struct sockaddr_in local = { .sin_family = AF_INET }, peer = local;
	bool connected;

	spin_lock(&qp->conn_lock);
	connected = qp->connected;
	local.sin_addr.s_addr = qp->conn.sip;
	local.sin_port = qp->conn.sport;
	peer.sin_addr.s_addr = qp->conn.dip;
	peer.sin_port = qp->conn.dport;
	spin_unlock(&qp->conn_lock);
	if (connected)
		eadm_failure_set_names(what, &local, &peer);
}

/**
 * erdma_failed_qp() - record the first error that the adapter reported for a QP
 * @qp: the QP, referenced
 * @type: ERDMA_AE_*
 * @syndrome: enum erdma_syndrome
 *
 * Context: process.
 */
void erdma_failed_qp(struct erdma_qp *qp, u8 type, u8 syndrome)
{
	struct eadm_failure what = {
		.kind = EADM_FAILURE_KIND_QP,
		.cause = erdma_cause_class(syndrome),
		.has = EADM_FAILURE_SYNDROME | EADM_FAILURE_ASYNC,
		.id = qp->qpn,
		.syndrome = syndrome,
		.async = erdma_event_class(type),
		.async_raw = type,
	};

	eadm_failure_set_owner(&what, &qp->ibqp.res);
	set_connection(&what, qp);
	eadm_failures_note(&to_erdma_dev(qp->ibqp.device)->adapter.failures, &what);
}

/**
 * erdma_failed_with_device() - record that the adapter has lost a QP
 * @qp: the QP, referenced
 *
 * Context: process.
 */
void erdma_failed_with_device(struct erdma_qp *qp)
{
	struct erdma_dev *dev = to_erdma_dev(qp->ibqp.device);
	struct eadm_failure what = {
		.kind = EADM_FAILURE_KIND_QP,
		.cause = eadm_adapter_cause(&dev->adapter),
		.id = qp->qpn,
	};

	eadm_failure_set_owner(&what, &qp->ibqp.res);
	set_connection(&what, qp);
	eadm_failures_note(&dev->adapter.failures, &what);
}

/**
 * erdma_failed_cq() - record an error that the adapter reported for a CQ
 * @cq: the CQ, referenced
 *
 * Context: process.
 */
void erdma_failed_cq(struct erdma_cq *cq)
{
	struct eadm_failure what = {
		.kind = EADM_FAILURE_KIND_CQ,
		.cause = EADM_CAUSE_OVERRUN,
		.has = EADM_FAILURE_ASYNC,
		.id = cq->cqn,
		.async = erdma_event_class(ERDMA_AE_CQ_ERR),
		.async_raw = ERDMA_AE_CQ_ERR,
	};

	eadm_failure_set_owner(&what, &cq->ibcq.res);
	eadm_failures_note(&to_erdma_dev(cq->ibcq.device)->adapter.failures, &what);
}

/* Maps errors reported by kernel sockets and mpa.c. */
static u8 connection_cause(const struct erdma_cep *cep, int status)
{
	switch (status) {
	case -ETIMEDOUT:
		return EADM_CAUSE_TIMEOUT;
	case -ECONNREFUSED:
		/*
		 * After the TCP handshake, this error means that the peer's reply requests an
		 * unsupported feature.
		 */
		return cep->state == ERDMA_CEP_CONNECTING ? EADM_CAUSE_REFUSED :
							    EADM_CAUSE_PROTOCOL;
	case -ECONNRESET:
		if (cep->rx.got >= sizeof(cep->rx.hdr) &&
		    be16_to_cpu(cep->rx.hdr.bits) & ERDMA_MPA_REJECT)
			return EADM_CAUSE_REJECTED;
		return EADM_CAUSE_PEER_RESET;
	case -EPIPE:
		return EADM_CAUSE_PEER_RESET;
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -ENETDOWN:
		return EADM_CAUSE_UNREACHABLE;
	case -EPROTO:
		return EADM_CAUSE_PROTOCOL;
	default:
		return EADM_CAUSE_LOCAL;
	}
}

static void set_cep_owner(struct eadm_failure *what, const struct erdma_cep *cep)
{
	struct task_struct *task;

	if (cep->qp) {
		what->qpn = cep->qp->qpn;
		what->has |= EADM_FAILURE_QPN;
		eadm_failure_set_owner(what, &cep->qp->ibqp.res);
		return;
	}
	task = cep->owner ? get_pid_task(cep->owner, PIDTYPE_TGID) : NULL;
	if (!task)
		return;
	eadm_failure_set_task(what, task);
	put_task_struct(task);
}

/**
 * erdma_failed_connection() - record a failed connection
 * @cep: endpoint of the connection, not closed yet
 * @status: reason as a negative errno
 *
 * If the connection was aborted, its QP was stopped either by its consumer or with a failure
 * recorded for the QP.
 *
 * Context: process, with the endpoint's lock held.
 */
void erdma_failed_connection(struct erdma_cep *cep, int status)
{
	struct eadm_failure what = {
		.kind = EADM_FAILURE_KIND_CONNECTION,
		.cause = connection_cause(cep, status),
		.has = EADM_FAILURE_ERROR,
		.id = cep->id,
		.error = status,
	};
	struct sockaddr_in local = cep->local, peer = cep->peer;

	lockdep_assert_held(&cep->lock);
	if (status == -ECONNABORTED)
		return;
	/* Before the socket is connected, it has no addresses. */
	if (cep->cm_id && cep->active && local.sin_family != AF_INET)
		memcpy(&local, &cep->cm_id->m_local_addr, sizeof(local));
	if (cep->cm_id && cep->active && peer.sin_family != AF_INET)
		memcpy(&peer, &cep->cm_id->m_remote_addr, sizeof(peer));
	set_cep_owner(&what, cep);
	eadm_failure_set_names(&what, &local, &peer);
	eadm_failures_note(&cep->dev->adapter.failures, &what);
}
