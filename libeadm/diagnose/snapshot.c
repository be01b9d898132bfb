// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the data that the rules of a diagnosis examine.
 *
 * Reading the adapter's own contexts requires commands. If the command queue is dead,
 * each command would time out, so the queue is checked first.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "index.h"
#include "reader.h"
#include "source/devlist.h"
#include "family/family.h"
#include "read/machine.h"
#include "eadm_nl.h"

/* An adapter that needs this long for a command is not sent further commands. */
#define PATIENCE_NS 1000000000ULL
/* A working adapter needs less time than this for all commands of a dump. */
#define LONG_NS 10000000ULL

/*
 * Reading limits from libibverbs requires opening the device, which blocks if the
 * device hangs: read them only when the setup is checked, and only once.
 */
static int read_devices(struct reader *r, unsigned int groups)
{
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = r->device,
		.limits = groups & EADM_GROUP_SETUP || r->snapshot->short_of,
	};

	return eadm_diag_read_dump(r, DIAG_DEV, &opts);
}

static int read_kind(struct reader *r, enum diag_kind kind, bool hw)
{
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = r->device, .hw = hw,
	};

	/* Skip fields that no rule examines: they would require reading more files. */
	if (kind == DIAG_MODULE)
		opts.fields = eadm_diag_fields(kind)->field;
	return eadm_diag_read_dump(r, kind, &opts);
}

static int failed(struct reader *r, enum diag_kind kind, int error)
{
	if (error == -ENOMEM)
		return error;
	/* The device was removed, or its driver does not provide these rows. */
	if (error == -ENODEV || error == -ENOENT || error == -ENODATA ||
	    error == -EOPNOTSUPP)
		return 0;
	return eadm_diag_add_note(r, error, r->device,
				  eadm_object_title(eadm_diag_fields(kind)->object),
				  eadm_errmsg(r->ctx));
}

/* ---- data available for a device ------------------------------------------------ */

/* Only drivers that come with eadm show their state. */
static bool could_show(const struct diag_row *dev)
{
	const struct eadm_family *family =
		eadm_family_find(diag_text(dev, DEV_DRIVER));

	return family && eadm_family_has_companion(family);
}

static enum diag_lack why_no_state(struct reader *r, const struct diag_row *dev)
{
	const struct eadm_devices *devices = &r->ctx->devices;
	unsigned int i;

	for (i = 0; i < devices->n; i++) {
		if (devices->dev[i].index == dev->dev &&
		    devices->dev[i].companion)
			return DIAG_LACK_NONE;
	}
	if (!could_show(dev))
		return DIAG_LACK_STOCK;
	switch (devices->family_err) {
	case 0:
		return DIAG_LACK_DRIVER;
	case -ENOENT:
		return DIAG_LACK_COMPANION;
	case -ENODATA:
		return DIAG_LACK_CAPTURE;
	case -EPERM:
	case -EACCES:
		return DIAG_LACK_RIGHT;
	default:
		return DIAG_LACK_SILENT;
	}
}

/* The result is the same for all devices. */
static void find_owners(struct reader *r)
{
	uint64_t host_pids = 0;
	bool known = eadm_machine_u64(r->ctx, EADM_A_MACHINE_HOST_PIDS,
				      &host_pids);

	r->snapshot->owners_known = host_pids;
	r->owners = host_pids ? DIAG_LACK_NONE :
		    known ? DIAG_LACK_PIDNS : DIAG_LACK_CAPTURE;
}

static int begin_inputs(struct reader *r, const struct diag_row *dev, bool hw)
{
	struct diag_snapshot *m = r->snapshot;
	enum diag_lack lack;
	unsigned int i;

	if (!grow(m->inputs, m->n_inputs, m->max_inputs))
		return -ENOMEM;
	r->inputs = &m->inputs[m->n_inputs++];
	memset(r->inputs, 0, sizeof(*r->inputs));
	r->inputs->dev = dev->dev;
	r->inputs->device = dev->device;
	lack = why_no_state(r, dev);
	for (i = 0; lack && i < DIAG_INPUTS; i++)
		eadm_diag_lacks(r, i, lack, NULL);
	if (!hw) {
		eadm_diag_lacks(r, DIAG_HW, DIAG_LACK_ASKED, NULL);
		eadm_diag_lacks(r, DIAG_RINGS, DIAG_LACK_ASKED, NULL);
	}
	/* The owners of objects in a guest cannot be seen from the host. */
	if (diag_has(dev, DEV_SIDE) &&
	    diag_u64(dev, DEV_SIDE) == EADM_DEV_SIDE_PROGRAM)
		eadm_diag_lacks(r, DIAG_OWNERS, DIAG_LACK_FAMILY, NULL);
	if (r->owners != DIAG_LACK_NONE)
		eadm_diag_lacks(r, DIAG_OWNERS, r->owners, NULL);
	return 0;
}

