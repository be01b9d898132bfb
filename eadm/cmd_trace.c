// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "signals.h"
#include "source.h"
#include "trace.h"

#define MAX_DEVICES 64

static const struct option_def options[] = {
	{ OPT_FOLLOW, 'f', "follow", NULL, WORDS_NONE,
	  "show commands as they complete, until interrupted" },
	{ OPT_SLOWER_THAN, 0, "slower-than", "TIME", WORDS_ANY,
	  "only commands with at least this latency (default unit: ms)" },
	{ OPT_OPCODE, 0, "opcode", "OP", WORDS_OPCODE, "only commands of this type" },
	{ OPT_STATE, 0, "state", "STATES", WORDS_STATE,
	  "only commands with these outcomes, separated by commas" },
	{ OPT_PID, 0, "pid", "PID", WORDS_ANY,
	  "only commands issued for this process" },
	{ OPT_COMM, 0, "comm", "NAME", WORDS_ANY,
	  "only commands issued for processes with this name" },
	{ OPT_COUNT, 'n', "count", "N", WORDS_ANY,
	  "with --follow: stop after N commands" },
	SORT_OPTION,
	{ OPT_FORMAT, 0, "format", "FORMAT", WORDS_TRACE_FORMAT,
	  "with export: chrome, for ui.perfetto.dev and similar viewers (default)" },
	{ 0 },
};

struct follow {
	struct cli *cli;
	const struct filter *filter;
	struct table *table;
	uint64_t left;			/* number of commands left to show */
	unsigned int n;
	char *name[MAX_DEVICES];
	struct eadm_trace *trace[MAX_DEVICES];
	uint64_t lost[MAX_DEVICES];
};

static int add_trace(struct follow *f, const char *device)
{
	struct eadm_trace_opts opts = { .size = sizeof(opts) };
	int ret;

	opts.min_latency = f->filter->min_latency;
	opts.has_op = f->filter->has_op;
	opts.op = f->filter->op;
	ret = eadm_trace_open(f->cli->ctx, device, &opts, &f->trace[f->n]);
	if (!ret)
		f->name[f->n++] = strdup(device);
	return ret;
}

/* Follows all devices that have a flight recorder, or only the requested device. */
static int open_traces(struct follow *f)
{
	const struct eadm_object *object = eadm_object_find("dev");
	const struct eadm_field *field;
	const char *only = f->cli->args.opt[OPT_DEVICE];
	const struct eadm_record *record;
	char *names[MAX_DEVICES];
	struct eadm_dump *dump;
	unsigned int i, n = 0;
	int ret = 0, last = 0;

	if (only) {
		ret = add_trace(f, only);
		return ret ? fail_lib(f->cli, ret, only) : 0;
	}
	ret = eadm_dump_open(f->cli->ctx, object, NULL, &dump);
	if (ret)
		return fail_lib(f->cli, ret, "devices");
	field = eadm_object_find_field(object, "dev-name");
	while (eadm_dump_next(dump, &record) > 0) {
		if (n == MAX_DEVICES) {
			note(f->cli, "not all devices are followed (use --device): the limit is %d",
			     MAX_DEVICES);
			break;
		}
		names[n++] = strdup(eadm_record_string(record, field));
	}
	eadm_dump_close(dump);
	for (i = 0; i < n; i++) {
		ret = names[i] ? add_trace(f, names[i]) : -ENOMEM;
		/* Devices of other vendors have no flight recorder. */
		if (ret && (ret != -EOPNOTSUPP || !last))
			last = ret;
		if (ret && ret != -EOPNOTSUPP)
			note(f->cli, "%s: %s", names[i] ? names[i] : "",
			     eadm_errmsg(f->cli->ctx));
		free(names[i]);
	}
	return f->n ? 0 : fail_lib(f->cli, last, "flight recorder");
}

static void tell_lost(struct follow *f, unsigned int i)
{
	uint64_t lost = eadm_trace_lost(f->trace[i]);

	if (lost == f->lost[i])
		return;
	note(f->cli, "%s: %llu %s overwritten before they were read", f->name[i],
	     (unsigned long long)(lost - f->lost[i]),
	     plural(lost - f->lost[i], "record was", "records were"));
	f->lost[i] = lost;
}

