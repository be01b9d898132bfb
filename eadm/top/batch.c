// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs top without a screen: prints two tables per refresh, or two lines of JSON. */
#include <arpa/inet.h>
#include <stdio.h>
#include <time.h>

#include "../clock.h"
#include "top.h"

static void caption_of(const struct top *top, char *buf, size_t size)
{
	time_t s = top->now / 1000000000;
	char clock[16] = "", rows[40];
	struct tm tm;

	if (localtime_r(&s, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	top_rows_count(top, false, rows, sizeof(rows));
	if (!top->n_devs)
		snprintf(buf, size, "-- %s  no device%s%s", clock,
			 top->processes ? ", " : "",
			 top->processes ? rows : "");
	else
		snprintf(buf, size, "-- %s  %u %s, %s", clock, top->n_devs,
			 plural(top->n_devs, "device", "devices"), rows);
}

static void put_devs(struct top *top)
{
	struct writer *writer = top->cli->writer;
	struct eadm_value values[N_DEV_COLS];
	unsigned int i;

	writer->ops->begin(writer, &top->dev_table);
	for (i = 0; i < top->n_devs; i++) {
		top_dev_values(&top->dev[i], values);
		write_values(writer, values);
	}
	top_notes_write(top, &top->dev_notes);
	writer->ops->flush(writer);
}

static void put_rows(struct top *top, uint64_t rows)
{
	struct writer *writer = top->cli->writer;
	struct eadm_value values[N_ROW_COLS];
	char peer[INET6_ADDRSTRLEN];
	size_t i;

	writer->ops->begin(writer, top_rows_table(top));
	for (i = 0; i < top->n_order && i < rows; i++) {
		top_row_values(top, i, values, peer, sizeof(peer));
		write_values(writer, values);
	}
	top_notes_write(top, &top->row_notes);
	top_notes_write(top, &top->once);
	writer->ops->flush(writer);
}

int top_batch(struct top *top, uint64_t count, uint64_t rows)
{
	struct cli *cli = top->cli;
	uint64_t next;
	char caption[80];
	int ret;

	top->dev_table.lines = top->dev_table.passes = true;
	top->qp_table.lines = top->qp_table.passes = true;
	top->proc_table.lines = top->proc_table.passes = true;
	top->dev_table.caption = caption;
	next = monotonic_ns();
	for (;;) {
		ret = top_look(top);
		if (ret)
			return write_end(cli, top_failed(top, ret));
		caption_of(top, caption, sizeof(caption));
		put_devs(top);
		put_rows(top, rows);
		if (!--count || (eadm_is_live(cli->ctx) &&
				 !wait_until(&next, top->interval)) ||
		    !top_next(top))
			return write_end(cli, top_end(top));
	}
}
