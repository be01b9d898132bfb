// SPDX-License-Identifier: GPL-2.0-only
/* User contexts (hw 12.2), and data exchange with providers. */

#include <rdma/uverbs_ioctl.h>

#include "abi.h"
#include "efa.h"

/* Checks that the provider supports the adapter's restrictions. */
static int check_provider(const struct efa_dev *dev, struct ib_udata *udata)
{
	const struct efa_queue_attr *q = &dev->caps.queue;
	struct efa_ureq_alloc_ctx req = {};
	int ret;

	/* Other capabilities announced by newer providers are ignored. */
	ret = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (ret)
		return ret;
	if ((q->max_tx_batch && !(req.mask & EFA_UREQ_TX_BATCH)) ||
	    (q->min_sq_depth && !(req.mask & EFA_UREQ_MIN_SQ))) {
		ibdev_warn_ratelimited(&dev->adapter.ibdev, "%s uses an rdma-core provider that is too old\n",
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

	return eadm_udata_write(udata, &resp, sizeof(resp));
}

/* Frees the UAR, unless the adapter has lost it. */
static void put_uar(struct efa_dev *dev, const struct efa_ctx *ctx)
{
	eadm_object_ended(&dev->adapter, &ctx->base.obj, efa_cmd_dealloc_uar(dev, ctx),
			  "deallocate UAR", ctx->uar);
}

/**
 * efa_ctx_begin() - &eadm_adapter_ops.ctx_begin
 * @ad: the adapter
 * @base: the context
 * @udata: the provider's capabilities
 */
int efa_ctx_begin(struct eadm_adapter *ad, struct eadm_ctx *base, struct ib_udata *udata)
{
	struct efa_ctx *ctx = to_efa_ctx(&base->ibctx);
	struct efa_dev *dev = adapter_to_efa(ad);
	u32 epoch;
	int ret;

	ret = check_provider(dev, udata);
	if (!ret)
		ret = efa_cmd_alloc_uar(dev, ctx, &epoch);
	if (ret)
		return ret;
	mutex_init(&ctx->db_lock);
	eadm_object_init(&base->obj, epoch, &base->ibctx.res);
	eadm_object_init(&ctx->uar_obj, epoch, &base->ibctx.res);
	ret = eadm_table_add_at(&dev->uars, ctx->uar, &ctx->uar_obj);
	if (ret) {
		put_uar(dev, ctx);
		return ret;
	}
	ret = answer(dev, udata);
	if (ret)
		efa_ctx_end(ad, base);
	return ret;
}

/**
 * efa_ctx_end() - &eadm_adapter_ops.ctx_end
 * @ad: the adapter
 * @base: the context
 */
void efa_ctx_end(struct eadm_adapter *ad, struct eadm_ctx *base)
{
	struct efa_ctx *ctx = to_efa_ctx(&base->ibctx);
	struct efa_dev *dev = adapter_to_efa(ad);

	eadm_table_remove(&dev->uars, ctx->uar, &ctx->uar_obj);
	mutex_destroy(&ctx->db_lock);
	put_uar(dev, ctx);
}
