// SPDX-License-Identifier: LGPL-2.1-or-later
/* Applies rules to moments and keeps the verdicts. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "family/family.h"
#include "rules.h"
#include "source/query.h"

/* More than any rule cites. */
#define MAX_EVIDENCE 24

/* What a fault does to another object. */
struct consequence {
	struct consequence *before;
	enum diag_kind kind;
	const struct diag_row *row;
	const char *finding;
};

struct verdict {
	const struct eadm_rule *rule;
	enum eadm_severity severity;
	const struct diag_row *row;
	const char *finding, *cause, *next;
	struct eadm_evidence *evidence;
	unsigned int n_evidence;
	struct consequence *consequences;	/* the newest one */
	unsigned int n_consequences;
	unsigned int number;	/* in the order they were found */
};

struct eadm_diagnosis {
	struct diag_fields fields[DIAG_KINDS];
	struct diag_moment now, then;
	bool have_now, have_then;
	struct diag_row *idle;		/* QPs that had nothing to send once */
	size_t n_idle;
	unsigned int between;		/* moments that were dropped */
	bool doubt;
	struct verdict *verdicts;
	unsigned int n, max;
	uint64_t settled[64];		/* devices of which all is said */
	unsigned int n_settled;
	struct diag_pool pool;		/* of verdicts */
	char skipped[80];		/* how many rules, for want of a moment */
	struct diag_gaps gaps;
	int error;
};

struct judge {
	struct eadm_diagnosis *d;
	const struct eadm_rule *rule;
	struct verdict *verdict;	/* the one being written */
};

/* ---- rules ------------------------------------------------------------------- */

/* In the order in which they look: what explains others comes first. */
static const struct eadm_rule *const lists[] = {
	diag_rules_dev, diag_rules_cmdq, diag_rules_eq, diag_rules_cq,
	diag_rules_notify, diag_rules_qp,
};

EADM_API const struct eadm_rule *eadm_rule_next(const struct eadm_rule *rule)
{
	unsigned int i;

	if (!rule)
		return lists[0];
	if (rule[1].name)
		return rule + 1;
	/* The end of a list: which one was it? */
	for (i = 0; i + 1 < EADM_ARRAY_SIZE(lists); i++) {
		const struct eadm_rule *r = lists[i];

		while (r->name && r != rule)
			r++;
		if (r->name)
			return lists[i + 1];
	}
	return NULL;
}

EADM_API const char *eadm_rule_name(const struct eadm_rule *rule)
{
	return rule->name;
}

EADM_API enum eadm_severity eadm_rule_severity(const struct eadm_rule *rule)
{
	return rule->severity;
}

static const char *object_of(enum diag_kind kind)
{
	static const char *const names[DIAG_KINDS] = {
		"dev", "cmdq", "cmd", "counters", "eq", "ctx", "cq", "qp",
		"cqe",
	};

	return names[kind];
}

EADM_API const struct eadm_object *
eadm_rule_object(const struct eadm_rule *rule)
{
	return eadm_object_find(object_of(rule->kind));
}

EADM_API const char *eadm_rule_help(const struct eadm_rule *rule)
{
	return rule->help;
}

EADM_API const char *eadm_rule_cause(const struct eadm_rule *rule)
{
	return rule->cause;
}

EADM_API const char *eadm_rule_alike(const struct eadm_rule *rule)
{
	return rule->alike;
}

EADM_API bool eadm_rule_two_moments(const struct eadm_rule *rule)
{
	return rule->two;
}

EADM_API const char *eadm_severity_name(enum eadm_severity severity)
{
	static const char *const names[] = { "notice", "warning", "critical" };

	return severity < EADM_ARRAY_SIZE(names) ? names[severity] : NULL;
}

/* ---- what a look sees ---------------------------------------------------------- */

const struct diag_moment *judge_now(const struct judge *j)
{
	return &j->d->now;
}

const struct diag_moment *judge_then(const struct judge *j)
{
	return &j->d->then;
}

/* ---- what it says ---------------------------------------------------------------- */

static const char *keep(struct judge *j, const char *text)
{
	const char *copy = diag_strdup(&j->d->pool, text);

	if (!copy)
		j->d->error = -ENOMEM;
	return copy ? copy : "";
}

