// SPDX-License-Identifier: GPL-2.0-or-later
/* The same without a screen: two tables each time, or two lines of JSON. */
#include <arpa/inet.h>
#include <stdio.h>
#include <time.h>

#include "top.h"

static void caption_of(const struct top *top, char *buf, size_t size)
{
	time_t s = top->now / 1000000000;
	char clock[16] = "";
	struct tm tm;

	if (localtime_r(&s, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	snprintf(buf, size, "-- %s  %u device%s, %zu queue pair%s", clock,
		 top->n_devs, top->n_devs == 1 ? "" : "s", top->qps.n,
		 top->qps.n == 1 ? "" : "s");
}

static void put_devs(struct top *top, struct table *table)
{
	struct writer *writer = top->cli->writer;
	struct cell cells[N_DEV_COLS];
	struct row row = { .cells = cells };
	unsigned int i;

	writer->ops->begin(writer, table);
	for (i = 0; i < top->n_devs; i++) {
		top_dev_cells(top, &top->dev[i], cells);
		writer->ops->row(writer, &row);
	}
	writer->ops->flush(writer);
}

static void put_qps(struct top *top, struct table *table, uint64_t rows)
{
	struct writer *writer = top->cli->writer;
	struct cell cells[N_QP_COLS];
	struct row row = { .cells = cells };
	char peer[INET6_ADDRSTRLEN];
	size_t i;

	writer->ops->begin(writer, table);
	for (i = 0; i < top->n_order && i < rows; i++) {
		top_qp_cells(top, &top->qps.qp[top->order[i]], cells, peer,
			     sizeof(peer));
		writer->ops->row(writer, &row);
	}
	writer->ops->flush(writer);
}

int top_batch(struct top *top, uint64_t count, uint64_t rows)
{
	struct table devs = { .object = "top-device", .lines = true,
			      .passes = true, .cols = top->dev_cols,
			      .n_cols = N_DEV_COLS };
	struct table qps = { .object = "top-qp", .lines = true,
			     .passes = true, .cols = top->qp_cols,
			     .n_cols = N_QP_COLS };
	struct cli *cli = top->cli;
	struct timespec next;
	char caption[80];
	int ret;

	devs.caption = caption;
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		ret = top_look(top);
		if (ret)
			return write_end(cli, top_failed(top, ret));
		caption_of(top, caption, sizeof(caption));
		put_devs(top, &devs);
		put_qps(top, &qps, rows);
		if (top->note[0])
			note(cli, "%s", top->note);
		if (!--count || (eadm_is_live(cli->ctx) &&
				 !wait_until(&next, top->interval)) ||
		    !top_next(top))
			return write_end(cli, STATUS_OK);
	}
}
