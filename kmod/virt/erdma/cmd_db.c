// SPDX-License-Identifier: GPL-2.0-only
/*
 * Doorbell pages for user contexts (hw 4.11). They come from the SQ doorbell area, which has room
 * for 30 contexts with separate pages; further contexts share pages, which does not matter to the
 * model because a doorbell's value identifies the queue. The index counts host pages from the start
 * of BAR0.
 */
#include <linux/bitfield.h>

#include "ev.h"

/* Page 1 is used by drivers without allocation; the last page is shared. */
#define FIRST_PAGE	(ERDMA_BAR_SQDB / ERDMA_HW_PAGE_SIZE + 1)
#define LAST_PAGE	(ERDMA_BAR_SQDB_SHARED / ERDMA_HW_PAGE_SIZE - 1)

/* Returns the page with the fewest users that is not in @other. */
static u32 pick(struct ev_adapter *ad, u32 step, const u32 *other, u32 n)
{
	u32 best = 0, page, i;

	for (page = round_up(FIRST_PAGE, step); page + step - 1 <= LAST_PAGE;
	     page += step) {
		for (i = 0; i < n && other[i] != page; i++)
			;
		if (i == n && (!best || ad->db_users[page] < ad->db_users[best]))
			best = page;
	}
	if (!best || ad->db_users[best] == U16_MAX)
		return 0;
	return best;
}

/*
 * Pages of a context, in the order of the bits ERDMA_DB_*: the RQ doorbell is on the page in the
 * field "cdb", the CQ doorbell on the page in "rdb", see ERDMA_ALLOC_DB_*.
 */
#define PAGES		3

/* Returns the pages that a request refers to; no bits mean all pages. */
static unsigned long wanted(const struct erdma_cmd_db *req)
{
	u32 cfg = le32_to_cpu(req->cfg) & (BIT(PAGES) - 1);

	return cfg ?: BIT(PAGES) - 1;
}

enum ev_syndrome ev_cmd_alloc_db(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	unsigned long want = wanted((void *)cmd->req);
	u32 scale = ad->page_shift - ERDMA_HW_PAGE_SHIFT;
	u32 page[PAGES] = {};
	u32 i;

	for_each_set_bit(i, &want, PAGES) {
		page[i] = pick(ad, BIT(scale), page, i);
		if (!page[i])
			return EV_NO_SPACE;
	}
	for_each_set_bit(i, &want, PAGES)
		ad->db_users[page[i]]++;
	cmd->resp[0] = FIELD_PREP(ERDMA_ALLOC_DB_SDB, page[0] >> scale) |
		       FIELD_PREP(ERDMA_ALLOC_DB_CDB, page[1] >> scale) |
		       FIELD_PREP(ERDMA_ALLOC_DB_RDB, page[2] >> scale);
	return EV_OK;
}

enum ev_syndrome ev_cmd_free_db(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_db *req = (void *)cmd->req;
	unsigned long want = wanted(req);
	u32 scale = ad->page_shift - ERDMA_HW_PAGE_SHIFT;
	u32 page[PAGES] = {
		le16_to_cpu(req->sdb) << scale,
		le16_to_cpu(req->cdb) << scale,
		le16_to_cpu(req->rdb) << scale,
	};
	u32 i, j;

	for_each_set_bit(i, &want, PAGES) {
		if (page[i] >= ARRAY_SIZE(ad->db_users))
			return EV_RANGE;
		if (!ad->db_users[page[i]])
			return EV_NO_OBJECT;
		for (j = 0; j < i; j++)
			if (want & BIT(j) && page[j] == page[i])
				return EV_INVALID;
	}
	for_each_set_bit(i, &want, PAGES)
		ad->db_users[page[i]]--;
	return EV_OK;
}
