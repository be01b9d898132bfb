// SPDX-License-Identifier: LGPL-2.1-or-later
/* List of RDMA devices, and the sources of their data. */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "companion.h"
#include "decode.h"
#include "device.h"
#include "driver.h"
#include "eadm_nl.h"
#include "rdma.h"
#include "source/peer/peer_wire.h"
#include "sysfs.h"

static const struct eadm_object *dev_object(void)
{
	return &eadm_spec_objects[EADM_SPEC_OBJ_DEV];
}

static void take_companion(struct eadm_device *dev,
			   const struct eadm_record *rec)
{
	dev->companion = true;
	if (eadm_record_attr_has(rec, EADM_A_COMMON_FAMILY))
		dev->family = eadm_family_find(
			rec->slot[EADM_A_COMMON_FAMILY - 1].p);
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
	struct eadm_device *dev;
	struct eadm_reply reply;
	struct eadm_record rec;
	int ret;

	eadm_record_init(&rec);
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
			take_companion(dev, &rec);
	}
	eadm_reply_close(&reply);
	eadm_record_release(&rec);
	return ret;
}

/*
 * Without the companion, there may still be programs that emulate adapters and respond
 * like the companion.
 */
static void list_programs(struct eadm_ctx *ctx)
{
	struct eadm_errmsg before;

	eadm_errmsg_push(ctx, &before);
	ctx->devices.family = EADM_PEER_TYPE;
	if (list_companion(ctx))
		eadm_errmsg_pop(ctx, &before);
}

static int by_index(const void *a, const void *b)
{
	const struct eadm_device *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

/* Add the devices that RDMA netlink shows in addition to the known ones. */
static void load_rdma(struct eadm_ctx *ctx)
{
	struct eadm_devices *devices = &ctx->devices;

	devices->rdma_err = eadm_rdma_list(ctx);
	if (devices->rdma_err)
		eadm_log(ctx, EADM_LOG_INFO, "RDMA netlink: %s", ctx->errmsg);
	if (devices->n > 1)
		qsort(devices->dev, devices->n, sizeof(*devices->dev),
		      by_index);
}

/*
 * Succeeds if at least one of the two sources works; the error of the other one is
 * stored. RDMA netlink is not queried if it would show only the companion's devices.
 */
int eadm_devices_load(struct eadm_ctx *ctx)
{
	struct eadm_devices *devices = &ctx->devices;
	struct eadm_errmsg before = { "" };

	/* A capture must contain the list, too. */
	if (devices->held && (devices->kept || !ctx->src->keeps))
		return 0;
	devices->n = 0;
	devices->partial = false;
	devices->family_err = eadm_companion_find(ctx);
	if (!devices->family_err)
		devices->family_err = list_companion(ctx);
	if (devices->family_err) {
		eadm_log(ctx, EADM_LOG_INFO, "companion: %s", ctx->errmsg);
		eadm_errmsg_push(ctx, &before);
		list_programs(ctx);
	}
	devices->partial = ctx->live && !ctx->src->keeps && devices->n &&
			   eadm_sysfs_shows_no_other(ctx);
	if (devices->partial)
		return 0;
	load_rdma(ctx);
	if (!devices->family_err || !devices->rdma_err || devices->n)
		return 0;
	/* For a source without RDMA netlink, the first error is the cause. */
	if (devices->rdma_err == -EOPNOTSUPP) {
		eadm_errmsg_pop(ctx, &before);
		return devices->family_err;
	}
	if (devices->rdma_err == -EPROTONOSUPPORT)
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "RDMA is not available: module ib_core is not loaded");
	return devices->rdma_err;
}

/*
 * Load the complete list, for data that only RDMA netlink provides, such as a device's
 * ports.
 */
int eadm_devices_complete(struct eadm_ctx *ctx)
{
	struct eadm_devices *devices = &ctx->devices;
	int ret = eadm_devices_load(ctx);

	if (ret || !devices->partial)
		return ret;
	devices->partial = false;
	load_rdma(ctx);
	return 0;
}

/* Find a device that the companion shows; -ENODEV or -EOPNOTSUPP. */
int eadm_device_shown(struct eadm_ctx *ctx, const char *name, bool probed,
		      const struct eadm_device **dev)
{
	int ret = eadm_devices_load(ctx);

	if (!ret)
		ret = eadm_device_find(ctx, name, dev);
	if (!ret && !(*dev)->companion)
		ret = eadm_driver_refuse(ctx, *dev, probed);
	return ret;
}

/*
 * Begin the list for a dump with a row for each device: its rows reveal the companion's
 * devices, and eadm_devices_rest() adds the others. Returns false if there is no
 * companion, or if all data is to be captured.
 */
bool eadm_devices_begin(struct eadm_ctx *ctx)
{
	struct eadm_devices *devices = &ctx->devices;

	if (devices->held || !ctx->live || ctx->src->keeps)
		return false;
	devices->n = 0;
	devices->partial = false;
	devices->rdma_err = 0;
	devices->family_err = eadm_companion_find(ctx);
	return !devices->family_err;
}

int eadm_devices_rest(struct eadm_ctx *ctx)
{
	if (ctx->devices.n && eadm_sysfs_shows_no_other(ctx))
		return 0;
	load_rdma(ctx);
	if (ctx->devices.n)
		return 0;
	return ctx->devices.rdma_err ? ctx->devices.rdma_err :
		eadm_fail(ctx, -ENODEV, "no RDMA device found");
}

EADM_API int eadm_scan(struct eadm_ctx *ctx)
{
	int ret;

	eadm_scan_drop(ctx);
	ret = eadm_devices_load(ctx);
	ctx->devices.held = !ret;
	return ret;
}

EADM_API void eadm_scan_drop(struct eadm_ctx *ctx)
{
	ctx->devices.held = false;
	ctx->devices.kept = false;
}

/*
 * A snapshot covers the devices present when it begins; otherwise each of its dumps
 * would list the devices again. A list that is already held suffices, unless the
 * snapshot is captured. Without a list, each dump finds the reason itself.
 */
void eadm_devices_freeze(struct eadm_ctx *ctx, bool *held)
{
	*held = ctx->devices.held;
	if (!ctx->src || (*held && !ctx->src->keeps))
		return;
	if (!eadm_scan(ctx))
		ctx->devices.kept = ctx->src->keeps;
}

/* @held: as set by eadm_devices_freeze(). */
void eadm_devices_thaw(struct eadm_ctx *ctx, bool held)
{
	ctx->devices.kept = false;
	if (!held)
		eadm_scan_drop(ctx);
}

EADM_API const char *eadm_device_name(const struct eadm_ctx *ctx,
				      unsigned int index)
{
	const struct eadm_devices *devices = &ctx->devices;

	return devices->held && index < devices->n ?
		       devices->dev[index].name : NULL;
}
