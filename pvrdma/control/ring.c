// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries of rings in the guest's memory. */
#include "rows.h"

#include <errno.h>
#include <string.h>

static void view_indices(struct ring_view *view, uint32_t pi, uint32_t ci, uint32_t range)
{
	view->has_pi = pi < range;
	view->has_ci = ci < range;
	view->pi = pi;
	view->ci = ci;
}

static int view_ring(const struct ring *ring, bool user, struct ring_view *view)
{
	view->depth = ring->count;
	view->stride = ring->stride;
	view->user = user;
	view->ring = ring;
	view_indices(view, __atomic_load_n(&ring->state->prod_tail, __ATOMIC_RELAXED),
		     __atomic_load_n(&ring->state->cons_head, __ATOMIC_RELAXED),
		     2 * ring->count);
	return 0;
}

static int view_queue(const struct device *dev, struct ring_view *view)
{
	uint64_t number = find_qp(dev, view->id);
	const struct qp *qp = number > UINT32_MAX ? NULL :
			      table_get(&dev->m->qps, (uint32_t)number);
	bool sends = view->kind == EADM_RAW_KIND_SQ;

	if (!qp)
		return -ENOENT;
	if (!sends && qp->srq)
		return view_ring(&qp->srq->queue.ring, qp->pd->context, view);
	return view_ring(sends ? &qp->sq.ring : &qp->rq.ring, qp->pd->context, view);
}

static int view_cq(const struct device *dev, struct ring_view *view)
{
	const struct cq *cq = table_get(&dev->m->cqs, view->id);

	return cq ? view_ring(&cq->ring, cq->context, view) : -ENOENT;
}

/* Only the first page of elements is ever used (hw 5.5). */
static int view_device_ring(const struct device_ring *ring, struct ring_view *view)
{
	if (!ring->pages)
		return -ENOENT;
	view->depth = (ring->mask + 1) / 2;
	view->stride = ring->element;
	view->bytes = ring->pages->at[1];
	view_indices(view, ring->prod, __atomic_load_n(&ring->state->cons_head, __ATOMIC_RELAXED),
		     ring->mask + 1);
	return 0;
}

static int view_slot(const void *slot, uint32_t size, uint32_t done, struct ring_view *view)
{
	if (!slot)
		return -ENOENT;
	view->depth = 1;
	view->stride = size;
	view->bytes = slot;
	view_indices(view, done, done, UINT32_MAX);
	return 0;
}

int ring_find(const struct device *dev, uint32_t kind, uint32_t id, struct ring_view *view)
{
	const struct model *m = dev->m;

	*view = (struct ring_view){ .kind = kind, .id = id };
	switch (kind) {
	case EADM_RAW_KIND_SQ:
	case EADM_RAW_KIND_RQ:
		return view_queue(dev, view);
	case EADM_RAW_KIND_CQ:
		return view_cq(dev, view);
	case EADM_RAW_KIND_EQ:
		if (id != PVRDMA_VECTOR_ASYNC && id != PVRDMA_VECTOR_CQ)
			return -ENOENT;
		return view_device_ring(id == PVRDMA_VECTOR_CQ ? &m->notifications : &m->events,
					view);
	case EADM_RAW_KIND_CMD_SQ:
		return id ? -ENOENT : view_slot(m->cmd, PVRDMA_CMD_SLOT_SIZE,
						(uint32_t)m->journal->submitted, view);
	case EADM_RAW_KIND_CMD_CQ:
		return id ? -ENOENT : view_slot(m->resp, PVRDMA_RESP_SLOT_SIZE,
						(uint32_t)m->journal->answered, view);
	default:
		return -EOPNOTSUPP;
	}
}

void ring_copy(const struct ring_view *view, uint32_t first, uint32_t count, void *to)
{
	char *out = to;
	uint32_t i;

	for (i = 0; i < count; i++, out += view->stride) {
		if (view->ring)
			memcpy(out, ring_at(view->ring, first + i), view->stride);
		else
			memcpy(out, view->bytes + (size_t)(first + i) * view->stride, view->stride);
	}
}
