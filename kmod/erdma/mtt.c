// SPDX-License-Identifier: GPL-2.0-only
/* Translation tables (hw 5.1). The adapter only reads them. */

#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "erdma.h"

#define ENTRIES_PER_PAGE	(PAGE_SIZE / sizeof(__le64))
/* Largest contiguous allocation. */
#define MAX_CONTIGUOUS		(SZ_4M / sizeof(__le64))

static int table_alloc(struct erdma_dev *dev, struct erdma_mtt_table *table, u32 size)
{
	struct device *dma_dev = &dev->pdev->dev;

	table->size = PAGE_ALIGN(size);
	table->va = alloc_pages_exact(table->size, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!table->va)
		return -ENOMEM;
	table->dma = dma_map_single(dma_dev, table->va, table->size, DMA_TO_DEVICE);
	if (dma_mapping_error(dma_dev, table->dma)) {
		free_pages_exact(table->va, table->size);
		table->va = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int tables_alloc(struct erdma_dev *dev, struct erdma_mtt *mtt, u32 size)
{
	u32 i;
	int ret;

	mtt->tables = kvcalloc(mtt->nr_tables, sizeof(*mtt->tables), GFP_KERNEL);
	if (!mtt->tables) {
		mtt->nr_tables = 0;
		return -ENOMEM;
	}
	for (i = 0; i < mtt->nr_tables; i++) {
		ret = table_alloc(dev, &mtt->tables[i], size);
		if (ret) {
			erdma_mtt_free(dev, mtt);
			return ret;
		}
	}
	return 0;
}

/* Each table above the bottom level contains the addresses of the next lower level, in order. */
static void tables_link(struct erdma_mtt *mtt, u32 bottom)
{
	u32 below = bottom, first = 0, i;

	while (below > 1) {
		for (i = 0; i < below; i++)
			mtt->tables[first + below + i / ENTRIES_PER_PAGE]
				.va[i % ENTRIES_PER_PAGE] =
				cpu_to_le64(mtt->tables[first + i].dma);
		first += below;
		below = DIV_ROUND_UP(below, ENTRIES_PER_PAGE);
	}
}

/* Makes the tables from number @first on visible to the adapter. */
static void tables_sync(struct erdma_dev *dev, struct erdma_mtt *mtt, u32 first)
{
	u32 i;

	for (i = first; i < mtt->nr_tables; i++)
		dma_sync_single_for_device(&dev->pdev->dev, mtt->tables[i].dma,
					   mtt->tables[i].size, DMA_TO_DEVICE);
}

/**
 * erdma_mtt_alloc() - allocate a translation with empty entries
 * @dev: the device
 * @mtt: the translation
 * @count: number of entries
 * @page_shift: log2 of the size covered by an entry
 * @max_direct: maximum number of entries in the command itself
 * @scattered: use pages and levels instead of one contiguous table
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int erdma_mtt_alloc(struct erdma_dev *dev, struct erdma_mtt *mtt, u64 count,
		    u8 page_shift, u32 max_direct, bool scattered)
{
	u32 bottom, tables;

	memset(mtt, 0, sizeof(*mtt));
	if (!count || count > U32_MAX)
		return -ENOMEM;
	mtt->count = count;
	mtt->page_shift = page_shift;
	if (count <= max_direct)
		return 0;

	mtt->level = 1;
	mtt->nr_tables = 1;
	if (!scattered) {
		if (count <= MAX_CONTIGUOUS)
			return tables_alloc(dev, mtt, count * sizeof(__le64));
		memset(mtt, 0, sizeof(*mtt));
		return -ENOMEM;
	}

	mtt->scattered = true;
	bottom = DIV_ROUND_UP(count, ENTRIES_PER_PAGE);
	mtt->nr_tables = bottom;
	for (tables = bottom; tables > 1; mtt->level++) {
		tables = DIV_ROUND_UP(tables, ENTRIES_PER_PAGE);
		mtt->nr_tables += tables;
	}
	if (mtt->level > ERDMA_MR_MAX_LEVEL) {
		memset(mtt, 0, sizeof(*mtt));
		return -ENOMEM;
	}
	if (tables_alloc(dev, mtt, PAGE_SIZE))
		return -ENOMEM;
	tables_link(mtt, bottom);
	/* The tables above the bottom level are complete, and need not be synced again. */
	tables_sync(dev, mtt, bottom);
	return 0;
}

/**
 * erdma_mtt_set() - set one entry
 * @mtt: the translation
 * @i: index of the entry
 * @addr: DMA address of the page
 *
 * Context: any; call erdma_mtt_sync() before the adapter may use the entry.
 */
void erdma_mtt_set(struct erdma_mtt *mtt, u32 i, u64 addr)
{
	if (!mtt->level)
		mtt->direct[i] = cpu_to_le64(addr);
	else if (!mtt->scattered)
		mtt->tables[0].va[i] = cpu_to_le64(addr);
	else
		mtt->tables[i / ENTRIES_PER_PAGE].va[i % ENTRIES_PER_PAGE] = cpu_to_le64(addr);
}

/**
 * erdma_mtt_get() - read one entry back
 * @mtt: the translation
 * @i: index of the entry
 *
 * Context: any.
 * Return: DMA address of the page.
 */
u64 erdma_mtt_get(const struct erdma_mtt *mtt, u32 i)
{
	if (!mtt->level)
		return le64_to_cpu(mtt->direct[i]);
	if (!mtt->scattered)
		return le64_to_cpu(mtt->tables[0].va[i]);
	return le64_to_cpu(mtt->tables[i / ENTRIES_PER_PAGE].va[i % ENTRIES_PER_PAGE]);
}

/**
 * erdma_mtt_sync() - make the entries visible to the adapter
 * @dev: the device
 * @mtt: the translation
 *
 * Context: any.
 */
void erdma_mtt_sync(struct erdma_dev *dev, struct erdma_mtt *mtt)
{
	tables_sync(dev, mtt, 0);
}

/**
 * erdma_mtt_addr() - return the address that a command uses for a buffer
 * @mtt: the translation
 *
 * Return: the first page's address, or that of the top table.
 */
u64 erdma_mtt_addr(const struct erdma_mtt *mtt)
{
	if (!mtt->level)
		return le64_to_cpu(mtt->direct[0]);
	return mtt->tables[mtt->nr_tables - 1].dma;
}

/**
 * erdma_mtt_from_umem() - create the translation of user memory
 * @dev: the device
 * @mtt: the translation
 * @umem: the memory
 * @page_size: size covered by an entry, from ib_umem_find_best_pgsz()
 * @max_direct: maximum number of entries in the command itself
 * @scattered: use pages and levels instead of one contiguous table
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int erdma_mtt_from_umem(struct erdma_dev *dev, struct erdma_mtt *mtt,
			struct ib_umem *umem, unsigned long page_size,
			u32 max_direct, bool scattered)
{
	struct ib_block_iter iter;
	u32 i = 0;
	int ret;

	ret = erdma_mtt_alloc(dev, mtt, ib_umem_num_dma_blocks(umem, page_size),
			      __ffs(page_size), max_direct, scattered);
	if (ret)
		return ret;
	rdma_umem_for_each_dma_block(umem, &iter, page_size) {
		if (i == mtt->count)
			break;
		erdma_mtt_set(mtt, i++, rdma_block_iter_dma_address(&iter));
	}
	erdma_mtt_sync(dev, mtt);
	return 0;
}

/**
 * erdma_mtt_free() - free the tables of a translation
 * @dev: the device
 * @mtt: the translation
 *
 * Context: process; the adapter no longer uses it.
 */
void erdma_mtt_free(struct erdma_dev *dev, struct erdma_mtt *mtt)
{
	u32 i;

	if (!mtt->nr_tables)
		return;
	for (i = 0; i < mtt->nr_tables && mtt->tables[i].va; i++) {
		dma_unmap_single(&dev->pdev->dev, mtt->tables[i].dma, mtt->tables[i].size,
				 DMA_TO_DEVICE);
		free_pages_exact(mtt->tables[i].va, mtt->tables[i].size);
	}
	kvfree(mtt->tables);
	memset(mtt, 0, sizeof(*mtt));
}
