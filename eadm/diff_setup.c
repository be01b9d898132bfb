// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Differences between the setups of two hosts. The specification marks the fields of the
 * setup and their roles. Addresses and names of hosts differ even between hosts with the
 * same setup and are not compared. Devices are paired by name; the remaining ones by
 * driver, in order of their names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff_setup.h"
#include "grow.h"
#include "view.h"

enum { COL_KIND, COL_OBJECT, COL_DEVICE, COL_NAME, COL_FIELD, COL_A, COL_B,
       N_COLS };

enum { A, B, N_SIDES };

#define VALUE_SIZE 512
#define NO_PAIR (-1)

/*
 * A row on one side; its counterpart is the row of the other side with the same pair
 * and name.
 */
struct line {
	int pair;	/* pair of devices; NO_PAIR: the host */
	char name[VALUE_SIZE];
	const struct eadm_record *record;
};

struct lines {
	struct line *line;
	size_t n, max;
};

/* A pair of devices, one of each side; "" if a side has no counterpart. */
struct pair {
	char name[N_SIDES][64];
};

struct difference {
	enum eadm_setup_kind kind;
	const char *object, *field;
	char device[2 * 64 + 2], name[VALUE_SIZE], value[N_SIDES][VALUE_SIZE];
	bool has[N_SIDES];
};

struct comparison {
	struct cli *cli;
	struct eadm_ctx *ctx[N_SIDES];
	/* Explains the error of the last dump of each side. */
	const char *why[N_SIDES];
	char note[N_SIDES][600];
	struct pair *pairs;
	size_t n_pairs, max_pairs;
	struct difference *differences;
	size_t n_differences, max_differences;
	size_t equal, one_sided;	/* counts of values */
	int status;
};

static int out_of_memory(struct comparison *c)
{
	return c->status = fail(c->cli, STATUS_FAILED, "values",
				"out of memory");
}

/* ---- reading -------------------------------------------------------------------- */

/*
 * Reads the rows of a side; on an error, @c->why[@side] explains it. @whole: an error of one
 * device is an error, because its rows are missing.
 */
static int read_rows(struct comparison *c, unsigned int side,
		     const struct eadm_object *object, bool whole, struct rows *rows)
{
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = c->cli->args.opt[OPT_DEVICE],
	};
	struct eadm_note note = { .size = sizeof(note) };
	unsigned int i;
	const struct eadm_record *record;
	struct eadm_dump *dump;
	int ret = eadm_dump_open(c->ctx[side], object, &opts, &dump);

	c->why[side] = eadm_errmsg(c->ctx[side]);
	if (ret)
		return ret;
	while ((ret = eadm_dump_next(dump, &record)) > 0) {
		if (!rows_add(rows, record)) {
			ret = out_of_memory(c);
			break;
		}
	}
	for (i = 0; whole && !ret && eadm_dump_note(dump, i, &note) > 0; i++) {
		ret = note.error;
		snprintf(c->note[side], sizeof(c->note[side]), "%s%s%s", note.device,
			 *note.device ? ": " : "", note.why);
		c->why[side] = c->note[side];
	}
	eadm_dump_close(dump);
	return ret;
}

static const char *device_of(const struct eadm_object *object,
			     const struct eadm_record *record)
{
	const struct eadm_field *field = eadm_object_find_field(object, "dev-name");

	return field && eadm_record_has(record, field) ?
		       eadm_record_string(record, field) : "";
}

/* ---- pairs of devices -------------------------------------------------------------- */

static bool add_pair(struct comparison *c, const char *a, const char *b)
{
	if (!grow(c->pairs, c->n_pairs, c->max_pairs)) {
		out_of_memory(c);
		return false;
	}
	snprintf(c->pairs[c->n_pairs].name[A], sizeof(c->pairs->name[A]), "%s", a);
	snprintf(c->pairs[c->n_pairs].name[B], sizeof(c->pairs->name[B]), "%s", b);
	c->n_pairs++;
	return true;
}

static int by_name(const void *a, const void *b, void *object)
{
	return strcmp(device_of(object, *(struct eadm_record *const *)a),
		      device_of(object, *(struct eadm_record *const *)b));
}

/* Each row of one side is paired with at most one of the other side. */
static bool pair_rows(struct comparison *c, const struct eadm_object *object,
		      struct rows *rows, const struct eadm_field *same)
{
	struct eadm_record **a, **b;
	size_t i, j;

