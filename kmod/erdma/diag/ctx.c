// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: user contexts and protection domains. */

#include "../abi.h"
#include "diag.h"

static void *ctx_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_dev(dd)->adapter.ctxs, id);
}

static struct rdma_restrack_entry *ctx_res(void *obj)
{
	return &container_of(obj, struct erdma_ctx, obj)->ibctx.res;
}

static int ctx_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	struct erdma_ctx *ctx = container_of(obj, struct erdma_ctx, obj);
	struct eadm_snap_ctx_erdma *o = own;
	struct eadm_snap_ctx *s = snap;

	SNAP_SET(s, ctxn, ctx->ctxn);
	SNAP_SET(s, qps, atomic_read(&ctx->qps));
	SNAP_SET(s, cqs, atomic_read(&ctx->cqs));
	SNAP_SET(s, mrs, atomic_read(&ctx->mrs));
	SNAP_SET(s, pds, atomic_read(&ctx->pds));
	SNAP_SET(o, db_type, ctx->sdb_type);
	SNAP_SET(o, sq_db_offset, ctx->sdb->bar_offset);
	SNAP_SET(o, rq_db_offset, ctx->rdb->bar_offset);
	SNAP_SET(o, cq_db_offset, ctx->cdb->bar_offset);
	SNAP_SET(s, age, eadm_age(ctx->obj.created));
	return 0;
}

const struct eadm_diag_obj erdma_diag_ctx = {
	.type = EADM_OBJ_CTX,
	.next = ctx_next,
	.put = eadm_put_object,
	.res = ctx_res,
	.fill = ctx_fill,
};

static void *pd_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_dev(dd)->adapter.pds, id);
}

static struct rdma_restrack_entry *pd_res(void *obj)
{
	return &container_of(obj, struct erdma_pd, obj)->ibpd.res;
}

static int pd_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct erdma_pd *pd = container_of(obj, struct erdma_pd, obj);
	struct eadm_snap_pd *s = snap;

	SNAP_SET(s, pdn, pd->pdn);
	SNAP_SET(s, users, atomic_read(&pd->ibpd.usecnt));
	SNAP_SET(s, local_dma_lkey, pd->ibpd.device->local_dma_lkey);
	SNAP_SET(s, age, eadm_age(pd->obj.created));
	if (pd->ctx)
		SNAP_SET(s, ctxn, pd->ctx->ctxn);
	return 0;
}

const struct eadm_diag_obj erdma_diag_pd = {
	.type = EADM_OBJ_PD,
	.next = pd_next,
	.put = eadm_put_object,
	.res = pd_res,
	.fill = pd_fill,
};
