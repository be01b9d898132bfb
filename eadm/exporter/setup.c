// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks and evaluates the command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exporter.h"

static int check_names(struct cli *cli, enum opt_id id, const char *option,
		       bool (*known)(const char *name), const char *why)
{
	const char *text = cli->args.opt[id];
	char *list, *name, *rest = NULL;
	int status = 0;

	if (!text)
		return 0;
	if (!text[strspn(text, ",")])
		return fail(cli, STATUS_USAGE, option, "no name");
	list = strdup(text);
	if (!list)
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	for (name = strtok_r(list, ",", &rest); name && !status;
	     name = strtok_r(NULL, ",", &rest)) {
		if (!known(name))
			status = fail(cli, STATUS_USAGE, name, "%s", why);
	}
	free(list);
	return status;
}

/* Returns true if @list, which may be NULL, has this name. */
static bool has_name(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (; list; list = strchr(list, ',')) {
		list += strspn(list, ",");
		if (!strncmp(list, name, len) && (!list[len] || list[len] == ','))
			return true;
	}
	return false;
}

/* Refuses options that would have no effect. */
static int check_mode(struct cli *cli, bool once)
{
	static const struct {
		enum opt_id id;
		const char *name;
	} server[] = {
		{ OPT_LISTEN, "--listen" },
		{ OPT_WEB_CONFIG, "--web-config" },
		{ OPT_MAX_CONNECTIONS, "--max-connections" },
		{ OPT_NO_SECCOMP, "--no-seccomp" },
	};
	const char *const *opt = cli->args.opt;
	size_t i;

	if (opt[OPT_SAVE])
		return fail(cli, STATUS_USAGE, "--save", "cannot be used with exporter");
	if (opt[OPT_JSON])
		return fail(cli, STATUS_USAGE, "--json", "cannot be used with exporter");
	if (opt[OPT_ONCE] && opt[OPT_TEXTFILE])
		return fail(cli, STATUS_USAGE, "--once", "cannot be used with --textfile");
	for (i = 0; once && i < ARRAY_SIZE(server); i++) {
		if (opt[server[i].id])
			return fail(cli, STATUS_USAGE, server[i].name, "cannot be used with %s",
				    opt[OPT_ONCE] ? "--once" : "--textfile");
	}
	return 0;
}

static int take_options(struct cli *cli, bool once, struct setup *setup)
{
	/* With --once, no client is waiting, so a busy machine can take longer. */
	uint64_t limit = once ? 10000000000 : 1000000000;
	uint64_t series = 2000, timeout = 0;
	uint64_t diagnosis = 60000000000;

	setup->max_connections = 128;
	if (!opt_u64(cli, OPT_MAX_SERIES, &series) ||
	    !opt_u64(cli, OPT_MAX_CONNECTIONS, &setup->max_connections) ||
	    !opt_duration(cli, OPT_DEVICE_TIMEOUT, 1000000000, &limit) ||
	    !opt_duration(cli, OPT_DIAGNOSE_INTERVAL, 1000000000, &diagnosis) ||
	    !opt_duration(cli, OPT_TIMEOUT, 1000000000, &timeout))
		return STATUS_USAGE;
	if (series < 10 || series > 1000000)
		return fail(cli, STATUS_USAGE, "--max-series",
			    "must be from 10 to 1000000");
	if (!setup->max_connections || setup->max_connections > 10000)
		return fail(cli, STATUS_USAGE, "--max-connections",
			    "must be from 1 to 10000");
	if (limit < 1000000 || limit > 60000000000)
		return fail(cli, STATUS_USAGE, "--device-timeout",
			    "must be from 1ms to 60s");
	if (cli->args.opt[OPT_TIMEOUT] &&
	    (timeout < 1000000 || timeout / 1000000 > 86400000))
		return fail(cli, STATUS_USAGE, "--timeout", "must be from 1ms to 24h");
	if (cli->args.opt[OPT_AT] && !cli->args.opt[OPT_FROM])
		return fail(cli, STATUS_USAGE, "--at", "requires --from");
	if (cli->args.opt[OPT_PROGRAM] && cli->args.opt[OPT_FROM])
		return fail(cli, STATUS_USAGE, "--peer", "cannot be used with --from");
	setup->scrape = (struct scrape_opts){
		.from = cli->args.opt[OPT_FROM],
		.peer = cli->args.opt[OPT_PROGRAM],
		.no_peers = cli->args.opt[OPT_NO_PEERS],
		.device = cli->args.opt[OPT_DEVICE],
		.device_limit = limit,
		.lib_timeout = timeout,
		.budget = { .series = series, .diagnosis = diagnosis },
	};
	if (check_names(cli, OPT_COLLECTORS, "--collectors", model_has_collector,
			"not a collector (dev, cmdq, eq, cmd, failure-total, counters, diagnose)"))
		return STATUS_USAGE;
	if (!diagnosis && has_name(cli->args.opt[OPT_COLLECTORS], "diagnose"))
		return fail(cli, STATUS_USAGE, "--diagnose-interval",
			    "0 cannot be used with --collectors diagnose");
	return check_names(cli, OPT_OBJECTS, "--objects", model_offers,
			   "cannot be exported as series (use qp, cq, mr and so on)");
}

/* For a server, a missing device is not an error, because it can appear later. */
static int check_device(struct cli *cli, const char *only, bool once)
{
	char why[DEVICE_WHY];
	int ret = device_find(cli, only, why, sizeof(why));

	if (ret != -ENODEV && ret != -EOPNOTSUPP)
		return 0;
	if (once)
		return fail(cli, STATUS_NOT_FOUND, only, "%s", why);
	note(cli, "%s: %s", only, why);
	return 0;
}

/* Checks whether the source can be read before there are clients. */
static int check_source(struct cli *cli, bool once, struct setup *setup)
{
	int status = 0;

	cli->ctx = eadm_new();
	if (!cli->ctx)
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	if (scrape_open(&setup->scrape, cli->ctx))
		status = fail(cli, STATUS_FAILED,
			      setup->scrape.from ? setup->scrape.from : "open", "%s",
			      eadm_errmsg(cli->ctx));
	if (!status && cli->args.opt[OPT_AT])
		status = go_to_time(cli, cli->ctx, cli->args.opt[OPT_AT],
				    &setup->scrape.snapshot);
	if (!status && setup->scrape.device)
		status = device_resolve(cli, cli->ctx);
	if (!status && setup->scrape.device)
		status = check_device(cli, setup->scrape.device, once);
	eadm_free(cli->ctx);
	cli->ctx = NULL;
	return status;
}

static bool is_stream(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return true;
	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* @once: there is only one scrape, so a missing device is an error. */
int exporter_setup(struct cli *cli, bool once, struct setup *setup)
{
	int status = check_mode(cli, once);

	if (!status)
		status = take_options(cli, once, setup);
	if (status)
		return status;
	if (setup->scrape.from && is_stream(setup->scrape.from))
		return fail(cli, STATUS_USAGE, "--from",
			    "requires a regular file, because it is opened once for each device");
	status = check_source(cli, once, setup);
	if (status)
		return status;
	if (model_make(&setup->model, cli->args.opt[OPT_COLLECTORS],
		       cli->args.opt[OPT_OBJECTS],
		       cli->args.opt[OPT_PODS] ? SUMS_PODS :
		       cli->args.opt[OPT_PROCESSES] ? SUMS_NAMES : SUMS_NONE,
		       setup->scrape.budget.diagnosis != 0,
		       once ? 0 : (1 << FORMATS) - 1))
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	return 0;
}
