// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement of doorbells and send queues (hw 12.7): a process can access all pages that contain its
 * queues, so no two processes share a page.
 */
#include <linux/bitmap.h>

#include "efv.h"

/**
 * efv_db_alloc() - allocate space for one or two doorbells
 * @ad: adapter
 * @uar: UAR of the doorbells
 *
 * Context: efv_fabric held for writing.
 * Return: offset of the doorbells, or EFV_NO_SPACE.
 */
u32 efv_db_alloc(struct efv_adapter *ad, u16 uar)
{
	struct efv_uar *page = xa_load(&ad->uars, uar);
	u32 slot, db;

	if (!page)
		return EFV_NO_SPACE;
	slot = find_first_zero_bit(page->used, EFV_DB_SLOTS);
	if (slot >= EFV_DB_SLOTS)
		return EFV_NO_SPACE;
	set_bit(slot, page->used);
	db = page->number * EFV_DB_PAGE + slot * EFV_DB_SLOT;
	efv_db_clear(ad, db);
	efv_db_clear(ad, db + sizeof(u32));
	return db;
}

/**
 * efv_db_free() - free a doorbell
 * @ad: adapter
 * @uar: UAR of the doorbells
 * @db: offset of the doorbells
 *
 * Context: efv_fabric held for writing.
 */
void efv_db_free(struct efv_adapter *ad, u16 uar, u32 db)
{
	struct efv_uar *page = xa_load(&ad->uars, uar);

	if (page)
		clear_bit(db % EFV_DB_PAGE / EFV_DB_SLOT, page->used);
}

/**
 * efv_llq_alloc() - allocate space for a send queue
 * @ad: adapter
 * @pages: number of 4 KiB pages
 *
 * Context: efv_fabric held for writing.
 * Return: offset in BAR 2, or EFV_NO_SPACE.
 */
u32 efv_llq_alloc(struct efv_adapter *ad, u32 pages)
{
	/* Processes map whole pages of the CPU's page size. */
	unsigned long align = PAGE_SIZE / SZ_4K - 1;
	unsigned long at;

	at = bitmap_find_next_zero_area(ad->llq_used, EFV_LLQ_PAGES, 0, pages, align);
	if (at >= EFV_LLQ_PAGES)
		return EFV_NO_SPACE;
	bitmap_set(ad->llq_used, at, pages);
	return at * SZ_4K;
}

/**
 * efv_llq_free() - free the space of a send queue
 * @ad: adapter
 * @llq: offset of the send queue
 * @pages: number of 4 KiB pages
 *
 * Context: efv_fabric held for writing.
 */
void efv_llq_free(struct efv_adapter *ad, u32 llq, u32 pages)
{
	bitmap_clear(ad->llq_used, llq / SZ_4K, pages);
}
