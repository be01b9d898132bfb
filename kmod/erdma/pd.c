// SPDX-License-Identifier: GPL-2.0-only
/* Protection domains, which are only numbers to the adapter. */

#include <rdma/uverbs_ioctl.h>

#include "erdma.h"

static int alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct erdma_dev *dev = to_erdma_dev(ibpd->device);
	struct eadm_pd *pd = to_eadm_pd(ibpd);
	int ret;

	ret = eadm_table_reserve(&dev->adapter.pds, &pd->pdn);
	if (ret)
		return ret;
	pd->ctx = rdma_udata_to_drv_context(udata, struct eadm_ctx, ibctx);
	if (pd->ctx)
		atomic_inc(&pd->ctx->pds);
	eadm_object_init(&pd->obj, READ_ONCE(dev->adapter.epoch), &ibpd->res);
	eadm_table_publish(&dev->adapter.pds, pd->pdn, &pd->obj);
	eadm_count(&dev->adapter, EADM_CNT_PD_ALLOCS);
	return 0;
}

static int dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct erdma_dev *dev = to_erdma_dev(ibpd->device);
	struct eadm_pd *pd = to_eadm_pd(ibpd);

	eadm_table_unpublish(&dev->adapter.pds, pd->pdn, &pd->obj);
	eadm_table_release(&dev->adapter.pds, pd->pdn);
	if (pd->ctx)
		atomic_dec(&pd->ctx->pds);
	eadm_count(&dev->adapter, EADM_CNT_PD_DEALLOCS);
	return 0;
}

const struct ib_device_ops erdma_pd_ops = {
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
};
