// SPDX-License-Identifier: GPL-2.0-only
/* Commands for memory regions (hw 4.9). */
#include <linux/bitfield.h>
#include <linux/slab.h>

#include "ev.h"

/* The request in CPU byte order, in a form that does not depend on the request's version. */
struct mr_req {
	u32 version;
	u32 level;
	u8 mtt_page_shift;
	u64 count;
	const __le64 *entry;
};

/*
 * Version 0 has only 32 bits of the length: the upper bits follow from the number of pages, because
 * the last page has to be in use.
 */
static u64 full_length(u64 start, u32 length, u64 count, u8 shift)
{
	u64 end = (start & (BIT_ULL(shift) - 1)) + length;
	u64 capacity = count << shift;

	if (capacity <= end)
		return length;
	/* Add steps of 4 GiB, so that the end falls into the last page. */
	return length + round_down(capacity - end, BIT_ULL(32));
}

/* Returns the number of entries that the largest MR needs if both ends are inside a page. */
static u64 max_count(const struct ev_adapter *ad, const struct ev_mr *mr)
{
	if (mr->type == ERDMA_MR_FRMR)
		return ERDMA_MAX_ALLOC_MR_PAGES;
	return min_t(u64, U32_MAX,
		     (BIT_ULL(ad->params.max_mr_size) >> mr->page_shift) + 2);
}

static enum ev_syndrome set_translation(struct ev_adapter *ad, struct ev_mr *mr,
					const struct mr_req *req)
{
	u64 page_mask = BIT_ULL(mr->page_shift) - 1;
	u32 i;

	if (mr->page_shift < EV_MIN_PAGE_SHIFT || mr->page_shift > EV_MAX_PAGE_SHIFT)
		return EV_INVALID;
	if (!req->count)
		return EV_INVALID;
	if (req->count > max_count(ad, mr))
		return EV_RANGE;
	mr->count = req->count;
	mr->max_count = req->count;
	if (req->level) {
		mr->use_table = true;
		return ev_syndrome_of(ev_mtt_map_tree(ad, &mr->table,
						      le64_to_cpu(req->entry[0]),
						      req->count, req->level,
						      req->mtt_page_shift));
	}
	if (req->count > ERDMA_MR_INLINE_MTT)
		return EV_INVALID;
	for (i = 0; i < req->count; i++) {
		mr->inline_mtt[i] = le64_to_cpu(req->entry[i]);
		if (mr->inline_mtt[i] & page_mask)
			return EV_INVALID;
	}
	return EV_OK;
}

static enum ev_syndrome set_range(struct ev_adapter *ad, struct ev_mr *mr,
				  const struct erdma_cmd_reg_mr *c,
				  const struct mr_req *req)
{
	u64 off, page;
	u32 i;

	mr->start = le64_to_cpu(c->start_va);
	off = mr->start & (BIT_ULL(mr->page_shift) - 1);
	if (req->version)
		mr->length = (u64)le32_to_cpu(c->size_h) << 32 |
			     le32_to_cpu(c->size);
	else
		mr->length = full_length(mr->start, le32_to_cpu(c->size),
					 req->count, mr->page_shift);
	if (mr->length > BIT_ULL(ad->params.max_mr_size))
		return EV_RANGE;
	if (mr->start + mr->length < mr->start ||
	    off + mr->length > req->count << mr->page_shift)
		return EV_INVALID;
	/* There may be no memory at the beginning of a large first page. */
	for (i = 0; i < req->count && !mr->use_table; i++) {
		page = mr->inline_mtt[i] + (i ? 0 : off);
		if (mr->length && !vdev_dma_page(&ad->vdev, page))
			return EV_BAD_ADDRESS;
	}
	return EV_OK;
}

