// SPDX-License-Identifier: GPL-2.0-or-later
/* "trace hist": latencies by type of command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "out/hist.h"
#include "trace.h"

enum { COL_OP, COL_FAMILY, COL_COUNT, COL_FAILED, COL_P50, COL_P99, COL_MAX, COL_HIST,
       N_COLS };

struct op {
	uint64_t op, failed;
	char family[16];	/* family recorded by the probe, or "" */
	struct hist hist;
	uint64_t *latency;
	size_t n, max;
};

struct ops {
	struct op *all;
	size_t n, max;
};

/* The probe can record both a verb and the driver's command that is part of it. */
static const char *family_of(const struct eadm_record *record)
{
	const struct eadm_object *object = eadm_object_find("cmd");
	const char *family = NULL;

	if (eadm_record_has(record, eadm_object_find_field(object, "function")))
		family = eadm_record_string(
			record, eadm_object_find_field(object, "family"));
	return family ? family : "";
}

static struct op *op_of(struct ops *ops, uint64_t value, const char *family)
{
	size_t i;

	for (i = 0; i < ops->n; i++) {
		if (ops->all[i].op == value &&
		    !strcmp(ops->all[i].family, family))
			return &ops->all[i];
	}
	if (!grow(ops->all, ops->n, ops->max))
		return NULL;
	ops->all[ops->n] = (struct op){ .op = value };
	snprintf(ops->all[ops->n].family, sizeof(ops->all->family), "%s", family);
	return &ops->all[ops->n++];
}

static bool add_latency(struct op *op, uint64_t ns)
{
	if (!grow(op->latency, op->n, op->max))
		return false;
	op->latency[op->n++] = ns;
	hist_add(&op->hist, ns);
	return true;
}

/* A command that has not completed has no latency yet. */
static bool add_row(struct ops *ops, const struct view *view,
		    const struct eadm_record *record)
{
	const struct filter *filter = &view->filter;
	const char *state = "";
	uint64_t op, value, ns;
	struct op *entry;

	if (eadm_record_u64(record, filter->op_field, &op) ||
	    eadm_record_u64(record, filter->latency_field, &ns))
		return true;
	if (!eadm_record_u64(record, filter->state_field, &value))
		state = eadm_field_value_name(filter->state_field, value);
	if (state && !strcmp(state, "pending"))
		return true;
	entry = op_of(ops, op, family_of(record));
	if (!entry || !add_latency(entry, ns))
		return false;
	if (!state || strcmp(state, "done"))
		entry->failed++;
	return true;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The command with the largest maximum comes first. */
static int by_max(const void *a, const void *b)
{
	const struct op *x = a, *y = b;
	uint64_t m = x->latency[x->n - 1], n = y->latency[y->n - 1];

	if (m != n)
		return m > n ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op ? 1 :
	       strcmp(x->family, y->family);
}

static void show_op(struct cli *cli, const struct op *op)
{
	const struct eadm_value values[N_COLS] = {
		[COL_OP] = value_u64(op->op),
		[COL_FAMILY] = value_text(op->family),
		[COL_COUNT] = value_u64(op->n),
		[COL_FAILED] = value_u64(op->failed),
		[COL_P50] = value_u64(hist_rank(op->latency, op->n, 50)),
		[COL_P99] = value_u64(hist_rank(op->latency, op->n, 99)),
		[COL_MAX] = value_u64(op->latency[op->n - 1]),
		[COL_HIST] = value_of(VALUE_HIST, &op->hist, 1),
	};

	write_values(cli->writer, values);
}

static int show(struct cli *cli, struct view *view, struct rows *rows)
{
	struct ops ops = { 0 };
	bool fits = true;
	size_t i;

	for (i = 0; i < rows->n && fits; i++)
		fits = add_row(&ops, view, rows->row[i]);
	for (i = 0; i < ops.n && fits; i++)
		qsort(ops.all[i].latency, ops.all[i].n, sizeof(uint64_t),
		      by_value);
	if (fits && ops.n)
		qsort(ops.all, ops.n, sizeof(*ops.all), by_max);
	for (i = 0; i < ops.n; i++) {
		if (fits)
			show_op(cli, &ops.all[i]);
		free(ops.all[i].latency);
	}
	free(ops.all);
	return fits ? 0 : fail(cli, STATUS_FAILED, "rows", "out of memory");
}

static const struct column columns[] = {
	{ .key = "family", .head = "FAMILY", .type = EADM_TYPE_STRING,
	  .kind = EADM_KIND_NAME, .heading = true },
	{ .key = "count", .head = "COUNT", .type = EADM_TYPE_U64,
	  .kind = EADM_KIND_GAUGE },
	{ .key = "failed", .head = "FAILED", .type = EADM_TYPE_U64,
	  .kind = EADM_KIND_GAUGE },
	{ .key = "p50", .head = "P50", .unit = "ns", .type = EADM_TYPE_U64,
	  .kind = EADM_KIND_GAUGE },
	{ .key = "p99", .head = "P99", .unit = "ns", .type = EADM_TYPE_U64,
	  .kind = EADM_KIND_GAUGE },
	{ .key = "max", .head = "MAX", .unit = "ns", .type = EADM_TYPE_U64,
	  .kind = EADM_KIND_GAUGE },
	{ .key = "buckets", .head = "", .type = EADM_TYPE_U64,
	  .kind = EADM_KIND_GAUGE, .bars = true },
};

/*
 * @view is set up to show the flight recorder; this function makes it show a histogram.
 */
int trace_hist(struct cli *cli, struct view *view)
{
	struct column *op;
	int status;

	if (cli->args.opt[OPT_OUTPUT] || cli->args.opt[OPT_SORT])
		return fail(cli, STATUS_USAGE,
			    cli->args.opt[OPT_SORT] ? "--sort" : "--output",
			    "a histogram has fixed columns");
	columns_free(&view->table);
	view->table = (struct table){ .object = "histogram",
				      .title = view->table.title };
	view->show = show;
	op = column_add(&view->table);
	if (!op)
		return fail(cli, STATUS_FAILED, "columns", "out of memory");
	column_of_field(op, view->filter.op_field);
	status = table_of(cli, &view->table, columns, ARRAY_SIZE(columns));
	if (status)
		return status;
	return view_run(cli, view);
}
