// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device memory mapped by processes: doorbells, send queues. Linked into each driver.
 *
 * mmap() only prepares a VMA. Its pages are inserted when the process touches them, if the
 * range still belongs to the context at that time, and are unmapped without taking any lock of
 * the process.
 *
 *	state		set by			access finds
 *	live		-			the device
 *	revoked		eadm_map_remove()	SIGBUS: the process has destroyed the object
 *	dead		eadm_maps_end()		a dummy page: the adapter has lost the
 *						context or is being removed
 *
 * Nothing becomes live again. A revoked context can still become dead; a dead one stays dead,
 * because the adapter assigns its ranges to new contexts. After a reset only the ranges of new
 * contexts are live.
 *
 * Lock order, outermost first:
 *
 *   mmap_lock of a process, or the lock of a VMA; locks of the driver
 *   eadm_maps.lock
 *   i_mmap_rwsem, memory reclaim, page table locks
 *
 * Fault against zap. A fault tests the state and inserts the page under eadm_maps.lock, held
 * shared. A zap sets the state with the lock held exclusively, and unmaps afterwards. So a fault
 * either has inserted its page already, and unmapping finds the page, or sees the new state.
 * Unmapping finds the page because a VMA is in its address space before it can fault. There is no
 * need to wait for an mmap() in progress, which has no pages. The kernel guarantees the same for
 * VMAs that are copied by fork, split or moved. A zap waits only for faults that are inserting one
 * page: inserting allocates memory for a page table, but depends on nothing that user space
 * controls.
 *
 * Zap against zap. Each zap unmaps with the lock held at least shared, which protects the list.
 *
 * Spurious zaps. The address space is that of the inode of the device node, shared by all contexts
 * opened through that node: where their offsets overlap, a zap also removes pages of other
 * contexts. The next access inserts them again, but a process could slow down other processes by
 * destroying QPs. So each context has its own window of offsets, as long as windows are left and
 * the window has room.
 *
 * Lifetime of the address space. A context has one open file, so all of its VMAs are in one address
 * space, whichever device node was opened. That file is released only after the RDMA core has freed
 * the context: the address space exists as long as the context. Only existing contexts are zapped;
 * the last zap happens when the context is freed.
 *
 * Lifetime of everything else. VMAs outlive their context when the device is removed. Each VMA
 * holds its range, which holds the anonymous file of the context. The file holds the module,
 * because the VMA operations are module code: the module cannot be unloaded earlier. The kernel
 * releases the file when the task that dropped the last reference returns to user space, so neither
 * memory nor code is freed while the function that dropped it is still running.
 */

#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/idr.h>
#include <linux/io.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat_kernel.h"
#include "maps.h"

/* Offsets in pages; the RDMA core supports 32-bit offsets. Host memory uses the lower half. */
#define WINDOW_PAGES	0x4000U
#define WINDOWS_BEGIN	0x80000000U
#define NR_WINDOWS	(WINDOWS_BEGIN / WINDOW_PAGES)

static DEFINE_IDA(windows);

static int maps_release(struct inode *inode, struct file *file)
{
	struct eadm_maps *maps = file->private_data;

	if (maps->dummy)
		__free_page(maps->dummy);
	kfree(maps);
	return 0;
}

static const struct file_operations maps_fops = {
	.owner = THIS_MODULE,
	.release = maps_release,
};

/**
 * eadm_maps_create() - prepare a new context for ranges of device memory
 *
 * Context: process.
 * Return: handle for eadm_maps_end() and eadm_maps_put(), or an ERR_PTR().
 */
struct eadm_maps *eadm_maps_create(void)
{
	struct eadm_maps *maps = kzalloc(sizeof(*maps), GFP_KERNEL_ACCOUNT);
	struct file *file;

