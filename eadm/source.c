// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The source of a command, which is this machine or a capture, and captures made from
 * it.
 */
#include "source.h"

#include <errno.h>
#include <string.h>

static void log_line(void *data, enum eadm_log_level level, const char *line)
{
	struct cli *cli = data;

	(void)level;
	note(cli, "%s", line);
}

/* Records everything that the command reads, for later use. */
static int save_source(struct cli *cli)
{
	const char *path = cli->args.opt[OPT_SAVE];
	int ret;

	if (!path)
		return 0;
	if (!strcmp(path, "-"))
		return fail(cli, STATUS_USAGE, "--save",
			    "standard output is already used for the output");
	ret = check_target(cli, path);
	if (ret)
		return ret;
	ret = eadm_capture_open(cli->ctx, path, NULL, &cli->save);
	if (ret)
		return fail(cli, ret == -EACCES || ret == -EPERM ?
				      STATUS_PERMISSION : STATUS_FAILED,
			    "--save", "%s: %s", path, eadm_errmsg(cli->ctx));
	return 0;
}

/*
 * The capture is kept even if the command failed, because errors are worth recording,
 * too.
 */
int close_save(struct cli *cli, int status)
{
	int ret;

	if (!cli->save)
		return status;
	ret = eadm_capture_close(cli->save, true);
	cli->save = NULL;
	if (!ret)
		return status;
	if (ret != -EPIPE)
		note(cli, "%s: %s", cli->args.opt[OPT_SAVE],
		     eadm_errmsg(cli->ctx));
	return status && status != STATUS_PARTIAL ? status : STATUS_FAILED;
}

static int open_file(struct cli *cli, const char *from)
{
	return cli->opened ? eadm_open_shared(cli->ctx, cli->opened) :
			     eadm_open_file(cli->ctx, from);
}

/* What applies to every source: messages, the timeout, userspace adapters. */
int set_up_source(struct cli *cli, struct eadm_ctx *ctx)
{
	uint64_t ns;

	if (cli->args.opt[OPT_VERBOSE])
		eadm_set_log(ctx, EADM_LOG_DEBUG, log_line, cli);
	if (cli->args.opt[OPT_TIMEOUT]) {
		if (!opt_duration(cli, OPT_TIMEOUT, 1000000000, &ns))
			return STATUS_USAGE;
		if (ns < 1000000 || ns / 1000000 > 86400000)
			return fail(cli, STATUS_USAGE, "--timeout",
				    "must be from 1ms to 24h");
		eadm_set_timeout(ctx, ns / 1000000);
	}
	eadm_set_peers(ctx, !cli->args.opt[OPT_NO_PEERS]);
	return 0;
}

/* Opens this machine, or the program of --peer. */
int open_running(struct cli *cli, struct eadm_ctx *ctx)
{
	const char *peer = cli->args.opt[OPT_PROGRAM];
	int ret = peer ? eadm_open_peer(ctx, peer) : eadm_open_live(ctx);

	if (!ret)
		return 0;
	return fail(cli, peer || ret == -EACCES || ret == -EPERM ?
			      status_of(ret) : STATUS_FAILED,
		    peer ? "--peer" : "open", "%s", eadm_errmsg(ctx));
}

static int open_from(struct cli *cli, const char *from)
{
	int ret = open_file(cli, from);

	if (!ret && cli->args.opt[OPT_AT])
		ret = go_to_time(cli, cli->ctx, cli->args.opt[OPT_AT],
				 &cli->snapshot);
	if (ret >= 0)
		return ret;
	return fail(cli, ret == -EACCES || ret == -EPERM ?
			      STATUS_PERMISSION : STATUS_FAILED,
		    from, "%s", eadm_errmsg(cli->ctx));
}

int open_source(struct cli *cli)
{
	const char *from = cli->args.opt[OPT_FROM];
	int status;

	cli->ctx = eadm_new();
	if (!cli->ctx)
		return fail(cli, STATUS_FAILED, "start", "%s", strerror(errno));
	status = set_up_source(cli, cli->ctx);
	if (status)
		return status;
	if (cli->args.opt[OPT_AT] && !from)
		return fail(cli, STATUS_USAGE, "--at", "requires --from");
	if (from && cli->args.opt[OPT_PROGRAM])
		return fail(cli, STATUS_USAGE, "--peer", "cannot be used with --from");
	status = from ? open_from(cli, from) : open_running(cli, cli->ctx);
	if (!status)
		status = save_source(cli);
	return status ? status : device_resolve(cli, cli->ctx);
}

int need_connections(struct cli *cli)
{
	const struct eadm_object *object = eadm_object_find("dev");
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = cli->args.opt[OPT_DEVICE],
	};
	const struct eadm_family *family = NULL;
	const struct eadm_record *record;
	struct eadm_dump *dump;
	int ret;

	if (!opts.device)
		return STATUS_OK;
	ret = eadm_dump_open(cli->ctx, object, &opts, &dump);
	if (ret)
		return fail_lib(cli, ret, opts.device);
	if (eadm_dump_next(dump, &record) > 0)
		family = eadm_family_find(eadm_record_string(record,
			eadm_object_find_field(object, "driver")));
	eadm_dump_close(dump);
	if (!family || eadm_family_has_cm(family))
		return STATUS_OK;
	return fail(cli, STATUS_UNSUPPORTED, opts.device,
		    "rdma_cm does not support %s adapters",
		    eadm_family_name(family));
}

/* Finishes a complete capture, and reports requested data that is missing from it. */
int close_capture(struct cli *cli, struct eadm_capture *capture,
		  const char *path)
{
	struct eadm_note n = { .size = sizeof(n) };
	int ret, status = STATUS_OK;
	unsigned int i;

	for (i = 0; eadm_capture_note(capture, i, &n) > 0; i++) {
		note(cli, "%s%s%s: %s", n.device, *n.device ? ": " : "",
		     n.what, n.why);
		status = STATUS_PARTIAL;
	}
	ret = eadm_capture_close(capture, true);
	return ret ? fail_write(cli, cli->ctx, ret, path) : status;
}
