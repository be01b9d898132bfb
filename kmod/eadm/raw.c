// SPDX-License-Identifier: GPL-2.0-only
/*
 * Raw bytes through the char device: entries of queues, contexts of the adapter, registers. The
 * driver fills a zeroed kernel buffer, so that no uninitialised bytes leave the kernel.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "eadm.h"
#include "eadm_ioctl.h"

#define MAX_REGS	256

static_assert(sizeof(struct eadm_ioc_ring) == 96);
static_assert(sizeof(struct eadm_ioc_hwctx) == 32);
static_assert(sizeof(struct eadm_ioc_regs) == 24);
static_assert(sizeof(struct eadm_ioc_reg) == 16);
static_assert(EADM_RING_SW_PI == EADM_DIAG_RING_SW_PI);
static_assert(EADM_RING_SW_CI == EADM_DIAG_RING_SW_CI);
static_assert(EADM_RING_HW_PI == EADM_DIAG_RING_HW_PI);
static_assert(EADM_RING_HW_CI == EADM_DIAG_RING_HW_CI);

/**
 * eadm_raw_ring() - handle EADM_IOC_RING
 * @edev: the device, entered
 * @arg: the argument; filled in
 * @data: on success, set to the bytes for @arg->data; free with kvfree()
 *
 * Return: size of @data or a negative errno.
 */
int eadm_raw_ring(struct eadm_dev *edev, struct eadm_ioc_ring *arg, void **data)
{
	const struct eadm_diag_ops *ops = edev->dd->ops;
	struct eadm_diag_ring ring = {
		.kind = arg->kind,
		.hw = arg->flags & EADM_RING_HW,
		.id = arg->id,
		.sub = arg->sub,
		.first = arg->first,
		.count = arg->count,
	};
	size_t room = min_t(size_t, arg->data_len, EADM_RING_MAX_BYTES);
	void *buf;
	int ret;

	if (!ops->ring)
		return -EOPNOTSUPP;
	if (arg->flags & ~EADM_RING_HW || !EADM_IS_OF(arg->kind, EADM_RAW_KIND_CLASS_RING) ||
	    memchr_inv(&arg->reserved0, 0, sizeof(*arg) - offsetof(typeof(*arg), reserved0)))
		return -EINVAL;
	buf = kvzalloc(room ?: 1, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	ret = ops->ring(edev->dd, &ring, buf, room);
	if (ret) {
		kvfree(buf);
		return ret;
	}
	arg->count = ring.count;
	arg->data_len = ring.count * ring.entry_size;
	arg->entry_size = ring.entry_size;
	arg->index = ring.index;
	arg->index_bits = ring.index_bits;
	arg->memory = ring.memory;
	arg->depth = ring.depth;
	arg->valid = ring.valid | (ring.user ? EADM_RING_USER : 0);
	arg->sw_pi = ring.sw_pi;
	arg->sw_ci = ring.sw_ci;
	arg->hw_pi = ring.hw_pi;
	arg->hw_ci = ring.hw_ci;
	arg->hw_error = ring.hw_error;
	*data = buf;
	return arg->data_len;
}

/* For callers, ENODEV means that the RDMA device was removed. */
static int provider_error(int ret)
{
	return ret == -ENODEV ? -ESTALE : ret;
}

/**
 * eadm_raw_hwctx() - handle EADM_IOC_HWCTX
 * @edev: the device, entered
 * @arg: the argument; filled in
 * @data: on success, set to the bytes for @arg->data; free with kvfree()
 *
 * Return: size of @data or a negative errno.
 */
int eadm_raw_hwctx(struct eadm_dev *edev, struct eadm_ioc_hwctx *arg, void **data)
{
	const struct eadm_diag_ops *ops = edev->dd->ops;
	u32 room = arg->data_len;
	void *buf;
	int ret;

	if (!ops->context)
		return -EOPNOTSUPP;
	if (arg->reserved || !EADM_IS_OF(arg->kind, EADM_RAW_KIND_CLASS_CONTEXT))
		return -EINVAL;
	buf = kvzalloc(ops->context_max, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	ret = ops->context(edev->dd, arg->kind, arg->id, buf);
	if (ret < 0) {
		kvfree(buf);
		return provider_error(ret);
	}
	arg->data_len = ret;
	*data = buf;
	return min_t(u32, room, ret);
}

/**
 * eadm_raw_regs() - handle EADM_IOC_REGS
 * @edev: the device, entered
 * @arg: the argument; filled in
 * @data: on success, set to the bytes for @arg->data; free with kvfree()
 *
 * Return: size of @data or a negative errno.
 */
int eadm_raw_regs(struct eadm_dev *edev, struct eadm_ioc_regs *arg, void **data)
{
	const struct eadm_diag_ops *ops = edev->dd->ops;
	u32 max = min_t(u32, arg->count, MAX_REGS);
	struct eadm_diag_reg *regs;
	int ret;

	/* Both structs have the same layout. */
	static_assert(sizeof(struct eadm_diag_reg) == sizeof(struct eadm_ioc_reg));
	static_assert(offsetof(struct eadm_diag_reg, value) ==
		      offsetof(struct eadm_ioc_reg, value));
	if (!ops->regs)
		return -EOPNOTSUPP;
	if (arg->reserved)
		return -EINVAL;
	regs = kcalloc(max ?: 1, sizeof(*regs), GFP_KERNEL);
	if (!regs)
		return -ENOMEM;
	ret = ops->regs(edev->dd, regs, max);
	if (ret < 0) {
		kfree(regs);
		return provider_error(ret);
	}
	arg->count = ret;
	*data = regs;
	return min_t(u32, ret, max) * sizeof(*regs);
}
