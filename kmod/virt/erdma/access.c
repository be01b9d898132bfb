// SPDX-License-Identifier: GPL-2.0-only
/* Memory referred to by work requests: access checks and location (hw 5). */
#include <linux/bitfield.h>

#include "ev.h"

static enum ev_violation check(const struct ev_mr *mr, u32 pd, u32 key,
			       u64 addr, u32 len, u8 rights)
{
	if (!mr->valid || mr->key != FIELD_GET(ERDMA_STAG_KEY, key))
		return EV_VIOLATES_STAG;
	if (mr->pd != pd)
		return EV_VIOLATES_PD;
	if (!(mr->rights & rights))
		return EV_VIOLATES_RIGHTS;
	if (addr + len < addr)
		return EV_VIOLATES_WRAP;
	if (mr->type != ERDMA_MR_DMA &&
	    (addr < mr->start || addr + len > mr->start + mr->length))
		return EV_VIOLATES_BOUNDS;
	return EV_VIOLATES_NOTHING;
}

/*
 * While the data path runs, MRs are changed only by work requests, which affect only fast-register
 * MRs: an MR in use is pinned, which delays its invalidation.
 */
static enum ev_violation check_pin(struct ev_mr *mr, u32 pd, u32 key, u64 addr,
				   u32 len, u8 rights)
{
	enum ev_violation ret;

	if (mr->type != ERDMA_MR_FRMR)
		return check(mr, pd, key, addr, len, rights);
	spin_lock(&mr->lock);
	ret = check(mr, pd, key, addr, len, rights);
	if (!ret)
		mr->pins++;
	spin_unlock(&mr->lock);
	return ret;
}

static u64 translate(const void *region, u64 addr)
{
	const struct ev_mr *mr = region;
	u64 mask = BIT_ULL(mr->page_shift) - 1;
	u64 pos = addr - (mr->start & ~mask);
	u64 index = pos >> mr->page_shift;
	u64 page;

	if (mr->use_table)
		page = le64_to_cpu(READ_ONCE(*(__le64 *)
					     vdev_buf_at(&mr->table, index *
							 sizeof(__le64))));
	else
		page = mr->inline_mtt[index];
	return page + (pos & mask);
}

/**
 * ev_sgl_add() - check and add a range of memory to a list
 * @sgl: list with a free element
 * @qp: QP whose protection domain is checked
 * @key: L_Key or R_Key
 * @addr: address, as defined by the key
 * @len: size in bytes
 * @rights: ERDMA_MR_*, at least one of which is required
 *
 * An empty range is always allowed.
 *
 * Context: ev_fabric held until ev_sgl_put().
 * Return: EV_VIOLATES_NOTHING or the reason for refusal.
 */
enum ev_violation ev_sgl_add(struct vdev_sgl *sgl, struct ev_qp *qp, u32 key,
			     u64 addr, u32 len, u8 rights)
{
	struct vdev_span *span = &sgl->span[sgl->count];
	enum ev_violation ret;
	struct ev_mr *mr = NULL;

	if (!len)
		return EV_VIOLATES_NOTHING;
	/* Processes must not use the key of all DMA addresses. */
	if (key != EV_DMA_LOCAL_KEY || !(rights & EV_LOCAL_RIGHTS) || qp->user) {
		mr = ev_mr_find(qp->ad, FIELD_GET(ERDMA_STAG_INDEX, key));
		if (!mr)
			return EV_VIOLATES_STAG;
		ret = check_pin(mr, qp->pd, key, addr, len, rights);
		if (ret)
			return ret;
	} else if (addr + len < addr) {
		return EV_VIOLATES_WRAP;
	}
	*span = (struct vdev_span) {
		.vdev = &qp->ad->vdev,
		.translate = mr && mr->type != ERDMA_MR_DMA ? translate : NULL,
		.region = mr,
		.addr = addr,
		.len = len,
	};
	sgl->count++;
	return EV_VIOLATES_NOTHING;
}

/**
 * ev_sgl_put() - end the use of a list of memory ranges
 * @sgl: list
 */
void ev_sgl_put(struct vdev_sgl *sgl)
{
	struct vdev_span *span;

	for (span = sgl->span; span < sgl->span + sgl->count; span++) {
		struct ev_mr *mr = span->region;

		if (!mr || mr->type != ERDMA_MR_FRMR)
			continue;
		spin_lock(&mr->lock);
		mr->pins--;
		spin_unlock(&mr->lock);
	}
	sgl->count = 0;
}
