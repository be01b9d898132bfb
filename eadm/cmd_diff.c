// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff_setup.h"
#include "grow.h"
#include "lifetime.h"
#include "view.h"

static const struct option_def options[] = {
	{ OPT_HW, 0, "hw", NULL, WORDS_NONE,
	  "also compare the adapters' own contexts" },
	{ OPT_ALL, 0, "all", NULL, WORDS_NONE,
	  "also show ring pointers; with --setup: values known for one side only" },
	{ OPT_SETUP, 0, "setup", NULL, WORDS_NONE,
	  "compare the configuration of two hosts instead of their state" },
	{ 0 },
};

enum { COL_OBJECT, COL_DEVICE, COL_PORT, COL_ID, COL_NAME, COL_CHANGE, COL_FIELD,
       COL_BEFORE, COL_AFTER, COL_GROWTH, COL_PID, COL_COMM, N_COLS };

/* Kinds of changes, in order of importance. */
enum rank {
	RANK_STATE,	/* states of objects that exist before and after */
	RANK_LONE,	/* objects that appeared or vanished */
	RANK_VALUE,	/* levels, names, addresses */
	RANK_FIRST,	/* counters that were 0 */
	RANK_COUNTER,	/* other counters, by relative growth */
};

struct change {
	enum rank rank;
	double weight;
	size_t number;
	struct eadm_value values[N_COLS];	/* texts are copies */
};

/* Objects that a side does not show, so that they are not compared. */
struct lack {
	const struct eadm_object *object;
	const struct side *side;
	int error;
	bool both;	/* neither side can have the objects: this is no difference */
	char device[DEVICE_NAME];	/* "": of all devices */
	char why[600];
};

/* The objects of one kind on one side. */
struct side {
	struct eadm_ctx *ctx;
	struct rows rows;
	int error;
};

struct diff {
	struct cli *cli;
	struct side a, b;
	const struct eadm_object *object;
	/* A key may be unique only on its port, or together with a name. */
	const struct eadm_field *name, *port, *key, *part;
	const struct eadm_field *pid, *comm;
	struct lifetime_fields life;
	struct lack *lacks;
	size_t n_lacks, max_lacks;
	bool torn;		/* objects changed while a side was read */
	struct change *changes;
	size_t n_changes, max_changes;
	size_t pointers;	/* number of omitted changes of ring pointers */
	bool no_memory;
};

/* ---- identity --------------------------------------------------------------------- */

/* Rows without a key are identified by their number in the RDMA core. */
static uint64_t id_of(const struct diff *diff, const struct eadm_record *row)
{
	uint64_t id = 0;

	if (eadm_record_u64(row, diff->key, &id) && diff->life.res_id)
		eadm_record_u64(row, diff->life.res_id, &id);
	return id;
}

static int compare_strings(const struct eadm_record *a, const struct eadm_record *b,
			   const struct eadm_field *field)
{
	const char *x = eadm_record_string(a, field);
	const char *y = eadm_record_string(b, field);

	return strcmp(x ? x : "", y ? y : "");
}

/* Returns the port of a row, or 0 if it has none. */
static uint64_t port_of(const struct diff *diff, const struct eadm_record *row)
{
	uint64_t port = 0;

	if (diff->port)
		eadm_record_u64(row, diff->port, &port);
	return port;
}

static int compare_ids(const struct diff *diff, const struct eadm_record *a,
		       const struct eadm_record *b)
{
	uint64_t i = id_of(diff, a), j = id_of(diff, b);
	int ret = compare_strings(a, b, diff->name);

	return ret ? ret : i < j ? -1 : i > j;
}

static int compare_parts(const struct diff *diff, const struct eadm_record *a,
			 const struct eadm_record *b)
{
	return diff->part ? compare_strings(a, b, diff->part) : 0;
}

static int by_id(const void *x, const void *y, void *diff)
{
	const struct eadm_record *a = *(struct eadm_record *const *)x;
	const struct eadm_record *b = *(struct eadm_record *const *)y;
	uint64_t p = port_of(diff, a), q = port_of(diff, b);
	int ret = compare_ids(diff, a, b);

	if (!ret)
		ret = p < q ? -1 : p > q;
	return ret ? ret : compare_parts(diff, a, b);
}