static const char *driver_of(const struct judge *j, const struct diag_row *row)
{
	const struct diag_row *dev =
		diag_find(judge_now(j), DIAG_DEV, row->dev, row->dev);
	const char *driver = dev ? diag_text(dev, DEV_DRIVER) : "";

	return *driver ? driver : "rdma";
}

/* How the names of its interrupts begin. */
static const char *interrupts_of(const char *driver)
{
	const struct eadm_family *family = eadm_family_find(driver);

	return family && family->interrupts ? family->interrupts : driver;
}

/* A template with the names of what it is about. */
static const char *fill(struct judge *j, const struct diag_row *row,
			const char *text)
{
	static const char *const words[] = { "{dev}", "{id}", "{driver}",
					     "{irq}" };
	char id[24], out[512];
	const char *value[EADM_ARRAY_SIZE(words)];
	size_t at = 0, i;

	snprintf(id, sizeof(id), "%" PRIu64, row->id);
	value[0] = row->device;
	value[1] = id;
	value[2] = driver_of(j, row);
	value[3] = interrupts_of(value[2]);
	while (*text && at < sizeof(out) - 1) {
		for (i = 0; i < EADM_ARRAY_SIZE(words); i++) {
			if (!strncmp(text, words[i], strlen(words[i])))
				break;
		}
		if (i == EADM_ARRAY_SIZE(words)) {
			out[at++] = *text++;
			continue;
		}
		at += snprintf(out + at, sizeof(out) - at, "%s", value[i]);
		text += strlen(words[i]);
	}
	out[at < sizeof(out) ? at : sizeof(out) - 1] = '\0';
	return keep(j, out);
}

void accuse(struct judge *j, const struct diag_row *row, const char *fmt, ...)
{
	struct eadm_diagnosis *d = j->d;
	struct verdict *all;
	char text[400];
	unsigned int max;
	va_list ap;

	j->verdict = NULL;
	if (d->n == d->max) {
		max = d->max ? 2 * d->max : 16;
		all = realloc(d->verdicts, max * sizeof(*all));
		if (!all) {
			d->error = -ENOMEM;
			return;
		}
		d->verdicts = all;
		d->max = max;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	j->verdict = &d->verdicts[d->n];
	*j->verdict = (struct verdict){
		.rule = j->rule,
		.severity = j->rule->severity,
		.row = row,
		.finding = keep(j, text),
		.cause = fill(j, row, j->rule->cause),
		.next = fill(j, row, j->rule->next),
		.number = d->n++,
	};
}

/* Whether a verdict is about an object, or about what affects it. */
static bool concerns(const struct verdict *v, enum diag_kind kind,
		     const struct diag_row *row)
{
	const struct consequence *c;

	if (v->rule->kind == kind && v->row->dev == row->dev &&
	    v->row->id == row->id)
		return true;
	for (c = v->consequences; c; c = c->before) {
		if (c->kind == kind && c->row->dev == row->dev &&
		    c->row->id == row->id)
			return true;
	}
	return false;
}

/* What is merely worth knowing breaks nothing, but for the other end's waiting. */
static bool may_be_cause(const struct verdict *v)
{
	return v->severity > EADM_SEVERITY_NOTICE || v->rule->kind == DIAG_QP;
}

bool follows(struct judge *j, const char *rule, enum diag_kind kind,
	     const struct diag_row *cause, const struct diag_row *row,
	     const char *fmt, ...)
{
	struct eadm_diagnosis *d = j->d;
	struct verdict *v = d->verdicts, *end = v + d->n;
	struct consequence *c;
	char text[400];
	va_list ap;

	if (!cause)
		return false;
	while (v < end && !(concerns(v, kind, cause) &&
			    (rule ? !strcmp(rule, v->rule->name) :
				    may_be_cause(v))))
		v++;
	if (v == end)
		return false;
	/* Each object once, in the words of the first rule. */
	if (concerns(v, j->rule->kind, row))
		return true;
	c = diag_alloc(&d->pool, sizeof(*c));
	if (!c) {
		d->error = -ENOMEM;
		return true;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	*c = (struct consequence){
		.before = v->consequences, .kind = j->rule->kind, .row = row,
		.finding = keep(j, text),
	};
	v->consequences = c;
	v->n_consequences++;
	return true;
}

void judge_severity(struct judge *j, enum eadm_severity severity)
{
	if (j->verdict)
		j->verdict->severity = severity;
}

void judge_cause(struct judge *j, const char *cause)
{
	if (j->verdict)
		j->verdict->cause = fill(j, j->verdict->row, cause);
}

void judge_next(struct judge *j, const char *next)
{
	if (j->verdict)
		j->verdict->next = fill(j, j->verdict->row, next);
}

static struct eadm_evidence *new_evidence(struct judge *j,
					  enum diag_kind kind,
					  const struct diag_row *row)
{
	struct verdict *v = j->verdict;
	struct eadm_evidence *e;

	if (!v || v->n_evidence == MAX_EVIDENCE)
		return NULL;
	if (!v->evidence)
		v->evidence = diag_alloc(&j->d->pool,
					 MAX_EVIDENCE * sizeof(*v->evidence));
	if (!v->evidence) {
		j->d->error = -ENOMEM;
		return NULL;
	}
	e = &v->evidence[v->n_evidence++];
	e->object = object_of(kind);
	e->id = row->id;
	e->text = "";
	return e;
}

static bool is_text(const struct eadm_field *field)
{
	enum eadm_type type = eadm_field_type(field);

	return type == EADM_TYPE_STRING || type == EADM_TYPE_BYTES;
}

void cite(struct judge *j, enum diag_kind kind, const struct diag_row *row,
	  unsigned int at)
{
	const struct eadm_field *field = j->d->fields[kind].field[at];
	struct eadm_evidence *e;
	char text[64];

	if (!diag_has(row, at))
		return;
	e = new_evidence(j, kind, row);
	if (!e)
		return;
	e->name = eadm_field_key(field);
	if (is_text(field)) {
		e->text = keep(j, row->value[at].s);
		return;
	}
	e->number = row->value[at].u;
	/* States are told by name, negative numbers as text. */
	e->is_number = eadm_field_type(field) == EADM_TYPE_U64 &&
		       !eadm_field_value_at(field, 0, NULL);
	if (eadm_field_type(field) == EADM_TYPE_S64)
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)e->number);
	else
		eadm_field_text(field, e->number, text, sizeof(text));
	e->text = keep(j, text);
}

