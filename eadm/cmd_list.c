// SPDX-License-Identifier: GPL-2.0-or-later
#include "table.h"

static int run(struct cli *cli)
{
	struct eadm_dump_opts opts = { .size = sizeof(opts) };
	const struct eadm_object *object = eadm_object_find("dev");
	struct table table = { 0 };
	int status;

	opts.device = cli->args.opt[OPT_DEVICE];
	status = columns_choose(cli, object, false, &table);
	if (!status)
		status = open_source(cli);
	if (!status) {
		status = dump_table(cli, object, &opts, NULL, &table);
		status = write_end(cli, status);
	}
	columns_free(&table);
	return status;
}

const struct command cmd_list = {
	.name = "list",
	.help = "list RDMA devices",
	.more = "One line for each RDMA device of any vendor.",
	.examples = "  eadm list\n"
		    "  eadm list -o +qps,max-qp\n"
		    "  eadm list --json | jq -r '.rows[].dev_name'\n",
	.object = "dev",
	.run = run,
};
