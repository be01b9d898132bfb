// SPDX-License-Identifier: GPL-2.0-only
/* Contexts of processes, and the rows of contexts and PDs. */

#include "adapter.h"
#include "context.h"
#include "provider.h"
#include "rows.h"

/**
 * eadm_ctx_publish() - make a complete context visible
 * @ad: the adapter
 * @ctx: the context
 *
 * Context: process.
 * Return: 0, -ENOMEM, or -ENOSPC.
 */
int eadm_ctx_publish(struct eadm_adapter *ad, struct eadm_ctx *ctx)
{
	int ret = eadm_table_add(&ad->ctxs, &ctx->ctxn, &ctx->obj);

	/* Pairs with eadm_ctxs_leave(). */
	if (!ret && READ_ONCE(ad->leaving))
		eadm_maps_end(ctx->maps);
	return ret;
}

/**
 * eadm_ctx_unpublish() - hide a context, and take device memory from its processes
 * @ad: the adapter
 * @ctx: the context, whose mappings outlive it if the device is removed
 *
 * Context: process.
 */
void eadm_ctx_unpublish(struct eadm_adapter *ad, struct eadm_ctx *ctx)
{
	eadm_table_remove(&ad->ctxs, ctx->ctxn, &ctx->obj);
	eadm_maps_end(ctx->maps);
}

/**
 * eadm_ctxs_zap() - take device memory from all contexts that the adapter no longer serves
 * @ad: the adapter
 *
 * After a reset the adapter hands it out again. Processes then write to a dummy page, as after
 * a removal. A context that is created meanwhile belongs to the new epoch, or its mmap() fails.
 *
 * Context: process; the epoch was raised, or the driver leaves.
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
 * eadm_ctxs_leave() - the device is about to be removed: take device memory from all contexts
 * @ad: the adapter
 *
 * The RDMA core destroys the QPs of processes first, which go on and must not get SIGBUS for
 * what they did not do.
 *
 * Context: process.
 */
void eadm_ctxs_leave(struct eadm_adapter *ad)
{
	/* Either this finds a context in the table, or eadm_ctx_publish() sees the flag. */
	WRITE_ONCE(ad->leaving, true);
	eadm_ctxs_zap(ad);
}

/**
 * eadm_ctx_disassociate() - verb: the device is removed while a process uses it
 * @ibctx: the context
 *
 * The RDMA core has destroyed the objects and frees the context. Device memory was taken from
 * its processes before (eadm_ctxs_leave()), or is when the context is freed; rings that are
 * mapped belong to the process from then on. The mere existence of this callback lets removal
 * proceed while contexts are open.
 *
 * Context: process.
 */
void eadm_ctx_disassociate(struct ib_ucontext *ibctx)
{
}

/**
 * eadm_ctx_row_fill() - fill in what a context has in any family
 * @ctx: the context
 * @s: its row
 */
void eadm_ctx_row_fill(const struct eadm_ctx *ctx, struct eadm_snap_ctx *s)
{
	SNAP_SET(s, ctxn, ctx->ctxn);
	SNAP_SET(s, qps, atomic_read(&ctx->qps));
	SNAP_SET(s, cqs, atomic_read(&ctx->cqs));
	SNAP_SET(s, mrs, atomic_read(&ctx->mrs));
	SNAP_SET(s, pds, atomic_read(&ctx->pds));
	SNAP_SET(s, age, eadm_age(ctx->obj.created));
}

static int pd_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct eadm_pd *pd = container_of(obj, struct eadm_pd, obj);
	struct eadm_snap_pd *s = snap;

	SNAP_SET(s, pdn, pd->pdn);
	SNAP_SET(s, users, atomic_read(&pd->ibpd.usecnt));
	/* The key is for the kernel, which cannot use each adapter. */
	if (dd->ibdev->kverbs_provider)
		SNAP_SET(s, local_dma_lkey, dd->ibdev->local_dma_lkey);
	SNAP_SET(s, age, eadm_age(pd->obj.created));
	if (pd->ctx)
		SNAP_SET(s, ctxn, pd->ctx->ctxn);
	return 0;
}

const struct eadm_diag_obj eadm_diag_pd = {
	.type = EADM_OBJ_PD,
	.next = eadm_pd_row_next,
	.put = eadm_put_object,
	.res = eadm_object_res,
	.fill = pd_fill,
};
