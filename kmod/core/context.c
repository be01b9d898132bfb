// SPDX-License-Identifier: GPL-2.0-only
/* Contexts of processes, and the data exchanged with userspace providers. */

#include <rdma/uverbs_ioctl.h>

#include "adapter.h"
#include "context.h"

/**
 * eadm_udata_read() - read a provider's request
 * @udata: source of the request; NULL for kernel callers
 * @req: destination; zeroed by the caller, as a request may be shorter. NULL if @max is 0
 * @min: minimum size, passed by all providers
 * @max: size known to this driver
 *
 * Context: process.
 * Return: 0; -EINVAL if the request is too short or uses a field unknown to the driver; -EOPNOTSUPP
 * for kernel callers; -EFAULT.
 */
int eadm_udata_read(struct ib_udata *udata, void *req, size_t min, size_t max)
{
	if (!udata)
		return -EOPNOTSUPP;
	if (udata->inlen < min)
		return -EINVAL;
	if (udata->inlen > max && !ib_is_udata_cleared(udata, max, udata->inlen - max))
		return -EINVAL;
	return max ? ib_copy_from_udata(req, udata, min(max, udata->inlen)) : 0;
}

/**
 * eadm_udata_write() - send the response to a provider, truncated to the size that it expects
 * @udata: destination
 * @resp: the response
 * @size: size of the response in bytes
 *
 * Context: process.
 * Return: 0 or -EFAULT.
 */
int eadm_udata_write(struct ib_udata *udata, const void *resp, size_t size)
{
	if (!udata->outlen)
		return 0;
	return ib_copy_to_udata(udata, (void *)resp, min(size, udata->outlen));
}

static int publish(struct eadm_adapter *ad, struct eadm_ctx *ctx)
{
	int ret = eadm_table_add(&ad->ctxs, &ctx->ctxn, &ctx->obj);

	/* Pairs with eadm_ctxs_leave(). */
	if (!ret && READ_ONCE(ad->leaving))
		eadm_maps_end(ctx->maps);
	return ret;
}

/**
 * eadm_alloc_ucontext() - verb: a process opens the device
 * @ibctx: the context
 * @udata: the provider's request and response
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int eadm_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct eadm_adapter *ad = to_eadm_adapter(ibctx->device);
	struct eadm_ctx *ctx = to_eadm_ctx(ibctx);
	int ret;

	ctx->maps = eadm_maps_create();
	if (IS_ERR(ctx->maps)) {
		ret = PTR_ERR(ctx->maps);
		goto err;
	}
	ret = ad->ops->ctx_begin(ad, ctx, udata);
	if (ret)
		goto err_maps;
	ret = publish(ad, ctx);
	if (ret)
		goto err_ctx;
	eadm_count(ad, EADM_CNT_CTX_ALLOCS);
	return 0;

err_ctx:
	ad->ops->ctx_end(ad, ctx);
err_maps:
	eadm_maps_put(ctx->maps);
err:
	eadm_count(ad, EADM_CNT_CTX_ALLOC_FAILURES);
	return ret;
}

/**
 * eadm_dealloc_ucontext() - verb: a process closes the device
 * @ibctx: the context; all its objects are gone
 *
 * Context: process.
 */
void eadm_dealloc_ucontext(struct ib_ucontext *ibctx)
{
	struct eadm_adapter *ad = to_eadm_adapter(ibctx->device);
	struct eadm_ctx *ctx = to_eadm_ctx(ibctx);

	eadm_table_remove(&ad->ctxs, ctx->ctxn, &ctx->obj);
	/* The mappings outlive the context if the device is removed. */
	eadm_maps_end(ctx->maps);
	ad->ops->ctx_end(ad, ctx);
	eadm_maps_put(ctx->maps);
	eadm_count(ad, EADM_CNT_CTX_DEALLOCS);
}

/**
 * eadm_ctxs_zap() - revoke device memory from all contexts that the adapter no longer serves
 * @ad: the adapter
 *
 * After a reset the adapter assigns this memory to new contexts. Writes of processes to the revoked
 * memory go to a dummy page, as after a removal. A context created concurrently belongs to the new
 * epoch, or its mmap() fails.
 *
 * Context: process; the epoch was raised, or the driver is being unbound.
 */
void eadm_ctxs_zap(struct eadm_adapter *ad)
{
	struct eadm_object *obj;
	u64 id;

	for (id = 0; (obj = eadm_table_next(&ad->ctxs, &id)); id++) {
		if (READ_ONCE(ad->leaving) || eadm_object_is_dead(ad, obj))
			eadm_maps_end(container_of(obj, struct eadm_ctx, obj)->maps);
		eadm_object_put(obj);
	}
}

/**
 * eadm_ctxs_leave() - revoke device memory from all contexts before the device is removed
 * @ad: the adapter
 *
 * The RDMA core destroys the QPs of processes first; the processes keep running and must not
 * receive SIGBUS for a removal that they did not cause.
 *
 * Context: process.
 */
void eadm_ctxs_leave(struct eadm_adapter *ad)
{
	/* For every context, either the loop finds it in the table, or publish() sees the flag. */
	WRITE_ONCE(ad->leaving, true);
	eadm_ctxs_zap(ad);
}

/**
 * eadm_ctx_disassociate() - verb: the device is removed while a process uses it
 * @ibctx: the context
 *
 * The RDMA core has destroyed the objects and frees the context. Device memory was revoked by
 * eadm_ctxs_leave(), or is revoked when the context is freed; after that, mapped rings belong to
 * the process. The RDMA core requires this callback to remove a device while contexts are open.
 *
 * Context: process.
 */
void eadm_ctx_disassociate(struct ib_ucontext *ibctx)
{
}
