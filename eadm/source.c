// SPDX-License-Identifier: GPL-2.0-or-later
/* What a command reads: this machine or a capture; and what is kept of it. */
#include "source.h"

#include <errno.h>
#include <string.h>

static void log_line(void *data, const char *line)
{
	struct cli *cli = data;

	note(cli, "%s", line);
}

/* What the command reads is kept for others to look at. */
static int save_source(struct cli *cli)
{
	const char *path = cli->args.opt[OPT_SAVE];
	int ret;

	if (!path)
		return 0;
	if (!strcmp(path, "-"))
		return fail(cli, STATUS_USAGE, "--save",
			    "standard output is used for the rows");
	ret = check_target(cli, path);
	if (ret)
		return ret;
	ret = eadm_capture_open(cli->ctx, path);
	if (ret)
		return fail(cli, ret == -EACCES || ret == -EPERM ?
				      STATUS_PERMISSION : STATUS_FAILED,
			    "--save", "%s: %s", path, eadm_errmsg(cli->ctx));
	cli->saving = true;
	return 0;
}

/* Something was read, and an error is worth keeping, too. */
int close_save(struct cli *cli, int status)
{
	int ret;

	if (!cli->saving)
		return status;
	ret = eadm_capture_close(cli->ctx, true);
	if (!ret)
		return status;
	if (ret != -EPIPE)
		note(cli, "%s: %s", cli->args.opt[OPT_SAVE],
		     eadm_errmsg(cli->ctx));
	return status ? status : STATUS_FAILED;
}

int open_source(struct cli *cli)
{
	const char *from = cli->args.opt[OPT_FROM];
	uint64_t ns;
	int ret;

	cli->ctx = eadm_new();
	if (!cli->ctx)
		return fail(cli, STATUS_FAILED, "start", "%s", strerror(errno));
	if (cli->args.opt[OPT_VERBOSE])
		eadm_set_log(cli->ctx, log_line, cli);
	if (cli->args.opt[OPT_TIMEOUT]) {
		if (!opt_duration(cli, OPT_TIMEOUT, 1000000000, &ns))
			return STATUS_USAGE;
		if (ns < 1000000 || ns / 1000000 > 86400000)
			return fail(cli, STATUS_USAGE, "--timeout",
				    "from 1ms to 24h");
		eadm_set_timeout(cli->ctx, ns / 1000000);
	}
	if (cli->args.opt[OPT_AT] && !from)
		return fail(cli, STATUS_USAGE, "--at", "requires --from");
	ret = from ? eadm_open_file(cli->ctx, from) : eadm_open_live(cli->ctx);
	if (!ret && cli->args.opt[OPT_AT])
		ret = go_to_time(cli, cli->ctx, cli->args.opt[OPT_AT],
				 &cli->snapshot);
	if (ret > 0)
		return ret;
	if (!ret)
		return save_source(cli);
	if (ret == -EACCES || ret == -EPERM)
		return fail_lib(cli, ret, from ? from : "open");
	return fail(cli, STATUS_FAILED, from ? from : "open", "%s",
		    eadm_errmsg(cli->ctx));
}

/* A capture that is complete; what was asked for and is not in it is told. */
int close_capture(struct cli *cli, const char *path)
{
	struct eadm_note n = { .size = sizeof(n) };
	int ret, status = STATUS_OK;
	unsigned int i;

	for (i = 0; eadm_capture_note(cli->ctx, i, &n) > 0; i++) {
		note(cli, "%s%s%s: %s", n.device, *n.device ? ": " : "",
		     n.what, n.why);
		status = STATUS_PARTIAL;
	}
	ret = eadm_capture_close(cli->ctx, true);
	return ret ? fail_write(cli, cli->ctx, ret, path) : status;
}
