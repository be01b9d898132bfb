// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Driver and location of a device. sysfs shows them for devices below a function of a
 * bus; some drivers register their devices without a parent.
 */
#include <errno.h>
#include <string.h>

#include "companion.h"
#include "driver.h"
#include "eadm_nl.h"
#include "family/family.h"
#include "machine.h"
#include "nldev.h"

struct answer {
	struct eadm_reply reply;
	struct eadm_record rec;
};

/* Read the device's row of @object with one field and the fields that belong to it. */
static bool ask_for(struct eadm_ctx *ctx, struct answer *answer,
		    unsigned int object, const struct eadm_device *dev,
		    unsigned int attr)
{
	struct eadm_query query = eadm_query_local(object);

	/* Attribute 1 is the device index in every object. */
	eadm_query_arg(&query, EADM_A_DEV_DEV_INDEX, EADM_ARG_U32, dev->index,
		       NULL, false);
	eadm_query_arg(&query, attr, EADM_ARG_FLAG, 0, NULL, true);
	answer->rec.extra = NULL;
	answer->rec.max_extra = 0;
	return eadm_machine_open(ctx, &query, &eadm_spec_objects[object],
				 &answer->reply, &answer->rec) > 0;
}

/* Returns one field of that row, or NULL if it is absent. */
static const char *ask(struct eadm_ctx *ctx, struct answer *answer,
		       unsigned int object, const struct eadm_device *dev,
		       unsigned int attr)
{
	if (!ask_for(ctx, answer, object, dev, attr) ||
	    !eadm_record_attr_has(&answer->rec, attr))
		return NULL;
	return answer->rec.slot[attr - 1].p;
}

static void end(struct answer *answer)
{
	eadm_reply_close(&answer->reply);
	eadm_record_release(&answer->rec);
}

/* Returns true if user space can open the device. */
static bool has_node(struct eadm_ctx *ctx, const struct eadm_device *dev)
{
	struct answer answer;
	const char *node = ask(ctx, &answer, EADM_SPEC_OBJ_SETUP, dev,
			       EADM_A_SETUP_UVERBS);
	bool has = node && *node;

	end(&answer);
	return has;
}

/* A module that is not loaded is not the driver, regardless of the driver number. */
static const char *module_of(struct eadm_ctx *ctx,
			     const struct eadm_device *dev, uint32_t *id)
{
	const struct eadm_family *family = NULL;
	const char *module;
	char version[8];
	unsigned int i;

	/* Without a node, the request would load the module ib_uverbs. */
	if (!has_node(ctx, dev) || eadm_nldev_driver_id(ctx, dev, id))
		return NULL;
	while ((family = eadm_family_next(family))) {
		if (!family->verbs_driver || family->verbs_driver != *id)
			continue;
		for (i = 0; (module = eadm_family_module(family, i)); i++)
			if (eadm_machine_module_text(ctx, module,
						     EADM_A_MODULE_VERSION,
						     version, sizeof(version)))
				return module;
		return NULL;
	}
	return NULL;
}

/* Returns true if sysfs shows a different driver for the device. */
static bool is_of_other(struct eadm_ctx *ctx, const struct eadm_device *dev,
			const char *module)
{
	struct answer answer;
	const char *driver = ask(ctx, &answer, EADM_SPEC_OBJ_DEV, dev,
				 EADM_A_DEV_DRIVER);
	bool other = driver && strcmp(driver, module) != 0;

	end(&answer);
	return other;
}

/* Returns true if the module has no other device. */
static bool is_only_one(struct eadm_ctx *ctx, const struct eadm_device *dev,
			const char *module, uint32_t id)
{
	const struct eadm_devices *devices = &ctx->devices;
	const struct eadm_device *other;
	uint32_t other_id;
	unsigned int i;

	for (i = 0; i < devices->n; i++) {
		other = &devices->dev[i];
		if (other->index == dev->index ||
		    is_of_other(ctx, other, module))
			continue;
		if (eadm_nldev_driver_id(ctx, other, &other_id) ||
		    other_id == id)
			return false;
	}
	return true;
}

/* Identify the driver by its number in the verbs interface. */
static void put_unplaced(struct eadm_ctx *ctx, const struct eadm_device *dev,
			 struct eadm_record *rec)
{
	char functions[256];
	const char *driver;
	uint32_t id;

