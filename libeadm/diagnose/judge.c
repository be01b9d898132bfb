// SPDX-License-Identifier: LGPL-2.1-or-later
/* Functions for rules: access to data, and reporting of verdicts. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "family/family.h"
#include "grow.h"
#include "judge.h"

/* More than any rule needs. */
#define MAX_EVIDENCE 24

/* ---- data that a rule can access ----------------------------------------------- */

const struct diag_snapshot *eadm_judge_now(const struct judge *j)
{
	return &j->d->now;
}

const struct diag_snapshot *eadm_judge_then(const struct judge *j)
{
	return &j->d->then;
}

/* The time of a row is when it arrived, not when the kernel filled it. */
#define SLACK SECOND

/* Fields that identify the object that has a number. */
static const struct {
	signed char age, pid, peer;
} identity[DIAG_KINDS] = {
	[DIAG_DEV] = { DEV_AGE, -1, -1 },
	[DIAG_CMDQ ... DIAG_EQ] = { -1, -1, -1 },
	[DIAG_CTX] = { CTX_AGE, CTX_PID, -1 },
	[DIAG_CQ] = { CQ_AGE, CQ_PID, -1 },
	[DIAG_QP] = { QP_AGE, QP_PID, QP_DEST_QPN },
	[DIAG_CQE ... DIAG_KINDS - 1] = { -1, -1, -1 },
};

/* Returns true if two rows have different values of a field; 0 is no value. */
static bool differ(const struct diag_row *a, const struct diag_row *b, int field)
{
	return field >= 0 && diag_u64(a, field) && diag_u64(b, field) &&
	       !diag_same(a, b, field);
}

/*
 * The age of a different object is less than that of the earlier object, or less than the
 * time between the snapshots. Stock drivers do not show ages: there, a different process
 * or peer indicates a different object.
 */
bool eadm_judge_is_same(enum diag_kind kind, const struct diag_row *now,
			const struct diag_row *then)
{
	int by_age = identity[kind].age;
	uint64_t age, apart;

	/* The clock was set back while a capture was recorded. */
	if (now->time <= then->time)
		return false;
	if (by_age < 0 || !diag_has(now, by_age))
		return !differ(now, then, identity[kind].pid) &&
		       !differ(now, then, identity[kind].peer);
	age = diag_u64(now, by_age);
	apart = now->time - then->time;
	return age >= diag_u64(then, by_age) &&
	       (age >= apart || apart - age <= SLACK);
}

const struct diag_row *eadm_judge_earlier(const struct judge *j, enum diag_kind kind,
					  const struct diag_row *now)
{
	const struct diag_snapshot *m = eadm_judge_then(j);
	const struct diag_row *then;

	if (!now)
		return NULL;
	then = kind == DIAG_QP ?
		       eadm_diag_first(m, DIAG_QPS_OF_ID, now->dev, now->id) :
		       eadm_diag_find(m, kind, now->dev, now->id);
	return then && eadm_judge_is_same(kind, now, then) ? then : NULL;
}

unsigned int eadm_judge_between(const struct judge *j)
{
	return j->d->between;
}

