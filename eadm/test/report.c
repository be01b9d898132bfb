// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of tests as rows. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { TEST, RESULT, COUNT, SIZE, MIN, P50, P99, MAX, RATE, WHY, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[TEST] = { .key = "test", .head = "TEST" },
	[RESULT] = { .key = "result", .head = "RESULT" },
	[COUNT] = { .key = "count", .head = "COUNT",
		  .type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[SIZE] = { .key = "size", .head = "SIZE", .unit = "bytes",
		  .type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[MIN] = { .key = "min", .head = "MIN", .unit = "ns",
		  .type = EADM_TYPE_U64, .kind = EADM_KIND_AGE },
	[P50] = { .key = "p50", .head = "P50", .unit = "ns",
		  .type = EADM_TYPE_U64, .kind = EADM_KIND_AGE },
	[P99] = { .key = "p99", .head = "P99", .unit = "ns",
		  .type = EADM_TYPE_U64, .kind = EADM_KIND_AGE },
	[MAX] = { .key = "max", .head = "MAX", .unit = "ns",
		  .type = EADM_TYPE_U64, .kind = EADM_KIND_AGE },
	[RATE] = { .key = "rate", .head = "PER_SECOND",
		  .type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[WHY] = { .key = "why", .head = "WHY" },
};

int report_begin(struct cli *cli, struct table *table)
{
	int status;

	table->object = "test";
	status = table_of(cli, table, columns, N_COLUMNS);
	if (status)
		return status;
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
