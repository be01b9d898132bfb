// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "grow.h"
#include "lifetime.h"
#include "signals.h"
#include "source.h"
#include "view.h"

static const struct option_def options[] = {
	{ OPT_LIVE, 'l', "live", NULL, WORDS_NONE,
	  "show rates per second, repeatedly" },
	{ OPT_HW, 0, "hw", NULL, WORDS_NONE,
	  "include the counters in the adapter's own context of each OBJECT" },
	{ OPT_ORIGINAL, 0, "original", NULL, WORDS_NONE,
	  "show port counters with the names that the driver and sysfs use" },
	{ OPT_SINCE, 0, "since", "MARK", WORDS_SNAPSHOT,
	  "show the growth of counters since a mark or a capture" },
	{ OPT_INTERVAL, 'i', "interval", "TIME", WORDS_ANY,
	  "time between two samples (default: 1s); implies --live" },
	{ OPT_COUNT, 'n', "count", "N", WORDS_ANY,
	  "stop after N intervals; implies --live" },
	OWNER_OPTIONS,
	STATE_OPTIONS,
	SORT_OPTION,
	{ 0 },
};

/* ---- samples ------------------------------------------------------------------ */

/* Counters of an object in one sample. */
struct sample {
	char *identity;		/* values of stat.labels */
	uint64_t id, port;
	struct lifetime life;
	struct eadm_value *values;	/* values of the columns before the rates */
};

struct samples {
	struct sample *all;
	size_t n, max;
};

static void forget(struct samples *samples)
{
	size_t i;

	for (i = 0; i < samples->n; i++) {
		free(samples->all[i].identity);
		free(samples->all[i].values);
	}
	free(samples->all);
	*samples = (struct samples){ 0 };
}

static int by_identity(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	int ret = strcmp(x->identity, y->identity);

	if (!ret)
		ret = x->id < y->id ? -1 : x->id > y->id;
	return ret ? ret : x->port < y->port ? -1 : x->port > y->port;
}

/* Takes over @sample->identity if successful. */
static bool keep(struct samples *samples, const struct sample *sample,
		 unsigned int n_values)
{
	struct sample *s;

	if (!grow(samples->all, samples->n, samples->max))
		return false;
	s = &samples->all[samples->n];
	*s = *sample;
	s->values = malloc(n_values * sizeof(*s->values));
	if (!s->values)
		return false;
	/* Only counters are read again; strings would be pointers into the record. */
	memcpy(s->values, sample->values, n_values * sizeof(*s->values));
	samples->n++;
	return true;
}

/* ---- rates ---------------------------------------------------------------------- */

#define MAX_LABELS 8

/* Counters of a device that the previous sample or the mark lacks. */
struct lack {
	char device[DEVICE_NAME];
	size_t n;
};

struct stat {
	struct cli *cli;
	/*
	 * Fields that distinguish rows with the same key, and devices: their indices are
	 * reused.
	 */
	const struct eadm_field *labels[MAX_LABELS];
	unsigned int n_labels;
	const struct eadm_field *dev_index, *name, *key, *port;
	struct lifetime_fields life;
	struct view view;
	unsigned int n_plain;		/* number of columns before the rates */
	struct eadm_value *values;
	struct samples before, now;
	uint64_t newest, caption_time;
	uint64_t mark_time;		/* --since: time of the mark's newest row, or 0 */
	struct lack *lacks;
	size_t n_lacks, max_lacks;
	struct eadm_dump *mark;		/* --since: the dump of the mark, for its notes */
	bool reset;			/* a counter has decreased */
	char caption[80];
};

/*
 * Returns the number of counters that are missing in @before, or NULL. The counters of
 * an object that is @fresh began at 0.
 */
