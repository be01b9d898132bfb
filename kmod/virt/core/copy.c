// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies data directly from source to target, between the memory of adapters. The data is copied
 * only once.
 */
#include "vdev.h"

/**
 * vdev_span_at() - return the kernel address of a byte of a range
 * @span: range
 * @off: offset in it
 * @len: reduced to the number of contiguous bytes at that address
 *
 * Context: between vdev_dma_begin() and vdev_dma_end(), unless @span is direct.
 * Return: the address, or NULL if the driver's translation is invalid.
 */
void *vdev_span_at(const struct vdev_span *span, u64 off, u32 *len)
{
	u64 addr = span->addr + off;

	if (span->direct)
		return span->direct + off;
	if (span->translate)
		addr = span->translate(span->region, addr);
	*len = min_t(u32, *len, VDEV_PAGE_SIZE - (addr & (VDEV_PAGE_SIZE - 1)));
	return vdev_dma_page(span->vdev, addr);
}

/* Current position of a transfer in a list. */
struct cursor {
	const struct vdev_span *span;
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
	return vdev_span_at(cur->span, cur->off, len);
}

static bool begin(const struct cursor *cur)
{
	return cur->span->direct || vdev_dma_begin(cur->span->vdev);
}

static void end(const struct cursor *cur)
{
	if (!cur->span->direct)
		vdev_dma_end(cur->span->vdev);
}

/* Copies up to the end of a page on either side, at most @len bytes. */
static enum vdev_copy copy_part(struct cursor *out, struct cursor *in, u32 *len)
{
	enum vdev_copy ret = VDEV_NO_ACCESS;
	void *to, *from;

	if (!begin(in))
		return ret;
	if (!begin(out))
		goto end_in;
	ret = VDEV_NO_SOURCE;
	from = cursor_at(in, len);
	if (!from)
		goto end_out;
	ret = VDEV_NO_TARGET;
	to = cursor_at(out, len);
	if (!to)
		goto end_out;
	memcpy(to, from, *len);
	ret = VDEV_COPIED;
end_out:
	end(out);
end_in:
	end(in);
	return ret;
}

/**
 * vdev_sgl_copy() - copy from memory to memory
 * @dst: target
 * @src: source
 * @from: offset in both lists
 * @len: bytes; both lists must contain them
 *
 * Context: takes as long as copying @len bytes.
 * Return: VDEV_COPIED, the side whose translation is invalid, or VDEV_NO_ACCESS if an adapter has
 * to stop, which can happen at any time.
 */
enum vdev_copy vdev_sgl_copy(const struct vdev_sgl *dst, const struct vdev_sgl *src,
			     u64 from, u32 len)
{
	struct cursor in = { .span = src->span }, out = { .span = dst->span };
	enum vdev_copy ret;
	u32 part;

	if (!len)
		return VDEV_COPIED;
	for (in.off = from; in.off >= in.span->len; in.span++)
		in.off -= in.span->len;
	for (out.off = from; out.off >= out.span->len; out.span++)
		out.off -= out.span->len;
	for (; len; len -= part) {
		part = len;
		ret = copy_part(&out, &in, &part);
		if (ret != VDEV_COPIED)
			return ret;
		advance(&in, part);
		advance(&out, part);
	}
	return VDEV_COPIED;
}
