// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "verbs.h"

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		IBV_ACCESS_REMOTE_ATOMIC)
/* Mask for ibv_query_qp(): all attributes of RC and UD QPs. */
#define ALL 0x1fffff
/* More entries than any CQ has. */
#define MANY (1u << 20)

static int create_device_qp(struct verbs_qp *qp)
{
	struct ibv_qp_init_attr init = {
		.qp_context = qp,
		.send_cq = qp->send_cq->cq,
		.recv_cq = qp->recv_cq->cq,
		.srq = qp->srq ? qp->srq->srq : NULL,
		.cap = qp->cap,
		.qp_type = qp->type,
	};

	/* A request that must fail needs an SGE, even if the guest's requests have none. */
	if (!init.cap.max_send_sge)
		init.cap.max_send_sge = 1;
	if (!init.cap.max_recv_sge && !init.srq)
		init.cap.max_recv_sge = 1;
	init.cap.max_inline_data = 0;
	qp->qp = ibv_create_qp(qp->pd->pd, &init);
	if (!qp->qp)
		return errno ? -errno : -EIO;
	qp->qpn = qp->qp->qp_num;
	LIST_INSERT_HEAD(&qp->port->verbs->qps[qp->qpn % VERBS_BUCKETS], qp, link);
	return 0;
}

static int create_soft_qp(struct verbs_qp *qp, const struct backend_qp_attr *from, uint32_t *qpn)
{
	struct backend_qp_attr attr = {
		.type = from->type, .gsi = true, .pd = qp->pd->soft, .cap = from->cap,
	};

	return qp->port->verbs->soft->ops->qp_create(qp->port->soft, &attr, qp->client, &qp->soft,
						     qpn);
}

static void free_qp(struct verbs_qp *qp)
{
	free(qp->sends.entries);
	free(qp->recvs.entries);
	free(qp);
}

static int create(struct verbs_qp *qp, const struct backend_qp_attr *attr, uint32_t *qpn)
{
	int err;

	if (attr->gsi)
		return create_soft_qp(qp, attr, qpn);
	err = verbs_fifo_init(&qp->sends, attr->cap.max_send_wr);
	if (!err)
		err = verbs_fifo_init(&qp->recvs, attr->srq ? 0 : attr->cap.max_recv_wr);
	if (!err)
		err = create_device_qp(qp);
	if (!err)
		*qpn = qp->qpn;
	return err;
}

int verbs_qp_create(struct backend_port *port, const struct backend_qp_attr *attr, void *client,
		    struct backend_qp **created, uint32_t *qpn)
{
	struct verbs_qp *qp;
	int err;

	if (verbs_port(port)->verbs->dead)
		return -EIO;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->port = verbs_port(port);
	qp->client = client;
	qp->type = attr->type;
	qp->cap = attr->cap;
	qp->pd = verbs_pd(attr->pd);
	qp->send_cq = verbs_cq(attr->send_cq);
	qp->recv_cq = verbs_cq(attr->recv_cq);
	qp->srq = attr->srq ? verbs_srq(attr->srq) : NULL;
	STAILQ_INIT(&qp->held);
	err = create(qp, attr, qpn);
	if (err) {
		free_qp(qp);
		return err;
	}
	qp->pd->users++;
	qp->pd->qps += !qp->soft;
	qp->send_cq->users++;
	qp->recv_cq->users++;
	if (qp->srq)
		qp->srq->users++;
	*created = (struct backend_qp *)(void *)qp;
	return 0;
}

/* ---- states */

/* Takes the completions so far, of which only those of SRQ receives still matter. */
static void drain(struct verbs_qp *qp)
{
	unsigned int most = MANY;

	qp->muted = true;
	verbs_cq_drain(qp->send_cq, &most);
	if (qp->recv_cq != qp->send_cq)
		verbs_cq_drain(qp->recv_cq, &most);
	qp->muted = false;
	verbs_work_forget(qp);
}

static int modify_now(struct verbs_qp *qp)
{
	int err = -ibv_modify_qp(qp->qp, &qp->attr, qp->mask);

	if (!err && qp->mask & IBV_QP_STATE && qp->attr.qp_state == IBV_QPS_RESET)
		drain(qp);
	return err;
}

/* Job: changes the QP, which may require address resolution. */
static void modify(struct job *job)
{
	struct verbs_qp *qp = (struct verbs_qp *)(void *)job;

	qp->err = -ibv_modify_qp(qp->qp, &qp->attr, qp->mask);
}

/* Job: destroys the QP. */
static void destroy(struct job *job)
{
	ibv_destroy_qp(((struct verbs_qp *)(void *)job)->qp);
}

static void destroyed(struct job *job)
{
	struct verbs_qp *qp = (struct verbs_qp *)(void *)job;

	if (qp->over)
		*qp->over = true;
	if (!qp->port->verbs->dead)
		drain(qp);
	LIST_REMOVE(qp, link);
	verbs_cq_put(qp->send_cq);
	verbs_cq_put(qp->recv_cq);
	if (qp->srq)
		verbs_srq_put(qp->srq);
	verbs_pd_put(qp->pd);
	free_qp(qp);
}

/*
 * Submits the job that destroys the QP; no request for which this had to wait is still
 * posted.
 */
