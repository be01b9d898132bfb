// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes flight records in Chrome's trace event format, supported by ui.perfetto.dev
 * and other viewers. Each device is shown as a process with as many threads as it has
 * concurrent commands.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "rows.h"
#include "writer.h"

#define MAX_LANES 4096

struct chrome_writer {
	struct writer w;
	int fd;
	struct origin origin;
	bool begun;
	const struct eadm_field *dev_index, *dev_name, *time, *latency, *op,
		*state, *outstanding;
	struct rows rows;
	struct json *json;
	uint64_t base;			/* ns; start of the first command */
	bool no_memory;
};

static struct chrome_writer *to_chrome(struct writer *w)
{
	return (struct chrome_writer *)w;
}

static uint64_t u64_of(const struct eadm_record *record,
		       const struct eadm_field *field)
{
	uint64_t value = 0;

	eadm_record_u64(record, field, &value);
	return value;
}

/* ---- events --------------------------------------------------------------------- */

/* The format uses microseconds; three decimal places keep the value exact. */
static void put_us(struct chrome_writer *cw, const char *key, uint64_t ns)
{
	char text[40];
	int len;

	len = snprintf(text, sizeof(text), "%" PRIu64 ".%03u", ns / 1000,
		       (unsigned int)(ns % 1000));
	json_key(cw->json, key);
	json_literal(cw->json, text, len);
}

static void begin_event(struct chrome_writer *cw, const char *phase,
			const char *name, uint64_t pid, unsigned int tid)
{
	json_row_break(cw->json);
	json_open(cw->json, '{');
	json_key(cw->json, "ph");
	json_string(cw->json, phase);
	json_key(cw->json, "name");
	json_string(cw->json, name);
	json_key(cw->json, "pid");
	json_u64(cw->json, pid);
	json_key(cw->json, "tid");
	json_u64(cw->json, tid);
}

static void put_name(struct chrome_writer *cw, const char *what, uint64_t pid,
		     unsigned int tid, const char *name)
{
	begin_event(cw, "M", what, pid, tid);
	json_key(cw->json, "args");
	json_open(cw->json, '{');
	json_key(cw->json, "name");
	json_string(cw->json, name);
	json_close(cw->json, '}');
	json_close(cw->json, '}');
}

/* Writes all fields of the command, except secrets and raw bytes. */
static void put_args(struct chrome_writer *cw,
		     const struct eadm_record *record)
{
	const struct eadm_field *field = NULL;
	char text[128];
	uint64_t u;
	int64_t s;

	json_key(cw->json, "args");
	json_open(cw->json, '{');
	while ((field = eadm_record_next(record, field))) {
		if (eadm_field_type(field) == EADM_TYPE_BYTES ||
		    eadm_field_kind(field) == EADM_KIND_SECRET)
			continue;
		json_key(cw->json, eadm_field_key(field));
		if (!eadm_field_value_at(field, 0, NULL) &&
		    !eadm_record_u64(record, field, &u)) {
			json_u64(cw->json, u);
		} else if (!eadm_record_s64(record, field, &s)) {
			json_s64(cw->json, s);
		} else {
			eadm_record_text(record, field, text, sizeof(text));
			json_string(cw->json, text);
		}
	}
	json_close(cw->json, '}');
}

static void put_command(struct chrome_writer *cw,
			const struct eadm_record *record, unsigned int lane)
{
	uint64_t pid = u64_of(record, cw->dev_index) + 1;
	bool ended = eadm_record_has(record, cw->latency);
	uint64_t start = u64_of(record, cw->time) - cw->base;
	char op[64], state[64];

	eadm_record_text(record, cw->op, op, sizeof(op));
	if (eadm_record_text(record, cw->state, state, sizeof(state)) < 0)
		strcpy(state, "unknown");
	begin_event(cw, ended ? "X" : "i", op, pid, lane);
	json_key(cw->json, "cat");
	json_string(cw->json, state);
	put_us(cw, "ts", start);
	if (ended) {
		put_us(cw, "dur", u64_of(record, cw->latency));
	} else {
		json_key(cw->json, "s");
		json_string(cw->json, "t");
	}
	put_args(cw, record);
	json_close(cw->json, '}');
	if (!eadm_record_has(record, cw->outstanding))
		return;
	begin_event(cw, "C", "outstanding", pid, 0);
	put_us(cw, "ts", start);
	json_key(cw->json, "args");
	json_open(cw->json, '{');
	json_key(cw->json, "commands");
	json_u64(cw->json, u64_of(record, cw->outstanding));
	json_close(cw->json, '}');
	json_close(cw->json, '}');
}

/* ---- lanes ----------------------------------------------------------------------- */

struct lanes {
	uint64_t device;
	unsigned int n;
	uint64_t free_at[MAX_LANES];	/* ns */
};

/* Returns the first free lane, so that commands in the same lane never overlap. */
static unsigned int lane_of(struct lanes *lanes, uint64_t start, uint64_t end)
{
	unsigned int i;

	for (i = 0; i < lanes->n; i++) {
		if (lanes->free_at[i] <= start)
			break;
	}
	if (i == MAX_LANES)
		return i;
	if (i == lanes->n)
		lanes->n++;
	lanes->free_at[i] = end;
	return i + 1;
}

