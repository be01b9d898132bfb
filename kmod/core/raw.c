// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: raw bytes of rings, which the kernel does not interpret. */

#include <rdma/ib_umem.h>

#include "interrupt.h"
#include "raw.h"

static int find_eq(struct eadm_adapter *ad, struct eadm_diag_ring *r, struct eadm_ring_bytes *bytes)
{
	const struct eadm_eq *eq = eadm_eq_find(ad, r->id);

	if (!eq)
		return -ENOENT;
	bytes->va = eq->ring.va;
	r->memory = EADM_RING_MEMORY_HOST;
	r->depth = eq->depth;
	r->entry_size = eq->ring.size / eq->depth;
	r->sw_ci = READ_ONCE(eq->ci);
	r->valid = EADM_DIAG_RING_SW_CI;
	return 0;
}

/* Finds the owner of the requested queue; event queues are described here as well. */
static int find_ring(struct eadm_adapter *ad, struct eadm_diag_ring *r,
		     struct eadm_ring_bytes *bytes)
{
	if (r->sub && r->kind != EADM_RAW_KIND_CQ)
		return -ENOENT;
	switch (r->kind) {
	case EADM_RAW_KIND_SQ:
	case EADM_RAW_KIND_RQ:
		bytes->obj = eadm_table_get(&ad->qps, r->id);
		break;
	case EADM_RAW_KIND_CQ:
		bytes->obj = eadm_table_get(&ad->cqs, r->id);
		break;
	case EADM_RAW_KIND_EQ:
		return find_eq(ad, r, bytes);
	case EADM_RAW_KIND_CMD_SQ:
	case EADM_RAW_KIND_CMD_CQ:
		r->memory = EADM_RING_MEMORY_HOST;
		return r->id ? -ENOENT : 0;
	default:
		return -EOPNOTSUPP;
	}
	return bytes->obj ? 0 : -ENOENT;
}

/* The owner may write concurrently, so the copy may be torn. */
static int copy(const struct eadm_ring_bytes *bytes, void *buf, size_t from, size_t len)
{
	if (bytes->va) {
		memcpy(buf, bytes->va + from, len);
		return 0;
	}
	return bytes->umem ? ib_umem_copy_from(buf, bytes->umem, from, len) : -ENODATA;
}

static int read_entries(const struct eadm_ring_bytes *bytes, struct eadm_diag_ring *r, void *buf,
			size_t room)
{
	if (r->first > r->depth || r->count > r->depth - r->first)
		return -ERANGE;
	/* Device memory is never read; its entry size may be unknown. */
	if (r->memory == EADM_RING_MEMORY_DEVICE || !r->entry_size)
		r->count = 0;
	else
		r->count = min_t(size_t, r->count, room / r->entry_size);
	if (!r->count)
		return 0;
	return copy(bytes, buf, (size_t)r->first * r->entry_size, (size_t)r->count * r->entry_size);
}

/**
 * eadm_ring_read() - read entries of a queue, for &eadm_diag_ops.ring
 * @dd: the device
 * @r: requested entries; on return, the description of the queue
 * @buf: destination of the entries
 * @room: size of @buf
 *
 * Context: process; may issue a command when @r->hw is set.
 * Return: 0; -ENOENT for an unknown queue; -ERANGE if the requested entries are beyond the end of
 *	the queue; -EOPNOTSUPP for an unknown kind; -ENODATA if the driver does not know the
 *	location of its memory.
 */
int eadm_ring_read(struct eadm_diag_dev *dd, struct eadm_diag_ring *r, void *buf, size_t room)
{
	struct eadm_adapter *ad = diag_to_adapter(dd);
	struct eadm_ring_bytes bytes = {};
	int ret;

	ret = find_ring(ad, r, &bytes);
	if (!ret)
		ret = ad->ops->describe_ring(ad, r, &bytes);
	if (!ret)
		ret = read_entries(&bytes, r, buf, room);
	if (!ret && r->hw)
		r->hw_error = ad->ops->ask_ring ? ad->ops->ask_ring(ad, r, bytes.obj) : -EOPNOTSUPP;
	if (bytes.obj)
		eadm_object_put(bytes.obj);
	return ret;
}
