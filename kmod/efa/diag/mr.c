// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: memory regions. */

#include "diag.h"

static int mr_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct efa_mr *mr = container_of(obj, struct efa_mr, obj);
	struct eadm_snap_mr_efa *o = own;
	struct eadm_snap_mr *s = snap;

	SNAP_SET(s, mrn, mr->mrn);
	SNAP_SET(s, type, EADM_MR_TYPE_NORMAL);
	SNAP_SET(s, valid, !eadm_object_is_dead(&diag_to_dev(dd)->adapter, obj));
	SNAP_SET(s, pdn, to_eadm_pd(mr->ibmr.pd)->pdn);
	SNAP_SET(s, lkey, mr->ibmr.lkey);
	SNAP_SET(s, rkey, mr->ibmr.rkey);
	SNAP_SET(s, access, mr->access & (BIT(10) - 1));
	SNAP_SET(s, iova, mr->iova);
	SNAP_SET(s, length, mr->length);
	SNAP_SET(s, page_size, BIT_ULL(mr->page_shift));
	SNAP_SET(s, pages, mr->pages);
	SNAP_SET(s, age, eadm_age(mr->obj.created));
	SNAP_SET(s, ctxn, mr->ctx->base.ctxn);
	if (mr->ic_valid & EFA_MR_IC_RECV)
		SNAP_SET(o, recv_ic, mr->recv_ic);
	if (mr->ic_valid & EFA_MR_IC_READ)
		SNAP_SET(o, read_ic, mr->read_ic);
	if (mr->ic_valid & EFA_MR_IC_RDMA_RECV)
		SNAP_SET(o, rdma_recv_ic, mr->rdma_recv_ic);
	return 0;
}

const struct eadm_diag_obj efa_diag_mr = EADM_OBJECT_ROWS(MR, eadm_mr_row_next, mr_fill);
