// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of processes (hw 12.7): doorbells and send queues in device memory (core/maps.c),
 * rings in host memory.
 *
 * A send queue is taken from all processes before the QP is destroyed: its place in device
 * memory is that of the next QP, of any process. The same is done with doorbells that have no
 * queue any more. After a reset the adapter reassigns both. Rings stay mapped: their pages
 * are the process's until it unmaps them.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "efa.h"

/* A copy of *what, which is complete before a process can map it. */
static struct efa_mmap_entry *insert(struct efa_ctx *ctx, const struct efa_mmap_entry *what,
				     size_t size)
{
	struct efa_mmap_entry *entry = kmemdup(what, sizeof(*what), GFP_KERNEL);

	int ret;

	if (!entry)
		return NULL;
	if (entry->map)
		ret = eadm_map_insert(entry->map, &ctx->ibctx, &entry->rdma_entry);
	else
		ret = rdma_user_mmap_entry_insert(&ctx->ibctx, &entry->rdma_entry, size);
	if (!ret)
		return entry;
	kfree(entry);
	return NULL;
}

/*
 * The adapter is not trusted about where users may write: it has to be inside the BAR,
 * and not where the registers are.
 */
static struct efa_mmap_entry *insert_bar(struct efa_ctx *ctx, bool llq, u8 bar, u32 offset,
					 u32 bytes)
{
	struct efa_dev *dev = to_efa_dev(ctx->ibctx.device);
	u64 first = round_down(offset, PAGE_SIZE), end = PAGE_ALIGN((u64)offset + bytes);
	resource_size_t start = pci_resource_start(dev->pdev, bar);
	struct efa_mmap_entry what = { .llq = llq }, *entry;

	if (!bytes || end > pci_resource_len(dev->pdev, bar) || start & ~PAGE_MASK ||
	    (bar == EFA_REGS_BAR && first < EFA_REGS_SIZE)) {
		ibdev_err_ratelimited(&dev->ibdev, "%u bytes at %#x of BAR %u do not belong to a queue\n",
				      bytes, offset, bar);
		return NULL;
	}
	what.map = eadm_map_create(ctx->maps, start + first, (end - first) >> PAGE_SHIFT, llq);
	if (!what.map)
		return NULL;
	entry = insert(ctx, &what, end - first);
	if (!entry) {
		eadm_map_revoke(what.map);
		eadm_map_put(what.map);
	}
	return entry;
}

static phys_addr_t db_page(struct efa_dev *dev, u32 offset)
{
	return pci_resource_start(dev->pdev, dev->db_bar) + round_down(offset, PAGE_SIZE);
}

/**
 * efa_mmap_db() - let a process map a doorbell
 * @ctx: its context
 * @offset: in the BAR of doorbells
 *
 * Doorbells in one page have one entry.
 *
 * Context: process.
 * Return: the entry, for efa_mmap_put_db(), or NULL.
 */
struct efa_mmap_entry *efa_mmap_db(struct efa_ctx *ctx, u32 offset)
{
	struct efa_dev *dev = to_efa_dev(ctx->ibctx.device);
	struct efa_mmap_entry *entry;

	mutex_lock(&ctx->db_lock);
	entry = ctx->db;
	if (!entry || entry->map->addr != db_page(dev, offset))
		entry = insert_bar(ctx, false, dev->db_bar, offset, sizeof(u32));
	if (entry)
		entry->users++;
	if (!ctx->db)
		ctx->db = entry;
	mutex_unlock(&ctx->db_lock);
	return entry;
}

/**
 * efa_mmap_put_db() - undo efa_mmap_db()
 * @ctx: its context
 * @entry: the entry, or NULL
 *
 * Context: process.
 */
void efa_mmap_put_db(struct efa_ctx *ctx, struct efa_mmap_entry *entry)
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
		efa_mmap_remove(entry);
}

/**
 * efa_mmap_llq() - let a process map a send queue
 * @ctx: its context
 * @offset: in BAR 2
 * @bytes: of it
 *
 * Context: process.
 * Return: the entry, or NULL.
 */
struct efa_mmap_entry *efa_mmap_llq(struct efa_ctx *ctx, u32 offset, u32 bytes)
{
	return insert_bar(ctx, true, EFA_MEM_BAR, offset, bytes);
}

/*
 * Takes references to each page, as a process may be mapping them while the
 * queue is destroyed.
 */
static void get_ring(struct efa_mmap_entry *entry)
{
	struct page *page = virt_to_page(entry->ring);
	size_t i;

	for (i = 0; i < entry->rdma_entry.npages; i++)
		get_page(page + i);
}

static void put_ring(struct efa_mmap_entry *entry)
{
	struct page *page = virt_to_page(entry->ring);
	size_t i;

	for (i = 0; i < entry->rdma_entry.npages; i++)
		put_page(page + i);
}

/**
 * efa_mmap_ring() - let a process map a ring
 * @ctx: its context
 * @mem: memory with the ring
 *
 * Context: process.
 * Return: the entry, to be removed before the memory is freed, or NULL.
 */