static void lacks_hw(struct reader *r, int error)
{
	const char *why = eadm_errmsg(r->ctx);
	enum diag_lack lack = DIAG_LACK_ADAPTER;

	if (error == -EPERM || error == -EACCES) {
		lack = eadm_machine_is_locked_down(r->ctx) ?
			       DIAG_LACK_LOCKDOWN : DIAG_LACK_RIGHT;
		why = NULL;
	} else if (error == -ENODATA) {
		lack = DIAG_LACK_CAPTURE;
		why = NULL;
	}
	eadm_diag_lacks(r, DIAG_HW, lack, why);
	eadm_diag_lacks(r, DIAG_RINGS, lack, why);
}

/*
 * Each device has event queues: query their contexts to check that the adapter
 * responds.
 */
static void look_at_answers(struct reader *r, size_t first)
{
	const struct diag_rows *eqs = &r->snapshot->rows[DIAG_EQ];
	int64_t error = 0;
	char why[96];
	size_t i;

	for (i = first; i < eqs->n; i++) {
		if (!diag_has(&eqs->row[i], EQ_HW_ERROR))
			return;
		error = diag_u64(&eqs->row[i], EQ_HW_ERROR);
	}
	if (!error)
		return;
	snprintf(why, sizeof(why), "the adapter did not respond: %s",
		 strerror(-error));
	eadm_diag_lacks(r, DIAG_HW, error == -EOPNOTSUPP ? DIAG_LACK_FAMILY :
						 DIAG_LACK_ADAPTER, why);
}

static int read_objects(struct reader *r, enum diag_kind kind, bool hw)
{
	int ret;

	if (hw) {
		ret = read_kind(r, kind, true);
		if (!ret || ret == -ENOMEM)
			return ret;
		if (ret != -EOPNOTSUPP && ret != -ENODEV && ret != -ENOENT)
			lacks_hw(r, ret);
	}
	ret = read_kind(r, kind, false);
	return ret ? failed(r, kind, ret) : 0;
}

/* ---- snapshots -------------------------------------------------------------------- */

static bool answers(const struct diag_row *cmdq)
{
	uint64_t state = diag_u64(cmdq, CMDQ_STATE);

	return state != EADM_CMDQ_STATE_DEAD &&
	       state != EADM_CMDQ_STATE_RECOVERING &&
	       diag_u64(cmdq, CMDQ_OLDEST_AGE) < PATIENCE_NS;
}

/*
 * Read the command queue again after a slow operation, which may have made it hang. If
 * the device has one, request it by number, which is faster than a dump.
 */
static int read_cmdq(struct reader *r, size_t before, bool *answering)
{
	struct diag_rows *rows = &r->snapshot->rows[DIAG_CMDQ];
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = r->device,
	};
	int ret;

	if (rows->n == before + 1) {
		opts.has_id = true;
		opts.id = rows->row[before].id;
	}
	rows->n = before;
	ret = eadm_diag_read_dump(r, DIAG_CMDQ, &opts);
	*answering = rows->n == before || answers(&rows->row[before]);
	return ret ? failed(r, DIAG_CMDQ, ret) : 0;
}

/*
 * Read only selected commands: the flight recorder contains thousands that rules do not
 * need.
 */
static int read_commands(struct reader *r)
{
	static const struct {
		uint64_t states, min_latency;
	} kinds[] = {
		{ DIAG_CMD_FAILED, 0 },
		{ 1ULL << EADM_CMD_STATE_DONE, DIAG_CMD_SLOW_NS },
	};
	struct eadm_command_opts commands = { .size = sizeof(commands) };
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = r->device, .commands = &commands,
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < EADM_ARRAY_SIZE(kinds); i++) {
		commands.states = kinds[i].states;
		commands.min_latency = kinds[i].min_latency;
		ret = eadm_diag_read_dump(r, DIAG_CMD, &opts);
	}
	return ret ? failed(r, DIAG_CMD, ret) : 0;
}

