// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that work requests name: may they, where is it, and the one copy from
 * where it is to where it goes (hw 5).
 */
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
 * Only work requests change MRs while others run, and only fast-register MRs:
 * one that is in use is pinned, which holds up whoever wants to invalidate it.
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

/**
 * ev_sgl_add() - check and add a range of memory to a list
 * @sgl: list with a free element
 * @qp: QP whose protection domain counts
 * @key: L_Key or R_Key
 * @addr: what the key makes of it
 * @len: bytes
 * @rights: ERDMA_MR_*, one of these is needed
 *
 * A range without bytes is always allowed.
 *
 * Context: ev_fabric held until ev_sgl_put().
 * Return: EV_VIOLATES_NOTHING or the reason for refusal.
 */
enum ev_violation ev_sgl_add(struct ev_sgl *sgl, struct ev_qp *qp, u32 key,
			     u64 addr, u32 len, u8 rights)
{
	struct ev_span *span = &sgl->span[sgl->count];
	enum ev_violation ret;
	struct ev_mr *mr = NULL;

	if (!len)
		return EV_VIOLATES_NOTHING;
	/* That every DMA address is within reach is not for processes. */
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
	*span = (struct ev_span) {
		.ad = qp->ad,
		.mr = mr,
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
void ev_sgl_put(struct ev_sgl *sgl)
{
	struct ev_span *span;

	for (span = sgl->span; span < sgl->span + sgl->count; span++) {
		if (!span->mr || span->mr->type != ERDMA_MR_FRMR)
			continue;
		spin_lock(&span->mr->lock);
		span->mr->pins--;
		spin_unlock(&span->mr->lock);
	}
	sgl->count = 0;
}

static u64 translate(const struct ev_mr *mr, u64 addr)
{
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
 * ev_span_at() - kernel address of a byte of a checked range
 * @span: range
 * @off: offset in it
 * @len: reduced to the bytes that follow without a gap
 *
 * Context: between vdev_dma_begin() and vdev_dma_end(), unless @span is direct.
 * Return: the address, or NULL if the driver's translation leads nowhere.
 */
void *ev_span_at(const struct ev_span *span, u64 off, u32 *len)
{
	u64 addr = span->addr + off;

	if (span->direct)
		return span->direct + off;
	if (span->mr && span->mr->type != ERDMA_MR_DMA)
		addr = translate(span->mr, addr);
	*len = min_t(u32, *len,
		     ERDMA_HW_PAGE_SIZE - (addr & (ERDMA_HW_PAGE_SIZE - 1)));
	return vdev_dma_page(&span->ad->vdev, addr);
}

/* Where in a list a transfer has got to. */
struct cursor {
	const struct ev_span *span;
	u64 off;
};

static void advance(struct cursor *cur, u32 len)
{
	cur->off += len;
	while (cur->off && cur->off >= cur->span->len) {
		cur->off -= cur->span->len;
		cur->span++;
	}
}

static void *cursor_at(const struct cursor *cur, u32 *len)
{
	*len = min_t(u64, *len, cur->span->len - cur->off);
	return ev_span_at(cur->span, cur->off, len);
}

static bool begin(const struct cursor *cur)
{
	return cur->span->direct || vdev_dma_begin(&cur->span->ad->vdev);
}

static void end(const struct cursor *cur)
{
	if (!cur->span->direct)
		vdev_dma_end(&cur->span->ad->vdev);
}

/* Copies up to the end of a page on either side, at most @len bytes. */
static enum ev_copy copy_part(struct cursor *out, struct cursor *in, u32 *len)
{
	enum ev_copy ret = EV_NO_ACCESS;
	void *to, *from;

	if (!begin(in))
		return ret;
	if (!begin(out))
		goto end_in;
	ret = EV_NO_SOURCE;
	from = cursor_at(in, len);
	if (!from)
		goto end_out;
	ret = EV_NO_TARGET;
	to = cursor_at(out, len);
	if (!to)
		goto end_out;
	memcpy(to, from, *len);
	ret = EV_COPIED;
end_out:
	end(out);
end_in:
	end(in);
	return ret;
}

/**
 * ev_sgl_copy() - copy from memory to memory
 * @dst: target
 * @src: source
 * @from: offset in both lists
 * @len: bytes; both lists have them
 *
 * Context: may take as long as it takes to copy @len.
 * Return: EV_COPIED, or whose translation leads nowhere, or EV_NO_ACCESS if an
 * adapter is to stop, which may be at any time.
 */
enum ev_copy ev_sgl_copy(const struct ev_sgl *dst, const struct ev_sgl *src,
			 u64 from, u32 len)
{
	struct cursor in = { .span = src->span }, out = { .span = dst->span };
	enum ev_copy ret;
	u32 part;

	if (!len)
		return EV_COPIED;
	for (in.off = from; in.off >= in.span->len; in.span++)
		in.off -= in.span->len;
	for (out.off = from; out.off >= out.span->len; out.span++)
		out.off -= out.span->len;
	for (; len; len -= part) {
		part = len;
		ret = copy_part(&out, &in, &part);
		if (ret != EV_COPIED)
			return ret;
		advance(&in, part);
		advance(&out, part);
	}
	return EV_COPIED;
}
