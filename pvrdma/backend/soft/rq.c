// SPDX-License-Identifier: GPL-2.0-or-later
/* Receive queues of QPs, and shared receive queues. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "soft.h"

int soft_rq_init(struct soft_rq *rq, uint32_t depth, uint32_t max_sge)
{
	struct soft_recv *recv;
	uint32_t i;

	TAILQ_INIT(&rq->posted);
	TAILQ_INIT(&rq->free);
	rq->count = 0;
	rq->max_sge = max_sge;
	for (i = 0; i < depth; i++) {
		recv = calloc(1, sizeof(*recv) + max_sge * sizeof(recv->sges[0]));
		if (!recv)
			return -ENOMEM;
		TAILQ_INSERT_TAIL(&rq->free, recv, link);
	}
	return 0;
}

static void free_all(struct soft_recvs *recvs)
{
	struct soft_recv *recv;

	while ((recv = TAILQ_FIRST(recvs))) {
		TAILQ_REMOVE(recvs, recv, link);
		free(recv);
	}
}

void soft_rq_exit(struct soft_rq *rq)
{
	free_all(&rq->posted);
	free_all(&rq->free);
}

int soft_rq_post(struct soft_rq *rq, const struct ibv_recv_wr *wr)
{
	struct soft_recv *recv = TAILQ_FIRST(&rq->free);

	if (!recv)
		return -ENOMEM;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return -EINVAL;
	TAILQ_REMOVE(&rq->free, recv, link);
	recv->wr_id = wr->wr_id;
	recv->n_sge = (uint32_t)wr->num_sge;
	if (recv->n_sge)
		memcpy(recv->sges, wr->sg_list, recv->n_sge * sizeof(recv->sges[0]));
	TAILQ_INSERT_TAIL(&rq->posted, recv, link);
	rq->count++;
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
	TAILQ_INSERT_TAIL(&queue_of(qp)->free, recv, link);
}

int soft_srq_create(struct backend_pd *pd, const struct ibv_srq_attr *attr,
		    void *client, struct backend_srq **created)
{
	struct backend_srq *srq = calloc(1, sizeof(*srq));

	if (!srq)
		return -ENOMEM;
	srq->pd = pd;
	srq->client = client;
	if (soft_rq_init(&srq->rq, attr->max_wr, attr->max_sge)) {
		soft_srq_destroy(srq);
		return -ENOMEM;
	}
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
	soft_rq_exit(&srq->rq);
	free(srq);
}