static size_t add_rates(struct stat *stat, const struct sample *before,
			const struct sample *now, bool fresh)
{
	struct table *table = &stat->view.table;
	unsigned int i, j = 0;
	uint64_t growth, time;
	size_t lacking = 0;

	for (i = stat->n_plain; i < table->n_cols; i++) {
		stat->values[i] = value_string(NULL);
		while (table->cols[j].field != table->cols[i].field)
			j++;
		if (now->values[j].type != EADM_TYPE_U64)
			continue;
		if (!fresh && (!before || before->values[j].type != EADM_TYPE_U64)) {
			lacking++;
			continue;
		}
		if (!counter_growth(table->cols[i].field,
				    fresh ? 0 : before->values[j].u64,
				    now->values[j].u64, &growth)) {
			stat->reset = true;
			continue;
		}
		if (table->growth) {
			stat->values[i] = value_u64(growth);
			continue;
		}
		time = now->life.time > before->life.time ?
			       now->life.time - before->life.time : 0;
		if (time)
			stat->values[i] = value_rate(growth * 1e9 / time);
	}
	return lacking;
}

/* Returns false if out of memory. */
static bool add_lack(struct stat *stat, const struct eadm_record *record, size_t n)
{
	const char *device = eadm_record_string(record, stat->name);
	size_t i;

	for (i = 0; i < stat->n_lacks; i++) {
		if (!strcmp(stat->lacks[i].device, device ? device : ""))
			break;
	}
	if (i == stat->n_lacks) {
		if (!grow(stat->lacks, stat->n_lacks, stat->max_lacks))
			return false;
		snprintf(stat->lacks[i].device, sizeof(stat->lacks[i].device), "%s",
			 device ? device : "");
		stat->lacks[stat->n_lacks++].n = 0;
	}
	stat->lacks[i].n += n;
	return true;
}

/*
 * Returns true if the object did not exist when the mark was made, so that its counters
 * began at 0 since then. Objects of which no @before is known need an age.
 */
static bool is_fresh(const struct stat *stat, const struct sample *before,
		     const struct sample *now)
{
	if (!stat->view.table.growth)
		return false;
	if (before)
		return is_reused(&before->life, &now->life);
	return stat->mark_time && now->life.has_age &&
	       now->life.time > stat->mark_time &&
	       is_recent(now->life.age, now->life.time - stat->mark_time);
}

static char *identity_of(const struct stat *stat, const struct eadm_record *record)
{
	char text[1024], value[128];
	unsigned int i;
	size_t at = 0;

	text[0] = '\0';
	for (i = 0; i < stat->n_labels && at < sizeof(text); i++) {
		if (eadm_record_text(record, stat->labels[i], value, sizeof(value)) < 0)
			value[0] = '\0';
		at += snprintf(text + at, sizeof(text) - at, "%s\n", value);
	}
	return strdup(text);
}

static int take(struct stat *stat, const struct eadm_record *record,
		bool first)
{
	struct sample now = { .values = stat->values }, *before = NULL;
	struct row row = { .values = stat->values, .record = record };
	bool fresh;
	size_t n;

	values_of_record(&stat->view.table, record, stat->values);
	if (stat->key != stat->dev_index)
		eadm_record_u64(record, stat->key, &now.id);
	if (stat->port)
		eadm_record_u64(record, stat->port, &now.port);
	lifetime_of(&stat->life, record, &now.life);
	if (now.life.time > stat->newest)
		stat->newest = now.life.time;
	now.identity = identity_of(stat, record);
	if (!now.identity || !keep(&stat->now, &now, stat->n_plain)) {
		free(now.identity);
		return -ENOMEM;
	}
	if (first)
		return 0;
	if (stat->before.n)
		before = bsearch(&now, stat->before.all, stat->before.n,
				 sizeof(now), by_identity);
	fresh = is_fresh(stat, before, &now);
	if (before && is_reused(&before->life, &now.life))
		before = NULL;
	n = add_rates(stat, before, &now, fresh);
	if (n && !add_lack(stat, record, n))
		return -ENOMEM;
	stat->view.table.incomplete = stat->n_lacks || stat->reset;
	stat->cli->writer->ops->row(stat->cli->writer, &row);
	return 0;
}

