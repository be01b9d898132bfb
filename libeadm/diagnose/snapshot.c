// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads what the rules of a diagnosis look at.
 *
 * The adapter's own contexts take commands. Where the command queue does not
 * answer they would take a time-out each, so that is looked at first.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "base/ctx.h"
#include "base/grow.h"
#include "source/devlist.h"
#include "family/family.h"
#include "source/query.h"
#include "eadm_nl.h"

/* An adapter that needs so long for a command is not asked for more. */
#define PATIENCE_NS 1000000000ULL

/* ---- memory ----------------------------------------------------------------- */

#define BLOCK_SIZE 65536

struct diag_block {
	struct diag_block *next;
	size_t size;
	uint64_t data[];
};

void *eadm_diag_alloc(struct diag_pool *pool, size_t size)
{
	struct diag_block *block = pool->blocks;
	size_t room;
	void *p;

	size = (size + 7) & ~(size_t)7;
	if (!block || block->size - pool->used < size) {
		room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
		block = malloc(sizeof(*block) + room);
		if (!block)
			return NULL;
		block->size = room;
		block->next = pool->blocks;
		pool->blocks = block;
		pool->used = 0;
	}
	p = (char *)block->data + pool->used;
	pool->used += size;
	memset(p, 0, size);
	return p;
}

char *eadm_diag_strdup(struct diag_pool *pool, const char *text)
{
	size_t len = strlen(text) + 1;
	char *copy = eadm_diag_alloc(pool, len);

	return copy ? memcpy(copy, text, len) : NULL;
}

void eadm_diag_pool_free(struct diag_pool *pool)
{
	struct diag_block *block;

	while ((block = pool->blocks)) {
		pool->blocks = block->next;
		free(block);
	}
	pool->used = 0;
}

/* ---- fields ------------------------------------------------------------------- */

#define DIAG_NAME(name, text) text,
static const char *const dev_names[] = { DIAG_DEV_FIELDS(DIAG_NAME) NULL };
static const char *const cmdq_names[] = { DIAG_CMDQ_FIELDS(DIAG_NAME) NULL };
static const char *const cmd_names[] = { DIAG_CMD_FIELDS(DIAG_NAME) NULL };
static const char *const counters_names[] = {
	DIAG_COUNTERS_FIELDS(DIAG_NAME) NULL
};
static const char *const eq_names[] = { DIAG_EQ_FIELDS(DIAG_NAME) NULL };
static const char *const ctx_names[] = { DIAG_CTX_FIELDS(DIAG_NAME) NULL };
static const char *const cq_names[] = { DIAG_CQ_FIELDS(DIAG_NAME) NULL };
static const char *const qp_names[] = { DIAG_QP_FIELDS(DIAG_NAME) NULL };
static const char *const cqe_names[] = { DIAG_CQE_FIELDS(DIAG_NAME) NULL };
static const char *const failure_names[] = {
	DIAG_FAILURE_FIELDS(DIAG_NAME) NULL
};
static const char *const machine_names[] = {
	DIAG_MACHINE_FIELDS(DIAG_NAME) NULL
};
static const char *const verbs_names[] = { DIAG_VERBS_FIELDS(DIAG_NAME) NULL };
static const char *const module_names[] = {
	DIAG_MODULE_FIELDS(DIAG_NAME) NULL
};
static const char *const setup_names[] = { DIAG_SETUP_FIELDS(DIAG_NAME) NULL };
static const char *const irq_names[] = { DIAG_IRQ_FIELDS(DIAG_NAME) NULL };

