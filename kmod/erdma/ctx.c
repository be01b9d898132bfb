// SPDX-License-Identifier: GPL-2.0-only
/* User contexts and their doorbell pages (hw 9.3, 4.11). */

#include <linux/bitfield.h>
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "abi.h"
#include "erdma.h"

/* A page of doorbells that processes of the context may map. */
static struct erdma_mmap_entry *entry_insert(struct erdma_ctx *ctx, u64 bar_offset)
{
	struct erdma_dev *dev = to_erdma_dev(ctx->ibctx.device);
	struct erdma_mmap_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return NULL;
	entry->bar_offset = bar_offset;
	entry->map = eadm_map_create(ctx->maps, dev->bar_addr + bar_offset, 1, false);
	if (!entry->map)
		goto err;
	if (!eadm_map_insert(entry->map, &ctx->ibctx, &entry->rdma_entry))
		return entry;
	eadm_map_revoke(entry->map);
	eadm_map_put(entry->map);
err:
	kfree(entry);
	return NULL;
}

static void entry_remove(struct erdma_mmap_entry *entry)
{
	if (!entry)
		return;
	/* Before the entry goes, which may be what holds it. */
	eadm_map_revoke(entry->map);
	rdma_user_mmap_entry_remove(&entry->rdma_entry);
}

/*
 * The adapter is not trusted about where users may write. Mappings are whole
 * pages of the CPU's size, which must not begin before the doorbell page.
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
 * First come pages for one context each, then pages whose entries are for one
 * context each; all other contexts share the last page (hw 6.7).
 */
void erdma_sdbs_init(struct erdma_dev *dev)
{
	struct erdma_sdbs *sdbs = &dev->sdbs;
	u32 groups = erdma_hw_grp_num(dev), total;

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

/* Where in BAR 0 the context may ring its SQs, with direct work requests if there is room. */
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

/* Offsets in BAR 0 of the pages for SQ, RQ and CQ doorbells. */
static int db_pages_get(struct erdma_dev *dev, struct erdma_ctx *ctx, u64 offset[3])
{
	int ret;

	if (!(dev->caps.flags & ERDMA_FLAG_EXTEND_DB)) {
		/*
		 * The adapter's pages are 4 KiB; a larger page of the CPU's would contain
		 * registers, too.
		 */
		if (PAGE_SIZE != ERDMA_HW_PAGE_SIZE)
			return -EOPNOTSUPP;
		/* Contexts share the other pages: no isolation. */
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
	/* Swap trap (hw 4.11): the page named "cdb" takes RQ doorbells. */
	offset[0] = FIELD_GET(ERDMA_ALLOC_DB_SDB, ctx->db_pages) << PAGE_SHIFT;
	offset[1] = FIELD_GET(ERDMA_ALLOC_DB_CDB, ctx->db_pages) << PAGE_SHIFT;
	offset[2] = FIELD_GET(ERDMA_ALLOC_DB_RDB, ctx->db_pages) << PAGE_SHIFT;
	return 0;
}

static void db_pages_put(struct erdma_dev *dev, struct erdma_ctx *ctx)
{
	int ret;

	entry_remove(ctx->cdb);
	entry_remove(ctx->rdb);
	entry_remove(ctx->sdb);
	if (!ctx->db_allocated) {
		sdb_put(dev, ctx);
		return;
	}
	if (eadm_object_is_dead(&dev->adapter, &ctx->obj))
		return;
	ret = erdma_cmd_free_db(dev, ctx);
	if (ret && !eadm_object_is_dead(&dev->adapter, &ctx->obj))
		ibdev_warn_ratelimited(&dev->ibdev, "doorbell pages %#llx could not be freed: %d\n",
				       ctx->db_pages, ret);
}

static int ctx_init(struct erdma_dev *dev, struct erdma_ctx *ctx, struct ib_udata *udata)
{
	struct erdma_uresp_alloc_ctx resp = { .dev_id = dev->pdev->device };
	u64 offset[3];
	int ret, i;

	ret = db_pages_get(dev, ctx, offset);
	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(offset); i++) {
		if (!db_page_is_sane(dev, offset[i])) {
			ibdev_err(&dev->ibdev, "doorbell page at %#llx of BAR 0\n", offset[i]);
			ret = -EIO;
			goto err;
		}
	}
	ret = -ENOMEM;
	ctx->sdb = entry_insert(ctx, offset[0]);
	ctx->rdb = entry_insert(ctx, offset[1]);
	ctx->cdb = entry_insert(ctx, offset[2]);
	if (!ctx->sdb || !ctx->rdb || !ctx->cdb)
		goto err;
	resp.sdb_type = ctx->sdb_type;
	if (ctx->sdb_type == ERDMA_SDB_ENTRY)
		resp.sdb_entry = ctx->sdb_index % ERDMA_SDB_ENTRIES_PER_PAGE;
	resp.sdb = rdma_user_mmap_get_offset(&ctx->sdb->rdma_entry);
	resp.rdb = rdma_user_mmap_get_offset(&ctx->rdb->rdma_entry);
	resp.cdb = rdma_user_mmap_get_offset(&ctx->cdb->rdma_entry);
	ret = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (ret)
		goto err;
	return 0;

err:
	db_pages_put(dev, ctx);
	return ret;
}

/**
 * erdma_alloc_ucontext() - verb: a process opens the device
 * @ibctx: the context
 * @udata: the provider's request and response
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct erdma_dev *dev = to_erdma_dev(ibctx->device);
	struct erdma_ctx *ctx = to_erdma_ctx(ibctx);
	int ret;

	if (udata->outlen < sizeof(struct erdma_uresp_alloc_ctx)) {
		ret = -EINVAL;
		goto err;
	}
	ctx->maps = eadm_maps_create();
	if (IS_ERR(ctx->maps)) {
		ret = PTR_ERR(ctx->maps);
		goto err;
	}
	ret = eadm_table_reserve(&dev->adapter.ctxs, &ctx->ctxn);
	if (ret)
		goto err_maps;
	mutex_init(&ctx->dbpage_lock);
	xa_init(&ctx->dbpages);
	eadm_object_init(&ctx->obj, READ_ONCE(dev->adapter.epoch));
	ret = ctx_init(dev, ctx, udata);
	if (ret)
		goto err_number;
	eadm_table_publish(&dev->adapter.ctxs, ctx->ctxn, &ctx->obj);
	/* Pairs with erdma_ctx_leave(). */
	if (READ_ONCE(dev->adapter.leaving))
		eadm_maps_end(ctx->maps);
	eadm_count(&dev->adapter, EADM_CNT_CTX_ALLOCS);
	return 0;

err_number:
	eadm_table_release(&dev->adapter.ctxs, ctx->ctxn);
err_maps:
	eadm_maps_put(ctx->maps);
err:
	eadm_count(&dev->adapter, EADM_CNT_CTX_ALLOC_FAILURES);
	return ret;
}

