// SPDX-License-Identifier: LGPL-2.1-or-later
/* Dumps: the rows of an object, step by step, and how to report what is missing. */
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "companion.h"
#include "decode.h"
#include "device.h"
#include "eadm_nl.h"
#include "grow.h"
#include "machine.h"
#include "peers.h"
#include "plan.h"
#include "rawdump.h"
#include "rdma.h"
#include "rdma_device.h"
#include "setup.h"

/* The caller's memory may be freed from here on. */
static void forget_caller(struct eadm_dump *dump)
{
	dump->opts.device = NULL;
	dump->opts.entries = NULL;
	dump->opts.commands = NULL;
	dump->opts.fields = NULL;
	dump->opts.name = NULL;
}

static int find_device(struct eadm_dump *dump, const char *name)
{
	const struct eadm_device *dev;
	int ret = eadm_device_find(dump->ctx, name, &dev);

	if (ret)
		return ret;
	dump->has_device = true;
	dump->device = dev->index;
	return 0;
}

/* Rows about the setup of devices are derived from other rows, in their order. */
static int start_machine(struct eadm_dump *dump)
{
	const struct eadm_object *base = eadm_setup_base(dump->object);

	if (dump->object == &eadm_spec_objects[EADM_SPEC_OBJ_PROCESS] &&
	    dump->opts.has_id) {
		dump->setup.pid = dump->opts.id;
		base = NULL;
	} else if (dump->opts.hw || dump->opts.has_id)
		return eadm_fail(dump->ctx, -EOPNOTSUPP,
				 "%s cannot be selected by ID and have no adapter context",
				 dump->object->title);
	if (eadm_plan_is_local(dump->object))
		return 0;
	dump->machine = dump->object;
	if (!base)
		return eadm_plan_step(dump, STEP_MACHINE, NULL, 0);
	dump->object = base;
	return 0;
}

/*
 * Whether each device that the companion shows has a row, so that the device
 * list need not be requested first. A device without ports has no counters in
 * RDMA netlink either.
 */
static bool shows_each_device(const struct eadm_dump *dump)
{
	const struct eadm_object *object = dump->object;

	return (object->by_device || eadm_rdma_per_port(object)) &&
	       eadm_rdma_knows(object) && !dump->opts.has_id &&
	       !dump->opts.original && !dump->opts.device;
}

static int check_options(const struct eadm_dump *dump)
{
	const struct eadm_dump_opts *opts = &dump->opts;
	bool cmd = dump->object == &eadm_spec_objects[EADM_SPEC_OBJ_CMD];
	bool module = dump->object == &eadm_spec_objects[EADM_SPEC_OBJ_MODULE];

	if (opts->original && !eadm_rdma_per_port(dump->object))
		return eadm_fail(dump->ctx, -EINVAL, "%s have no other names",
				 dump->object->title);
	if ((!cmd && opts->commands) || (!module && opts->name))
		return eadm_fail(dump->ctx, -EINVAL, "%s cannot be selected this way",
				 dump->object->title);
	if (dump->object->class == EADM_SPEC_CLASS_ENTRIES)
		return eadm_rawdump_check(dump->ctx, dump->object, opts,
					  &dump->entries);
	if (dump->object->class != EADM_SPEC_CLASS_ROWS &&
	    dump->object->class != EADM_SPEC_CLASS_EVENTS &&
	    dump->object->class != EADM_SPEC_CLASS_MACHINE)
		return eadm_fail(dump->ctx, -EOPNOTSUPP,
				 "%s cannot be dumped",
				 dump->object->title);
	if (opts->entries)
		return eadm_fail(dump->ctx, -EINVAL, "%s have no entries",
				 dump->object->title);
	return 0;
}

/* The attributes that the caller needs; 0: all. */
static uint64_t fields_mask(const struct eadm_dump *dump)
{
	const struct eadm_dump_opts *opts = &dump->opts;
	uint64_t mask = 0;
	unsigned int i;

	for (i = 0; opts->fields && opts->fields[i]; i++)
		mask |= 1ULL << (opts->fields[i]->slot & 63);
	/* The library itself looks at these. */
	if (mask && dump->commands.states)
		mask |= 1ULL << EADM_A_CMD_STATE;
	if (mask && dump->commands.min_latency)
		mask |= 1ULL << EADM_A_CMD_LATENCY;
	return mask;
}

