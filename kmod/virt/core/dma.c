// SPDX-License-Identifier: GPL-2.0-only
/*
 * Driver memory, accessed by the addresses that the driver passes to the device.
 *
 * Addresses are bus addresses: physical, unless an IOMMU translates for the function. Addresses
 * outside memory are refused.
 *
 * Memory is accessed only between vdev_dma_begin() and vdev_dma_end(), at most one page at a time:
 * ending bus mastering waits for such accesses, see vdev_dma_wait().
 */
#include <linux/iommu.h>
#include <linux/ioport.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "vdev.h"

/**
 * vdev_dma_attach() - determine how the function's addresses are translated
 * @vdev: adapter that a driver is starting
 *
 * Context: may sleep, the model's turn.
 * Return: false if the function is not on the bus.
 */
bool vdev_dma_attach(struct vdev *vdev)
{
	struct pci_dev *pdev;

	if (!vdev->bus)
		return false;
	pdev = pci_get_slot(vdev->bus, PCI_DEVFN(0, 0));
	if (!pdev)
		return false;
	vdev->iommu = iommu_get_domain_for_dev(&pdev->dev);
	pci_dev_put(pdev);
	return true;
}

/**
 * vdev_dma_detach() - stop using the function's addresses
 * @vdev: adapter
 *
 * Context: the model's turn.
 */
void vdev_dma_detach(struct vdev *vdev)
{
	vdev->iommu = NULL;
}

/**
 * vdev_dma_begin() - begin an access to driver memory, if allowed
 * @vdev: adapter whose driver owns the memory
 *
 * Context: any. Preemption is disabled until vdev_dma_end(), which must follow soon; may be nested.
 * Return: true if the access is allowed; if not, vdev_dma_end() must not be called.
 */
bool vdev_dma_begin(struct vdev *vdev)
{
	preempt_disable();
	atomic_inc(&vdev->dma_users);
	/* Pairs with vdev_dma_wait(): at least one of the two functions sees the other's write. */
	smp_mb__after_atomic();
	if (vdev_may_access(vdev))
		return true;
	vdev_dma_end(vdev);
	return false;
}

/**
 * vdev_dma_end() - end an access to driver memory
 * @vdev: adapter
 *
 * Context: any.
 */
void vdev_dma_end(struct vdev *vdev)
{
	atomic_dec_return_release(&vdev->dma_users);
	preempt_enable();
}

/**
 * vdev_dma_wait() - wait until all accesses to driver memory have ended
 * @vdev: adapter that has just lost bus mastering
 *
 * This models PCI, where the write that ends bus mastering completes after all earlier memory
 * writes of the function.
 *
 * Context: any, even with interrupts disabled, because the accesses in progress cannot be preempted
 * and do not wait for anything.
 */
void vdev_dma_wait(struct vdev *vdev)
{
	/* Pairs with vdev_dma_begin(). */
	smp_mb();
	while (atomic_read_acquire(&vdev->dma_users))
		cpu_relax();
}

/**
 * vdev_dma_answer() - write a response that the driver waits for, even while the driver requests a
 * reset
 * @vdev: adapter
 * @addr: DMA address of 8 bytes, aligned; the driver keeps the memory across a reset
 * @src: the response, aligned
 *
 * The response becomes visible atomically.
 *
 * Context: any.
 */
void vdev_dma_answer(struct vdev *vdev, u64 addr, const void *src)
{
	u64 *to = addr % sizeof(*to) ? NULL : vdev_dma_page(vdev, addr);

	preempt_disable();
	atomic_inc(&vdev->dma_users);
	/* See vdev_dma_begin(). */
	smp_mb__after_atomic();
	if (to && vdev_is_master(vdev))
		/* Pairs with the driver's read. */
		smp_store_release(to, *(const u64 *)src);
	vdev_dma_end(vdev);
}

/**
 * vdev_dma_peek() - read a doorbell record
 * @vdev: adapter
 * @record: from vdev_dma_record()
 *
 * Context: any.
 * Return: its value, or 0 if memory must not be accessed.
 */
u64 vdev_dma_peek(struct vdev *vdev, const __le64 *record)
{
	u64 value;

	if (!vdev_dma_begin(vdev))
		return 0;
	value = le64_to_cpu(READ_ONCE(*record));
	vdev_dma_end(vdev);
	return value;
}

/**
 * vdev_dma_page() - find the memory behind a DMA address
 * @vdev: adapter
 * @addr: DMA address
 *
 * Context: any. A hard interrupt cannot search the memory map, because it may have interrupted the
 * holder of the map's lock; in that context, reserved pages do not count as memory. Memory from
 * dma_alloc_coherent() is not reserved.
 * Return: kernel address of the byte at @addr, valid up to the end of its 4 KiB page, or NULL if
 * that is not memory that a device may use.
 */
