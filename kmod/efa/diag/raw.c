// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostic provider: bytes of rings, and registers. The bytes are not interpreted here.
 * Send queues are in device memory, which is never read.
 */
#include <linux/nospec.h>

#include "diag.h"
#include "efa_classes.h"

/**
 * struct ring - where the bytes of a queue are
 * @va: memory; NULL if in the device
 * @obj: object that owns it, referenced, or NULL when the device does
 */
struct ring {
	const void *va;
	struct eadm_object *obj;
};

static int find_qp(struct efa_dev *dev, struct eadm_diag_ring *r, struct ring *ring)
{
	struct eadm_object *obj = eadm_table_get(&dev->adapter.qps, r->id);
	struct efa_qp *qp;

	if (!obj)
		return -ENOENT;
	qp = container_of(obj, struct efa_qp, obj);
	ring->obj = obj;
	r->user = true;
	if (r->kind == EADM_RAW_KIND_RQ) {
		ring->va = qp->mem.ring;
		r->memory = EADM_RING_MEMORY_USER;
		r->depth = qp->rq_bytes / EFA_RQE_SIZE;
		r->entry_size = EFA_RQE_SIZE;
	} else {
		r->memory = EADM_RING_MEMORY_DEVICE;
		r->depth = qp->cap.max_send_wr;
		r->entry_size = r->depth ? qp->sq_bytes / r->depth : EFA_WQE_SIZE;
	}
	return 0;
}

static int find_cq(struct efa_dev *dev, struct eadm_diag_ring *r, struct ring *ring)
{
	u32 subs = le16_to_cpu(dev->caps.queue.sub_cqs);
	struct eadm_object *obj;
	struct efa_cq *cq;

	if (r->sub >= subs)
		return -ENOENT;
	obj = eadm_table_get(&dev->adapter.cqs, r->id);
	if (!obj)
		return -ENOENT;
	cq = container_of(obj, struct efa_cq, obj);
	ring->obj = obj;
	ring->va = cq->mem.ring +
		   (size_t)array_index_nospec(r->sub, subs) * cq->depth * cq->entry_size;
	r->memory = EADM_RING_MEMORY_USER;
	r->user = true;
	r->depth = cq->depth;
	r->entry_size = cq->entry_size;
	return 0;
}

static int find_eq(struct efa_dev *dev, struct eadm_diag_ring *r, struct ring *ring)
{
	const struct efa_eq *eq = &dev->aenq;

	if (r->id > dev->nr_eqs)
		return -ENOENT;
	if (r->id)
		eq = &dev->eqs[array_index_nospec(r->id - 1, dev->nr_eqs)];
	ring->va = eq->base.ring.va;
	r->memory = EADM_RING_MEMORY_HOST;
	r->depth = eq->base.depth;
	r->entry_size = BIT(eq->shift);
	r->sw_ci = READ_ONCE(eq->ci);
	r->valid = EADM_DIAG_RING_SW_CI;
	return 0;
}

static int find_aq(struct efa_dev *dev, struct eadm_diag_ring *r, struct ring *ring)
{
	struct efa_aq *q = &dev->aq;

	if (r->id)
		return -ENOENT;
	r->memory = EADM_RING_MEMORY_HOST;
	r->depth = EFA_AQ_DEPTH;
	r->entry_size = EFA_AQE_SIZE;
	spin_lock_irq(&dev->adapter.lock);
	if (r->kind == EADM_RAW_KIND_CMD_SQ) {
		ring->va = q->sq.va;
		r->sw_pi = (u16)q->pi;
		r->sw_ci = (u16)q->read;
		r->valid = EADM_DIAG_RING_SW_PI | EADM_DIAG_RING_SW_CI;
	} else {
		ring->va = q->cq.va;
		r->sw_ci = q->ci;
		r->valid = EADM_DIAG_RING_SW_CI;
	}
	spin_unlock_irq(&dev->adapter.lock);
	return 0;
}

static int find(struct efa_dev *dev, struct eadm_diag_ring *r, struct ring *ring)
{
	if (r->sub && r->kind != EADM_RAW_KIND_CQ)
		return -ENOENT;
	switch (r->kind) {
	case EADM_RAW_KIND_SQ:
	case EADM_RAW_KIND_RQ:
		return find_qp(dev, r, ring);
	case EADM_RAW_KIND_CQ:
		return find_cq(dev, r, ring);
	case EADM_RAW_KIND_EQ:
		return find_eq(dev, r, ring);
	case EADM_RAW_KIND_CMD_SQ:
	case EADM_RAW_KIND_CMD_CQ:
		return find_aq(dev, r, ring);
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * efa_diag_ring() - read entries of a queue
 * @dd: the device
 * @r: which entries; on return, what is known of the queue
 * @buf: where to put the entries
 * @room: its size
 *
 * The adapter does not report indices. The owner of a queue may write at the same time:
 * the copy may be torn.
 *
 * Context: process.
 * Return: 0; -ENOENT for an unknown queue; -ERANGE when the queue has no such entries;
 * -EOPNOTSUPP for an unknown kind.
 */
int efa_diag_ring(struct eadm_diag_dev *dd, struct eadm_diag_ring *r, void *buf, size_t room)
{
	struct efa_dev *dev = diag_to_dev(dd);
	struct ring ring = {};
	int ret;

	ret = find(dev, r, &ring);
	if (ret)
		return ret;
	r->index = efa_ring_index(r->kind);
	r->index_bits = efa_ring_index_bits(r->kind);
	if (r->first > r->depth || r->count > r->depth - r->first) {
		ret = -ERANGE;
		goto out;
	}
	r->count = ring.va ? min_t(size_t, r->count, room / r->entry_size) : 0;
	if (r->count)
		memcpy(buf, ring.va + (size_t)r->first * r->entry_size,
		       (size_t)r->count * r->entry_size);
	if (r->hw)
		r->hw_error = -EOPNOTSUPP;
out:
	if (ring.obj)
		eadm_object_put(ring.obj);
	return ret;
}

/**
 * efa_diag_regs() - read the registers that may be read
 * @dd: the device
 * @regs: where to put them
 * @max: how many fit
 *
 * Each register is read by a request that the adapter answers in memory, at most once in
 * a second (queries.c).
 *
 * Context: process.
 * Return: how many there are; -ENODEV; -EAGAIN while the function is being reset; -EINTR;
 * -EIO when it does not answer.
 */
int efa_diag_regs(struct eadm_diag_dev *dd, struct eadm_diag_reg *regs, u32 max)
{
	struct efa_dev *dev = diag_to_dev(dd);
	u32 value[EFA_REGS_COUNT], i, n = 0;
	int ret;

	if (!eadm_adapter_serves(&dev->adapter))
		return -ENODEV;
	if (eadm_function_is_resetting(&dev->adapter.fn))
		return -EAGAIN;
	ret = eadm_recent_read(&dev->recent.regs, value, false);
	if (ret)
		return ret;
	for (i = 0; i < EFA_REGS_COUNT; i++) {
		if (!efa_reg_bits(i * sizeof(u32)))
			continue;
		if (n < max)
			regs[n] = (struct eadm_diag_reg){
				.offset = i * sizeof(u32),
				.bits = 32,
				.value = value[i],
			};
		n++;
	}
	return n;
}
