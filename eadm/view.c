// SPDX-License-Identifier: GPL-2.0-or-later
/* Displays one kind of object, once or repeatedly. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "out/term.h"
#include "signals.h"
#include "source.h"
#include "view.h"

/* Reports errors in the options before anything is read. */
int view_init(struct cli *cli, const struct eadm_object *object, bool hw,
	      struct view *view)
{
	int status;

	*view = (struct view){
		.object = object,
		.opts = { .size = sizeof(view->opts), .hw = hw,
			  .device = cli->args.opt[OPT_DEVICE] },
	};
	status = view_check(cli);
	if (!status)
		status = filter_init(cli, object, &view->filter);
	if (!status)
		status = sort_init(cli, object, &view->sort);
	if (!status)
		status = columns_choose(cli, object, hw, &view->table);
	return status;
}

void view_free(struct view *view)
{
	columns_free(&view->table);
}

/* ---- repetition --------------------------------------------------------------- */

static int watch_options(struct cli *cli, uint64_t *interval, uint64_t *count)
{
	const char *watch = cli->args.opt[OPT_WATCH];

	*interval = 1000000000;
	*count = UINT64_MAX;
	if (!watch)
		return cli->args.opt[OPT_COUNT] &&
		       find_option(cli->cmd, "watch", 5) ?
			       fail(cli, STATUS_USAGE, "--count",
				    "requires --watch") : 0;
	if ((*watch && !opt_duration(cli, OPT_WATCH, 1000000000, interval)) ||
	    !opt_u64(cli, OPT_COUNT, count))
		return STATUS_USAGE;
	if (*interval < 1000000 || !*count)
		return fail(cli, STATUS_USAGE, *count ? "--watch" : "--count",
			    *count ? "must be at least 1ms" : "must be greater than 0");
	return 0;
}

int view_check(struct cli *cli)
{
	uint64_t interval, count;

	return watch_options(cli, &interval, &count);
}

/*
 * Sleeps until @more ns after @when, in terms of monotonic_ns(), and advances @when.
 * Returns false if interrupted.
 */
bool wait_until(uint64_t *when, uint64_t more)
{
	struct timespec until;

	*when = clock_after(*when, more);
	until = (struct timespec){ *when / 1000000000, *when % 1000000000 };
	while (!interrupted && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
					       &until, NULL) == EINTR)
		;
	return !interrupted;
}

/*
 * Returns the current time, or the time when the capture's snapshot began, in ns since
 * 1970.
 */
uint64_t time_shown(struct cli *cli)
{
	uint64_t ns = 0;

	if (!eadm_is_live(cli->ctx)) {
		eadm_snapshot_time(cli->ctx, cli->snapshot, &ns);
		return ns;
	}
	return clock_ns(CLOCK_REALTIME);
}

/* Returns false if there is no next snapshot, or if the command is to stop. */
bool next_snapshot(struct cli *cli)
{
	/* The screen of "top" uses no writer. */
	flush_save(cli);
	cli->snapshot++;
	return !interrupted && eadm_snapshot_next(cli->ctx) > 0;
}

static void make_caption(struct cli *cli, char *caption, size_t size)
{
	time_t s = time_shown(cli) / 1000000000;
	char clock[16];
	struct tm tm;

	if (!localtime_r(&s, &tm))
		memset(&tm, 0, sizeof(tm));
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	snprintf(caption, size, "-- %s", clock);
}

static int watch(struct cli *cli, struct view *view)
{
	uint64_t interval, count;
	uint64_t next;
	char caption[32];
	int status;

	status = watch_options(cli, &interval, &count);
	if (status)
		return status;
	view->table.lines = true;
	view->table.passes = true;
	view->table.caption = caption;
	view->table.screen = eadm_is_live(cli->ctx) ? term_rows() : 0;
	view->waits = true;
	next = monotonic_ns();
	for (;;) {
		make_caption(cli, caption, sizeof(caption));
		status = view_show(cli, view);
		cli->writer->ops->flush(cli->writer);
		if ((status && status != STATUS_PARTIAL) || !--count ||
		    (eadm_is_live(cli->ctx) && !wait_until(&next, interval)) ||
		    !next_snapshot(cli))
			return view_end(cli, view, status);
	}
}

/* Opens the source and shows everything. */
int view_run(struct cli *cli, struct view *view)
{
	int status = open_source(cli);

	if (!status && !strcmp(eadm_object_name(view->object), "cep"))
		status = need_connections(cli);
	if (status)
		return status;
	catch_signals();
	status = cli->args.opt[OPT_WATCH] ? watch(cli, view) :
					    view_show(cli, view);
	return write_end(cli, status);
}
