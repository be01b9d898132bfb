// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes rows as a JSON document. Rows are written as they arrive; the document is
 * closed even after an error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "../signals.h"
#include "hist.h"
#include "json.h"
#include "writer.h"

struct note_copy {
	char device[64];
	char what[128];
	char why[600];
	char reason[32], remedy[128];
	unsigned int count, of;
};

struct json_writer {
	struct writer w;
	struct json *json;
	const struct table *table;
	struct column *all;	/* all fields of the object */
	unsigned int n_all;
	struct eadm_value *values;
	struct json_prepared *keys;	/* keys of @all, or of the columns */
	char *key_text;
	unsigned int n_keys;
	bool in_rows;
	unsigned long long rows;
	struct note_copy *notes;
	unsigned int n_notes, max_notes;
	bool inconsistent;
	int error;
};

static struct json_writer *to_json(struct writer *w)
{
	return (struct json_writer *)w;
}

static void no_memory(struct json_writer *jw)
{
	if (!jw->error)
		jw->error = ENOMEM;
}

/* ---- keys ----------------------------------------------------------------------- */

static void forget_keys(struct json_writer *jw)
{
	free(jw->keys);
	jw->keys = NULL;
	free(jw->key_text);
	jw->key_text = NULL;
	jw->n_keys = 0;
	free(jw->all);
	jw->all = NULL;
	jw->n_all = 0;
	free(jw->values);
	jw->values = NULL;
}

static void make_keys(struct json_writer *jw, const struct column *cols,
		      unsigned int n)
{
	char *to;
	size_t len;

	jw->keys = calloc(n ? n : 1, sizeof(*jw->keys));
	jw->key_text = calloc(n ? n : 1, JSON_KEY_MAX);
	if (!jw->keys || !jw->key_text) {
		no_memory(jw);
		return;
	}
	for (to = jw->key_text; jw->n_keys < n; to += JSON_KEY_MAX) {
		len = strnlen(cols[jw->n_keys].key, JSON_KEY_MAX - 4);
		*to = '"';
		memcpy(to + 1, cols[jw->n_keys].key, len);
		memcpy(to + 1 + len, "\":", 2);
		jw->keys[jw->n_keys++] = (struct json_prepared){ to, len + 3 };
	}
}

static void prepare(struct json_writer *jw)
{
	const struct eadm_object *object;
	unsigned int i;

	forget_keys(jw);
	if (!jw->table->all) {
		make_keys(jw, jw->table->cols, jw->table->n_cols);
		return;
	}
	object = eadm_object_find(jw->table->object);
	jw->n_all = eadm_object_fields(object);
	jw->all = calloc(jw->n_all, sizeof(*jw->all));
	jw->values = calloc(jw->n_all, sizeof(*jw->values));
	if (!jw->all || !jw->values) {
		jw->n_all = 0;
		no_memory(jw);
		return;
	}
	for (i = 0; i < jw->n_all; i++)
		column_of_field(&jw->all[i], eadm_object_field(object, i));
	make_keys(jw, jw->all, jw->n_all);
	/* Secrets are only shown if requested by name. */
	for (i = 0; i < jw->table->n_cols; i++) {
		struct column *col = &jw->table->cols[i];
		unsigned int j;

		for (j = 0; col->asked && j < jw->n_all; j++) {
			if (jw->all[j].field == col->field)
				jw->all[j].asked = true;
		}
	}
}

/* ---- the document ----------------------------------------------------------------- */

static void open_document(struct json_writer *jw)
{
	struct json *json = jw->json;

	json_open(json, '{');
	json_key(json, "schema");
	json_u64(json, 1);
	json_key(json, "command");
	json_string(json, jw->w.cli->verb);
	if (jw->table->object) {
		json_key(json, "object");
		json_string(json, jw->table->object);
	}
	if (jw->table->interval) {
		json_key(json, "interval");
		json_u64(json, jw->table->interval);
	}
	json_key(json, "rows");
	json_open(json, '[');
	jw->in_rows = true;
	jw->rows = 0;
}

static void fresh(struct json_writer *jw)
{
	struct json *json = json_new(1);

	/* Each document begins without a comma. */
	if (!json) {
		no_memory(jw);
		return;
	}
	if (jw->json) {
		json_flush(jw->json);
		json_free(jw->json);
	}
	jw->json = json;
}

static void begin_document(struct json_writer *jw)
{
	fresh(jw);
	if (jw->error)
		return;
	open_document(jw);
	jw->w.open = true;
}

