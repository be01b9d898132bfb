// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation tables (hw 5.1): finds the memory behind rings, and flattens an MR's tree of tables,
 * regardless of its level, into a list of the pages that contain the entries. The entries
 * themselves stay in driver memory, because they may change.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include "ev.h"

#define MTT_ENTRY_SIZE	sizeof(__le64)

/**
 * ev_mtt_map_ring() - map a ring in pages of any size
 * @ad: adapter
 * @ring: filled in; release with vdev_buf_unmap()
 * @entry: page addresses
 * @count: number of entries, not 0. A single page need not be aligned: drivers describe a
 *	   contiguous ring as one huge page that begins where the ring begins
 * @page_shift: log2 of the page size
 * @off: offset of the ring in the first page
 * @len: size of the ring in bytes
 *
 * Context: may sleep.
 * Return: 0, -EINVAL if the pages are too few or not aligned, -EFAULT, -ENOMEM.
 */
int ev_mtt_map_ring(struct ev_adapter *ad, struct vdev_buf *ring,
		    const __le64 *entry, u32 count, u8 page_shift, u32 off,
		    u64 len)
{
	u64 pos, end = off + len;
	u32 i;
	int ret;

	if (!count || off >> page_shift || end > (u64)count << page_shift)
		return -EINVAL;
	if (count == 1)
		return vdev_buf_map(&ad->vdev, ring, le64_to_cpu(entry[0]) + off, len,
				  GFP_KERNEL);
	for (i = 0; i < count; i++)
		if (le64_to_cpu(entry[i]) & (BIT_ULL(page_shift) - 1))
			return -EINVAL;
	ret = vdev_buf_alloc(ring, off % ERDMA_HW_PAGE_SIZE, len, GFP_KERNEL);
	if (ret)
		return ret;
	pos = round_down(off, ERDMA_HW_PAGE_SIZE);
	for (i = 0; i < ring->npages; i++, pos += ERDMA_HW_PAGE_SIZE) {
		u64 page = le64_to_cpu(entry[pos >> page_shift]);

		ring->page[i] = vdev_dma_page(&ad->vdev, page + (pos &
					    (BIT_ULL(page_shift) - 1)));
		if (!ring->page[i]) {
			vdev_buf_unmap(ring);
			return -EFAULT;
		}
	}
	return 0;
}

/**
 * ev_mtt_map_ring_table() - map a ring whose page addresses are in a table
 * @ad: adapter
 * @ring: filled in; release with vdev_buf_unmap()
 * @table: DMA address of the table
 * @count: entries in it
 * @page_shift: log2 of the page size
 * @off: offset of the ring in the first page
 * @len: size of the ring in bytes
 *
 * Context: may sleep.
 * Return: 0, -EINVAL if the pages are too few or not aligned, -EFAULT, -ENOMEM.
 */
int ev_mtt_map_ring_table(struct ev_adapter *ad, struct vdev_buf *ring, u64 table,
			  u32 count, u8 page_shift, u32 off, u64 len)
{
	__le64 *entry;
	int ret;

	if (!count || table % MTT_ENTRY_SIZE)
		return -EINVAL;
	entry = kvmalloc_array(count, MTT_ENTRY_SIZE, GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	ret = vdev_dma_read(&ad->vdev, table, entry, count * MTT_ENTRY_SIZE);
	if (!ret)
		ret = ev_mtt_map_ring(ad, ring, entry, count, page_shift, off,
				      len);
	kvfree(entry);
	return ret;
}

struct walk {
	struct ev_adapter *ad;
	struct vdev_buf *out;
	u32 done;			/* number of pages of @out filled */
	u8 shift;			/* log2 of the size of a table page */
};

/* Adds the hardware pages of one bottom table page. */
static int walk_bottom(struct walk *w, u64 addr)
{
	u32 n = BIT(w->shift - ERDMA_HW_PAGE_SHIFT);

	for (; n && w->done < w->out->npages; n--) {
		void *page = vdev_dma_page(&w->ad->vdev, addr);

		if (!page)
			return -EFAULT;
		w->out->page[w->done++] = page;
		addr += ERDMA_HW_PAGE_SIZE;
	}
	return 0;
}

/* The recursion is at most three levels deep. */
static int walk_level(struct walk *w, u64 addr, u32 level)
{
	u32 i, per_page = BIT(w->shift) / MTT_ENTRY_SIZE;
	__le64 entry;
	int ret;

	if (addr & (BIT(w->shift) - 1))
		return -EINVAL;
	if (level == 1)
		return walk_bottom(w, addr);
	for (i = 0; i < per_page && w->done < w->out->npages; i++) {
		ret = vdev_dma_read(&w->ad->vdev, addr + i * MTT_ENTRY_SIZE, &entry,
				    sizeof(entry));
		if (!ret)
			ret = walk_level(w, le64_to_cpu(entry), level - 1);
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

/**
 * ev_mtt_map_tree() - map the pages that contain an MR's entries
 * @ad: adapter
 * @out: filled in: the entries, densely packed; release with vdev_buf_unmap()
 * @table: DMA address of the top table
 * @count: number of entries of the MR, not 0
 * @level: 1 (a contiguous table) to 3
 * @mtt_page_shift: log2 of the size of a table page, for levels above 1
 *
 * Context: may sleep.
 * Return: 0, -EINVAL if @count entries do not fit into @level or a table page is not aligned,
 * -EFAULT, -ENOMEM.
 */
int ev_mtt_map_tree(struct ev_adapter *ad, struct vdev_buf *out, u64 table,
		    u64 count, u32 level, u8 mtt_page_shift)
{
	struct walk w = { .ad = ad, .out = out, .shift = mtt_page_shift };
	u32 bits = level * (mtt_page_shift - ilog2(MTT_ENTRY_SIZE));
	int ret;

	if (table % MTT_ENTRY_SIZE)
		return -EINVAL;
	if (level == 1)
		return vdev_buf_map(&ad->vdev, out, table, count * MTT_ENTRY_SIZE,
				  GFP_KERNEL);
	if (bits < 64 && count > BIT_ULL(bits))
		return -EINVAL;
	ret = vdev_buf_alloc(out, 0, count * MTT_ENTRY_SIZE, GFP_KERNEL);
	if (ret)
		return ret;
	ret = walk_level(&w, table, level);
	if (ret)
		vdev_buf_unmap(out);
	return ret;
}
