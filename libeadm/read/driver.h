/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device's driver and location. */
#ifndef EADM_DRIVER_H
#define EADM_DRIVER_H

#include "model/record.h"
#include "source/devlist.h"

void eadm_driver_put(struct eadm_ctx *ctx, const struct eadm_device *dev,
		     struct eadm_record *rec);
/*
 * Returns true if eadm has a driver that would make the device visible to the companion.
 */
bool eadm_driver_has_companion(struct eadm_ctx *ctx,
			       const struct eadm_device *dev);

/*
 * Returns the reason why the companion does not show @dev or, if NULL, one of the listed
 * devices.
 */
const char *eadm_driver_why(struct eadm_ctx *ctx, const struct eadm_device *dev);

/*
 * Fail with -EOPNOTSUPP and the reason why the companion does not show @dev, or, if
 * NULL, any of the listed devices. The reason mentions the companion only if loading it
 * would help. @probed: the missing data is recorded by the probe, too.
 */
int eadm_driver_refuse(struct eadm_ctx *ctx, const struct eadm_device *dev,
		       bool probed);

#endif /* EADM_DRIVER_H */