void *vdev_dma_page(struct vdev *vdev, u64 addr)
{
	phys_addr_t phys = addr;
	struct page *page;

	if (vdev->iommu) {
		phys = iommu_iova_to_phys(vdev->iommu, addr);
		if (!phys)
			return NULL;
	}
	if (addr == 0 || phys >> MAX_PHYSMEM_BITS)
		return NULL;
	page = pfn_to_online_page(PHYS_PFN(phys));
	if (!page)
		return NULL;
	/*
	 * Pages of the kernel image are reserved, as are pages in holes of the memory map.
	 */
	if (PageReserved(page) && (in_hardirq() || !page_is_ram(PHYS_PFN(phys))))
		return NULL;
	return page_address(page) + offset_in_page(phys);
}

static int dma_copy(struct vdev *vdev, u64 addr, void *to, const void *from,
		    size_t len)
{
	while (len) {
		size_t part = min_t(size_t, len, VDEV_PAGE_SIZE -
				    (addr & (VDEV_PAGE_SIZE - 1)));
		void *mem = vdev_dma_page(vdev, addr);

		if (!mem || !vdev_dma_begin(vdev))
			return -EFAULT;
		if (to) {
			memcpy(to, mem, part);
			to += part;
		} else {
			memcpy(mem, from, part);
			from += part;
		}
		vdev_dma_end(vdev);
		addr += part;
		len -= part;
	}
	return 0;
}

/**
 * vdev_dma_write() - copy to driver memory
 * @vdev: adapter
 * @addr: DMA address
 * @src: source
 * @len: size in bytes
 *
 * Context: any.
 * Return: 0, or -EFAULT if part of the target is not memory or must not be accessed.
 */
int vdev_dma_write(struct vdev *vdev, u64 addr, const void *src, size_t len)
{
	return dma_copy(vdev, addr, NULL, src, len);
}

/**
 * vdev_dma_read() - copy from driver memory
 * @vdev: adapter
 * @addr: DMA address
 * @dst: destination
 * @len: size in bytes
 *
 * Context: any.
 * Return: 0, or -EFAULT if part of the source is not memory or must not be accessed.
 */
int vdev_dma_read(struct vdev *vdev, u64 addr, void *dst, size_t len)
{
	return dma_copy(vdev, addr, dst, NULL, len);
}

/**
 * vdev_dma_record() - check the address of a doorbell record
 * @vdev: adapter
 * @addr: DMA address
 *
 * Context: any.
 * Return: the record, or NULL if the address is not aligned or not memory.
 */
__le64 *vdev_dma_record(struct vdev *vdev, u64 addr)
{
	if (addr % sizeof(__le64))
		return NULL;
	return vdev_dma_page(vdev, addr);
}

/**
 * vdev_buf_alloc() - allocate an empty list of pages
 * @buf: buffer
 * @off: offset of the first byte in the first page
 * @len: size of the buffer in bytes
 * @gfp: allocation flags
 *
 * The caller sets each entry of @buf->page.
 *
 * Context: may sleep unless @gfp forbids it.
 * Return: 0 or -ENOMEM.
 */
int vdev_buf_alloc(struct vdev_buf *buf, u32 off, u64 len, gfp_t gfp)
{
	u64 npages = DIV_ROUND_UP_ULL(off + len, VDEV_PAGE_SIZE);

	if (npages > U32_MAX)
		return -ENOMEM;
	buf->page = kvcalloc(npages, sizeof(*buf->page), gfp | __GFP_NOWARN);
	if (!buf->page)
		return -ENOMEM;
	buf->npages = npages;
	buf->off = off;
	return 0;
}

/**
 * vdev_buf_map() - find a contiguous range of driver memory
 * @vdev: adapter
 * @buf: filled in; release with vdev_buf_unmap()
 * @addr: DMA address
 * @len: size in bytes, not 0
 * @gfp: allocation flags for the list of pages
 *
 * Context: may sleep unless @gfp forbids it.
 * Return: 0, -EFAULT if a part is not memory, -ENOMEM.
 */
int vdev_buf_map(struct vdev *vdev, struct vdev_buf *buf, u64 addr, u64 len,
		 gfp_t gfp)
{
	u32 off = addr & (VDEV_PAGE_SIZE - 1);
	u32 i;
	int ret;

	if (addr + len < addr)
		return -EFAULT;
	ret = vdev_buf_alloc(buf, off, len, gfp);
	if (ret)
		return ret;
	for (i = 0; i < buf->npages; i++) {
		buf->page[i] = vdev_dma_page(vdev, addr - off +
					   (u64)i * VDEV_PAGE_SIZE);
		if (!buf->page[i]) {
			vdev_buf_unmap(buf);
			return -EFAULT;
		}
	}
	return 0;
}

/**
 * vdev_buf_unmap() - release driver memory
 * @buf: buffer from vdev_buf_map(), or never mapped
 */
void vdev_buf_unmap(struct vdev_buf *buf)
{
	kvfree(buf->page);
	buf->page = NULL;
	buf->npages = 0;
}