/* Shows the available records of a device; returns false if no more records follow. */
static bool drain(struct follow *f, unsigned int i)
{
	const struct eadm_record *record;
	int ret = 1;

	while (f->left && !interrupted &&
	       (ret = eadm_trace_next(f->trace[i], &record)) > 0) {
		if (!filter_passes(f->filter, record))
			continue;
		write_record(f->cli->writer, record);
		f->left--;
	}
	f->cli->writer->ops->flush(f->cli->writer);
	tell_lost(f, i);
	if (ret >= 0)
		return true;
	note(f->cli, "%s: %s", f->name[i], eadm_errmsg(f->cli->ctx));
	return false;
}

static int follow(struct follow *f)
{
	struct pollfd fds[MAX_DEVICES];
	unsigned int i, alive = f->n;

	for (i = 0; i < f->n; i++)
		fds[i] = (struct pollfd){ .fd = eadm_trace_fd(f->trace[i]),
					  .events = POLLIN };
	while (alive && f->left && !interrupted) {
		if (poll(fds, f->n, -1) < 0) {
			if (errno == EINTR)
				continue;
			return fail(f->cli, STATUS_FAILED, "poll", "%s",
				    strerror(errno));
		}
		for (i = 0; i < f->n; i++) {
			if (!fds[i].revents || drain(f, i))
				continue;
			fds[i].fd = -1;
			alive--;
		}
	}
	return alive ? STATUS_OK : STATUS_NOT_FOUND;
}

static int run_follow(struct cli *cli, const struct filter *filter,
		      struct table *table)
{
	struct follow f = {
		.cli = cli, .filter = filter, .table = table,
		.left = UINT64_MAX,
	};
	unsigned int i;
	int status;

	if (!opt_u64(cli, OPT_COUNT, &f.left))
		return STATUS_USAGE;
	if (!f.left)
		return fail(cli, STATUS_USAGE, "--count", "must be greater than 0");
	table->lines = true;
	table->title = NULL;
	status = open_traces(&f);
	if (!status) {
		catch_signals();
		cli->writer->ops->begin(cli->writer, table);
		status = follow(&f);
		status = write_end(cli, status);
	}
	for (i = 0; i < f.n; i++) {
		eadm_trace_close(f.trace[i]);
		free(f.name[i]);
	}
	return status;
}

static int unknown_verb(struct cli *cli, const char *verb)
{
	const char *const words[] = { "hist", "export", NULL };
	const char *near = suggest(verb, words);

	if (near)
		return fail(cli, STATUS_USAGE, verb,
			    "unknown subcommand (did you mean '%s'?)", near);
	return fail(cli, STATUS_USAGE, verb,
		    "unknown subcommand (hist or export)");
}

/* Rejects arguments and options that exclude each other. */
static int check(struct cli *cli, const char *verb)
{
	bool hist = verb && !strcmp(verb, "hist");
	bool export = verb && !strcmp(verb, "export");

	if (verb && !hist && !export)
		return unknown_verb(cli, verb);
	if (hist && cli->args.n > 1)
		return fail(cli, STATUS_USAGE, cli->args.arg[1],
			    "unexpected argument (see 'eadm help trace')");
	if (verb && cli->args.opt[OPT_FOLLOW])
		return fail(cli, STATUS_USAGE, "--follow", "cannot be used with %s",
			    verb);
	if (!export && cli->args.opt[OPT_FORMAT])
		return fail(cli, STATUS_USAGE, "--format",
			    "applies to export only");
	return 0;
}

/*
 * Returns the fields needed for columns, filters and sorting, to be freed, because
 * records have more than these; NULL for all fields if the bytes of commands are shown.
 * (The recorder keeps the record of the first timeout until its bytes have been read.)
 */
