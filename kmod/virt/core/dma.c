// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the driver, by the addresses it gives to the device.
 *
 * Addresses are bus addresses: physical, unless an IOMMU translates for the
 * function. Whatever is not memory is refused instead of touched.
 *
 * Memory is touched between ev_dma_begin() and ev_dma_end() only, a page at most
 * at a time: whoever ends bus mastering waits for those, see ev_dma_wait().
 */
#include <linux/iommu.h>
#include <linux/ioport.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "../erdma/ev.h"

/**
 * ev_dma_begin() - touch driver memory from now on, if that is allowed
 * @ad: adapter whose driver's memory it is
 *
 * Context: any. Preemption is off until ev_dma_end(), which follows soon; may be
 * nested.
 * Return: whether memory may be touched; if not, ev_dma_end() must not follow.
 */
bool ev_dma_begin(struct ev_adapter *ad)
{
	preempt_disable();
	atomic_inc(&ad->dma_users);
	/* Pairs with ev_dma_wait(): one of the two sees the other. */
	smp_mb__after_atomic();
	if (ev_model_may_access(ad))
		return true;
	ev_dma_end(ad);
	return false;
}

/**
 * ev_dma_end() - touch driver memory no longer
 * @ad: adapter
 *
 * Context: any.
 */
void ev_dma_end(struct ev_adapter *ad)
{
	atomic_dec_return_release(&ad->dma_users);
	preempt_enable();
}

/**
 * ev_dma_wait() - wait until nobody touches driver memory any more
 * @ad: adapter that has just lost bus mastering
 *
 * As on PCI, where the completion of the write that ends bus mastering comes
 * after all that the function wrote to memory before it.
 *
 * Context: any, interrupts may be off: those who are waited for cannot be
 * preempted, and wait for nobody.
 */
void ev_dma_wait(struct ev_adapter *ad)
{
	/* Pairs with ev_dma_begin(). */
	smp_mb();
	while (atomic_read_acquire(&ad->dma_users))
		cpu_relax();
}

/**
 * ev_dma_peek() - read a doorbell record
 * @ad: adapter
 * @record: from ev_dma_record()
 *
 * Context: any.
 * Return: its value, 0 if memory must not be touched.
 */
u64 ev_dma_peek(struct ev_adapter *ad, const __le64 *record)
{
	u64 value;

	if (!ev_dma_begin(ad))
		return 0;
	value = le64_to_cpu(READ_ONCE(*record));
	ev_dma_end(ad);
	return value;
}

/**
 * ev_dma_page() - find the memory behind a DMA address
 * @ad: adapter
 * @addr: DMA address
 *
 * Context: any. A hard interrupt cannot look at the memory map, whose lock it
 * may have interrupted: there, reserved pages do not count as memory. What
 * drivers get from dma_alloc_coherent() is not reserved.
 * Return: kernel address of the byte at @addr, good up to the end of its 4 KiB
 * page, or NULL if that is not memory a device may use.
 */
void *ev_dma_page(struct ev_adapter *ad, u64 addr)
{
	phys_addr_t phys = addr;
	struct page *page;

	if (ad->iommu) {
		phys = iommu_iova_to_phys(ad->iommu, addr);
		if (!phys)
			return NULL;
	}
	if (addr == 0 || phys >> MAX_PHYSMEM_BITS)
		return NULL;
	page = pfn_to_online_page(PHYS_PFN(phys));
	if (!page)
		return NULL;
	/* Holes of the memory map have reserved pages, and so has the kernel. */
	if (PageReserved(page) && (in_hardirq() || !page_is_ram(PHYS_PFN(phys))))
		return NULL;
	return page_address(page) + offset_in_page(phys);
}

static int dma_copy(struct ev_adapter *ad, u64 addr, void *to, const void *from,
		    size_t len)
{
	while (len) {
		size_t part = min_t(size_t, len, ERDMA_HW_PAGE_SIZE -
				    (addr & (ERDMA_HW_PAGE_SIZE - 1)));
		void *mem = ev_dma_page(ad, addr);

		if (!mem || !ev_dma_begin(ad))
			return -EFAULT;
		if (to) {
			memcpy(to, mem, part);
			to += part;
		} else {
			memcpy(mem, from, part);
			from += part;
		}
		ev_dma_end(ad);
		addr += part;
		len -= part;
	}
	return 0;
}

/**
 * ev_dma_write() - copy to driver memory
 * @ad: adapter
 * @addr: DMA address
 * @src: what to copy
 * @len: bytes
 *
 * Context: any.
 * Return: 0, or -EFAULT if a part of the target is not memory, or must not be
 * touched.
 */
int ev_dma_write(struct ev_adapter *ad, u64 addr, const void *src, size_t len)
{
	return dma_copy(ad, addr, NULL, src, len);
}

/**
 * ev_dma_read() - copy from driver memory
 * @ad: adapter
 * @addr: DMA address
 * @dst: where to
 * @len: bytes
 *
 * Context: any.
 * Return: 0, or -EFAULT if a part of the source is not memory, or must not be
 * touched.
 */
int ev_dma_read(struct ev_adapter *ad, u64 addr, void *dst, size_t len)
{
	return dma_copy(ad, addr, dst, NULL, len);
}

/**
 * ev_dma_record() - check the address of a doorbell record
 * @ad: adapter
 * @addr: DMA address
 *
 * Context: any.
 * Return: the record, or NULL if the address is not aligned or not memory.
 */
__le64 *ev_dma_record(struct ev_adapter *ad, u64 addr)
{
	if (addr % ERDMA_DBREC_SIZE)
		return NULL;
	return ev_dma_page(ad, addr);
}

/**
 * ev_buf_alloc() - make an empty list of pages
 * @buf: buffer
 * @off: offset of the first byte in the first page
 * @len: bytes the buffer holds from there
 * @gfp: how to get memory for it
 *
 * The caller sets each entry of @buf->page.
 *
 * Context: may sleep unless @gfp says otherwise.
 * Return: 0 or -ENOMEM.
 */
int ev_buf_alloc(struct ev_buf *buf, u32 off, u64 len, gfp_t gfp)
{
	u64 npages = DIV_ROUND_UP_ULL(off + len, ERDMA_HW_PAGE_SIZE);

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
 * ev_buf_map() - find a contiguous range of driver memory
 * @ad: adapter
 * @buf: filled in; released with ev_buf_unmap()
 * @addr: DMA address
 * @len: bytes, not 0
 * @gfp: how to get memory for the list of its pages
 *
 * Context: may sleep unless @gfp says otherwise.
 * Return: 0, -EFAULT if a part is not memory, -ENOMEM.
 */
int ev_buf_map(struct ev_adapter *ad, struct ev_buf *buf, u64 addr, u64 len,
	       gfp_t gfp)
{
	u32 off = addr & (ERDMA_HW_PAGE_SIZE - 1);
	u32 i;
	int ret;

	if (addr + len < addr)
		return -EFAULT;
	ret = ev_buf_alloc(buf, off, len, gfp);
	if (ret)
		return ret;
	for (i = 0; i < buf->npages; i++) {
		buf->page[i] = ev_dma_page(ad, addr - off +
					   (u64)i * ERDMA_HW_PAGE_SIZE);
		if (!buf->page[i]) {
			ev_buf_unmap(buf);
			return -EFAULT;
		}
	}
	return 0;
}

/**
 * ev_buf_unmap() - forget driver memory
 * @buf: from ev_buf_map(), or never mapped
 */
void ev_buf_unmap(struct ev_buf *buf)
{
	kvfree(buf->page);
	buf->page = NULL;
	buf->npages = 0;
}