/* Commands and files are selected by their source, which saves more. */
static void select_fields(struct eadm_dump *dump)
{
	const struct eadm_field *const *field = dump->opts.fields;

	dump->fields = fields_mask(dump);
	dump->setup.fields = dump->fields;
	dump->selects = field && dump->object->class == EADM_SPEC_CLASS_ROWS &&
			dump->object != &eadm_spec_objects[EADM_SPEC_OBJ_CMD];
	for (; dump->selects && *field; field++)
		dump->selected[((*field)->slot - 1) / 64] |=
			1ULL << ((*field)->slot - 1) % 64;
}

/* Take the caller's options, which may be freed before the dump ends. */
static int take_options(struct eadm_dump *dump,
			const struct eadm_dump_opts *theirs)
{
	struct eadm_dump_opts *opts = &dump->opts;
	int ret = eadm_abi_take(dump->ctx, opts, sizeof(*opts), theirs);

	if (!ret)
		ret = eadm_abi_take(dump->ctx, &dump->commands,
				    sizeof(dump->commands), opts->commands);
	if (ret)
		return ret;
	select_fields(dump);
	if (opts->name)
		eadm_setup_select(&dump->setup, opts->name);
	ret = eadm_abi_take(dump->ctx, &dump->entries, sizeof(dump->entries),
			    opts->entries);
	return ret ? ret : check_options(dump);
}

static int start(struct eadm_dump *dump, const struct eadm_dump_opts *opts)
{
	int ret = take_options(dump, opts);

	if (!ret && dump->object->class == EADM_SPEC_CLASS_MACHINE)
		ret = start_machine(dump);
	if (ret || dump->n_steps)
		return ret;
	/* Context data that requires no privilege is always requested. */
	if (dump->object->hw &&
	    dump->object->hw_perm == EADM_SPEC_PERM_NONE)
		dump->opts.hw = true;
	if (dump->opts.hw && !dump->object->hw &&
	    dump->object->class == EADM_SPEC_CLASS_ROWS)
		return eadm_fail(dump->ctx, -EOPNOTSUPP,
				 "%s have no adapter context",
				 dump->object->title);
	/* Rows made from files require the device list, by which files are looked up. */
	dump->finds = !dump->machine && shows_each_device(dump) &&
		      eadm_devices_begin(dump->ctx);
	if (!dump->finds)
		ret = dump->opts.original ? eadm_devices_complete(dump->ctx) :
					    eadm_devices_load(dump->ctx);
	if (ret)
		return ret;
	dump->family = dump->ctx->devices.family;
	if (!dump->ctx->devices.n && !dump->finds) {
		ret = eadm_plan_without_devices(dump);
		forget_caller(dump);
		return ret;
	}
	if (dump->opts.device) {
		ret = find_device(dump, dump->opts.device);
		if (ret == -ENODEV && !eadm_plan_gone(dump, dump->opts.device)) {
			forget_caller(dump);
			return 0;
		}
		if (ret)
			return ret;
	}
	forget_caller(dump);
	return eadm_plan(dump);
}

static struct eadm_dump *dump_new(struct eadm_ctx *ctx,
				  const struct eadm_object *object)
{
	struct eadm_dump *dump = malloc(sizeof(*dump));

	if (!dump)
		return NULL;
	memset(dump, 0, offsetof(struct eadm_dump, rec));
	eadm_record_init(&dump->rec);
	eadm_record_init(&dump->machine_rec);
	dump->ctx = ctx;
	dump->object = object;
	return dump;
}

EADM_API int eadm_dump_open(struct eadm_ctx *ctx,
			    const struct eadm_object *object,
			    const struct eadm_dump_opts *opts,
			    struct eadm_dump **dump)
{
	struct eadm_dump *d = dump_new(ctx, object);
	int ret;

	if (!d)
		return eadm_oom(ctx);
	ret = start(d, opts);
	if (ret) {
		eadm_dump_close(d);
		return ret;
	}
	*dump = d;
	return 0;
}

EADM_API void eadm_dump_close(struct eadm_dump *dump)
{
	if (!dump)
		return;
	if (dump->open)
		eadm_reply_close(&dump->reply);
	eadm_setup_free(&dump->setup);
	eadm_rawdump_close(&dump->raw);
	eadm_peers_free(&dump->peers);
	eadm_record_release(&dump->rec);
	eadm_record_release(&dump->machine_rec);
	free(dump->steps);
	free(dump->notes);
	free(dump->shown);
	free(dump);
}

