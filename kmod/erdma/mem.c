// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that the adapter accesses: kernel rings, pinned user buffers, doorbell records, and
 * remains of objects whose destruction the adapter did not confirm.
 */

#include <linux/dma-mapping.h>
#include <linux/highmem.h>
#include <linux/slab.h>

#include "erdma.h"

/**
 * erdma_dbrec_alloc() - allocate a zeroed doorbell record
 * @dev: the device
 * @rec: the record
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int erdma_dbrec_alloc(struct erdma_dev *dev, struct erdma_dbrec *rec)
{
	rec->va = dma_pool_zalloc(dev->dbrec_pool, GFP_KERNEL, &rec->dma);
	return rec->va ? 0 : -ENOMEM;
}

/**
 * erdma_dbrec_free() - free a doorbell record
 * @dev: the device
 * @rec: the record; may be empty
 *
 * Context: any.
 */
void erdma_dbrec_free(struct erdma_dev *dev, struct erdma_dbrec *rec)
{
	if (rec->va && dev->adapter.memory.leaking)
		dev->adapter.memory.leaked += ERDMA_DBREC_SIZE;
	else if (rec->va)
		dma_pool_free(dev->dbrec_pool, rec->va, rec->dma);
	rec->va = NULL;
}

/**
 * erdma_area_pin() - pin user memory and create its translation
 * @dev: the device
 * @area: the area, zeroed
 * @va: user address
 * @size: size in bytes
 * @access: verbs access flags
 * @page_sizes: page sizes that the adapter can translate
 * @max_direct: maximum number of translation entries in the command
 *
 * Context: process; called by the owner of the memory.
 * Return: 0 or -errno; the area is unpinned by erdma_hostmem_free().
 */
int erdma_area_pin(struct erdma_dev *dev, struct erdma_area *area, u64 va, size_t size,
		   int access, unsigned long page_sizes, u32 max_direct)
{
	unsigned long page_size;
	int ret;

	area->umem = ib_umem_get(&dev->adapter.ibdev, va, size, access);
	if (IS_ERR(area->umem)) {
		ret = PTR_ERR(area->umem);
		area->umem = NULL;
		return ret;
	}
	page_size = ib_umem_find_best_pgsz(area->umem, page_sizes, va);
	if (!page_size) {
		ret = -EINVAL;
		goto err;
	}
	area->offset = va & (page_size - 1);
	ret = erdma_mtt_from_umem(dev, &area->mtt, area->umem, page_size, max_direct, false);
	if (ret)
		goto err;
	return 0;

err:
	ib_umem_release(area->umem);
	area->umem = NULL;
	return ret;
}

static bool dbpage_fits(const struct erdma_dbpage *page)
{
	return page->umem->owning_mm == current->mm;
}

/**
 * erdma_dbpage_pin() - pin the page that contains a user's doorbell records
 * @ctx: the user context
 * @mem: memory of the object that uses the records
 * @va: address of the first record
 * @size: total size of the records in bytes
 * @ref: set to the location of the records, valid as long as @mem exists
 *
 * Providers place the records of many objects into one page, so the page is shared.
 *
 * Context: process; called by the owner of the memory.
 * Return: 0 or -errno; unpinned by erdma_hostmem_free().
 */
int erdma_dbpage_pin(struct erdma_ctx *ctx, struct erdma_hostmem *mem, u64 va, size_t size,
		     struct erdma_dbref *ref)
{
	struct erdma_dev *dev = to_erdma_dev(ctx->base.ibctx.device);
	unsigned long index = va >> PAGE_SHIFT;
	struct erdma_dbpage *page;
	dma_addr_t dma;
	int ret = 0;

	if (!IS_ALIGNED(va, ERDMA_DBREC_SIZE) || offset_in_page(va) + size > PAGE_SIZE)
		return -EINVAL;

	mutex_lock(&ctx->dbpage_lock);
	page = xa_load(&ctx->dbpages, index);
	if (page && dbpage_fits(page)) {
		refcount_inc(&page->refs);
		goto found;
	}

	page = kzalloc(sizeof(*page), GFP_KERNEL);
	if (!page) {
		ret = -ENOMEM;
		goto out;
	}
	page->umem = ib_umem_get(&dev->adapter.ibdev, va & PAGE_MASK, PAGE_SIZE, 0);
	if (IS_ERR(page->umem)) {
		ret = PTR_ERR(page->umem);
		kfree(page);
		goto out;
	}
	refcount_set(&page->refs, 1);
	page->index = index;
	/*
	 * If the slot is used by a different process's page at the same address, this page is not
	 * shared.
	 */
	if (!xa_insert(&ctx->dbpages, index, page, GFP_KERNEL))
		page->ctx = ctx;
found:
	mem->dbpage = page;
	ref->page = sg_page(compat_umem_sgl(page->umem));
	ref->offset = offset_in_page(va);
	dma = sg_dma_address(compat_umem_sgl(page->umem)) + ref->offset;
	mem->dbrec[0].dma = dma;
	mem->dbrec[1].dma = dma + ERDMA_DBREC_SIZE;
out:
	mutex_unlock(&ctx->dbpage_lock);
	return ret;
}

/* Prevents new objects from using the page; its context may be freed before the page. */
static void dbpage_unhash(struct erdma_dbpage *page, struct erdma_ctx *ctx)
{
	lockdep_assert_held(&ctx->dbpage_lock);
	if (page->ctx)
		xa_erase(&ctx->dbpages, page->index);
	page->ctx = NULL;
}

