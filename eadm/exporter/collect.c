// SPDX-License-Identifier: GPL-2.0-or-later
/* One collector on one device: turns the rows of a dump into samples. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "grow.h"
#include "exporter.h"

struct collection {
	const struct model *model;
	const struct collector *c;
	const struct budget *budget;
	struct memory *memory;
	struct section *section;
	struct samples *samples;
	unsigned int rows;
	int error;		/* part of the rows could not be read */
	struct lone_row *lone;
	uint64_t id;		/* key of the last row */
	struct sum *sums, *last_sum;
	size_t n_sums, max_sums;
	struct eadm_ctx *ctx;
	struct pods pods;
};

/*
 * Sum over the objects of all processes with the same name, and in the same container
 * if sums are also by pod.
 */
struct sum {
	char comm[64], pod[64], container[96];
	uint64_t count, *values;
};

/* ---- rows ---------------------------------------------------------------------- */

static bool put_label(struct collection *col, const struct row *row,
		      const struct place *place)
{
	char buf[256];
	const char *text = row_text(row, place, buf, sizeof(buf));

	if (text)
		samples_label(col->samples, place->label, text);
	return text != NULL;
}

/*
 * Returns false if the labels would not distinguish the row's series from those of
 * other rows.
 */
static bool row_labels(struct collection *col, const struct row *row,
		       uint32_t *labels)
{
	const struct collector *c = col->c;
	bool told = true;
	unsigned int i;

	*labels = samples_labels(col->samples);
	/* The last label is the key. */
	for (i = 0; i < c->n_labels; i++)
		told = put_label(col, row, &c->label[i]);
	return !c->per_object || told || put_label(col, row, &c->spare);
}

/* Adds one series for each name of a state, so that all series always exist. */
static void put_state(struct collection *col, const struct family_field *f,
		      uint32_t labels, uint64_t value)
{
	const char *name, *key = eadm_field_key(f->place.field);
	bool known = false;
	uint64_t v;
	uint32_t more;
	char buf[64];
	unsigned int i;

	for (i = 0; (name = eadm_field_value_at(f->place.field, i, &v)); i++) {
		known |= v == value;
		/* With many objects, only the current state has a series. */
		if (col->c->per_object && v != value)
			continue;
		more = samples_labels_from(col->samples, labels);
		samples_label(col->samples, key, name);
		samples_add(col->samples, f->family, more, v == value);
	}
	if (known)
		return;
	eadm_field_text(f->place.field, value, buf, sizeof(buf));
	more = samples_labels_from(col->samples, labels);
	samples_label(col->samples, key, buf);
	samples_add(col->samples, f->family, more, 1);
}

static void put_field(struct collection *col, const struct family_field *f,
		      const struct row *row, uint32_t labels)
{
	uint64_t value;

	if (!row_u64(row, &f->place, &value))
		return;
	if (f->names)
		put_state(col, f, labels, value);
	else
		samples_add(col->samples, f->family, labels, value);
}

static void put_info(struct collection *col, const struct row *row,
		     uint32_t labels)
{
	uint32_t more = samples_labels_from(col->samples, labels);
	unsigned int i;

	for (i = 0; i < col->c->n_info; i++)
		put_label(col, row, &col->c->info[i]);
	samples_add(col->samples, col->c->info_family, more, 1);
}

/* Adds counters without a common name under the driver's names. */
static void put_others(struct collection *col, const struct row *row,
		       uint32_t labels)
{
	struct eadm_extra extra = { .size = sizeof(extra) };
	unsigned int i;
	uint32_t more;

	for (i = 0; eadm_record_extra(row->record, i, &extra) > 0; i++) {
		if (!extra.name)
			continue;
		if (col->samples->n >= col->budget->series) {
			col->section->truncated = true;
			return;
		}
		more = samples_labels_from(col->samples, labels);
		samples_label(col->samples, "counter", extra.name);
		samples_add(col->samples, col->c->other_family, more,
			    extra.value);
	}
}