/* ---- the steps ------------------------------------------------------------- */

static void selection_query(const struct eadm_dump *dump,
			    struct eadm_query *query)
{
	const struct eadm_command_opts *opts = &dump->commands;

	if (opts->states && opts->states <= UINT32_MAX)
		eadm_query_arg(query, EADM_A_CMD_STATES, EADM_ARG_U32,
			       opts->states, NULL, true);
	if (opts->min_latency)
		eadm_query_arg(query, EADM_A_CMD_MIN_LATENCY, EADM_ARG_U64,
			       opts->min_latency, NULL, true);
	if (dump->fields && !dump->selects)
		eadm_query_arg(query, EADM_A_CMD_FIELDS, EADM_ARG_U64,
			       dump->fields, NULL, true);
}

static void companion_query(const struct eadm_dump *dump,
			    const struct step *step, bool hw,
			    struct eadm_query *query)
{
	const struct eadm_object *object = dump->object;

	*query = (struct eadm_query){
		.proto = NETLINK_GENERIC,
		.type = dump->family,
		.cmd = object->cmd,
		.dump = !dump->opts.has_id,
	};
	if (step->dev.name[0])
		eadm_query_arg(query, EADM_A_COMMON_DEV_INDEX, EADM_ARG_U32,
			       step->dev.index, NULL, true);
	if (dump->opts.has_id && !object->by_device)
		eadm_query_arg(query, object->key->slot,
			       object->key->type == EADM_SPEC_TYPE_U32 ?
				       EADM_ARG_U32 : EADM_ARG_U64,
			       dump->opts.id, NULL, true);
	if (dump->commands.has_from && query->dump)
		eadm_query_arg(query, EADM_A_CMD_FROM_SEQ, EADM_ARG_U64,
			       dump->commands.from, NULL, true);
	/* In a capture, readers may want to select other rows later. */
	if (query->dump && !eadm_source_records(dump->ctx))
		selection_query(dump, query);
	if (hw)
		eadm_query_arg(query, EADM_A_COMMON_QUERY_HW, EADM_ARG_FLAG, 0,
			       NULL, false);
}

static int open_raw(struct eadm_dump *dump, const struct step *step)
{
	int ret = eadm_rawdump_open(dump->ctx, &step->dev, dump->object,
				    &dump->opts, &dump->entries, &dump->raw);

	dump->opened |= !ret;
	return ret;
}

static int open_step(struct eadm_dump *dump, const struct step *step)
{
	struct eadm_query query;
	int ret;

	if (step->how == STEP_RAW)
		return open_raw(dump, step);
	if (step->how == STEP_RDMA) {
		eadm_rdma_query(dump->object, &step->dev, step->port,
				dump->opts.has_id ? &dump->opts.id : NULL,
				&query);
		return eadm_reply_open(dump->ctx, &query, &dump->reply);
	}
	if (step->how == STEP_PROBE || step->how == STEP_LOCAL) {
		query = eadm_query_local(dump->object - eadm_spec_objects);
		if (step->how == STEP_LOCAL)
			eadm_query_arg(&query, EADM_A_COMMON_DEV_INDEX, EADM_ARG_U32,
				       step->dev.index, NULL, false);
		return eadm_reply_open(dump->ctx, &query, &dump->reply);
	}
	companion_query(dump, step, dump->opts.hw, &query);
	ret = eadm_reply_open(dump->ctx, &query, &dump->reply);
	if (ret != -ENODATA)
		return ret;
	/* A capture with the adapter's contexts contains everything else, too. */
	if (!dump->opts.hw && dump->object->hw) {
		companion_query(dump, step, true, &query);
		return eadm_reply_open(dump->ctx, &query, &dump->reply);
	}
	if (dump->opts.hw)
		return eadm_fail(dump->ctx, -ENODATA,
				 "the capture has no contexts of the adapter");
	return ret;
}

