// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which driver a device has, and where it is. sysfs tells it of devices that
 * hang below a function of a bus; some drivers register theirs below nothing.
 */
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "eadm_nl.h"
#include "family/family.h"
#include "nldev.h"

static const char *fact(struct eadm_ctx *ctx, const char *kind,
			const char *name)
{
	char key[96];

	snprintf(key, sizeof(key), "%s.%s", kind, name);
	return eadm_source_fact(ctx, key);
}

/* A module that is not loaded is not the driver, whatever the number says. */
static const char *module_of(struct eadm_ctx *ctx,
			     const struct eadm_device *dev, uint32_t *id)
{
	const char *node = fact(ctx, "uverbs", dev->name);
	const struct eadm_family *family = NULL;
	const char *module;

	/* Without a node the question would load the module ib_uverbs. */
	if (!node || !*node || eadm_nldev_driver_id(ctx, dev, id))
		return NULL;
	while ((family = eadm_family_next(family))) {
		if (!family->verbs_driver || family->verbs_driver != *id)
			continue;
		module = eadm_family_module(family, 0);
		return fact(ctx, "module", module) ? module : NULL;
	}
	return NULL;
}

/* Whether the module has no other device. */
static bool is_only_one(struct eadm_ctx *ctx, const struct eadm_device *dev,
			const char *module, uint32_t id)
{
	const struct eadm_devices *devices = &ctx->devices;
	const struct eadm_device *other;
	const char *driver;
	uint32_t other_id;
	unsigned int i;

	for (i = 0; i < devices->n; i++) {
		other = &devices->dev[i];
		if (other->index == dev->index)
			continue;
		driver = fact(ctx, "driver", other->name);
		if (driver && strcmp(driver, module) != 0)
			continue;
		if (eadm_nldev_driver_id(ctx, other, &other_id) ||
		    other_id == id)
			return false;
	}
	return true;
}

void eadm_driver_put(struct eadm_ctx *ctx, const struct eadm_device *dev,
		     struct eadm_record *rec)
{
	const char *driver = fact(ctx, "driver", dev->name), *bus;
	uint32_t id;

	if (driver) {
		eadm_record_put_string(rec, EADM_A_DEV_DRIVER, driver);
		bus = fact(ctx, "bus", dev->name);
		if (bus)
			eadm_record_put_string(rec, EADM_A_DEV_BUS_ADDR, bus);
		return;
	}
	driver = module_of(ctx, dev, &id);
	if (!driver)
		return;
	eadm_record_put_string(rec, EADM_A_DEV_DRIVER, driver);
	/* One device of a module that serves one function is that function's. */
	bus = is_only_one(ctx, dev, driver, id) ?
		      fact(ctx, "bound", driver) : NULL;
	if (bus && *bus && !strchr(bus, ' '))
		eadm_record_put_string(rec, EADM_A_DEV_BUS_ADDR, bus);
}
