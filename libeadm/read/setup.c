// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rows about the machine and how it is set up. A field is absent where the source
 * does not have it; that there is nothing of the kind is an empty text or 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eadm_nl.h"
#include "family/family.h"
#include "setup.h"
#include "source/query.h"

static const char *fact(struct eadm_ctx *ctx, const char *kind,
			const char *name)
{
	char key[160];

	snprintf(key, sizeof(key), "%s%s", kind, name);
	return eadm_source_fact(ctx, key);
}

static void put_text(struct eadm_ctx *ctx, struct eadm_record *rec,
		     unsigned int attr, const char *kind, const char *name)
{
	const char *value = fact(ctx, kind, name);
	const struct eadm_field *field =
		&rec->object->fields[rec->object->by_slot[attr]];
	char text[640];

	/* A capture may say what it likes. */
	if (value) {
		snprintf(text, sizeof(text), "%.*s", field->len - 1, value);
		eadm_record_put_string(rec, attr, text);
	}
}

/* A text of the source that should be a number. */
static bool number_of(const char *text, uint64_t *value)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	*value = strtoull(text, &end, 10);
	return !*end;
}

static void put_number(struct eadm_ctx *ctx, struct eadm_record *rec,
		       unsigned int attr, const char *kind, const char *name)
{
	uint64_t value;

	if (number_of(fact(ctx, kind, name), &value))
		eadm_record_put_u64(rec, attr, value);
}

/* Whether a file below /dev/infiniband can be opened. */
static void put_access(struct eadm_ctx *ctx, struct eadm_record *rec,
		       unsigned int attr, const char *name)
{
	uint64_t error;

	if (number_of(fact(ctx, "access.", name), &error) && error < 4096)
		eadm_record_put_u64(rec, attr, -error);
}

static void put_choice(struct eadm_ctx *ctx, struct eadm_record *rec,
		       unsigned int attr, const char *key, const char *name,
		       const char *yes)
{
	const char *value = fact(ctx, key, name);

	if (value && *value)
		eadm_record_put_u64(rec, attr, !strcmp(value, yes));
}

/* ---- the machine -------------------------------------------------------------- */

static void put_machine(struct eadm_ctx *ctx, struct eadm_record *rec)
{
	const char *memlock;
	uint64_t bytes;

	eadm_record_put_u64(rec, EADM_A_MACHINE_INDEX, 0);
	put_text(ctx, rec, EADM_A_MACHINE_HOST, "host", "");
	put_text(ctx, rec, EADM_A_MACHINE_KERNEL, "kernel", "");
	put_text(ctx, rec, EADM_A_MACHINE_EADM, "eadm", "");
	put_number(ctx, rec, EADM_A_MACHINE_CPUS, "cpus", "");
	memlock = fact(ctx, "memlock", "");
	if (memlock && !strcmp(memlock, "unlimited"))
		eadm_record_put_u64(rec, EADM_A_MACHINE_MEMLOCK, UINT64_MAX);
	else if (number_of(memlock, &bytes))
		eadm_record_put_u64(rec, EADM_A_MACHINE_MEMLOCK, bytes);
	put_choice(ctx, rec, EADM_A_MACHINE_NETNS_MODE, "netns-mode", "",
		   "shared");
	put_text(ctx, rec, EADM_A_MACHINE_LOCKDOWN, "lockdown", "");
	put_choice(ctx, rec, EADM_A_MACHINE_HOST_PIDS, "pidns", "", "init");
}

static void put_verbs(struct eadm_ctx *ctx, struct eadm_record *rec)
{
	eadm_record_put_u64(rec, EADM_A_VERBS_INDEX, 0);
	put_choice(ctx, rec, EADM_A_VERBS_INSTALLED, "verbs", "", "yes");
	put_text(ctx, rec, EADM_A_VERBS_PROVIDERS, "providers", "");
	put_access(ctx, rec, EADM_A_VERBS_RDMA_CM_ERROR, "rdma_cm");
}

/* ---- modules ------------------------------------------------------------------- */

/* Those that RDMA needs come first, then those of adapters, then eadm's. */
static const char *module_name(unsigned int index)
{
	static const char *const needed[] = { "ib_core", "ib_uverbs", "rdma_cm",
					      "rdma_ucm" };
	const struct eadm_family *family = NULL;
	const char *name;
	unsigned int i;

	if (index < EADM_ARRAY_SIZE(needed))
		return needed[index];
	index -= EADM_ARRAY_SIZE(needed);
	while ((family = eadm_family_next(family))) {
		for (i = 0; (name = eadm_family_module(family, i)); i++) {
			if (!index--)
				return name;
		}
	}
	return index ? NULL : "eadm";
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word), n;

	for (; *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (n == len && !memcmp(words, word, n))
			return true;
	}
	return false;
}

/* False: it is not loaded, or nothing is known of it. */
static bool put_module(struct eadm_ctx *ctx, const char *name, bool needed,
		       struct eadm_record *rec)
{
	const char *words = needed ? fact(ctx, "modules", "") : NULL;
	bool known = words, loaded = words && has_word(words, name);
	const char *version = fact(ctx, "module.", name);

	eadm_record_put_string(rec, EADM_A_MODULE_NAME, name);
	eadm_record_put_u64(rec, EADM_A_MODULE_LOADED, loaded || version);
	if (version) {
		eadm_record_put_string(rec, EADM_A_MODULE_VERSION, version);
		put_text(ctx, rec, EADM_A_MODULE_ORIGIN, "origin.", name);
	}
	return known || version;
}

