// SPDX-License-Identifier: GPL-2.0-or-later
#include "marks.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "source.h"

bool mark_is_name(const char *name)
{
	const char *p;

	if (!*name || *name == '.' || *name == '-' || strlen(name) > 64)
		return false;
	for (p = name; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return false;
	}
	return true;
}

/* Stores the path of the user's folder of marks. Returns false if there is none. */
bool mark_folder(char *path, size_t size)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int len;

	if (state && *state == '/')
		len = snprintf(path, size, "%s/eadm/marks", state);
	else if (home && *home == '/')
		len = snprintf(path, size, "%s/.local/state/eadm/marks", home);
	else
		return false;
	return len < (int)size;
}

bool mark_path(const char *name, char *path, size_t size)
{
	char folder[MARK_PATH_MAX];

	return mark_is_name(name) && mark_folder(folder, sizeof(folder)) &&
	       snprintf(path, size, "%s/%s", folder, name) < (int)size;
}

/* Marks are given by name, captures by path. */
static int open_capture(struct cli *cli, struct eadm_ctx *ctx,
			const char *name)
{
	char path[MARK_PATH_MAX];

	if (mark_path(name, path, sizeof(path)) && !access(path, F_OK))
		name = path;
	else if (!strchr(name, '/') && access(name, F_OK))
		return fail(cli, STATUS_NOT_FOUND, name,
			    "no such mark or file (see 'eadm mark --list')");
	if (eadm_open_file(ctx, name))
		return fail(cli, STATUS_FAILED, name, "%s", eadm_errmsg(ctx));
	return 0;
}

/* @spec is @name, or @name, '@' and @time. */
static int open_named(struct cli *cli, struct eadm_ctx *ctx, const char *spec,
		      const char *name, const char *time)
{
	const char *from = cli->args.opt[OPT_FROM];
	unsigned int snapshot;
	int status = set_up_source(cli, ctx);

	if (status)
		return status;
	if (!strcmp(name, "live"))
		return time ? fail(cli, STATUS_USAGE, spec, "'live' has no snapshots") :
			      open_running(cli, ctx);
	if (!*name && !from)
		return fail(cli, STATUS_USAGE, spec,
			    "'@TIME' requires a capture (use --from FILE)");
	status = open_capture(cli, ctx, *name ? name : from);
	return status || !time ? status : go_to_time(cli, ctx, time, &snapshot);
}

/*
 * Open the source @spec: a mark, a capture or "live", optionally followed by "@" and
 * the time of a snapshot. "@TIME" alone selects a snapshot of the capture of --from.
 */
int open_snapshot(struct cli *cli, const char *spec, struct eadm_ctx **result)
{
	/* The path of a capture may contain '@', too. */
	const char *at = access(spec, F_OK) ? strrchr(spec, '@') : NULL;
	struct eadm_ctx *ctx = eadm_new();
	int status;
	char *name;

	name = at ? strndup(spec, at - spec) : strdup(spec);
	if (!ctx || !name) {
		free(name);
		eadm_free(ctx);
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	}
	status = open_named(cli, ctx, spec, name, at ? at + 1 : NULL);
	free(name);
	if (!status)
		status = device_resolve(cli, ctx);
	if (status)
		eadm_free(ctx);
	else
		*result = ctx;
	return status;
}
