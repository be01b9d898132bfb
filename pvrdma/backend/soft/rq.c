// SPDX-License-Identifier: GPL-2.0-or-later
/* Receive queues of QPs, and shared receive queues. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "soft.h"

void soft_rq_init(struct soft_rq *rq, struct soft_port *port, uint32_t depth, uint32_t max_sge)
{
	*rq = (struct soft_rq){ .port = port, .depth = depth, .max_sge = max_sge };
	TAILQ_INIT(&rq->posted);
}

static size_t recv_size(uint32_t n_sge)
{
	return sizeof(struct soft_recv) + n_sge * sizeof(struct ibv_sge);
}

static void recv_free(struct soft_rq *rq, struct soft_recv *recv)
{
	rq->held--;
	soft_request_free(rq->port, recv, recv_size(recv->n_sge));
}

void soft_rq_drop(struct soft_rq *rq)
{
	struct soft_recv *recv;

	while ((recv = TAILQ_FIRST(&rq->posted))) {
		TAILQ_REMOVE(&rq->posted, recv, link);
		recv_free(rq, recv);
	}
	rq->count = 0;
}

int soft_rq_post(struct soft_rq *rq, const struct ibv_recv_wr *wr)
{
	uint32_t n_sge = (uint32_t)wr->num_sge;
	struct soft_recv *recv;

	if (n_sge > rq->max_sge)
		return -EINVAL;
	if (rq->held == rq->depth)
		return -ENOMEM;
	recv = soft_request_alloc(rq->port, rq->held, recv_size(n_sge));
	if (!recv)
		return -EAGAIN;
	recv->wr_id = wr->wr_id;
	recv->n_sge = n_sge;
	if (n_sge)
		memcpy(recv->sges, wr->sg_list, n_sge * sizeof(recv->sges[0]));
	TAILQ_INSERT_TAIL(&rq->posted, recv, link);
	rq->count++;
	rq->held++;
	return 0;
}

static struct soft_rq *queue_of(struct soft_qp *qp)
{
	return qp->srq ? &qp->srq->rq : &qp->rq;
}

struct soft_recv *soft_take(struct soft_qp *qp)
{
	struct soft_rq *rq = queue_of(qp);
	struct soft_recv *recv = TAILQ_FIRST(&rq->posted);

	if (!recv)
		return NULL;
	TAILQ_REMOVE(&rq->posted, recv, link);
	rq->count--;
	if (qp->srq && rq->count < qp->srq->limit) {
		qp->srq->limit = 0;
		soft_event(qp->port, IBV_EVENT_SRQ_LIMIT_REACHED, qp->srq->client);
	}
	return recv;
}

void soft_recv_free(struct soft_qp *qp, struct soft_recv *recv)
{
	recv_free(queue_of(qp), recv);
}

int soft_srq_create(struct backend_pd *pd, const struct ibv_srq_attr *attr,
		    void *client, struct backend_srq **created)
{
	struct backend_srq *srq = calloc(1, sizeof(*srq));

	if (!srq)
		return -ENOMEM;
	srq->pd = pd;
	srq->client = client;
	soft_rq_init(&srq->rq, pd->port, attr->max_wr, attr->max_sge);
	*created = srq;
	return 0;
}

int soft_srq_limit(struct backend_srq *srq, uint32_t limit)
{
	srq->limit = limit;
	return 0;
}

int soft_srq_query(struct backend_srq *srq, uint32_t *limit)
{
	*limit = srq->limit;
	return 0;
}

int soft_srq_recv(struct backend_srq *srq, const struct ibv_recv_wr *wr)
{
	return soft_rq_post(&srq->rq, wr);
}

void soft_srq_destroy(struct backend_srq *srq)
{
	soft_rq_drop(&srq->rq);
	free(srq);
}
