// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "view.h"

/* Selects all fields of a device, which are shown one per line. */
static int choose(struct cli *cli, const struct eadm_object *object,
		  struct table *table)
{
	bool usual = !cli->args.opt[OPT_OUTPUT];
	unsigned int i;
	int status;

	if (usual)
		cli->args.opt[OPT_OUTPUT] = "all";
	status = columns_choose(cli, object, false, table);
	table->all |= usual;
	table->layout = LAYOUT_FIELDS;
	table->about = true;
	for (i = 0; i < table->n_cols; i++) {
		if (!strcmp(table->cols[i].name, "dev-name"))
			table->cols[i].heading = true;
	}
	return status;
}

static int run(struct cli *cli)
{
	struct view view = {
		.object = eadm_object_find("dev"),
		.opts = { .size = sizeof(view.opts), .limits = true, .setup = true },
	};
	int status;

	if (cli->args.n && cli->args.opt[OPT_DEVICE])
		return fail(cli, STATUS_USAGE, cli->args.arg[0],
			    "given twice: --device also names %s",
			    cli->args.opt[OPT_DEVICE]);
	if (cli->args.n)
		device_set(cli, cli->args.arg[0]);
	view.opts.device = cli->args.opt[OPT_DEVICE];
	status = choose(cli, view.object, &view.table);
	if (!status)
		status = view_run(cli, &view);
	view_free(&view);
	return status;
}

const struct command cmd_info = {
	.name = "info",
	.usage = "[DEV]",
	.help = "show all fields of a device: capabilities, limits and usage",
	.more = "Without DEV, all devices are shown in columns.",
	.examples = "  eadm info\n"
		    "  eadm info cloud_0\n"
		    "  eadm info cloud_0 -o qps,max-qp,cqs,max-cq\n",
	.max_args = 1,
	.args = { WORDS_DEVICE },
	.object = "dev",
	.run = run,
};
