/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device's driver and location. */
#ifndef EADM_DRIVER_H
#define EADM_DRIVER_H

#include "model/record.h"
#include "source/devlist.h"

void eadm_driver_put(struct eadm_ctx *ctx, const struct eadm_device *dev,
		     struct eadm_record *rec);
/* Whether eadm has a driver for the device that would show it to the companion. */
bool eadm_driver_has_companion(struct eadm_ctx *ctx,
			       const struct eadm_device *dev);

#endif /* EADM_DRIVER_H */
