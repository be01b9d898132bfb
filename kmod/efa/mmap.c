// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of processes (hw 12.7): doorbells and send queues in device memory, rings in
 * host memory.
 *
 * After a reset the adapter reassigns doorbells and send queues: they are unmapped from
 * all processes (efa_ctx_zap()), whose stores then have no effect. Rings stay mapped,
 * which is why the two have separate ranges of offsets.
 */

#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "efa.h"

/*
 * Offsets in pages, in order of preference. The core finds smaller numbers faster, as
 * each six bits are one level of its tree.
 */
struct span {
	u32 first;
	u32 last;
};

#define SPANS	3

static const struct span bar_spans[SPANS] = {
	{ 0, BIT(5) - 1 },
	{ BIT(6), BIT(11) - 1 },
	{ BIT(12), BIT(31) - 1 },
};

static const struct span ring_spans[SPANS] = {
	{ BIT(5), BIT(6) - 1 },
	{ BIT(11), BIT(12) - 1 },
	{ BIT(31), U32_MAX },
};

static int insert_span(struct efa_ctx *ctx, struct efa_mmap_entry *entry, size_t size,
		       const struct span *span)
{
	return rdma_user_mmap_entry_insert_range(&ctx->ibctx, &entry->rdma_entry, size,
						 span->first, span->last);
}

static struct efa_mmap_entry *insert(struct efa_ctx *ctx, enum efa_mmap_kind kind,
				     phys_addr_t addr, void *ring, size_t size)
{
	struct efa_mmap_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	const struct span *spans = kind == EFA_MMAP_RING ? ring_spans : bar_spans;
	int i;

	if (!entry)
		return NULL;
	entry->kind = kind;
	entry->addr = addr;
	entry->ring = ring;
	for (i = 0; i < SPANS; i++)
		if (!insert_span(ctx, entry, size, &spans[i]))
			return entry;
	kfree(entry);
	return NULL;
}

/*
 * The adapter is not trusted about where users may write: it has to be inside the BAR,
 * and not where the registers are.
 */
static struct efa_mmap_entry *insert_bar(struct efa_ctx *ctx, enum efa_mmap_kind kind,
					 u8 bar, u32 offset, u32 bytes)
{
	struct efa_dev *dev = to_efa_dev(ctx->ibctx.device);
	u64 first = round_down(offset, PAGE_SIZE), end = PAGE_ALIGN((u64)offset + bytes);
	resource_size_t start = pci_resource_start(dev->pdev, bar);

	if (!bytes || end > pci_resource_len(dev->pdev, bar) || start & ~PAGE_MASK ||
	    (bar == EFA_REGS_BAR && first < EFA_REGS_SIZE)) {
		ibdev_err_ratelimited(&dev->ibdev, "%u bytes at %#x of BAR %u do not belong to a queue\n",
				      bytes, offset, bar);
		return NULL;
	}
	return insert(ctx, kind, start + first, NULL, end - first);
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
	if (!entry || entry->addr != db_page(dev, offset))
		entry = insert_bar(ctx, EFA_MMAP_DB, dev->db_bar, offset, sizeof(u32));
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
	return insert_bar(ctx, EFA_MMAP_LLQ, EFA_MEM_BAR, offset, bytes);
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
	struct efa_mmap_entry *entry = insert(ctx, EFA_MMAP_RING, 0, mem->ring, mem->ring_size);

	if (entry)
		get_ring(entry);
	return entry;
}

/**
 * efa_mmap_remove() - remove an entry: it can no longer be mapped
 * @entry: the entry, or NULL
 *
 * Context: process.
 */
void efa_mmap_remove(struct efa_mmap_entry *entry)
{
	if (entry)
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
	if (entry->kind == EFA_MMAP_RING)
		put_ring(entry);
	kfree(entry);
}

/* Drops address spaces: those whose processes have ended, or all. */
static void forget_mms(struct efa_ctx *ctx, bool dead_only)
{
	struct mm_struct *mm;
	unsigned long index;

	xa_lock(&ctx->mms);
	xa_for_each(&ctx->mms, index, mm) {
		if (dead_only && atomic_read(&mm->mm_users))
			continue;
		__xa_erase(&ctx->mms, index);
		mmdrop(mm);
	}
	xa_unlock(&ctx->mms);
}

