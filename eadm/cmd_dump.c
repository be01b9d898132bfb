// SPDX-License-Identifier: GPL-2.0-or-later
#include "table.h"

static const struct option_def options[] = {
	{ OPT_HW, 0, "hw", NULL, WORDS_NONE,
	  "ask the adapter for its own context of each object as well" },
	{ OPT_PID, 0, "pid", "PID", WORDS_ANY, "only objects of this process" },
	{ OPT_COMM, 0, "comm", "NAME", WORDS_ANY,
	  "only objects of processes of this name ('*' and '?' match)" },
	{ OPT_STATE, 0, "state", "STATES", WORDS_STATE,
	  "only objects in one of these states, separated by commas" },
	{ 0 },
};

static int run(struct cli *cli)
{
	struct eadm_dump_opts opts = { .size = sizeof(opts) };
	const struct eadm_object *object;
	struct table table = { 0 };
	struct filter filter;
	int status;

	if (!cli->args.n)
		return fail(cli, STATUS_USAGE, "OBJECT",
			    "which one? ('eadm help dump' lists them)");
	object = need_object(cli, cli->args.arg[0]);
	if (!object)
		return STATUS_USAGE;
	opts.device = cli->args.opt[OPT_DEVICE];
	opts.hw = cli->args.opt[OPT_HW] != NULL;
	if (cli->args.n > 1) {
		if (!parse_u64(cli->args.arg[1], &opts.id))
			return fail(cli, STATUS_USAGE, cli->args.arg[1],
				    "not a number");
		opts.has_id = true;
	}
	status = filter_init(cli, object, &filter);
	if (!status)
		status = columns_choose(cli, object, opts.hw, &table);
	if (!status)
		status = open_source(cli);
	if (!status) {
		catch_signals();
		status = dump_table(cli, object, &opts, &filter, &table);
		status = write_end(cli, status);
	}
	columns_free(&table);
	return status;
}

const struct command cmd_dump = {
	.name = "dump",
	.usage = "OBJECT [ID]",
	.help = "show the state of objects: queues, regions, contexts",
	.more = "A plain dump costs the adapter nothing. With --hw each row\n"
		"takes a command of the adapter and CAP_SYS_RAWIO.",
	.examples = "  eadm dump qp\n"
		    "  eadm dump qp 17 --hw\n"
		    "  eadm dump cq -d erdma_0 --comm 'ib_*'\n"
		    "  eadm dump qp --state err,sqe -o +peer-addr,state-age\n"
		    "  eadm dump mr --json | jq '[.rows[].length] | add'\n",
	.max_args = 2,
	.args = { WORDS_OBJECT, WORDS_ANY },
	.options = options,
	.run = run,
};
