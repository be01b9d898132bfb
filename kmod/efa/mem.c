// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that the adapter accesses: rings of the driver and of processes, pinned memory,
 * and what is left of objects whose destruction the adapter did not confirm.
 */

#include <linux/dma-mapping.h>
#include <linux/kmemleak.h>
#include <linux/slab.h>

#include "efa.h"

/**
 * efa_ring_alloc() - allocate a zeroed ring for the driver
 * @dev: the device
 * @ring: the ring
 * @size: bytes
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int efa_ring_alloc(struct efa_dev *dev, struct efa_ring *ring, size_t size)
{
	ring->va = dma_alloc_coherent(&dev->pdev->dev, size, &ring->dma,
				      GFP_KERNEL | __GFP_NOWARN);
	if (!ring->va)
		return -ENOMEM;
	ring->size = size;
	return 0;
}

/**
 * efa_ring_free() - free a ring
 * @dev: the device
 * @ring: the ring; may be empty
 *
 * Context: process.
 */
void efa_ring_free(struct efa_dev *dev, struct efa_ring *ring)
{
	if (ring->va && dev->leaking)
		dev->leaked += ring->size;
	else if (ring->va)
		dma_free_coherent(&dev->pdev->dev, ring->size, ring->va, ring->dma);
	ring->va = NULL;
}

/**
 * efa_mem_ring() - add a zeroed ring for a process to map
 * @dev: the device
 * @mem: memory of the object
 * @size: bytes, which are rounded up to whole pages
 * @dir: DMA direction of the ring
 *
 * The adapter needs one contiguous range. The pages are refcounted individually, so that
 * pages that are still mapped when the ring is freed stay until they are unmapped.
 *
 * Context: process.
 * Return: 0 or -ENOMEM; freed by efa_mem_free() in any case.
 */
int efa_mem_ring(struct efa_dev *dev, struct efa_mem *mem, size_t size,
		 enum dma_data_direction dir)
{
	size = PAGE_ALIGN(size);
	mem->ring = alloc_pages_exact(size, COMPAT_GFP_USER_PAGES | __GFP_ZERO | __GFP_NOWARN);
	if (!mem->ring)
		return -ENOMEM;
	mem->dir = dir;
	mem->ring_dma = dma_map_single(&dev->pdev->dev, mem->ring, size, dir);
	if (dma_mapping_error(&dev->pdev->dev, mem->ring_dma)) {
		free_pages_exact(mem->ring, size);
		mem->ring = NULL;
		return -ENOMEM;
	}
	mem->ring_size = size;
	return 0;
}

/**
 * efa_mem_free() - free an object's memory
 * @dev: the device
 * @mem: the memory
 *
 * Context: process; the adapter no longer uses it.
 */
void efa_mem_free(struct efa_dev *dev, struct efa_mem *mem)
{
	if (mem->ring) {
		dma_unmap_single(&dev->pdev->dev, mem->ring_dma, mem->ring_size, mem->dir);
		free_pages_exact(mem->ring, mem->ring_size);
	}
	ib_umem_release(mem->umem);
}

static size_t mem_size(const struct efa_mem *mem)
{
	return mem->ring_size + (mem->umem ? ib_umem_num_pages(mem->umem) * PAGE_SIZE : 0);
}

/* Whether the adapter can no longer know of memory that it learned of in an epoch. */
static bool epoch_is_over(const struct efa_dev *dev, u32 epoch)
{
	lockdep_assert_held(&dev->orphan_lock);
	return (s32)(epoch - dev->over) < 0 || (s32)(epoch - dev->exposed) >= 0;
}

/**
 * efa_orphan_alloc() - begin a record of memory
 *
 * This must not fail: memory that may not be freed must be recorded.
 *
 * Context: process.
 * Return: the record, with a reference.
 */
struct efa_orphan *efa_orphan_alloc(void)
{
	struct efa_orphan *orphan = kzalloc(sizeof(*orphan), GFP_KERNEL | __GFP_NOFAIL);

	refcount_set(&orphan->refs, 1);
	return orphan;
}

/**
 * efa_orphan_get() - reference a record
 * @orphan: the record, or NULL
 *
 * Context: any.
 * Return: @orphan.
 */
struct efa_orphan *efa_orphan_get(struct efa_orphan *orphan)
{
	if (orphan)
		refcount_inc(&orphan->refs);
	return orphan;
}

/**
 * efa_orphan_put() - drop a reference to a record
 * @orphan: the record, or NULL
 *
 * Context: any; the memory stays as it is.
 */
void efa_orphan_put(struct efa_orphan *orphan)
{
	if (orphan && refcount_dec_and_test(&orphan->refs))
		kfree(orphan);
}

