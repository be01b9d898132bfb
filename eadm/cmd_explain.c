// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Explains errors that programs print: their meaning, and which of their causes apply to
 * this machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diagnosis.h"
#include "explain/log.h"
#include "explain/table.h"
#include "grow.h"
#include "signals.h"
#include "source.h"
#include "view.h"

static const struct option_def options[] = {
	{ OPT_TEXT_ONLY, 0, "text-only", NULL, WORDS_NONE,
	  "do not look for causes on this machine" },
	{ OPT_LIST, 'l', "list", NULL, WORDS_NONE, "list all known errors" },
	{ 0 },
};

enum { COL_LINE = 1, COL_COUNT };

static const struct column columns[] = {
	{ .key = "meaning", .head = "MEANING", .heading = true },
	[COL_LINE] = { .key = "line", .head = "LINE", .name = "line", .type = EADM_TYPE_U64,
	  .kind = EADM_KIND_GAUGE },
	[COL_COUNT] = { .key = "count", .head = "COUNT", .name = "lines", .type = EADM_TYPE_U64,
	  .kind = EADM_KIND_GAUGE },
	{ .key = "text", .head = "TEXT", .name = "text" },
	{ .key = "means", .head = "MEANS", .name = "means" },
	{ .key = "causes", .head = "CAUSES", .name = "causes" },
};

/* ---- the text ------------------------------------------------------------------ */

/* Adds the arguments to the log, as one or more lines. */
static void read_words(struct cli *cli, struct log *log)
{
	unsigned int i;

	for (i = 0; i < cli->args.n_words; i++) {
		if (i)
			log_add(log, " ", 1);
		log_add(log, cli->args.word[i], strlen(cli->args.word[i]));
	}
	log_end(log);
}

