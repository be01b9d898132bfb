// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Shows what the rules find wrong in the last two snapshots of a capture.
 * Usage: verdicts CAPTURE
 */
#include <eadm.h>
#include <stdio.h>

static int look(struct eadm_diagnosis *diagnosis, struct eadm_ctx *ctx)
{
	const struct eadm_sample_opts opts = {
		.size = sizeof(opts),
		.hw = true,	/* if the capture has it */
	};
	int ret;

	/* Only the last two samples count. */
	do {
		ret = eadm_diagnosis_sample(diagnosis, ctx, &opts);
	} while (!ret && eadm_snapshot_next(ctx) > 0);
	return ret ? ret : eadm_diagnosis_evaluate(diagnosis);
}

int main(int argc, char **argv)
{
	struct eadm_verdict verdict = { .size = sizeof(verdict) };
	struct eadm_diagnosis *diagnosis = eadm_diagnosis_new();
	struct eadm_ctx *ctx = eadm_new();
	unsigned int i;
	int ret = -1;

	if (argc != 2)
		fprintf(stderr, "usage: %s CAPTURE\n", argv[0]);
	else if (!ctx || !diagnosis || eadm_open_file(ctx, argv[1]) ||
		 (ret = look(diagnosis, ctx)) < 0)
		fprintf(stderr, "%s: %s\n", argv[1],
			ctx ? eadm_errmsg(ctx) : "out of memory");
	for (i = 0; ret >= 0 && eadm_diagnosis_verdict(diagnosis, i, &verdict) > 0; i++)
		printf("%s %s: %s\n", eadm_rule_name(verdict.rule),
		       verdict.device, verdict.finding);
	eadm_diagnosis_free(diagnosis);
	eadm_free(ctx);
	return ret < 0;
}
