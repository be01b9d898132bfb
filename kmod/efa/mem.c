// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that the adapter accesses: rings of the driver and of processes, pinned memory, and
 * remains of objects whose destruction the adapter did not confirm.
 */

#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "efa.h"

/**
 * efa_mem_ring() - add a zeroed ring for a process to map
 * @dev: the device
 * @mem: memory of the object
 * @size: size in bytes, rounded up to whole pages
 * @dir: DMA direction of the ring
 *
 * The adapter needs one contiguous range. The pages are refcounted individually, so that pages that
 * are still mapped when the ring is freed stay until they are unmapped.
 *
 * Context: process.
 * Return: 0 or -ENOMEM; the caller must call efa_mem_free() in either case.
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

/**
 * efa_orphan_alloc() - allocate a record of memory
 *
 * This cannot fail, because memory that must not be freed has to be recorded.
 *
 * Context: process.
 * Return: the record, with one reference.
 */
struct efa_orphan *efa_orphan_alloc(void)
{
	struct efa_orphan *orphan = kzalloc(sizeof(*orphan), GFP_KERNEL | __GFP_NOFAIL);

	refcount_set(&orphan->refs, 1);
	return orphan;
}

/**
 * efa_orphan_put() - drop a reference to a record
 * @orphan: the record, or NULL
 *
 * Context: any; the memory itself is not affected.
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

	orphan->mem = *mem;
	orphan->kept.epoch = mem->epoch;
	orphan->kept.bytes = mem_size(mem);
	if (eadm_orphan_keep(&dev->adapter, &orphan->kept))
		return true;
	efa_orphan_put(orphan);
	return false;
}

/**
 * efa_mem_retire() - free an object's memory if that is safe
 * @dev: the device
 * @mem: the memory
 * @done: the adapter has confirmed that it is done with the memory, or never received it
 *
 * Memory that the adapter may still access is kept until the late completion of a lost command
 * releases it, or a reset is confirmed.
 *
 * Context: process.
 */
void efa_mem_retire(struct efa_dev *dev, struct efa_mem *mem, bool done)
{
	if (done || !keep(dev, mem))
		efa_mem_free(dev, mem);
}

/**
 * efa_orphan_free() - free kept memory
 * @ad: the adapter
 * @kept: the memory, which the adapter no longer uses
 *
 * Context: process.
 */
void efa_orphan_free(struct eadm_adapter *ad, struct eadm_orphan *kept)
{
	struct efa_orphan *orphan = container_of(kept, struct efa_orphan, kept);

	efa_mem_free(adapter_to_efa(ad), &orphan->mem);
	efa_orphan_put(orphan);
}

/**
 * efa_mem_leak() - leak all memory that the adapter may still access
 * @dev: the device, about to be freed
 *
 * Context: process.
 */
void efa_mem_leak(struct efa_dev *dev)
{
	struct eadm_remains *remains = eadm_memory_leak(&dev->adapter);

	if (remains)
		list_splice_init(&dev->aq.parked, &remains->lists);
}
