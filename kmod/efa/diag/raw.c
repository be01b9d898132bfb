// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostic provider: bytes of rings, and registers. The kernel does not interpret the bytes. Send
 * queues are in device memory, which is never read.
 */
#include <linux/nospec.h>

#include "diag.h"
#include "efa_classes.h"

static void describe_qp(struct efa_qp *qp, struct eadm_diag_ring *r, struct eadm_ring_bytes *bytes)
{
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
}

static int describe_cq(struct efa_cq *cq, u32 subs, struct eadm_diag_ring *r,
		       struct eadm_ring_bytes *bytes)
{
	if (r->sub >= subs)
		return -ENOENT;
	bytes->va = cq->mem.ring +
		   (size_t)array_index_nospec(r->sub, subs) * cq->depth * cq->entry_size;
	r->memory = EADM_RING_MEMORY_USER;
	r->user = true;
	r->depth = cq->depth;
	r->entry_size = cq->entry_size;
	return 0;
}

static void describe_aq(struct efa_dev *dev, struct eadm_diag_ring *r,
			struct eadm_ring_bytes *bytes)
{
	struct efa_aq *q = &dev->aq;

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
}

/**
 * efa_describe_ring() - &eadm_adapter_ops.describe_ring
 * @ad: the adapter
 * @r: the queue; on return, its description
 * @bytes: set to the location of its bytes
 */
int efa_describe_ring(struct eadm_adapter *ad, struct eadm_diag_ring *r,
		      struct eadm_ring_bytes *bytes)
{
	struct efa_dev *dev = adapter_to_efa(ad);

	r->index = efa_ring_index(r->kind);
	r->index_bits = efa_ring_index_bits(r->kind);
	if (r->kind == EADM_RAW_KIND_CQ)
		return describe_cq(container_of(bytes->obj, struct efa_cq, obj),
				   le16_to_cpu(dev->caps.queue.sub_cqs), r, bytes);
	if (bytes->obj)
		describe_qp(container_of(bytes->obj, struct efa_qp, obj), r, bytes);
	else if (r->kind != EADM_RAW_KIND_EQ)
		describe_aq(dev, r, bytes);
	return 0;
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
