// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: user contexts and their doorbell pages, PDs and AHs. */

#include "diag.h"

static void *ctx_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_dev(dd)->adapter.ctxs, id);
}

static struct rdma_restrack_entry *ctx_res(void *obj)
{
	return &container_of(obj, struct efa_ctx, obj)->ibctx.res;
}

static int ctx_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	struct efa_ctx *ctx = container_of(obj, struct efa_ctx, obj);
	struct eadm_snap_ctx_efa *o = own;
	struct eadm_snap_ctx *s = snap;

	SNAP_SET(s, ctxn, ctx->ctxn);
	SNAP_SET(s, qps, atomic_read(&ctx->qps));
	SNAP_SET(s, cqs, atomic_read(&ctx->cqs));
	SNAP_SET(s, mrs, atomic_read(&ctx->mrs));
	SNAP_SET(s, pds, atomic_read(&ctx->pds));
	SNAP_SET(o, uar, ctx->uar);
	SNAP_SET(s, age, eadm_age(ctx->obj.created));
	return 0;
}

const struct eadm_diag_obj efa_diag_ctx = {
	.type = EADM_OBJ_CTX,
	.next = ctx_next,
	.put = eadm_put_object,
	.res = ctx_res,
	.fill = ctx_fill,
};

static void *uar_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_dev(dd)->uars, id);
}

static struct rdma_restrack_entry *uar_res(void *obj)
{
	return &container_of(obj, struct efa_ctx, uar_obj)->ibctx.res;
}

static int uar_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	struct efa_ctx *ctx = container_of(obj, struct efa_ctx, uar_obj);
	struct eadm_snap_uar *s = snap;

	SNAP_SET(s, uarn, ctx->uar);
	SNAP_SET(s, qps, atomic_read(&ctx->qps));
	SNAP_SET(s, cqs, atomic_read(&ctx->cqs));
	SNAP_SET(s, ctxn, ctx->ctxn);
	SNAP_SET(s, age, eadm_age(ctx->uar_obj.created));
	return 0;
}

const struct eadm_diag_obj efa_diag_uar = {
	.type = EADM_OBJ_UAR,
	.next = uar_next,
	.put = eadm_put_object,
	.res = uar_res,
	.fill = uar_fill,
};

static void *pd_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_dev(dd)->adapter.pds, id);
}

static struct rdma_restrack_entry *pd_res(void *obj)
{
	return &container_of(obj, struct efa_pd, obj)->ibpd.res;
}

static int pd_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct efa_pd *pd = container_of(obj, struct efa_pd, obj);
	struct eadm_snap_pd *s = snap;

	SNAP_SET(s, pdn, pd->pdn);
	SNAP_SET(s, users, atomic_read(&pd->ibpd.usecnt));
	SNAP_SET(s, ctxn, pd->ctx->ctxn);
	SNAP_SET(s, age, eadm_age(pd->obj.created));
	return 0;
}

const struct eadm_diag_obj efa_diag_pd = {
	.type = EADM_OBJ_PD,
	.next = pd_next,
	.put = eadm_put_object,
	.res = pd_res,
	.fill = pd_fill,
};

static void *ah_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_dev(dd)->ahs, id);
}

/* The core does not track AHs. */
static struct pid *ah_owner(void *obj)
{
	return container_of(obj, struct efa_ah_entry, obj)->owner;
}

static int ah_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct efa_ah_entry *entry = container_of(obj, struct efa_ah_entry, obj);
	struct eadm_snap_ah *s = snap;

	SNAP_SET(s, ahn, entry->id);
	SNAP_SET(s, pd_ahn, entry->ahn);
	SNAP_SET(s, pdn, entry->pd->pdn);
	SNAP_BIN(s, peer_gid, entry->gid, sizeof(entry->gid));
	SNAP_SET(s, users, READ_ONCE(entry->refs));
	SNAP_SET(s, ctxn, entry->pd->ctx->ctxn);
	SNAP_SET(s, age, eadm_age(entry->obj.created));
	return 0;
}

const struct eadm_diag_obj efa_diag_ah = {
	.type = EADM_OBJ_AH,
	.next = ah_next,
	.put = eadm_put_object,
	.owner = ah_owner,
	.fill = ah_fill,
};