static void write_notes(struct json_writer *jw)
{
	struct json *json = jw->json;
	unsigned int i;

	if (!jw->n_notes)
		return;
	json_key(json, "notes");
	json_open(json, '[');
	for (i = 0; i < jw->n_notes; i++) {
		json_open(json, '{');
		if (jw->notes[i].device[0]) {
			json_key(json, "device");
			json_string(json, jw->notes[i].device);
		}
		json_key(json, "what");
		json_string(json, jw->notes[i].what);
		json_key(json, "why");
		json_string(json, jw->notes[i].why);
		if (jw->notes[i].reason[0]) {
			json_key(json, "reason");
			json_string(json, jw->notes[i].reason);
			json_key(json, "count");
			json_u64(json, jw->notes[i].count);
			json_key(json, "of");
			json_u64(json, jw->notes[i].of);
			json_key(json, "remedy");
			json_string(json, jw->notes[i].remedy);
		}
		json_close(json, '}');
	}
	json_close(json, ']');
	jw->n_notes = 0;
}

static void close_rows(struct json_writer *jw)
{
	if (!jw->in_rows)
		return;
	if (jw->rows && !jw->table->lines)
		json_newline(jw->json);
	json_close(jw->json, ']');
	jw->in_rows = false;
}

static void close_document(struct json_writer *jw)
{
	close_rows(jw);
	write_notes(jw);
	if (jw->inconsistent) {
		json_key(jw->json, "inconsistent");
		json_bool(jw->json, true);
	}
	jw->inconsistent = false;
	json_raw(jw->json, "}\n", 2);
	jw->w.open = false;
}

static void json_begin(struct writer *w, const struct table *table)
{
	struct json_writer *jw = to_json(w);

	jw->table = table;
	prepare(jw);
	/* If there are no lines without rows, the first row of each line opens it. */
	if (!table->lines || table->passes)
		begin_document(jw);
}

/* ---- values -------------------------------------------------------------------------- */

static void write_names(struct json *json, const struct column *col,
			uint64_t value)
{
	char text[32];
	unsigned int i;

	json_open(json, '[');
	for (i = 0; i < 64; i++) {
		if (!(value >> i & 1))
			continue;
		eadm_field_text(col->field, 1ULL << i, text, sizeof(text));
		json_string(json, text);
	}
	json_close(json, ']');
}

static void write_number(struct json *json, const struct column *col,
			 uint64_t value)
{
	const char *name;
	char text[64];

	switch (col->json) {
	case JSON_NUMBER:
		json_u64(json, value);
		return;
	case JSON_NAMES:
		write_names(json, col, value);
		return;
	case JSON_NAME:
		name = eadm_field_value_name(col->field, value);
		if (name) {
			json_name(json, name, strlen(name));
			return;
		}
		break;
	case JSON_HEX:
		json_hex(json, value);
		return;
	default:
		break;
	}
	eadm_field_text(col->field, value, text, sizeof(text));
	json_string(json, text);
}

static void write_bytes(struct json *json, const struct column *col,
			const struct eadm_record *record)
{
	char text[512];

	if (eadm_record_text(record, col->field, text, sizeof(text)) < 0)
		text[0] = '\0';
	json_string(json, text);
}