static int read_device(struct reader *r, const struct diag_row *dev, bool hw)
{
	/*
	 * Always query the adapter, even without @hw: like counters, this requires no
	 * privilege.
	 */
	static const struct {
		enum diag_kind kind;
		bool asks, always, once;
	} steps[] = {
		{ DIAG_COUNTERS, true, true },
		{ DIAG_EQ, true },
		{ DIAG_CTX, .once = true },
		{ DIAG_CQ, true },
		{ DIAG_QP, true },
		{ DIAG_LINK },
		{ DIAG_HEALTH, .once = true },
		{ DIAG_QP_COUNTER },
	};
	size_t before = r->snapshot->rows[DIAG_CMDQ].n;
	size_t first_cq = r->snapshot->rows[DIAG_CQ].n;
	size_t first_eq = r->snapshot->rows[DIAG_EQ].n;
	bool answering = true, asked = true, look = true;
	uint64_t began;
	unsigned int i;
	int ret;

	r->device = dev->device;
	r->family = eadm_family_find(diag_text(dev, DEV_DRIVER));
	memset(r->bits, 0, sizeof(r->bits));
	ret = begin_inputs(r, dev, hw);
	for (i = 0; !ret && i < sizeof(steps) / sizeof(*steps); i++) {
		if (steps[i].asks && look) {
			ret = read_cmdq(r, before, &answering);
			look = !answering;
		}
		asked &= answering || !steps[i].asks;
		if (ret || (steps[i].always && !answering) ||
		    (steps[i].once && r->brief))
			continue;
		began = eadm_now(r->ctx);
		ret = read_objects(r, steps[i].kind, hw && answering &&
				   steps[i].asks && !steps[i].always);
		look |= eadm_now(r->ctx) - began >= LONG_NS;
	}
	if (!asked)
		eadm_diag_lacks(r, DIAG_HW, DIAG_LACK_ADAPTER, NULL);
	if (hw)
		look_at_answers(r, first_eq);
	if (!ret && hw)
		ret = eadm_diag_read_cqes(r, first_cq);
	if (!ret)
		ret = read_cmdq(r, before, &answering);
	/* Separate rules cover the probe's records about the device. */
	if (ret || r->brief || r->inputs->lack[DIAG_STATE])
		return ret;
	ret = read_commands(r);
	return ret ? ret : read_objects(r, DIAG_FAILURE, false);
}

