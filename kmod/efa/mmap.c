// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of processes (hw 12.7): doorbells and send queues in device memory (core/maps.c),
 * rings in host memory.
 *
 * A send queue is unmapped from all processes before the QP is destroyed, because the next QP of
 * any process may use the same device memory. Doorbells are also unmapped when no queue uses them
 * any longer. After a reset the adapter reassigns both. Rings stay mapped: their pages belong to
 * the process until it unmaps them.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "efa.h"

/**
 * struct ring_map - a ring in host memory that a process may map
 * @map: entry for the mmap offset, without device memory
 * @ring: the ring
 */
struct ring_map {
	struct eadm_map map;
	void *ring;
};

static struct ring_map *to_ring_map(struct eadm_map *map)
{
	return container_of(map, struct ring_map, map);
}

/*
 * The adapter is not trusted to choose where users may write: the range has to be inside the BAR
 * and must not contain registers.
 */
static struct eadm_map *map_bar(struct efa_ctx *ctx, bool llq, u8 bar, u32 offset, u32 bytes)
{
	struct efa_dev *dev = to_efa_dev(ctx->base.ibctx.device);
	u64 first = round_down(offset, PAGE_SIZE), end = PAGE_ALIGN((u64)offset + bytes);
	resource_size_t start = pci_resource_start(dev->pdev, bar);

	if (!bytes || end > pci_resource_len(dev->pdev, bar) || start & ~PAGE_MASK ||
	    (bar == EFA_REGS_BAR && first < EFA_REGS_SIZE)) {
		ibdev_err_ratelimited(&dev->adapter.ibdev, "invalid queue location: %u bytes at %#x of BAR %u\n",
				      bytes, offset, bar);
		return NULL;
	}
	return eadm_map_create(ctx->base.maps, &ctx->base.ibctx, start + first,
			       (end - first) >> PAGE_SHIFT, llq);
}

static phys_addr_t db_page(struct efa_dev *dev, u32 offset)
{
	return pci_resource_start(dev->pdev, dev->db_bar) + round_down(offset, PAGE_SIZE);
}

/**
 * efa_mmap_db() - allow a process to map a doorbell
 * @ctx: context of the process
 * @offset: offset in the doorbell BAR
 *
 * Doorbells in one page share an entry.
 *
 * Context: process.
 * Return: the entry to pass to efa_mmap_put_db(), or NULL.
 */
struct eadm_map *efa_mmap_db(struct efa_ctx *ctx, u32 offset)
{
	struct efa_dev *dev = to_efa_dev(ctx->base.ibctx.device);
	struct eadm_map *entry;

	mutex_lock(&ctx->db_lock);
	entry = ctx->db;
	if (!entry || entry->addr != db_page(dev, offset))
		entry = map_bar(ctx, false, dev->db_bar, offset, sizeof(u32));
	if (entry)
		entry->users++;
	if (!ctx->db)
		ctx->db = entry;
	mutex_unlock(&ctx->db_lock);
	return entry;
}

/**
 * efa_mmap_put_db() - undo efa_mmap_db()
 * @ctx: context of the process
 * @entry: the entry, or NULL
 *
 * Context: process.
 */
void efa_mmap_put_db(struct efa_ctx *ctx, struct eadm_map *entry)
{
	bool last;

	if (!entry)
		return;
	mutex_lock(&ctx->db_lock);
	last = !--entry->users;
	if (last && ctx->db == entry)
		ctx->db = NULL;
	mutex_unlock(&ctx->db_lock);
	if (last)
		eadm_map_remove(entry);
}

/**
 * efa_mmap_llq() - allow a process to map a send queue
 * @ctx: context of the process
 * @offset: offset in BAR 2
 * @bytes: size of the send queue
 *
 * Context: process.
 * Return: the entry, or NULL.
 */
struct eadm_map *efa_mmap_llq(struct efa_ctx *ctx, u32 offset, u32 bytes)
{
	return map_bar(ctx, true, EFA_MEM_BAR, offset, bytes);
}

/*
 * References each page, because a process may be mapping the pages while the queue is destroyed.
 */
static void get_ring(struct ring_map *ring)
{
	struct page *page = virt_to_page(ring->ring);
	size_t i;

	for (i = 0; i < ring->map.entry.npages; i++)
		get_page(page + i);
}

static void put_ring(struct ring_map *ring)
{
	struct page *page = virt_to_page(ring->ring);
	size_t i;

	for (i = 0; i < ring->map.entry.npages; i++)
		put_page(page + i);
}

/**
 * efa_mmap_ring() - allow a process to map a ring
 * @ctx: context of the process
 * @mem: memory with the ring
 *
 * Context: process.
 * Return: the entry, which must be removed before the memory is freed, or NULL.
 */
struct eadm_map *efa_mmap_ring(struct efa_ctx *ctx, const struct efa_mem *mem)
{
	struct ring_map *ring = kzalloc(sizeof(*ring), GFP_KERNEL);

	if (!ring)
		return NULL;
	/* A process can map the entry as soon as the entry is inserted. */
	ring->ring = mem->ring;
	if (rdma_user_mmap_entry_insert(&ctx->base.ibctx, &ring->map.entry, mem->ring_size)) {
		kfree(ring);
		return NULL;
	}
	get_ring(ring);
	return &ring->map;
}

/* Called when the last reference to an entry is dropped. */
static void free_entry(struct rdma_user_mmap_entry *entry)
{
	struct eadm_map *map = to_eadm_map(entry);

	if (map->maps) {
		eadm_map_free(entry);
		return;
	}
	put_ring(to_ring_map(map));
	kfree(to_ring_map(map));
}

static int mmap_bar(struct efa_ctx *ctx, struct vm_area_struct *vma, struct eadm_map *map)
{
	struct efa_dev *dev = to_efa_dev(ctx->base.ibctx.device);

	/* The process would see only a dummy page; fail while an error can still be returned. */
	if (eadm_object_is_dead(&dev->adapter, &ctx->base.obj))
		return -EIO;
	return eadm_map_mmap(map, vma,
			     map->write_combining ? pgprot_writecombine(vma->vm_page_prot) :
						    pgprot_noncached(vma->vm_page_prot));
}

/* The VMA holds references to the pages, independent of the queue's lifetime. */
static int mmap_ring(struct vm_area_struct *vma, struct ring_map *ring)
{
	struct page *page = virt_to_page(ring->ring);
	size_t i;
	int ret;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	/* The ring must not be extended by mremap(). */
	vm_flags_set(vma, VM_DONTEXPAND);
	for (i = 0; i < ring->map.entry.npages; i++) {
		ret = vm_insert_page(vma, vma->vm_start + i * PAGE_SIZE, page + i);
		if (ret)
			return ret;
	}
	return 0;
}

static int map_entry(struct ib_ucontext *ibctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(ibctx, vma);
	struct efa_dev *dev = to_efa_dev(ibctx->device);
	struct eadm_map *map;
	int ret = -EINVAL;

	if (entry) {
		map = to_eadm_map(entry);
		if (map->maps)
			ret = mmap_bar(to_efa_ctx(ibctx), vma, map);
		else
			ret = mmap_ring(vma, to_ring_map(map));
		rdma_user_mmap_entry_put(entry);
	}
	if (ret)
		eadm_count(&dev->adapter, EADM_CNT_MMAP_FAILURES);
	return ret;
}

const struct ib_device_ops efa_mmap_ops = {
	.mmap = map_entry,
	.mmap_free = free_entry,
};
