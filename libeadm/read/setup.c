// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rows about the machine and how it is set up, most of which the source has as
 * they are. A field is absent where the source does not have it; that there is
 * nothing of the kind is an empty text or 0.
 */
#include <limits.h>
#include <string.h>

#include "eadm_nl.h"
#include "family/family.h"
#include "machine.h"
#include "nldev.h"
#include "setup.h"

/* Those of modules that RDMA needs, which matter where they are not loaded. */
static const char *const needed[] = { "ib_core", "ib_uverbs", "rdma_cm",
				      "rdma_ucm" };
/* Whose memory may be registered, and what that takes. */
static const char *const others[] = { "nvidia", "nvidia_peermem", "amdgpu",
				      "neuron" };

/* Then come those of adapters, then eadm's. */
static const char *module_name(unsigned int index)
{
	const struct eadm_family *family = NULL;
	const char *name;
	unsigned int i;

	if (index < EADM_ARRAY_SIZE(needed))
		return needed[index];
	index -= EADM_ARRAY_SIZE(needed);
	if (index < EADM_ARRAY_SIZE(others))
		return others[index];
	index -= EADM_ARRAY_SIZE(others);
	while ((family = eadm_family_next(family))) {
		for (i = 0; (name = eadm_family_module(family, i)); i++) {
			if (!index--)
				return name;
		}
	}
	return index ? NULL : "eadm";
}

#define NO_MODULE UINT_MAX

static unsigned int module_index(const char *name)
{
	const struct eadm_family *family = NULL;
	const char *module;
	unsigned int i, n;

	for (n = 0; n < EADM_ARRAY_SIZE(needed) + EADM_ARRAY_SIZE(others); n++) {
		if (!strcmp(module_name(n), name))
			return n;
	}
	while ((family = eadm_family_next(family))) {
		for (i = 0; (module = eadm_family_module(family, i)); i++, n++) {
			if (!strcmp(module, name))
				return n;
		}
	}
	return strcmp(name, "eadm") ? NO_MODULE : n;
}

void eadm_setup_select(struct eadm_setup *setup, const char *name)
{
	setup->one = true;
	setup->index = module_index(name);
}

static int open_row(struct eadm_ctx *ctx, struct eadm_setup *setup,
		    const struct eadm_query *query,
		    const struct eadm_object *object, struct eadm_record *rec)
{
	eadm_setup_close(setup);
	setup->open = true;
	return eadm_machine_open(ctx, query, object, &setup->reply, rec);
}

void eadm_setup_close(struct eadm_setup *setup)
{
	if (setup->open)
		eadm_reply_close(&setup->reply);
	setup->open = false;
}

/* Each of these is files to read. What is recorded has all of them. */
static void select_fields(const struct eadm_ctx *ctx, uint64_t fields,
			  struct eadm_query *query)
{
	static const uint16_t parts[] = {
		EADM_A_MODULE_LOADED, EADM_A_MODULE_VERSION,
		EADM_A_MODULE_ORIGIN, EADM_A_MODULE_FUNCTIONS,
	};
	size_t i;

	for (i = 0; !ctx->capture && i < EADM_ARRAY_SIZE(parts); i++) {
		if (fields & 1ULL << parts[i])
			eadm_query_arg(query, parts[i], EADM_ARG_FLAG, 0, NULL,
				       true);
	}
}

static int next_module(struct eadm_ctx *ctx, struct eadm_setup *setup,
		       const struct eadm_object *object,
		       struct eadm_record *rec)
{
	struct eadm_query query;
	unsigned int index;
	const char *name;
	int ret;

	while ((name = module_name(setup->index))) {
		index = setup->index;
		setup->index = setup->one ? NO_MODULE : index + 1;
		query = eadm_query_local(EADM_SPEC_OBJ_MODULE);
		eadm_query_arg(&query, EADM_A_MODULE_NAME, EADM_ARG_STRING, 0,
			       name, false);
		select_fields(ctx, setup->fields, &query);
		ret = open_row(ctx, setup, &query, object, rec);
		if (ret < 0)
			return ret;
		if (!ret || (index >= EADM_ARRAY_SIZE(needed) &&
			     !(eadm_record_attr_has(rec, EADM_A_MODULE_LOADED) &&
			       eadm_record_attr_u64(rec, EADM_A_MODULE_LOADED))))
			continue;
		eadm_record_put_u64(rec, EADM_A_MODULE_INDEX, index);
		return 1;
	}
	return 0;
}

static void put_copy_on_fork(struct eadm_ctx *ctx, struct eadm_record *rec)
{
	int copies = eadm_nldev_copy_on_fork(ctx);

	if (copies >= 0)
		eadm_record_put_u64(rec, EADM_A_MACHINE_COPY_ON_FORK, copies);
}

