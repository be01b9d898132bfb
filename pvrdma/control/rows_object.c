// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of memory regions, protection domains and user contexts. */
#include "rows.h"

static void *next_of(const struct table *table, uint64_t *pos)
{
	uint32_t number = (uint32_t)*pos;
	void *object = *pos > UINT32_MAX ? NULL : table_next(table, &number);

	if (object)
		*pos = number;
	return object;
}

bool row_mr(const struct device *dev, const struct row_request *req, uint64_t *pos, void *to,
	    void *own)
{
	static const uint32_t types[] = {
		[BACKEND_MR_USER] = EADM_MR_TYPE_NORMAL, [BACKEND_MR_FAST] = EADM_MR_TYPE_FAST_REG,
		[BACKEND_MR_DMA] = EADM_MR_TYPE_DMA,
	};
	const struct mr *mr = next_of(&dev->m->mrs, pos);
	struct eadm_snap_mr *snap = to;

	(void)req;
	(void)own;
	if (!mr)
		return false;
	SNAP_SET(snap, mrn, mr->handle);
	SNAP_SET(snap, type, types[mr->attr.kind]);
	SNAP_SET(snap, pdn, mr->pd->handle);
	SNAP_SET(snap, lkey, mr->lkey);
	SNAP_SET(snap, rkey, mr->rkey);
	/* The access flags have the same values as in verbs. */
	SNAP_SET(snap, access, mr->attr.access);
	SNAP_SET(snap, page_size, PAGE);
	if (mr->attr.kind == BACKEND_MR_USER) {
		SNAP_SET(snap, valid, 1);
		SNAP_SET(snap, iova, mr->attr.start);
		SNAP_SET(snap, length, mr->attr.length);
	}
	SNAP_SET(snap, pages, mr->attr.n_pages);
	if (mr->pd->context)
		SNAP_SET(snap, ctxn, mr->pd->context->handle);
	SNAP_AGE(snap, age, mr->born);
	return true;
}

bool row_pd(const struct device *dev, const struct row_request *req, uint64_t *pos, void *to,
	    void *own)
{
	const struct pd *pd = next_of(&dev->m->pds, pos);
	struct eadm_snap_pd *snap = to;

	(void)req;
	(void)own;
	if (!pd)
		return false;
	SNAP_SET(snap, pdn, pd->handle);
	SNAP_SET(snap, users, pd->users);
	if (pd->context)
		SNAP_SET(snap, ctxn, pd->context->handle);
	SNAP_AGE(snap, age, pd->born);
	return true;
}

bool row_ctx(const struct device *dev, const struct row_request *req, uint64_t *pos, void *to,
	     void *extra)
{
	const struct context *context = next_of(&dev->m->contexts, pos);
	struct eadm_snap_ctx_pvrdma *own = extra;
	struct eadm_snap_ctx *snap = to;

	(void)req;
	if (!context)
		return false;
	SNAP_SET(snap, ctxn, context->handle);
	SNAP_SET(snap, qps, context->objects[CONTEXT_QP]);
	SNAP_SET(snap, cqs, context->objects[CONTEXT_CQ]);
	SNAP_SET(snap, mrs, context->objects[CONTEXT_MR]);
	SNAP_SET(snap, pds, context->objects[CONTEXT_PD]);
	SNAP_AGE(snap, age, context->born);
	SNAP_SET(own, uar_page, context->uar);
	return true;
}

bool row_uar(const struct device *dev, const struct row_request *req, uint64_t *pos, void *to,
	     void *own)
{
	struct eadm_snap_uar *snap = to;
	const struct context *context;

	(void)req;
	(void)own;
	while (*pos < MAX_UAR && !dev->m->uars[*pos])
		++*pos;
	if (*pos >= MAX_UAR)
		return false;
	context = dev->m->uars[*pos];
	SNAP_SET(snap, uarn, (uint32_t)*pos);
	SNAP_SET(snap, qps, context->objects[CONTEXT_QP]);
	SNAP_SET(snap, cqs, context->objects[CONTEXT_CQ]);
	SNAP_SET(snap, ctxn, context->handle);
	SNAP_AGE(snap, age, context->born);
	return true;
}
