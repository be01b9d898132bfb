// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of tests as rows. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum {
	TEST, RESULT, COUNT, SIZE, MIN, P50, P99, MAX, RATE, DEVICE, LOCAL, PEER,
	LOCAL_GID, PEER_GID, SETUP, QP_TYPE, WHY, N_COLUMNS
};

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
	[DEVICE] = { .key = "dev_name", .head = "DEVICE" },
	[LOCAL] = { .key = "local_addr", .head = "LOCAL" },
	[PEER] = { .key = "peer_addr", .head = "PEER" },
	[LOCAL_GID] = { .key = "local_gid", .head = "LOCAL_GID",
			.json_only = true },
	[PEER_GID] = { .key = "peer_gid", .head = "PEER_GID",
		       .json_only = true },
	[SETUP] = { .key = "setup", .head = "SETUP", .json_only = true },
	[QP_TYPE] = { .key = "qp_type", .head = "QP_TYPE", .json_only = true },
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

void report_result(struct cli *cli, struct result *result)
{
	struct eadm_value v[N_COLUMNS] = { 0 };
	size_t n = result->n_times;

	v[TEST] = value_string(result->test);
	v[RESULT] = value_string(result->skipped ? "skipped" :
				 result->why ? "failed" : "ok");
	if (result->count)
		v[COUNT] = value_u64(result->count);
	if (result->size)
		v[SIZE] = value_u64(result->size);
	if (n) {
		qsort(result->times, n, sizeof(*result->times), by_value);
		v[MIN] = value_u64(result->times[0]);
		v[P50] = value_u64(result->times[n / 2]);
		v[P99] = value_u64(result->times[n * 99 / 100]);
		v[MAX] = value_u64(result->times[n - 1]);
	}
	if (result->rate > 0)
		v[RATE] = value_rate(result->rate);
	if (result->path) {
		v[DEVICE] = value_text(result->path->device);
		v[LOCAL] = value_text(result->path->local);
		v[PEER] = value_text(result->path->peer);
		v[LOCAL_GID] = value_text(result->path->local_gid);
		v[PEER_GID] = value_text(result->path->peer_gid);
		v[QP_TYPE] = value_text(result->path->type);
	}
	v[SETUP] = value_string(result->setup);
	v[WHY] = value_string(result->why);
	write_values(cli->writer, v);
}
