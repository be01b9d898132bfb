// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "grow.h"
#include "source.h"
#include "view.h"

static const struct column columns[] = {
	{ .key = "result", .head = "RESULT",
	  .kind = EADM_KIND_STATE, .heading = true },
	{ .key = "check", .head = "CHECK", .heading = true },
	{ .name = "device", .key = "dev_name", .head = "DEVICE",
	  .heading = true },
	{ .key = "finding", .head = "FINDING" },
	{ .key = "remedy", .head = "REMEDY" },
};

static const struct option_def options[] = {
	{ OPT_STRICT, 0, "strict", NULL, WORDS_NONE,
	  "treat notes as warnings and unseen state as a partial failure" },
	{ 0 },
};

/* In a strict check, a notice also counts as a failed check. */
static const char *result_of(const struct cli *cli, enum eadm_severity severity)
{
	switch (severity) {
	case EADM_SEVERITY_OK:
		return "ok";
	case EADM_SEVERITY_UNSEEN:
		return "unseen";
	case EADM_SEVERITY_NOTICE:
		return cli->args.opt[OPT_STRICT] ? "warn" : "note";
	case EADM_SEVERITY_WARNING:
		return "warn";
	default:
		return "fail";
	}
}

static int exit_status(const struct cli *cli, enum eadm_severity severity)
{
	switch (severity) {
	case EADM_SEVERITY_OK:
		return STATUS_OK;
	case EADM_SEVERITY_UNSEEN:
		return cli->args.opt[OPT_STRICT] ? STATUS_PARTIAL : STATUS_OK;
	case EADM_SEVERITY_NOTICE:
		return cli->args.opt[OPT_STRICT] ? STATUS_WARNING : STATUS_OK;
	case EADM_SEVERITY_WARNING:
		return STATUS_WARNING;
	default:
		return STATUS_CRITICAL;
	}
}

static void put(struct cli *cli, const struct eadm_verdict *v)
{
	const struct eadm_value values[] = {
		value_text(result_of(cli, v->severity)),
		value_text(eadm_rule_check_name(v->rule)), value_text(v->device),
		value_text(v->finding), value_text(v->next),
	};

	write_values(cli->writer, values);
}

/*
 * Returns all verdicts, the most severe first; NULL if out of memory. The caller frees
 * them.
 */
static struct eadm_verdict *all_verdicts(const struct eadm_diagnosis *d,
					 unsigned int *n)
{
	struct eadm_verdict *all = NULL;
	unsigned int max = 0;

	for (*n = 0; grow(all, *n, max); (*n)++) {
		all[*n].size = sizeof(*all);
		if (eadm_diagnosis_verdict(d, *n, &all[*n]) <= 0)
			return all;
	}
	free(all);
	return NULL;
}

/* Returns true if the rule has an earlier finding about the same device. */
static bool is_repeated(const struct eadm_verdict *verdicts, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (verdicts[i].rule == verdicts[n].rule &&
		    !strcmp(verdicts[i].device, verdicts[n].device))
			return true;
	}
	return false;
}

/* Maximum number of devices that each get a line for a passed check. */
#define FEW_DEVICES 2

/*
 * Shows one line for all devices that passed a check: on a host with many devices, a
 * line for each of them would fill the screen. Returns false if the check must be shown
 * device by device.
 */
static bool put_devices(struct cli *cli, const struct eadm_verdict *verdicts,
			unsigned int n, const struct eadm_rule *rule)
{
	const char *finding = NULL, *same = "";
	unsigned int i, good = 0, all = 0;
	char text[400], of[16] = "";

	for (i = 0; i < n && !cli->json && !cli->args.opt[OPT_VERBOSE]; i++) {
		if (verdicts[i].rule != rule)
			continue;
		if (!*verdicts[i].device)
			return false;
		all += !is_repeated(verdicts, i);
		if (verdicts[i].severity != EADM_SEVERITY_OK)
			continue;
		same = !finding || (same && !strcmp(same, verdicts[i].finding)) ?
			       verdicts[i].finding : NULL;
		finding = verdicts[i].finding;
		good++;
	}
	if (good <= FEW_DEVICES)
		return false;
	if (good < all)
		snprintf(of, sizeof(of), " of %u", all);
	snprintf(text, sizeof(text), "%u%s %s%s%s", good, of,
		 plural(all, "device", "devices"), same ? ": " : "",
		 same ? same : "");
	put(cli, &(struct eadm_verdict){
		.severity = EADM_SEVERITY_OK, .rule = rule, .device = "",
		.finding = text, .next = "",
	});
	return true;
}