void cite_growth(struct judge *j, enum diag_kind kind,
		 const struct diag_row *now, const struct diag_row *then,
		 unsigned int at, unsigned int bits)
{
	const struct eadm_field *field = j->d->fields[kind].field[at];
	struct eadm_evidence *e;
	char text[96];

	if (!diag_has(now, at) || !diag_has(then, at))
		return;
	e = new_evidence(j, kind, now);
	if (!e)
		return;
	snprintf(text, sizeof(text), "%s_growth", eadm_field_key(field));
	e->name = keep(j, text);
	e->is_number = true;
	e->number = growth(now, then, at, bits);
	snprintf(text, sizeof(text), "%" PRIu64, e->number);
	e->text = keep(j, text);
}

void cite_all(struct judge *j, enum diag_kind kind, const struct diag_row *row,
	      const signed char *fields)
{
	for (; *fields >= 0; fields++)
		cite(j, kind, row, *fields);
}

const char *age_text(uint64_t ns, char *buf, size_t size)
{
	uint64_t s = ns / SECOND;

	if (ns < 10 * SECOND)
		snprintf(buf, size, "%.1f s", ns / 1e9);
	else if (s < 120)
		snprintf(buf, size, "%" PRIu64 " s", s);
	else if (s < 7200)
		snprintf(buf, size, "%" PRIu64 " min", s / 60);
	else if (s < 172800)
		snprintf(buf, size, "%" PRIu64 " h", s / 3600);
	else
		snprintf(buf, size, "%" PRIu64 " days", s / 86400);
	return buf;
}

/* ---- the diagnosis ------------------------------------------------------------------ */

EADM_API struct eadm_diagnosis *eadm_diagnosis_new(void)
{
	struct eadm_diagnosis *d = calloc(1, sizeof(*d));

	if (d)
		diag_fields_init(d->fields);
	return d;
}

static void forget_verdicts(struct eadm_diagnosis *d)
{
	d->n = 0;
	d->n_settled = 0;
	d->doubt = false;
	d->skipped[0] = '\0';
	diag_gaps_free(&d->gaps);
	diag_pool_free(&d->pool);
}