static void dbpage_unpin(struct erdma_dbpage *page)
{
	struct erdma_ctx *ctx = READ_ONCE(page->ctx);

	/*
	 * A hashed page is released only by objects of the context that owns it, and the context
	 * outlives these objects. Once unhashed, a page is never hashed again.
	 */
	if (ctx) {
		if (!refcount_dec_and_mutex_lock(&page->refs, &ctx->dbpage_lock))
			return;
		dbpage_unhash(page, ctx);
		mutex_unlock(&ctx->dbpage_lock);
	} else if (!refcount_dec_and_test(&page->refs)) {
		return;
	}
	ib_umem_release(page->umem);
	kfree(page);
}

/**
 * erdma_dbref_read() - read a user's doorbell record
 * @ref: location of the object's records
 * @i: index of the record
 *
 * Context: any.
 * Return: the value, which is controlled by the user.
 */
u64 erdma_dbref_read(const struct erdma_dbref *ref, u32 i)
{
	void *va = kmap_local_page(ref->page);
	u64 value;

	value = le64_to_cpu(READ_ONCE(*(__le64 *)(va + ref->offset + i * ERDMA_DBREC_SIZE)));
	kunmap_local(va);
	return value;
}

/**
 * erdma_hostmem_alloc() - allocate an empty description of an object's memory
 * @table: table of the object
 * @epoch: epoch of the object
 *
 * Context: process.
 * Return: the description or NULL.
 */
struct erdma_hostmem *erdma_hostmem_alloc(struct eadm_table *table, u32 epoch)
{
	struct erdma_hostmem *mem = kzalloc(sizeof(*mem), GFP_KERNEL);

	if (mem) {
		mem->table = table;
		mem->kept.epoch = epoch;
	}
	return mem;
}

/**
 * erdma_hostmem_ring() - add a kernel ring and its doorbell record
 * @dev: the device
 * @mem: memory of the object
 * @i: index of the object's queue
 * @size: size in bytes
 * @page_shift: log2 of the page size; the ring is contiguous and described as one such page
 *
 * Context: process.
 * Return: 0 or -ENOMEM; the caller must call erdma_hostmem_free() in either case.
 */
int erdma_hostmem_ring(struct erdma_dev *dev, struct erdma_hostmem *mem, int i,
		       size_t size, u8 page_shift)
{
	int ret;

	ret = eadm_ring_alloc(&dev->adapter, &mem->ring[i], size);
	if (ret)
		return ret;
	ret = erdma_dbrec_alloc(dev, &mem->dbrec[i]);
	if (ret)
		return ret;
	ret = erdma_mtt_alloc(dev, &mem->area[i].mtt, 1, page_shift, 1, false);
	if (ret)
		return ret;
	erdma_mtt_set(&mem->area[i].mtt, 0, mem->ring[i].dma);
	return 0;
}

/**
 * erdma_hostmem_free() - free an object's memory, and its number
 * @dev: the device
 * @mem: the memory; its number is 0 if none was reserved
 *
 * Context: process; the adapter no longer uses it.
 */
void erdma_hostmem_free(struct erdma_dev *dev, struct erdma_hostmem *mem)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mem->area); i++) {
		erdma_mtt_free(dev, &mem->area[i].mtt);
		ib_umem_release(mem->area[i].umem);
		eadm_ring_free(&dev->adapter, &mem->ring[i]);
		erdma_dbrec_free(dev, &mem->dbrec[i]);
	}
	if (mem->dbpage)
		dbpage_unpin(mem->dbpage);
	if (mem->id)
		eadm_table_release(mem->table, mem->id);
	kfree(mem);
}

static size_t mem_size(const struct erdma_hostmem *mem)
{
	const struct erdma_mtt *mtt;
	size_t size = 0;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(mem->area); i++) {
		mtt = &mem->area[i].mtt;
		for (j = 0; j < mtt->nr_tables; j++)
			size += mtt->tables[j].size;
		if (mem->area[i].umem)
			size += ib_umem_num_pages(mem->area[i].umem) * PAGE_SIZE;
		if (mem->ring[i].va)
			size += mem->ring[i].size;
		if (mem->dbrec[i].va)
			size += ERDMA_DBREC_SIZE;
	}
	return size;
}

/**
 * erdma_hostmem_retire() - free an object's memory if that is safe
 * @dev: the device
 * @mem: the memory
 * @done: the adapter has confirmed that it is done with the memory, or never received it
 *
 * Memory that the adapter may still access is kept, with its number, until a reset is confirmed.
 *
 * Context: process.
 */
void erdma_hostmem_retire(struct erdma_dev *dev, struct erdma_hostmem *mem, bool done)
{
	struct erdma_ctx *ctx;

	if (!done && mem->dbpage) {
		ctx = READ_ONCE(mem->dbpage->ctx);
		if (ctx) {
			mutex_lock(&ctx->dbpage_lock);
			dbpage_unhash(mem->dbpage, ctx);
			mutex_unlock(&ctx->dbpage_lock);
		}
	}
	mem->kept.bytes = mem_size(mem);
	if (done || !eadm_orphan_keep(&dev->adapter, &mem->kept))
		erdma_hostmem_free(dev, mem);
}

/**
 * erdma_mem_leak() - leak all memory that the adapter may still access
 * @dev: the device, about to be freed
 *
 * Context: process.
 */
void erdma_mem_leak(struct erdma_dev *dev)
{
	struct eadm_remains *remains = eadm_memory_leak(&dev->adapter);

	if (!remains)
		return;
	remains->pools[0] = dev->dbrec_pool;
	remains->pools[1] = dev->resp_pool;
}
