// SPDX-License-Identifier: GPL-2.0-only
/* User contexts and their doorbell pages (hw 9.3, 4.11). */

#include <linux/bitfield.h>
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "abi.h"
#include "erdma.h"

/* Creates the mapping of a doorbell page for processes of the context. */
static struct eadm_map *map_create(struct erdma_ctx *ctx, u64 offset)
{
	struct erdma_dev *dev = to_erdma_dev(ctx->base.ibctx.device);

	return eadm_map_create(ctx->base.maps, &ctx->base.ibctx, dev->bar_addr + offset, 1, false);
}

/*
 * The adapter is not trusted to choose where users may write. Mappings are whole CPU pages, which
 * must not begin before the doorbell page.
 */
static bool db_page_is_sane(struct erdma_dev *dev, u64 offset)
{
	return offset >= ERDMA_REGS_SIZE && offset + PAGE_SIZE <= dev->bar_len &&
	       !((dev->bar_addr + offset) & (PAGE_SIZE - 1));
}

/**
 * erdma_sdbs_init() - split the SQ doorbell space for direct work requests
 * @dev: the device, started
 *
 * The first pages are for one context each, the next pages contain entries for one context each,
 * and all other contexts share the last page (hw 6.7).
 */
void erdma_sdbs_init(struct erdma_dev *dev)
{
	struct erdma_sdbs *sdbs = &dev->sdbs;
	u32 groups = readl(dev->adapter.bar + ERDMA_REG_GRP_NUM), total;

	ida_init(&sdbs->pages);
	ida_init(&sdbs->entries);
	if (groups >= ERDMA_GRP_NUM_MAX) {
		sdbs->nr_pages = ERDMA_MAX_SDB_PAGES;
		sdbs->nr_entries = ERDMA_MAX_SDB_ENTRY_PAGES * ERDMA_SDB_ENTRIES_PER_PAGE;
	} else if (groups >= ERDMA_GRP_NUM_MIN) {
		total = groups * ERDMA_PAGES_PER_GRP;
		sdbs->nr_pages = total - total / 3 - 1;
		sdbs->nr_entries = total / 3 * ERDMA_SDB_ENTRIES_PER_PAGE;
	}
}

/*
 * Returns the offset in BAR 0 of the context's SQ doorbells, with direct work requests if there is
 * room.
 */
static u64 sdb_get(struct erdma_dev *dev, struct erdma_ctx *ctx)
{
	struct erdma_sdbs *sdbs = &dev->sdbs;
	int index = -ENOSPC;

	if (sdbs->nr_pages)
		index = ida_alloc_max(&sdbs->pages, sdbs->nr_pages - 1, GFP_KERNEL);
	if (index >= 0) {
		ctx->sdb_type = ERDMA_SDB_PAGE;
		ctx->sdb_index = index;
		return ERDMA_BAR_SQDB + index * ERDMA_HW_PAGE_SIZE;
	}
	if (sdbs->nr_entries)
		index = ida_alloc_max(&sdbs->entries, sdbs->nr_entries - 1, GFP_KERNEL);
	if (index >= 0) {
		ctx->sdb_type = ERDMA_SDB_ENTRY;
		ctx->sdb_index = index;
		return ERDMA_BAR_SQDB + (sdbs->nr_pages + index / ERDMA_SDB_ENTRIES_PER_PAGE) *
		       ERDMA_HW_PAGE_SIZE;
	}
	ctx->sdb_type = ERDMA_SDB_SHARED;
	return ERDMA_BAR_SQDB_SHARED;
}

static void sdb_put(struct erdma_dev *dev, const struct erdma_ctx *ctx)
{
	if (ctx->sdb_type == ERDMA_SDB_PAGE)
		ida_free(&dev->sdbs.pages, ctx->sdb_index);
	else if (ctx->sdb_type == ERDMA_SDB_ENTRY)
		ida_free(&dev->sdbs.entries, ctx->sdb_index);
}

/* Determines the offsets in BAR 0 of the pages for SQ, RQ and CQ doorbells. */
static int db_pages_get(struct erdma_dev *dev, struct erdma_ctx *ctx, u64 offset[3])
{
	int ret;

	if (!(dev->caps.flags & ERDMA_FLAG_EXTEND_DB)) {
		/*
		 * The adapter's pages are 4 KiB; a larger CPU page would contain registers, too.
		 */
		if (PAGE_SIZE != ERDMA_HW_PAGE_SIZE)
			return -EOPNOTSUPP;
		/* Contexts share the other pages, so they are not isolated from each other. */
		if (!capable(CAP_SYS_RAWIO))
			return -EPERM;
		offset[0] = sdb_get(dev, ctx);
		offset[1] = ERDMA_BAR_RQDB;
		offset[2] = ERDMA_BAR_CQDB;
		return 0;
	}
	ret = erdma_cmd_alloc_db(dev, ctx);
	if (ret)
		return ret;
	ctx->db_allocated = true;
	ctx->sdb_type = ERDMA_SDB_PAGE;
	/* Caution (hw 4.11): the page named "cdb" receives RQ doorbells. */
	offset[0] = FIELD_GET(ERDMA_ALLOC_DB_SDB, ctx->db_pages) << PAGE_SHIFT;
	offset[1] = FIELD_GET(ERDMA_ALLOC_DB_CDB, ctx->db_pages) << PAGE_SHIFT;
	offset[2] = FIELD_GET(ERDMA_ALLOC_DB_RDB, ctx->db_pages) << PAGE_SHIFT;
	return 0;
}

