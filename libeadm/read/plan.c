// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests that yield the rows of an object, and notes about missing data. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "companion.h"
#include "decode.h"
#include "driver.h"
#include "eadm_nl.h"
#include "grow.h"
#include "machine.h"
#include "plan.h"
#include "rdma.h"

#define MAX_NOTES 256

int eadm_plan_note(struct eadm_dump *dump, int error, const char *device,
		   const char *what, const char *why)
{
	unsigned int n = dump->n_notes;
	struct note *note;

	/* More notes would not help any reader. */
	if (n == MAX_NOTES)
		return 0;
	if (!grow(dump->notes, n, dump->max_notes))
		return eadm_oom(dump->ctx);
	note = &dump->notes[dump->n_notes++];
	note->error = error;
	snprintf(note->device, sizeof(note->device), "%s", device);
	snprintf(note->what, sizeof(note->what), "%s", what);
	snprintf(note->why, sizeof(note->why), "%s", why);
	return 0;
}

int eadm_plan_step(struct eadm_dump *dump, int how,
		   const struct eadm_device *dev, uint32_t port)
{
	struct step *step;

	if (!grow(dump->steps, dump->n_steps, dump->max_steps))
		return eadm_oom(dump->ctx);
	step = &dump->steps[dump->n_steps++];
	memset(step, 0, sizeof(*step));
	step->how = how;
	step->port = port;
	if (dev)
		step->dev = *dev;
	return 0;
}

static int plan_rdma(struct eadm_dump *dump, const struct eadm_device *dev)
{
	const struct eadm_object *object = dump->object;
	uint32_t port;
	int ret;

	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_DEV])
		return eadm_plan_step(dump, STEP_RDMA_DEVICE, dev, 0);
	if (!eadm_rdma_per_port(object))
		return eadm_plan_step(dump, STEP_RDMA, dev, 0);
	for (port = 1; port <= dev->ports; port++) {
		if (dump->opts.has_id && port != dump->opts.id)
			continue;
		ret = eadm_plan_step(dump, STEP_RDMA, dev, port);
		if (ret)
			return ret;
	}
	return 0;
}

static int plan_companion(struct eadm_dump *dump, bool covered)
{
	const struct eadm_devices *devices = &dump->ctx->devices;
	unsigned int i;
	int ret;

	if (!covered)
		return 0;
	/*
	 * One dump covers all devices, but a single object is requested
	 * from each device.
	 */
	if (!dump->opts.has_id && !dump->has_device)
		return eadm_plan_step(dump, STEP_COMPANION, NULL, 0);
	for (i = 0; i < devices->n; i++) {
		const struct eadm_device *dev = &devices->dev[i];

		if (!dev->companion ||
		    (dump->has_device && dev->index != dump->device))
			continue;
		ret = eadm_plan_step(dump, STEP_COMPANION, dev, 0);
		if (ret)
			return ret;
	}
	return 0;
}

/* Plan one step for each device that has the queue. */
static int plan_raw(struct eadm_dump *dump)
{
	const struct eadm_devices *devices = &dump->ctx->devices;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < devices->n; i++) {
		const struct eadm_device *dev = &devices->dev[i];

		if (dev->companion &&
		    (!dump->has_device || dev->index == dump->device))
			ret = eadm_plan_step(dump, STEP_RAW, dev, 0);
	}
	return ret;
}

static bool has_probe(const struct eadm_object *object)
{
	return object == &eadm_spec_objects[EADM_SPEC_OBJ_CMD] ||
	       object == &eadm_spec_objects[EADM_SPEC_OBJ_EVENT] ||
	       object == &eadm_spec_objects[EADM_SPEC_OBJ_FAILURE];
}

/* Plan a step for past records of devices that the companion does not show. */
static int plan_probe(struct eadm_dump *dump)
{
	int ret;

	if (!has_probe(dump->object))
		return 0;
	ret = eadm_machine_probe(dump->ctx);
	if (ret == -EACCES)
		return eadm_machine_probe_denied(dump->ctx);
	dump->probe = !ret;
	return ret ? 0 : eadm_plan_step(dump, STEP_PROBE, NULL, 0);
}

/*
 * Plan steps for data from RDMA netlink about devices that the companion does not show.
 */