	driver = module_of(ctx, dev, &id);
	if (!driver)
		return;
	eadm_record_put_string(rec, EADM_A_DEV_DRIVER, driver);
	/*
	 * If the module serves only one function and has only this device, the device
	 * belongs to the function. Other devices are read last: the modules of software
	 * devices, of which there may be many, have no functions.
	 */
	if (eadm_machine_module_text(ctx, driver, EADM_A_MODULE_FUNCTIONS,
				     functions, sizeof(functions)) &&
	    *functions && !strchr(functions, ' ') &&
	    is_only_one(ctx, dev, driver, id))
		eadm_record_put_string(rec, EADM_A_DEV_BUS_ADDR, functions);
}

/*
 * A driver that sysfs does not show, such as that of a device without hardware, is not
 * eadm's.
 */
bool eadm_driver_has_companion(struct eadm_ctx *ctx,
			       const struct eadm_device *dev)
{
	struct answer answer;
	const char *driver = ask(ctx, &answer, EADM_SPEC_OBJ_DEV, dev,
				 EADM_A_DEV_DRIVER);
	const struct eadm_family *family =
		driver ? eadm_family_find(driver) : NULL;

	end(&answer);
	return family && eadm_family_has_companion(family);
}

static uint64_t number_of(const struct answer *answer, unsigned int attr)
{
	return eadm_record_attr_has(&answer->rec, attr) ?
		       eadm_record_attr_u64(&answer->rec, attr) :
		       UINT64_MAX;
}

/*
 * Returns true if the driver and the companion are loaded, but were built for different
 * versions of the interface between them.
 */
static bool is_other_build(struct eadm_ctx *ctx, const struct eadm_device *dev)
{
	uint64_t driver = UINT64_MAX, companion = UINT64_MAX;
	struct answer answer;

	if (dev->companion)
		return false;
	if (ask_for(ctx, &answer, EADM_SPEC_OBJ_SETUP, dev,
		    EADM_A_SETUP_DRIVER_INTERFACE)) {
		driver = number_of(&answer, EADM_A_SETUP_DRIVER_INTERFACE);
		companion = number_of(&answer, EADM_A_SETUP_COMPANION_INTERFACE);
	}
	end(&answer);
	return driver != UINT64_MAX && companion != UINT64_MAX &&
	       driver != companion;
}

const char *eadm_driver_why(struct eadm_ctx *ctx, const struct eadm_device *dev)
{
	const struct eadm_devices *devices = &ctx->devices;
	unsigned int i;

	for (i = 0; !devices->family_err && i < devices->n; i++) {
		if ((!dev || dev == &devices->dev[i]) &&
		    is_other_build(ctx, &devices->dev[i]))
			return "the driver and eadm.ko come from different builds";
	}
	return eadm_companion_why(ctx);
}

int eadm_driver_refuse(struct eadm_ctx *ctx, const struct eadm_device *dev,
		       bool probed)
{
	const struct eadm_devices *devices = &ctx->devices;
	bool showable = !devices->n;
	unsigned int i;

	for (i = 0; i < devices->n && !showable; i++) {
		showable = (!dev || dev == &devices->dev[i]) &&
			   eadm_driver_has_companion(ctx, &devices->dev[i]);
	}
	if (showable)
		return eadm_fail(ctx, -EOPNOTSUPP, "%s",
				 eadm_driver_why(ctx, dev));
	return eadm_fail(ctx, -EOPNOTSUPP, "%s%s",
			 dev ? "the driver does not support diagnostics" :
			       "not supported by the drivers of these devices",
			 probed ? "; 'eadm probe start' records calls to any driver" :
				  "");
}

void eadm_driver_put(struct eadm_ctx *ctx, const struct eadm_device *dev,
		     struct eadm_record *rec)
{
	struct answer answer;
	const char *driver = ask(ctx, &answer, EADM_SPEC_OBJ_DEV, dev,
				 EADM_A_DEV_DRIVER);

	if (driver) {
		eadm_record_put_string(rec, EADM_A_DEV_DRIVER, driver);
		if (eadm_record_attr_has(&answer.rec, EADM_A_DEV_BUS_ADDR))
			eadm_record_put_string(
				rec, EADM_A_DEV_BUS_ADDR,
				answer.rec.slot[EADM_A_DEV_BUS_ADDR - 1].p);
	}
	end(&answer);
	if (!driver)
		put_unplaced(ctx, dev, rec);
}
