// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"

int cq_create(struct model *m, const struct pvrdma_cmd_create_cq *cmd, uint32_t *handle)
{
	struct pages *pages = NULL;
	struct cq *cq;
	int64_t number;
	int err;

	if (!cmd->cqe || cmd->cqe > m->caps.max_cqe || cmd->chunks < 2 ||
	    cmd->chunks > 1 + m->caps.max_cqe * sizeof(struct pvrdma_cqe) / PAGE)
		return -EINVAL;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	err = context_get(m, cmd->context, &cq->context);
	if (err)
		goto free_cq;
	err = pages_map(m, cmd->directory, cmd->chunks, &pages);
	if (!err)
		err = ring_init(&cq->ring, pages, false, 1, cmd->chunks - 1, cmd->cqe,
				sizeof(struct pvrdma_cqe));
	if (!err)
		err = m->ops->cq_create(m->port, cmd->cqe, &cq->backend);
	if (err)
		goto unmap;
	number = table_add(&m->cqs, cq);
	if (number < 0) {
		err = (int)number;
		goto destroy_cq;
	}
	cq->handle = (uint32_t)number;
	cq->born = journal_now();
	context_count(cq->context, CONTEXT_CQ, 1);
	*handle = cq->handle;
	return 0;

destroy_cq:
	m->ops->cq_destroy(cq->backend);
unmap:
	pages_unmap(pages);
	context_put(cq->context);
free_cq:
	free(cq);
	return err;
}

int cq_destroy(struct model *m, uint32_t handle)
{
	struct cq *cq = table_get(&m->cqs, handle);

	if (!cq)
		return -ENOENT;
	if (cq->users)
		return -EBUSY;
	table_del(&m->cqs, handle);
	if (cq->unnotified)
		TAILQ_REMOVE(&m->unnotified, cq, link);
	m->ops->cq_destroy(cq->backend);
	pages_unmap(cq->ring.pages);
	context_count(cq->context, CONTEXT_CQ, -1);
	context_put(cq->context);
	free(cq);
	return 0;
}

/*
 * Arming ignores earlier completions, because the driver polls once more after it (hw
 * 6.3).
 */
void cq_doorbell(struct model *m, struct cq *cq, uint32_t value)
{
	if (!(value & (PVRDMA_UAR_CQ_ARM | PVRDMA_UAR_CQ_ARM_SOL)))
		return;
	cq->arms++;
	cq->asked = true;
	cq->asked_solicited = !(value & PVRDMA_UAR_CQ_ARM);
	if (fault_hit(m, FAULT_CQ_ARM_LOST, cq->handle, NULL))
		return;
	if (value & PVRDMA_UAR_CQ_ARM)
		cq->armed = true;
	else
		cq->armed_solicited = true;
}

static void notified(struct cq *cq)
{
	cq->asked = cq->asked_solicited = false;
	cq->notified++;
	cq->notified_at = journal_now();
}

static void notify(struct model *m, struct cq *cq)
{
	cq->armed = cq->armed_solicited = false;
	if (cq->unnotified || fault_hit(m, FAULT_EQE_LOST, cq->handle, NULL))
		return;
	if (event_notify(m, cq->handle)) {
		notified(cq);
		return;
	}
	cq->unnotified = true;
	TAILQ_INSERT_TAIL(&m->unnotified, cq, link);
}

void cq_retry_notifications(struct model *m)
{
	struct cq *cq;

	while ((cq = TAILQ_FIRST(&m->unnotified))) {
		if (!event_notify(m, cq->handle))
			return;
		TAILQ_REMOVE(&m->unnotified, cq, link);
		cq->unnotified = false;
		notified(cq);
	}
}

/* Applies faults to a completion; returns true if it must be dropped. */
static bool spoiled(struct model *m, const struct cq *cq, struct pvrdma_cqe *cqe)
{
	uint64_t arg;

	if (fault_hit(m, FAULT_CQE_LOST, cq->handle, NULL))
		return true;
	if (fault_hit(m, FAULT_CQE_OPCODE, cq->handle, &arg))
		cqe->opcode = (uint32_t)arg;
	return false;
}

bool cq_push(struct model *m, struct cq *cq, struct pvrdma_cqe *cqe, bool solicited)
{
	if (cq->failed)
		return false;
	cq->made++;
	if (spoiled(m, cq, cqe))
		return true;
	if (ring_room(&cq->ring, cq->prod) != 1 ||
	    fault_hit(m, FAULT_CQ_OVERRUN, cq->handle, NULL)) {
		cq->failed = m->cq_failed = true;
		model_log(m, "CQ %u overflowed: the CQ and its QPs fail", cq->handle);
		event_send(m, PVRDMA_EVENT_CQ_ERR, cq->handle);
		return false;
	}
	memcpy(ring_at(&cq->ring, cq->prod), cqe, sizeof(*cqe));
	cq->prod = ring_after(&cq->ring, cq->prod);
	ring_produce(&cq->ring, cq->prod);
	cq->written++;
	if (cq->armed || (cq->armed_solicited && (solicited || cqe->status)))
		notify(m, cq);
	return true;
}