	for (i = 0; i < rows[A].n; i++) {
		a = &rows[A].row[i];
		for (j = 0; *a && j < rows[B].n; j++) {
			b = &rows[B].row[j];
			if (!*b || !eadm_record_has(*a, same) ||
			    !eadm_record_has(*b, same) ||
			    strcmp(eadm_record_string(*a, same),
				   eadm_record_string(*b, same)))
				continue;
			if (!add_pair(c, device_of(object, *a),
				      device_of(object, *b)))
				return false;
			eadm_record_free(*a);
			eadm_record_free(*b);
			*a = *b = NULL;
		}
	}
	return true;
}

static bool pair_lone(struct comparison *c, const struct eadm_object *object,
		      const struct rows *rows)
{
	unsigned int side;
	const char *name;
	size_t i;

	for (side = 0; side < N_SIDES; side++) {
		for (i = 0; i < rows[side].n; i++) {
			if (!rows[side].row[i])
				continue;
			name = device_of(object, rows[side].row[i]);
			if (!add_pair(c, side == A ? name : "",
				      side == B ? name : ""))
				return false;
		}
	}
	return true;
}

static int pair_devices(struct comparison *c)
{
	const struct eadm_object *object = eadm_object_find("dev");
	struct rows rows[N_SIDES] = { 0 };
	unsigned int side;
	int ret = 0;

	for (side = 0; side < N_SIDES && ret >= 0 && !c->status; side++) {
		ret = read_rows(c, side, object, false, &rows[side]);
		/* A host without devices also has a setup. */
		if (ret == -ENODEV && !c->cli->args.opt[OPT_DEVICE])
			ret = 0;
		if (ret < 0)
			fail(c->cli, c->status = status_of(ret), "devices",
			     "%s: %s", side == A ? "A" : "B",
			     eadm_errmsg(c->ctx[side]));
		if (rows[side].n)
			qsort_r(rows[side].row, rows[side].n,
				sizeof(*rows[side].row), by_name, (void *)object);
	}
	if (!c->status &&
	    pair_rows(c, object, rows, eadm_object_find_field(object, "dev-name")) &&
	    pair_rows(c, object, rows, eadm_object_find_field(object, "driver")))
		pair_lone(c, object, rows);
	for (side = 0; side < N_SIDES; side++)
		rows_free(&rows[side]);
	return c->status;
}

static int pair_of(const struct comparison *c, unsigned int side,
		   const char *device)
{
	size_t i;

	for (i = 0; *device && i < c->n_pairs; i++)
		if (!strcmp(c->pairs[i].name[side], device))
			return (int)i;
	return NO_PAIR;
}

/* ---- comparing --------------------------------------------------------------------- */

static struct difference *add_difference(struct comparison *c,
					 const struct eadm_object *object,
					 const struct line *line)
{
	const struct pair *pair = line->pair == NO_PAIR ? NULL :
					  &c->pairs[line->pair];
	struct difference *d;

	if (!grow(c->differences, c->n_differences, c->max_differences)) {
		out_of_memory(c);
		return NULL;
	}
	d = &c->differences[c->n_differences++];
	memset(d, 0, sizeof(*d));
	d->object = eadm_object_name(object);
	memcpy(d->name, line->name, sizeof(d->name));
	if (!pair)
		return d;
	snprintf(d->device, sizeof(d->device), "%s%s%s", pair->name[A],
		 *pair->name[A] && *pair->name[B] &&
				 strcmp(pair->name[A], pair->name[B]) ?
			 "/" : "",
		 !strcmp(pair->name[A], pair->name[B]) ? "" : pair->name[B]);
	return d;
}

static void take_value(struct difference *d, unsigned int side,
		       const struct line *line, const struct eadm_field *field)
{
	d->field = eadm_field_key(field);
	d->kind = eadm_field_setup(field);
	d->has[side] = line && eadm_record_has(line->record, field);
	if (d->has[side])
		eadm_record_text(line->record, field, d->value[side],
				 sizeof(d->value[side]));
}

static void compare_field(struct comparison *c, const struct eadm_object *object,
			  const struct line *a, const struct line *b,
			  const struct eadm_field *field)
{
	bool in_a = eadm_record_has(a->record, field);
	bool in_b = eadm_record_has(b->record, field);
	char x[VALUE_SIZE] = "", y[VALUE_SIZE] = "";
	struct difference *d;

	if (in_a)
		eadm_record_text(a->record, field, x, sizeof(x));
	if (in_b)
		eadm_record_text(b->record, field, y, sizeof(y));
	if (!strcmp(x, y)) {
		c->equal += in_a && in_b;
		return;
	}
	if (!(in_a && in_b) && !c->cli->args.opt[OPT_ALL]) {
		/* The other side may have been read with fewer privileges. */
		c->one_sided++;
		return;
	}
	d = add_difference(c, object, a);
	if (!d)
		return;
	take_value(d, A, a, field);
	take_value(d, B, b, field);
}