static const struct {
	const char *object;
	const char *const *fields;
	unsigned int n;
} kinds[DIAG_KINDS] = {
	[DIAG_DEV] = { "dev", dev_names, DIAG_DEV_N },
	[DIAG_CMDQ] = { "cmdq", cmdq_names, DIAG_CMDQ_N },
	[DIAG_CMD] = { "cmd", cmd_names, DIAG_CMD_N },
	[DIAG_COUNTERS] = { "counters", counters_names, DIAG_COUNTERS_N },
	[DIAG_EQ] = { "eq", eq_names, DIAG_EQ_N },
	[DIAG_CTX] = { "ctx", ctx_names, DIAG_CTX_N },
	[DIAG_CQ] = { "cq", cq_names, DIAG_CQ_N },
	[DIAG_QP] = { "qp", qp_names, DIAG_QP_N },
	[DIAG_CQE] = { "cqe", cqe_names, DIAG_CQE_N },
	[DIAG_FAILURE] = { "failure", failure_names, DIAG_FAILURE_N },
	[DIAG_MACHINE] = { "machine", machine_names, DIAG_MACHINE_N },
	[DIAG_VERBS] = { "verbs", verbs_names, DIAG_VERBS_N },
	[DIAG_MODULE] = { "module", module_names, DIAG_MODULE_N },
	[DIAG_SETUP] = { "setup", setup_names, DIAG_SETUP_N },
	[DIAG_IRQ] = { "irq", irq_names, DIAG_IRQ_N },
};

_Static_assert(DIAG_DEV_N <= 64 && DIAG_CMDQ_N <= 64 && DIAG_CMD_N <= 64 &&
	       DIAG_COUNTERS_N <= 64 && DIAG_EQ_N <= 64 && DIAG_CTX_N <= 64 &&
	       DIAG_CQ_N <= 64 && DIAG_QP_N <= 64 && DIAG_CQE_N <= 64 &&
	       DIAG_FAILURE_N <= 64 && DIAG_MACHINE_N <= 64 && DIAG_VERBS_N <= 64 &&
	       DIAG_MODULE_N <= 64 && DIAG_SETUP_N <= 64 && DIAG_IRQ_N <= 64,
	       "a bit for each field");

static bool is_state(const char *name)
{
	const char *last = strrchr(name, '-');

	return !strcmp(last ? last : name, "-state");
}

/*
 * How a family calls the state of an object, which rules cite
 * and do not judge.
 */
static void add_family_states(struct diag_fields *f)
{
	const struct eadm_field *field;
	unsigned int i;

	f->n = f->n_named;
	for (i = 0; i < f->n_all && f->n < EADM_ARRAY_SIZE(f->field); i++) {
		field = eadm_object_field(f->object, i);
		if (eadm_field_family(field) && !eadm_field_is_hw(field) &&
		    is_state(eadm_field_name(field)))
			f->field[f->n++] = field;
	}
}

/* By name: families may have fields of the same one. */
static unsigned int slot_of(const struct diag_fields *f,
			    const struct eadm_field *field)
{
	unsigned int i;

	for (i = 0; i < f->n; i++) {
		if (f->field[i] && !strcmp(eadm_field_name(f->field[i]),
					   eadm_field_name(field)))
			return i;
	}
	return f->n;
}

void eadm_diag_fields_init(struct diag_fields fields[DIAG_KINDS])
{
	struct diag_fields *f;
	unsigned int i, j;

	for (i = 0; i < DIAG_KINDS; i++) {
		f = &fields[i];
		f->object = eadm_object_find(kinds[i].object);
		f->n_named = kinds[i].n;
		f->n_all = eadm_object_fields(f->object);
		f->dev_index = eadm_object_find_field(f->object, "dev-index");
		f->dev_name = eadm_object_find_field(f->object, "dev-name");
		for (j = 0; j < f->n_named; j++)
			f->field[j] = eadm_object_find_field(
				f->object, kinds[i].fields[j]);
		add_family_states(f);
		for (j = 0; j < f->n_all && j < sizeof(f->slot); j++)
			f->slot[j] = slot_of(f, eadm_object_field(f->object, j));
	}
}

/* ---- rows ---------------------------------------------------------------------- */

struct reader {
	struct diag_snapshot *snapshot;
	const struct diag_fields *fields;
	struct eadm_ctx *ctx;
	struct eadm_value values[256];
	const char *device;	/* the one being read */
	const struct eadm_family *family;	/* of it, or NULL */
	unsigned char *bits[DIAG_KINDS];	/* of the fields of its rows */
	struct diag_inputs *inputs;	/* of it */
};

