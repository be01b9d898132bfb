// SPDX-License-Identifier: LGPL-2.1-or-later
/* All there is of a machine and its devices, read so that it is recorded. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "device.h"
#include "model/record.h"
#include "source/capture.h"
#include "source/machine.h"
#include "source/query.h"
#include "source/tee.h"

/* ---- the machine ---------------------------------------------------------------- */

/* Only the fact goes into the capture, not how its name was found. */
static const char *record(struct eadm_ctx *ctx, const char *key,
			  const char *name)
{
	const char *value;
	char full[160];

	if (!name || !*name)
		return NULL;
	snprintf(full, sizeof(full), "%s%s", key, name);
	eadm_tee_resume(ctx);
	value = eadm_source_fact(ctx, full);
	eadm_tee_pause(ctx);
	return value;
}

static void record_device(struct eadm_ctx *ctx,
			  const struct eadm_record *dev)
{
	const struct eadm_object *object = dev->object;
	const char *name = eadm_record_string(
		dev, eadm_object_find_field(object, "dev-name"));
	const char *netdev = eadm_record_string(
		dev, eadm_object_find_field(object, "netdev"));

	record(ctx, "gid.", name);
	record(ctx, "iommu.", name);
	record(ctx, "access.", record(ctx, "uverbs.", name));
	record(ctx, "ipv4.", netdev);
	record(ctx, "mtu.", netdev);
	record(ctx, "module.",
	       eadm_record_string(dev,
				  eadm_object_find_field(object, "driver")));
}

static void record_queue(struct eadm_ctx *ctx,
			 const struct eadm_record *eq)
{
	char number[24];
	uint64_t irq;

	if (eadm_record_u64(eq, eadm_object_find_field(eq->object, "irq"),
			    &irq))
		return;
	snprintf(number, sizeof(number), "%" PRIu64, irq);
	record(ctx, "affinity.", number);
}

static void record_rows(struct eadm_ctx *ctx, const char *object,
			void (*row)(struct eadm_ctx *ctx,
				    const struct eadm_record *record))
{
	const struct eadm_record *rec;
	struct eadm_dump *dump;

	if (eadm_dump_open(ctx, eadm_object_find(object), NULL, &dump))
		return;
	while (eadm_dump_next(dump, &rec) > 0)
		row(ctx, rec);
	eadm_dump_close(dump);
}

/*
 * All properties of the machine that the source tells. They stand before the first
 * snapshot and hold for all: they hardly change, and are many.
 */
static void record_machine(struct eadm_ctx *ctx)
{
	const char *key;
	unsigned int i;
	bool held;

	eadm_tee_pause(ctx);
	eadm_devices_freeze(ctx, &held);
	for (i = 0; (key = eadm_machine_key(i)); i++)
		record(ctx, "", key);
	record(ctx, "access.", "rdma_cm");
	record_rows(ctx, "dev", record_device);
	record_rows(ctx, "eq", record_queue);
	eadm_devices_thaw(ctx, held);
	eadm_tee_resume(ctx);
}

/* ---- the rows ------------------------------------------------------------------- */

/*
 * What the process does that owns a queue, for a diagnosis of the capture. Many
 * rows have the same; one that comes back later may be recorded once more.
 */
static void record_owner(struct eadm_ctx *ctx, const struct eadm_record *rec,
			 const struct eadm_field *pid, uint64_t seen[64])
{
	uint64_t number, *last;
	char key[40];

	if (!pid || eadm_record_u64(rec, pid, &number))
		return;
	last = &seen[number % 64];
	if (*last == number)
		return;
	*last = number;
	snprintf(key, sizeof(key), "process.%" PRIu64, number);
	eadm_source_fact(ctx, key);
}

static bool is_queue(const struct eadm_object *object)
{
	return object == &eadm_spec_objects[EADM_SPEC_OBJ_QP] ||
	       object == &eadm_spec_objects[EADM_SPEC_OBJ_CQ];
}

/* Read all rows for the sake of what is read; errors are in the capture. */
static int read_rows(struct eadm_ctx *ctx, const struct eadm_object *object,
		     bool hw)
{
	struct eadm_dump_opts opts = { .size = sizeof(opts), .hw = hw,
				       .limits = true };
	struct eadm_note note = { .size = sizeof(note) };
	const struct eadm_field *pid =
		is_queue(object) ? eadm_object_find_field(object, "pid") : NULL;
	const struct eadm_record *rec;
	struct eadm_dump *dump;
	uint64_t seen[64] = { 0 };
	unsigned int i;
	int ret;

	ret = eadm_dump_open(ctx, object, &opts, &dump);
	if (ret)
		return ret;
	while ((ret = eadm_dump_next(dump, &rec)) > 0 && !eadm_capture_status(ctx->capture))
		record_owner(ctx, rec, pid, seen);
	/* Rows of other devices do not make up for those of one. */
	for (i = 0; !ret && eadm_dump_note(dump, i, &note) > 0; i++) {
		if (note.error)
			ret = eadm_fail(ctx, note.error, "%s", note.why);
	}
	eadm_dump_close(dump);
	return ret;
}

static void read_object(struct eadm_ctx *ctx, const struct eadm_object *object,
			bool hw)
{
	int ret;

	if (object->class != EADM_SPEC_CLASS_ROWS)
		return;
	hw = hw && object->hw;
	ret = read_rows(ctx, object, hw);
	if (!hw || !ret)
		return;
	/* The capture that is read may have been made without. */
	if (ret == -EPERM || ret == -EACCES)
		eadm_capture_missing(ctx->capture, ret, "", "the adapters' contexts");
	else if (ret != -ENODATA)
		return;
	read_rows(ctx, object, false);
}

static void read_module(struct eadm_ctx *ctx, const char *name)
{
	char key[96];

	snprintf(key, sizeof(key), "module.%s", name);
	if (!eadm_source_fact(ctx, key))
		return;
	snprintf(key, sizeof(key), "origin.%s", name);
	eadm_source_fact(ctx, key);
}

/* The version of modules belongs to the picture. */
static void read_modules(struct eadm_ctx *ctx)
{
	static const char *const common[] = { "ib_core", "ib_uverbs",
					      "rdma_cm", "eadm" };
	const struct eadm_family *family = NULL;
	const char *name;
	unsigned int i;

	for (i = 0; i < EADM_ARRAY_SIZE(common); i++)
		read_module(ctx, common[i]);
	while ((family = eadm_family_next(family))) {
		for (i = 0; (name = eadm_family_module(family, i)); i++)
			read_module(ctx, name);
	}
}

EADM_API int eadm_capture_all(struct eadm_ctx *ctx, bool hw)
{
	struct eadm_capture *c = ctx->capture;
	const struct eadm_object *object;
	bool held;

	if (!c)
		return eadm_fail(ctx, -EINVAL, "no capture is open");
	if (eadm_capture_is_empty(c))
		record_machine(ctx);
	eadm_source_mark(ctx);
	read_modules(ctx);
	eadm_devices_freeze(ctx, &held);
	for (object = eadm_object_next(NULL); object && !eadm_capture_status(c);
	     object = eadm_object_next(object)) {
		read_object(ctx, object, hw);
		/* The next one may never come to an end. */
		eadm_capture_flush(c);
	}
	eadm_devices_thaw(ctx, held);
	return eadm_capture_settle(c);
}
