// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of tests as rows. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { TEST, RESULT, COUNT, SIZE, MIN, P50, P99, MAX, RATE, WHY, N_COLUMNS };

static const struct {
	const char *key, *head, *unit;
	enum eadm_type type;
	enum eadm_kind kind;
} columns[N_COLUMNS] = {
	[TEST] = { "test", "TEST", "", EADM_TYPE_STRING, EADM_KIND_NAME },
	[RESULT] = { "result", "RESULT", "", EADM_TYPE_STRING, EADM_KIND_NAME },
	[COUNT] = { "count", "COUNT", "", EADM_TYPE_U64, EADM_KIND_GAUGE },
	[SIZE] = { "size", "SIZE", "bytes", EADM_TYPE_U64, EADM_KIND_GAUGE },
	[MIN] = { "min", "MIN", "ns", EADM_TYPE_U64, EADM_KIND_AGE },
	[P50] = { "p50", "P50", "ns", EADM_TYPE_U64, EADM_KIND_AGE },
	[P99] = { "p99", "P99", "ns", EADM_TYPE_U64, EADM_KIND_AGE },
	[MAX] = { "max", "MAX", "ns", EADM_TYPE_U64, EADM_KIND_AGE },
	[RATE] = { "rate", "PER_SECOND", "", EADM_TYPE_U64, EADM_KIND_GAUGE },
	[WHY] = { "why", "WHY", "", EADM_TYPE_STRING, EADM_KIND_NAME },
};

int report_begin(struct cli *cli, struct table *table)
{
	struct column *column;
	int i;

	table->object = "test";
	for (i = 0; i < N_COLUMNS; i++) {
		column = column_add(table);
		if (!column)
			return fail(cli, STATUS_FAILED, "start",
				    "out of memory");
		column->name = column->key = columns[i].key;
		column->head = columns[i].head;
		column->unit = columns[i].unit;
		column->type = columns[i].type;
		column->kind = columns[i].kind;
	}
	cli->writer->ops->begin(cli->writer, table);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void put_u64(struct cell *cell, uint64_t value)
{
	cell->type = CELL_U64;
	cell->u = value;
}

static void put_string(struct cell *cell, const char *str)
{
	cell->type = CELL_STRING;
	cell->str = str;
}

void report_result(struct cli *cli, struct result *result)
{
	struct cell cells[N_COLUMNS] = { 0 };
	struct row row = { .cells = cells };
	size_t n = result->n_times;

	put_string(&cells[TEST], result->test);
	put_string(&cells[RESULT], result->why ? "failed" : "ok");
	if (result->count)
		put_u64(&cells[COUNT], result->count);
	if (result->size)
		put_u64(&cells[SIZE], result->size);
	if (n) {
		qsort(result->times, n, sizeof(*result->times), by_value);
		put_u64(&cells[MIN], result->times[0]);
		put_u64(&cells[P50], result->times[n / 2]);
		put_u64(&cells[P99], result->times[n * 99 / 100]);
		put_u64(&cells[MAX], result->times[n - 1]);
	}
	if (result->rate > 0) {
		cells[RATE].type = CELL_F64;
		cells[RATE].f = result->rate;
	}
	if (result->why)
		put_string(&cells[WHY], result->why);
	cli->writer->ops->row(cli->writer, &row);
}