static int by_identity(const void *a, const void *b)
{
	const struct diag_row *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static bool is_sorted(const struct diag_rows *rows)
{
	size_t i;

	for (i = 1; i < rows->n; i++)
		if (by_identity(&rows->row[i - 1], &rows->row[i]) > 0)
			return false;
	return true;
}

/* The kernel lists objects by number. */
static void sort(struct diag_rows *rows)
{
	if (!is_sorted(rows))
		qsort(rows->row, rows->n, sizeof(*rows->row), by_identity);
}

/* A capture of an earlier version has no such rows. */
static int read_optional(struct reader *r, enum diag_kind kind)
{
	int ret = read_kind(r, kind, false);

	return ret == -ENOMEM ? ret : 0;
}

/*
 * Even if there are no devices, processes may still hold removed devices, which rules
 * about the setup report. A capture of an earlier version has no such rows.
 */
static int read_users(struct reader *r, unsigned int groups)
{
	bool devices = r->snapshot->rows[DIAG_DEV].n, state = groups & EADM_GROUP_STATE;
	int ret = 0;

	if (devices ? state : groups & EADM_GROUP_SETUP)
		ret = read_kind(r, DIAG_USER, false);
	if (devices && state && ret != -ENOMEM)
		ret = read_kind(r, DIAG_FALLBACK, false);
	return ret == -ENOMEM ? ret : 0;
}

/* Read the setup of the machine; the devices have already been read. */
static int read_setup(struct reader *r)
{
	unsigned int kind;
	int ret = 0;

	for (kind = DIAG_MACHINE; !ret && kind < DIAG_KINDS; kind++) {
		ret = read_kind(r, kind, false);
		/*
		 * If the driver shows no event queues, there are no interrupts to read.
		 */
		if (ret && ret != -ENOMEM)
			ret = kind == DIAG_IRQ ? 0 : failed(r, kind, ret);
	}
	return ret;
}

int eadm_diag_snapshot_read(struct diag_snapshot *snapshot,
			    struct eadm_ctx *ctx,
			    const struct eadm_sample_opts *opts)
{
	struct reader *r = calloc(1, sizeof(*r));
	size_t i;
	int ret;

	memset(snapshot, 0, sizeof(*snapshot));
	if (!r)
		return -ENOMEM;
	snapshot->indexes = eadm_diag_indexes_new();
	if (!snapshot->indexes) {
		free(r);
		return -ENOMEM;
	}
	snapshot->uptime = eadm_machine_uptime(ctx);
	r->snapshot = snapshot;
	r->ctx = ctx;
	r->device = opts->device;
	r->brief = opts->more && !eadm_source_records(ctx);
	/*
	 * Read the probe's records before the devices, because they determine whether
	 * the limits of the devices are needed.
	 */
	ret = opts->groups & EADM_GROUP_STATE ? eadm_diag_read_probe(r, opts->device) :
					       0;
	if (!ret)
		ret = read_devices(r, opts->groups);
	/* It is not an error that there is no device: a rule reports this. */
	if (opts->groups & EADM_GROUP_SETUP && !opts->device &&
	    (ret == -ENODEV || ret == -EOPNOTSUPP))
		ret = 0;
	sort(&snapshot->rows[DIAG_DEV]);
	if (!ret)
		ret = read_optional(r, DIAG_PORT);
	if (!ret && !r->brief)
		ret = read_optional(r, DIAG_CGROUP);
	if (!ret && !opts->device)
		ret = read_users(r, opts->groups);
	if (!ret && opts->groups & EADM_GROUP_SETUP)
		ret = read_setup(r);
	if (opts->groups & EADM_GROUP_STATE)
		find_owners(r);
	for (i = 0; !ret && opts->groups & EADM_GROUP_STATE &&
		    i < snapshot->rows[DIAG_DEV].n; i++)
		ret = read_device(r, &snapshot->rows[DIAG_DEV].row[i],
				  opts->hw);
	for (i = 0; i < DIAG_KINDS; i++)
		sort(&snapshot->rows[i]);
	eadm_diag_sort_parts(snapshot);
	free(r);
	if (ret)
		eadm_diag_snapshot_free(snapshot);
	return ret;
}

void eadm_diag_snapshot_free(struct diag_snapshot *snapshot)
{
	unsigned int i;

	for (i = 0; i < DIAG_KINDS; i++)
		free(snapshot->rows[i].row);
	free(snapshot->notes);
	free(snapshot->inputs);
	free(snapshot->parts);
	free(snapshot->owners);
	free(snapshot->qp_pids);
	free(snapshot->registrars);
	eadm_diag_indexes_free(snapshot->indexes);
	eadm_diag_pool_free(&snapshot->pool);
	memset(snapshot, 0, sizeof(*snapshot));
}

/* Other rows of this index, such as those of processes, name no device. */
static void forget_device(struct diag_snapshot *snapshot, uint64_t dev,
			  const char *name)
{
	struct diag_rows *rows;
	unsigned int kind;
	size_t i, kept;

	for (kind = 0; kind < DIAG_KINDS; kind++) {
		rows = &snapshot->rows[kind];
		for (i = 0, kept = 0; i < rows->n; i++) {
			if (rows->row[i].dev != dev ||
			    strcmp(rows->row[i].device, name) != 0)
				rows->row[kept++] = rows->row[i];
		}
		rows->n = kept;
	}
}

void eadm_diag_forget_replaced(struct diag_snapshot *snapshot,
			       const struct diag_snapshot *later)
{
	const struct diag_rows *devs = &snapshot->rows[DIAG_DEV];
	const struct diag_row *dev, *now;
	bool any = false;
	size_t i;

	for (i = devs->n; i-- > 0;) {
		dev = &devs->row[i];
		now = eadm_diag_find(later, DIAG_DEV, dev->dev, dev->id);
		if (!now || !strcmp(now->device, dev->device))
			continue;
		forget_device(snapshot, dev->dev, dev->device);
		any = true;
	}
	if (any)
		eadm_diag_indexes_clear(snapshot->indexes);
}

const struct diag_row *eadm_diag_find(const struct diag_snapshot *snapshot,
				      enum diag_kind kind, uint64_t dev,
				      uint64_t id)
{
	const struct diag_row key = { .dev = dev, .id = id };
	const struct diag_rows *rows = &snapshot->rows[kind];

	if (!rows->n)
		return NULL;
	return bsearch(&key, rows->row, rows->n, sizeof(key), by_identity);
}

const struct diag_row *eadm_diag_find_next(const struct diag_snapshot *snapshot,
					   enum diag_kind kind,
					   const struct diag_row *row, size_t *at)
{
	const struct diag_rows *rows = &snapshot->rows[kind];
	int order = -1;

	while (*at < rows->n &&
	       (order = by_identity(&rows->row[*at], row)) < 0)
		++*at;
	return order ? NULL : &rows->row[*at];
}

/* Returns the index of the first row of this device or of a later device. */
static size_t first_of(const struct diag_rows *rows, uint64_t dev)
{
	size_t low = 0, high = rows->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (rows->row[mid].dev < dev)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct diag_rows eadm_diag_of(const struct diag_snapshot *snapshot,
			      enum diag_kind kind, uint64_t dev)
{
	const struct diag_rows *rows = &snapshot->rows[kind];
	size_t first = first_of(rows, dev), end = first_of(rows, dev + 1);

	return (struct diag_rows){ .row = rows->row + first, .n = end - first };
}

bool eadm_diag_is_program(const struct diag_snapshot *snapshot, uint64_t dev)
{
	const struct diag_row *row = eadm_diag_find(snapshot, DIAG_DEV, dev, dev);

	return diag_has(row, DEV_SIDE) &&
	       diag_u64(row, DEV_SIDE) == EADM_DEV_SIDE_PROGRAM;
}

