/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data that sysfs has and netlink does not. */
#ifndef EADM_SYSFS_H
#define EADM_SYSFS_H

#include "model/record.h"
#include "source/devlist.h"

bool eadm_sysfs_shows_no_other(struct eadm_ctx *ctx);
int eadm_sysfs_counters(struct eadm_ctx *ctx, const struct eadm_device *dev,
			bool original, struct eadm_record *rec)
	EADM_MUST_CHECK;

#endif /* EADM_SYSFS_H */