/* Notes that the caller's address space has a mapping, or will have one. */
static int note_mm(struct efa_ctx *ctx)
{
	unsigned long index = (unsigned long)current->mm;
	int ret;

	if (xa_load(&ctx->mms, index))
		return 0;
	forget_mms(ctx, true);
	mmgrab(current->mm);
	ret = xa_insert(&ctx->mms, index, current->mm, GFP_KERNEL);
	if (ret)
		mmdrop(current->mm);
	/* -EBUSY: another thread of the process was faster. */
	return ret == -EBUSY ? 0 : ret;
}

/* The next address space in use from *index on; release it with mmput(). */
static struct mm_struct *next_mm(struct efa_ctx *ctx, unsigned long *index)
{
	struct mm_struct *mm;

	xa_lock(&ctx->mms);
	mm = xa_find(&ctx->mms, index, ULONG_MAX, XA_PRESENT);
	while (mm && !mmget_not_zero(mm))
		mm = xa_find_after(&ctx->mms, index, ULONG_MAX, XA_PRESENT);
	xa_unlock(&ctx->mms);
	return mm;
}

/*
 * Waits for mappings in progress: the kernel makes a mapping findable only
 * after efa_mmap() has returned, but under the same lock.
 */
static void await_mmaps(struct efa_ctx *ctx)
{
	unsigned long index;
	struct mm_struct *mm;

	for (index = 0; (mm = next_mm(ctx, &index)); index++) {
		mmap_read_lock(mm);
		mmap_read_unlock(mm);
		mmput(mm);
	}
}

/**
 * efa_ctx_init_mms() - initialise the list of mappings of a new context
 * @ctx: the context
 */
void efa_ctx_init_mms(struct efa_ctx *ctx)
{
	xa_init(&ctx->mms);
}

/**
 * efa_ctx_forget_mms() - undo efa_ctx_init_mms()
 * @ctx: the context
 *
 * Context: process.
 */
void efa_ctx_forget_mms(struct efa_ctx *ctx)
{
	forget_mms(ctx, false);
	xa_destroy(&ctx->mms);
}

static int map_bar(struct efa_ctx *ctx, struct vm_area_struct *vma,
		   struct efa_mmap_entry *entry)
{
	struct efa_dev *dev = to_efa_dev(ctx->ibctx.device);
	pgprot_t prot = entry->kind == EFA_MMAP_LLQ ? pgprot_writecombine(vma->vm_page_prot) :
						      pgprot_noncached(vma->vm_page_prot);
	int ret;

	WRITE_ONCE(ctx->mapping, vma->vm_file->f_mapping);
	ret = note_mm(ctx);
	if (ret)
		return ret;
	/* Either this sees that it is dead, or efa_ctx_zap() waits for the mapping. */
	smp_mb();
	if (efa_obj_is_dead(dev, &ctx->obj))
		return -EIO;
	return rdma_user_mmap_io(&ctx->ibctx, vma, PHYS_PFN(entry->addr),
				 entry->rdma_entry.npages * PAGE_SIZE, prot,
				 &entry->rdma_entry);
}

/* The process then holds references to the pages, whatever becomes of the queue. */
static int map_ring(struct vm_area_struct *vma, struct efa_mmap_entry *entry)
{
	struct page *page = virt_to_page(entry->ring);
	size_t i;
	int ret;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
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
		if (entry->kind == EFA_MMAP_RING)
			ret = map_ring(vma, entry);
		else
			ret = map_bar(to_efa_ctx(ibctx), vma, entry);
		rdma_user_mmap_entry_put(rdma_entry);
	}
	if (ret)
		efa_count(dev, EFA_CNT_MMAP_ERR);
	return ret;
}

static loff_t span_bytes(const struct span *span)
{
	return (loff_t)(span->last - span->first + 1) << PAGE_SHIFT;
}

/**
 * efa_ctx_zap() - unmap device memory from all contexts
 * @dev: the device
 *
 * Context: process; the epoch was raised.
 */
void efa_ctx_zap(struct efa_dev *dev)
{
	struct address_space *mapping;
	struct efa_ctx *ctx;
	struct efa_obj *obj;
	u64 id;
	int i;

	/* Pairs with the barrier in efa_mmap(). */
	smp_mb();
	for (id = 0; (obj = efa_table_next(&dev->ctxs, &id)); id++) {
		ctx = container_of(obj, struct efa_ctx, obj);
		await_mmaps(ctx);
		/* The open file holds the mapping, and the context exists as long as the file. */
		mapping = READ_ONCE(ctx->mapping);
		for (i = 0; mapping && i < SPANS; i++)
			unmap_mapping_range(mapping, (loff_t)bar_spans[i].first << PAGE_SHIFT,
					    span_bytes(&bar_spans[i]), 1);
		efa_obj_put(obj);
	}
}
