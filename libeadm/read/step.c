// SPDX-License-Identifier: LGPL-2.1-or-later
/* The steps of a dump: how each kind of step gets rows, and how it handles errors. */
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>

#include "decode.h"
#include "device.h"
#include "eadm_nl.h"
#include "grow.h"
#include "peers.h"
#include "rdma.h"
#include "rdma_device.h"
#include "setup.h"
#include "srqs.h"
#include "step.h"

/* ---- common to several kinds ----------------------------------------------------- */

static int next_message(struct eadm_dump *dump, const struct step *step)
{
	const struct nlmsghdr *nlh;
	int ret = eadm_reply_next(&dump->reply, &nlh);

	(void)step;
	if (ret <= 0)
		return ret;
	ret = eadm_decode(&dump->reply, nlh, dump->object, dump->opts.hw,
			  &dump->rec);
	return ret ? ret : 1;
}

static void close_reply(struct eadm_dump *dump)
{
	dump->inconsistent |= dump->reply.inconsistent;
	eadm_reply_close(&dump->reply);
	dump->in_message = false;
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

/*
 * Returns true if a row matches the selection of commands. A command that has not ended
 * has no latency yet.
 */
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

/* A capture contains rows of devices and commands that were not requested. */
static inline int is_selected(struct eadm_dump *dump, const struct step *step)
{
	const struct eadm_record *rec = &dump->rec;
	unsigned int key = dump->object->key->slot;
	uint32_t dev = eadm_record_attr_u64(rec, EADM_A_COMMON_DEV_INDEX);

	if (dump->has_device &&
	    (dev != dump->device ||
	     !eadm_record_attr_has(rec, EADM_A_COMMON_DEV_INDEX)))
		return 0;
	/* Another step requests rows of that device. */
	if (step->dev.name[0] && dev != step->dev.index)
		return 0;
	if (dump->commands.has_from &&
	    (!eadm_record_attr_has(rec, key) ||
	     eadm_record_attr_u64(rec, key) < dump->commands.from))
		return 0;
	return selected(&dump->commands, rec);
}

/* A capture also contains other objects. */
static inline int is_wanted(struct eadm_dump *dump, const struct step *step)
{
	const struct eadm_record *rec = &dump->rec;
	unsigned int attr = dump->object->key->slot;

	if (!is_selected(dump, step))
		return 0;
	if (!dump->opts.has_id)
		return 1;
	if (!eadm_record_attr_has(rec, attr)) {
		attr = other_number(dump->object);
		if (!attr || !eadm_record_attr_has(rec, attr))
			return 0;
	}
	return eadm_record_attr_u64(rec, attr) == dump->opts.id;
}

/*
 * A failed step becomes a note, so that one device does not hide the others. A device
 * that was removed in the meantime, or an object that never existed, is not a failure.
 */
static int step_failed(struct eadm_dump *dump, const struct step *step,
		       int error)
{
	if (error == -ENOENT && dump->opts.has_id) {
		dump->absent = error;
		return 0;
	}
	if (error == -ENODEV && step->dev.name[0])
		return eadm_plan_note(dump, 0, step->dev.name, dump->object->title,
				      "the device was removed");
	if (!dump->first_error)
		dump->first_error = error;
	return eadm_plan_note(dump, error, step->dev.name, dump->object->title,
			      dump->ctx->errmsg);
}

/* ---- the companion --------------------------------------------------------------- */

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
	/* Readers of a capture may want to select other rows later. */
	if (query->dump && !eadm_source_records(dump->ctx))
		selection_query(dump, query);
	if (hw)
		eadm_query_arg(query, EADM_A_COMMON_QUERY_HW, EADM_ARG_FLAG, 0,
			       NULL, false);
}

static int open_companion(struct eadm_dump *dump, const struct step *step)
{
	struct eadm_query query;
	int ret;

	companion_query(dump, step, dump->opts.hw, &query);
	ret = eadm_reply_open(dump->ctx, &query, &dump->reply);
	if (ret != -ENODATA)
		return ret;
	/* A capture with the adapter's contexts contains all other fields, too. */
	if (!dump->opts.hw && dump->object->hw) {
		companion_query(dump, step, true, &query);
		return eadm_reply_open(dump->ctx, &query, &dump->reply);
	}
	if (dump->opts.hw)
		return eadm_fail(dump->ctx, -ENODATA,
				 "the capture does not contain the adapter's contexts");
	return ret;
}

/*
 * Devices are kept in the dump, because another dump may reset the context's list in
 * the meantime.
 */
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

static int take_companion(struct eadm_dump *dump, const struct step *step)
{
	if (!is_wanted(dump, step))
		return 0;
	return dump->finds && note_device(dump) ? -ENOMEM : 1;
}

