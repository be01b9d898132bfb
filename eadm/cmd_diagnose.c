// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis.h"
#include "signals.h"
#include "source.h"
#include "view.h"

static const struct option_def options[] = {
	{ OPT_INTERVAL, 'i', "interval", "TIME", WORDS_ANY,
	  "time between the two samples (default: 1s)" },
	{ OPT_NO_HW, 0, "no-hw", NULL, WORDS_NONE,
	  "do not query the adapter's own context for each object" },
	{ OPT_RULES, 0, "rules", NULL, WORDS_NONE,
	  "list all rules" },
	{ OPT_STRICT, 0, "strict", NULL, WORDS_NONE,
	  "treat notices as warnings and unapplied rules as a partial failure" },
	{ 0 },
};

/* ---- columns ------------------------------------------------------------------ */

static const struct column verdict_columns[] = {
	{ .key = "severity", .head = "SEVERITY",
	  .kind = EADM_KIND_STATE, .heading = true },
	{ .key = "rule", .head = "RULE", .heading = true },
	{ .name = "device", .key = "dev_name", .head = "DEVICE",
	  .heading = true },
	{ .key = "object", .head = "OBJECT", .heading = true },
	{ .key = "id", .head = "ID", .type = EADM_TYPE_U64,
	  .kind = EADM_KIND_ID, .heading = true },
	{ .key = "pid", .head = "PID", .type = EADM_TYPE_U64,
	  .kind = EADM_KIND_ID },
	{ .key = "comm", .head = "COMM" },
	{ .key = "finding", .head = "FINDING" },
	{ .key = "evidence", .head = "EVIDENCE" },
	{ .key = "affects", .head = "AFFECTS" },
	{ .key = "cause", .head = "CAUSE" },
	{ .key = "next", .head = "NEXT" },
};