struct efa_mmap_entry *efa_mmap_ring(struct efa_ctx *ctx, const struct efa_mem *mem)
{
	struct efa_mmap_entry what = { .ring = mem->ring };
	struct efa_mmap_entry *entry = insert(ctx, &what, mem->ring_size);

	if (entry)
		get_ring(entry);
	return entry;
}

/**
 * efa_mmap_remove() - remove an entry: it can no longer be mapped
 * @entry: the entry, or NULL
 *
 * On return no process reaches the device memory of the entry.
 *
 * Context: process.
 */
void efa_mmap_remove(struct efa_mmap_entry *entry)
{
	if (!entry)
		return;
	/* Before the entry goes, which may be what holds it. */
	eadm_map_revoke(entry->map);
	rdma_user_mmap_entry_remove(&entry->rdma_entry);
}

/**
 * efa_mmap_key() - the offset that a process passes to mmap()
 * @entry: the entry
 */
u64 efa_mmap_key(const struct efa_mmap_entry *entry)
{
	return rdma_user_mmap_get_offset((struct rdma_user_mmap_entry *)&entry->rdma_entry);
}

/**
 * efa_mmap_free() - the last user of an entry is gone
 * @rdma_entry: the entry
 *
 * Context: process.
 */
void efa_mmap_free(struct rdma_user_mmap_entry *rdma_entry)
{
	struct efa_mmap_entry *entry;

	entry = container_of(rdma_entry, struct efa_mmap_entry, rdma_entry);
	if (entry->ring)
		put_ring(entry);
	eadm_map_put(entry->map);
	kfree(entry);
}

static int map_bar(struct efa_ctx *ctx, struct vm_area_struct *vma,
		   struct efa_mmap_entry *entry)
{
	struct efa_dev *dev = to_efa_dev(ctx->ibctx.device);

	/* A touch would find a dummy page: say so, as long as the process can take it. */
	if (eadm_object_is_dead(&dev->adapter, &ctx->obj))
		return -EIO;
	return eadm_map_mmap(entry->map, vma,
			     entry->llq ? pgprot_writecombine(vma->vm_page_prot) :
					  pgprot_noncached(vma->vm_page_prot));
}

/* The process then holds references to the pages, whatever becomes of the queue. */
static int map_ring(struct vm_area_struct *vma, struct efa_mmap_entry *entry)
{
	struct page *page = virt_to_page(entry->ring);
	size_t i;
	int ret;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	/* There is nothing behind the ring. */
	vm_flags_set(vma, VM_DONTEXPAND);
	for (i = 0; i < entry->rdma_entry.npages; i++) {
		ret = vm_insert_page(vma, vma->vm_start + i * PAGE_SIZE, page + i);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * efa_mmap() - verb: map the memory of an entry
 * @ibctx: the context
 * @vma: where
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int efa_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma)
{
	struct efa_dev *dev = to_efa_dev(ibctx->device);
	struct rdma_user_mmap_entry *rdma_entry;
	struct efa_mmap_entry *entry;
	int ret = -EINVAL;

	rdma_entry = rdma_user_mmap_entry_get(ibctx, vma);
	if (rdma_entry) {
		entry = container_of(rdma_entry, struct efa_mmap_entry, rdma_entry);
		if (entry->map)
			ret = map_bar(to_efa_ctx(ibctx), vma, entry);
		else
			ret = map_ring(vma, entry);
		rdma_user_mmap_entry_put(rdma_entry);
	}
	if (ret)
		eadm_count(&dev->adapter, EADM_CNT_MMAP_FAILURES);
	return ret;
}

/**
 * efa_ctx_zap() - take device memory from all contexts that the adapter no longer serves
 * @dev: the device
 *
 * A context that is created meanwhile belongs to the new epoch, or cannot be used to map
 * anything (efa_mmap()).
 *
 * Context: process; the epoch was raised, or the device leaves.
 */
void efa_ctx_zap(struct efa_dev *dev)
{
	struct eadm_object *obj;
	u64 id;

	for (id = 0; (obj = eadm_table_next(&dev->adapter.ctxs, &id)); id++) {
		if (READ_ONCE(dev->adapter.leaving) || eadm_object_is_dead(&dev->adapter, obj))
			eadm_maps_end(container_of(obj, struct efa_ctx, obj)->maps);
		eadm_object_put(obj);
	}
}

/**
 * efa_ctx_leave() - the device is about to be removed: take device memory from all contexts
 * @dev: the device
 *
 * The RDMA core destroys the QPs of processes first, which go on and must not get SIGBUS for
 * what they did not do.
 *
 * Context: process.
 */
void efa_ctx_leave(struct efa_dev *dev)
{
	/* Either this finds a context in the table, or efa_alloc_ucontext() sees the flag. */
	WRITE_ONCE(dev->adapter.leaving, true);
	efa_ctx_zap(dev);
}