	if (!maps)
		return ERR_PTR(-ENOMEM);
	init_rwsem(&maps->lock);
	INIT_LIST_HEAD(&maps->ranges);
	file = anon_inode_getfile("[eadm-maps]", &maps_fops, maps, O_RDWR);
	if (IS_ERR(file)) {
		kfree(maps);
		return ERR_CAST(file);
	}
	maps->file = file;
	/* If this fails, the context works without a window. */
	maps->window = ida_alloc_max(&windows, NR_WINDOWS - 1, GFP_KERNEL);
	return maps;
}

/* Removes the pages of a range from all processes. */
static void zap(struct eadm_map *map)
{
	lockdep_assert_held(&map->maps->lock);
	if (map->mapping)
		unmap_mapping_range(map->mapping, (loff_t)map->pgoff << PAGE_SHIFT,
				    (loff_t)map->pages << PAGE_SHIFT, 1);
}

/**
 * eadm_maps_end() - end the access of processes when the adapter no longer serves a context
 * @maps: ranges of the context, which still exists
 *
 * On return no process can access the device through these ranges. Later writes of processes go to
 * a dummy page.
 *
 * Context: process; does not wait for other processes.
 */
void eadm_maps_end(struct eadm_maps *maps)
{
	struct eadm_map *map;

	down_write(&maps->lock);
	maps->dead = true;
	downgrade_write(&maps->lock);
	list_for_each_entry(map, &maps->ranges, node)
		zap(map);
	up_read(&maps->lock);
}

/**
 * eadm_maps_put() - release the ranges of a context that is about to be freed
 * @maps: the ranges, ended and all revoked
 *
 * Context: process.
 */
void eadm_maps_put(struct eadm_maps *maps)
{
	if (maps->window >= 0)
		ida_free(&windows, maps->window);
	fput(maps->file);
}

static void map_free(struct kref *ref)
{
	struct eadm_map *map = container_of(ref, struct eadm_map, ref);

	fput(map->maps->file);
	kfree(map);
}

/* Uses the context's window of offsets if possible. */
static int insert(struct eadm_map *map, struct ib_ucontext *ibctx)
{
	size_t size = map->pages << PAGE_SHIFT;
	u32 first;

	if (map->maps->window >= 0) {
		first = WINDOWS_BEGIN + map->maps->window * WINDOW_PAGES;
		if (!rdma_user_mmap_entry_insert_range(ibctx, &map->entry, size, first,
						       first + WINDOW_PAGES - 1))
			return 0;
	}
	return rdma_user_mmap_entry_insert(ibctx, &map->entry, size);
}

/* On return no process can access the device through @map, even if it has begun to map it. */
static void revoke(struct eadm_map *map)
{
	down_write(&map->maps->lock);
	map->revoked = true;
	list_del_init(&map->node);
	downgrade_write(&map->maps->lock);
	zap(map);
	up_read(&map->maps->lock);
	if (map->reserved)
		arch_io_free_memtype_wc(map->addr, map->pages << PAGE_SHIFT);
}

/**
 * eadm_map_create() - allow processes of a context to map a range of device memory
 * @maps: ranges of the context
 * @ibctx: the context
 * @addr: physical address of the range, page-aligned
 * @pages: size in pages
 * @write_combining: stores may be combined
 *
 * Context: process.
 * Return: handle for eadm_map_remove(), or NULL.
 */
struct eadm_map *eadm_map_create(struct eadm_maps *maps, struct ib_ucontext *ibctx,
				 phys_addr_t addr, unsigned long pages, bool write_combining)
{
	struct eadm_map *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	map->maps = maps;
	kref_init(&map->ref);
	map->addr = addr;
	map->pages = pages;
	map->write_combining = write_combining;
	/*
	 * On x86, a page that is inserted individually gets the memory type reserved for its
	 * address, regardless of the VMA's memory type. Without a reservation stores are not
	 * combined.
	 */
	map->reserved = write_combining && !arch_io_reserve_memtype_wc(addr, pages << PAGE_SHIFT);
	get_file(maps->file);
	down_write(&maps->lock);
	list_add(&map->node, &maps->ranges);
	up_write(&maps->lock);
	if (!insert(map, ibctx))
		return map;
	revoke(map);
	kref_put(&map->ref, map_free);
	return NULL;
}