/* The caption is the time of the sample and, with --since, the age of the mark. */
static void make_caption(struct stat *stat)
{
	struct column age = { .kind = EADM_KIND_AGE, .unit = "ns" };
	const struct eadm_value value = value_u64(stat->view.table.interval);
	char text[32];
	time_t s = stat->caption_time / 1000000000;
	char clock[16];
	struct tm tm;

	if (!localtime_r(&s, &tm))
		return;
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	snprintf(stat->caption, sizeof(stat->caption), "-- %s", clock);
	if (stat->view.table.growth) {
		text_of_value(&age, &value, text, sizeof(text));
		snprintf(stat->caption, sizeof(stat->caption),
			 "-- %s, in %s", clock, text);
	}
	stat->view.table.caption = stat->caption;
}

/* Shows a pass without a device; the next pass then has nothing to compare with. */
static int sample_absent(struct stat *stat, bool first)
{
	struct cli *cli = stat->cli;

	forget(&stat->before);
	forget(&stat->now);
	if (first)
		return 0;
	stat->caption_time = time_shown(cli);
	make_caption(stat);
	cli->writer->ops->begin(cli->writer, &stat->view.table);
	cli->writer->ops->flush(cli->writer);
	return 0;
}

static bool has_note(const struct eadm_dump *dump, const struct eadm_note *note)
{
	struct eadm_note n = { .size = sizeof(n) };
	unsigned int i;

	for (i = 0; eadm_dump_note(dump, i, &n) > 0; i++) {
		if (!strcmp(n.device, note->device) && !strcmp(n.what, note->what) &&
		    !strcmp(n.why, note->why))
			return true;
	}
	return false;
}

/* Notes what the mark could not read, except what @now cannot read either. */
static int mark_notes(struct stat *stat, const struct eadm_dump *now)
{
	struct eadm_note n = { .size = sizeof(n) };
	int status = STATUS_OK;
	unsigned int i;
	char why[600];

	for (i = 0; eadm_dump_note(stat->mark, i, &n) > 0; i++) {
		if (!n.error || has_note(now, &n))
			continue;
		snprintf(why, sizeof(why), "in the mark: %s", n.why);
		n.why = why;
		stat->cli->writer->ops->note(stat->cli->writer, &n);
		status = STATUS_PARTIAL;
	}
	return status;
}

/*
 * Notes the counters that were not compared. With --live, those that the previous
 * sample lacks are compared in the next one.
 */
static int lack_notes(struct stat *stat, const struct eadm_dump *dump)
{
	struct writer *writer = stat->cli->writer;
	struct eadm_note n = { .size = sizeof(n), .device = "", .what = "counters",
			       .why = "omitted counters that decreased (reset)" };
	int status = STATUS_OK;
	char why[80];
	size_t i;

	if (stat->reset) {
		writer->ops->note(writer, &n);
		status = STATUS_PARTIAL;
	}
	if (!stat->view.table.growth)
		return STATUS_OK;
	n.what = eadm_object_title(stat->view.object);
	n.why = why;
	for (i = 0; i < stat->n_lacks; i++) {
		n.device = stat->lacks[i].device;
		snprintf(why, sizeof(why), "omitted %zu %s not in the mark",
			 stat->lacks[i].n,
			 plural(stat->lacks[i].n, "counter", "counters"));
		writer->ops->note(writer, &n);
		status = STATUS_PARTIAL;
	}
	return mark_notes(stat, dump) ? STATUS_PARTIAL : status;
}