/* Orders rows of the two sides. A QP has no port before the INIT state. */
static int compare_sides(const struct diff *diff, const struct eadm_record *a,
			 const struct eadm_record *b)
{
	uint64_t p = port_of(diff, a), q = port_of(diff, b);
	int ret = compare_ids(diff, a, b);

	if (!ret && p && q)
		ret = p < q ? -1 : p > q;
	return ret ? ret : compare_parts(diff, a, b);
}

static bool is_same_object(const struct diff *diff, const struct eadm_record *a,
			   const struct eadm_record *b)
{
	struct lifetime x, y;

	lifetime_of(&diff->life, a, &x);
	lifetime_of(&diff->life, b, &y);
	return !is_reused(&x, &y);
}

/* ---- rows ------------------------------------------------------------------------ */

/* Numbers remain numbers; everything else becomes text. */
static bool put_value(const struct eadm_record *row,
		      const struct eadm_field *field, struct eadm_value *value,
		      char *buf, size_t size)
{
	if (!eadm_record_has(row, field))
		return false;
	if (eadm_field_type(field) == EADM_TYPE_U64 &&
	    !eadm_field_value_at(field, 0, NULL) && !eadm_field_is_hex(field)) {
		value->type = EADM_TYPE_U64;
		eadm_record_u64(row, field, &value->u64);
		return true;
	}
	eadm_record_text(row, field, buf, size);
	*value = value_string(buf);
	return true;
}

/* Stores the change; changes are sorted once all are known. */
static void keep(struct diff *diff, enum rank rank, double weight,
		 const struct eadm_value *values)
{
	struct change *change;
	unsigned int i;

	if (diff->no_memory ||
	    !grow(diff->changes, diff->n_changes, diff->max_changes)) {
		diff->no_memory = true;
		return;
	}
	change = &diff->changes[diff->n_changes];
	change->rank = rank;
	change->weight = weight;
	change->number = diff->n_changes++;
	memcpy(change->values, values, sizeof(change->values));
	for (i = 0; i < N_COLS; i++) {
		struct eadm_value *value = &change->values[i];

		if (value->type != EADM_TYPE_STRING || !value->string)
			continue;
		value->string = strdup(value->string);
		diff->no_memory |= !value->string;
	}
}

static void put_row(struct diff *diff, const struct eadm_record *row,
		    const char *change, struct eadm_value *values,
		    enum rank rank, double weight)
{
	uint64_t pid, port = port_of(diff, row);

	values[COL_OBJECT] = value_string(eadm_object_name(diff->object));
	values[COL_DEVICE] = value_string(eadm_record_string(row, diff->name));
	if (port)
		values[COL_PORT] = value_u64(port);
	values[COL_ID] = value_u64(id_of(diff, row));
	if (diff->part)
		values[COL_NAME] =
			value_string(eadm_record_string(row, diff->part));
	values[COL_CHANGE] = value_string(change);
	if (diff->pid && !eadm_record_u64(row, diff->pid, &pid))
		values[COL_PID] = value_u64(pid);
	if (diff->comm)
		values[COL_COMM] =
			value_string(eadm_record_string(row, diff->comm));
	keep(diff, rank, weight, values);
}

static bool is_same(const struct eadm_value *a, const struct eadm_value *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == EADM_TYPE_U64)
		return a->u64 == b->u64;
	return !is_there(a) || !strcmp(a->string, b->string);
}

/*
 * Returns true for a position in a queue, which changes with every request, so that
 * comparing it is meaningless.
 */
static bool is_pointer(const struct eadm_field *field)
{
	return eadm_field_kind(field) == EADM_KIND_GAUGE &&
	       eadm_field_metric(field) == EADM_METRIC_NONE &&
	       !strcmp(eadm_field_unit(field), "entries");
}

/* A counter that has decreased was reset, or belongs to a different object. */
static enum rank rank_of(const struct eadm_field *field,
			 const struct eadm_value *before, uint64_t growth)
{
	switch (eadm_field_kind(field)) {
	case EADM_KIND_STATE:
	case EADM_KIND_FLAGS:
		return RANK_STATE;
	case EADM_KIND_COUNTER:
		if (!growth)
			return RANK_VALUE;
		return before->u64 ? RANK_COUNTER : RANK_FIRST;
	default:
		return RANK_VALUE;
	}
}

/*
 * Returns true if a row or field is unchanged. This is the usual case, so it is checked
 * before converting values to text.
 */
