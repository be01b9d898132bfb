// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which RDMA devices there are, and who can tell about them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attr.h"
#include "eadm_nl.h"
#include "priv.h"

/* More would be a broken or hostile capture. */
#define MAX_DEVICES 4096

static const struct eadm_object *dev_object(void)
{
	return &eadm_spec_objects[EADM_SPEC_OBJ_DEV];
}

struct eadm_device *eadm_device_find(struct eadm_ctx *ctx, uint32_t index)
{
	unsigned int i;

	for (i = 0; i < ctx->devices.n; i++) {
		if (ctx->devices.dev[i].index == index)
			return &ctx->devices.dev[i];
	}
	return NULL;
}

/* The entry of a device, made if need be; NULL when there can't be more. */
struct eadm_device *eadm_device_add(struct eadm_ctx *ctx, uint32_t index,
				    const char *name)
{
	struct eadm_devices *devices = &ctx->devices;
	struct eadm_device *dev = eadm_device_find(ctx, index);

	if (dev)
		return dev;
	if (devices->n == MAX_DEVICES) {
		eadm_fail(ctx, -E2BIG, "more than %d devices", MAX_DEVICES);
		return NULL;
	}
	dev = realloc(devices->dev, (devices->n + 1) * sizeof(*dev));
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

static int list_companion(struct eadm_ctx *ctx)
{
	struct eadm_query query = {
		.proto = NETLINK_GENERIC,
		.type = ctx->devices.family,
		.cmd = EADM_CMD_DEV_GET,
		.dump = true,
	};
	const struct nlmsghdr *nlh;
	struct eadm_record rec = { 0 };
	struct eadm_device *dev;
	struct eadm_reply reply;
	int ret;

	ret = eadm_reply_open(ctx, &query, &reply);
	while (!ret && (ret = eadm_reply_next(&reply, &nlh)) > 0) {
		ret = eadm_decode(&reply, nlh, dev_object(), false, &rec);
		if (ret)
			break;
		dev = eadm_device_add(
			ctx,
			eadm_record_attr_u64(&rec, EADM_A_COMMON_DEV_INDEX),
			rec.slot[EADM_A_COMMON_DEV_NAME - 1].p);
		if (!dev)
			ret = -ENOMEM;
		else
			dev->companion = true;
	}
	eadm_reply_close(&reply);
	eadm_record_release(&rec);
	return ret;
}

static int by_index(const void *a, const void *b)
{
	const struct eadm_device *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

/*
 * Succeeds when at least one of the two ways works; what is wrong with the
 * other one is remembered. If RDMA netlink works and the caller will see which
 * devices the companion shows, its list of them is left out.
 */
static int load(struct eadm_ctx *ctx, bool brief)
{
	struct eadm_devices *devices = &ctx->devices;

	devices->n = 0;
	devices->family_err = eadm_family_find(ctx);
	if (!devices->family_err && !brief)
		devices->family_err = list_companion(ctx);
	if (devices->family_err)
		eadm_log(ctx, "companion: %s", ctx->errmsg);
	devices->rdma_err = eadm_rdma_list(ctx);
	if (devices->rdma_err)
		eadm_log(ctx, "RDMA netlink: %s", ctx->errmsg);
	if (devices->n > 1)
		qsort(devices->dev, devices->n, sizeof(*devices->dev),
		      by_index);
	if (!devices->family_err || !devices->rdma_err)
		return 0;
	if (devices->rdma_err == -EPROTONOSUPPORT)
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "this kernel has no RDMA: module ib_core is not loaded");
	return devices->rdma_err;
}

int eadm_devices_load(struct eadm_ctx *ctx)
{
	/* A capture has to have the list, too. */
	if (ctx->devices.held && !ctx->capture)
		return 0;
	return load(ctx, false);
}

/*
 * Whether the devices could be loaded but for which of them the companion
 * shows. Where it cannot be asked, or all is to be captured, this is not tried.
 */
bool eadm_devices_load_brief(struct eadm_ctx *ctx)
{
	if (ctx->devices.held || ctx->capture || !ctx->live)
		return false;
	return !load(ctx, true) && !ctx->devices.family_err &&
	       !ctx->devices.rdma_err;
}

EADM_API int eadm_devices_hold(struct eadm_ctx *ctx)
{
	int ret;

	ctx->devices.held = false;
	ret = eadm_devices_load(ctx);
	ctx->devices.held = !ret;
	return ret;
}

EADM_API void eadm_devices_drop(struct eadm_ctx *ctx)
{
	ctx->devices.held = false;
}

EADM_API const char *eadm_devices_name(const struct eadm_ctx *ctx,
				       unsigned int index)
{
	const struct eadm_devices *devices = &ctx->devices;

	return devices->held && index < devices->n ?
		       devices->dev[index].name : NULL;
}
