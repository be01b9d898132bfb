/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of devices. */
#ifndef EADM_DEVICE_H
#define EADM_DEVICE_H

#include "source/devlist.h"

int eadm_devices_load(struct eadm_ctx *ctx) EADM_MUST_CHECK;
int eadm_devices_complete(struct eadm_ctx *ctx) EADM_MUST_CHECK;
/* @probed: the requested data is recorded by the probe, too. */
int eadm_device_shown(struct eadm_ctx *ctx, const char *name, bool probed,
		      const struct eadm_device **dev) EADM_MUST_CHECK;
bool eadm_devices_begin(struct eadm_ctx *ctx) EADM_MUST_CHECK;
int eadm_devices_rest(struct eadm_ctx *ctx) EADM_MUST_CHECK;
void eadm_devices_freeze(struct eadm_ctx *ctx, bool *held);
void eadm_devices_thaw(struct eadm_ctx *ctx, bool held);

#endif /* EADM_DEVICE_H */