static void write_hist(struct json *json, const struct hist *hist)
{
	unsigned int i, first, last;

	json_open(json, '[');
	if (!hist_range(hist, &first, &last)) {
		json_close(json, ']');
		return;
	}
	for (i = first; i <= last; i++) {
		json_open(json, '{');
		if (hist_below(i)) {
			json_key(json, "below");
			json_u64(json, hist_below(i));
		}
		json_key(json, "count");
		json_u64(json, hist->count[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_evidence(struct json *json, const struct eadm_value *value)
{
	const struct eadm_evidence *e = value->bytes;
	size_t i;

	json_open(json, '[');
	for (i = 0; i < value->len; i++, e++) {
		json_open(json, '{');
		json_key(json, "object");
		json_string(json, e->object);
		json_key(json, "id");
		json_u64(json, e->id);
		json_key(json, "name");
		json_string(json, e->name);
		json_key(json, "value");
		if (e->is_number)
			json_u64(json, e->number);
		else
			json_string(json, e->text);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_affected(struct json *json, const struct eadm_value *value)
{
	const struct eadm_consequence *c = value->bytes;
	size_t i;

	json_open(json, '[');
	for (i = 0; i < value->len; i++, c++) {
		json_open(json, '{');
		json_key(json, "dev_name");
		json_string(json, c->device);
		json_key(json, "object");
		json_string(json, c->object);
		if (c->has_id) {
			json_key(json, "id");
			json_u64(json, c->id);
		}
		if (c->pid) {
			json_key(json, "pid");
			json_u64(json, c->pid);
		}
		if (*c->comm) {
			json_key(json, "comm");
			json_string(json, c->comm);
		}
		json_key(json, "finding");
		json_string(json, c->finding);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_words(struct json *json, const char *key,
			const char *const *words)
{
	json_key(json, key);
	json_open(json, '[');
	for (; *words; words++)
		json_string(json, *words);
	json_close(json, ']');
}

static void write_found(struct json *json, const struct eadm_verdict *v)
{
	json_open(json, '{');
	json_key(json, "rule");
	json_string(json, eadm_rule_name(v->rule));
	json_key(json, "severity");
	json_string(json, eadm_severity_name(v->severity));
	json_key(json, "dev_name");
	json_string(json, v->device);
	json_key(json, "object");
	json_string(json, v->object);
	if (v->has_id) {
		json_key(json, "id");
		json_u64(json, v->id);
	}
	json_key(json, "finding");
	json_string(json, v->finding);
	json_close(json, '}');
}

static void write_causes(struct json *json, const struct eadm_value *value)
{
	const struct cause *cause = value->bytes;
	size_t i, j;

	json_open(json, '[');
	for (i = 0; i < value->len; i++, cause++) {
		json_open(json, '{');
		json_key(json, "cause");
		json_string(json, cause->name);
		json_key(json, "text");
		json_string(json, cause->text);
		write_words(json, "look", cause->look);
		write_words(json, "rules", cause->rules);
		json_key(json, "found");
		json_open(json, '[');
		for (j = 0; j < cause->n_found; j++)
			write_found(json, &cause->found[j]);
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* Writes a value that is present, after the prepared key of its column. */
static inline void write_value(struct json *json,
			       const struct json_prepared *key,
			       const struct column *col,
			       const struct eadm_value *value,
			       const struct eadm_record *record)
{
	/* Most values are numbers. */
	if (value->type == EADM_TYPE_U64 && col->json == JSON_NUMBER) {
		json_prepared_u64(json, key, value->u64);
		return;
	}
	json_prepared_key(json, key);
	switch ((int)value->type) {
	case EADM_TYPE_U64:
		write_number(json, col, value->u64);
		break;
	case EADM_TYPE_S64:
		json_s64(json, value->s64);
		break;
	case EADM_TYPE_STRING:
		json_string(json, value->string);
		break;
	case EADM_TYPE_BYTES:
		write_bytes(json, col, record);
		break;
	case VALUE_RATE:
		json_f64(json, rate_of(value));
		break;
	case VALUE_HIST:
		write_hist(json, value->bytes);
		break;
	case VALUE_EVIDENCE:
		write_evidence(json, value);
		break;
	case VALUE_AFFECTED:
		write_affected(json, value);
		break;
	case VALUE_CAUSES:
		write_causes(json, value);
		break;
	}
}

/* Writes all fields that are present. */
static void write_all(struct json_writer *jw, const struct eadm_record *record)
{
	const struct column *col;
	unsigned int i, n;

	n = eadm_record_values(record, jw->values, jw->n_all);
	for (i = 0; i < n; i++) {
		col = &jw->all[jw->values[i].index];
		if (col->kind != EADM_KIND_SECRET || col->asked)
			write_value(jw->json, &jw->keys[jw->values[i].index],
				    col, &jw->values[i], record);
	}
}

static void write_columns(struct json_writer *jw, const struct row *row)
{
	const struct table *table = jw->table;
	const struct eadm_value *values = row_values(&jw->w, table, row);
	bool rates = false;
	unsigned int i;

	if (!values)
		no_memory(jw);
	for (i = 0; values && i < table->n_cols; i++) {
		const struct column *col = &table->cols[i];

		if (!is_there(&values[i]))
			continue;
		if (col->rate && !rates) {
			json_key(jw->json, col->growth ? "growth" : "rates");
			json_open(jw->json, '{');
			rates = true;
		}
		write_value(jw->json, &jw->keys[i], col, &values[i],
			    row->record);
	}
	if (rates)
		json_close(jw->json, '}');
}

static void write_attributes(struct json *json,
			     const struct eadm_record *record)
{
	struct eadm_extra extra = { .size = sizeof(extra) };
	bool any = false;
	unsigned int i;
	char key[16];

	for (i = 0; eadm_record_extra(record, i, &extra) > 0; i++) {
		if (extra.name)
			continue;
		if (!any) {
			json_key(json, "extra");
			json_open(json, '{');
			any = true;
		}
		snprintf(key, sizeof(key), "%u", extra.attr);
		json_key(json, key);
		json_bytes(json, extra.data, extra.len);
	}
	if (any)
		json_close(json, '}');
}

/* Writes counters for which there is no field. */
static void write_others(struct json *json, const struct eadm_record *record)
{
	struct eadm_extra extra = { .size = sizeof(extra) };
	bool any = false;
	unsigned int i;

	for (i = 0; eadm_record_extra(record, i, &extra) > 0; i++) {
		if (!extra.name)
			continue;
		if (!any) {
			json_key(json, "other");
			json_open(json, '{');
			any = true;
		}
		json_key(json, extra.name);
		json_u64(json, extra.value);
	}
	if (any)
		json_close(json, '}');
}

static void json_row(struct writer *w, const struct row *row)
{
	struct json_writer *jw = to_json(w);

	if (jw->error)
		return;
	if (!w->open)
		begin_document(jw);
	if (!w->open)
		return;
	if (!jw->table->lines)
		json_row_break(jw->json);
	json_open(jw->json, '{');
	if (jw->table->all && !row->values)
		write_all(jw, row->record);
	else
		write_columns(jw, row);
	if (row->record) {
		write_others(jw->json, row->record);
		write_attributes(jw->json, row->record);
	}
	json_close(jw->json, '}');
	jw->rows++;
}

static void json_note(struct writer *w, const struct eadm_note *n)
{
	struct json_writer *jw = to_json(w);
	struct note_copy *copy;

	if (!jw->table)
		return;
	if (!grow(jw->notes, jw->n_notes, jw->max_notes)) {
		no_memory(jw);
		return;
	}
	copy = &jw->notes[jw->n_notes++];
	snprintf(copy->device, sizeof(copy->device), "%s", n->device);
	snprintf(copy->what, sizeof(copy->what), "%s", n->what);
	snprintf(copy->why, sizeof(copy->why), "%s", n->why);
	snprintf(copy->reason, sizeof(copy->reason), "%s",
		 n->reason ? n->reason : "");
	snprintf(copy->remedy, sizeof(copy->remedy), "%s",
		 n->remedy ? n->remedy : "");
	copy->count = n->count;
	copy->of = n->of;
}

static void json_inconsistent(struct writer *w)
{
	struct json_writer *jw = to_json(w);

	jw->inconsistent = jw->table;
}

static void json_flush_rows(struct writer *w)
{
	struct json_writer *jw = to_json(w);

	if (w->open && jw->table->lines)
		close_document(jw);
	if (jw->json && !jw->error)
		jw->error = json_flush(jw->json);
	if (jw->error)
		interrupted = SIGPIPE;
	flush_save(w->cli);
}

static void json_error(struct writer *w, int status, const char *what,
		       const char *why)
{
	struct json_writer *jw = to_json(w);

	close_rows(jw);
	write_notes(jw);
	json_key(jw->json, "error");
	json_error_object(jw->json, w->cli->verb, status, what, why);
	close_document(jw);
	json_flush(jw->json);
}

static int json_end(struct writer *w)
{
	struct json_writer *jw = to_json(w);
	int err;

	if (w->open)
		close_document(jw);
	err = jw->json ? json_flush(jw->json) : 0;
	return jw->error ? jw->error : err;
}

static void json_writer_free(struct writer *w)
{
	struct json_writer *jw = to_json(w);

	forget_keys(jw);
	json_free(jw->json);
	free(jw->notes);
	free(w->values);
	free(jw);
}

static const struct writer_ops json_ops = {
	.begin = json_begin,
	.row = json_row,
	.note = json_note,
	.inconsistent = json_inconsistent,
	.flush = json_flush_rows,
	.error = json_error,
	.end = json_end,
	.free = json_writer_free,
};

struct writer *json_writer_new(struct cli *cli)
{
	struct json_writer *jw = calloc(1, sizeof(*jw));

	if (!jw)
		return NULL;
	jw->w.ops = &json_ops;
	jw->w.cli = cli;
	return &jw->w;
}