/**
 * eadm_map_remove() - revoke a range of device memory from a context
 * @map: the range, or NULL; its context exists
 *
 * On return no process can access the device through it.
 *
 * Context: process; does not wait for other processes.
 */
void eadm_map_remove(struct eadm_map *map)
{
	if (!map)
		return;
	/* Revoke before removing the entry, which may hold the last reference. */
	if (map->maps)
		revoke(map);
	rdma_user_mmap_entry_remove(&map->entry);
}

/**
 * eadm_map_free() - verb: the last user of a range's offset is gone
 * @entry: the entry
 *
 * Context: process.
 */
void eadm_map_free(struct rdma_user_mmap_entry *entry)
{
	kref_put(&to_eadm_map(entry)->ref, map_free);
}

/* Called when a VMA is copied by fork or split. */
static void vma_open(struct vm_area_struct *vma)
{
	struct eadm_map *map = vma->vm_private_data;

	kref_get(&map->ref);
}

static void vma_close(struct vm_area_struct *vma)
{
	struct eadm_map *map = vma->vm_private_data;

	kref_put(&map->ref, map_free);
}

/*
 * Processes of a context share the page. No reference is counted for page table entries that map
 * it: the page exists as long as the file, which each VMA holds.
 */
static vm_fault_t insert_dummy(struct eadm_maps *maps, struct vm_fault *vmf)
{
	struct page *page = READ_ONCE(maps->dummy), *other;

	lockdep_assert_held(&maps->lock);
	if (!page) {
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return VM_FAULT_OOM;
		/* Pairs with the READ_ONCE() above in a concurrent fault. */
		other = cmpxchg(&maps->dummy, NULL, page);
		if (other) {
			__free_page(page);
			page = other;
		}
	}
	return vmf_insert_pfn_prot(vmf->vma, vmf->address, page_to_pfn(page),
				   vm_get_page_prot(vmf->vma->vm_flags));
}

static vm_fault_t vma_fault(struct vm_fault *vmf)
{
	struct eadm_map *map = vmf->vma->vm_private_data;
	struct eadm_maps *maps = map->maps;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	pgoff_t page;

	down_read(&maps->lock);
	page = vmf->pgoff - map->pgoff;
	if (maps->dead)
		ret = insert_dummy(maps, vmf);
	else if (!map->revoked && page < map->pages)
		ret = vmf_insert_pfn_prot(vmf->vma, vmf->address, PHYS_PFN(map->addr) + page,
					  vmf->vma->vm_page_prot);
	up_read(&maps->lock);
	return ret;
}

static const struct vm_operations_struct vma_ops = {
	.open = vma_open,
	.close = vma_close,
	.fault = vma_fault,
};

/**
 * eadm_map_mmap() - prepare a VMA for a range of device memory
 * @map: the range, referenced during the call
 * @vma: the VMA, as large as the range
 * @prot: memory type, in terms of the VMA's protection
 *
 * The driver takes over the VMA: the RDMA core no longer tracks it.
 *
 * Context: process, in mmap() of a context's file.
 * Return: 0 or -EINVAL.
 */
int eadm_map_mmap(struct eadm_map *map, struct vm_area_struct *vma, pgprot_t prot)
{
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	kref_get(&map->ref);
	down_write(&map->maps->lock);
	map->mapping = vma->vm_file->f_mapping;
	map->pgoff = vma->vm_pgoff;
	up_write(&map->maps->lock);
	/* mprotect() starts from this value as well. */
	vma->vm_page_prot = pgprot_decrypted(prot);
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_private_data = map;
	vma->vm_ops = &vma_ops;
	return 0;
}
