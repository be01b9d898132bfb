// SPDX-License-Identifier: GPL-2.0-or-later
/* Completion queues and shared receive queues. */
#include <errno.h>
#include <stdlib.h>

#include "verbs.h"

#define AT_ONCE 16

/*
 * Returns twice the size: after many unsignalled requests in a row, the device also
 * completes a request for which the guest gets no completion (work.c).
 */
static int device_cqe(const struct verbs *verbs, uint32_t cqe)
{
	uint32_t most = (uint32_t)verbs->attr.max_cqe;

	return (int)(cqe > most / 2 ? most : 2 * cqe);
}

int verbs_cq_create(struct backend_port *backend_port, uint32_t cqe, struct backend_cq **created)
{
	struct verbs *verbs = verbs_port(backend_port)->verbs;
	struct verbs_cq *cq;
	int err;

	if (verbs->dead)
		return -EIO;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	cq->verbs = verbs;
	cq->users = 1;
	cq->cq = ibv_create_cq(verbs->context, device_cqe(verbs, cqe), cq, verbs->channel, 0);
	err = cq->cq ? -ibv_req_notify_cq(cq->cq, 0) : -errno;
	if (err) {
		if (cq->cq)
			ibv_destroy_cq(cq->cq);
		free(cq);
		return err;
	}
	*created = (struct backend_cq *)(void *)cq;
	return 0;
}

void verbs_cq_put(struct verbs_cq *cq)
{
	if (--cq->users)
		return;
	if (cq->ready)
		TAILQ_REMOVE(&cq->verbs->ready, cq, link);
	ibv_destroy_cq(cq->cq);
	free(cq);
}

void verbs_cq_destroy(struct backend_cq *backend_cq)
{
	struct verbs_cq *cq = verbs_cq(backend_cq);

	cq->gone = true;
	verbs_cq_put(cq);
}

static void take(struct verbs_cq *cq, const struct ibv_wc *wc)
{
	struct verbs_qp *qp = verbs_qp_find(cq->verbs, wc->qp_num);

	if (qp)
		verbs_work_completed(qp, wc);
}

/* The CQ is re-armed before it is found empty, so that no completion is missed. */
bool verbs_cq_drain(struct verbs_cq *cq, unsigned int *most)
{
	struct ibv_wc wcs[AT_ONCE];
	bool armed = false;
	int i, n;

	while (*most) {
		n = ibv_poll_cq(cq->cq, *most < AT_ONCE ? (int)*most : AT_ONCE, wcs);
		if (n < 0 || (!n && armed))
			return false;
		if (!n) {
			armed = true;
			if (ibv_req_notify_cq(cq->cq, 0))
				return false;
		}
		for (i = 0; i < n; i++)
			take(cq, &wcs[i]);
		*most -= (unsigned int)n;
	}
	return true;
}

int verbs_srq_create(struct backend_pd *backend_pd, const struct ibv_srq_attr *attr, void *client,
		     struct backend_srq **created)
{
	struct verbs_pd *pd = verbs_pd(backend_pd);
	struct ibv_srq_init_attr init = { .attr = *attr };
	struct verbs_srq *srq;
	int err;

	if (pd->port->verbs->dead)
		return -EIO;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return -ENOMEM;
	if (!init.attr.max_sge)
		init.attr.max_sge = 1;
	init.attr.srq_limit = 0;
	init.srq_context = srq;
	srq->srq = ibv_create_srq(pd->pd, &init);
	if (!srq->srq) {
		err = -errno;
		free(srq);
		return err;
	}
	srq->pd = pd;
	srq->client = client;
	srq->users = 1;
	pd->users++;
	*created = (struct backend_srq *)(void *)srq;
	return 0;
}

int verbs_srq_limit(struct backend_srq *srq, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	return -ibv_modify_srq(verbs_srq(srq)->srq, &attr, IBV_SRQ_LIMIT);
}

int verbs_srq_query(struct backend_srq *srq, uint32_t *limit)
{
	struct ibv_srq_attr attr;
	int err = ibv_query_srq(verbs_srq(srq)->srq, &attr);

	if (!err)
		*limit = attr.srq_limit;
	return -err;
}

int verbs_srq_recv(struct backend_srq *srq, const struct ibv_recv_wr *wr)
{
	struct ibv_recv_wr copy = *wr, *bad;

	if (verbs_srq(srq)->pd->port->verbs->dead)
		return 0;
	return -ibv_post_srq_recv(verbs_srq(srq)->srq, &copy, &bad);
}

void verbs_srq_put(struct verbs_srq *srq)
{
	if (--srq->users)
		return;
	ibv_destroy_srq(srq->srq);
	verbs_pd_put(srq->pd);
	free(srq);
}

void verbs_srq_destroy(struct backend_srq *backend_srq)
{
	struct verbs_srq *srq = verbs_srq(backend_srq);

	srq->gone = true;
	verbs_srq_put(srq);
}
