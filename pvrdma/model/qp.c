// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"

#define ALL_ATTRIBUTES 0x1fffffu

/* Neither driver nor library checks a user QP's sizes against the limits (hw 4.9). */
static bool within_limits(const struct model *m, const struct pvrdma_cmd_create_qp *cmd)
{
	switch (cmd->type) {
	case PVRDMA_QPT_GSI:
	case PVRDMA_QPT_RC:
	case PVRDMA_QPT_UD:
		break;
	default:
		return false;
	}
	return cmd->max_send_wr <= m->caps.max_qp_wr && cmd->max_recv_wr <= m->caps.max_qp_wr &&
	       cmd->max_send_sge <= m->caps.max_sge && cmd->max_recv_sge <= m->caps.max_sge &&
	       cmd->total_chunks >= 1 + cmd->send_chunks + !cmd->is_srq &&
	       cmd->total_chunks <= ring_max_pages(sizeof(struct pvrdma_sqe), m->caps.max_sge,
						   m->caps.max_qp_wr) +
				    ring_max_pages(sizeof(struct pvrdma_rqe), m->caps.max_sge,
						   m->caps.max_qp_wr);
}

static int map_rings(struct model *m, const struct pvrdma_cmd_create_qp *cmd, struct qp *qp)
{
	uint32_t recv_chunks = cmd->total_chunks - cmd->send_chunks - 1u;
	int err = pages_map(m, cmd->directory, cmd->total_chunks, &qp->pages);

	if (!err)
		err = ring_init(&qp->sq.ring, qp->pages, true, 1, cmd->send_chunks,
				cmd->max_send_wr,
				ring_stride(sizeof(struct pvrdma_sqe), cmd->max_send_sge));
	if (!err && !cmd->is_srq)
		err = ring_init(&qp->rq.ring, qp->pages, false, cmd->send_chunks + 1u,
				recv_chunks, cmd->max_recv_wr,
				ring_stride(sizeof(struct pvrdma_rqe), cmd->max_recv_sge));
	works_init(&qp->sq.works, cmd->max_send_wr, true);
	works_init(&qp->rq.works, cmd->is_srq ? 0 : cmd->max_recv_wr, false);
	return err;
}

static int find_parts(struct model *m, const struct pvrdma_cmd_create_qp *cmd, struct qp *qp)
{
	qp->pd = table_get(&m->pds, cmd->pd);
	qp->send_cq = table_get(&m->cqs, cmd->send_cq);
	qp->recv_cq = table_get(&m->cqs, cmd->recv_cq);
	if (cmd->is_srq)
		qp->srq = table_get(&m->srqs, cmd->srq);
	if (!qp->pd || !qp->send_cq || !qp->recv_cq || (cmd->is_srq && !qp->srq))
		return -ENOENT;
	/* All objects must belong to the same process. */
	if (qp->send_cq->context != qp->pd->context || qp->recv_cq->context != qp->pd->context ||
	    (qp->srq && qp->srq->pd->context != qp->pd->context))
		return -EPERM;
	return 0;
}

static void use_parts(struct qp *qp, int change)
{
	qp->pd->users += change;
	context_count(qp->pd->context, CONTEXT_QP, change);
	qp->send_cq->users += change;
	qp->recv_cq->users += change;
	if (qp->srq)
		qp->srq->users += change;
}

static int create_backend(struct model *m, const struct pvrdma_cmd_create_qp *cmd, struct qp *qp)
{
	struct backend_qp_attr attr = {
		.type = cmd->type == PVRDMA_QPT_RC ? IBV_QPT_RC : IBV_QPT_UD,
		.gsi = cmd->type == PVRDMA_QPT_GSI,
		.pd = qp->pd->backend,
		.send_cq = qp->send_cq->backend,
		.recv_cq = qp->recv_cq->backend,
		.srq = qp->srq ? qp->srq->backend : NULL,
		.cap = {
			.max_send_wr = cmd->max_send_wr,
			.max_recv_wr = cmd->is_srq ? 0 : cmd->max_recv_wr,
			.max_send_sge = cmd->max_send_sge,
			.max_recv_sge = cmd->max_recv_sge,
		},
		.qpn_limit = m->config.version < PVRDMA_VERSION_QP_HANDLE ? m->caps.max_qp : 0,
	};

	return m->ops->qp_create(m->port, &attr, qp, &qp->backend, &qp->qpn);
}

