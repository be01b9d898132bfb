// SPDX-License-Identifier: GPL-2.0-or-later
/* "trace export": flight records for the viewers of others. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "trace.h"

static const struct {
	const char *name;
	struct writer *(*writer)(struct cli *cli, int fd);
} formats[] = {
	{ "chrome", chrome_writer_new },
};

static int unknown_format(struct cli *cli, const char *name)
{
	struct word_list words = { 0 };
	const char *near;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		word_add(&words, formats[i].name);
	near = suggest(name, words.words);
	word_free(&words);
	if (near)
		return fail(cli, STATUS_USAGE, name,
			    "unknown format (did you mean '%s'?)", near);
	return fail(cli, STATUS_USAGE, name, "unknown format (chrome)");
}

/* @view shows the flight recorder; what it shows goes to @path. */
int trace_export(struct cli *cli, struct view *view, const char *path)
{
	const char *name = cli->args.opt[OPT_FORMAT];
	struct writer *writer = NULL;
	int fd, status;
	size_t i;

	if (cli->json)
		return fail(cli, STATUS_USAGE, "--json",
			    "the format is told by --format");
	if (cli->args.opt[OPT_OUTPUT] || cli->args.opt[OPT_SORT])
		return fail(cli, STATUS_USAGE,
			    cli->args.opt[OPT_SORT] ? "--sort" : "--output",
			    "not with export");
	for (i = 0; name && i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(formats[i].name, name))
			break;
	}
	if (i == ARRAY_SIZE(formats))
		return unknown_format(cli, name);
	status = path ? check_target(cli, path) : 0;
	if (status)
		return status;
	fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) :
		    STDOUT_FILENO;
	if (fd < 0)
		return fail(cli, errno == EACCES ? STATUS_PERMISSION :
						   STATUS_FAILED,
			    path, "%s", strerror(errno));
	writer = formats[i].writer(cli, fd);
	if (!writer)
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	cli->writer->ops->free(cli->writer);
	cli->writer = writer;
	status = view_run(cli, view);
	if (path && close(fd) && !status)
		status = fail(cli, STATUS_FAILED, path, "%s", strerror(errno));
	/* What has no records is no trace. */
	if (path && status && status != STATUS_PARTIAL)
		unlink(path);
	return status;
}