/* ---- all of it ----------------------------------------------------------------- */

static void reset(struct eadm_ctx *ctx, const struct eadm_object *object,
		  struct eadm_record *rec)
{
	eadm_record_reset(rec, object, ctx->live ? eadm_now(ctx) : 0);
}

bool eadm_setup_row(struct eadm_ctx *ctx, const struct eadm_object *object,
		    unsigned int *index, struct eadm_record *rec)
{
	const char *name;

	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_MODULE]) {
		for (; (name = module_name(*index)); (*index)++) {
			reset(ctx, object, rec);
			eadm_record_put_u64(rec, EADM_A_MODULE_INDEX, *index);
			if (put_module(ctx, name, *index < 4, rec)) {
				(*index)++;
				return true;
			}
		}
		return false;
	}
	if ((*index)++)
		return false;
	reset(ctx, object, rec);
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_VERBS])
		put_verbs(ctx, rec);
	else
		put_machine(ctx, rec);
	return true;
}

/* ---- devices ------------------------------------------------------------------- */

static const char *text_of(const struct eadm_record *rec, const char *name)
{
	const char *text = eadm_record_string(
		rec, eadm_object_find_field(rec->object, name));

	return text ? text : "";
}

static void put_gid(struct eadm_ctx *ctx, const char *device,
		    struct eadm_record *rec)
{
	const char *gid = fact(ctx, "gid.", device), *value;

	if (!gid)
		return;
	value = strchr(gid, ' ');
	if (value)
		eadm_record_put_u64(rec, EADM_A_SETUP_GID_INDEX,
				    strtoul(gid, NULL, 10));
	eadm_record_put_string(rec, EADM_A_SETUP_GID, value ? value + 1 : "");
}

static void put_setup(struct eadm_ctx *ctx, const char *device,
		      const struct eadm_record *dev, struct eadm_record *rec)
{
	const char *netdev = text_of(dev, "netdev");
	const char *driver = text_of(dev, "driver");
	const char *uverbs;
	char node[64];

	if (!*driver)
		driver = fact(ctx, "driver.", device);
	if (driver && *driver) {
		eadm_record_put_string(rec, EADM_A_SETUP_DRIVER, driver);
		/* The source may reuse the memory of what it gave before. */
		driver = rec->slot[EADM_A_SETUP_DRIVER - 1].p;
		put_text(ctx, rec, EADM_A_SETUP_DRIVER_VERSION, "module.",
			 driver);
	}
	if (*netdev) {
		eadm_record_put_string(rec, EADM_A_SETUP_NETDEV, netdev);
		put_number(ctx, rec, EADM_A_SETUP_NETDEV_MTU, "mtu.", netdev);
		put_choice(ctx, rec, EADM_A_SETUP_NETDEV_IPV4, "ipv4.", netdev,
			   "yes");
	}
	put_gid(ctx, device, rec);
	uverbs = fact(ctx, "uverbs.", device);
	if (uverbs) {
		snprintf(node, sizeof(node), "%s", uverbs);
		eadm_record_put_string(rec, EADM_A_SETUP_UVERBS, node);
		if (*node)
			put_access(ctx, rec, EADM_A_SETUP_UVERBS_ERROR, node);
	}
	put_text(ctx, rec, EADM_A_SETUP_IOMMU, "iommu.", device);
}

static bool put_irq(struct eadm_ctx *ctx, const struct eadm_record *eq,
		    struct eadm_record *rec)
{
	char number[24];
	uint64_t irq;

	if (!eadm_record_attr_has(eq, EADM_A_EQ_IRQ))
		return false;
	irq = eadm_record_attr_u64(eq, EADM_A_EQ_IRQ);
	eadm_record_put_u64(rec, EADM_A_IRQ_IRQ, irq);
	if (eadm_record_attr_has(eq, EADM_A_EQ_ROLE))
		eadm_record_put_u64(rec, EADM_A_IRQ_ROLE,
				    eadm_record_attr_u64(eq, EADM_A_EQ_ROLE));
	snprintf(number, sizeof(number), "%u", (unsigned int)irq);
	put_text(ctx, rec, EADM_A_IRQ_AFFINITY, "affinity.", number);
	return true;
}

const struct eadm_object *eadm_setup_base(const struct eadm_object *object)
{
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_SETUP])
		return &eadm_spec_objects[EADM_SPEC_OBJ_DEV];
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_IRQ])
		return &eadm_spec_objects[EADM_SPEC_OBJ_EQ];
	return NULL;
}

bool eadm_setup_of(struct eadm_ctx *ctx, const struct eadm_object *object,
		   const struct eadm_record *base, struct eadm_record *rec)
{
	const char *device = text_of(base, "dev-name");
	uint64_t index = eadm_record_attr_u64(base, EADM_A_COMMON_DEV_INDEX);

	eadm_record_reset(rec, object, base->time);
	eadm_record_put_u64(rec, EADM_A_COMMON_DEV_INDEX, index);
	eadm_record_put_string(rec, EADM_A_COMMON_DEV_NAME, device);
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_IRQ])
		return put_irq(ctx, base, rec);
	put_setup(ctx, device, base, rec);
	return true;
}
