// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fast-register memory regions: registered and invalidated by work requests
 * (hw 5.5, 6.5). Both wait for current users of the MR, see ev_mr.pins.
 */
#include <linux/bitfield.h>

#include "ev.h"

static struct ev_mr *find(const struct ev_qp *qp, u32 stag)
{
	return ev_mr_find(qp->ad, FIELD_GET(ERDMA_STAG_INDEX, stag));
}

/* Contents of a work request, in CPU byte order. */
struct frmr_req {
	u64 start;
	u32 length;
	u32 count;
	u8 page_shift;
	bool use_table;
};

static enum erdma_syndrome parse(const struct ev_mr *mr,
				 const struct erdma_reg_mr_sqe *sqe,
				 u32 inline_room, struct frmr_req *req)
{
	u32 attr = le32_to_cpu(sqe->attr0);
	u32 type = FIELD_GET(ERDMA_SQE_MR_MTT_TYPE, attr);
	u64 mask;
	u32 i;

	req->start = le64_to_cpu(sqe->addr);
	req->length = le32_to_cpu(sqe->length);
	req->count = FIELD_GET(ERDMA_SQE_MR_MTT_CNT, attr);
	req->use_table = type == ERDMA_SQE_MR_MTT_TABLE;
	req->page_shift = mr->default_shift;
	if (attr & ERDMA_SQE_MR_PAGE_SIZE_EN)
		req->page_shift = FIELD_GET(ERDMA_SQE_MR_PAGE_SIZE,
					    le32_to_cpu(sqe->attr1));
	if (type > ERDMA_SQE_MR_MTT_TABLE || req->count > mr->max_count ||
	    (req->use_table && !mr->table.page) ||
	    req->page_shift < EV_MIN_PAGE_SHIFT ||
	    req->page_shift > EV_MAX_PAGE_SHIFT)
		return ERDMA_WC_SEND_WQE_FORMAT_ERR;
	mask = BIT_ULL(req->page_shift) - 1;
	if (!req->use_table) {
		if (req->count > min_t(u32, inline_room, ERDMA_MR_INLINE_MTT))
			return ERDMA_WC_SEND_WQE_FORMAT_ERR;
		for (i = 0; i < req->count; i++)
			if (le64_to_cpu(sqe->mtt[i]) & mask)
				return ERDMA_WC_SEND_WQE_FORMAT_ERR;
	}
	if (req->start + req->length < req->start)
		return ERDMA_WC_SEND_WRAPPING_ERR;
	if ((req->start & mask) + req->length >
	    (u64)req->count << req->page_shift)
		return ERDMA_WC_SEND_ADDR_VIOLATION;
	return ERDMA_WC_SUCCESS;
}

/**
 * ev_frmr_register() - REG_MR: make a fast-register MR valid
 * @qp: QP whose protection domain is checked
 * @sqe: work request
 * @inline_room: number of page addresses that fit into it
 *
 * Context: ev_fabric held.
 * Return: 0, EV_WAIT or an enum erdma_syndrome.
 */
int ev_frmr_register(struct ev_qp *qp, const struct erdma_reg_mr_sqe *sqe,
		     u32 inline_room)
{
	u32 stag = le32_to_cpu(sqe->stag);
	struct ev_mr *mr = find(qp, stag);
	struct frmr_req req;
	int ret;
	u32 i;

	if (!mr)
		return ERDMA_WC_SEND_STAG_INVALID_ERR;
	if (mr->pd != qp->pd)
		return ERDMA_WC_SEND_PDID_ERR;
	if (mr->type != ERDMA_MR_FRMR)
		return ERDMA_WC_SEND_RIGHT_VIOLATION;
	spin_lock(&mr->lock);
	if (mr->valid)
		ret = ERDMA_WC_SEND_STAG_INVALID_ERR;
	else if (mr->pins)
		ret = EV_WAIT;
	else
		ret = parse(mr, sqe, inline_room, &req);
	if (!ret) {
		mr->start = req.start;
		mr->length = req.length;
		mr->count = req.count;
		mr->page_shift = req.page_shift;
		mr->use_table = req.use_table;
		for (i = 0; !req.use_table && i < req.count; i++)
			mr->inline_mtt[i] = le64_to_cpu(sqe->mtt[i]);
		mr->rights = FIELD_GET(ERDMA_SQE_MR_RIGHTS,
				       le32_to_cpu(sqe->attr0));
		mr->key = FIELD_GET(ERDMA_STAG_KEY, stag);
		mr->valid = true;
	}
	spin_unlock(&mr->lock);
	return ret;
}

/**
 * ev_frmr_invalidate() - invalidate a fast-register MR
 * @qp: QP whose protection domain is checked
 * @stag: key of the MR
 *
 * May be called repeatedly, also after EV_WAIT.
 *
 * Context: ev_fabric held.
 * Return: 0, EV_WAIT while the MR is in use, or an enum ev_violation.
 */
int ev_frmr_invalidate(struct ev_qp *qp, u32 stag)
{
	struct ev_mr *mr = find(qp, stag);
	int ret = EV_VIOLATES_NOTHING;

	if (!mr)
		return EV_VIOLATES_STAG;
	if (mr->pd != qp->pd)
		return EV_VIOLATES_PD;
	if (mr->type != ERDMA_MR_FRMR)
		return EV_VIOLATES_RIGHTS;
	spin_lock(&mr->lock);
	if (mr->key != FIELD_GET(ERDMA_STAG_KEY, stag)) {
		ret = EV_VIOLATES_STAG;
	} else {
		mr->valid = false;
		if (mr->pins)
			ret = EV_WAIT;
	}
	spin_unlock(&mr->lock);
	return ret;
}