/* 1 with a row that is of no device, 0: no more, or -ENOMEM. */
int eadm_setup_next(struct eadm_ctx *ctx, struct eadm_setup *setup,
		    const struct eadm_object *object, struct eadm_record *rec)
{
	bool verbs = object == &eadm_spec_objects[EADM_SPEC_OBJ_VERBS];
	struct eadm_query query = eadm_query_local(
		verbs ? EADM_SPEC_OBJ_VERBS : EADM_SPEC_OBJ_MACHINE);
	int ret;

	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_MODULE])
		return next_module(ctx, setup, object, rec);
	if (setup->index++)
		return 0;
	ret = open_row(ctx, setup, &query, object, rec);
	if (ret < 0)
		return ret;
	/* There is a machine, also where a capture says nothing of it. */
	if (!ret)
		eadm_record_reset(rec, object, 0);
	eadm_record_put_u64(rec, verbs ? EADM_A_VERBS_INDEX :
					 EADM_A_MACHINE_INDEX, 0);
	if (!verbs)
		put_copy_on_fork(ctx, rec);
	return 1;
}

/* ---- devices ------------------------------------------------------------------- */

static const char *text_of(const struct eadm_record *rec, const char *name)
{
	const char *text = eadm_record_string(
		rec, eadm_object_find_field(rec->object, name));

	return text ? text : "";
}

/* Of @base, whose row may be of another time and know more of the device. */
static void put_driver(struct eadm_ctx *ctx, const struct eadm_record *base,
		       struct eadm_record *rec)
{
	const char *driver = text_of(base, "driver");
	char version[64];

	if (!*driver)
		return;
	eadm_record_put_string(rec, EADM_A_SETUP_DRIVER, driver);
	if (eadm_machine_module_text(ctx, driver, EADM_A_MODULE_VERSION, version,
				   sizeof(version)))
		eadm_record_put_string(rec, EADM_A_SETUP_DRIVER_VERSION,
				       version);
}

static int put_setup(struct eadm_ctx *ctx, struct eadm_setup *setup,
		     const struct eadm_object *object,
		     const struct eadm_record *base, struct eadm_record *rec)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_SETUP);
	const char *netdev = text_of(base, "netdev");
	int ret;

	eadm_query_arg(&query, EADM_A_SETUP_DEV_INDEX, EADM_ARG_U32,
		       eadm_record_attr_u64(base, EADM_A_COMMON_DEV_INDEX),
		       NULL, false);
	if (*netdev)
		eadm_query_arg(&query, EADM_A_SETUP_NETDEV, EADM_ARG_STRING, 0,
			       netdev, false);
	ret = open_row(ctx, setup, &query, object, rec);
	if (ret < 0)
		return ret;
	if (!ret)
		eadm_record_reset(rec, object, base->time);
	if (*netdev)
		eadm_record_put_string(rec, EADM_A_SETUP_NETDEV, netdev);
	put_driver(ctx, base, rec);
	return 1;
}

static int put_irq(struct eadm_ctx *ctx, struct eadm_setup *setup,
		   const struct eadm_object *object,
		   const struct eadm_record *eq, struct eadm_record *rec)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_IRQ);
	uint64_t irq;
	int ret;

	if (!eadm_record_attr_has(eq, EADM_A_EQ_IRQ))
		return 0;
	irq = eadm_record_attr_u64(eq, EADM_A_EQ_IRQ);
	eadm_query_arg(&query, EADM_A_IRQ_IRQ, EADM_ARG_U32, irq, NULL, false);
	ret = open_row(ctx, setup, &query, object, rec);
	if (ret < 0)
		return ret;
	if (!ret)
		eadm_record_reset(rec, object, eq->time);
	eadm_record_put_u64(rec, EADM_A_IRQ_IRQ, irq);
	if (eadm_record_attr_has(eq, EADM_A_EQ_ROLE))
		eadm_record_put_u64(rec, EADM_A_IRQ_ROLE,
				    eadm_record_attr_u64(eq, EADM_A_EQ_ROLE));
	return 1;
}

const struct eadm_object *eadm_setup_base(const struct eadm_object *object)
{
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_SETUP])
		return &eadm_spec_objects[EADM_SPEC_OBJ_DEV];
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_IRQ])
		return &eadm_spec_objects[EADM_SPEC_OBJ_EQ];
	return NULL;
}

/* 1 with the row that belongs to @base, 0: it has none, or -ENOMEM. */
int eadm_setup_of(struct eadm_ctx *ctx, struct eadm_setup *setup,
		  const struct eadm_object *object,
		  const struct eadm_record *base, struct eadm_record *rec)
{
	int ret;

	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_IRQ])
		ret = put_irq(ctx, setup, object, base, rec);
	else
		ret = put_setup(ctx, setup, object, base, rec);
	if (ret <= 0)
		return ret;
	eadm_record_put_u64(rec, EADM_A_COMMON_DEV_INDEX,
			    eadm_record_attr_u64(base,
						 EADM_A_COMMON_DEV_INDEX));
	eadm_record_put_string(rec, EADM_A_COMMON_DEV_NAME,
			       text_of(base, "dev-name"));
	return 1;
}
