// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "function.h"

int srq_create(struct model *m, const struct pvrdma_cmd_create_srq *cmd, uint32_t *handle)
{
	struct ibv_srq_attr attr = { .max_wr = cmd->attr.max_wr, .max_sge = cmd->attr.max_sge };
	struct srq *srq;
	int64_t number;
	int err;

	if (cmd->type || !attr.max_wr || attr.max_wr > m->caps.max_srq_wr ||
	    attr.max_sge > m->caps.max_srq_sge || cmd->chunks < 2 ||
	    cmd->chunks > ring_max_pages(sizeof(struct pvrdma_rqe), m->caps.max_srq_sge,
					 m->caps.max_srq_wr))
		return -EINVAL;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return -ENOMEM;
	srq->attr = cmd->attr;
	srq->queue.srq = srq;
	srq->queue.max_sge = attr.max_sge;
	srq->pd = table_get(&m->pds, cmd->pd);
	err = srq->pd ? pages_map(m, cmd->directory, cmd->chunks, &srq->pages) : -ENOENT;
	if (!err)
		err = ring_init(&srq->queue.ring, srq->pages, false, 1, cmd->chunks - 1,
				attr.max_wr,
				ring_stride(sizeof(struct pvrdma_rqe), attr.max_sge));
	works_init(&srq->queue.works, attr.max_wr, false);
	if (!err)
		err = m->ops->srq_create(srq->pd->backend, &attr, srq, &srq->backend);
	if (err)
		goto free_srq;
	number = table_add(&m->srqs, srq);
	if (number < 0) {
		err = (int)number;
		goto destroy_srq;
	}
	srq->handle = (uint32_t)number;
	srq->born = journal_now();
	srq->pd->users++;
	*handle = srq->handle;
	return 0;

destroy_srq:
	m->ops->srq_destroy(srq->backend);
free_srq:
	works_drop(m, &srq->queue.works);
	pages_unmap(srq->pages);
	free(srq);
	return err;
}

int srq_modify(struct model *m, const struct pvrdma_cmd_modify_srq *cmd)
{
	struct srq *srq = table_get(&m->srqs, cmd->handle);
	int err;

	if (!srq)
		return -ENOENT;
	if (cmd->mask != PVRDMA_SRQ_LIMIT || cmd->attr.limit > srq->attr.max_wr)
		return -EINVAL;
	err = m->ops->srq_limit(srq->backend, cmd->attr.limit);
	if (!err)
		srq->limit = cmd->attr.limit;
	return err;
}

int srq_query(struct model *m, uint32_t handle, struct pvrdma_srq_attr *attr)
{
	const struct srq *srq = table_get(&m->srqs, handle);

	if (!srq)
		return -ENOENT;
	*attr = (struct pvrdma_srq_attr){
		.max_wr = srq->attr.max_wr, .max_sge = srq->attr.max_sge,
	};
	/* The backend clears the limit when the event is raised (hw 8.4). */
	return m->ops->srq_query(srq->backend, &attr->limit);
}

int srq_destroy(struct model *m, uint32_t handle)
{
	struct srq *srq = table_get(&m->srqs, handle);

	if (!srq)
		return -ENOENT;
	if (srq->users)
		return -EBUSY;
	table_del(&m->srqs, handle);
	queue_remove(m, &srq->queue);
	m->ops->srq_destroy(srq->backend);
	works_drop(m, &srq->queue.works);
	pages_unmap(srq->pages);
	srq->pd->users--;
	free(srq);
	return 0;
}
