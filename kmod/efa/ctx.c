// SPDX-License-Identifier: GPL-2.0-only
/* User contexts (hw 12.2), and exchanging data with providers. */

#include <rdma/uverbs_ioctl.h>

#include "abi.h"
#include "efa.h"

/**
 * efa_udata_read() - read a provider's request
 * @udata: the source; NULL for kernel callers
 * @req: where to, zeroed
 * @min: minimum size, which all providers pass
 * @max: size that this driver knows
 *
 * Context: process.
 * Return: 0; -EINVAL when it is too short, or uses something that the driver does not
 * know; -EOPNOTSUPP for the kernel; -EFAULT.
 */
int efa_udata_read(struct ib_udata *udata, void *req, size_t min, size_t max)
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
 * efa_udata_write() - send the answer to a provider, truncated if it expects
 * less
 * @udata: where to
 * @resp: the answer
 * @size: bytes of it
 *
 * Context: process.
 * Return: 0 or -EFAULT.
 */
int efa_udata_write(struct ib_udata *udata, const void *resp, size_t size)
{
	if (!udata->outlen)
		return 0;
	return ib_copy_to_udata(udata, (void *)resp, min(size, udata->outlen));
}

/* The provider has to know the restrictions of the adapter. */
static int check_provider(const struct efa_dev *dev, struct ib_udata *udata)
{
	const struct efa_queue_attr *q = &dev->caps.queue;
	struct efa_ureq_alloc_ctx req = {};
	int ret;

	/* Anything else that newer providers announce does not matter. */
	ret = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (ret)
		return ret;
	if ((q->max_tx_batch && !(req.mask & EFA_UREQ_TX_BATCH)) ||
	    (q->min_sq_depth && !(req.mask & EFA_UREQ_MIN_SQ))) {
		ibdev_warn_ratelimited(&dev->ibdev, "the provider of %s is too old\n",
				       current->comm);
		return -EOPNOTSUPP;
	}
	return 0;
}

static int answer(const struct efa_dev *dev, struct ib_udata *udata)
{
	const struct efa_queue_attr *q = &dev->caps.queue;
	struct efa_uresp_alloc_ctx resp = {
		.cmds = EFA_UCMD_QUERY_DEVICE | EFA_UCMD_CREATE_AH,
		.sub_cqs = le16_to_cpu(q->sub_cqs),
		.max_inline = le32_to_cpu(q->max_inline),
		.max_llq = le32_to_cpu(q->max_llq),
		.max_tx_batch = le16_to_cpu(q->max_tx_batch),
		.min_sq_depth = le16_to_cpu(q->min_sq_depth),
		.max_inline_ext = le16_to_cpu(dev->caps.queue2.max_inline_ext),
	};

	return efa_udata_write(udata, &resp, sizeof(resp));
}

/* Frees the UAR, unless the adapter has forgotten it. */
static void put_uar(struct efa_dev *dev, const struct efa_ctx *ctx)
{
	int ret;

	if (eadm_object_is_dead(&dev->adapter, &ctx->base.obj))
		return;
	ret = efa_cmd_dealloc_uar(dev, ctx);
	if (ret && !eadm_object_is_dead(&dev->adapter, &ctx->base.obj))
		ibdev_warn_ratelimited(&dev->ibdev, "UAR %u could not be freed: %d\n",
				       ctx->uar, ret);
}

/**
 * efa_alloc_ucontext() - verb: a process opens the device
 * @ibctx: the context
 * @udata: what its provider supports
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int efa_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct efa_dev *dev = to_efa_dev(ibctx->device);
	struct efa_ctx *ctx = to_efa_ctx(ibctx);
	u32 epoch;
	int ret;

	ret = check_provider(dev, udata);
	if (ret)
		goto err;
	ctx->base.maps = eadm_maps_create();
	if (IS_ERR(ctx->base.maps)) {
		ret = PTR_ERR(ctx->base.maps);
		goto err;
	}
	mutex_init(&ctx->db_lock);
	ret = efa_cmd_alloc_uar(dev, ctx, &epoch);
	if (ret)
		goto err_maps;
	eadm_object_init(&ctx->base.obj, epoch, &ibctx->res);
	eadm_object_init(&ctx->uar_obj, epoch, &ibctx->res);
	ret = eadm_table_add_at(&dev->uars, ctx->uar, &ctx->uar_obj);
	if (ret)
		goto err_uar;
	ret = eadm_ctx_publish(&dev->adapter, &ctx->base);
	if (ret)
		goto err_uars;
	ret = answer(dev, udata);
	if (ret)
		goto err_table;
	eadm_count(&dev->adapter, EADM_CNT_CTX_ALLOCS);
	return 0;

err_table:
	eadm_ctx_unpublish(&dev->adapter, &ctx->base);
err_uars:
	eadm_table_remove(&dev->uars, ctx->uar, &ctx->uar_obj);
err_uar:
	put_uar(dev, ctx);
err_maps:
	mutex_destroy(&ctx->db_lock);
	eadm_maps_put(ctx->base.maps);
err:
	eadm_count(&dev->adapter, EADM_CNT_CTX_ALLOC_FAILURES);
	return ret;
}

/**
 * efa_dealloc_ucontext() - verb: a process closes the device
 * @ibctx: the context; all its objects are gone
 *
 * Context: process.
 */
void efa_dealloc_ucontext(struct ib_ucontext *ibctx)
{
	struct efa_dev *dev = to_efa_dev(ibctx->device);
	struct efa_ctx *ctx = to_efa_ctx(ibctx);

	eadm_ctx_unpublish(&dev->adapter, &ctx->base);
	eadm_table_remove(&dev->uars, ctx->uar, &ctx->uar_obj);
	/* All entries are gone. */
	eadm_maps_put(ctx->base.maps);
	mutex_destroy(&ctx->db_lock);
	put_uar(dev, ctx);
	eadm_count(&dev->adapter, EADM_CNT_CTX_DEALLOCS);
}
