// SPDX-License-Identifier: GPL-2.0-only
/* Answers of the adapter that are cached (core/recent.c). */

#include "erdma.h"

static int ask_stats(struct eadm_adapter *ad, void *answer)
{
	return erdma_cmd_get_stats(adapter_to_erdma(ad), answer);
}

static int ask_ext_attr(struct eadm_adapter *ad, void *answer)
{
	return erdma_cmd_get_ext_attr(adapter_to_erdma(ad), answer);
}

/**
 * erdma_recent_init() - begin without answers
 * @dev: the device
 */
void erdma_recent_init(struct erdma_dev *dev)
{
	struct erdma_recent *recent = &dev->recent;

	eadm_recent_init(&recent->stats, &dev->adapter, ask_stats, recent->last_stats,
			 sizeof(recent->last_stats), EADM_RECENT_LIFE);
	eadm_recent_init(&recent->ext_attr, &dev->adapter, ask_ext_attr, &recent->last_ext_attr,
			 sizeof(recent->last_ext_attr), EADM_RECENT_LIFE);
}