static bool is_compared(const struct eadm_field *field)
{
	return eadm_field_setup(field) > EADM_SETUP_NAME;
}

static bool has_setup(const struct eadm_object *object)
{
	unsigned int i;

	for (i = 0; i < eadm_object_fields(object); i++)
		if (is_compared(eadm_object_field(object, i)))
			return true;
	return false;
}

/* A row that the other side does not have counts as one difference. */
static void put_lone(struct comparison *c, const struct eadm_object *object,
		     const struct line *line, unsigned int side)
{
	const struct eadm_field *field;
	struct difference *d;
	unsigned int i;

	for (i = 0; i < eadm_object_fields(object); i++) {
		field = eadm_object_field(object, i);
		if (!is_compared(field) || !eadm_record_has(line->record, field))
			continue;
		d = add_difference(c, object, line);
		if (d)
			take_value(d, side, line, field);
		return;
	}
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->pair != y->pair ? (x->pair < y->pair ? -1 : 1) :
				    strverscmp(x->name, y->name);
}

static void compare(struct comparison *c, const struct eadm_object *object,
		    const struct lines *lines)
{
	const struct line *a = lines[A].line, *b = lines[B].line;
	const struct line *end_a = a + lines[A].n, *end_b = b + lines[B].n;
	unsigned int i;
	int order;

	while ((a < end_a || b < end_b) && !c->status) {
		order = a == end_a ? 1 : b == end_b ? -1 : compare_lines(a, b);
		if (order < 0) {
			put_lone(c, object, a++, A);
		} else if (order > 0) {
			put_lone(c, object, b++, B);
		} else {
			for (i = 0; i < eadm_object_fields(object); i++)
				if (is_compared(eadm_object_field(object, i)))
					compare_field(c, object, a, b,
						      eadm_object_field(object, i));
			a++;
			b++;
		}
	}
}

/* ---- lines -------------------------------------------------------------------------- */

/* The name consists of all identifying values: "1 3" for port and index. */
static void name_line(const struct eadm_object *object, struct line *line)
{
	const struct eadm_field *field;
	char value[VALUE_SIZE];
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < eadm_object_fields(object); i++) {
		field = eadm_object_field(object, i);
		if (eadm_field_setup(field) != EADM_SETUP_NAME ||
		    eadm_record_text(line->record, field, value, sizeof(value)) < 0)
			continue;
		len += snprintf(line->name + len, sizeof(line->name) - len,
				"%s%s", len ? " " : "", value);
		if (len >= sizeof(line->name))
			return;
	}
}

/* For a device without a counterpart, only the device itself is shown. */
static bool is_lone(const struct comparison *c, const struct eadm_object *object,
		    int pair)
{
	return pair != NO_PAIR && object != eadm_object_find("dev") &&
	       !(*c->pairs[pair].name[A] && *c->pairs[pair].name[B]);
}

static void make_lines(struct comparison *c, unsigned int side,
		       const struct eadm_object *object, const struct rows *rows,
		       struct lines *lines)
{
	struct line *line;
	size_t i;
	int pair;

	for (i = 0; i < rows->n; i++) {
		pair = pair_of(c, side, device_of(object, rows->row[i]));
		if (is_lone(c, object, pair))
			continue;
		if (!grow(lines->line, lines->n, lines->max)) {
			out_of_memory(c);
			return;
		}
		line = &lines->line[lines->n++];
		*line = (struct line){ .pair = pair, .record = rows->row[i] };
		name_line(object, line);
	}
	if (lines->n)
		qsort(lines->line, lines->n, sizeof(*lines->line), compare_lines);
}

/* Notes that a side has no rows, and why. */
static void note_missing(struct comparison *c, const struct eadm_object *object,
			 unsigned int side, const char *text)
{
	char why[620];
	struct eadm_note note = { .size = sizeof(note), .device = "",
				  .what = eadm_object_title(object), .why = why };

	snprintf(why, sizeof(why), "%s: %s", side == A ? "A" : "B", text);
	c->cli->writer->ops->note(c->cli->writer, &note);
	c->status = STATUS_PARTIAL;
}

/* Every host has such rows, so a side without them is a partial capture. */
static bool is_unknown(const struct eadm_object *object, const struct rows *side,
		       const struct rows *other)
{
	return !side->n && other->n && !*device_of(object, other->row[0]);
}

static bool has_none(int error)
{
	return means_no_objects(error) || error == -ENODEV;
}

