// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "clock.h"
#include "signals.h"
#include "source.h"
#include "view.h"

static const struct option_def options[] = {
	{ OPT_OUTPUT, 'o', "output", "FILE", WORDS_FILE,
	  "same as the argument FILE" },
	{ OPT_HW, 0, "hw", NULL, WORDS_NONE,
	  "include the adapters' own contexts" },
	{ OPT_RINGS, 0, "rings", NULL, WORDS_NONE,
	  "include the entries of all queues, contexts and registers" },
	{ OPT_COUNT, 'n', "count", "N", WORDS_ANY,
	  "number of snapshots (default: 1; with --interval: no limit)" },
	{ OPT_INTERVAL, 'i', "interval", "TIME", WORDS_ANY,
	  "time between two snapshots (default: 1s)" },
	{ OPT_MAX_SIZE, 0, "max-size", "SIZE", WORDS_ANY,
	  "keep only the newest snapshots, up to SIZE (bytes, K, M or G)" },
	{ 0 },
};

static int record_snapshots(struct cli *cli, struct eadm_capture *capture,
			    uint64_t count, uint64_t interval,
			    unsigned long long *snapshots)
{
	bool hw = cli->args.opt[OPT_HW] != NULL;
	uint64_t next;
	int ret;

	next = monotonic_ns();
	for (;;) {
		ret = eadm_capture_all(capture, hw);
		if (!ret && cli->args.opt[OPT_RINGS])
			ret = eadm_capture_rings(capture, 0);
		if (ret || !--count || interrupted)
			return ret;
		progress(cli, "snapshots", ++*snapshots);
		if (!wait_until(&next, interval))
			return 0;
	}
}

static int run(struct cli *cli)
{
	uint64_t count = 1, interval = 1000000000, limit = 0;
	unsigned long long snapshots = 0;
	struct eadm_capture *capture;
	const char *path;
	int ret, status;

	path = cli->args.opt[OPT_OUTPUT];
	if (cli->args.n && path)
		return fail(cli, STATUS_USAGE, cli->args.arg[0],
			    "given twice: --output also names %s", path);
	if (cli->args.n)
		path = cli->args.arg[0];
	if (!path)
		return fail(cli, STATUS_USAGE, "FILE",
			    "missing ('-': standard output)");
	if (cli->args.opt[OPT_DEVICE])
		return fail(cli, STATUS_USAGE, "--device",
			    "a capture always includes all devices");
	if (cli->args.opt[OPT_SAVE])
		return fail(cli, STATUS_USAGE, "--save",
			    "cannot be used with record, which writes a capture");
	if (cli->args.opt[OPT_JSON] && !strcmp(path, "-"))
		return fail(cli, STATUS_USAGE, "--json",
			    "standard output is used for the capture");
	if (!opt_u64(cli, OPT_COUNT, &count) ||
	    !opt_duration(cli, OPT_INTERVAL, 1000000000, &interval) ||
	    !opt_size(cli, OPT_MAX_SIZE, &limit))
		return STATUS_USAGE;
	/* With an interval or a size limit but no count, record indefinitely. */
	if (!cli->args.opt[OPT_COUNT] &&
	    (cli->args.opt[OPT_INTERVAL] || limit))
		count = UINT64_MAX;
	if (!count || !interval)
		return fail(cli, STATUS_USAGE,
			    count ? "--interval" : "--count", "must be greater than 0");
	status = check_target(cli, path);
	if (!status)
		status = open_source(cli);
	if (status)
		return status;
	ret = eadm_capture_open(cli->ctx, path, NULL, &capture);
	if (ret)
		return fail_write(cli, cli->ctx, ret, path);
	if (limit && eadm_capture_limit(capture, limit)) {
		status = fail(cli, STATUS_USAGE, "--max-size", "%s",
			      eadm_errmsg(cli->ctx));
		eadm_capture_close(capture, false);
		return status;
	}
	catch_signals();
	ret = record_snapshots(cli, capture, count, interval, &snapshots);
	progress_end(cli);
	if (!ret)
		return close_capture(cli, capture, path);
	/* This sets the message if writing failed. */
	eadm_capture_close(capture, snapshots);
	return fail_write(cli, cli->ctx, ret, path);
}

const struct command cmd_record = {
	.name = "record",
	.usage = "FILE",
	.help = "write the state of all devices to a capture",
	.more = "Every command can read a capture with --from FILE, as can Wireshark.\n"
		"--hw and --rings require CAP_SYS_RAWIO; without it, all other data is\n"
		"recorded and the exit status is 6. --rings omits inline payload. The\n"
		"file appears when the recording is complete; an interrupt completes it,\n"
		"as does a hangup. If writing fails, complete snapshots are kept.",
	.examples = "  eadm record now.pcapng\n"
		    "  eadm --from now.pcapng dump qp\n"
		    "  eadm record --hw --rings all.pcapng\n"
		    "  eadm record -n 60 -i 1s minute.pcapng\n"
		    "  eadm record -i 1s --max-size 100M night.pcapng\n"
		    "  ssh HOST eadm record - | eadm --from - list\n",
	.max_args = 1,
	.args = { WORDS_FILE },
	.options = options,
	.run = run,
};