int eadm_plan_others(struct eadm_dump *dump)
{
	const struct eadm_devices *devices = &dump->ctx->devices;
	const struct eadm_object *object = dump->object;
	const struct eadm_device *only = NULL;
	unsigned int i, covered = 0, others = 0;
	bool known = eadm_rdma_knows(object), showable = false;
	const char *lone = "";
	int ret = 0;

	for (i = 0; i < devices->n; i++) {
		const struct eadm_device *dev = &devices->dev[i];

		if (dump->has_device && dev->index != dump->device)
			continue;
		if (dev->companion && !dump->opts.original) {
			covered++;
			continue;
		}
		others++;
		lone = dev->name;
		only = dump->has_device ? dev : NULL;
		/* The reason for missing data is reported once. */
		showable = showable || eadm_driver_has_companion(dump->ctx, dev);
	}
	for (i = 0; !ret && known && i < devices->n; i++) {
		if ((!devices->dev[i].companion || dump->opts.original) &&
		    (!dump->has_device || devices->dev[i].index == dump->device))
			ret = plan_rdma(dump, &devices->dev[i]);
	}
	if (!ret && others && !dump->opts.original)
		ret = plan_probe(dump);
	if (ret || !others || dump->opts.original || dump->probe)
		return ret;
	if (!known && !covered)
		return eadm_driver_refuse(dump->ctx, only, has_probe(object));
	/*
	 * Rows about the machine need no such details, and other drivers do not provide
	 * them.
	 */
	if (dump->machine || (known && !showable))
		return 0;
	return eadm_plan_note(dump, 0, covered && others == 1 ? lone : "",
			      known ? "details beyond RDMA netlink" :
				      object->title,
			      eadm_driver_why(dump->ctx, only));
}

/*
 * Returns true if the source generates these rows for one device, whether or not the
 * companion shows the device.
 */
bool eadm_plan_is_local(const struct eadm_object *object)
{
	return object == &eadm_spec_objects[EADM_SPEC_OBJ_CGROUP] ||
	       object == &eadm_spec_objects[EADM_SPEC_OBJ_GID] ||
	       object == &eadm_spec_objects[EADM_SPEC_OBJ_HEALTH] ||
	       object == &eadm_spec_objects[EADM_SPEC_OBJ_PORT] ||
	       object == &eadm_spec_objects[EADM_SPEC_OBJ_QP_COUNTER];
}

static int plan_local(struct eadm_dump *dump)
{
	const struct eadm_devices *devices = &dump->ctx->devices;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < devices->n; i++) {
		if (!dump->has_device || devices->dev[i].index == dump->device)
			ret = eadm_plan_step(dump, STEP_LOCAL, &devices->dev[i], 0);
	}
	return ret;
}

int eadm_plan(struct eadm_dump *dump)
{
	const struct eadm_devices *devices = &dump->ctx->devices;
	bool covered = false;
	unsigned int i;
	int ret;

	if (eadm_plan_is_local(dump->object))
		return plan_local(dump);
	if (dump->finds) {
		ret = eadm_plan_step(dump, STEP_COMPANION, NULL, 0);
		return ret ? ret : eadm_plan_step(dump, STEP_OTHERS, NULL, 0);
	}
	for (i = 0; i < devices->n; i++) {
		const struct eadm_device *dev = &devices->dev[i];

		if (!dump->has_device || dev->index == dump->device)
			covered |= dev->companion && !dump->opts.original;
	}
	/* Past events come from the probe. */
	ret = dump->object->class == EADM_SPEC_CLASS_EVENTS ? 0 :
	      dump->object->class == EADM_SPEC_CLASS_ENTRIES ?
		      plan_raw(dump) : plan_companion(dump, covered);
	return ret ? ret : eadm_plan_others(dump);
}

static bool is_named(const struct eadm_record *rec, const char *name)
{
	const char *text = eadm_record_string(
		rec, eadm_object_find_field(rec->object, "dev-name"));

	return text && !strcmp(text, name);
}

/* Find the index of the newest device with this name for which the probe has rows. */
static int find_in_probe(struct eadm_dump *dump, const char *name)
{
	struct eadm_query query =
		eadm_query_local(dump->object - eadm_spec_objects);
	const struct nlmsghdr *nlh;
	struct eadm_reply reply;
	int ret;

	ret = eadm_reply_open(dump->ctx, &query, &reply);
	while (!ret && (ret = eadm_reply_next(&reply, &nlh)) > 0) {
		ret = eadm_decode(&reply, nlh, dump->object, false, &dump->rec);
		if (ret || !is_named(&dump->rec, name))
			continue;
		dump->has_device = true;
		dump->device = eadm_record_attr_u64(&dump->rec,
						    EADM_A_COMMON_DEV_INDEX);
	}
	eadm_reply_close(&reply);
	return ret ? ret : dump->has_device ? 0 : -ENODEV;
}

/*
 * The probe keeps records of devices that have been removed. In any case, the error
 * message still states that there is no such device.
 */
int eadm_plan_gone(struct eadm_dump *dump, const char *name)
{
	struct eadm_errmsg before;
	int ret;

	eadm_errmsg_push(dump->ctx, &before);
	ret = plan_probe(dump);
	if (!ret)
		ret = dump->n_steps ? find_in_probe(dump, name) : -ENODEV;
	eadm_errmsg_pop(dump->ctx, &before);
	return ret == -ENOMEM ? ret : ret ? -ENODEV : 0;
}

int eadm_plan_without_devices(struct eadm_dump *dump)
{
	const char *name = dump->opts.device;
	int ret = name ? 0 : plan_probe(dump);

	if (ret || dump->n_steps)
		return ret;
	eadm_fail(dump->ctx, -ENODEV, "no RDMA device found");
	return name ? eadm_plan_gone(dump, name) : -ENODEV;
}
