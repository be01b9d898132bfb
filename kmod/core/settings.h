/* SPDX-License-Identifier: GPL-2.0-only */
/* Settings of a driver, as shown and changed by "eadm conf". */
#ifndef EADM_SETTINGS_H
#define EADM_SETTINGS_H

#include <linux/time64.h>

#include "adapter.h"

/**
 * struct eadm_setting - a setting and its range
 * @id: EADM_CONF_PARAM_*
 * @min: lowest value, in the driver's unit
 * @max: highest value, in the driver's unit
 * @scale: number of row units per driver unit
 * @unit: unit of the row; may be NULL
 */
struct eadm_setting {
	u32 id;
	u32 min;
	u32 max;
	u32 scale;
	const char *unit;
};

/* Settings that every driver has: the command timeout in ms, and the debug topics. */
#define EADM_SETTING_TIMEOUT(min_ms, max_ms) \
	{ EADM_CONF_PARAM_CMD_TIMEOUT, min_ms, max_ms, NSEC_PER_MSEC, "ns" }
#define EADM_SETTING_DEBUG(topics) \
	{ EADM_CONF_PARAM_DEBUG, 0, topics, 1 }

/**
 * struct eadm_settings - the settings of a family
 * @table: all settings, ordered by number
 * @count: number of settings
 * @fill: fill in the value of a family-specific setting. NULL if there are none
 * @apply: apply the value of a family-specific setting. Return 0 or -errno; -EOPNOTSUPP if the
 *	adapter does not support the setting
 */
struct eadm_settings {
	const struct eadm_setting *table;
	u32 count;
	void (*fill)(struct eadm_adapter *ad, u32 id, struct eadm_snap_conf *s,
		     const struct eadm_diag_req *req);
	int (*apply)(struct eadm_adapter *ad, u32 id, u32 value);
};

extern const struct eadm_diag_obj eadm_diag_conf;

int eadm_setting_change(struct eadm_diag_dev *dd, u32 id, u64 value);

#endif /* EADM_SETTINGS_H */