static const struct column rule_columns[] = {
	{ .key = "rule", .head = "RULE" },
	{ .key = "severity", .head = "SEVERITY",
	  .kind = EADM_KIND_STATE },
	{ .key = "object", .head = "OBJECT" },
	{ .key = "snapshots", .head = "SNAPSHOTS",
	  .type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	{ .key = "check", .head = "CHECK" },
	{ .key = "about", .head = "ABOUT", .cut = true },
	{ .key = "alike", .head = "ALIKE",
	  .json_only = true },
};

static struct eadm_value number_if(bool there, uint64_t u64)
{
	return there ? value_u64(u64) : value_string(NULL);
}

/* ---- rules --------------------------------------------------------------------- */

static int show_rules(struct cli *cli)
{
	struct table table = { .object = "rule" };
	struct eadm_value v[ARRAY_SIZE(rule_columns)];
	const struct eadm_rule *rule = NULL;
	int status;

	status = table_of(cli, &table, rule_columns,
			  ARRAY_SIZE(rule_columns));
	if (!status) {
		cli->writer->ops->begin(cli->writer, &table);
		while ((rule = eadm_rule_next(rule))) {
			v[0] = value_text(eadm_rule_name(rule));
			v[1] = value_text(eadm_severity_name(
				eadm_rule_severity(rule)));
			v[2] = value_text(eadm_object_name(
				eadm_rule_object(rule)));
			v[3] = value_u64(eadm_rule_needs_two_snapshots(rule) ? 2 : 1);
			v[4] = value_text(eadm_rule_check_name(rule));
			v[5] = value_text(eadm_rule_help(rule));
			v[6] = value_text(eadm_rule_alike(rule));
			write_values(cli->writer, v);
		}
		status = write_end(cli, status);
	}
	columns_free(&table);
	return status;
}

/* ---- verdicts -------------------------------------------------------------------- */

/* Returns the evidence for a verdict; the caller frees it. */
static struct eadm_value evidence(const struct eadm_diagnosis *d,
				  unsigned int verdict)
{
	struct eadm_evidence one = { .size = sizeof(one) }, *all = NULL;
	unsigned int i, n = 0;

	while (eadm_diagnosis_evidence(d, verdict, n, &one) > 0)
		n++;
	if (n)
		all = calloc(n, sizeof(*all));
	for (i = 0; all && i < n; i++) {
		all[i].size = sizeof(*all);
		eadm_diagnosis_evidence(d, verdict, i, &all[i]);
	}
	return value_of(VALUE_EVIDENCE, all, all ? n : 0);
}

/*
 * Returns other objects affected by the cause of a verdict; the caller frees the list.
 */
static struct eadm_value affected(const struct eadm_diagnosis *d,
				  unsigned int verdict)
{
	struct eadm_consequence one = { .size = sizeof(one) }, *all = NULL;
	unsigned int i, n = 0;

	while (eadm_diagnosis_consequence(d, verdict, n, &one) > 0)
		n++;
	if (n)
		all = calloc(n, sizeof(*all));
	for (i = 0; all && i < n; i++) {
		all[i].size = sizeof(*all);
		eadm_diagnosis_consequence(d, verdict, i, &all[i]);
	}
	return value_of(all ? VALUE_AFFECTED : VALUE_NONE, all, n);
}

static int severity_status(const struct cli *cli, enum eadm_severity severity)
{
	static const int statuses[] = {
		[EADM_SEVERITY_NOTICE] = STATUS_OK,
		[EADM_SEVERITY_WARNING] = STATUS_WARNING,
		[EADM_SEVERITY_CRITICAL] = STATUS_CRITICAL,
	};

	if (severity == EADM_SEVERITY_NOTICE && cli->args.opt[OPT_STRICT])
		return STATUS_WARNING;
	return statuses[severity];
}

static int show_verdicts(struct cli *cli, const struct eadm_diagnosis *d,
			 struct table *table)
{
	struct eadm_verdict v = { .size = sizeof(v) };
	struct eadm_note n = { .size = sizeof(n) };
	struct eadm_gap gap = { .size = sizeof(gap) };
	struct eadm_value values[ARRAY_SIZE(verdict_columns)];
	int status = STATUS_OK;
	unsigned int i;

	if (eadm_diagnosis_gap(d, 0, &gap) > 0)
		table->title = "problems found by the rules that could be applied";
	table->interval = eadm_diagnosis_interval(d);
	cli->writer->ops->begin(cli->writer, table);
	for (i = 0; eadm_diagnosis_verdict(d, i, &v) > 0; i++) {
		/* The first verdict is the most severe one. */
		if (!i)
			status = severity_status(cli, v.severity);
		values[0] = value_text(eadm_severity_name(v.severity));
		values[1] = value_text(eadm_rule_name(v.rule));
		values[2] = value_text(v.device);
		values[3] = value_text(v.object);
		values[4] = number_if(v.has_id, v.id);
		values[5] = number_if(v.pid, v.pid);
		values[6] = value_text(v.comm);
		values[7] = value_text(v.finding);
		values[8] = evidence(d, i);
		values[9] = affected(d, i);
		values[10] = value_text(v.cause);
		values[11] = value_text(v.next);
		write_values(cli->writer, values);
		free((void *)values[8].bytes);
		free((void *)values[9].bytes);
	}
	for (i = 0; eadm_diagnosis_note(d, i, &n) > 0; i++) {
		/* Missing data is a failure only with --strict. */
		if (!status &&
		    (n.error != -ENODATA || cli->args.opt[OPT_STRICT]))
			status = STATUS_PARTIAL;
		cli->writer->ops->note(cli->writer, &n);
	}
	return status;
}

static int run(struct cli *cli)
{
	struct table table = { .object = "verdict", .title = "problems found",
			       .layout = LAYOUT_BLOCKS };
	struct eadm_diagnosis *d;
	uint64_t interval = DIAGNOSIS_INTERVAL;
	int status;

	if (cli->args.opt[OPT_RULES])
		return show_rules(cli);
	if (!opt_duration(cli, OPT_INTERVAL, 1000000000, &interval))
		return STATUS_USAGE;
	if (interval < 10000000)
		return fail(cli, STATUS_USAGE, "--interval", "must be at least 10ms");
	status = open_source(cli);
	if (status)
		return status;
	d = eadm_diagnosis_new();
	if (!d)
		return fail(cli, STATUS_FAILED, "diagnosis", "out of memory");
	catch_signals();
	status = table_of(cli, &table, verdict_columns,
			  ARRAY_SIZE(verdict_columns));
	if (!status)
		status = diagnosis_run(cli, d, EADM_GROUP_STATE, interval);
	if (!status) {
		status = show_verdicts(cli, d, &table);
		status = write_end(cli, status);
	}
	columns_free(&table);
	eadm_diagnosis_free(d);
	return status;
}

const struct command cmd_diagnose = {
	.name = "diagnose",
	.help = "find faults, their causes, and next steps",
	.more = "Takes two samples, an interval apart, and applies rules to them. In a\n"
		"capture, the last two snapshots are used, or the snapshot selected by\n"
		"--at and the one before it. With CAP_SYS_RAWIO, the adapter's own\n"
		"contexts are used as well, which costs one command per object. Rules\n"
		"that could not be applied are counted, with the reason and a remedy.\n"
		"The exit status is 0 if there are no warnings, 6 if nothing was found\n"
		"but reading failed, for example because an adapter does not respond, 7\n"
		"if there are warnings, and 8 if there are critical verdicts.",
	.examples = "  eadm diagnose\n"
		    "  eadm diagnose -d cloud_0 -i 5s\n"
		    "  eadm diagnose --json | jq -r '.rows[].rule'\n"
		    "  eadm --from hung.pcapng diagnose\n"
		    "  eadm diagnose --rules\n",
	.options = options,
	.run = run,
};
