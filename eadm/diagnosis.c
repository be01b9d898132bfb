// SPDX-License-Identifier: GPL-2.0-or-later
#include "diagnosis.h"

#include <errno.h>

#include "clock.h"
#include "view.h"

/*
 * Number of additional intervals for which a stuck object is watched before it is
 * reported.
 */
#define MORE_INTERVALS 2

static int sample(struct cli *cli, struct eadm_diagnosis *d, unsigned int groups,
		  bool more, bool extend)
{
	struct eadm_sample_opts opts = {
		.size = sizeof(opts), .device = cli->args.opt[OPT_DEVICE],
		.hw = !cli->args.opt[OPT_NO_HW], .more = more, .extend = extend,
		.groups = groups,
	};
	int ret = eadm_diagnosis_sample(d, cli->ctx, &opts);

	if (ret == -ENODEV && opts.device)
		return unknown_device(cli, opts.device);
	return ret ? fail_lib(cli, ret, "diagnosis") : 0;
}

static int evaluate(struct cli *cli, struct eadm_diagnosis *d)
{
	if (eadm_diagnosis_evaluate(d) < 0)
		return fail(cli, STATUS_FAILED, "diagnosis", "out of memory");
	return 0;
}

static int look_live(struct cli *cli, struct eadm_diagnosis *d,
		     unsigned int groups, uint64_t interval)
{
	uint64_t next;
	int status, more;

	status = sample(cli, d, groups, true, false);
	for (more = 0; !status && more <= MORE_INTERVALS; more++) {
		next = monotonic_ns();
		if (!wait_until(&next, interval))
			return fail(cli, STATUS_FAILED, "diagnosis",
				    "interrupted");
		status = sample(cli, d, groups, false, more);
		if (!status)
			status = evaluate(cli, d);
		/* On a busy machine, any object can look stuck for a while. */
		if (!status && !eadm_diagnosis_in_doubt(d))
			break;
	}
	return status;
}

/*
 * Uses the snapshot selected by --at, or else the last one, and the snapshot before it.
 */
static int look_back(struct cli *cli, struct eadm_diagnosis *d,
		     unsigned int groups)
{
	unsigned int last = eadm_snapshots(cli->ctx) - 1, left = 0;
	int status = 0;

	if (cli->args.opt[OPT_AT]) {
		while (eadm_snapshot_next(cli->ctx) > 0)
			left++;
		last -= left;
	}
	if (last) {
		eadm_snapshot_go(cli->ctx, last - 1);
		status = sample(cli, d, groups, true, false);
	}
	if (!status) {
		eadm_snapshot_go(cli->ctx, last);
		status = sample(cli, d, groups, false, false);
	}
	return status ? status : evaluate(cli, d);
}

int diagnosis_run(struct cli *cli, struct eadm_diagnosis *d, unsigned int groups,
		  uint64_t interval)
{
	return eadm_is_live(cli->ctx) ? look_live(cli, d, groups, interval) :
					look_back(cli, d, groups);
}
