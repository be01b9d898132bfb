// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory behind an adapter's BARs.
 *
 * A driver requests its BARs from iomem_resource, where all memory is a busy
 * "System RAM" entry. So the pages are cut out of that entry: it keeps the part
 * below, a new entry (a piece) takes the part above. Freeing closes the hole
 * again, in whatever order adapters go.
 */
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/set_memory.h>
#include <linux/slab.h>

#include "../erdma/ev.h"

/*
 * Entry that we add to the memory map. Each hole brings one along: cutting
 * may need it for the part above, closing for the hole itself.
 */
struct ev_piece {
	struct list_head link;
	struct resource res;
	struct resource *origin;	/* the firmware's entry it belongs to */
};

/* Guards the lists and our changes of iomem_resource. */
static DEFINE_MUTEX(map_lock);
static LIST_HEAD(used);		/* in the map */
static LIST_HEAD(spare);

static struct ev_piece *piece_of(struct resource *res)
{
	struct ev_piece *piece;

	list_for_each_entry(piece, &used, link)
		if (&piece->res == res)
			return piece;
	return NULL;
}

static struct resource *origin_of(struct resource *res)
{
	struct ev_piece *piece = piece_of(res);

	return piece ? piece->origin : res;
}

static int piece_insert(struct resource *origin, resource_size_t start,
			resource_size_t end)
{
	struct ev_piece *piece;
	int ret;

	piece = list_first_entry(&spare, struct ev_piece, link);
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

static void piece_remove(struct ev_piece *piece)
{
	remove_resource(&piece->res);
	list_move(&piece->link, &spare);
}

/*
 * Gives @res another range. With children outside of the new range it has to
 * be taken out, which hands the children to the parent, and put back, which
 * takes those inside the new range again.
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
	/* Removal leaves the links behind; they would corrupt the tree. */
	res->child = NULL;
	res->sibling = NULL;
	res->start = start;
	res->end = end;
	return insert_resource(&iomem_resource, res);
}

/* Takes a range out of the memory map; returns the entry it belonged to. */
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
		/* The firmware's own entry cannot vanish. */
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

/* Closes a hole: the entries beside it that were one become one again. */
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
	/* The firmware's own entry is the one that stays. */
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

static void set_reserved(struct page *page, bool reserved)
{
	unsigned int i;

	for (i = 0; i < BIT(EV_WINDOW_ORDER); i++) {
		if (reserved)
			SetPageReserved(page + i);
		else
			ClearPageReserved(page + i);
	}
}

/**
 * ev_window_alloc() - get the memory behind the BARs
 * @ad: adapter; its @bar0 and @bar2 point to zeroed memory afterwards
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int ev_window_alloc(struct ev_adapter *ad)
{
	struct ev_piece *piece;
	struct resource *origin;
	phys_addr_t start;

	piece = kzalloc(sizeof(*piece), GFP_KERNEL);
	if (!piece)
		return -ENOMEM;
	ad->window = alloc_pages(GFP_KERNEL | __GFP_ZERO, EV_WINDOW_ORDER);
	if (!ad->window) {
		kfree(piece);
		return -ENOMEM;
	}
	start = page_to_phys(ad->window);

	mutex_lock(&map_lock);
	list_add(&piece->link, &spare);
	origin = cut(start, start + EV_WINDOW_SIZE - 1);
	if (IS_ERR(origin)) {
		list_del(&piece->link);
		kfree(piece);
	}
	mutex_unlock(&map_lock);
	if (IS_ERR(origin)) {
		__free_pages(ad->window, EV_WINDOW_ORDER);
		ad->window = NULL;
		return PTR_ERR(origin);
	}

	ad->window_origin = origin;
	set_reserved(ad->window, true);
	/* The same memory type as a driver's mapping of the BARs. */
	set_memory_uc((unsigned long)page_address(ad->window),
		      BIT(EV_WINDOW_ORDER));
	ad->bar0 = page_address(ad->window) + EV_BAR0_OFFSET;
	ad->bar2 = page_address(ad->window) + EV_BAR2_OFFSET;
	return 0;
}

/**
 * ev_window_free() - return the memory behind the BARs
 * @ad: adapter, removed from its bus, so that nothing maps the BARs any more
 *
 * Context: may sleep.
 */
void ev_window_free(struct ev_adapter *ad)
{
	phys_addr_t start = page_to_phys(ad->window);
	struct ev_piece *piece;
	int ret;

	set_memory_wb((unsigned long)page_address(ad->window),
		      BIT(EV_WINDOW_ORDER));
	set_reserved(ad->window, false);

	mutex_lock(&map_lock);
	ret = mend(ad->window_origin, start, start + EV_WINDOW_SIZE - 1);
	if (ret)
		pr_err(EV_NAME ": memory map not restored at %pa: %d\n",
		       &start, ret);
	piece = list_first_entry_or_null(&spare, struct ev_piece, link);
	if (piece)
		list_del(&piece->link);
	mutex_unlock(&map_lock);
	kfree(piece);
	__free_pages(ad->window, EV_WINDOW_ORDER);
	ad->window = NULL;
	ad->bar0 = NULL;
	ad->bar2 = NULL;
}