/* Makes one pass over the objects, and shows the rates unless it is the first pass. */
static int sample(struct stat *stat, bool first)
{
	const struct eadm_record *record;
	struct cli *cli = stat->cli;
	struct eadm_dump *dump;
	struct blind blind;
	int ret, status = 0, more;

	ret = eadm_dump_open(cli->ctx, stat->view.object, &stat->view.opts, &dump);
	if (view_absent(&stat->view, ret))
		return sample_absent(stat, first);
	if (ret)
		return fail_lib(cli, ret, stat->view.opts.device ?
					  stat->view.opts.device :
					  eadm_object_title(stat->view.object));
	forget(&stat->before);
	stat->before = stat->now;
	stat->now = (struct samples){ 0 };
	if (stat->before.n)
		qsort(stat->before.all, stat->before.n,
		      sizeof(*stat->before.all), by_identity);
	stat->n_lacks = 0;
	stat->reset = false;
	stat->view.table.incomplete = false;
	ret = eadm_dump_next(dump, &record);
	if (ret >= 0)
		stat->view.found = true;
	if (!first && ret >= 0) {
		stat->caption_time = ret ? eadm_record_time(record) :
					   time_shown(cli);
		if (stat->newest && stat->caption_time > stat->newest)
			stat->view.table.interval =
				stat->caption_time - stat->newest;
		make_caption(stat);
		cli->writer->ops->begin(cli->writer, &stat->view.table);
	}
	blind_init(&blind, stat->view.object, &stat->view.filter,
		   stat->view.opts.hw);
	for (; ret > 0 && !interrupted; ret = eadm_dump_next(dump, &record)) {
		blind_see(&blind, record);
		if (!filter_passes(&stat->view.filter, record))
			continue;
		if (take(stat, record, first)) {
			status = fail(cli, STATUS_FAILED, "rows",
				      "out of memory");
			break;
		}
	}
	if (ret < 0)
		status = fail_lib(cli, ret, eadm_object_title(stat->view.object));
	else if (!status && !(first && stat->view.table.growth))
		status = dump_notes(cli, dump);
	if (!first && (!status || status == STATUS_PARTIAL) && lack_notes(stat, dump))
		status = STATUS_PARTIAL;
	more = first ? 0 : blind_notes(cli, &stat->view, &blind);
	if (more && (!status || status == STATUS_PARTIAL))
		status = more;
	blind_free(&blind);
	if (first && stat->view.table.growth)
		stat->mark = dump;
	else
		eadm_dump_close(dump);
	if (!first)
		cli->writer->ops->flush(cli->writer);
	return status;
}

static int run_live(struct stat *stat)
{
	uint64_t interval = 1000000000, count = UINT64_MAX, shown = 0;
	struct cli *cli = stat->cli;
	uint64_t next;
	int status, ret;

	if (!opt_duration(cli, OPT_INTERVAL, 1000000000, &interval) ||
	    !opt_u64(cli, OPT_COUNT, &count))
		return STATUS_USAGE;
	if (interval < 1000000 || !count)
		return fail(cli, STATUS_USAGE,
			    count ? "--interval" : "--count",
			    count ? "must be at least 1ms" : "must be greater than 0");
	status = open_source(cli);
	if (status)
		return status;
	catch_signals();
	next = monotonic_ns();
	stat->view.waits = true;
	status = sample(stat, true);
	while ((!status || status == STATUS_PARTIAL) && shown < count) {
		if (eadm_is_live(cli->ctx) && !wait_until(&next, interval))
			break;
		if (!next_snapshot(cli))
			break;
		ret = sample(stat, false);
		if (ret)
			status = ret;
		shown++;
	}
	if ((!status || status == STATUS_PARTIAL) && !shown && !interrupted)
		status = fail(cli, STATUS_FAILED, cli->args.opt[OPT_FROM],
			      cli->args.opt[OPT_AT] ?
			      "rates require two snapshots; --at selects the last one" :
			      "rates require two snapshots; the capture has one (eadm record -n)");
	return shown ? write_end(cli, view_end(cli, &stat->view, status)) : status;
}

static void host_note(struct cli *cli, const char *was)
{
	struct eadm_note n = { .size = sizeof(n), .device = "", .what = "host" };
	char host[80], why[240];

	machine_text(cli->ctx, "host", host, sizeof(host));
	if (!*was || !*host || !strcmp(was, host))
		return;
	snprintf(why, sizeof(why), "the counters are from different machines: %s before, %s now",
		 was, host);
	n.why = why;
	cli->writer->ops->note(cli->writer, &n);
}

