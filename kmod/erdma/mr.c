// SPDX-License-Identifier: GPL-2.0-only
/* Memory regions (hw 4.9, 5). */

#include <linux/bitfield.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "erdma.h"

#define PAGE_SIZES	(SZ_1G | (SZ_1G - SZ_4K))
#define FRMR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)

static bool scattered(struct erdma_dev *dev)
{
	return dev->caps.flags & ERDMA_FLAG_MTT_VA;
}

static struct erdma_mr *mr_alloc(struct ib_pd *ibpd, enum erdma_mr_type type, int access,
				 struct ib_udata *udata)
{
	struct erdma_dev *dev = to_erdma_dev(ibpd->device);
	struct erdma_mr *mr;
	int ret = -ENOMEM;
	u8 key;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		goto err;
	mr->mem = erdma_hostmem_alloc(&dev->adapter.mrs, READ_ONCE(dev->adapter.epoch));
	if (!mr->mem)
		goto err_mr;
	ret = eadm_table_reserve(&dev->adapter.mrs, &mr->mpt);
	if (ret)
		goto err_mem;
	mr->mem->id = mr->mpt;
	mr->type = type;
	mr->access = access;
	mr->ctx = rdma_udata_to_drv_context(udata, struct erdma_ctx, base.ibctx);
	mr->ibmr.pd = ibpd;
	mr->ibmr.device = ibpd->device;
	/*
	 * The index is public and the key is secret, so the key must not be derivable from the
	 * index.
	 */
	get_random_bytes(&key, sizeof(key));
	mr->ibmr.lkey = FIELD_PREP(ERDMA_STAG_INDEX, mr->mpt) | FIELD_PREP(ERDMA_STAG_KEY, key);
	mr->ibmr.rkey = mr->ibmr.lkey;
	eadm_object_init(&mr->obj, mr->mem->kept.epoch, &mr->ibmr.res);
	return mr;

err_mem:
	erdma_hostmem_free(dev, mr->mem);
err_mr:
	kfree(mr);
err:
	eadm_count(&dev->adapter, EADM_CNT_MR_REGISTER_FAILURES);
	return ERR_PTR(ret);
}

/* Undoes mr_alloc() and later additions to the memory. */
static struct ib_mr *mr_fail(struct erdma_dev *dev, struct erdma_mr *mr, bool done, int ret)
{
	erdma_hostmem_retire(dev, mr->mem, done);
	kfree(mr);
	eadm_count(&dev->adapter, EADM_CNT_MR_REGISTER_FAILURES);
	erdma_debug(dev, mr, "cannot register an MR: %d\n", ret);
	return ERR_PTR(ret);
}

static struct ib_mr *mr_register(struct erdma_dev *dev, struct erdma_mr *mr)
{
	bool done;
	int ret;

	ret = erdma_cmd_reg_mr(dev, mr);
	/* The effect of a lost command is unknown. */
	if (ret) {
		done = ret == -EIO || (ret == -ETIMEDOUT && erdma_mr_end(dev, mr));
		return mr_fail(dev, mr, done, ret);
	}
	if (mr->ctx)
		atomic_inc(&mr->ctx->base.mrs);
	eadm_table_publish(&dev->adapter.mrs, mr->mpt, &mr->obj);
	eadm_count(&dev->adapter, EADM_CNT_MR_REGISTERS);
	erdma_debug(dev, mr, "MR %u: registered, %llu bytes, access %#x\n", mr->mpt, mr->length,
		    mr->access);
	return &mr->ibmr;
}

/* Allocates an MR that covers all DMA addresses. */
static struct ib_mr *get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct erdma_mr *mr = mr_alloc(ibpd, ERDMA_MR_DMA, access, NULL);

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->valid = true;
	return mr_register(to_erdma_dev(ibpd->device), mr);
}

/* Allocates an MR for fast registration. */
static struct ib_mr *alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg)
{
	struct erdma_dev *dev = to_erdma_dev(ibpd->device);
	struct erdma_mr *mr;
	int ret;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > ERDMA_MAX_ALLOC_MR_PAGES)
		return ERR_PTR(-EINVAL);
	mr = mr_alloc(ibpd, ERDMA_MR_FRMR, FRMR_ACCESS, NULL);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	/* Always use a table, as the work request refers to it. */
	ret = erdma_mtt_alloc(dev, &mr->mem->area[0].mtt, max_num_sg, PAGE_SHIFT, 0,
			      scattered(dev));
	if (ret)
		return mr_fail(dev, mr, true, ret);
	return mr_register(dev, mr);
}

static int set_page(struct ib_mr *ibmr, u64 addr)
{
	struct erdma_mr *mr = to_erdma_mr(ibmr);
	struct erdma_mtt *mtt = &mr->mem->area[0].mtt;

	if (mr->filled >= mtt->count)
		return -ENOMEM;
	erdma_mtt_set(mtt, mr->filled++, addr);
	return 0;
}