static void put_all(struct chrome_writer *cw)
{
	struct lanes *lanes = calloc(1, sizeof(*lanes));
	char name[96];
	size_t i;

	if (!lanes) {
		cw->no_memory = true;
		return;
	}
	lanes->device = UINT64_MAX;
	for (i = 0; i < cw->rows.n; i++) {
		const struct eadm_record *row = cw->rows.row[i];
		uint64_t device = u64_of(row, cw->dev_index);
		uint64_t start = u64_of(row, cw->time);
		unsigned int lane, known;

		if (device != lanes->device) {
			lanes->device = device;
			lanes->n = 0;
			snprintf(name, sizeof(name), "%s commands",
				 eadm_record_string(row, cw->dev_name));
			put_name(cw, "process_name", device + 1, 0, name);
		}
		known = lanes->n;
		lane = lane_of(lanes, start,
			       start + u64_of(row, cw->latency));
		if (lanes->n > known) {
			snprintf(name, sizeof(name), "slot %u", lane);
			put_name(cw, "thread_name", device + 1, lane, name);
		}
		put_command(cw, row, lane);
	}
	free(lanes);
}

static void put_origin(struct chrome_writer *cw)
{
	const char *facts[][2] = {
		{ "host", cw->origin.host }, { "kernel", cw->origin.kernel },
	};
	char text[80];
	size_t i;

	json_key(cw->json, "otherData");
	json_open(cw->json, '{');
	json_key(cw->json, "producer");
	json_string(cw->json, "eadm " EADM_VERSION);
	snprintf(text, sizeof(text), "%" PRIu64, cw->base);
	json_key(cw->json, "start_ns");
	json_string(cw->json, text);
	for (i = 0; i < ARRAY_SIZE(facts); i++) {
		if (!*facts[i][1])
			continue;
		json_key(cw->json, facts[i][0]);
		json_string(cw->json, facts[i][1]);
	}
	json_close(cw->json, '}');
}

/* ---- the writer ------------------------------------------------------------------- */

static void chrome_begin(struct writer *w, const struct table *table)
{
	(void)table;
	to_chrome(w)->begun = true;
}

static void chrome_row(struct writer *w, const struct row *row)
{
	struct chrome_writer *cw = to_chrome(w);

	if (!rows_add(&cw->rows, row->record))
		cw->no_memory = true;
}

static void chrome_note(struct writer *w, const struct eadm_note *n)
{
	note(w->cli, "%s%s%s: %s", n->device, *n->device ? ": " : "", n->what,
	     n->why);
}

static void chrome_inconsistent(struct writer *w)
{
	note(w->cli, "new commands arrived while reading");
}

static void chrome_flush(struct writer *w)
{
	(void)w;
}

/* Never called: errors go to stderr. */
static void chrome_error(struct writer *w, int status, const char *what,
			 const char *why)
{
	(void)status;
	note(w->cli, "%s: %s", what, why);
}

static void put_document(struct chrome_writer *cw)
{
	struct sort order = { .n = 2, .key = { { cw->dev_index, false },
					       { cw->time, false } } };
	size_t i;

	rows_sort(&cw->rows, &order);
	for (i = 0; i < cw->rows.n; i++) {
		uint64_t time = u64_of(cw->rows.row[i], cw->time);

		if (!i || time < cw->base)
			cw->base = time;
	}
	json_open(cw->json, '{');
	json_key(cw->json, "displayTimeUnit");
	json_string(cw->json, "ns");
	put_origin(cw);
	json_key(cw->json, "traceEvents");
	json_open(cw->json, '[');
	put_all(cw);
	json_newline(cw->json);
	json_close(cw->json, ']');
	json_close(cw->json, '}');
	json_newline(cw->json);
}

static int chrome_end(struct writer *w)
{
	struct chrome_writer *cw = to_chrome(w);
	int err;

	/* An error occurred before the first row. */
	if (!cw->begun)
		return 0;
	cw->json = json_new(cw->fd);
	if (cw->json)
		put_document(cw);
	err = !cw->json || cw->no_memory ? ENOMEM : json_flush(cw->json);
	json_free(cw->json);
	return err;
}

static void chrome_free(struct writer *w)
{
	rows_free(&to_chrome(w)->rows);
	free(w);
}

static const struct writer_ops chrome_ops = {
	.begin = chrome_begin,
	.row = chrome_row,
	.note = chrome_note,
	.inconsistent = chrome_inconsistent,
	.flush = chrome_flush,
	.error = chrome_error,
	.end = chrome_end,
	.free = chrome_free,
};

/* The caller keeps @fd. */
struct writer *chrome_writer_new(struct cli *cli, int fd,
				 const struct origin *origin)
{
	struct chrome_writer *cw = calloc(1, sizeof(*cw));
	const struct eadm_object *object = eadm_object_find("cmd");

	if (!cw)
		return NULL;
	cw->w.ops = &chrome_ops;
	cw->w.cli = cli;
	cw->fd = fd;
	cw->origin = *origin;
	cw->dev_index = eadm_object_find_field(object, "dev-index");
	cw->dev_name = eadm_object_find_field(object, "dev-name");
	cw->time = eadm_object_find_field(object, "time");
	cw->latency = eadm_object_find_field(object, "latency");
	cw->op = eadm_object_find_field(object, "op");
	cw->state = eadm_object_find_field(object, "state");
	cw->outstanding = eadm_object_find_field(object, "outstanding");
	return &cw->w;
}
