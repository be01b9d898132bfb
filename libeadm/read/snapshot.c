// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads all data about a machine and its devices in order to record it. */
#include <errno.h>
#include <stdio.h>

#include "device.h"
#include "eadm_nl.h"
#include "machine.h"
#include "nldev.h"
#include "model/record.h"
#include "source/capture.h"
#include "source/tee.h"

/* ---- the rows ------------------------------------------------------------------- */

/*
 * Records the state of the process that owns a queue or context, for a diagnosis of the
 * capture. Many rows have the same owner; an owner that occurs again later may be
 * recorded again.
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

static bool has_owner(const struct eadm_object *object)
{
	return object == &eadm_spec_objects[EADM_SPEC_OBJ_QP] ||
	       object == &eadm_spec_objects[EADM_SPEC_OBJ_CQ] ||
	       object == &eadm_spec_objects[EADM_SPEC_OBJ_CTX];
}

/*
 * Read all rows only so that they are recorded; errors go into the capture. @device is
 * set to the device that the error applies to, or "".
 */
static int read_rows_of(struct eadm_capture *c, const struct eadm_object *object,
			bool hw, char device[EADM_DEV_NAME_MAX])
{
	struct eadm_ctx *ctx = eadm_capture_ctx(c);
	/*
	 * Rows about the machine are derived from rows of devices, but do not need all
	 * parts of these rows.
	 */
	bool whole = object->class != EADM_SPEC_CLASS_MACHINE;
	struct eadm_dump_opts opts = { .size = sizeof(opts), .hw = hw,
				       .limits = whole, .setup = whole };
	struct eadm_note note = { .size = sizeof(note) };
	const struct eadm_field *pid =
		has_owner(object) ? eadm_object_find_field(object, "pid") : NULL;
	const struct eadm_record *rec;
	struct eadm_dump *dump;
	uint64_t seen[64] = { 0 };
	unsigned int i;
	int ret;

	*device = '\0';
	ret = eadm_dump_open(ctx, object, &opts, &dump);
	if (ret)
		return ret;
	while ((ret = eadm_dump_next(dump, &rec)) > 0 &&
	       !eadm_capture_status(c)) {
		ret = record_owner(ctx, rec, pid, seen);
		if (ret)
			break;
	}
	/* Rows of other devices do not compensate for those missing from one device. */
	for (i = 0; !ret && eadm_dump_note(dump, i, &note) > 0; i++) {
		if (!note.error)
			continue;
		snprintf(device, EADM_DEV_NAME_MAX, "%s", note.device);
		ret = eadm_fail(ctx, note.error, "%s", note.why);
	}
	eadm_dump_close(dump);
	return ret;
}

static int read_rows(struct eadm_capture *c, const struct eadm_object *object,
		     bool hw)
{
	char device[EADM_DEV_NAME_MAX];

	return read_rows_of(c, object, hw, device);
}

/* Returns false for errors that mean that there is nothing to read. */
static bool is_missing(int error)
{
	return error && error != -ENODEV && error != -EOPNOTSUPP &&
	       error != -ENODATA;
}

/*
 * @listed: whether the devices can be listed; set when they are read, which is first. If
 * they cannot, no other object can be read, either.
 */
static void read_object(struct eadm_capture *c, const struct eadm_object *object,
			bool hw, bool past, bool *listed)
{
	char device[EADM_DEV_NAME_MAX];
	int ret;

	if ((object->class != EADM_SPEC_CLASS_ROWS &&
	     (object->class != EADM_SPEC_CLASS_EVENTS ||
	      eadm_machine_probe(eadm_capture_ctx(c)))) ||
	    (!past && eadm_object_rows(object) == EADM_ROWS_PAST))
		return;
	hw = hw && object->hw;
	ret = read_rows_of(c, object, hw, device);
	/* The capture being read may have been made without contexts. */
	if (hw && (ret == -EPERM || ret == -EACCES || ret == -ENODATA)) {
		if (ret != -ENODATA)
			eadm_capture_missing(c, ret, "",
					     "the adapters' contexts");
		ret = read_rows_of(c, object, false, device);
	}
	if (!is_missing(ret) || (!*listed && !*device))
		return;
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_DEV] && !*device) {
		*listed = false;
		eadm_capture_missing(c, ret, "", "devices and their objects");
		return;
	}
	eadm_capture_missing(c, ret, device, object->title);
}

/*
 * Rows about the machine precede the first snapshot and apply to all snapshots that do
 * not have them: there are many of them, and most hardly change. The machine object's own row was
 * recorded when the capture was opened.
 */
static void read_machine(struct eadm_capture *c)
{
	struct eadm_ctx *ctx = eadm_capture_ctx(c);
	const struct eadm_object *object = NULL;
	bool held;

	eadm_tee_only_local(ctx, true);
	eadm_devices_freeze(ctx, &held);
	while ((object = eadm_object_next(object))) {
		/*
		 * States of processes change: record_owner() reads them in each
		 * snapshot.
		 */
		if (object->class == EADM_SPEC_CLASS_MACHINE &&
		    object != &eadm_spec_objects[EADM_SPEC_OBJ_PROCESS] &&
		    object != &eadm_spec_objects[EADM_SPEC_OBJ_MACHINE])
			read_rows(c, object, false);
	}
	eadm_devices_thaw(ctx, held);
	eadm_tee_only_local(ctx, false);
}

/* Read the rows that change: drivers are loaded and unloaded, and counters grow. */
static void read_changing(struct eadm_capture *c)
{
	static const enum eadm_spec_obj changing[] = {
		EADM_SPEC_OBJ_MODULE, EADM_SPEC_OBJ_LINK, EADM_SPEC_OBJ_HEALTH,
		EADM_SPEC_OBJ_QP_COUNTER, EADM_SPEC_OBJ_CGROUP,
		EADM_SPEC_OBJ_PORT,
		EADM_SPEC_OBJ_VERBS_USER, EADM_SPEC_OBJ_SMC,
		EADM_SPEC_OBJ_SMC_FALLBACK,
	};
	struct eadm_ctx *ctx = eadm_capture_ctx(c);
	size_t i;

	eadm_tee_only_local(ctx, true);
	for (i = 0; i < EADM_ARRAY_SIZE(changing); i++)
		read_rows(c, &eadm_spec_objects[changing[i]], false);
	eadm_tee_only_local(ctx, false);
}

static int capture(struct eadm_capture *c, bool hw, bool past)
{
	struct eadm_ctx *ctx = eadm_capture_ctx(c);
	const struct eadm_object *object;
	bool held, listed = true, first = eadm_capture_is_empty(c);

	if (first)
		read_machine(c);
	eadm_source_mark(ctx);
	/* Diagnosis rules request this data separately. */
	eadm_machine_uptime(ctx);
	eadm_nldev_copy_on_fork(ctx);
	eadm_devices_freeze(ctx, &held);
	if (!first)
		read_changing(c);
	for (object = eadm_object_next(NULL); object && !eadm_capture_status(c);
	     object = eadm_object_next(object)) {
		read_object(c, object, hw, past, &listed);
		/* Reading the next object may block forever. */
		eadm_capture_flush(c);
	}
	eadm_devices_thaw(ctx, held);
	return eadm_capture_settle(c);
}

EADM_API int eadm_capture_all(struct eadm_capture *c, bool hw)
{
	return capture(c, hw, true);
}

EADM_API int eadm_capture_state(struct eadm_capture *c, bool hw)
{
	return capture(c, hw, false);
}