/* Show all verdicts with the given result, rule by rule. */
static void show_result(struct cli *cli, const struct eadm_verdict *verdicts,
			unsigned int n, const char *result)
{
	const struct eadm_rule *rule = NULL;
	bool ok = !strcmp(result, "ok");
	unsigned int i;

	while ((rule = eadm_rule_next(rule))) {
		if (ok && put_devices(cli, verdicts, n, rule))
			continue;
		for (i = 0; i < n; i++) {
			if (verdicts[i].rule == rule &&
			    !strcmp(result_of(cli, verdicts[i].severity), result))
				put(cli, &verdicts[i]);
		}
	}
}

/* Failures come first. */
static int show(struct cli *cli, const struct eadm_diagnosis *d,
		struct table *table)
{
	static const char *const results[] = { "fail", "warn", "unseen", "note",
					       "ok" };
	struct eadm_note note = { .size = sizeof(note) };
	struct eadm_verdict *verdicts;
	int status = STATUS_OK, one;
	unsigned int i, n;

	verdicts = all_verdicts(d, &n);
	if (!verdicts)
		return fail(cli, STATUS_FAILED, "check", "out of memory");
	cli->writer->ops->begin(cli->writer, table);
	for (i = 0; i < ARRAY_SIZE(results); i++)
		show_result(cli, verdicts, n, results[i]);
	for (i = 0; i < n; i++) {
		one = exit_status(cli, verdicts[i].severity);
		status = one > status ? one : status;
	}
	free(verdicts);
	for (i = 0; eadm_diagnosis_note(d, i, &note) > 0; i++) {
		/* Data missing from a capture is not a new failure. */
		if (!status && note.error != -ENODATA)
			status = STATUS_PARTIAL;
		cli->writer->ops->note(cli->writer, &note);
	}
	return status;
}

static int judge(struct cli *cli, struct eadm_diagnosis *d)
{
	struct eadm_sample_opts opts = {
		.size = sizeof(opts), .device = cli->args.opt[OPT_DEVICE],
		.groups = EADM_GROUP_SETUP,
	};
	int ret = eadm_diagnosis_sample(d, cli->ctx, &opts);

	if (ret == -ENODEV && opts.device)
		return unknown_device(cli, opts.device);
	if (ret)
		return fail_lib(cli, ret, "devices");
	if (eadm_diagnosis_evaluate(d) < 0)
		return fail(cli, STATUS_FAILED, "check", "out of memory");
	return 0;
}

static int run(struct cli *cli)
{
	struct table table = { .object = "check", .layout = LAYOUT_BLOCKS };
	struct eadm_diagnosis *d;
	int status;

	status = open_source(cli);
	if (status)
		return status;
	d = eadm_diagnosis_new();
	if (!d)
		return fail(cli, STATUS_FAILED, "check", "out of memory");
	status = table_of(cli, &table, columns, ARRAY_SIZE(columns));
	if (!status)
		status = judge(cli, d);
	if (!status) {
		status = show(cli, d, &table);
		status = write_end(cli, status);
	}
	columns_free(&table);
	eadm_diagnosis_free(d);
	return status;
}

const struct command cmd_check = {
	.name = "check",
	.help = "audit the configuration: drivers, interfaces, limits, interrupts",
	.more = "Shows the result of each check and, unless it is ok, a remedy; failures\n"
		"are listed first. If more than two devices pass a check, they share one\n"
		"line; -v shows each of them. A note is information, not a fault. In a\n"
		"capture, only the recorded data is checked. Each check is a setup rule\n"
		"of 'eadm diagnose'.\n"
		"The exit status is 0 if there are no warnings (notes and unseen state do\n"
		"not count), 6 if reading failed, 7 if there are warnings, and 8 if a\n"
		"check failed.",
	.examples = "  eadm check\n"
		    "  eadm check -d cloud_0\n"
		    "  eadm check --json | jq '.rows[] | select(.result != \"ok\")'\n"
		    "  eadm --from case.tar.zst check\n",
	.options = options,
	.run = run,
};
