// SPDX-License-Identifier: LGPL-2.1-or-later
/* The context's list of devices. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "devlist.h"
#include "grow.h"

/* More devices indicate a broken or hostile capture. */
#define MAX_DEVICES 4096

/* Find or add the entry of a device; NULL if the list is full or out of memory. */
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
	if (!grow(devices->dev, devices->n, devices->max)) {
		eadm_oom(ctx);
		return NULL;
	}
	dev = &devices->dev[devices->n++];
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