static void put_row(struct collection *col, const struct row *row)
{
	const struct collector *c = col->c;
	uint32_t labels;
	unsigned int i;

	/* Export a row completely or not at all. */
	if (c->per_object &&
	    col->samples->n + c->n_fields + 1 > col->budget->series) {
		col->section->truncated = true;
		return;
	}
	if (!row_labels(col, row, &labels)) {
		col->section->truncated = true;
		return;
	}
	for (i = 0; i < c->n_fields; i++)
		put_field(col, &c->fields[i], row, labels);
	if (c->n_info)
		put_info(col, row, labels);
	if (c->others)
		put_others(col, row, labels);
}

/* ---- sums by process -------------------------------------------------------------- */

/* If the budget is exhausted, all further processes share one sum. */
static struct sum *find_sum(struct collection *col, const struct sum *key)
{
	static const struct sum others = { .comm = "(others)" };
	size_t i, most = col->budget->series / (col->c->n_fields + 1);
	struct sum *sums;

	for (i = 0; i < col->n_sums; i++) {
		if (!strcmp(col->sums[i].comm, key->comm) &&
		    !strcmp(col->sums[i].pod, key->pod) &&
		    !strcmp(col->sums[i].container, key->container))
			return &col->sums[i];
	}
	if (i + 1 >= most && strcmp(key->comm, others.comm) != 0) {
		col->section->truncated = true;
		return find_sum(col, &others);
	}
	if (!grow(col->sums, col->n_sums, col->max_sums))
		return NULL;
	sums = col->sums;
	sums[i] = *key;
	sums[i].values = calloc(col->c->n_fields + 1, sizeof(uint64_t));
	if (!sums[i].values)
		return NULL;
	col->n_sums++;
	return &sums[i];
}

/*
 * For an object owned by the kernel, the command name is that of the consumer in
 * brackets, and there is no process.
 */
static void find_pod(struct collection *col, const struct row *row,
		     struct sum *key)
{
	const struct pod *pod = NULL;
	uint64_t pid;

	if (row_u64(row, &col->c->pid, &pid) && pid) {
		pod = pods_find(&col->pods, col->ctx, (uint32_t)pid);
		col->samples->failed |= !pod;
	} else if (*key->comm == '[') {
		return;
	}
	if (!pod || !pod->known) {
		col->section->skipped++;
		return;
	}
	memcpy(key->pod, pod->uid, sizeof(key->pod));
	memcpy(key->container, pod->container, sizeof(key->container));
}

static struct sum *sum_of(struct collection *col, const struct row *row)
{
	const struct collector *c = col->c;
	const char *comm = row_string(row, &c->label[1]);
	struct sum key = { 0 }, *last = col->last_sum;

	/* Rows of the same process are mostly adjacent. */
	if (comm && last && !c->pods && !strcmp(comm, last->comm))
		return last;
	/* Names that are displayed alike share one series. */
	samples_name(comm ? comm : "", key.comm, sizeof(key.comm));
	if (c->pods)
		find_pod(col, row, &key);
	return col->last_sum = find_sum(col, &key);
}

static void sum_row(struct collection *col, const struct row *row)
{
	const struct collector *c = col->c;
	struct sum *sum = sum_of(col, row);
	unsigned int i;
	uint64_t value;

	if (!sum) {
		col->samples->failed = true;
		return;
	}
	sum->count++;
	for (i = 0; i < c->n_fields; i++) {
		if (row_u64(row, &c->fields[i].place, &value))
			sum->values[i] += value;
	}
}

