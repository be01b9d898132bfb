// SPDX-License-Identifier: GPL-2.0-or-later
#include "view.h"

static const struct option_def options[] = {
	SORT_OPTION,
	WATCH_OPTIONS,
	{ 0 },
};

static int run(struct cli *cli)
{
	struct view view;
	int status;

	status = view_init(cli, eadm_object_find("dev"), false, &view);
	view.opts.setup = true;
	if (!status)
		status = view_run(cli, &view);
	view_free(&view);
	return status;
}

const struct command cmd_list = {
	.name = "list",
	.help = "list RDMA devices",
	.more = "Prints one line for each RDMA device of any vendor.",
	.examples = "  eadm list\n"
		    "  eadm list -o +qps,max-qp\n"
		    "  eadm list --watch\n"
		    "  eadm list --json | jq -r '.rows[].dev_name'\n",
	.options = options,
	.object = "dev",
	.run = run,
};