static struct diag_row *add_row(struct diag_rows *rows)
{
	struct diag_row *all;

	all = eadm_grow_room(rows->row, rows->n, &rows->max, sizeof(*all));
	if (!all)
		return NULL;
	rows->row = all;
	all += rows->n;
	memset(all, 0, sizeof(*all));
	return all;
}

static bool take_value(struct reader *r, const struct eadm_record *record,
		       const struct eadm_value *v, union diag_value *to)
{
	char text[640];

	switch (v->type) {
	case EADM_TYPE_U64:
		to->u = v->u64;
		return true;
	case EADM_TYPE_S64:
		to->u = v->s64;
		return true;
	default:
		if (eadm_record_text(record, v->field, text, sizeof(text)) < 0)
			return true;
		to->s = eadm_diag_strdup(&r->snapshot->pool, text);
		return to->s;
	}
}

/* How far a field counts: its own width, or that of the family's indices. */
static unsigned int width_of(const struct eadm_family *family,
			     const struct eadm_field *field)
{
	unsigned int bits = 0;

	if (!field->index)
		return eadm_field_bits(field);
	if (family)
		bits = eadm_family_index_bits(family, field->index);
	return bits ? bits : 64;
}

static const char *device_name(struct diag_pool *pool,
			       const struct eadm_record *record,
			       const struct eadm_field *field)
{
	const char *name = eadm_record_string(record, field);

	return name ? eadm_diag_strdup(pool, name) : "";
}

static int take_row(struct reader *r, enum diag_kind kind,
		    const struct eadm_record *record)
{
	const struct diag_fields *f = &r->fields[kind];
	struct diag_row *row = add_row(&r->snapshot->rows[kind]);
	struct diag_pool *pool = &r->snapshot->pool;
	unsigned int i, n, slot;

	if (!row)
		return -ENOMEM;
	row->value = eadm_diag_alloc(pool, f->n * sizeof(*row->value));
	/* Of the rows of a device, its own one keeps the name. */
	row->device = r->device;
	if (kind == DIAG_DEV || kind >= DIAG_MACHINE)
		row->device = device_name(pool, record, f->dev_name);
	if (!r->bits[kind])
		r->bits[kind] = eadm_diag_alloc(pool, f->n);
	row->bits = r->bits[kind];
	if (!row->value || !row->device || !row->bits)
		return -ENOMEM;
	eadm_record_u64(record, f->dev_index, &row->dev);
	eadm_record_u64(record, eadm_object_key(f->object), &row->id);
	row->time = eadm_record_time(record);
	if (!r->snapshot->time)
		r->snapshot->time = row->time;
	n = eadm_record_values(record, r->values, f->n_all);
	for (i = 0; i < n; i++) {
		slot = f->slot[r->values[i].index];
		if (slot == f->n)
			continue;
		if (!take_value(r, record, &r->values[i], &row->value[slot]))
			return -ENOMEM;
		row->has |= 1ULL << slot;
		if (!row->bits[slot])
			r->bits[kind][slot] = width_of(r->family,
						       r->values[i].field);
	}
	r->snapshot->rows[kind].n++;
	return 0;
}

static int add_note(struct reader *r, int error, const char *device,
		    const char *what, const char *why)
{
	struct diag_snapshot *m = r->snapshot;
	struct diag_note *notes;

	notes = eadm_grow_room(m->notes, m->n_notes, &m->max_notes,
			       sizeof(*notes));
	if (!notes)
		return -ENOMEM;
	m->notes = notes;
	notes += m->n_notes++;
	notes->error = error;
	notes->device = eadm_diag_strdup(&m->pool, device);
	notes->what = eadm_diag_strdup(&m->pool, what);
	notes->why = eadm_diag_strdup(&m->pool, why);
	if (!notes->device || !notes->what || !notes->why) {
		m->n_notes--;
		return -ENOMEM;
	}
	return 0;
}

/* What failed is noted; what is just not there needs no words. */
static int take_notes(struct reader *r, const struct eadm_dump *dump)
{
	struct eadm_note n = { .size = sizeof(n) };
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && eadm_dump_note(dump, i, &n) > 0; i++) {
		if (n.error && n.error != -EOPNOTSUPP)
			ret = add_note(r, n.error, n.device, n.what, n.why);
	}
	return ret;
}