static void put_sums(struct collection *col, const char *device)
{
	const struct collector *c = col->c;
	uint32_t labels;
	unsigned int j;
	size_t i;

	for (i = 0; i < col->n_sums; i++) {
		labels = samples_labels(col->samples);
		samples_label(col->samples, "device", device);
		samples_label(col->samples, "comm", col->sums[i].comm);
		if (*col->sums[i].pod)
			samples_label(col->samples, "pod_uid", col->sums[i].pod);
		if (*col->sums[i].container)
			samples_label(col->samples, "container_id",
				      col->sums[i].container);
		samples_add(col->samples, c->count_family, labels,
			    col->sums[i].count);
		for (j = 0; j < c->n_fields; j++)
			samples_add(col->samples, c->fields[j].family,
				    labels, col->sums[i].values[j]);
		free(col->sums[i].values);
	}
	free(col->sums);
	free(col->pods.pod);
}

/* ---- a collector ---------------------------------------------------------------------- */

void memory_reset(struct memory *memory)
{
	unsigned int i;

	for (i = 0; i < MAX_COLLECTORS; i++)
		memory->lone[i].known = false;
	recorder_reset(&memory->recorder);
	memory->probe = (struct life){ 0 };
	verdicts_reset(&memory->verdicts);
}

/* Returns true if the device or the probe was started since its age was last read. */
static bool is_restarted(struct life *life, const struct eadm_record *record,
			 uint64_t age)
{
	struct life last = *life;

	*life = (struct life){ eadm_record_time(record), age };
	return last.seen && (age < last.age || life->seen - last.seen > age);
}

/*
 * If the device was created since it was last seen, counting restarts at 0. Only some
 * drivers report an age, but each device gets an index that was not used before.
 */
static void look_at_device(struct collection *col, const struct row *row)
{
	struct memory *memory = col->memory;
	uint64_t index, age;
	bool is_new;

	if (!col->c->per_device || !row_u64(row, &col->c->key, &index))
		return;
	is_new = index != memory->index;
	memory->index = index;
	if (row_u64(row, &col->c->age, &age) &&
	    is_restarted(&memory->device, row->record, age))
		is_new = true;
	if (is_new)
		memory_reset(memory);
}

/*
 * The numbers of the probe's records start from 1 again when it is restarted. The row has
 * enough room, because the probe has fewer fields than a command.
 */
static void look_at_probe(struct collection *col)
{
	const struct eadm_object *probe = eadm_object_find("probe");
	struct place place = place_find(probe, "age");
	struct memory *memory = col->memory;
	const struct eadm_record *record;
	struct eadm_dump *dump = NULL;
	uint64_t age;

	if (!memory->recorder.probed ||
	    eadm_dump_open(col->ctx, probe, NULL, &dump))
		return;
	if (eadm_dump_next(dump, &record) > 0) {
		row_take(&memory->row, eadm_object_fields(probe), record);
		if (row_u64(&memory->row, &place, &age) &&
		    is_restarted(&memory->probe, record, age))
			recorder_restart(&memory->recorder);
	}
	eadm_dump_close(dump);
}

static bool is_recorder(const struct collection *col)
{
	return col->c - col->model->collectors == col->model->recorder;
}

/*
 * Returns true if the device has no such objects, no driver shows them, or the capture
 * lacks them.
 */
static bool is_unsupported(const struct collector *c, int error)
{
	return error == -EOPNOTSUPP ||
	       (error == -ENODATA && !c->per_device);
}

/*
 * Returns the first error among the notes of a dump that has been read. An unsupported part
 * is only an error if there are no rows.
 */
static int first_error(const struct collection *col, const struct eadm_dump *dump)
{
	struct eadm_note note = { .size = sizeof(note) };
	unsigned int i;
	int error = 0;

	for (i = 0; eadm_dump_note(dump, i, &note) > 0; i++) {
		if (note.error && !is_unsupported(col->c, note.error))
			return note.error;
		if (!error && !col->rows)
			error = note.error;
	}
	return error;
}