/* Samples the counters of a mark, then the current ones. */
static int sample_both(struct stat *stat, struct eadm_ctx *mark)
{
	struct cli *cli = stat->cli;
	struct eadm_ctx *now = cli->ctx;
	char was[80];
	int status;

	cli->ctx = mark;
	machine_text(mark, "host", was, sizeof(was));
	status = sample(stat, true);
	stat->mark_time = stat->newest;
	cli->ctx = now;
	if (status && status != STATUS_PARTIAL)
		return status;
	catch_signals();
	status = sample(stat, false);
	host_note(cli, was);
	return write_end(cli, status);
}

static int run_since(struct stat *stat, const char *since)
{
	struct cli *cli = stat->cli;
	struct eadm_ctx *mark;
	int status;

	status = open_source(cli);
	if (!status)
		status = open_snapshot(cli, since, &mark);
	if (status)
		return status;
	status = sample_both(stat, mark);
	eadm_dump_close(stat->mark);
	eadm_free(mark);
	return status;
}

/* ---- columns ---------------------------------------------------------------------- */

static int add(struct stat *stat, const struct eadm_field *field)
{
	struct column *col = column_add(&stat->view.table);

	if (!col)
		return -ENOMEM;
	column_of_field(col, field);
	return 0;
}

static bool is_label(const struct eadm_field *field)
{
	return eadm_field_metric(field) == EADM_METRIC_LABEL;
}

/* The QPs of a counter set are a label, too, but change while it is the same set. */
static void find_labels(struct stat *stat)
{
	const struct eadm_object *object = stat->view.object;
	const struct eadm_field *field, *qpns = eadm_object_find_field(object, "qpns");
	unsigned int i;

	for (i = 0; i < eadm_object_fields(object) && stat->n_labels < MAX_LABELS; i++) {
		field = eadm_object_field(object, i);
		if (is_label(field) && field != stat->port && field != qpns)
			stat->labels[stat->n_labels++] = field;
	}
}

/* Selects the fields that identify a row, and its counters. */
static int usual_columns(struct stat *stat)
{
	const struct eadm_field *field;
	unsigned int i;
	int ret = 0;

	stat->view.table.object = eadm_object_name(stat->view.object);
	stat->view.table.title = eadm_object_title(stat->view.object);
	for (i = 0; !ret && i < eadm_object_fields(stat->view.object); i++) {
		field = eadm_object_field(stat->view.object, i);
		if (eadm_field_is_hw(field) && !stat->view.opts.hw)
			continue;
		if (eadm_field_kind(field) == EADM_KIND_COUNTER ||
		    is_label(field) ||
		    field == stat->name || field == stat->key ||
		    field == stat->port ||
		    field == stat->dev_index)
			ret = add(stat, field);
		if (!ret && field == stat->dev_index && field != stat->key)
			stat->view.table.cols[stat->view.table.n_cols - 1].json_only =
				true;
	}
	return ret ? fail(stat->cli, STATUS_FAILED, "columns",
			  "out of memory") : 0;
}

static int rate_columns(struct stat *stat)
{
	unsigned int i;

	stat->n_plain = stat->view.table.n_cols;
	for (i = 0; i < stat->n_plain; i++) {
		if (stat->view.table.cols[i].kind != EADM_KIND_COUNTER)
			continue;
		if (add(stat, stat->view.table.cols[i].field))
			return fail(stat->cli, STATUS_FAILED, "columns",
				    "out of memory");
		stat->view.table.cols[stat->view.table.n_cols - 1].rate = true;
		stat->view.table.cols[stat->view.table.n_cols - 1].growth =
			stat->view.table.growth;
	}
	stat->view.table.all = false;
	stat->view.table.lines = !stat->view.table.growth;
	stat->view.table.passes = stat->view.table.lines;
	stat->view.table.rates_only = true;
	stat->view.table.notes_once = true;
	stat->view.table.title = NULL;
	return 0;
}