static void compare_sides(struct comparison *c, const struct eadm_object *object,
			  const struct rows *rows, const struct lines *lines,
			  const int *error)
{
	bool known = true;
	unsigned int side;

	if (has_none(error[A]) && has_none(error[B]))
		return;
	for (side = 0; side < N_SIDES; side++) {
		if (error[side] < 0)
			note_missing(c, object, side, c->why[side]);
		else if (is_unknown(object, &rows[side], &rows[!side]))
			note_missing(c, object, side, "no data");
		else
			continue;
		known = false;
	}
	if (known)
		compare(c, object, lines);
}

static int compare_object(struct comparison *c, const struct eadm_object *object)
{
	struct lines lines[N_SIDES] = { 0 };
	struct rows rows[N_SIDES] = { 0 };
	int error[N_SIDES], status = c->status;
	unsigned int side;

	c->status = 0;
	for (side = 0; side < N_SIDES; side++) {
		error[side] = read_rows(c, side, object, true, &rows[side]);
		if (!c->status)
			make_lines(c, side, object, &rows[side], &lines[side]);
	}
	if (!c->status)
		compare_sides(c, object, rows, lines, error);
	for (side = 0; side < N_SIDES; side++) {
		free(lines[side].line);
		rows_free(&rows[side]);
	}
	if (!c->status)
		c->status = status;
	return c->status == STATUS_PARTIAL ? 0 : c->status;
}

/* ---- output --------------------------------------------------------------------------- */

static const struct column columns[N_COLS] = {
	[COL_KIND] = { .key = "kind", .head = "KIND" },
	[COL_OBJECT] = { .key = "object", .head = "OBJECT" },
	[COL_DEVICE] = { .key = "dev_name", .head = "DEVICE" },
	[COL_NAME] = { .key = "name", .head = "NAME", .cut = true },
	[COL_FIELD] = { .key = "field", .head = "FIELD" },
	[COL_A] = { .key = "a", .head = "A", .cut = true },
	[COL_B] = { .key = "b", .head = "B", .cut = true },
};

static const char *const kinds[] = {
	[EADM_SETUP_SERVICE] = "service", [EADM_SETUP_SPEED] = "speed",
	[EADM_SETUP_VERSION] = "version",
};

static void write_kind(const struct comparison *c, enum eadm_setup_kind kind)
{
	const struct difference *d;

	for (d = c->differences; d < c->differences + c->n_differences; d++) {
		struct eadm_value values[N_COLS] = { 0 };

		if (d->kind != kind)
			continue;
		values[COL_KIND] = value_string(kinds[kind]);
		values[COL_OBJECT] = value_string(d->object);
		if (*d->device)
			values[COL_DEVICE] = value_string(d->device);
		if (*d->name)
			values[COL_NAME] = value_string(d->name);
		values[COL_FIELD] = value_string(d->field);
		if (d->has[A])
			values[COL_A] = value_string(d->value[A]);
		if (d->has[B])
			values[COL_B] = value_string(d->value[B]);
		write_values(c->cli->writer, values);
	}
}

static void note_count(const struct comparison *c, const char *what, size_t n,
		       const char *one, const char *many)
{
	char why[64];
	struct eadm_note note = { .size = sizeof(note), .device = "",
				  .what = what, .why = why };

	snprintf(why, sizeof(why), "%zu %s", n, plural(n, one, many));
	if (n)
		c->cli->writer->ops->note(c->cli->writer, &note);
}

int diff_setup(struct cli *cli, struct eadm_ctx *a, struct eadm_ctx *b,
	       const struct eadm_object *only)
{
	struct comparison c = { .cli = cli, .ctx = { a, b } };
	struct table table = { .object = "setup-difference",
			       .title = "configuration differences" };
	const struct eadm_object *object = NULL;
	int status;

	if (only && !has_setup(only))
		return fail(cli, STATUS_USAGE, eadm_object_name(only),
			    "not part of a host's configuration");
	status = table_of(cli, &table, columns, N_COLS);
	if (!status) {
		cli->writer->ops->begin(cli->writer, &table);
		status = pair_devices(&c);
		while (!status && (object = eadm_object_next(object)))
			if (has_setup(object) && (!only || object == only))
				status = compare_object(&c, object);
		write_kind(&c, EADM_SETUP_SERVICE);
		write_kind(&c, EADM_SETUP_SPEED);
		write_kind(&c, EADM_SETUP_VERSION);
		note_count(&c, "equal", c.equal, "value", "values");
		note_count(&c, "known for one side only (--all)", c.one_sided, "value",
			   "values");
		status = write_end(cli, status ? status : c.status);
	}
	columns_free(&table);
	free(c.pairs);
	free(c.differences);
	return status;
}