/* 1 with a row, 0 at the end of the step, or a negative errno. */
static int step_next(struct eadm_dump *dump, const struct step *step)
{
	const struct nlmsghdr *nlh;
	int ret;

	if (step->how == STEP_RAW)
		return eadm_rawdump_next(&dump->raw, dump->object,
					 &dump->rec);
	for (;;) {
		if (dump->in_message) {
			ret = eadm_rdma_next(&dump->reply, &dump->cursor,
					     dump->object, &step->dev,
					     &dump->rec);
			if (ret > 0 && dump->peers.n)
				eadm_peers_put(&dump->peers, &dump->rec);
			if (ret)
				return ret;
			dump->in_message = false;
		}
		ret = eadm_reply_next(&dump->reply, &nlh);
		if (ret <= 0)
			return ret;
		if (step->how == STEP_COMPANION || step->how == STEP_PROBE ||
		    step->how == STEP_LOCAL) {
			ret = eadm_decode(&dump->reply, nlh, dump->object,
					  dump->opts.hw, &dump->rec);
			return ret ? ret : 1;
		}
		ret = eadm_rdma_begin(&dump->reply, nlh, dump->object,
				      &dump->cursor);
		dump->cursor.original = dump->opts.original;
		if (ret)
			return ret;
		dump->in_message = true;
	}
}

/* RDMA netlink uses its own numbers for some objects. */
static unsigned int other_number(const struct eadm_object *object)
{
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_MR])
		return EADM_A_MR_RES_ID;
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_CEP])
		return EADM_A_CEP_RES_ID;
	return 0;
}

/* For commands. One that has not ended has no latency yet. */
static bool selected(const struct eadm_command_opts *opts,
		     const struct eadm_record *rec)
{
	uint64_t state;

	if (opts->states) {
		state = eadm_record_attr_u64(rec, EADM_A_CMD_STATE);
		if (!eadm_record_attr_has(rec, EADM_A_CMD_STATE) ||
		    state > 63 || !(opts->states >> state & 1))
			return false;
	}
	return !opts->min_latency ||
	       (eadm_record_attr_has(rec, EADM_A_CMD_LATENCY) &&
		eadm_record_attr_u64(rec, EADM_A_CMD_LATENCY) >=
			opts->min_latency);
}

/* The companion shows the row's device: its rows count, not the probe's. */
static bool is_shown(const struct eadm_dump *dump, const struct eadm_record *rec)
{
	const struct eadm_device *dev;

	if (!eadm_record_attr_has(rec, EADM_A_COMMON_DEV_INDEX))
		return false;
	dev = eadm_device_of(dump->ctx,
			     eadm_record_attr_u64(rec, EADM_A_COMMON_DEV_INDEX));
	return dev && dev->companion;
}

/* A capture holds more than was requested. */
static bool wanted(const struct eadm_dump *dump, const struct step *step)
{
	const struct eadm_record *rec = &dump->rec;
	unsigned int attr = dump->object->key->slot;
	uint32_t dev = eadm_record_attr_u64(rec, EADM_A_COMMON_DEV_INDEX);

	if (dump->has_device &&
	    (dev != dump->device ||
	     !eadm_record_attr_has(rec, EADM_A_COMMON_DEV_INDEX)))
		return false;
	if (step->how == STEP_PROBE && is_shown(dump, rec))
		return false;
	/* Another step requests that one from its own device. */
	if (step->dev.name[0] && dev != step->dev.index)
		return false;
	if (dump->commands.has_from &&
	    (!eadm_record_attr_has(rec, attr) ||
	     eadm_record_attr_u64(rec, attr) < dump->commands.from))
		return false;
	if (!selected(&dump->commands, rec))
		return false;
	if (!dump->opts.has_id || step->how == STEP_RAW)
		return true;
	if (!eadm_record_attr_has(rec, attr)) {
		attr = other_number(dump->object);
		if (!attr || !eadm_record_attr_has(rec, attr))
			return false;
	}
	return eadm_record_attr_u64(rec, attr) == dump->opts.id;
}

/* Kept in the dump, because another dump may reset the context's list meanwhile. */
static int note_device(struct eadm_dump *dump)
{
	const struct eadm_record *rec = &dump->rec;
	struct eadm_device *dev;

	if (!grow(dump->shown, dump->n_shown, dump->max_shown))
		return eadm_oom(dump->ctx);
	dev = &dump->shown[dump->n_shown++];
	dev->index = eadm_record_attr_u64(rec, EADM_A_COMMON_DEV_INDEX);
	snprintf(dev->name, sizeof(dev->name), "%s",
		 (const char *)rec->slot[EADM_A_COMMON_DEV_NAME - 1].p);
	return 0;
}