static int choose(struct stat *stat, bool live)
{
	struct cli *cli = stat->cli;
	int status;

	if (cli->args.opt[OPT_OUTPUT] ||
	    eadm_object_is_upright(stat->view.object))
		status = columns_choose(cli, stat->view.object, stat->view.opts.hw,
					&stat->view.table);
	else
		status = usual_columns(stat);
	stat->view.table.growth = cli->args.opt[OPT_SINCE];
	if (!status && (live || stat->view.table.growth))
		status = rate_columns(stat);
	return status;
}

static int run(struct cli *cli)
{
	struct stat stat = {
		.cli = cli,
		.view.opts = { .size = sizeof(stat.view.opts),
			       .device = cli->args.opt[OPT_DEVICE],
			       .hw = cli->args.opt[OPT_HW] != NULL,
			       .original = cli->args.opt[OPT_ORIGINAL] },
	};
	bool live = cli->args.opt[OPT_LIVE] || cli->args.opt[OPT_INTERVAL] ||
		    cli->args.opt[OPT_COUNT];
	const char *since = cli->args.opt[OPT_SINCE];
	int status;

	stat.view.object = need_object(cli, cli->args.n ? cli->args.arg[0] :
							  cli->cmd->usual);
	if (!stat.view.object)
		return STATUS_USAGE;
	stat.key = eadm_object_key(stat.view.object);
	stat.port = eadm_object_find_field(stat.view.object, "port");
	find_labels(&stat);
	lifetime_fields(stat.view.object, &stat.life);
	stat.dev_index = eadm_object_find_field(stat.view.object, "dev-index");
	stat.name = eadm_object_find_field(stat.view.object, "dev-name");
	if (cli->args.opt[OPT_ORIGINAL] &&
	    (live || since || cli->args.n || cli->args.opt[OPT_OUTPUT]))
		return fail(cli, STATUS_USAGE, "--original",
			    "cannot be combined with other options");
	if ((live || since) && cli->args.opt[OPT_SORT])
		return fail(cli, STATUS_USAGE, "--sort", "cannot be used with %s",
			    live ? "--live" : "--since");
	if (live && since)
		return fail(cli, STATUS_USAGE, "--since", "cannot be used with --live");
	status = filter_init(cli, stat.view.object, &stat.view.filter);
	if (!status)
		status = sort_init(cli, stat.view.object, &stat.view.sort);
	if (!status)
		status = choose(&stat, live);
	if (!status && (live || since)) {
		stat.values = calloc(stat.view.table.n_cols,
				     sizeof(*stat.values));
		status = stat.values && since ? run_since(&stat, since) :
			 stat.values ? run_live(&stat) :
				       fail(cli, STATUS_FAILED, "rows",
					    "out of memory");
	} else if (!status) {
		status = view_run(cli, &stat.view);
	}
	forget(&stat.before);
	forget(&stat.now);
	free(stat.values);
	free(stat.lacks);
	view_free(&stat.view);
	return status;
}

const struct command cmd_stat = {
	.name = "stat",
	.usage = "[OBJECT]",
	.help = "show counters, or with --live their rates",
	.more = "Without OBJECT, shows the counters of all ports. Counters with the same\n"
		"meaning have the same name across all drivers; other counters keep the\n"
		"name that the driver gives them. With OBJECT, shows the counters of each\n"
		"such object.\n"
		"--live shows only counters that change. In a capture, it compares each\n"
		"snapshot with the one before it.",
	.examples = "  eadm stat\n"
		    "  eadm stat --live\n"
		    "  eadm stat -i 5s -n 12 -d cloud_0 --json\n"
		    "  eadm stat --since baseline        after 'eadm mark baseline'\n"
		    "  eadm stat --original\n"
		    "  eadm stat eq\n"
		    "  eadm stat cq --comm 'ib_*' --sort events:desc\n",
	.max_args = 1,
	.args = { WORDS_COUNTED_OBJECT },
	.usual = "counters",
	.options = options,
	.run = run,
};
