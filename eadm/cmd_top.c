// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "signals.h"
#include "source.h"
#include "top/top.h"

#define BATCH_ROWS 20

static const struct option_def options[] = {
	{ OPT_INTERVAL, 'i', "interval", "TIME", WORDS_ANY,
	  "time between two refreshes (default: 1s)" },
	{ OPT_COUNT, 'n', "count", "N", WORDS_ANY, "stop after N refreshes" },
	{ OPT_BATCH, 'b', "batch", NULL, WORDS_NONE,
	  "print tables instead of drawing on the terminal" },
	{ OPT_PROCESSES, 0, "processes", NULL, WORDS_NONE,
	  "show processes instead of QPs, and their transport (RDMA or TCP)" },
	{ OPT_ROWS, 0, "rows", "N", WORDS_ANY,
	  "with --batch: number of QPs or processes (default: 20)" },
	{ OPT_SORT, 0, "sort", "ORDER", WORDS_TOP_SORT,
	  "rate, queued, last, age, qpn, state, pid, comm, peer, qps, mrs" },
	OWNER_OPTIONS,
	STATE_OPTIONS,
	{ 0 },
};

/* Rows of processes lack the fields that these options use. */
static int check_processes(struct cli *cli)
{
	static const struct {
		int option;
		const char *name;
	} qp_only[] = {
		{ OPT_NETNS, "--netns" }, { OPT_CGROUP, "--cgroup" },
		{ OPT_STATE, "--state" }, { OPT_PEER, "--peer" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(qp_only); i++) {
		if (cli->args.opt[OPT_PROCESSES] &&
		    cli->args.opt[qp_only[i].option])
			return fail(cli, STATUS_USAGE, qp_only[i].name,
				    "cannot be used with --processes");
	}
	return 0;
}

static int init(struct cli *cli, struct top *top, uint64_t *count,
		uint64_t *rows)
{
	int status;

	*count = UINT64_MAX;
	*rows = BATCH_ROWS;
	top->cli = cli;
	top->interval = 1000000000;
	top->processes = cli->args.opt[OPT_PROCESSES];
	if (!opt_duration(cli, OPT_INTERVAL, 1000000000, &top->interval) ||
	    !opt_u64(cli, OPT_COUNT, count) || !opt_u64(cli, OPT_ROWS, rows))
		return STATUS_USAGE;
	if (top->interval < 10000000 || !*count)
		return fail(cli, STATUS_USAGE,
			    *count ? "--interval" : "--count",
			    *count ? "must be at least 10ms" : "must be greater than 0");
	if (cli->args.opt[OPT_ROWS] && !cli->args.opt[OPT_BATCH] &&
	    !cli->args.opt[OPT_JSON])
		return fail(cli, STATUS_USAGE, "--rows",
			    "requires --batch");
	status = check_processes(cli);
	if (!status)
		status = top_tables(top);
	if (!status)
		status = top_sort_find(top, cli->args.opt[OPT_SORT]);
	if (!status)
		status = filter_init(cli, eadm_object_find("qp"),
				     &top->filter);
	return status;
}

static int run(struct cli *cli)
{
	struct top *top = calloc(1, sizeof(*top));
	uint64_t count, rows;
	int status;

	if (!top)
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	status = init(cli, top, &count, &rows);
	if (!status)
		status = open_source(cli);
	if (!status) {
		catch_signals();
		status = cli->args.opt[OPT_JSON] || cli->args.opt[OPT_BATCH] ?
				 top_batch(top, count, rows) :
				 top_screen(top, count);
	}
	top_free(top);
	free(top);
	return status;
}

const struct command cmd_top = {
	.name = "top",
	.help = "watch devices and the busiest QPs on the terminal",
	.more = "Shows rates, owners and command latencies; 'h' lists the keys. If there\n"
		"are many QPs or processes, they are read less often: reading QPs uses at\n"
		"most half a percent of a CPU, and reading processes five percent. A capture\n"
		"is replayed snapshot by snapshot.",
	.examples = "  eadm top\n"
		    "  eadm top --sort queued --comm 'ib_*'\n"
		    "  eadm --from night.pcapng --at 02:10 top\n"
		    "  eadm top -b -n 5 --rows 10\n"
		    "  eadm top --processes\n"
		    "  eadm top --processes --batch -n 2\n"
		    "  eadm top --json | jq -c 'select(.object == \"top-device\")'\n",
	.options = options,
	.run = run,
};