static int by_identity(const void *a, const void *b)
{
	const struct diag_row *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

void eadm_judge_prepare(struct eadm_diagnosis *d)
{
	if (d->n_idle)
		qsort(d->idle, d->n_idle, sizeof(*d->idle), by_identity);
}

unsigned int eadm_judge_idled(const struct judge *j, const struct diag_row *row)
{
	const struct diag_row *idle = j->d->idle;
	size_t low = 0, high = j->d->n_idle, mid;
	unsigned int n = 0;

	/* Find the first entry of this QP. */
	while (low < high) {
		mid = low + (high - low) / 2;
		if (by_identity(&idle[mid], row) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	while (low < j->d->n_idle && !by_identity(&idle[low++], row))
		n++;
	return n;
}

void eadm_judge_doubt(struct judge *j)
{
	j->d->doubt = true;
}

/* ---- verdicts -------------------------------------------------------------------- */

const char *eadm_judge_keep(struct judge *j, const char *text)
{
	const char *copy = eadm_diag_strdup(&j->d->pool, text);

	if (!copy)
		j->d->error = -ENOMEM;
	return copy ? copy : "";
}

static const char *driver_of(const struct judge *j, const struct diag_row *row)
{
	const struct diag_row *dev =
		eadm_diag_find(eadm_judge_now(j), DIAG_DEV, row->dev, row->dev);
	const char *driver = dev ? diag_text(dev, DEV_DRIVER) : "";

	return *driver ? driver : "rdma";
}

static const char *netdev_of(const struct judge *j, const struct diag_row *row)
{
	const struct diag_row *dev =
		eadm_diag_find(eadm_judge_now(j), DIAG_DEV, row->dev, row->dev);
	const char *netdev = dev ? diag_text(dev, DEV_NETDEV) : "";

	return *netdev ? netdev : "INTERFACE";
}

/* PID of the process that owns a QP or context; kernel objects have none. */
static const char *pid_of(const struct judge *j, const struct diag_row *row,
			  char *buf, size_t size)
{
	uint64_t pid = j->rule->kind == DIAG_QP ? diag_u64(row, QP_PID) :
		       j->rule->kind == DIAG_CTX ? diag_u64(row, CTX_PID) : 0;

	if (pid)
		snprintf(buf, size, "%" PRIu64, pid);
	else
		snprintf(buf, size, "PID");
	return buf;
}

/* Prefix of the interrupt names of the driver. */
static const char *interrupts_of(const char *driver)
{
	const struct eadm_family *family = eadm_family_find(driver);

	return family && family->interrupts ? family->interrupts : driver;
}

/* Replace the placeholders in a template with the names of the object concerned. */
static const char *fill(struct judge *j, const struct diag_row *row,
			const char *text)
{
	static const char *const words[] = { "{dev}", "{id}", "{driver}",
					     "{irq}", "{netdev}", "{pid}" };
	char id[24], pid[24], out[512];
	const char *value[EADM_ARRAY_SIZE(words)];
	size_t at = 0, i;

	snprintf(id, sizeof(id), "%" PRIu64, row->id);
	value[0] = row->device;
	value[1] = id;
	value[2] = driver_of(j, row);
	value[3] = interrupts_of(value[2]);
	value[4] = netdev_of(j, row);
	value[5] = pid_of(j, row, pid, sizeof(pid));
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
	return eadm_judge_keep(j, out);
}

static void begin_verdict(struct judge *j, const struct diag_row *row,
			  enum eadm_severity severity, const char *fmt,
			  va_list ap)
{
	struct eadm_diagnosis *d = j->d;
	char text[400];

	j->verdict = NULL;
	if (!grow(d->verdicts, d->n, d->max) ||
	    !eadm_mention_add(&d->mentions, j->rule->kind, row, d->n)) {
		d->error = -ENOMEM;
		return;
	}
	vsnprintf(text, sizeof(text), fmt, ap);
	j->verdict = &d->verdicts[d->n];
	*j->verdict = (struct verdict){
		.rule = j->rule,
		.severity = severity,
		.row = row,
		.finding = eadm_judge_keep(j, text),
		.cause = "",
		.next = "",
		.number = d->n++,
	};
}

void eadm_accuse(struct judge *j, const struct diag_row *row, const char *fmt,
		 ...)
{
	va_list ap;

	va_start(ap, fmt);
	begin_verdict(j, row, j->rule->severity, fmt, ap);
	va_end(ap);
	eadm_judge_cause(j, j->rule->cause);
	eadm_judge_next(j, j->rule->next);
}

void eadm_pass(struct judge *j, const struct diag_row *row, const char *fmt,
	       ...)
{
	va_list ap;

	j->verdict = NULL;
	if (!(j->d->groups & EADM_GROUP_SETUP))
		return;
	va_start(ap, fmt);
	begin_verdict(j, row, EADM_SEVERITY_OK, fmt, ap);
	va_end(ap);
}

void eadm_unseen(struct judge *j, const struct diag_row *row,
		 const char *remedy, const char *fmt, ...)
{
	va_list ap;

	j->verdict = NULL;
	if (!(j->d->groups & EADM_GROUP_SETUP))
		return;
	va_start(ap, fmt);
	begin_verdict(j, row, EADM_SEVERITY_UNSEEN, fmt, ap);
	va_end(ap);
	eadm_judge_next(j, remedy);
}

void eadm_judge_unknown(struct judge *j)
{
	j->d->unknown = true;
}

void eadm_judge_remark(struct judge *j, const char *what, const char *fmt, ...)
{
	struct eadm_diagnosis *d = j->d;
	va_list ap;

	if (d->n_remarks == EADM_ARRAY_SIZE(d->remarks))
		return;
	d->remarks[d->n_remarks].what = what;
	va_start(ap, fmt);
	vsnprintf(d->remarks[d->n_remarks].why, sizeof(d->remarks->why), fmt,
		  ap);
	va_end(ap);
	d->n_remarks++;
}

/* Returns true if a verdict reports an object or lists it as a consequence. */
static bool concerns(const struct eadm_diagnosis *d, const struct verdict *v,
		     enum diag_kind kind, const struct diag_row *row)
{
	const struct mention *m = NULL;

	while ((m = eadm_mention_next(&d->mentions, kind, row, m)))
		if (m->verdict == v->number)
			break;
	return m;
}

/* A notice is not a fault, but a QP with a notice can make the other end wait. */
static bool may_be_cause(const struct verdict *v)
{
	return v->severity > EADM_SEVERITY_NOTICE || v->rule->kind == DIAG_QP;
}

/* Returns the first verdict on the cause. @rule: NULL for verdicts by any rule. */
static struct verdict *verdict_on(struct eadm_diagnosis *d, const char *rule,
				  enum diag_kind kind,
				  const struct diag_row *cause)
{
	struct verdict *first = NULL, *v;
	const struct mention *m = NULL;

	while ((m = eadm_mention_next(&d->mentions, kind, cause, m))) {
		v = &d->verdicts[m->verdict];
		if (v->severity >= EADM_SEVERITY_NOTICE &&
		    (rule ? !strcmp(rule, v->rule->name) : may_be_cause(v)) &&
		    (!first || v < first))
			first = v;
	}
	return first;
}

/*
 * The memory of the previous array is not reused: it is at most as large as the new
 * one.
 */
static struct consequence *new_consequence(struct eadm_diagnosis *d,
					   struct verdict *v)
{
	unsigned int max = v->max_consequences ? 2 * v->max_consequences : 4;
	struct consequence *more;

	if (v->n_consequences == v->max_consequences) {
		more = eadm_diag_alloc(&d->pool, max * sizeof(*more));
		if (!more)
			return NULL;
		if (v->n_consequences)
			memcpy(more, v->consequences,
			       v->n_consequences * sizeof(*more));
		v->consequences = more;
		v->max_consequences = max;
	}
	return &v->consequences[v->n_consequences];
}

bool eadm_follows(struct judge *j, const char *rule, enum diag_kind kind,
		  const struct diag_row *cause, const struct diag_row *row,
		  const char *fmt, ...)
{
	struct eadm_diagnosis *d = j->d;
	struct consequence *c;
	struct verdict *v;
	char text[400];
	va_list ap;

	v = cause ? verdict_on(d, rule, kind, cause) : NULL;
	if (!v)
		return false;
	/* Each object is listed once, with the sentence of the first rule. */
	if (concerns(d, v, j->rule->kind, row))
		return true;
	c = new_consequence(d, v);
	if (!c ||
	    !eadm_mention_add(&d->mentions, j->rule->kind, row, v->number)) {
		d->error = -ENOMEM;
		return true;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	*c = (struct consequence){
		.kind = j->rule->kind, .row = row,
		.finding = eadm_judge_keep(j, text),
	};
	v->n_consequences++;
	return true;
}

void eadm_judge_severity(struct judge *j, enum eadm_severity severity)
{
	if (j->verdict)
		j->verdict->severity = severity;
}

void eadm_judge_cause(struct judge *j, const char *cause)
{
	if (j->verdict)
		j->verdict->cause = fill(j, j->verdict->row, cause);
}

void eadm_judge_next(struct judge *j, const char *next)
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
		v->evidence = eadm_diag_alloc(
			&j->d->pool, MAX_EVIDENCE * sizeof(*v->evidence));
	if (!v->evidence) {
		j->d->error = -ENOMEM;
		return NULL;
	}
	e = &v->evidence[v->n_evidence++];
	e->object = eadm_diag_kind_name(kind);
	e->id = row->id;
	e->text = "";
	return e;
}

static bool is_text(const struct eadm_field *field)
{
	enum eadm_field_type type = eadm_field_type(field);

	return type == EADM_TYPE_STRING || type == EADM_TYPE_BYTES;
}

void eadm_cite(struct judge *j, enum diag_kind kind, const struct diag_row *row,
	       unsigned int at)
{
	const struct eadm_field *field = eadm_diag_fields(kind)->field[at];
	struct eadm_evidence *e;
	char text[64];

	if (!diag_has(row, at))
		return;
	e = new_evidence(j, kind, row);
	if (!e)
		return;
	e->name = eadm_field_key(field);
	if (is_text(field)) {
		e->text = eadm_judge_keep(j, diag_at(row, at)->s);
		return;
	}
	e->number = diag_at(row, at)->u;
	/*
	 * Values are represented as in JSON: states by name, negative and hexadecimal
	 * numbers as text.
	 */
	e->is_number = eadm_field_type(field) == EADM_TYPE_U64 &&
		       !eadm_field_is_hex(field) &&
		       !eadm_field_value_at(field, 0, NULL);
	if (eadm_field_type(field) == EADM_TYPE_S64)
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)e->number);
	else
		eadm_field_text(field, e->number, text, sizeof(text));
	e->text = eadm_judge_keep(j, text);
}

void eadm_cite_growth(struct judge *j, enum diag_kind kind,
		      const struct diag_row *now, const struct diag_row *then,
		      unsigned int at)
{
	const struct eadm_field *field = eadm_diag_fields(kind)->field[at];
	struct eadm_evidence *e;
	char text[96];

	if (!diag_has(now, at) || !diag_has(then, at))
		return;
	e = new_evidence(j, kind, now);
	if (!e)
		return;
	snprintf(text, sizeof(text), "%s_growth", eadm_field_key(field));
	e->name = eadm_judge_keep(j, text);
	e->is_number = true;
	e->number = diag_growth(now, then, at);
	snprintf(text, sizeof(text), "%" PRIu64, e->number);
	e->text = eadm_judge_keep(j, text);
}

/* The counters are fields of the rule's rows. */
bool eadm_accuse_growth(struct judge *j, const struct diag_row *now,
			const struct diag_row *then, const signed char *fields,
			uint64_t least, const char *one, const char *many)
{
	const signed char *f;
	uint64_t sum = 0;
	char age[32];

	for (f = fields; *f >= 0; f++)
		sum += diag_growth(now, then, *f);
	if (sum < least)
		return false;
	eadm_accuse(j, now, "%" PRIu64 " %s within %s", sum,
		    eadm_plural(sum, one, many),
		    eadm_age_text(now->time - then->time, age, sizeof(age)));
	for (f = fields; *f >= 0; f++) {
		if (diag_growth(now, then, *f))
			eadm_cite_growth(j, j->rule->kind, now, then, *f);
	}
	return true;
}

void eadm_cite_family(struct judge *j, enum diag_kind kind,
		      const struct diag_row *row)
{
	const struct diag_fields *f = eadm_diag_fields(kind);
	unsigned int i;

	for (i = f->n_named; i < f->n; i++)
		eadm_cite(j, kind, row, i);
}

void eadm_cite_all(struct judge *j, enum diag_kind kind,
		   const struct diag_row *row, const signed char *fields)
{
	for (; *fields >= 0; fields++)
		eadm_cite(j, kind, row, *fields);
}

const char *eadm_age_text(uint64_t ns, char *buf, size_t size)
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

/* "QP 17 of ib_send_bw (99)" */
const char *eadm_qp_text(const struct diag_row *qp, char *buf, size_t size)
{
	if (diag_u64(qp, QP_PID))
		snprintf(buf, size, "QP %" PRIu64 " of %s (%" PRIu64 ")", qp->id,
			 diag_text(qp, QP_COMM), diag_u64(qp, QP_PID));
	else
		snprintf(buf, size, "QP %" PRIu64 " of %s", qp->id,
			 diag_text(qp, QP_COMM));
	return buf;
}

/*
 * "QP 5 at 10.9.0.9"; RDMA netlink shows addresses only for connections made by
 * rdma_cm.
 */
const char *eadm_peer_text(const struct diag_row *qp, char *buf, size_t size)
{
	const char *address = diag_text(qp, QP_PEER_ADDR);

	if (diag_has(qp, QP_DEST_QPN))
		snprintf(buf, size, "QP %" PRIu64 "%s%s",
			 diag_u64(qp, QP_DEST_QPN),
			 *address ? " at " : ", whose address is not visible",
			 address);
	else
		snprintf(buf, size, "%s",
			 *address ? address : "an unknown peer");
	return buf;
}
