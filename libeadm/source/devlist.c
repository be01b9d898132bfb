// SPDX-License-Identifier: LGPL-2.1-or-later
/* The list of devices that a context holds. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "devlist.h"

/* More would be a broken or hostile capture. */
#define MAX_DEVICES 4096

/* The entry of a device, made if need be; NULL when there can't be more. */
struct eadm_device *eadm_device_add(struct eadm_ctx *ctx, uint32_t index,
				    const char *name)
{
	struct eadm_devices *devices = &ctx->devices;
	struct eadm_device *dev;
	unsigned int i;

	for (i = 0; i < devices->n; i++) {
		if (devices->dev[i].index == index)
			return &devices->dev[i];
	}
	if (devices->n == MAX_DEVICES) {
		eadm_fail(ctx, -E2BIG, "more than %d devices", MAX_DEVICES);
		return NULL;
	}
	dev = eadm_grow_room(devices->dev, devices->n, &devices->max,
			     sizeof(*dev));
	if (!dev) {
		eadm_fail(ctx, -ENOMEM, "out of memory");
		return NULL;
	}
	devices->dev = dev;
	dev += devices->n++;
	memset(dev, 0, sizeof(*dev));
	dev->index = index;
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	return dev;
}

int eadm_device_find(struct eadm_ctx *ctx, const char *name,
		     const struct eadm_device **dev)
{
	unsigned int i;

	for (i = 0; i < ctx->devices.n; i++) {
		*dev = &ctx->devices.dev[i];
		if (!strcmp((*dev)->name, name))
			return 0;
	}
	return eadm_fail(ctx, -ENODEV, "no RDMA device of this name");
}

const struct eadm_device *eadm_device_of(const struct eadm_ctx *ctx,
					 uint32_t index)
{
	unsigned int i;

	for (i = 0; i < ctx->devices.n; i++) {
		if (ctx->devices.dev[i].index == index)
			return &ctx->devices.dev[i];
	}
	return NULL;
}
