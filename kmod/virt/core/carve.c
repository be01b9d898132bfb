// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory behind an adapter's BARs: pages of RAM, for kernels that can change the mapping of
 * RAM.
 *
 * A driver requests its BARs from iomem_resource, where all memory is a busy "System RAM" entry. So
 * the pages are cut out of that entry: the entry keeps the part below, and a new entry (a piece)
 * covers the part above. Freeing the memory closes the hole again, regardless of the order in which
 * adapters are removed.
 */
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/set_memory.h>
#include <linux/slab.h>

#include "vdev.h"

/*
 * Entry that we add to the memory map. Each hole has one entry: cutting may need it for the part
 * above, and closing may need it for the hole itself.
 */
struct vdev_piece {
	struct list_head link;
	struct resource res;
	struct resource *origin;	/* the firmware's entry that contains it */
};

/* Protects the lists and our changes of iomem_resource. */
static DEFINE_MUTEX(map_lock);
static LIST_HEAD(used);		/* pieces in the memory map */
static LIST_HEAD(spare);

static struct vdev_piece *piece_of(struct resource *res)
{
	struct vdev_piece *piece;

	list_for_each_entry(piece, &used, link)
		if (&piece->res == res)
			return piece;
	return NULL;
}

static struct resource *origin_of(struct resource *res)
{
	struct vdev_piece *piece = piece_of(res);

	return piece ? piece->origin : res;
}

static int piece_insert(struct resource *origin, resource_size_t start,
			resource_size_t end)
{
	struct vdev_piece *piece;
	int ret;

	piece = list_first_entry(&spare, struct vdev_piece, link);
	piece->origin = origin;
	piece->res = (struct resource) {
		.start = start,
		.end = end,
		.name = origin->name,
		.flags = origin->flags,
		.desc = origin->desc,
	};
	ret = insert_resource(&iomem_resource, &piece->res);
	if (!ret)
		list_move(&piece->link, &used);
	return ret;
}

static void piece_remove(struct vdev_piece *piece)
{
	remove_resource(&piece->res);
	list_move(&piece->link, &spare);
}

/*
 * Changes the range of @res. If it has children outside the new range, it has to be removed, which
 * moves its children to the parent, and re-inserted, which takes back the children inside the new
 * range.
 */
static int resize(struct resource *res, resource_size_t start,
		  resource_size_t end)
{
	int ret;

	if (!adjust_resource(res, start, end - start + 1))
		return 0;
	ret = remove_resource(res);
	if (ret)
		return ret;
	/* Removal does not clear these links, which would corrupt the tree. */
	res->child = NULL;
	res->sibling = NULL;
	res->start = start;
	res->end = end;
	return insert_resource(&iomem_resource, res);
}

/* Cuts a range out of the memory map; returns the entry that contained it. */
static struct resource *cut(resource_size_t start, resource_size_t end)
{
	struct resource *res, *origin;
	resource_size_t top;
	int ret;

	for (res = iomem_resource.child; res; res = res->sibling)
		if (res->start <= start && end <= res->end)
			break;
	if (!res || (res->flags & IORESOURCE_SYSTEM_RAM) != IORESOURCE_SYSTEM_RAM)
		return ERR_PTR(-ENXIO);
	origin = origin_of(res);
	top = res->end;
	if (res->start == start && top == end) {
		/* The firmware's own entry must not disappear. */
		if (res == origin)
			return ERR_PTR(-ENOSPC);
		piece_remove(piece_of(res));
		return origin;
	}
	if (res->start == start) {
		ret = resize(res, end + 1, top);
		return ret ? ERR_PTR(ret) : origin;
	}
	ret = resize(res, res->start, start - 1);
	if (!ret && top > end) {
		ret = piece_insert(origin, end + 1, top);
		if (ret)
			WARN_ON(resize(res, res->start, top));
	}
	return ret ? ERR_PTR(ret) : origin;
}