/* -ENOMEM, or what made reading impossible; rows so far are dropped then. */
static int read_dump(struct reader *r, enum diag_kind kind,
		     const struct eadm_dump_opts *opts)
{
	struct diag_rows *rows = &r->snapshot->rows[kind];
	const struct eadm_record *record;
	struct eadm_dump *dump;
	size_t before = rows->n;
	int ret, err;

	ret = eadm_dump_open(r->ctx, r->fields[kind].object, opts, &dump);
	if (ret)
		return ret;
	while ((ret = eadm_dump_next(dump, &record)) > 0) {
		err = take_row(r, kind, record);
		if (err) {
			eadm_dump_close(dump);
			return err;
		}
	}
	if (ret)
		rows->n = before;
	else
		ret = take_notes(r, dump);
	eadm_dump_close(dump);
	return ret;
}

static int read_kind(struct reader *r, enum diag_kind kind, bool hw)
{
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = r->device, .hw = hw,
	};

	return read_dump(r, kind, &opts);
}

static int failed(struct reader *r, enum diag_kind kind, int error)
{
	if (error == -ENOMEM)
		return error;
	/* It went away, or its driver has none of these. */
	if (error == -ENODEV || error == -ENOENT || error == -ENODATA ||
	    error == -EOPNOTSUPP)
		return 0;
	return add_note(r, error, r->device,
			eadm_object_title(r->fields[kind].object),
			eadm_errmsg(r->ctx));
}

/* ---- what there is of a device -------------------------------------------------- */

static void lacks(struct reader *r, enum diag_input input, enum diag_lack lack,
		  const char *why)
{
	struct diag_inputs *in = r->inputs;

	/* The first reason is the cause of others. */
	if (in->lack[input])
		return;
	in->lack[input] = lack;
	in->why[input] = why ? eadm_diag_strdup(&r->snapshot->pool, why) : NULL;
}

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
		return DIAG_LACK_FAMILY;
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

static int begin_inputs(struct reader *r, const struct diag_row *dev, bool hw)
{
	struct diag_snapshot *m = r->snapshot;
	struct diag_inputs *all;
	enum diag_lack lack;
	const char *pidns;
	unsigned int i;

	all = eadm_grow_room(m->inputs, m->n_inputs, &m->max_inputs,
			     sizeof(*all));
	if (!all)
		return -ENOMEM;
	m->inputs = all;
	r->inputs = &all[m->n_inputs++];
	memset(r->inputs, 0, sizeof(*r->inputs));
	r->inputs->dev = dev->dev;
	r->inputs->device = dev->device;
	lack = why_no_state(r, dev);
	for (i = 0; lack && i < DIAG_INPUTS; i++)
		lacks(r, i, lack, NULL);
	if (!hw) {
		lacks(r, DIAG_HW, DIAG_LACK_ASKED, NULL);
		lacks(r, DIAG_RINGS, DIAG_LACK_ASKED, NULL);
	}
	pidns = eadm_source_fact(r->ctx, "pidns");
	m->owners_known = pidns && !strcmp(pidns, "init");
	if (!m->owners_known)
		lacks(r, DIAG_OWNERS, pidns ? DIAG_LACK_PIDNS :
					      DIAG_LACK_CAPTURE, NULL);
	return 0;
}

static void lacks_hw(struct reader *r, int error)
{
	const char *lockdown, *why = eadm_errmsg(r->ctx);
	enum diag_lack lack = DIAG_LACK_ADAPTER;

	if (error == -EPERM || error == -EACCES) {
		lockdown = eadm_source_fact(r->ctx, "lockdown");
		lack = lockdown && *lockdown && !strstr(lockdown, "[none]") ?
			       DIAG_LACK_LOCKDOWN : DIAG_LACK_RIGHT;
		why = NULL;
	} else if (error == -ENODATA) {
		lack = DIAG_LACK_CAPTURE;
		why = NULL;
	}
	lacks(r, DIAG_HW, lack, why);
	lacks(r, DIAG_RINGS, lack, why);
}

