// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostic provider: bytes of rings, and registers. The kernel does not interpret the bytes. Send
 * queues are in device memory, which is never read.
 */
#include <linux/nospec.h>

#include "diag.h"
#include "efa_classes.h"

static int find_qp(struct efa_dev *dev, struct eadm_diag_ring *r, struct eadm_ring_bytes *bytes)
{
	struct eadm_object *obj = eadm_table_get(&dev->adapter.qps, r->id);
	struct efa_qp *qp;

	if (!obj)
		return -ENOENT;
	qp = container_of(obj, struct efa_qp, obj);
	bytes->obj = obj;
	r->user = true;
	if (r->kind == EADM_RAW_KIND_RQ) {
		bytes->va = qp->mem.ring;
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

static int find_cq(struct efa_dev *dev, struct eadm_diag_ring *r, struct eadm_ring_bytes *bytes)
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
	bytes->obj = obj;
	bytes->va = cq->mem.ring +
		   (size_t)array_index_nospec(r->sub, subs) * cq->depth * cq->entry_size;
	r->memory = EADM_RING_MEMORY_USER;
	r->user = true;
	r->depth = cq->depth;
	r->entry_size = cq->entry_size;
	return 0;
}

static int find_aq(struct efa_dev *dev, struct eadm_diag_ring *r, struct eadm_ring_bytes *bytes)
{
	struct efa_aq *q = &dev->aq;

	if (r->id)
		return -ENOENT;
	r->memory = EADM_RING_MEMORY_HOST;
	r->depth = EFA_AQ_DEPTH;
	r->entry_size = EFA_AQE_SIZE;
	spin_lock_irq(&dev->adapter.lock);
	if (r->kind == EADM_RAW_KIND_CMD_SQ) {
		bytes->va = q->sq.va;
		r->sw_pi = (u16)q->pi;
		r->sw_ci = (u16)q->read;
		r->valid = EADM_DIAG_RING_SW_PI | EADM_DIAG_RING_SW_CI;
	} else {
		bytes->va = q->cq.va;
		r->sw_ci = q->ci;
		r->valid = EADM_DIAG_RING_SW_CI;
	}
	spin_unlock_irq(&dev->adapter.lock);
	return 0;
}

/**
 * efa_find_ring() - find a queue, for &eadm_adapter_ops.find_ring
 * @ad: the adapter
 * @r: the requested queue; on return, its description
 * @bytes: set to the location of its bytes
 */
int efa_find_ring(struct eadm_adapter *ad, struct eadm_diag_ring *r, struct eadm_ring_bytes *bytes)
{
	struct efa_dev *dev = adapter_to_efa(ad);

	r->index = efa_ring_index(r->kind);
	r->index_bits = efa_ring_index_bits(r->kind);
	if (r->sub && r->kind != EADM_RAW_KIND_CQ)
		return -ENOENT;
	switch (r->kind) {
	case EADM_RAW_KIND_SQ:
	case EADM_RAW_KIND_RQ:
		return find_qp(dev, r, bytes);
	case EADM_RAW_KIND_CQ:
		return find_cq(dev, r, bytes);
	case EADM_RAW_KIND_EQ:
		return eadm_ring_find_eq(ad, r, bytes);
	case EADM_RAW_KIND_CMD_SQ:
	case EADM_RAW_KIND_CMD_CQ:
		return find_aq(dev, r, bytes);
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * efa_diag_regs() - read the registers that are safe to read
 * @dd: the device
 * @regs: destination of the values
 * @max: number of elements in @regs
 *
 * Each register is read by a request to which the adapter responds in memory, at most once per
 * second (stats.c).
 *
 * Context: process.
 * Return: number of registers; -ENODEV; -EAGAIN while the function is being reset; -EINTR; -EIO if
 * the adapter does not respond.
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
