// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The server is a separate program, because the libraries of a web server would slow
 * down the start of every other command. This file handles the command line and the
 * modes that need no server.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exporter/exporter.h"

#define PROGRAM "eadm-exporter"

/* In a build folder, the program is in a subfolder. */
static void run_beside(char **argv)
{
	static const char below[] = "exporter/" PROGRAM;
	char path[PATH_MAX + sizeof(below)], *slash;
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);

	if (len <= 0)
		return;
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return;
	strcpy(slash + 1, below);
	execv(path, argv);
}

static int run(struct cli *cli)
{
	if (cli->args.opt[OPT_ONCE] || cli->args.opt[OPT_TEXTFILE])
		return exporter_once(cli);
	run_beside(cli->argv);
	execv(EADM_LIBEXECDIR "/" PROGRAM, cli->argv);
	if (errno == ENOENT)
		return fail(cli, STATUS_UNSUPPORTED, EADM_LIBEXECDIR "/" PROGRAM,
			    "not installed (package eadm-exporter)");
	return fail(cli, STATUS_FAILED, EADM_LIBEXECDIR "/" PROGRAM, "%s", strerror(errno));
}

const struct command cmd_exporter = {
	.name = "exporter",
	.help = exporter_help,
	.more = exporter_more,
	.examples = exporter_examples,
	.options = exporter_options,
	.run = run,
};