static bool is_unchanged(const struct eadm_record *a, const struct eadm_record *b,
			 const struct eadm_field *field)
{
	size_t m = 0, n = 0;
	const void *p, *q;
	uint64_t x, y;

	switch (eadm_field_type(field)) {
	case EADM_TYPE_U64:
		return !eadm_record_u64(a, field, &x) &&
		       !eadm_record_u64(b, field, &y) && x == y;
	case EADM_TYPE_STRING:
		p = eadm_record_string(a, field);
		q = eadm_record_string(b, field);
		return p && q && !strcmp(p, q);
	case EADM_TYPE_BYTES:
		p = eadm_record_bytes(a, field, &m);
		q = eadm_record_bytes(b, field, &n);
		return p && q && m == n && !memcmp(p, q, n);
	default:
		return false;
	}
}

static void put_change(struct diff *diff, const struct eadm_record *a,
		       const struct eadm_record *b,
		       const struct eadm_field *field)
{
	struct eadm_value values[N_COLS] = { 0 };
	struct eadm_value *before = &values[COL_BEFORE];
	struct eadm_value *after = &values[COL_AFTER];
	char x[512], y[512];
	uint64_t growth = 0;

	put_value(a, field, before, x, sizeof(x));
	put_value(b, field, after, y, sizeof(y));
	if (is_same(before, after))
		return;
	if (is_pointer(field) && !diff->cli->args.opt[OPT_ALL]) {
		diff->pointers++;
		return;
	}
	values[COL_FIELD] = value_string(eadm_field_key(field));
	if (eadm_field_kind(field) == EADM_KIND_COUNTER &&
	    before->type == EADM_TYPE_U64 && after->type == EADM_TYPE_U64 &&
	    counter_growth(field, before->u64, after->u64, &growth))
		values[COL_GROWTH] = value_u64(growth);
	put_row(diff, b, "changed", values, rank_of(field, before, growth),
		before->type == EADM_TYPE_U64 && before->u64 ?
			(double)growth / before->u64 : growth);
}

/* Ignores ages, which always change, and keys, which are secret. */
static bool is_compared(const struct diff *diff, const struct eadm_field *field)
{
	enum eadm_field_kind kind = eadm_field_kind(field);

	return kind != EADM_KIND_AGE && kind != EADM_KIND_TIME &&
	       kind != EADM_KIND_SECRET && field != diff->key &&
	       field != diff->name && field != diff->port;
}

/* Merges the fields of both rows, which are in the order of the same array. */
static void put_changes(struct diff *diff, const struct eadm_record *a,
			const struct eadm_record *b)
{
	const struct eadm_field *its = eadm_record_next(a, NULL);
	const struct eadm_field *other = eadm_record_next(b, NULL);
	const struct eadm_field *field;

	while (its || other) {
		field = !its || (other && other < its) ? other : its;
		if (its == field)
			its = eadm_record_next(a, its);
		if (other == field)
			other = eadm_record_next(b, other);
		if (is_compared(diff, field) && !is_unchanged(a, b, field))
			put_change(diff, a, b, field);
	}
}

static void put_lone(struct diff *diff, const struct eadm_record *row,
		     const char *change)
{
	struct eadm_value values[N_COLS] = { 0 };

	put_row(diff, row, change, values, RANK_LONE, 0);
}

static void put_both(struct diff *diff, const struct eadm_record *a,
		     const struct eadm_record *b)
{
	if (is_same_object(diff, a, b)) {
		put_changes(diff, a, b);
		return;
	}
	put_lone(diff, a, "gone");
	put_lone(diff, b, "new");
}

