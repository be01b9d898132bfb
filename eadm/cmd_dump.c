// SPDX-License-Identifier: GPL-2.0-or-later
#include "table.h"

static const struct option_def options[] = {
	{ OPT_HW, 0, "hw", NULL, WORDS_NONE,
	  "ask the adapter for its own context of each object as well" },
	OWNER_OPTIONS,
	STATE_OPTIONS,
	SORT_OPTION,
	WATCH_OPTIONS,
	{ 0 },
};

static int run(struct cli *cli)
{
	const struct eadm_object *object;
	bool hw = cli->args.opt[OPT_HW] != NULL;
	struct view view;
	uint64_t id;
	int status;

	if (!cli->args.n)
		return fail(cli, STATUS_USAGE, "OBJECT",
			    "which one? ('eadm help dump' lists them)");
	object = need_object(cli, cli->args.arg[0]);
	if (!object)
		return STATUS_USAGE;
	if (cli->args.n > 1 && !parse_u64(cli->args.arg[1], &id))
		return fail(cli, STATUS_USAGE, cli->args.arg[1],
			    "not a number");
	status = view_init(cli, object, hw, &view);
	if (cli->args.n > 1) {
		view.opts.has_id = true;
		view.opts.id = id;
	}
	if (!status)
		status = view_run(cli, &view);
	view_free(&view);
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
		    "  eadm dump qp --peer 10.77.1.0/24 --sort state-age:desc\n"
		    "  eadm dump qp --netns blue --watch 2s\n"
		    "  eadm dump mr --json | jq '[.rows[].length] | add'\n",
	.max_args = 2,
	.args = { WORDS_OBJECT, WORDS_ANY },
	.options = options,
	.run = run,
};