static int read_rows(struct collection *col, struct eadm_dump *dump,
		     const char *device)
{
	const struct recorder_fields *fields = &col->model->recorder_fields;
	unsigned int n_fields = eadm_object_fields(col->c->object);
	const struct eadm_record *record;
	bool recorder = is_recorder(col);
	struct row *row = &col->memory->row;
	int ret;

	while ((ret = eadm_dump_next(dump, &record)) > 0) {
		row_take(row, n_fields, record);
		col->rows++;
		if (!row_u64(row, &col->c->key, &col->id))
			col->rows++;	/* without a key, do not treat it as the only row */
		look_at_device(col, row);
		if (recorder)
			col->samples->failed |= !recorder_take(
				&col->memory->recorder, fields, row);
		else if (col->c->sums)
			sum_row(col, row);
		else
			put_row(col, row);
	}
	if (ret)
		return ret;
	col->error = first_error(col, dump);
	if (recorder) {
		if (!col->error)
			recorder_end(&col->memory->recorder);
		recorder_samples(&col->memory->recorder, col->model, fields,
				 device, col->samples);
	}
	return 0;
}

static int read_dump(struct collection *col, struct eadm_ctx *ctx,
		     const struct eadm_dump_opts *opts)
{
	struct eadm_dump *dump = NULL;
	int ret;

	if (!row_init(&col->memory->row, col->model->max_fields))
		return -ENOMEM;
	ret = eadm_dump_open(ctx, col->c->object, opts, &dump);
	if (!ret)
		ret = read_rows(col, dump, opts->device);
	put_sums(col, opts->device);
	if (!ret && !col->rows)
		ret = col->error;
	if (!ret && eadm_dump_inconsistent(dump))
		col->section->truncated = true;
	eadm_dump_close(dump);
	return ret;
}

static int read_object(struct collection *col, struct eadm_ctx *ctx,
		       struct eadm_dump_opts *opts)
{
	int ret;

	if (col->lone->known) {
		opts->has_id = true;
		opts->id = col->lone->id;
		ret = read_dump(col, ctx, opts);
		col->lone->known = !ret;
		if (ret != -ENOENT)
			return ret;
		opts->has_id = false;
	}
	ret = read_dump(col, ctx, opts);
	col->lone->known = !ret && col->c->steady && col->rows == 1;
	col->lone->id = col->id;
	return ret;
}

static int read_recorder(struct collection *col, struct eadm_ctx *ctx,
			 struct eadm_dump_opts *opts)
{
	struct eadm_command_opts commands = { .size = sizeof(commands) };
	struct memory *memory = col->memory;
	int ret;

	look_at_probe(col);
	commands.has_from = recorder_begin(&memory->recorder, &commands.from);
	opts->commands = &commands;
	opts->fields = col->model->recorder_fields.all;
	ret = read_object(col, ctx, opts);
	/* The first records have shown that they are the probe's. */
	if (!memory->probe.seen)
		look_at_probe(col);
	return ret;
}

/*
 * Runs a collector on a device. If the device cannot be read, there are no samples; if it
 * can be read in part, there are samples and an error.
 */
void collect(struct eadm_ctx *ctx, const struct model *model,
	     unsigned int collector, const char *device,
	     const struct budget *budget, struct memory *memory,
	     struct section *section)
{
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = device,
		.fields = model->collectors[collector].all,
	};
	struct collection col = {
		.model = model, .c = &model->collectors[collector],
		.budget = budget, .memory = memory,
		.lone = &memory->lone[collector],
		.section = section, .samples = &section->samples, .ctx = ctx,
	};
	uint64_t begin = monotonic_ns();
	int ret;

	samples_clear(&section->samples);
	section->truncated = false;
	section->skipped = 0;
	if (is_recorder(&col))
		ret = read_recorder(&col, ctx, &opts);
	else if (col.c->object)
		ret = read_object(&col, ctx, &opts);
	else
		ret = verdicts_collect(ctx, model, device, budget->diagnosis,
				       &memory->verdicts, &section->samples);
	samples_sort(&section->samples);
	if (!ret && section->samples.failed)
		ret = -ENOMEM;
	if (ret)
		samples_clear(&section->samples);
	section->supported = !is_unsupported(col.c, ret);
	if (!ret)
		ret = col.error;
	section->error = section->supported ? ret : 0;
	section->duration = monotonic_ns() - begin;
}