/* Each device has event queues: what the adapter said when asked for theirs. */
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
	snprintf(why, sizeof(why), "the adapter did not answer: %s",
		 strerror(-error));
	lacks(r, DIAG_HW, error == -EOPNOTSUPP ? DIAG_LACK_FAMILY :
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

/* ---- completions ------------------------------------------------------------------ */

/* No more: each CQ is a few calls, and its ring may be long. */
#define NEWEST_CQES 512
#define MOST_CQES 16384
#define MOST_CQS 128

/* The newest ones, in two parts where they go over the end of the ring. */
static int read_newest(struct reader *r, const struct diag_row *cq)
{
	uint64_t pi = diag_u64(cq, CQ_HW_PI), depth = diag_u64(cq, CQ_DEPTH);
	uint64_t n = pi < depth ? pi : depth, part;
	struct eadm_entry_opts newest = {
		.size = sizeof(newest), .has_range = true,
	};
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = r->device, .has_id = true,
		.id = cq->id, .entries = &newest,
	};
	int ret = 0;

	if (!depth || depth & (depth - 1) || depth > UINT32_MAX)
		return 0;
	if (n > NEWEST_CQES)
		n = NEWEST_CQES;
	while (!ret && n) {
		newest.last = (pi - 1) & (depth - 1);
		part = n <= newest.last ? n : newest.last + 1;
		newest.first = newest.last + 1 - part;
		ret = read_dump(r, DIAG_CQE, &opts);
		pi -= part;
		n -= part;
	}
	return ret;
}

/* A CQ may go meanwhile; where none can be read there is a reason for all. */
static int read_cqes(struct reader *r, size_t first)
{
	const struct diag_rows *cqs = &r->snapshot->rows[DIAG_CQ];
	size_t i, before = r->snapshot->rows[DIAG_CQE].n;
	unsigned int n = 0, good = 0;
	int ret, error = 0;

	for (i = first; i < cqs->n && n < MOST_CQS &&
			r->snapshot->rows[DIAG_CQE].n - before < MOST_CQES; i++) {
		if (!diag_u64(&cqs->row[i], CQ_HW_PI))
			continue;
		n++;
		ret = read_newest(r, &cqs->row[i]);
		if (ret == -ENOMEM)
			return ret;
		good += !ret;
		if (ret)
			error = ret;
		if (ret && ret != -ENODATA && ret != -ENOENT)
			break;
	}
	if (!error || good)
		return 0;
	if (error == -ENODATA)
		lacks(r, DIAG_RINGS, DIAG_LACK_CAPTURE, NULL);
	else if (error == -EPERM || error == -EACCES)
		lacks(r, DIAG_RINGS, DIAG_LACK_RIGHT, NULL);
	else
		lacks(r, DIAG_RINGS, DIAG_LACK_NODE, eadm_errmsg(r->ctx));
	return 0;
}

/* ---- snapshots -------------------------------------------------------------------- */

static bool answers(const struct diag_row *cmdq)
{
	uint64_t state = diag_u64(cmdq, CMDQ_STATE);

	return state != EADM_CMDQ_STATE_DEAD &&
	       state != EADM_CMDQ_STATE_RECOVERING &&
	       diag_u64(cmdq, CMDQ_OLDEST_AGE) < PATIENCE_NS;
}

/* Anew each time: what was read meanwhile may have hung the command queue. */
static int read_cmdq(struct reader *r, size_t before, bool *answering)
{
	struct diag_rows *rows = &r->snapshot->rows[DIAG_CMDQ];
	int ret;

	rows->n = before;
	ret = read_objects(r, DIAG_CMDQ, false);
	*answering = rows->n == before || answers(&rows->row[before]);
	return ret;
}