static void submit_end(struct verbs_qp *qp)
{
	verbs_work_forget(qp);
	qp->busy = true;
	qp->job.run = destroy;
	qp->job.done = destroyed;
	worker_submit(&qp->port->worker, &qp->job);
}

static void fail(struct verbs_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (!qp->port->verbs->dead)
		ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE);
}

static void modified(struct job *job)
{
	struct verbs_qp *qp = (struct verbs_qp *)(void *)job;

	qp->busy = false;
	if (qp->gone) {
		fail(qp);
		submit_end(qp);
		return;
	}
	if (qp->fail)
		fail(qp);
	qp->fail = false;
	qp->port->client->done(qp->port->ctx, qp->request, qp->err);
}

static int take_attributes(struct verbs_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	int err = 0;

	qp->attr = *attr;
	qp->mask = mask;
	qp->attr.port_num = qp->port->verbs->port;
	qp->attr.qp_access_flags &= ACCESS;
	if (mask & IBV_QP_AV) {
		err = verbs_address(qp->port, &attr->ah_attr, &qp->attr.ah_attr);
		qp->sgid_index = attr->ah_attr.grh.sgid_index;
	}
	return err;
}

int verbs_qp_modify(struct backend_qp *backend_qp, const struct ibv_qp_attr *attr, int mask,
		    void *request)
{
	struct verbs_qp *qp = verbs_qp(backend_qp);
	const struct verbs *verbs = qp->port->verbs;
	bool fails = mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_ERR;
	int err;

	if (qp->soft)
		return verbs->soft->ops->qp_modify(qp->soft, attr, mask, request);
	if (verbs->dead)
		return fails ? 0 : -EIO;
	if (qp->busy) {
		qp->fail |= fails;
		return fails ? 0 : -EBUSY;
	}
	qp->failed |= fails;
	err = take_attributes(qp, attr, mask);
	if (err)
		return err;
	if (!(mask & IBV_QP_AV))
		return modify_now(qp);
	qp->request = request;
	qp->busy = true;
	qp->job.run = modify;
	qp->job.done = modified;
	worker_submit(&qp->port->worker, &qp->job);
	return -EINPROGRESS;
}

void verbs_qp_query(struct backend_qp *backend_qp, struct ibv_qp_attr *attr)
{
	struct verbs_qp *qp = verbs_qp(backend_qp);
	const struct verbs *verbs = qp->port->verbs;
	struct ibv_qp_init_attr init;

	if (qp->soft) {
		verbs->soft->ops->qp_query(qp->soft, attr);
		return;
	}
	*attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR };
	if (!verbs->dead && ibv_query_qp(qp->qp, attr, ALL, &init))
		*attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR };
	attr->cur_qp_state = attr->qp_state;
	attr->cap = qp->cap;
	attr->port_num = 1;
	attr->ah_attr.port_num = 1;
	attr->ah_attr.grh.sgid_index = qp->sgid_index;
}

void verbs_qp_destroy(struct backend_qp *backend_qp)
{
	struct verbs_qp *qp = verbs_qp(backend_qp);
	struct verbs_port *port = qp->port;
	bool over = false;

	qp->pd->qps -= !qp->soft;
	if (qp->busy) {
		qp->gone = true;
		port->qps_ending = true;
		return;
	}
	if (!qp->soft) {
		qp->over = &over;
		submit_end(qp);
		verbs_wait(port);
		if (worker_reap(&port->worker))
			verbs_work_continue(port);
		if (over)
			return;
		qp->over = NULL;
		qp->gone = true;
		port->qps_ending = true;
		return;
	}
	qp->port->verbs->soft->ops->qp_destroy(qp->soft);
	verbs_cq_put(qp->send_cq);
	verbs_cq_put(qp->recv_cq);
	verbs_pd_put(qp->pd);
	if (qp->srq)
		verbs_srq_put(qp->srq);
	free_qp(qp);
}

/* ---- several QPs */

/* A QP whose job has begun is left out: it is being destroyed, or modified() disables it. */
void verbs_qp_disable(struct verbs_port *port)
{
	struct verbs_qp *qp;
	unsigned int i;

	for (i = 0; i < VERBS_BUCKETS && port->qps_ending; i++) {
		LIST_FOREACH(qp, &port->verbs->qps[i], link) {
			if (qp->port != port || !qp->gone || !worker_cancel(&port->worker, &qp->job))
				continue;
			fail(qp);
			submit_end(qp);
		}
	}
	port->qps_ending = false;
}

void verbs_qp_cq_failed(struct verbs_cq *cq)
{
	struct verbs_qp *qp;
	unsigned int i;

	for (i = 0; i < VERBS_BUCKETS; i++)
		LIST_FOREACH(qp, &cq->verbs->qps[i], link)
			if (!qp->gone && (qp->send_cq == cq || qp->recv_cq == cq))
				qp->port->client->event(qp->port->ctx, IBV_EVENT_QP_FATAL, qp->client);
}

void verbs_qp_flush_all(struct verbs *verbs)
{
	struct verbs_qp *qp;
	unsigned int i;

	for (i = 0; i < VERBS_BUCKETS; i++)
		LIST_FOREACH(qp, &verbs->qps[i], link)
			if (!qp->gone)
				verbs_work_flush(qp);
}