static const struct eadm_field **needed_fields(const struct cli *cli,
					       const struct view *view)
{
	const struct filter *filter = &view->filter;
	const struct eadm_field *const of_filter[] = {
		filter->pid_field, filter->comm_field, filter->state_field,
		filter->latency_field, filter->op_field,
	};
	/* Messages about filters that cannot be applied require these fields. */
	const struct eadm_field *const always[] = {
		eadm_object_find_field(view->object, "dev-name"),
		eadm_object_find_field(view->object, "family"),
	};
	const struct column *cols = view->table.cols;
	const struct eadm_field **fields;
	unsigned int i, n = 0;

	if (cli->json && view->table.all)
		return NULL;
	for (i = 0; i < view->table.n_cols; i++) {
		if (cols[i].type == EADM_TYPE_BYTES)
			return NULL;
	}
	fields = calloc(view->table.n_cols + ARRAY_SIZE(always) +
			ARRAY_SIZE(of_filter) + ARRAY_SIZE(view->sort.key) + 1, sizeof(*fields));
	if (!fields)
		return NULL;
	for (i = 0; i < view->table.n_cols; i++) {
		if (cli->json || !cols[i].json_only)
			fields[n++] = cols[i].field;
	}
	for (i = 0; i < ARRAY_SIZE(always); i++)
		fields[n++] = always[i];
	for (i = 0; i < ARRAY_SIZE(of_filter); i++)
		fields[n++] = of_filter[i];
	for (i = 0; i < view->sort.n; i++)
		fields[n++] = view->sort.key[i].field;
	return fields;
}

static int run(struct cli *cli)
{
	const char *verb = cli->args.n ? cli->args.arg[0] : NULL;
	const struct eadm_field **fields;
	struct view view;
	int status;

	if (cli->args.opt[OPT_COUNT] && !cli->args.opt[OPT_FOLLOW])
		return fail(cli, STATUS_USAGE, "--count",
			    "requires --follow");
	if (cli->args.opt[OPT_FOLLOW] && cli->args.opt[OPT_SORT])
		return fail(cli, STATUS_USAGE, "--sort",
			    "cannot be used with --follow");
	/* A stream of records has no messages that a capture could contain. */
	if (cli->args.opt[OPT_FOLLOW] && cli->args.opt[OPT_SAVE] &&
	    !cli->args.opt[OPT_FROM])
		return fail(cli, STATUS_USAGE, "--save",
			    "cannot be used with --follow (use 'eadm record')");
	status = check(cli, verb);
	if (status)
		return status;
	status = view_init(cli, eadm_object_find("cmd"), false, &view);
	/* Commands that are not displayed need not be read. */
	view.commands = (struct eadm_command_opts){
		.size = sizeof(view.commands), .states = view.filter.states,
		.min_latency = view.filter.min_latency,
	};
	view.opts.commands = &view.commands;
	if (!status && cli->args.opt[OPT_FOLLOW]) {
		status = open_source(cli);
		if (!status)
			status = run_follow(cli, &view.filter, &view.table);
	} else if (!status && verb && !strcmp(verb, "hist")) {
		status = trace_hist(cli, &view);
	} else if (!status && verb) {
		status = trace_export(cli, &view, cli->args.arg[1]);
	} else if (!status) {
		fields = needed_fields(cli, &view);
		view.opts.fields = fields;
		status = view_run(cli, &view);
		free(fields);
	}
	view_free(&view);
	return status;
}

const struct command cmd_trace = {
	.name = "trace",
	.usage = "[hist|export [FILE]]",
	.help = "show the flight recorder: the last commands of each adapter",
	.more = "The recorder is always on. It can be read while the command queue is\n"
		"dead, and it keeps the record of the first timeout. 'hist' prints a\n"
		"latency histogram for each kind of command; 'export' writes a trace for\n"
		"a viewer, to standard output unless FILE is given.",
	.examples = "  eadm trace\n"
		    "  eadm trace --slower-than 5ms\n"
		    "  eadm trace --state timeout,aborted\n"
		    "  eadm trace --sort latency:desc\n"
		    "  eadm trace --follow --opcode create-qp --json\n"
		    "  eadm trace hist -d cloud_0\n"
		    "  eadm --from now.pcapng trace export commands.json\n",
	.max_args = 2,
	.args = { WORDS_TRACE_VERB, WORDS_FILE },
	.options = options,
	.object = "cmd",
	.run = run,
};