/* In interface versions before PVRDMA_VERSION_QP_HANDLE, the QPN is the handle. */
static int take_handle(struct model *m, struct qp *qp)
{
	int64_t number;

	if (m->config.version < PVRDMA_VERSION_QP_HANDLE) {
		if (!table_put(&m->qps, qp->qpn, qp))
			return -ENOSPC;
		qp->handle = qp->qpn;
		return 0;
	}
	number = table_add(&m->qps, qp);
	qp->handle = (uint32_t)number;
	return number < 0 ? (int)number : 0;
}

static void free_qp(struct model *m, struct qp *qp)
{
	works_drop(m, &qp->sq.works);
	works_drop(m, &qp->rq.works);
	pages_unmap(qp->pages);
	free(qp);
}

int qp_create(struct model *m, const struct pvrdma_cmd_create_qp *cmd, struct qp **created)
{
	struct qp *qp;
	int err;

	if (!within_limits(m, cmd))
		return -EINVAL;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->type = cmd->type;
	qp->sig_all = cmd->sq_sig_all;
	qp->reset = true;
	qp->born = qp->state_since = journal_now();
	qp->first_event = -1;
	qp->sq.qp = qp->rq.qp = qp;
	qp->sq.max_sge = cmd->max_send_sge;
	qp->rq.max_sge = cmd->max_recv_sge;
	qp->caps = (struct pvrdma_qp_caps){
		.max_send_wr = cmd->max_send_wr,
		.max_recv_wr = cmd->max_recv_wr,
		.max_send_sge = cmd->max_send_sge,
		.max_recv_sge = cmd->max_recv_sge,
	};
	err = find_parts(m, cmd, qp);
	if (!err)
		err = map_rings(m, cmd, qp);
	if (!err)
		err = create_backend(m, cmd, qp);
	if (err)
		goto free;
	err = take_handle(m, qp);
	if (err)
		goto destroy;
	use_parts(qp, 1);
	*created = qp;
	return 0;

destroy:
	m->ops->qp_destroy(qp->backend);
free:
	free_qp(m, qp);
	return err;
}

int qp_destroy(struct model *m, uint32_t handle)
{
	struct qp *qp = table_del(&m->qps, handle);

	if (!qp)
		return -ENOENT;
	queue_remove(m, &qp->sq);
	queue_remove(m, &qp->rq);
	m->ops->qp_destroy(qp->backend);
	use_parts(qp, -1);
	free_qp(m, qp);
	return 0;
}

/* Records the state of the QP from the guest's point of view. */
static void note_state(struct qp *qp, uint32_t state)
{
	if (qp->guest_state == state)
		return;
	qp->guest_state = state;
	qp->state_since = journal_now();
}

static void forget_requests(struct model *m, struct queue *queue)
{
	works_drop(m, &queue->works);
	queue->broken = false;
	queue->held_until = 0;
	queue->known = queue->fetched = queue->done = 0;
}

void qp_fail_with_cqs(struct model *m)
{
	struct qp *qp;
	uint32_t number;

	m->cq_failed = false;
	for (number = 0; (qp = table_next(&m->qps, &number)); number++) {
		if (qp->reset || !(qp->send_cq->failed || qp->recv_cq->failed))
			continue;
		event_send(m, PVRDMA_EVENT_QP_FATAL, qp->handle);
		qp_fail(m, qp);
	}
}

/* Permitted state changes; RESET and ERR are always permitted. */
static bool may_become(enum ibv_qp_state from, uint32_t to)
{
	static const uint8_t next[] = {
		[IBV_QPS_RESET] = 1 << IBV_QPS_INIT,
		[IBV_QPS_INIT] = 1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR,
		[IBV_QPS_RTR] = 1 << IBV_QPS_RTS,
		[IBV_QPS_RTS] = 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD,
		[IBV_QPS_SQD] = 1 << IBV_QPS_SQD | 1 << IBV_QPS_RTS,
		[IBV_QPS_SQE] = 1 << IBV_QPS_RTS,
		[IBV_QPS_ERR] = 0,
	};

	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return true;
	return to <= IBV_QPS_ERR && from <= IBV_QPS_ERR && next[from] & 1 << to;
}

static void take_path(const struct pvrdma_path *path, struct ibv_ah_attr *ah)
{
	*ah = (struct ibv_ah_attr){
		.is_global = path->flags & 1,
		.sl = path->sl,
		.static_rate = path->static_rate,
		.port_num = 1,
		.grh = {
			.flow_label = path->flow_label,
			.sgid_index = path->sgid_index,
			.hop_limit = path->hop_limit,
			.traffic_class = path->traffic_class,
		},
	};
	memcpy(ah->grh.dgid.raw, path->dgid, sizeof(path->dgid));
}

