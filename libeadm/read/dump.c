// SPDX-License-Identifier: LGPL-2.1-or-later
/* Dumps: the rows of an object, step by step, and reports of missing data. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "device.h"
#include "eadm_nl.h"
#include "grow.h"
#include "machine.h"
#include "rawdump.h"
#include "rdma.h"
#include "rdma_device.h"
#include "setup.h"
#include "step.h"

/* Drop pointers to the caller's memory, which may be freed after this. */
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
 * Returns true if each device that the companion shows has a row, so that the device list
 * need not be requested first. A device without ports has no counters in RDMA netlink
 * either.
 */
static bool shows_each_device(const struct eadm_dump *dump)
{
	const struct eadm_object *object = dump->object;

	return (object->by_device || eadm_rdma_per_port(object)) &&
	       eadm_rdma_knows(object) && !dump->opts.has_id &&
	       !dump->opts.original && !dump->opts.device;
}

static int check_commands(const struct eadm_dump *dump)
{
	const struct eadm_field *state = eadm_object_find_field(dump->object, "state");
	uint64_t known = 0, value;
	unsigned int i;

	for (i = 0; eadm_field_value_at(state, i, &value); i++)
		known |= 1ULL << value;
	return eadm_abi_bits(dump->ctx, dump->commands.states, known);
}

static int check_options(const struct eadm_dump *dump)
{
	const struct eadm_dump_opts *opts = &dump->opts;
	bool cmd = dump->object == &eadm_spec_objects[EADM_SPEC_OBJ_CMD];
	bool module = dump->object == &eadm_spec_objects[EADM_SPEC_OBJ_MODULE];

	if (opts->original && !eadm_rdma_per_port(dump->object))
		return eadm_fail(dump->ctx, -EINVAL, "no driver-specific counter names for %s",
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
	return cmd ? check_commands(dump) : 0;
}

/* Returns a mask of the attributes that the caller needs; 0: all. */
static uint64_t fields_mask(const struct eadm_dump *dump)
{
	const struct eadm_dump_opts *opts = &dump->opts;
	uint64_t mask = 0;
	unsigned int i;

	for (i = 0; opts->fields && opts->fields[i]; i++)
		mask |= 1ULL << (opts->fields[i]->slot & 63);
	/* The library itself uses these attributes. */
	if (mask && dump->commands.states)
		mask |= 1ULL << EADM_A_CMD_STATE;
	if (mask && dump->commands.min_latency)
		mask |= 1ULL << EADM_A_CMD_LATENCY;
	return mask;
}

/* Commands and files are selected by the sources, which saves more time. */
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
	/* Rows made from files require the device list for looking up the files. */
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

static void close_step(struct eadm_dump *dump)
{
	const struct step_ops *ops;

	if (!dump->open)
		return;
	ops = &eadm_step_ops[dump->steps[dump->step].how];
	if (ops->close)
		ops->close(dump);
	dump->open = false;
}

EADM_API void eadm_dump_close(struct eadm_dump *dump)
{
	if (!dump)
		return;
	close_step(dump);
	eadm_setup_free(&dump->setup);
	eadm_peers_free(&dump->peers);
	eadm_srqs_free(&dump->srqs);
	eadm_record_release(&dump->rec);
	eadm_record_release(&dump->machine_rec);
	free(dump->steps);
	free(dump->notes);
	free(dump->shown);
	free(dump);
}

/* ---- rows -------------------------------------------------------------------- */

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

/*
 * Completes the row in rec. Returns 1 to use the row, 0 to skip it, or a negative errno.
 */
static int complete(struct eadm_dump *dump)
{
	if (dump->opts.setup &&
	    dump->object == &eadm_spec_objects[EADM_SPEC_OBJ_DEV])
		eadm_device_setup(dump->ctx, dump->opts.limits, &dump->rec);
	if (dump->machine)
		return eadm_setup_of(dump->ctx, &dump->setup, dump->machine,
				     &dump->rec, &dump->machine_rec);
	if (dump->selects)
		drop_fields(dump);
	return 1;
}

/* Returns 1 with a row, 0 to continue with the current step, or a negative errno. */
static int advance(struct eadm_dump *dump)
{
	const struct step *step = &dump->steps[dump->step];
	const struct step_ops *ops = &eadm_step_ops[step->how];
	int ret = 0;

	if (!dump->open) {
		ret = ops->prepare ? ops->prepare(dump, step) : 0;
		if (ret)
			return ret;
		ret = ops->open ? ops->open(dump, step) : 0;
		dump->open = !ret;
	}
	if (!ret)
		ret = ops->next(dump, step);
	if (ret <= 0) {
		close_step(dump);
		dump->step++;
		if (ret && ops->failed)
			ret = ops->failed(dump, step, ret);
	}
	if (ret <= 0 || !ops->take)
		return ret;
	ret = ops->take(dump, step);
	return ret > 0 ? complete(dump) : ret;
}

EADM_API int eadm_dump_next(struct eadm_dump *dump,
			    const struct eadm_record **record)
{
	int ret;

	if (dump->ended)
		return 0;
	while (dump->step < dump->n_steps) {
		ret = advance(dump);
		if (ret > 0) {
			dump->rows++;
			*record = dump->machine ? &dump->machine_rec : &dump->rec;
			return 1;
		}
		if (ret < 0) {
			dump->ended = true;
			return ret;
		}
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