static int read_input(struct cli *cli, struct log *log)
{
	const char *from = cli->args.opt[OPT_FROM];
	char buf[65536];
	ssize_t n;

	if (from && !strcmp(from, "-"))
		return fail(cli, STATUS_USAGE, "TEXT",
			    "missing (--from reads standard input)");
	if (isatty(STDIN_FILENO))
		return fail(cli, STATUS_USAGE, "TEXT",
			    "missing (standard input is a terminal)");
	while (!interrupted) {
		n = read(STDIN_FILENO, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(cli, STATUS_FAILED, "standard input", "%s",
				    strerror(errno));
		if (!n)
			break;
		log_add(log, buf, n);
	}
	log_end(log);
	return 0;
}

static int unknown(struct cli *cli, const struct log *log)
{
	/* Passing the name of a log instead of its text is a common mistake. */
	if (cli->args.n_words == 1 && !access(cli->args.word[0], F_OK))
		return fail(cli, STATUS_USAGE, cli->args.word[0],
			    "files must be passed on standard input ('eadm explain < FILE')");
	if (log->matches.error && log->line <= 1)
		return fail(cli, STATUS_NOT_FOUND, "text",
			    "system error of an unknown call: include the surrounding text");
	return fail(cli, STATUS_NOT_FOUND, "text", "no known error in %llu %s",
		    log->line, plural(log->line, "line", "lines"));
}

/* ---- the machine ----------------------------------------------------------------- */

struct host {
	struct eadm_diagnosis *diagnosis;	/* NULL: not examined */
	struct eadm_verdict *verdicts;
	unsigned int n;
	unsigned int *shown;	/* number of the row that shows each verdict, or 0 */
};

static int collect(struct cli *cli, struct host *host)
{
	unsigned int max = 0, i;

	for (i = 0; grow(host->verdicts, host->n, max); i++) {
		struct eadm_verdict *v = &host->verdicts[host->n];

		v->size = sizeof(*v);
		if (eadm_diagnosis_verdict(host->diagnosis, i, v) <= 0) {
			host->shown = calloc(host->n + 1, sizeof(*host->shown));
			if (!host->shown)
				break;
			return 0;
		}
		/* Setup rules also have verdicts about passed checks. */
		host->n += v->severity >= EADM_SEVERITY_NOTICE;
	}
	return fail(cli, STATUS_FAILED, "diagnosis", "out of memory");
}

static bool has_devices(struct cli *cli)
{
	struct eadm_dump_opts opts = { .size = sizeof(opts) };
	const struct eadm_record *record;
	struct eadm_dump *dump;
	bool found;

	if (eadm_dump_open(cli->ctx, eadm_object_find("dev"), &opts, &dump))
		return false;
	found = eadm_dump_next(dump, &record) > 0;
	eadm_dump_close(dump);
	return found;
}

/*
 * Without a device, only the setup rules are evaluated, which report that there is
 * none.
 */
static int examine(struct cli *cli, struct host *host)
{
	unsigned int groups = EADM_GROUP_SETUP;
	int status;

	if (cli->args.opt[OPT_TEXT_ONLY])
		return 0;
	status = open_source(cli);
	if (status)
		return status;
	host->diagnosis = eadm_diagnosis_new();
	if (!host->diagnosis)
		return fail(cli, STATUS_FAILED, "diagnosis", "out of memory");
	if (cli->args.opt[OPT_DEVICE] || has_devices(cli))
		groups |= EADM_GROUP_STATE;
	status = diagnosis_run(cli, host->diagnosis, groups, DIAGNOSIS_INTERVAL);
	return status ? status : collect(cli, host);
}

/* ---- rows -------------------------------------------------------------------------- */

static bool recognizes(const struct explain_cause *cause, const char *rule)
{
	const char *const *name;

	for (name = cause->rules; *name; name++) {
		if (!strcmp(*name, rule))
			return true;
	}
	return false;
}

/*
 * Returns the findings about a cause, except those shown for a likelier cause in the
 * row; the caller frees them.
 */
static const struct eadm_verdict *findings(struct host *host, unsigned int row,
					   const struct explain_cause *cause,
					   size_t *n)
{
	struct eadm_verdict *found = calloc(host->n + 1, sizeof(*found));
	unsigned int i;

	*n = 0;
	for (i = 0; found && i < host->n; i++) {
		if (host->shown[i] == row ||
		    !recognizes(cause, eadm_rule_name(host->verdicts[i].rule)))
			continue;
		host->shown[i] = row;
		found[(*n)++] = host->verdicts[i];
	}
	return found;
}

/* Shows an error; returns the number of findings about its causes. */
static size_t show(struct cli *cli, struct host *host, unsigned int number,
		   const struct log_error *error)
{
	const struct explain_meaning *meaning = &explain_meanings[number];
	struct cause *causes = calloc(meaning->n_causes, sizeof(*causes));
	unsigned int i, n = causes ? meaning->n_causes : 0;
	size_t found = 0;

	for (i = 0; i < n; i++) {
		const struct explain_cause *from =
			&explain_causes[meaning->causes[i]];
		struct cause *cause = &causes[i];

		cause->name = from->name;
		cause->text = from->text;
		cause->look = from->look;
		cause->rules = from->rules;
		cause->found = findings(host, number + 1, from, &cause->n_found);
		found += cause->n_found;
	}
	write_values(cli->writer, (struct eadm_value[]){
		value_text(meaning->name),
		error ? value_u64(error->line) : value_string(NULL),
		error ? value_u64(error->count) : value_string(NULL),
		value_text(error ? error->text : NULL), value_text(meaning->text),
		value_of(VALUE_CAUSES, causes, n),
	});
	for (i = 0; i < n; i++)
		free((void *)causes[i].found);
	free(causes);
	return found;
}

/* Notes that no rule found a fault, and how many rules could not be applied. */
static void show_doubt(struct cli *cli, const struct host *host, size_t found)
{
	struct eadm_note note = { .size = sizeof(note),
				  .what = found ? "other causes" : "causes" };
	struct eadm_gap gap = { .size = sizeof(gap) };
	unsigned int i, left = 0;
	char why[200];

	for (i = 0; eadm_diagnosis_gap(host->diagnosis, i, &gap) > 0; i++)
		left += gap.count;
	snprintf(why, sizeof(why), "no rule found a fault %s",
		 eadm_is_live(cli->ctx) ? "on this machine" : "in the capture");
	if (left)
		snprintf(why + strlen(why), sizeof(why) - strlen(why),
			 "; %u %s not be applied ('eadm diagnose' shows why)",
			 left, plural(left, "rule could", "rules could"));
	note.why = why;
	note.device = "";
	cli->writer->ops->note(cli->writer, &note);
}

static int show_all(struct cli *cli, const struct log *log, struct host *host)
{
	struct table table = { .object = "explanation", .layout = LAYOUT_BLOCKS };
	unsigned int i, n = log ? log->n : explain_n_meanings;
	size_t found = 0;
	int status;

	status = table_of(cli, &table, columns, ARRAY_SIZE(columns));
	if (!status) {
		/* The only line of a text needs no number. */
		table.cols[COL_LINE].json_only = log && log->line == 1;
		table.cols[COL_COUNT].json_only = log && log->line == 1;
		cli->writer->ops->begin(cli->writer, &table);
		for (i = 0; i < n; i++)
			found += show(cli, host, log ? log->order[i] : i,
				      log ? &log->errors[log->order[i]] : NULL);
		if (host->diagnosis)
			show_doubt(cli, host, found);
		status = write_end(cli, status);
	}
	columns_free(&table);
	return status;
}

static int explain(struct cli *cli, struct log *log)
{
	struct host host = { 0 };
	int status = 0;

	if (cli->args.n_words)
		read_words(cli, log);
	else
		status = read_input(cli, log);
	if (!status && !log->n)
		status = unknown(cli, log);
	if (!status)
		status = examine(cli, &host);
	if (!status)
		status = show_all(cli, log, &host);
	free(host.verdicts);
	free(host.shown);
	eadm_diagnosis_free(host.diagnosis);
	return status;
}

static int run(struct cli *cli)
{
	struct log *log;
	int status;

	if (cli->args.opt[OPT_LIST])
		return cli->args.n_words ?
			       fail(cli, STATUS_USAGE, "--list", "cannot be used with TEXT") :
			       show_all(cli, NULL, &(struct host){ 0 });
	log = log_new();
	if (!log)
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	catch_signals();
	status = explain(cli, log);
	log_free(log);
	return status;
}

const struct command cmd_explain = {
	.name = "explain",
	.usage = "[TEXT...]",
	.help = "explain errors printed by programs, and look for their causes",
	.more = "Finds errors reported by verbs, rdma_cm, NCCL, libfabric, UCX and perftest\n"
		"in TEXT, or in a log on standard input. Shows the meaning of each error,\n"
		"its possible causes (the likeliest first), the causes that 'eadm\n"
		"diagnose' and 'eadm check' find on this machine, and commands that show\n"
		"more. Paste whole lines, because the name of the failed call matters.\n"
		"The exit status is 0 if a known error is found, 3 if not.",
	.examples = "  eadm explain 'Call to ibv_modify_qp failed with 110'\n"
		    "  eadm explain fi_getinfo: -61\n"
		    "  eadm explain < job.log\n"
		    "  eadm --from hung.pcapng explain IBV_WC_RETRY_EXC_ERR\n"
		    "  eadm explain --text-only --json < job.log | jq -r '.rows[].meaning'\n",
	.options = options,
	.text = true,
	.run = run,
};
