// SPDX-License-Identifier: GPL-2.0-only
/* Answers of the adapter that are cached (core/recent.c). */

#include "efa.h"
#include "efa_classes.h"

/*
 * Registers are read one at a time, and recovery reads them, too. An adapter that does not
 * answer holds it up by all tries of a read: this is several times as long.
 */
#define REGS_LIFE	HZ

static int ask_regs(struct eadm_adapter *ad, void *answer)
{
	struct efa_dev *dev = adapter_to_efa(ad);
	u32 *value = answer, i;

	for (i = 0; i < EFA_REGS_COUNT; i++) {
		if (!efa_reg_bits(i * sizeof(u32)))
			continue;
		value[i] = efa_reg_read(dev, i * sizeof(u32));
		if (value[i] == EFA_MMIO_NO_VALUE)
			return -EIO;
	}
	return 0;
}

/**
 * efa_recent_init() - begin without answers
 * @dev: the device
 */
void efa_recent_init(struct efa_dev *dev)
{
	struct efa_recent *recent = &dev->recent;

	eadm_recent_init(&recent->stats, &dev->adapter, efa_cmd_get_stats,
			 &recent->last_stats, sizeof(recent->last_stats), EADM_RECENT_LIFE);
	eadm_recent_init(&recent->regs, &dev->adapter, ask_regs, recent->last_regs,
			 sizeof(recent->last_regs), REGS_LIFE);
}
