// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: user contexts, their doorbell pages, and AHs. */

#include "diag.h"

static int ctx_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	struct efa_ctx *ctx = container_of(obj, struct efa_ctx, base.obj);
	struct eadm_snap_ctx_efa *o = own;

	eadm_ctx_row_fill(&ctx->base, snap);
	SNAP_SET(o, uar, ctx->uar);
	return 0;
}

const struct eadm_diag_obj efa_diag_ctx = EADM_OBJECT_ROWS(CTX, eadm_ctx_row_next, ctx_fill);

static void *uar_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_dev(dd)->uars, id);
}

static int uar_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	struct efa_ctx *ctx = container_of(obj, struct efa_ctx, uar_obj);
	struct eadm_snap_uar *s = snap;

	SNAP_SET(s, uarn, ctx->uar);
	SNAP_SET(s, qps, atomic_read(&ctx->base.qps));
	SNAP_SET(s, cqs, atomic_read(&ctx->base.cqs));
	SNAP_SET(s, ctxn, ctx->base.ctxn);
	SNAP_SET(s, age, eadm_age(ctx->uar_obj.created));
	return 0;
}

const struct eadm_diag_obj efa_diag_uar = EADM_OBJECT_ROWS(UAR, uar_next, uar_fill);

static void *ah_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_dev(dd)->ahs, id);
}

/* The RDMA core does not track AHs. */
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
	SNAP_SET(s, pdn, entry->pd->base.pdn);
	SNAP_BIN(s, peer_gid, entry->gid, sizeof(entry->gid));
	SNAP_SET(s, users, READ_ONCE(entry->refs));
	SNAP_SET(s, ctxn, entry->pd->base.ctx->ctxn);
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