static int by_rank(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->rank >= RANK_FIRST && x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static void write_changes(struct diff *diff)
{
	char why[64];
	struct eadm_note note = { .size = sizeof(note), .device = "",
				  .what = "ring pointers", .why = why };
	size_t i;

	if (diff->n_changes)
		qsort(diff->changes, diff->n_changes, sizeof(*diff->changes),
		      by_rank);
	for (i = 0; i < diff->n_changes; i++)
		write_values(diff->cli->writer, diff->changes[i].values);
	if (!diff->pointers)
		return;
	snprintf(why, sizeof(why), "%zu %s not shown (--all)",
		 diff->pointers,
		 plural(diff->pointers, "change is", "changes are"));
	diff->cli->writer->ops->note(diff->cli->writer, &note);
}

static void free_changes(struct diff *diff)
{
	unsigned int column;
	size_t i;

	for (i = 0; i < diff->n_changes; i++)
		for (column = 0; column < N_COLS; column++)
			if (diff->changes[i].values[column].type ==
			    EADM_TYPE_STRING)
				free((char *)diff->changes[i].values[column].string);
	free(diff->changes);
}

static void add_lack(struct diff *diff, const struct side *side, int error,
		     const char *device, const char *why)
{
	struct lack *lack, *other;

	if (!grow(diff->lacks, diff->n_lacks, diff->max_lacks)) {
		diff->no_memory = true;
		return;
	}
	lack = &diff->lacks[diff->n_lacks++];
	*lack = (struct lack){
		.object = diff->object, .side = side, .error = error,
	};
	snprintf(lack->device, sizeof(lack->device), "%s", device);
	snprintf(lack->why, sizeof(lack->why), "%s: %s",
		 side == &diff->a ? "before" : "after", why);
	for (other = lack; means_no_objects(error) && other-- > diff->lacks &&
			   other->object == lack->object;) {
		if (other->side != side && means_no_objects(other->error) &&
		    !strcmp(other->device, lack->device))
			lack->both = other->both = true;
	}
}

/* The lacks of the object being compared are the last ones. */
static bool is_lacking(const struct diff *diff, const struct eadm_record *row)
{
	const char *name = eadm_record_string(row, diff->name);
	const struct lack *lack = diff->lacks + diff->n_lacks;

	while (lack-- > diff->lacks && lack->object == diff->object) {
		if (!*lack->device || (name && !strcmp(lack->device, name)))
			return true;
	}
	return false;
}

/* Drops the rows of devices that one side does not show completely. */
static void drop_lacking(const struct diff *diff, struct rows *rows)
{
	size_t i, n = 0;

	if (!diff->n_lacks)
		return;
	for (i = 0; i < rows->n; i++) {
		if (is_lacking(diff, rows->row[i]))
			eadm_record_free(rows->row[i]);
		else
			rows->row[n++] = rows->row[i];
	}
	rows->n = n;
}

static void compare(struct diff *diff)
{
	const struct rows *a = &diff->a.rows, *b = &diff->b.rows;
	size_t i = 0, j = 0;
	int order;

	while (i < a->n || j < b->n) {
		order = i == a->n ? 1 : j == b->n ? -1 :
			compare_sides(diff, a->row[i], b->row[j]);
		if (order < 0)
			put_lone(diff, a->row[i++], "gone");
		else if (order > 0)
			put_lone(diff, b->row[j++], "new");
		else
			put_both(diff, a->row[i++], b->row[j++]);
	}
}

/* ---- sides ----------------------------------------------------------------------- */

static bool has_hw(const struct eadm_object *object)
{
	return eadm_object_hw(object, NULL);
}

static void read_notes(struct diff *diff, const struct side *side,
		       const struct eadm_dump *dump)
{
	struct eadm_note note = { .size = sizeof(note) };
	unsigned int i;

	diff->torn |= eadm_dump_inconsistent(dump);
	for (i = 0; eadm_dump_note(dump, i, &note) > 0; i++) {
		if (note.error)
			add_lack(diff, side, note.error, note.device, note.why);
	}
}

static int read_side(struct diff *diff, struct side *side)
{
	struct cli *cli = diff->cli;
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = cli->args.opt[OPT_DEVICE],
		.hw = cli->args.opt[OPT_HW] && has_hw(diff->object),
	};
	const struct eadm_record *record;
	struct eadm_dump *dump;
	bool fits = true;

	rows_free(&side->rows);
	side->error = eadm_dump_open(side->ctx, diff->object, &opts, &dump);
	/* Without the device there are no objects either. */
	if (side->error == -ENODEV)
		side->error = 0;
	else if (!side->error) {
		while (fits &&
		       (side->error = eadm_dump_next(dump, &record)) > 0) {
			fits = rows_add(&side->rows, record);
			if (!(side->rows.n % 256))
				progress(cli, eadm_object_title(diff->object),
					 side->rows.n);
		}
		if (!side->error)
			read_notes(diff, side, dump);
		eadm_dump_close(dump);
	}
	progress_end(cli);
	if (!fits)
		return fail(cli, STATUS_FAILED, "rows", "out of memory");
	if (side->rows.n)
		qsort_r(side->rows.row, side->rows.n, sizeof(*side->rows.row),
			by_id, diff);
	return 0;
}