/* Keeps memory as an orphan. Returns false if the adapter is known to be done with it. */
static bool keep(struct efa_dev *dev, const struct efa_mem *mem)
{
	struct efa_orphan *orphan = mem->orphan ?: efa_orphan_alloc();
	bool over;

	orphan->mem = *mem;
	spin_lock(&dev->orphan_lock);
	/* An answer that comes after this check has efa_mem_sweep() called. */
	over = epoch_is_over(dev, mem->epoch) || READ_ONCE(orphan->released);
	if (!over) {
		list_add_tail(&orphan->link, &dev->orphans);
		dev->nr_orphans++;
		dev->orphan_bytes += mem_size(mem);
	}
	spin_unlock(&dev->orphan_lock);
	if (over)
		efa_orphan_put(orphan);
	return !over;
}

/**
 * efa_mem_retire() - an object is gone; free its memory if that is safe
 * @dev: the device
 * @mem: the memory
 * @done: the adapter confirmed that it is done with it, or never learned of it
 *
 * Memory the adapter may still know of is kept until the late answer to a lost command
 * releases it, or a reset is confirmed.
 *
 * Context: process.
 */
void efa_mem_retire(struct efa_dev *dev, struct efa_mem *mem, bool done)
{
	if (done || !keep(dev, mem))
		efa_mem_free(dev, mem);
}

static void free_orphans(struct efa_dev *dev, struct list_head *list)
{
	struct efa_orphan *orphan, *tmp;

	list_for_each_entry_safe(orphan, tmp, list, link) {
		efa_mem_free(dev, &orphan->mem);
		efa_orphan_put(orphan);
	}
}

/**
 * efa_mem_sweep() - free the orphans that late answers have released
 * @dev: the device
 *
 * Context: process.
 */
void efa_mem_sweep(struct efa_dev *dev)
{
	struct efa_orphan *orphan, *tmp;
	LIST_HEAD(list);

	spin_lock(&dev->orphan_lock);
	list_for_each_entry_safe(orphan, tmp, &dev->orphans, link) {
		if (!READ_ONCE(orphan->released))
			continue;
		list_move(&orphan->link, &list);
		dev->nr_orphans--;
		dev->orphan_bytes -= mem_size(&orphan->mem);
	}
	spin_unlock(&dev->orphan_lock);
	free_orphans(dev, &list);
}

/**
 * efa_mem_expose() - the adapter may learn of memory from now on
 * @dev: the device
 *
 * Context: process.
 */
void efa_mem_expose(struct efa_dev *dev)
{
	spin_lock(&dev->orphan_lock);
	dev->exposed = READ_ONCE(dev->epoch) + 1;
	spin_unlock(&dev->orphan_lock);
}

/**
 * efa_mem_is_exposed() - whether the adapter may know of memory
 * @dev: the device
 *
 * Context: process.
 */
bool efa_mem_is_exposed(struct efa_dev *dev)
{
	bool exposed;

	spin_lock(&dev->orphan_lock);
	exposed = dev->exposed != dev->over;
	spin_unlock(&dev->orphan_lock);
	return exposed;
}

/**
 * efa_mem_confirm() - the adapter is known to have forgotten everything
 * @dev: the device
 *
 * Frees what retired objects left behind.
 *
 * Context: process; the adapter is not started concurrently.
 */
void efa_mem_confirm(struct efa_dev *dev)
{
	LIST_HEAD(list);

	spin_lock(&dev->orphan_lock);
	dev->over = dev->exposed;
	list_splice_init(&dev->orphans, &list);
	dev->nr_orphans = 0;
	dev->orphan_bytes = 0;
	spin_unlock(&dev->orphan_lock);
	free_orphans(dev, &list);
}

/* What remains of a device that did not release its memory. */
struct remains {
	struct list_head orphans;
	struct list_head lists;
};

/**
 * efa_mem_leak() - leak all memory that the adapter may know of
 * @dev: the device, about to be freed; rings were "freed" with @dev->leaking set
 *
 * A new owner of this memory would share it with the adapter.
 *
 * Context: process.
 */
void efa_mem_leak(struct efa_dev *dev)
{
	struct remains *remains = kzalloc(sizeof(*remains), GFP_KERNEL);

	dev_err(&dev->pdev->dev,
		"left without a confirmed reset: %llu bytes of %u objects and %llu bytes of queues are lost until the next boot, as the adapter could still write to them\n",
		dev->orphan_bytes, dev->nr_orphans, dev->leaked);
	if (!remains)
		return;
	/* Lets kmemleak find the memory from here: this leak is intended. */
	kmemleak_not_leak(remains);
	INIT_LIST_HEAD(&remains->orphans);
	INIT_LIST_HEAD(&remains->lists);
	list_splice_init(&dev->orphans, &remains->orphans);
	list_splice_init(&dev->aq.parked, &remains->lists);
}