/* Plan the devices that no row was about. */
static int begin_others(struct eadm_dump *dump)
{
	struct eadm_device *dev;
	unsigned int i;
	int ret;

	for (i = 0; i < dump->n_shown; i++) {
		dev = eadm_device_add(dump->ctx, dump->shown[i].index,
				      dump->shown[i].name);
		if (!dev)
			return -ENOMEM;
		dev->companion = true;
	}
	ret = eadm_devices_rest(dump->ctx);
	return ret ? ret : eadm_plan_others(dump);
}

/*
 * RDMA netlink returns the same error for a removed device and for a request
 * that its driver does not understand.
 */
static bool went_away(struct eadm_dump *dump, const struct step *step,
		      int error)
{
	struct eadm_ctx *ctx = dump->ctx;
	char why[sizeof(ctx->errmsg)];

	if (error != -EINVAL || step->how != STEP_RDMA)
		return error == -ENODEV && step->dev.name[0];
	memcpy(why, ctx->errmsg, sizeof(why));
	if (eadm_rdma_device(ctx, &step->dev, false, &dump->rec) == -EINVAL)
		return true;
	memcpy(ctx->errmsg, why, sizeof(why));
	return false;
}

/*
 * If need be, rows of QPs go without their peers. A capture may be older than
 * the request for connections.
 */
static int load_peers(struct eadm_dump *dump, const struct step *step)
{
	struct eadm_ctx *ctx = dump->ctx;
	char before[sizeof(ctx->errmsg)];
	int ret;

	if (step->how != STEP_RDMA ||
	    dump->object != &eadm_spec_objects[EADM_SPEC_OBJ_QP])
		return 0;
	/* The message may belong to the error that the dump ends with. */
	memcpy(before, ctx->errmsg, sizeof(before));
	ret = eadm_peers_load(ctx, &step->dev, &dump->peers, &dump->rec);
	if (!ret || ret == -ENOMEM)
		return ret;
	if (ret == -ENODATA || went_away(dump, step, ret)) {
		memcpy(ctx->errmsg, before, sizeof(before));
		return 0;
	}
	if (!dump->first_error)
		dump->first_error = ret;
	return eadm_plan_note(dump, ret, step->dev.name, "peers of queue pairs",
			      ctx->errmsg);
}

/*
 * RDMA netlink returns the same error for a driver without counters, which is
 * not a failure, and for an adapter that did not deliver them.
 */
static int no_counters(struct eadm_dump *dump, const struct step *step)
{
	const char *why = "there are none, or the adapter did not provide them";
	int ret, error = 0;

	ret = eadm_rdma_counters(dump->ctx, &step->dev, step->port, &dump->rec);
	if (!ret) {
		error = -EIO;
		why = "the driver has counters, but the adapter did not provide them";
	} else if (ret == -EINVAL) {
		why = "the driver has none";
	}
	if (error && !dump->first_error) {
		dump->first_error = error;
		eadm_fail(dump->ctx, error, "%s: %s", step->dev.name, why);
	}
	ret = eadm_plan_note(dump, error, step->dev.name, dump->object->title, why);
	if (ret || !error)
		return ret;
	return eadm_rdma_counters_rest(dump->ctx, &step->dev, step->port,
				       dump->opts.original, error, &dump->rec);
}

/*
 * A failed step becomes a note, so that one device does not hide the others. A
 * device that was removed meanwhile, or an object that never existed, is not a
 * failure. 1 with a row of what is available in spite of the error.
 */
static int step_failed(struct eadm_dump *dump, const struct step *step,
		       int error)
{
	/* A capture may have the queue of only one device. */
	if ((error == -ENOENT ||
	     (error == -ENODATA && step->how == STEP_RAW &&
	      dump->n_steps > 1)) && dump->opts.has_id) {
		dump->absent = error;
		return 0;
	}
	/* STEP_OTHERS then handles all devices, for this reason. */
	if (dump->finds && step->how == STEP_COMPANION)
		dump->ctx->devices.family_err = error;
	if (went_away(dump, step, error))
		return eadm_plan_note(dump, 0, step->dev.name, dump->object->title,
				      "the device was removed");
	if (step->how == STEP_RDMA && eadm_rdma_per_port(dump->object) &&
	    (error == -EINVAL || error == -EOPNOTSUPP))
		return no_counters(dump, step);
	if (!dump->first_error)
		dump->first_error = error;
	return eadm_plan_note(dump, error, step->dev.name, dump->object->title,
			      dump->ctx->errmsg);
}