EADM_API void eadm_diagnosis_free(struct eadm_diagnosis *d)
{
	if (!d)
		return;
	forget_verdicts(d);
	free(d->verdicts);
	free(d->idle);
	diag_moment_free(&d->now);
	diag_moment_free(&d->then);
	free(d);
}

/*
 * A moment between the first and the last one is dropped, but for this: which
 * QPs had nothing to send then. What has always something to send has none.
 */
static int note_idle(struct eadm_diagnosis *d)
{
	const struct diag_rows *qps = &d->now.rows[DIAG_QP];
	struct diag_row *idle;
	size_t i;

	idle = realloc(d->idle, (d->n_idle + qps->n + 1) * sizeof(*idle));
	if (!idle)
		return -ENOMEM;
	d->idle = idle;
	for (i = 0; i < qps->n; i++) {
		if (diag_u64(&qps->row[i], QP_HW_SQ_PI) ==
		    diag_u64(&qps->row[i], QP_HW_SQ_CI))
			idle[d->n_idle++] = (struct diag_row){
				.dev = qps->row[i].dev, .id = qps->row[i].id,
			};
	}
	return 0;
}

unsigned int judge_between(const struct judge *j)
{
	return j->d->between;
}

unsigned int judge_idled(const struct judge *j, const struct diag_row *row)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < j->d->n_idle; i++)
		n += j->d->idle[i].dev == row->dev &&
		     j->d->idle[i].id == row->id;
	return n;
}

void judge_doubt(struct judge *j)
{
	j->d->doubt = true;
}

EADM_API int eadm_diagnosis_sample(struct eadm_diagnosis *d,
				   struct eadm_ctx *ctx,
				   const struct eadm_sample_opts *opts)
{
	struct eadm_sample_opts all = { .size = sizeof(all), .hw = true };
	struct diag_moment now;
	int ret;

	if (opts && (opts->size < sizeof(opts->size) ||
		     opts->size > sizeof(all)))
		return eadm_fail(ctx, -EINVAL, "bad options");
	if (opts) {
		all.hw = false;
		memcpy(&all, opts, opts->size);
	}
	forget_verdicts(d);
	eadm_source_mark(ctx);
	ret = diag_moment_read(&now, d->fields, ctx, &all);
	if (ret)
		return ret == -ENOMEM ? eadm_fail(ctx, ret, "out of memory") :
					ret;
	now.clock_step = eadm_clock_step(ctx);
	if (!d->have_now || !all.extend || !d->have_then) {
		diag_moment_free(&d->then);
		d->then = d->now;
		d->have_then = d->have_now;
		d->n_idle = 0;
		d->between = 0;
	} else {
		ret = note_idle(d);
		d->between++;
		diag_moment_free(&d->now);
	}
	d->now = now;
	d->have_now = true;
	return ret ? eadm_fail(ctx, ret, "out of memory") : 0;
}

static void apply(struct judge *j, const struct diag_row *now,
		  const struct diag_row *then)
{
	j->verdict = NULL;
	j->rule->look(j, now, then);
	if (j->verdict && j->rule->last &&
	    j->d->n_settled < EADM_ARRAY_SIZE(j->d->settled))
		j->d->settled[j->d->n_settled++] = now->dev;
}

/* Rows are dated when they arrive, not when the kernel filled them. */
#define SLACK SECOND

/*
 * An object that bears a number anew is another one: it is younger than the one
 * before was, or than the time between the moments.
 */
static const struct diag_row *row_then(const struct eadm_diagnosis *d,
				       enum diag_kind kind,
				       const struct diag_row *now)
{
	static const signed char ages[DIAG_KINDS] = {
		[DIAG_DEV] = DEV_AGE, [DIAG_CMDQ] = -1, [DIAG_CMD] = -1,
		[DIAG_COUNTERS] = -1, [DIAG_EQ] = -1, [DIAG_CTX] = CTX_AGE,
		[DIAG_CQ] = CQ_AGE, [DIAG_QP] = QP_AGE, [DIAG_CQE] = -1,
	};
	const struct diag_row *then;
	uint64_t age;

	if (!d->have_then)
		return NULL;
	then = diag_find(&d->then, kind, now->dev, now->id);
	if (!then || ages[kind] < 0 || !diag_has(now, ages[kind]))
		return then;
	age = diag_u64(now, ages[kind]);
	if (age < diag_u64(then, ages[kind]))
		return NULL;
	if (now->time > then->time && age < now->time - then->time &&
	    now->time - then->time - age > SLACK)
		return NULL;
	return then;
}

