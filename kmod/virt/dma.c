// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the driver, by the addresses it gives to the device.
 *
 * Addresses are bus addresses: physical, unless an IOMMU translates for the
 * function. Whatever is not memory is refused instead of touched.
 */
#include <linux/iommu.h>
#include <linux/ioport.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "ev.h"

/**
 * ev_dma_page() - find the memory behind a DMA address
 * @ad: adapter
 * @addr: DMA address
 *
 * Context: any.
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
	if (PageReserved(page) && !page_is_ram(PHYS_PFN(phys)))
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

		if (!mem)
			return -EFAULT;
		if (to) {
			memcpy(to, mem, part);
			to += part;
		} else {
			memcpy(mem, from, part);
			from += part;
		}
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
 * Return: 0, or -EFAULT if a part of the target is not memory.
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
 * Return: 0, or -EFAULT if a part of the source is not memory.
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
 *
 * The caller sets each entry of @buf->page.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ev_buf_alloc(struct ev_buf *buf, u32 off, u64 len)
{
	u64 npages = DIV_ROUND_UP_ULL(off + len, ERDMA_HW_PAGE_SIZE);

	if (npages > U32_MAX)
		return -ENOMEM;
	buf->page = kvcalloc(npages, sizeof(*buf->page),
			     GFP_KERNEL | __GFP_NOWARN);
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
 *
 * Context: may sleep.
 * Return: 0, -EFAULT if a part is not memory, -ENOMEM.
 */
int ev_buf_map(struct ev_adapter *ad, struct ev_buf *buf, u64 addr, u64 len)
{
	u32 off = addr & (ERDMA_HW_PAGE_SIZE - 1);
	u32 i;
	int ret;

	if (addr + len < addr)
		return -EFAULT;
	ret = ev_buf_alloc(buf, off, len);
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
