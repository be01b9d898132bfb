// SPDX-License-Identifier: LGPL-2.1-or-later
/* All there is of a machine and its devices, read so that it is recorded. */
#include <errno.h>

#include "device.h"
#include "eadm_nl.h"
#include "machine.h"
#include "nldev.h"
#include "model/record.h"
#include "source/capture.h"
#include "source/tee.h"

/* ---- the rows ------------------------------------------------------------------- */

/*
 * What the process does that owns a queue, for a diagnosis of the capture. Many
 * rows have the same; one that comes back later may be recorded once more.
 */
static int record_owner(struct eadm_ctx *ctx, const struct eadm_record *rec,
			const struct eadm_field *pid, uint64_t seen[64])
{
	const struct eadm_object *object =
		&eadm_spec_objects[EADM_SPEC_OBJ_PROCESS];
	struct eadm_record process = { 0 };
	struct eadm_reply reply;
	struct eadm_query query;
	uint64_t number, *last;
	int ret;

	if (!pid || eadm_record_u64(rec, pid, &number))
		return 0;
	last = &seen[number % 64];
	if (*last == number)
		return 0;
	*last = number;
	query = eadm_machine_process(number);
	ret = eadm_machine_open(ctx, &query, object, &reply, &process);
	while (ret > 0)
		ret = eadm_machine_next(&reply, object, &process);
	eadm_reply_close(&reply);
	eadm_record_release(&process);
	return ret;
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
	while ((ret = eadm_dump_next(dump, &rec)) > 0 &&
	       !eadm_capture_status(ctx->capture)) {
		ret = record_owner(ctx, rec, pid, seen);
		if (ret)
			break;
	}
	/* Rows of other devices do not make up for those of one. */
	for (i = 0; !ret && eadm_dump_note(dump, i, &note) > 0; i++) {
		if (note.error)
			ret = eadm_fail(ctx, note.error, "%s", note.why);
	}
	eadm_dump_close(dump);
	return ret;
}

static void read_object(struct eadm_ctx *ctx, const struct eadm_object *object,
			bool hw, bool past)
{
	int ret;

	if (object->class != EADM_SPEC_CLASS_ROWS ||
	    (!past && eadm_object_rows(object) == EADM_ROWS_PAST))
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

/*
 * Rows about the machine stand before the first snapshot and hold for all: they
 * hardly change, and are many. Its own one is there since the capture was opened.
 */
static void read_machine(struct eadm_ctx *ctx)
{
	const struct eadm_object *object = NULL;
	bool held;

	eadm_tee_only_local(ctx, true);
	eadm_devices_freeze(ctx, &held);
	while ((object = eadm_object_next(object))) {
		if (object->class == EADM_SPEC_CLASS_MACHINE &&
		    object != &eadm_spec_objects[EADM_SPEC_OBJ_MACHINE])
			read_rows(ctx, object, false);
	}
	eadm_devices_thaw(ctx, held);
	eadm_tee_only_local(ctx, false);
}

static int capture(struct eadm_ctx *ctx, bool hw, bool past)
{
	struct eadm_capture *c = ctx->capture;
	const struct eadm_object *object;
	bool held, first;

	if (!c)
		return eadm_fail(ctx, -EINVAL, "no capture is open");
	first = eadm_capture_is_empty(c);
	if (first)
		read_machine(ctx);
	eadm_source_mark(ctx);
	/* Drivers come and go: the modules belong to each further picture. */
	if (!first)
		read_rows(ctx, &eadm_spec_objects[EADM_SPEC_OBJ_MODULE], false);
	/* What rules of a diagnosis ask beside rows. */
	eadm_machine_uptime(ctx);
	eadm_nldev_copy_on_fork(ctx);
	eadm_devices_freeze(ctx, &held);
	for (object = eadm_object_next(NULL); object && !eadm_capture_status(c);
	     object = eadm_object_next(object)) {
		read_object(ctx, object, hw, past);
		/* The next one may never come to an end. */
		eadm_capture_flush(c);
	}
	eadm_devices_thaw(ctx, held);
	return eadm_capture_settle(c);
}

EADM_API int eadm_capture_all(struct eadm_ctx *ctx, bool hw)
{
	return capture(ctx, hw, true);
}

EADM_API int eadm_capture_state(struct eadm_ctx *ctx, bool hw)
{
	return capture(ctx, hw, false);
}