/* Returns true if both sides show the object. */
static bool both_told(struct diff *diff)
{
	const struct side *sides[] = { &diff->a, &diff->b };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		if (sides[i]->error)
			add_lack(diff, sides[i], sides[i]->error, "",
				 eadm_errmsg(sides[i]->ctx));
	}
	return !diff->a.error && !diff->b.error;
}

/*
 * Notes are printed after the rows, so that they do not separate rows. Returns
 * STATUS_PARTIAL if objects were not compared.
 */
static int put_lacks(const struct diff *diff)
{
	struct writer *writer = diff->cli->writer;
	int status = STATUS_OK;
	size_t i;

	if (diff->torn)
		writer->ops->inconsistent(writer);
	for (i = 0; i < diff->n_lacks; i++) {
		struct eadm_note n = {
			.size = sizeof(n), .device = diff->lacks[i].device,
			.what = eadm_object_title(diff->lacks[i].object),
			.why = diff->lacks[i].why,
		};

		if (diff->lacks[i].both)
			continue;
		writer->ops->note(writer, &n);
		status = STATUS_PARTIAL;
	}
	return status;
}

static int diff_object(struct diff *diff, const struct eadm_object *object)
{
	int status;

	diff->object = object;
	diff->key = eadm_object_key(object);
	diff->name = eadm_object_find_field(object, "dev-name");
	diff->port = eadm_object_find_field(object, "port");
	if (diff->port == diff->key)
		diff->port = NULL;
	diff->part = eadm_object_find_field(object, "name");
	lifetime_fields(object, &diff->life);
	diff->pid = eadm_object_find_field(object, "pid");
	diff->comm = eadm_object_find_field(object, "comm");
	status = read_side(diff, &diff->a);
	if (!status)
		status = read_side(diff, &diff->b);
	if (status || !both_told(diff))
		return status;
	drop_lacking(diff, &diff->a.rows);
	drop_lacking(diff, &diff->b.rows);
	compare(diff);
	return 0;
}

/*
 * Excludes the flight recorder, because new commands are not a change of state, and the
 * bytes of rings and registers, which few captures and no marks contain.
 */
static int diff_all(struct diff *diff)
{
	const struct eadm_object *object = NULL;
	int status = 0;

	/* If the devices cannot be listed, each dump reports the reason itself. */
	eadm_scan(diff->a.ctx);
	eadm_scan(diff->b.ctx);
	while (!status && (object = eadm_object_next(object))) {
		if (eadm_object_rows(object) != EADM_ROWS_PAST &&
		    eadm_object_class(object) != EADM_CLASS_ENTRIES &&
		    eadm_object_class(object) != EADM_CLASS_MACHINE &&
		    eadm_object_find_field(object, "dev-name"))
			status = diff_object(diff, object);
	}
	return status;
}

/* ---- the command ------------------------------------------------------------------ */

static const struct column columns[N_COLS] = {
	[COL_OBJECT] = { .key = "object", .head = "OBJECT" },
	[COL_DEVICE] = { .key = "dev_name", .head = "DEVICE" },
	[COL_PORT] = { .key = "port", .head = "PORT",
		       .type = EADM_TYPE_U64 },
	[COL_ID] = { .key = "id", .head = "ID",
		     .type = EADM_TYPE_U64 },
	[COL_NAME] = { .key = "name", .head = "NAME" },
	[COL_CHANGE] = { .key = "change", .head = "CHANGE" },
	[COL_FIELD] = { .key = "field", .head = "FIELD" },
	[COL_BEFORE] = { .key = "before", .head = "BEFORE" },
	[COL_AFTER] = { .key = "after", .head = "AFTER" },
	[COL_GROWTH] = { .key = "growth", .head = "GROWTH",
			 .type = EADM_TYPE_U64 },
	[COL_PID] = { .key = "pid", .head = "PID",
		      .type = EADM_TYPE_U64 },
	[COL_COMM] = { .key = "comm", .head = "COMM", .cut = true },
};

static int run_diff(struct diff *diff, const struct eadm_object *object)
{
	struct cli *cli = diff->cli;
	struct table table = { .object = "change", .title = "changes" };
	int status, lacks;

	status = table_of(cli, &table, columns, N_COLS);
	if (status) {
		columns_free(&table);
		return status;
	}
	cli->writer->ops->begin(cli->writer, &table);
	status = object ? diff_object(diff, object) : diff_all(diff);
	if (!status && object && diff->a.error && diff->b.error) {
		diff->n_lacks = 0;
		status = fail(cli, status_of(diff->b.error),
			      eadm_object_title(object), "%s",
			      eadm_errmsg(diff->b.ctx));
	}
	if (!status && diff->no_memory)
		status = fail(cli, STATUS_FAILED, "changes", "out of memory");
	write_changes(diff);
	lacks = put_lacks(diff);
	table.unknown = lacks;
	if (!status)
		status = lacks;
	status = write_end(cli, status);
	columns_free(&table);
	return status;
}

