// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: memory regions. */

#include "diag.h"

static u32 mr_type(const struct erdma_mr *mr)
{
	switch (mr->type) {
	case ERDMA_MR_FRMR:
		return EADM_MR_TYPE_FAST_REG;
	case ERDMA_MR_DMA:
		return EADM_MR_TYPE_DMA;
	default:
		return EADM_MR_TYPE_NORMAL;
	}
}

static int mr_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct erdma_mr *mr = container_of(obj, struct erdma_mr, obj);
	const struct erdma_mtt *mtt = &mr->mem->area[0].mtt;
	struct eadm_snap_mr_erdma *o = own;
	struct eadm_snap_mr *s = snap;
	bool valid;

	SNAP_SET(s, mrn, mr->mpt);
	SNAP_SET(s, type, mr_type(mr));
	valid = READ_ONCE(mr->valid) && !eadm_object_is_dead(&diag_to_dev(dd)->adapter, &mr->obj);
	SNAP_SET(s, valid, valid);
	SNAP_SET(s, pdn, to_eadm_pd(mr->ibmr.pd)->pdn);
	SNAP_SET(s, lkey, mr->ibmr.lkey);
	SNAP_SET(s, rkey, mr->ibmr.rkey);
	SNAP_SET(s, access, READ_ONCE(mr->access) & (BIT(10) - 1));
	SNAP_SET(s, age, eadm_age(mr->obj.created));
	if (mr->type != ERDMA_MR_DMA) {
		SNAP_SET(s, iova, READ_ONCE(mr->iova));
		SNAP_SET(s, length, READ_ONCE(mr->length));
		SNAP_SET(s, page_size, BIT_ULL(mtt->page_shift));
		SNAP_SET(s, pages, mtt->count);
		SNAP_SET(o, mtt_level, mtt->level);
	}
	if (mr->ctx)
		SNAP_SET(s, ctxn, mr->ctx->base.ctxn);
	return 0;
}

const struct eadm_diag_obj erdma_diag_mr = EADM_OBJECT_ROWS(MR, eadm_mr_row_next, mr_fill);