static enum ev_syndrome mr_setup(struct ev_adapter *ad, struct ev_mr *mr,
				 const struct ev_cmd *cmd)
{
	const struct erdma_cmd_reg_mr *c = (void *)cmd->req;
	u32 cfg0 = le32_to_cpu(c->cfg0);
	u32 cfg1 = le32_to_cpu(c->cfg1);
	u32 cfg2 = le32_to_cpu(c->cfg2);
	struct mr_req req = {
		.version = FIELD_GET(ERDMA_REG_MR0_VERSION, cfg0),
		.level = FIELD_GET(ERDMA_REG_MR2_MTT_LEVEL, cfg2),
		.mtt_page_shift = ERDMA_HW_PAGE_SHIFT,
		.count = FIELD_GET(ERDMA_REG_MR2_MTT_CNT, cfg2),
		.entry = c->phy_addr,
	};
	enum ev_syndrome ret;

	mr->index = FIELD_GET(ERDMA_REG_MR0_MPT, cfg0);
	mr->key = FIELD_GET(ERDMA_REG_MR0_KEY, cfg0);
	mr->pd = FIELD_GET(ERDMA_REG_MR1_PD, cfg1);
	mr->type = FIELD_GET(ERDMA_REG_MR1_TYPE, cfg1);
	mr->rights = FIELD_GET(ERDMA_REG_MR1_RIGHTS, cfg1);
	mr->valid = cfg0 & ERDMA_REG_MR0_VALID;
	/* This MR is valid at once, although its valid bit is not set (hw 5.5). */
	if (mr->type == ERDMA_MR_DMA) {
		mr->valid = true;
		mr->length = U64_MAX;
		return EV_OK;
	}
	if (mr->type > ERDMA_MR_DMA || req.version > 1)
		return EV_INVALID;
	if (cmd->len < sizeof(*c))
		return EV_SHORT;
	/* The fields of version 1 overlap inline entry 1, so only one of the two is valid. */
	if (req.version) {
		if (req.level) {
			req.mtt_page_shift +=
				FIELD_GET(ERDMA_REG_MR2_MTT_PAGE_SIZE, cfg2);
			req.count |= (u64)le32_to_cpu(c->mtt_cnt_h) <<
				     ERDMA_REG_MR2_MTT_CNT_BITS;
		} else {
			req.version = 0;
		}
	} else if (req.level > 1) {
		return EV_INVALID;
	}
	mr->page_shift = FIELD_GET(ERDMA_REG_MR2_PAGE_SIZE, cfg2);
	mr->default_shift = mr->page_shift;
	ret = set_translation(ad, mr, &req);
	if (!ret && mr->type == ERDMA_MR_NORMAL)
		ret = set_range(ad, mr, c, &req);
	return ret;
}

enum ev_syndrome ev_cmd_reg_mr(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_reg_mr *c = (void *)cmd->req;
	u32 index = FIELD_GET(ERDMA_REG_MR0_MPT, le32_to_cpu(c->cfg0));
	enum ev_syndrome ret;
	struct ev_mr *mr;

	if (index >= ev_max_cq(ad))
		return EV_RANGE;
	if (ev_mr_find(ad, index))
		return EV_EXISTS;
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return EV_NO_MEMORY;
	spin_lock_init(&mr->lock);
	ret = mr_setup(ad, mr, cmd);
	if (!ret && xa_is_err(xa_store(&ad->mrs, index, mr, GFP_KERNEL)))
		ret = EV_NO_MEMORY;
	if (ret)
		ev_mr_free(mr);
	return ret;
}

enum ev_syndrome ev_cmd_dereg_mr(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_dereg_mr *req = (void *)cmd->req;
	u32 cfg = le32_to_cpu(req->cfg);
	u32 index = FIELD_GET(ERDMA_REG_MR0_MPT, cfg);
	struct ev_mr *mr;

	if (index >= ev_max_cq(ad))
		return EV_RANGE;
	mr = ev_mr_find(ad, index);
	if (!mr)
		return EV_NO_OBJECT;
	/*
	 * The driver may change a fast-register MR's key; the work request that would have shown
	 * this may have been flushed.
	 */
	if (mr->type != ERDMA_MR_FRMR &&
	    mr->key != FIELD_GET(ERDMA_REG_MR0_KEY, cfg))
		return EV_INVALID;
	xa_erase(&ad->mrs, index);
	ev_mr_free(mr);
	return EV_OK;
}
