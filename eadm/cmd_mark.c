// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "marks.h"
#include "signals.h"
#include "source.h"
#include "view.h"

#define DEFAULT_NAME "last"

static const struct option_def options[] = {
	{ OPT_LIST, 'l', "list", NULL, WORDS_NONE, "list the marks" },
	{ OPT_DELETE, 0, "delete", NULL, WORDS_NONE, "delete the mark" },
	{ OPT_HW, 0, "hw", NULL, WORDS_NONE,
	  "include the adapters' own contexts" },
	{ 0 },
};

/* Creates the folder and its parents. */
static bool make_folders(const char *path)
{
	char part[MARK_PATH_MAX];
	char *slash;

	snprintf(part, sizeof(part), "%s", path);
	for (slash = strchr(part + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0700) && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return true;
}

static int fail_errno(struct cli *cli, const char *what)
{
	return fail(cli, errno == EACCES || errno == EPERM ?
			      STATUS_PERMISSION : STATUS_FAILED,
		    what, "%s", strerror(errno));
}

static int make_mark(struct cli *cli, const char *name, const char *path)
{
	int ret, status = check_target(cli, path);
	struct eadm_capture *capture;

	if (status)
		return status;
	if (!make_folders(path))
		return fail_errno(cli, path);
	status = open_source(cli);
	if (status)
		return status;
	ret = eadm_capture_open(cli->ctx, path, NULL, &capture);
	if (!ret) {
		catch_signals();
		ret = eadm_capture_state(capture, cli->args.opt[OPT_HW]);
		if (interrupted && !ret)
			ret = -EINTR;
		if (!ret)
			return close_capture(cli, capture, name);
		eadm_capture_close(capture, false);
	}
	if (ret == -EINTR)
		return fail(cli, STATUS_FAILED, name, "interrupted");
	return fail_write(cli, cli->ctx, ret, name);
}

static int delete_mark(struct cli *cli, const char *name, const char *path)
{
	if (!unlink(path))
		return STATUS_OK;
	if (errno == ENOENT)
		return fail(cli, STATUS_NOT_FOUND, name, "no such mark");
	return fail_errno(cli, name);
}

/* ---- the list -------------------------------------------------------------------- */

static const struct column columns[] = {
	{ .key = "name", .head = "MARK", .kind = EADM_KIND_NAME },
	{ .key = "time", .head = "TIME", .unit = "ns", .type = EADM_TYPE_U64,
	  .kind = EADM_KIND_TIME },
	{ .key = "size", .head = "SIZE", .unit = "bytes",
	  .type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
};

static void put_mark(struct cli *cli, const char *name)
{
	char path[MARK_PATH_MAX];
	struct eadm_value values[3];
	struct stat st;

	if (!mark_path(name, path, sizeof(path)) || stat(path, &st))
		return;
	values[0] = value_string(name);
	values[1] = value_u64(st.st_mtim.tv_sec * 1000000000ULL +
			      st.st_mtim.tv_nsec);
	values[2] = value_u64(st.st_size);
	write_values(cli->writer, values);
}

static int list_marks(struct cli *cli)
{
	char folder[MARK_PATH_MAX];
	struct dirent **names;
	struct table table = { .object = "mark", .title = "marks" };
	int i, n, status;

	status = table_of(cli, &table, columns, ARRAY_SIZE(columns));
	if (status) {
		columns_free(&table);
		return status;
	}
	n = mark_folder(folder, sizeof(folder)) ?
		    scandir(folder, &names, NULL, alphasort) : 0;
	cli->writer->ops->begin(cli->writer, &table);
	for (i = 0; i < n; i++) {
		if (mark_is_name(names[i]->d_name))
			put_mark(cli, names[i]->d_name);
		free(names[i]);
	}
	if (n > 0)
		free(names);
	status = write_end(cli, STATUS_OK);
	columns_free(&table);
	return status;
}

static int run(struct cli *cli)
{
	const char *name = cli->args.n ? cli->args.arg[0] : DEFAULT_NAME;
	char path[MARK_PATH_MAX];

	if (cli->args.opt[OPT_DEVICE])
		return fail(cli, STATUS_USAGE, "--device",
			    "a mark always includes all devices");
	if (cli->args.opt[OPT_SAVE])
		return fail(cli, STATUS_USAGE, "--save",
			    "cannot be used with mark, which writes a capture");
	if (cli->args.opt[OPT_LIST]) {
		if (cli->args.n || cli->args.opt[OPT_DELETE])
			return fail(cli, STATUS_USAGE, "--list",
				    "cannot be combined with other arguments");
		return list_marks(cli);
	}
	if (!mark_is_name(name))
		return fail(cli, STATUS_USAGE, name,
			    "not a name (letters, digits, '.', '_' and '-')");
	if (!strcmp(name, "live"))
		return fail(cli, STATUS_USAGE, name,
			    "reserved for the current state of this machine");
	if (cli->args.opt[OPT_DELETE] && !cli->args.n)
		return fail(cli, STATUS_USAGE, "--delete", "missing NAME");
	if (!mark_path(name, path, sizeof(path)))
		return fail(cli, STATUS_FAILED, name,
			    "neither XDG_STATE_HOME nor HOME is set");
	if (cli->args.opt[OPT_DELETE])
		return delete_mark(cli, name, path);
	return make_mark(cli, name, path);
}

const struct command cmd_mark = {
	.name = "mark",
	.usage = "[NAME]",
	.help = "save the current state for later comparison",
	.more = "The mark is a capture of all devices, without past records such as\n"
		"the flight recorder; without NAME it is called '" DEFAULT_NAME "'.\n"
		"'stat --since' and 'diff' accept its name.",
	.examples = "  eadm mark baseline\n"
		    "  eadm stat --since baseline\n"
		    "  eadm diff baseline\n"
		    "  eadm mark --list\n"
		    "  eadm mark --delete baseline\n",
	.max_args = 1,
	.args = { WORDS_MARK },
	.options = options,
	.run = run,
};