static int companion_failed(struct eadm_dump *dump, const struct step *step,
			    int error)
{
	/* STEP_OTHERS then uses this error as the reason for missing data. */
	if (dump->finds)
		dump->ctx->devices.family_err = error;
	return step_failed(dump, step, error);
}

/* Plan steps for the devices without a row. */
static int plan_others(struct eadm_dump *dump, const struct step *step)
{
	struct eadm_device *dev;
	unsigned int i;
	int ret;

	(void)step;
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

/* ---- RDMA netlink ------------------------------------------------------------------ */

/*
 * RDMA netlink returns the same error for a removed device and for a request that its
 * driver does not support.
 */
static bool went_away(struct eadm_dump *dump, const struct step *step,
		      int error)
{
	struct eadm_ctx *ctx = dump->ctx;
	char why[sizeof(ctx->errmsg)];

	if (error != -EINVAL)
		return error == -ENODEV;
	memcpy(why, ctx->errmsg, sizeof(why));
	if (eadm_rdma_device(ctx, &step->dev, false, &dump->rec) == -EINVAL)
		return true;
	memcpy(ctx->errmsg, why, sizeof(why));
	return false;
}

/*
 * If necessary, rows of QPs are returned without their peers. A capture may be older
 * than the request that lists connections.
 */
static int load_peers(struct eadm_dump *dump, const struct step *step)
{
	struct eadm_ctx *ctx = dump->ctx;
	char before[sizeof(ctx->errmsg)];
	int ret;

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

/* Older kernels and captures do not list SRQs: the rows of QPs then lack them. */
static int load_srqs(struct eadm_dump *dump, const struct step *step)
{
	struct eadm_errmsg before;
	int ret;

	eadm_errmsg_push(dump->ctx, &before);
	ret = eadm_srqs_load(dump->ctx, &step->dev, &dump->srqs, &dump->rec);
	if (ret == -ENOMEM)
		return ret;
	eadm_errmsg_pop(dump->ctx, &before);
	return 0;
}

/* Load data about QPs that RDMA netlink has only in rows of other objects. */
static int load_of_qps(struct eadm_dump *dump, const struct step *step)
{
	int ret;

	if (dump->object != &eadm_spec_objects[EADM_SPEC_OBJ_QP])
		return 0;
	ret = load_peers(dump, step);
	return ret ? ret : load_srqs(dump, step);
}

static int open_rdma(struct eadm_dump *dump, const struct step *step)
{
	struct eadm_query query;

	eadm_rdma_query(dump->object, &step->dev, step->port,
			dump->opts.has_id ? &dump->opts.id : NULL, &query);
	return eadm_reply_open(dump->ctx, &query, &dump->reply);
}

/* A message may have several rows. */
static int next_rdma(struct eadm_dump *dump, const struct step *step)
{
	const struct nlmsghdr *nlh;
	int ret;

	for (;;) {
		if (dump->in_message) {
			ret = eadm_rdma_next(&dump->reply, &dump->cursor,
					     dump->object, &step->dev,
					     &dump->rec);
			if (ret > 0 && dump->peers.n)
				eadm_peers_put(&dump->peers, &dump->rec);
			if (ret > 0 && dump->srqs.n)
				eadm_srqs_put(&dump->srqs, &dump->rec);
			if (ret)
				return ret;
			dump->in_message = false;
		}
		ret = eadm_reply_next(&dump->reply, &nlh);
		if (ret <= 0)
			return ret;
		ret = eadm_rdma_begin(&dump->reply, nlh, dump->object,
				      &dump->cursor);
		dump->cursor.original = dump->opts.original;
		if (ret)
			return ret;
		dump->in_message = true;
	}
}

/*
 * RDMA netlink returns the same error for a driver without counters, which is not a
 * failure, and for an adapter that did not deliver them.
 */
static int no_counters(struct eadm_dump *dump, const struct step *step)
{
	const char *why = "there are no counters, or the adapter did not provide them";
	int ret, error = 0;

	ret = eadm_rdma_counters(dump->ctx, &step->dev, step->port, &dump->rec);
	if (!ret) {
		error = -EIO;
		why = "the driver has counters, but the adapter did not provide them";
	} else if (ret == -EINVAL) {
		why = "the driver has no counters";
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

static int rdma_failed(struct eadm_dump *dump, const struct step *step,
		       int error)
{
	if (went_away(dump, step, error))
		return step_failed(dump, step, -ENODEV);
	if (eadm_rdma_per_port(dump->object) &&
	    (error == -EINVAL || error == -EOPNOTSUPP))
		return no_counters(dump, step);
	/* Older kernels, such as 5.10, lack that command. */
	if (error == -EINVAL &&
	    dump->object == &eadm_spec_objects[EADM_SPEC_OBJ_SRQ])
		error = eadm_fail(dump->ctx, -EOPNOTSUPP,
				  "this kernel does not list them");
	return step_failed(dump, step, error);
}

static int open_rdma_device(struct eadm_dump *dump, const struct step *step)
{
	int ret = eadm_rdma_device(dump->ctx, &step->dev, dump->opts.limits,
				   &dump->rec);

	dump->in_message = !ret;
	return ret;
}

/* The row of the device itself has been read already. */
static int next_rdma_device(struct eadm_dump *dump, const struct step *step)
{
	bool first = dump->in_message;

	(void)step;
	dump->in_message = false;
	return first;
}

/* ---- entries of a queue ------------------------------------------------------------- */

static int open_raw(struct eadm_dump *dump, const struct step *step)
{
	int ret = eadm_rawdump_open(dump->ctx, &step->dev, dump->object,
				    &dump->opts, &dump->entries, &dump->raw);

	if (ret)
		eadm_rawdump_close(&dump->raw);
	else
		dump->opened = true;
	return ret;
}

static int next_raw(struct eadm_dump *dump, const struct step *step)
{
	(void)step;
	return eadm_rawdump_next(&dump->raw, dump->object, &dump->rec);
}

static void close_raw(struct eadm_dump *dump)
{
	eadm_rawdump_close(&dump->raw);
}

static int raw_failed(struct eadm_dump *dump, const struct step *step, int error)
{
	/* A capture may have the queue of only one device. */
	if (error == -ENODATA && dump->n_steps > 1 && dump->opts.has_id) {
		dump->absent = error;
		return 0;
	}
	return step_failed(dump, step, error);
}

/* ---- rows of the source, of the probe, of the machine -------------------------------- */

static int open_probe(struct eadm_dump *dump, const struct step *step)
{
	struct eadm_query query =
		eadm_query_local(dump->object - eadm_spec_objects);

	(void)step;
	return eadm_reply_open(dump->ctx, &query, &dump->reply);
}

static int open_local(struct eadm_dump *dump, const struct step *step)
{
	struct eadm_query query =
		eadm_query_local(dump->object - eadm_spec_objects);

	eadm_query_arg(&query, EADM_A_COMMON_DEV_INDEX, EADM_ARG_U32,
		       step->dev.index, NULL, false);
	return eadm_reply_open(dump->ctx, &query, &dump->reply);
}

/*
 * Returns true if the companion shows the row's device; its rows then replace the
 * probe's.
 */
static bool is_shown(const struct eadm_dump *dump, const struct eadm_record *rec)
{
	const struct eadm_device *dev;

	if (!eadm_record_attr_has(rec, EADM_A_COMMON_DEV_INDEX))
		return false;
	dev = eadm_device_of(dump->ctx,
			     eadm_record_attr_u64(rec, EADM_A_COMMON_DEV_INDEX));
	return dev && dev->companion;
}

static int take_probe(struct eadm_dump *dump, const struct step *step)
{
	return !is_shown(dump, &dump->rec) && is_wanted(dump, step);
}

static int next_machine(struct eadm_dump *dump, const struct step *step)
{
	(void)step;
	return eadm_setup_next(dump->ctx, &dump->setup, dump->machine,
			       &dump->machine_rec);
}

/* ---- the table ------------------------------------------------------------------------ */

const struct step_ops eadm_step_ops[] = {
	[STEP_COMPANION] = {
		.open = open_companion, .next = next_message,
		.close = close_reply, .take = take_companion,
		.failed = companion_failed,
	},
	[STEP_OTHERS] = { .next = plan_others },
	[STEP_RDMA] = {
		.prepare = load_of_qps, .open = open_rdma, .next = next_rdma,
		.close = close_reply, .take = is_wanted, .failed = rdma_failed,
	},
	[STEP_RDMA_DEVICE] = {
		.open = open_rdma_device, .next = next_rdma_device,
		.take = is_wanted, .failed = step_failed,
	},
	[STEP_RAW] = {
		.open = open_raw, .next = next_raw, .close = close_raw,
		.take = is_selected, .failed = raw_failed,
	},
	[STEP_MACHINE] = { .next = next_machine },
	[STEP_PROBE] = {
		.open = open_probe, .next = next_message,
		.close = close_reply, .take = take_probe, .failed = step_failed,
	},
	[STEP_LOCAL] = {
		.open = open_local, .next = next_message,
		.close = close_reply, .take = is_wanted, .failed = step_failed,
	},
};