/* Closes a hole: merges the adjacent entries that were originally one. */
static int mend(struct resource *origin, resource_size_t start,
		resource_size_t end)
{
	struct resource *res, *below = NULL, *above = NULL;

	for (res = iomem_resource.child; res; res = res->sibling) {
		if (origin_of(res) != origin)
			continue;
		if (res->end + 1 == start)
			below = res;
		if (res->start == end + 1)
			above = res;
	}
	/* The firmware's own entry must be kept. */
	if (below && above && above == origin) {
		start = below->start;
		piece_remove(piece_of(below));
		return resize(above, start, above->end);
	}
	if (below && above) {
		end = above->end;
		piece_remove(piece_of(above));
	}
	if (below)
		return resize(below, below->start, end);
	if (above)
		return resize(above, start, above->end);
	return piece_insert(origin, start, end);
}

static void set_reserved(struct vdev *vdev, bool reserved)
{
	struct page *page = pfn_to_page(PHYS_PFN(vdev->window));
	unsigned int i;

	for (i = 0; i < BIT(vdev->window_order); i++) {
		if (reserved)
			SetPageReserved(page + i);
		else
			ClearPageReserved(page + i);
	}
}

/* Sets the memory type of a driver's BAR mapping, or restores that of RAM. */
static void set_types(struct vdev *vdev, bool in_use)
{
	const struct vdev_bar *bar = vdev->family->function->bar;
	int i;

	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		unsigned long addr = (unsigned long)vdev->window_virt + vdev->bar_offset[i];
		int pages = bar[i].size >> PAGE_SHIFT;

		if (!bar[i].size)
			continue;
		if (!in_use)
			set_memory_wb(addr, pages);
		else if (bar[i].kind == VDEV_BAR_MEMORY)
			set_memory_wc(addr, pages);
		else
			set_memory_uc(addr, pages);
	}
}

static int cut_out(struct vdev *vdev, struct vdev_piece *piece)
{
	phys_addr_t start = vdev->window;
	struct resource *origin;

	mutex_lock(&map_lock);
	list_add(&piece->link, &spare);
	origin = cut(start, start + (PAGE_SIZE << vdev->window_order) - 1);
	if (IS_ERR(origin))
		list_del(&piece->link);
	mutex_unlock(&map_lock);
	if (IS_ERR(origin))
		return PTR_ERR(origin);
	vdev->window_origin = origin;
	return 0;
}

/**
 * vdev_memory_get() - get the memory for a window
 * @vdev: adapter with arranged BARs; on return @window and @window_virt refer to zeroed memory,
 *	  mapped according to each BAR's kind
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int vdev_memory_get(struct vdev *vdev)
{
	struct vdev_piece *piece;
	struct page *page;
	int ret;

	piece = kzalloc(sizeof(*piece), GFP_KERNEL);
	if (!piece)
		return -ENOMEM;
	page = alloc_pages(GFP_KERNEL | __GFP_ZERO, vdev->window_order);
	if (!page) {
		kfree(piece);
		return -ENOMEM;
	}
	vdev->window = page_to_phys(page);
	vdev->window_virt = page_address(page);
	ret = cut_out(vdev, piece);
	if (ret) {
		kfree(piece);
		__free_pages(page, vdev->window_order);
		return ret;
	}
	set_reserved(vdev, true);
	set_types(vdev, true);
	return 0;
}

/**
 * vdev_memory_put() - return the memory of a window
 * @vdev: adapter whose memory is no longer mapped elsewhere
 *
 * Context: may sleep.
 */
void vdev_memory_put(struct vdev *vdev)
{
	phys_addr_t start = vdev->window;
	struct vdev_piece *piece;
	int ret;

	set_types(vdev, false);
	set_reserved(vdev, false);

	mutex_lock(&map_lock);
	ret = mend(vdev->window_origin, start, start + (PAGE_SIZE << vdev->window_order) - 1);
	if (ret)
		pr_err(VDEV_MODULE ": memory map not restored at %pa: %d\n",
		       &start, ret);
	piece = list_first_entry_or_null(&spare, struct vdev_piece, link);
	if (piece)
		list_del(&piece->link);
	mutex_unlock(&map_lock);
	kfree(piece);
	__free_pages(pfn_to_page(PHYS_PFN(start)), vdev->window_order);
}