static int read_device(struct reader *r, const struct diag_row *dev, bool hw)
{
	/* What needs no right, such as counters, asks the adapter anyway. */
	static const struct {
		enum diag_kind kind;
		bool asks, always;
	} steps[] = {
		{ DIAG_COUNTERS, true, true },
		{ DIAG_EQ, true },
		{ DIAG_CTX },
		{ DIAG_CQ, true },
		{ DIAG_QP, true },
	};
	size_t before = r->snapshot->rows[DIAG_CMDQ].n;
	size_t first_cq = r->snapshot->rows[DIAG_CQ].n;
	size_t first_eq = r->snapshot->rows[DIAG_EQ].n;
	bool answering = true, asked = true;
	unsigned int i;
	int ret;

	r->device = dev->device;
	r->family = eadm_family_find(diag_text(dev, DEV_DRIVER));
	memset(r->bits, 0, sizeof(r->bits));
	ret = begin_inputs(r, dev, hw);
	for (i = 0; !ret && i < sizeof(steps) / sizeof(*steps); i++) {
		if (steps[i].asks)
			ret = read_cmdq(r, before, &answering);
		asked &= answering || !steps[i].asks;
		if (ret || (steps[i].always && !answering))
			continue;
		ret = read_objects(r, steps[i].kind, hw && answering &&
				   steps[i].asks && !steps[i].always);
	}
	if (!asked)
		lacks(r, DIAG_HW, DIAG_LACK_ADAPTER, NULL);
	if (hw)
		look_at_answers(r, first_eq);
	if (!ret && hw)
		ret = read_cqes(r, first_cq);
	if (!ret)
		ret = read_cmdq(r, before, &answering);
	if (!ret)
		ret = read_objects(r, DIAG_CMD, false);
	return ret ? ret : read_objects(r, DIAG_FAILURE, false);
}

static int by_identity(const void *a, const void *b)
{
	const struct diag_row *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void sort(struct diag_rows *rows)
{
	if (rows->n > 1)
		qsort(rows->row, rows->n, sizeof(*rows->row), by_identity);
}

/* How the machine is set up; the devices have been read. */
static int read_setup(struct reader *r)
{
	unsigned int kind;
	int ret = 0;

	for (kind = DIAG_MACHINE; !ret && kind < DIAG_KINDS; kind++) {
		ret = read_kind(r, kind, false);
		/* Whose driver shows no event queues has no interrupts here. */
		if (ret && ret != -ENOMEM)
			ret = kind == DIAG_IRQ ? 0 : failed(r, kind, ret);
	}
	return ret;
}

int eadm_diag_snapshot_read(struct diag_snapshot *snapshot,
			    const struct diag_fields fields[DIAG_KINDS],
			    struct eadm_ctx *ctx,
			    const struct eadm_sample_opts *opts)
{
	struct reader *r = calloc(1, sizeof(*r));
	size_t i;
	int ret;

	memset(snapshot, 0, sizeof(*snapshot));
	if (!r)
		return -ENOMEM;
	r->snapshot = snapshot;
	r->fields = fields;
	r->ctx = ctx;
	r->device = opts->device;
	ret = read_kind(r, DIAG_DEV, false);
	/* That there is none is for a rule to say. */
	if (opts->rules & EADM_RULES_SETUP && !opts->device &&
	    (ret == -ENODEV || ret == -EOPNOTSUPP))
		ret = 0;
	sort(&snapshot->rows[DIAG_DEV]);
	if (!ret && opts->rules & EADM_RULES_SETUP)
		ret = read_setup(r);
	for (i = 0; !ret && opts->rules & EADM_RULES_STATE &&
		    i < snapshot->rows[DIAG_DEV].n; i++)
		ret = read_device(r, &snapshot->rows[DIAG_DEV].row[i],
				  opts->hw);
	for (i = 0; i < DIAG_KINDS; i++)
		sort(&snapshot->rows[i]);
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
	free(snapshot->owners);
	eadm_diag_pool_free(&snapshot->pool);
	memset(snapshot, 0, sizeof(*snapshot));
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

const char *eadm_diag_kind_name(enum diag_kind kind)
{
	static const char *const names[DIAG_KINDS] = {
		"dev", "cmdq", "cmd", "counters", "eq", "ctx", "cq", "qp",
		"cqe", "failure", "machine", "verbs", "module", "setup", "irq",
	};

	return names[kind];
}
