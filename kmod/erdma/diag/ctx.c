// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: user contexts. */

#include "../abi.h"
#include "diag.h"

static int ctx_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	struct erdma_ctx *ctx = container_of(obj, struct erdma_ctx, base.obj);
	resource_size_t bar = diag_to_dev(dd)->bar_addr;
	struct eadm_snap_ctx_erdma *o = own;

	eadm_ctx_row_fill(&ctx->base, snap);
	SNAP_SET(o, db_type, ctx->sdb_type);
	SNAP_SET(o, sq_db_offset, ctx->sdb->addr - bar);
	SNAP_SET(o, rq_db_offset, ctx->rdb->addr - bar);
	SNAP_SET(o, cq_db_offset, ctx->cdb->addr - bar);
	return 0;
}

const struct eadm_diag_obj erdma_diag_ctx = EADM_OBJECT_ROWS(CTX, eadm_ctx_row_next, ctx_fill);