/* Attributes are numbered as in verbs (hw 7.6). */
static void take_attributes(const struct pvrdma_qp_attr *from, struct ibv_qp_attr *to)
{
	*to = (struct ibv_qp_attr){
		.qp_state = from->state,
		.path_mtu = from->path_mtu,
		.path_mig_state = from->path_mig_state,
		.qkey = from->qkey,
		.rq_psn = from->rq_psn,
		.sq_psn = from->sq_psn,
		.dest_qp_num = from->dest_qpn,
		.qp_access_flags = from->access & PVRDMA_ACCESS_KNOWN,
		.pkey_index = from->pkey_index,
		.en_sqd_async_notify = from->en_sqd_notify,
		.max_rd_atomic = from->max_rd_atomic,
		.max_dest_rd_atomic = from->max_dest_rd_atomic,
		.min_rnr_timer = from->min_rnr_timer,
		.port_num = from->port,
		.timeout = from->timeout,
		.retry_cnt = from->retry_cnt,
		.rnr_retry = from->rnr_retry,
	};
	take_path(&from->path, &to->ah_attr);
}

int qp_modify(struct model *m, const struct pvrdma_cmd_modify_qp *cmd, struct qp **modified)
{
	struct qp *qp = table_get(&m->qps, cmd->handle);
	uint32_t mask = cmd->mask & ~(IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_CAP);
	struct ibv_qp_attr attr, now;
	int err;

	*modified = qp;
	if (!qp)
		return -ENOENT;
	if (cmd->mask & ~ALL_ATTRIBUTES)
		return -EINVAL;
	m->ops->qp_query(qp->backend, &now);
	if (mask & IBV_QP_STATE && !may_become(now.qp_state, cmd->attr.state))
		return -EINVAL;
	/*
	 * Other attributes have no meaning after a reset, and an address could make the
	 * backend apply the change later.
	 */
	if (mask & IBV_QP_STATE && cmd->attr.state == IBV_QPS_RESET)
		mask = IBV_QP_STATE;
	take_attributes(&cmd->attr, &attr);
	err = m->ops->qp_modify(qp->backend, &attr, (int)mask, qp);
	if (!err)
		qp_modified(m, qp, cmd);
	return err;
}

void qp_modified(struct model *m, struct qp *qp, const struct pvrdma_cmd_modify_qp *cmd)
{
	if (cmd->mask & IBV_QP_QKEY)
		qp->qkey = cmd->attr.qkey;
	if (cmd->mask & IBV_QP_AV)
		qp->path = cmd->attr.path;
	if (cmd->mask & IBV_QP_STATE) {
		qp->reset = cmd->attr.state == PVRDMA_QPS_RESET;
		note_state(qp, cmd->attr.state);
	}
	if (!qp->reset)
		return;
	/* The driver clears the rings after the reset (hw 8.3). */
	queue_remove(m, &qp->sq);
	queue_remove(m, &qp->rq);
	forget_requests(m, &qp->sq);
	forget_requests(m, &qp->rq);
	qp->failed = false;
}

int qp_query(struct model *m, uint32_t handle, struct pvrdma_qp_attr *attr)
{
	struct qp *qp = table_get(&m->qps, handle);
	struct ibv_qp_attr now;

	if (!qp)
		return -ENOENT;
	m->ops->qp_query(qp->backend, &now);
	note_state(qp, now.qp_state);
	*attr = (struct pvrdma_qp_attr){
		.state = now.qp_state,
		.cur_state = now.qp_state,
		.path_mtu = now.path_mtu,
		.path_mig_state = now.path_mig_state,
		.qkey = now.qkey,
		.rq_psn = now.rq_psn,
		.sq_psn = now.sq_psn,
		.dest_qpn = now.dest_qp_num,
		.access = now.qp_access_flags,
		.pkey_index = now.pkey_index,
		.sq_draining = now.sq_draining,
		.max_rd_atomic = now.max_rd_atomic,
		.max_dest_rd_atomic = now.max_dest_rd_atomic,
		.min_rnr_timer = now.min_rnr_timer,
		.port = now.port_num,
		.timeout = now.timeout,
		.retry_cnt = now.retry_cnt,
		.rnr_retry = now.rnr_retry,
		.caps = qp->caps,
		.path = qp->path,
	};
	return 0;
}