static void db_pages_put(struct erdma_dev *dev, struct erdma_ctx *ctx)
{
	int ret;

	eadm_map_remove(ctx->cdb);
	eadm_map_remove(ctx->rdb);
	eadm_map_remove(ctx->sdb);
	if (!ctx->db_allocated) {
		sdb_put(dev, ctx);
		return;
	}
	if (eadm_object_is_dead(&dev->adapter, &ctx->base.obj))
		return;
	ret = erdma_cmd_free_db(dev, ctx);
	if (ret && !eadm_object_is_dead(&dev->adapter, &ctx->base.obj))
		ibdev_warn_ratelimited(&dev->adapter.ibdev, "failed to free doorbell pages %#llx: %d\n",
				       ctx->db_pages, ret);
}

/**
 * erdma_ctx_begin() - &eadm_adapter_ops.ctx_begin
 * @ad: the adapter
 * @base: the context
 * @udata: the response with the context's doorbell pages
 */
int erdma_ctx_begin(struct eadm_adapter *ad, struct eadm_ctx *base, struct ib_udata *udata)
{
	struct erdma_ctx *ctx = to_erdma_ctx(&base->ibctx);
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct erdma_uresp_alloc_ctx resp = { .dev_id = dev->pdev->device };
	u64 offset[3];
	int ret, i;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	mutex_init(&ctx->dbpage_lock);
	xa_init(&ctx->dbpages);
	eadm_object_init(&base->obj, READ_ONCE(ad->epoch), &base->ibctx.res);
	ret = db_pages_get(dev, ctx, offset);
	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(offset); i++) {
		if (!db_page_is_sane(dev, offset[i])) {
			ibdev_err(&ad->ibdev, "invalid doorbell page at %#llx of BAR 0\n",
				  offset[i]);
			ret = -EIO;
			goto err;
		}
	}
	ret = -ENOMEM;
	ctx->sdb = map_create(ctx, offset[0]);
	ctx->rdb = map_create(ctx, offset[1]);
	ctx->cdb = map_create(ctx, offset[2]);
	if (!ctx->sdb || !ctx->rdb || !ctx->cdb)
		goto err;
	resp.sdb_type = ctx->sdb_type;
	if (ctx->sdb_type == ERDMA_SDB_ENTRY)
		resp.sdb_entry = ctx->sdb_index % ERDMA_SDB_ENTRIES_PER_PAGE;
	resp.sdb = eadm_map_key(ctx->sdb);
	resp.rdb = eadm_map_key(ctx->rdb);
	resp.cdb = eadm_map_key(ctx->cdb);
	ret = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (!ret)
		return 0;
err:
	erdma_ctx_end(ad, base);
	return ret;
}

/**
 * erdma_ctx_end() - &eadm_adapter_ops.ctx_end
 * @ad: the adapter
 * @base: the context
 */
void erdma_ctx_end(struct eadm_adapter *ad, struct eadm_ctx *base)
{
	struct erdma_ctx *ctx = to_erdma_ctx(&base->ibctx);

	db_pages_put(adapter_to_erdma(ad), ctx);
	xa_destroy(&ctx->dbpages);
	mutex_destroy(&ctx->dbpage_lock);
}

static int map_doorbells(struct ib_ucontext *ibctx, struct vm_area_struct *vma)
{
	struct erdma_dev *dev = to_erdma_dev(ibctx->device);
	struct erdma_ctx *ctx = to_erdma_ctx(ibctx);
	struct rdma_user_mmap_entry *entry;
	int ret = -EIO;

	entry = rdma_user_mmap_entry_get(ibctx, vma);
	if (!entry)
		return -EINVAL;
	/* The process would see only a dummy page; fail while an error can still be returned. */
	if (!eadm_object_is_dead(&dev->adapter, &ctx->base.obj))
		ret = eadm_map_mmap(to_eadm_map(entry), vma, pgprot_device(vma->vm_page_prot));
	rdma_user_mmap_entry_put(entry);
	return ret;
}

const struct ib_device_ops erdma_mmap_ops = {
	.mmap = map_doorbells,
	.mmap_free = eadm_map_free,
};
