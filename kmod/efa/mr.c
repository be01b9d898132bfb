// SPDX-License-Identifier: GPL-2.0-only
/* Memory regions of processes (hw 4.6, 6). */

#include <linux/overflow.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "efa.h"

static int check(const struct efa_dev *dev, u64 length, u64 virt, int access)
{
	int allowed = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_OPTIONAL;
	u64 last;

	if (dev->caps.flags & EFA_DEV_CAP_RDMA_READ)
		allowed |= IB_ACCESS_REMOTE_READ;
	if (dev->caps.flags & EFA_DEV_CAP_RDMA_WRITE)
		allowed |= IB_ACCESS_REMOTE_WRITE;
	if (access & ~allowed)
		return -EOPNOTSUPP;
	return length && !check_add_overflow(virt, length - 1, &last) ? 0 : -EINVAL;
}

/**
 * efa_check_mr() - &eadm_adapter_ops.check_mr
 * @ad: the adapter
 * @length: bytes
 * @virt: address used in work requests
 * @access: verbs access flags
 * @udata: the provider's request
 */
int efa_check_mr(struct eadm_adapter *ad, u64 length, u64 virt, int access, struct ib_udata *udata)
{
	int ret = eadm_udata_read(udata, NULL, 0, 0);

	return ret ? ret : check(adapter_to_efa(ad), length, virt, access);
}

/* Takes ownership of the pinned memory, also on failure. */
static struct efa_mr *mr_alloc(struct ib_pd *ibpd, struct ib_umem *umem,
			       struct ib_udata *udata)
{
	struct eadm_pd *pd = to_eadm_pd(ibpd);
	struct efa_mr *mr;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr) {
		ib_umem_release(umem);
		return NULL;
	}
	mr->mem.umem = umem;
	mr->mem.epoch = pd->obj.epoch;
	mr->ctx = rdma_udata_to_drv_context(udata, struct efa_ctx, base.ibctx);
	mr->ibmr.pd = ibpd;
	mr->ibmr.device = ibpd->device;
	eadm_object_init(&mr->obj, pd->obj.epoch, &mr->ibmr.res);
	return mr;
}

static struct efa_list *list_pages(struct efa_mr *mr, unsigned long page_size)
{
	struct ib_block_iter block;
	struct efa_list *list;
	__le64 *page;
	u32 i = 0;

	list = efa_list_alloc(mr->pages * sizeof(*page));
	if (!list)
		return NULL;
	page = list->va;
	rdma_umem_for_each_dma_block(mr->mem.umem, &block, page_size)
		page[i++] = cpu_to_le64(rdma_block_iter_dma_address(&block));
	return list;
}

static int set_pages(struct efa_dev *dev, struct efa_mr *mr, unsigned long *page_size)
{
	unsigned long sizes = le64_to_cpu(dev->caps.device.page_sizes);
	size_t pages;

	*page_size = ib_umem_find_best_pgsz(mr->mem.umem, sizes, mr->iova);
	if (!*page_size)
		return -EOPNOTSUPP;
	pages = ib_umem_num_dma_blocks(mr->mem.umem, *page_size);
	if (pages > le32_to_cpu(dev->caps.queue.max_mr_pages))
		return -EINVAL;
	mr->page_shift = order_base_2(*page_size);
	mr->pages = pages;
	return 0;
}

static bool end(struct efa_dev *dev, struct efa_mr *mr)
{
	return eadm_object_ended(&dev->adapter, &mr->obj, efa_cmd_dereg_mr(dev, mr),
				 "deregister MR", mr->mrn);
}

/* Registers the MR in the adapter; retires the memory on error. */
static int begin(struct efa_dev *dev, struct efa_mr *mr)
{
	struct efa_list *list = NULL;
	unsigned long page_size;
	bool done = true;
	int ret;

	ret = set_pages(dev, mr, &page_size);
	if (ret)
		goto err;
	ret = -ENOMEM;
	/* A few addresses fit into the command; more need a list for the adapter to read. */
	if (mr->pages > EFA_MR_INLINE_PAGES) {
		list = list_pages(mr, page_size);
		if (!list || efa_list_map(dev, list))
			goto err;
	}
	ret = efa_cmd_reg_mr(dev, mr, &list, &done);
	if (ret)
		goto err;
	ret = eadm_table_add(&dev->adapter.mrs, &mr->mrn, &mr->obj);
	if (ret) {
		done = end(dev, mr);
		goto err;
	}
	efa_list_free(dev, list);
	return 0;

err:
	efa_list_free(dev, list);
	efa_mem_retire(dev, &mr->mem, done);
	return ret;
}

/**
 * efa_reg_mr() - &eadm_adapter_ops.reg_mr
 * @ibpd: the PD
 * @umem: pinned memory; ownership is taken, also on failure
 * @dmabuf: the memory belongs to a different device
 * @length: bytes
 * @virt: address used in work requests
 * @access: verbs access flags
 * @udata: leads to the process's context
 */
struct ib_mr *efa_reg_mr(struct ib_pd *ibpd, struct ib_umem *umem, bool dmabuf, u64 length,
			 u64 virt, int access, struct ib_udata *udata)
{
	struct efa_dev *dev = to_efa_dev(ibpd->device);
	struct efa_mr *mr;
	int ret = -ENOMEM;

	mr = mr_alloc(ibpd, umem, udata);
	if (!mr)
		goto err;
	mr->dmabuf = dmabuf;
	mr->access = access;
	mr->iova = virt;
	mr->length = length;
	ret = begin(dev, mr);
	if (ret) {
		kfree(mr);
		goto err;
	}
	atomic_inc(&mr->ctx->base.mrs);
	eadm_count(&dev->adapter, EADM_CNT_MR_REGISTERS);
	efa_debug(dev, mr, "MR %u: registered, %llu bytes, access %#x\n", mr->mrn, length, access);
	return &mr->ibmr;

err:
	eadm_count(&dev->adapter, EADM_CNT_MR_REGISTER_FAILURES);
	efa_debug(dev, mr, "cannot register an MR: %d\n", ret);
	return ERR_PTR(ret);
}

/* Memory that the adapter has not released is kept until a reset. */
static int dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct efa_dev *dev = to_efa_dev(ibmr->device);
	struct efa_mr *mr = to_efa_mr(ibmr);
	bool done;

	done = end(dev, mr);
	efa_debug(dev, mr, "MR %u: deregistered%s\n", mr->mrn, done ? "" : "; its memory is kept");
	eadm_table_remove(&dev->adapter.mrs, mr->mrn, &mr->obj);
	atomic_dec(&mr->ctx->base.mrs);
	efa_mem_retire(dev, &mr->mem, done);
	kfree(mr);
	eadm_count(&dev->adapter, EADM_CNT_MR_DEREGISTERS);
	return 0;
}

const struct ib_device_ops efa_mr_ops = {
	.dereg_mr = dereg_mr,
};
