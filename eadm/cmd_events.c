// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "signals.h"
#include "source.h"
#include "view.h"

static const struct option_def options[] = {
	{ OPT_COUNT, 'n', "count", "N", WORDS_ANY, "stop after N events" },
	{ OPT_PAST, 0, "past", NULL, WORDS_NONE,
	  "show recent failures kept by the drivers, and exit" },
	{ 0 },
};

static bool is_wanted(struct cli *cli, const struct eadm_record *record)
{
	const struct eadm_field *field =
		eadm_object_find_field(eadm_object_find("event"), "dev-name");
	const char *only = cli->args.opt[OPT_DEVICE];
	const char *name = eadm_record_string(record, field);

	return !only || (name && !strcmp(name, only));
}

/* Number of events of the same device that were lost before this one. */
static uint64_t lost_before(const struct eadm_record *record)
{
	const struct eadm_field *field =
		eadm_object_find_field(eadm_object_find("event"), "lost");
	uint64_t lost = 0;

	eadm_record_u64(record, field, &lost);
	return lost;
}

/* Fails if the list of devices can be read and lacks the device of --device. */
static int check_device(struct cli *cli)
{
	const char *only = cli->args.opt[OPT_DEVICE];
	char why[DEVICE_WHY];

	if (!only || device_find(cli, only, why, sizeof(why)) != -ENODEV)
		return STATUS_OK;
	return fail(cli, STATUS_NOT_FOUND, only, "%s", why);
}

static int show(struct cli *cli, struct eadm_events *events, uint64_t *left,
		uint64_t *others)
{
	struct pollfd fd = { .fd = eadm_events_fd(events), .events = POLLIN };
	const struct eadm_record *record;
	int ret = 0;

	while (*left && !interrupted) {
		ret = eadm_events_next(events, &record);
		if (ret < 0 || (!ret && fd.fd < 0))
			break;
		if (!ret) {
			cli->writer->ops->flush(cli->writer);
			if (poll(&fd, 1, -1) < 0 && errno != EINTR) {
				ret = -errno;
				break;
			}
			continue;
		}
		if (!is_wanted(cli, record)) {
			*others += lost_before(record);
			continue;
		}
		write_record(cli->writer, record);
		/* Show each event immediately; in JSON, each event is a line. */
		cli->writer->ops->flush(cli->writer);
		--*left;
	}
	return ret < 0 ? ret : 0;
}

static int follow(struct cli *cli, struct table *table, uint64_t count)
{
	struct eadm_events *events;
	uint64_t left = count, others = 0, lost;
	int ret, status = STATUS_OK;

	if (eadm_is_live(cli->ctx))
		status = check_device(cli);
	if (status)
		return status;
	ret = eadm_events_open(cli->ctx, &events);
	if (ret)
		return fail_lib(cli, ret, "events");
	table->lines = true;
	table->title = NULL;
	catch_signals();
	cli->writer->ops->begin(cli->writer, table);
	cli->writer->ops->flush(cli->writer);
	ret = show(cli, events, &left, &others);
	if (ret)
		status = fail_lib(cli, ret, "events");
	lost = eadm_events_lost(events) - others;
	if (lost)
		note(cli, "%llu %s lost", (unsigned long long)lost,
		     plural(lost, "event was", "events were"));
	eadm_events_close(events);
	/* In a capture, a device can appear after the list of devices. */
	if (!ret && left == count && !eadm_is_live(cli->ctx))
		status = check_device(cli);
	return write_end(cli, status);
}

/* Shows past failures of all devices in chronological order. */
static int show_past(struct cli *cli)
{
	struct view view;
	int status;

	if (cli->args.opt[OPT_COUNT])
		return fail(cli, STATUS_USAGE, "--count", "cannot be used with --past");
	cli->args.opt[OPT_SORT] = "time";
	status = view_init(cli, eadm_object_find("failure"), false, &view);
	if (!status)
		status = view_run(cli, &view);
	view_free(&view);
	return status;
}

static int run(struct cli *cli)
{
	struct table table = { 0 };
	uint64_t count = UINT64_MAX;
	int status;

	if (cli->args.opt[OPT_PAST])
		return show_past(cli);
	if (!opt_u64(cli, OPT_COUNT, &count))
		return STATUS_USAGE;
	if (!count)
		return fail(cli, STATUS_USAGE, "--count", "must be greater than 0");
	status = columns_choose(cli, eadm_object_find("event"), false, &table);
	if (!status)
		status = open_source(cli);
	if (!status)
		status = follow(cli, &table, count);
	columns_free(&table);
	return status;
}

const struct command cmd_events = {
	.name = "events",
	.help = "print events: devices, failed QPs, lost commands, settings",
	.more = "Runs until interrupted. Shows only events that occur after the start;\n"
		"with --past, instead shows the recent failures that the driver of each\n"
		"device has kept.",
	.examples = "  eadm events\n"
		    "  eadm events -d cloud_0 --json\n"
		    "  eadm events --past\n"
		    "  eadm events --save night.pcapng\n"
		    "  eadm --from night.pcapng events\n",
	.options = options,
	.object = "event",
	.run = run,
};
