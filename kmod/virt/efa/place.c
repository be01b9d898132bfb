// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where doorbells and send queues are (hw 12.7): a process can reach the pages that
 * its queues are in, so no two have one in common.
 */
#include <linux/bitmap.h>

#include "efv.h"

/**
 * efv_db_alloc() - find room for a doorbell, or two
 * @ad: adapter
 * @uar: whose it is
 *
 * Context: efv_fabric held for writing.
 * Return: its offset, or EFV_NO_SPACE.
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
 * efv_db_free() - give a doorbell back
 * @ad: adapter
 * @uar: whose it is
 * @db: its offset
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
 * efv_llq_alloc() - find room for a send queue
 * @ad: adapter
 * @pages: of 4 KiB
 *
 * Context: efv_fabric held for writing.
 * Return: its offset in BAR 2, or EFV_NO_SPACE.
 */
u32 efv_llq_alloc(struct efv_adapter *ad, u32 pages)
{
	/* Processes map pages of the CPU. */
	unsigned long align = PAGE_SIZE / SZ_4K - 1;
	unsigned long at;

	at = bitmap_find_next_zero_area(ad->llq_used, EFV_LLQ_PAGES, 0, pages, align);
	if (at >= EFV_LLQ_PAGES)
		return EFV_NO_SPACE;
	bitmap_set(ad->llq_used, at, pages);
	return at * SZ_4K;
}

/**
 * efv_llq_free() - give the room of a send queue back
 * @ad: adapter
 * @llq: its offset
 * @pages: of 4 KiB
 *
 * Context: efv_fabric held for writing.
 */
void efv_llq_free(struct efv_adapter *ad, u32 llq, u32 pages)
{
	bitmap_clear(ad->llq_used, llq / SZ_4K, pages);
}