static void close_step(struct eadm_dump *dump)
{
	eadm_rawdump_close(&dump->raw);
	if (!dump->open)
		return;
	if (dump->reply.inconsistent)
		dump->inconsistent = true;
	eadm_reply_close(&dump->reply);
	dump->open = false;
	dump->in_message = false;
}

/* 1 with a row, 0: go on, or a negative errno. */
static int advance(struct eadm_dump *dump)
{
	const struct step *step = &dump->steps[dump->step];
	int ret;

	if (step->how == STEP_OTHERS) {
		dump->step++;
		return begin_others(dump);
	}
	if (step->how == STEP_RDMA_DEVICE) {
		dump->step++;
		ret = eadm_rdma_device(dump->ctx, &step->dev,
				       dump->opts.limits, &dump->rec);
		return ret ? step_failed(dump, step, ret) : 1;
	}
	if (step->how == STEP_MACHINE) {
		ret = eadm_setup_next(dump->ctx, &dump->setup, dump->machine,
				      &dump->machine_rec);
		dump->step += !ret;
		return ret;
	}
	ret = 0;
	if (!dump->open) {
		ret = load_peers(dump, step);
		if (ret)
			return ret;
		ret = open_step(dump, step);
		dump->open = !ret;
	}
	if (!ret)
		ret = step_next(dump, step);
	if (ret > 0)
		return 1;
	close_step(dump);
	dump->step++;
	return ret ? step_failed(dump, step, ret) : 0;
}

static void drop_fields(struct eadm_dump *dump)
{
	unsigned int i;

	for (i = 0; i < EADM_ARRAY_SIZE(dump->selected); i++)
		dump->rec.has[i] &= dump->selected[i];
}

static int finish(struct eadm_dump *dump)
{
	dump->ended = true;
	if (dump->rows)
		return 0;
	if (dump->first_error)
		return dump->first_error;
	if (dump->object->class == EADM_SPEC_CLASS_ENTRIES)
		return dump->opened ? 0 : dump->absent;
	if (dump->opts.has_id)
		return eadm_fail(dump->ctx, -ENOENT, "no such object");
	return 0;
}

EADM_API int eadm_dump_next(struct eadm_dump *dump,
			    const struct eadm_record **record)
{
	const struct step *step;
	int ret;

	if (dump->ended)
		return 0;
	while (dump->step < dump->n_steps) {
		step = &dump->steps[dump->step];
		ret = advance(dump);
		if (ret < 0) {
			dump->ended = true;
			return ret;
		}
		if (ret && step->how == STEP_MACHINE) {
			dump->rows++;
			*record = &dump->machine_rec;
			return 1;
		}
		if (!ret || !wanted(dump, step))
			continue;
		if (dump->finds && step->how == STEP_COMPANION &&
		    note_device(dump)) {
			dump->ended = true;
			return -ENOMEM;
		}
		if (dump->opts.setup &&
		    dump->object == &eadm_spec_objects[EADM_SPEC_OBJ_DEV])
			eadm_device_setup(dump->ctx, dump->opts.limits,
					  &dump->rec);
		if (dump->machine)
			ret = eadm_setup_of(dump->ctx, &dump->setup,
					    dump->machine, &dump->rec,
					    &dump->machine_rec);
		if (ret < 0)
			dump->ended = true;
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		if (dump->selects)
			drop_fields(dump);
		dump->rows++;
		*record = dump->machine ? &dump->machine_rec : &dump->rec;
		return 1;
	}
	return finish(dump);
}

EADM_API bool eadm_dump_inconsistent(const struct eadm_dump *dump)
{
	return dump->inconsistent;
}

EADM_API int eadm_dump_note(const struct eadm_dump *dump, unsigned int index,
			    struct eadm_note *note)
{
	const struct note *n;
	struct eadm_note full;

	if (index >= dump->n_notes)
		return 0;
	n = &dump->notes[index];
	full = (struct eadm_note){
		.error = n->error, .device = n->device, .what = n->what,
		.why = n->why,
	};
	return eadm_abi_give(note, &full, sizeof(full));
}
