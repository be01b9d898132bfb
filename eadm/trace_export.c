// SPDX-License-Identifier: GPL-2.0-or-later
/* "trace export": flight records for other viewers. */
#include <errno.h>
#include <string.h>

#include "signals.h"
#include "source.h"
#include "trace.h"

static const struct {
	const char *name;
	struct writer *(*writer)(struct cli *cli, int fd,
				 const struct origin *origin);
} formats[] = {
	{ "chrome", chrome_writer_new },
};

static int unknown_format(struct cli *cli, const char *name)
{
	struct word_list words = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		word_add(&words, formats[i].name);
	return unknown_word(cli, name, "unknown format", &words, NULL);
}

/* @view is set up to show the flight recorder; its rows go to @path. */
int trace_export(struct cli *cli, struct view *view, const char *path)
{
	const char *name = cli->args.opt[OPT_FORMAT];
	struct eadm_output *out;
	struct origin origin;
	struct writer *writer;
	int ret, status;
	size_t i;

	if (cli->args.opt[OPT_JSON])
		return fail(cli, STATUS_USAGE, "--json",
			    "use --format to choose the format");
	if (cli->args.opt[OPT_OUTPUT] || cli->args.opt[OPT_SORT])
		return fail(cli, STATUS_USAGE,
			    cli->args.opt[OPT_SORT] ? "--sort" : "--output",
			    "cannot be used with export");
	for (i = 0; name && i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(formats[i].name, name))
			break;
	}
	if (i == ARRAY_SIZE(formats))
		return unknown_format(cli, name);
	status = path ? check_target(cli, path) : 0;
	if (!status)
		status = open_source(cli);
	if (status)
		return status;
	ret = eadm_output_open(cli->ctx, path ? path : "-", &out);
	if (ret)
		return fail_write(cli, cli->ctx, ret, path ? path : "-");
	machine_text(cli->ctx, "host", origin.host, sizeof(origin.host));
	machine_text(cli->ctx, "kernel", origin.kernel, sizeof(origin.kernel));
	writer = formats[i].writer(cli, eadm_output_fd(out), &origin);
	if (writer) {
		cli->writer->ops->free(cli->writer);
		cli->writer = writer;
		writer->target = path;
		catch_signals();
		status = write_end(cli, view_show(cli, view));
	} else {
		status = fail(cli, STATUS_FAILED, "start", "out of memory");
	}
	/* Without records, the file is discarded. */
	ret = eadm_output_close(out, !status || status == STATUS_PARTIAL);
	if (ret)
		status = fail_write(cli, cli->ctx, ret, path ? path : "-");
	return status;
}