/**
 * erdma_dealloc_ucontext() - verb: a process closes the device
 * @ibctx: the context; all its objects are gone
 *
 * Context: process.
 */
void erdma_dealloc_ucontext(struct ib_ucontext *ibctx)
{
	struct erdma_dev *dev = to_erdma_dev(ibctx->device);
	struct erdma_ctx *ctx = to_erdma_ctx(ibctx);

	eadm_table_unpublish(&dev->adapter.ctxs, ctx->ctxn, &ctx->obj);
	/* Its mappings outlive it if the device is removed. */
	eadm_maps_end(ctx->maps);
	db_pages_put(dev, ctx);
	eadm_maps_put(ctx->maps);
	xa_destroy(&ctx->dbpages);
	mutex_destroy(&ctx->dbpage_lock);
	eadm_table_release(&dev->adapter.ctxs, ctx->ctxn);
	eadm_count(&dev->adapter, EADM_CNT_CTX_DEALLOCS);
}

/**
 * erdma_disassociate_ucontext() - verb: the device goes away under a process
 * @ibctx: the context
 *
 * The core has destroyed the objects and frees the context. Doorbell pages were taken from
 * its processes before (erdma_ctx_leave()), or are when the context is freed; nothing else
 * of the adapter is mapped into a process. The mere existence of this callback lets removal
 * proceed while contexts are open.
 *
 * Context: process.
 */
void erdma_disassociate_ucontext(struct ib_ucontext *ibctx)
{
}

/**
 * erdma_mmap() - verb: map a doorbell page
 * @ibctx: the context
 * @vma: where
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma)
{
	struct erdma_dev *dev = to_erdma_dev(ibctx->device);
	struct erdma_ctx *ctx = to_erdma_ctx(ibctx);
	struct rdma_user_mmap_entry *rdma_entry;
	struct erdma_mmap_entry *entry;
	int ret = -EIO;

	rdma_entry = rdma_user_mmap_entry_get(ibctx, vma);
	if (!rdma_entry)
		return -EINVAL;
	entry = container_of(rdma_entry, struct erdma_mmap_entry, rdma_entry);
	/* A touch would find a dummy page: say so, as long as the process can take it. */
	if (!eadm_object_is_dead(&dev->adapter, &ctx->obj))
		ret = eadm_map_mmap(entry->map, vma, pgprot_device(vma->vm_page_prot));
	rdma_user_mmap_entry_put(rdma_entry);
	return ret;
}

/**
 * erdma_mmap_free() - the last user of a doorbell page's offset is gone
 * @rdma_entry: the entry
 *
 * Context: process.
 */
void erdma_mmap_free(struct rdma_user_mmap_entry *rdma_entry)
{
	struct erdma_mmap_entry *entry;

	entry = container_of(rdma_entry, struct erdma_mmap_entry, rdma_entry);
	eadm_map_put(entry->map);
	kfree(entry);
}

/**
 * erdma_ctx_zap() - take the doorbell pages from all contexts that the adapter no longer
 * serves
 * @dev: the device
 *
 * After a reset the adapter hands them out again. Processes then write to a dummy page, as
 * after a removal. A context that is created meanwhile belongs to the new epoch, or cannot be
 * used to map anything (erdma_mmap()).
 *
 * Context: process; the epoch was raised, or the device leaves.
 */
void erdma_ctx_zap(struct erdma_dev *dev)
{
	struct eadm_object *obj;
	u64 id;

	for (id = 0; (obj = eadm_table_next(&dev->adapter.ctxs, &id)); id++) {
		if (READ_ONCE(dev->adapter.leaving) || eadm_object_is_dead(&dev->adapter, obj))
			eadm_maps_end(container_of(obj, struct erdma_ctx, obj)->maps);
		eadm_object_put(obj);
	}
}

/**
 * erdma_ctx_leave() - the device is about to be removed: take the doorbell pages from all
 * contexts
 * @dev: the device
 *
 * Context: process.
 */
void erdma_ctx_leave(struct erdma_dev *dev)
{
	/* Either this finds a context in the table, or erdma_alloc_ucontext() sees the flag. */
	WRITE_ONCE(dev->adapter.leaving, true);
	erdma_ctx_zap(dev);
}