/* Sets the memory that a fast-registration MR will cover. Returns the number of mapped entries. */
static int map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		     unsigned int *sg_offset)
{
	struct erdma_mr *mr = to_erdma_mr(ibmr);
	int n;

	if (mr->type != ERDMA_MR_FRMR || ibmr->page_size != PAGE_SIZE)
		return -EINVAL;
	mr->filled = 0;
	n = ib_sg_to_pages(ibmr, sg, sg_nents, sg_offset, set_page);
	erdma_mtt_sync(to_erdma_dev(ibmr->device), &mr->mem->area[0].mtt);
	return n;
}

/**
 * erdma_mr_invalidated() - record that a fast-registration MR has been invalidated
 * @dev: the device
 * @stag: key of the MR; need not belong to an MR
 *
 * Called during posting and polling of all queues, so it takes no lock.
 *
 * Context: any.
 */
void erdma_mr_invalidated(struct erdma_dev *dev, u32 stag)
{
	struct eadm_object *obj;
	struct erdma_mr *mr;

	rcu_read_lock();
	obj = eadm_table_peek(&dev->adapter.mrs, FIELD_GET(ERDMA_STAG_INDEX, stag));
	mr = obj ? container_of(obj, struct erdma_mr, obj) : NULL;
	if (mr && mr->type == ERDMA_MR_FRMR)
		WRITE_ONCE(mr->valid, false);
	rcu_read_unlock();
}

/* Takes ownership of the pinned memory, also on failure. */
static int translate(struct erdma_dev *dev, struct erdma_mr *mr, struct ib_umem *umem)
{
	struct erdma_area *area = &mr->mem->area[0];
	unsigned long page_size;

	area->umem = umem;
	page_size = ib_umem_find_best_pgsz(umem, PAGE_SIZES, mr->iova);
	if (!page_size)
		return -EINVAL;
	/* There is no room for a 64-bit length in a command with inline entries. */
	return erdma_mtt_from_umem(dev, &area->mtt, umem, page_size,
				   mr->length > U32_MAX ? 0 : ERDMA_MR_INLINE_MTT,
				   scattered(dev));
}

/**
 * erdma_check_mr() - &eadm_adapter_ops.check_mr
 * @ad: the adapter
 * @length: bytes
 * @virt: not used
 * @access: verbs access flags
 * @udata: not used
 */
int erdma_check_mr(struct eadm_adapter *ad, u64 length, u64 virt, int access,
		   struct ib_udata *udata)
{
	const struct erdma_dev *dev = adapter_to_erdma(ad);

	if (!length || length > dev->caps.max_mr_size)
		return -EINVAL;
	if (access & IB_ACCESS_REMOTE_ATOMIC && !(dev->caps.flags & ERDMA_FLAG_ATOMIC))
		return -EOPNOTSUPP;
	if (access & (IB_ACCESS_ON_DEMAND | IB_ZERO_BASED | IB_ACCESS_MW_BIND))
		return -EOPNOTSUPP;
	return 0;
}

/**
 * erdma_reg_mr() - &eadm_adapter_ops.reg_mr
 * @ibpd: the PD
 * @umem: pinned memory; ownership is taken, also on failure
 * @dmabuf: not used
 * @length: bytes
 * @virt: address used in work requests
 * @access: verbs access flags
 * @udata: leads to the process's context
 */
struct ib_mr *erdma_reg_mr(struct ib_pd *ibpd, struct ib_umem *umem, bool dmabuf, u64 length,
			   u64 virt, int access, struct ib_udata *udata)
{
	struct erdma_dev *dev = to_erdma_dev(ibpd->device);
	struct erdma_mr *mr;
	int ret;

	mr = mr_alloc(ibpd, ERDMA_MR_NORMAL, access, udata);
	if (IS_ERR(mr)) {
		ib_umem_release(umem);
		return ERR_CAST(mr);
	}
	mr->iova = virt;
	mr->length = length;
	mr->valid = true;
	ret = translate(dev, mr, umem);
	if (ret)
		return mr_fail(dev, mr, true, ret);
	return mr_register(dev, mr);
}

/* Memory that the adapter has not released is kept until a reset. */
static int dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct erdma_dev *dev = to_erdma_dev(ibmr->device);
	struct erdma_mr *mr = to_erdma_mr(ibmr);
	bool done;

	done = erdma_mr_end(dev, mr);
	erdma_debug(dev, mr, "MR %u: deregistered%s\n", mr->mpt,
		    done ? "" : "; its memory is kept");
	eadm_table_unpublish(&dev->adapter.mrs, mr->mpt, &mr->obj);
	if (mr->ctx)
		atomic_dec(&mr->ctx->base.mrs);
	erdma_hostmem_retire(dev, mr->mem, done);
	kfree_rcu(mr, rcu);
	eadm_count(&dev->adapter, EADM_CNT_MR_DEREGISTERS);
	return 0;
}

const struct ib_device_ops erdma_mr_ops = {
	.alloc_mr = alloc_mr,
	.dereg_mr = dereg_mr,
	.get_dma_mr = get_dma_mr,
	.map_mr_sg = map_mr_sg,
};