/* The device must exist on one side; without it, the other side has no objects. */
static int check_device(struct diff *diff)
{
	struct eadm_ctx *const sides[] = { diff->a.ctx, diff->b.ctx };
	struct cli *cli = diff->cli;
	const char *name = cli->args.opt[OPT_DEVICE];
	char why[DEVICE_WHY];
	size_t i;
	int ret = name ? -ENODEV : 0;

	for (i = 0; ret == -ENODEV && i < ARRAY_SIZE(sides); i++) {
		cli->ctx = sides[i];
		ret = device_find(cli, name, why, sizeof(why));
		cli->ctx = NULL;
	}
	/* If the devices cannot be listed, the dumps report the reason. */
	return ret == -ENODEV ? fail(cli, STATUS_NOT_FOUND, name, "%s", why) : 0;
}

static int run(struct cli *cli)
{
	const struct eadm_object *object = NULL;
	const char *const *arg = cli->args.arg;
	struct diff diff = { .cli = cli };
	unsigned int n = cli->args.n;
	int status;

	if (n && (object = eadm_object_find(arg[n - 1])))
		n--;
	if (!n || n > 2)
		return fail(cli, STATUS_USAGE, n ? arg[2] : "A",
			    n ? "unknown object (see 'eadm help dump')" :
				"missing mark or capture (see 'eadm help diff')");
	if (cli->args.opt[OPT_SETUP] && cli->args.opt[OPT_HW])
		return fail(cli, STATUS_USAGE, "--hw",
			    "cannot be used with --setup: the configuration has no queue contexts");
	if (cli->args.opt[OPT_AT] || cli->args.opt[OPT_SAVE])
		return fail(cli, STATUS_USAGE,
			    cli->args.opt[OPT_AT] ? "--at" : "--save",
			    "cannot be used with diff (FILE@TIME selects a snapshot)");
	if (cli->args.opt[OPT_PROGRAM] && n > 1 && strcmp(arg[0], "live") &&
	    strcmp(arg[1], "live"))
		return fail(cli, STATUS_USAGE, "--peer", "requires 'live' as A or B");
	status = open_snapshot(cli, arg[0], &diff.a.ctx);
	if (!status)
		status = open_snapshot(cli, n > 1 ? arg[1] : "live",
				       &diff.b.ctx);
	if (!status)
		status = check_device(&diff);
	if (!status)
		status = cli->args.opt[OPT_SETUP] ?
			 diff_setup(cli, diff.a.ctx, diff.b.ctx, object) :
			 run_diff(&diff, object);
	free_changes(&diff);
	free(diff.lacks);
	rows_free(&diff.a.rows);
	rows_free(&diff.b.rows);
	eadm_free(diff.a.ctx);
	eadm_free(diff.b.ctx);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.usage = "A [B] [OBJECT]",
	.help = "show changes between two captures or snapshots",
	.more = "A and B are marks or captures, each with an optional @TIME that selects\n"
		"one of its snapshots, or 'live', the default for B. With --from, @TIME\n"
		"alone selects a snapshot of that capture. Changed states are listed\n"
		"first, then objects that appeared or vanished, values, and counters:\n"
		"first those that were 0, then those with the largest relative growth.\n"
		"Ages are omitted, as are commands, entries and registers unless they are\n"
		"the OBJECT; changed ring pointers are only counted. With --setup, A and\n"
		"B are captures of two hosts: values that affect operation are listed\n"
		"first, then values that affect speed, then versions.",
	.examples = "  eadm diff baseline               compare a mark with the current state\n"
		    "  eadm diff mon.pcapng tue.pcapng qp\n"
		    "  eadm diff night.pcapng@02:10 night.pcapng@02:20\n"
		    "  eadm --from night.pcapng diff '@#1' @-0s counters --json\n"
		    "  eadm diff good-host.pcapng live --setup\n",
	.max_args = 3,
	.args = { WORDS_SNAPSHOT, WORDS_SNAPSHOT_OR_OBJECT, WORDS_OBJECT },
	.options = options,
	.run = run,
};