static bool is_settled(const struct eadm_diagnosis *d, uint64_t dev)
{
	unsigned int i;

	for (i = 0; i < d->n_settled; i++) {
		if (d->settled[i] == dev)
			return true;
	}
	return false;
}

static int worst_first(const void *a, const void *b)
{
	const struct verdict *x = a, *y = b;

	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* What could not be looked at, and how to say so. */
static void find_gaps(struct judge *j)
{
	struct eadm_diagnosis *d = j->d;
	struct eadm_gap gap = { .size = sizeof(gap) };
	char text[512];
	unsigned int i;

	for (i = 0; i < d->now.n_inputs && !d->error; i++) {
		if (!is_settled(d, d->now.inputs[i].dev))
			d->error = diag_gaps_find(&d->gaps, &d->now,
						  d->have_then,
						  &d->now.inputs[i]);
	}
	for (i = 0; eadm_diagnosis_gap(d, i, &gap); i++) {
		snprintf(text, sizeof(text),
			 "%u of %u could not be applied: %s (%s)", gap.rules,
			 gap.of, gap.why, gap.remedy);
		d->gaps.gap[i].text = keep(j, text);
	}
}

EADM_API int eadm_diagnosis_evaluate(struct eadm_diagnosis *d)
{
	struct judge j = { .d = d };
	const struct diag_row *then;
	const struct diag_rows *rows;
	unsigned int skipped = 0;
	size_t i;

	forget_verdicts(d);
	d->error = 0;
	while ((j.rule = eadm_rule_next(j.rule))) {
		rows = &d->now.rows[j.rule->kind];
		if (j.rule->two && !d->have_then && rows->n)
			skipped++;
		for (i = 0; i < rows->n; i++) {
			then = row_then(d, j.rule->kind, &rows->row[i]);
			if ((j.rule->two && !then) ||
			    is_settled(d, rows->row[i].dev))
				continue;
			apply(&j, &rows->row[i], then);
		}
	}
	find_gaps(&j);
	if (d->n > 1)
		qsort(d->verdicts, d->n, sizeof(*d->verdicts), worst_first);
	if (skipped)
		snprintf(d->skipped, sizeof(d->skipped),
			 "%u take another moment before this one (eadm record -n 2)",
			 skipped);
	return d->error ? d->error : (int)d->n;
}

EADM_API bool eadm_diagnosis_in_doubt(const struct eadm_diagnosis *d)
{
	unsigned int i;

	for (i = 0; i < d->n; i++) {
		if (d->verdicts[i].rule->stuck)
			return true;
	}
	return d->doubt;
}

EADM_API uint64_t eadm_diagnosis_interval(const struct eadm_diagnosis *d)
{
	return d->have_then && d->now.time > d->then.time ?
		       d->now.time - d->then.time : 0;
}

static void tell_owner(const struct diag_row *row, enum diag_kind kind,
		       struct eadm_verdict *v)
{
	static const struct {
		signed char pid, comm;
	} owner[DIAG_KINDS] = {
		[DIAG_DEV] = { -1, -1 }, [DIAG_CMDQ] = { -1, -1 },
		[DIAG_CMD] = { CMD_PID, CMD_COMM },
		[DIAG_COUNTERS] = { -1, -1 }, [DIAG_EQ] = { -1, -1 },
		[DIAG_CTX] = { CTX_PID, CTX_COMM },
		[DIAG_CQ] = { CQ_PID, CQ_COMM }, [DIAG_QP] = { QP_PID, QP_COMM },
		[DIAG_CQE] = { -1, -1 },
	};

	v->comm = "";
	if (owner[kind].pid < 0)
		return;
	v->pid = diag_u64(row, owner[kind].pid);
	v->comm = diag_text(row, owner[kind].comm);
}

/* A device has one command queue, and one port so far. */
static bool has_id(enum diag_kind kind)
{
	return kind != DIAG_DEV && kind != DIAG_CMDQ && kind != DIAG_COUNTERS;
}

EADM_API int eadm_diagnosis_verdict(const struct eadm_diagnosis *d,
				    unsigned int index,
				    struct eadm_verdict *verdict)
{
	struct eadm_verdict full = { .size = verdict->size };
	const struct verdict *v;

	if (index >= d->n || verdict->size > sizeof(full))
		return 0;
	v = &d->verdicts[index];
	full.rule = v->rule;
	full.severity = v->severity;
	full.device = v->row->device;
	full.object = object_of(v->rule->kind);
	full.has_id = has_id(v->rule->kind);
	full.id = v->row->id;
	tell_owner(v->row, v->rule->kind, &full);
	full.finding = v->finding;
	full.cause = v->cause;
	full.next = v->next;
	full.evidence = v->evidence;
	full.n_evidence = v->n_evidence;
	memcpy(verdict, &full, verdict->size);
	return 1;
}

EADM_API int eadm_diagnosis_consequence(const struct eadm_diagnosis *d,
					unsigned int verdict,
					unsigned int index,
					struct eadm_consequence *consequence)
{
	struct eadm_consequence full = { .size = consequence->size };
	struct eadm_verdict owner = { 0 };
	const struct consequence *c;
	const struct verdict *v;

	if (verdict >= d->n || consequence->size > sizeof(full))
		return 0;
	v = &d->verdicts[verdict];
	if (index >= v->n_consequences)
		return 0;
	/* The list begins with the newest one. */
	index = v->n_consequences - 1 - index;
	for (c = v->consequences; index; index--)
		c = c->before;
	full.device = c->row->device;
	full.object = object_of(c->kind);
	full.has_id = has_id(c->kind);
	full.id = c->row->id;
	tell_owner(c->row, c->kind, &owner);
	full.pid = owner.pid;
	full.comm = owner.comm;
	full.finding = c->finding;
	memcpy(consequence, &full, full.size);
	return 1;
}

EADM_API int eadm_diagnosis_gap(const struct eadm_diagnosis *d,
				unsigned int index, struct eadm_gap *gap)
{
	struct eadm_gap full = { .size = gap->size };
	const struct eadm_rule *rule = NULL;
	const struct diag_gap *g;

	if (index >= d->gaps.n || gap->size > sizeof(full))
		return 0;
	g = &d->gaps.gap[index];
	full.device = g->in->device;
	full.reason = diag_lack_name(g->lack);
	full.rules = g->rules;
	while ((rule = eadm_rule_next(rule)))
		full.of++;
	full.why = g->why ? g->why : diag_lack_why(g->lack);
	full.remedy = diag_lack_remedy(g->lack);
	memcpy(gap, &full, full.size);
	return 1;
}

/* What a capture lacks is nobody's failure now. */
static void gap_note(const struct eadm_diagnosis *d, unsigned int index,
		     struct eadm_note *note)
{
	const struct diag_gap *g = &d->gaps.gap[index];
	struct eadm_gap gap = { .size = sizeof(gap) };

	eadm_diagnosis_gap(d, index, &gap);
	note->error = g->lack == DIAG_LACK_CAPTURE ? -ENODATA : -EACCES;
	note->device = gap.device;
	note->what = "rules";
	note->why = g->text;
	note->reason = gap.reason;
	note->remedy = gap.remedy;
	note->count = gap.rules;
	note->of = gap.of;
}

EADM_API int eadm_diagnosis_note(const struct eadm_diagnosis *d,
				 unsigned int index, struct eadm_note *note)
{
	struct eadm_note full = { .size = note->size };
	const struct diag_note *n;
	size_t i;

	if (note->size > sizeof(full))
		return 0;
	if (index < d->now.n_notes) {
		n = &d->now.notes[index];
		full.error = n->error;
		full.device = n->device;
		full.what = n->what;
		full.why = n->why;
		memcpy(note, &full, note->size);
		return 1;
	}
	index -= d->now.n_notes;
	/* That there was one moment only is told once, of all devices. */
	if (d->skipped[0] && !index--) {
		full.error = -ENODATA;
		full.device = "";
		full.what = "rules";
		full.why = d->skipped;
		memcpy(note, &full, note->size);
		return 1;
	}
	for (i = 0; i < d->gaps.n; i++) {
		if (d->gaps.gap[i].lack == DIAG_LACK_MOMENT || index--)
			continue;
		gap_note(d, i, &full);
		memcpy(note, &full, note->size);
		return 1;
	}
	return 0;
}
