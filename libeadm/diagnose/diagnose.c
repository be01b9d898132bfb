// SPDX-License-Identifier: LGPL-2.1-or-later
/* Applies rules to snapshots and stores the verdicts. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "grow.h"
#include "judge.h"
#include "read/device.h"
#include "source/query.h"

/* ---- the diagnosis ------------------------------------------------------------------ */

EADM_API struct eadm_diagnosis *eadm_diagnosis_new(void)
{
	return calloc(1, sizeof(struct eadm_diagnosis));
}

static void forget_verdicts(struct eadm_diagnosis *d)
{
	d->n = 0;
	d->n_settled = 0;
	d->doubt = false;
	d->unknown = false;
	d->skipped[0] = '\0';
	d->n_remarks = 0;
	eadm_diag_gaps_free(&d->gaps);
	eadm_mentions_free(&d->mentions);
	eadm_diag_pool_free(&d->pool);
}

EADM_API void eadm_diagnosis_free(struct eadm_diagnosis *d)
{
	if (!d)
		return;
	forget_verdicts(d);
	free(d->verdicts);
	free(d->idle);
	eadm_diag_snapshot_free(&d->now);
	eadm_diag_snapshot_free(&d->then);
	free(d);
}

/*
 * Snapshots between the first and the last one are discarded; only their lists of QPs
 * that had nothing to send are kept. A QP that always has something to send is in none
 * of these lists.
 */
static int note_idle(struct eadm_diagnosis *d)
{
	const struct diag_rows *qps = &d->now.rows[DIAG_QP];
	size_t i;

	for (i = 0; i < qps->n; i++) {
		if (diag_u64(&qps->row[i], QP_HW_SQ_PI) !=
		    diag_u64(&qps->row[i], QP_HW_SQ_CI))
			continue;
		if (!grow(d->idle, d->n_idle, d->max_idle))
			return -ENOMEM;
		d->idle[d->n_idle++] = (struct diag_row){
			.dev = qps->row[i].dev, .id = qps->row[i].id,
		};
	}
	return 0;
}

static void free_then(struct eadm_diagnosis *d)
{
	eadm_diag_snapshot_free(&d->then);
	d->have_then = false;
}

EADM_API int eadm_diagnosis_sample(struct eadm_diagnosis *d,
				   struct eadm_ctx *ctx,
				   const struct eadm_sample_opts *opts)
{
	struct eadm_sample_opts all;
	struct diag_snapshot now;
	bool held;
	int ret = eadm_abi_take(ctx, &all, sizeof(all), opts);

	if (!ret)
		ret = eadm_abi_bits(ctx, all.groups, EADM_GROUP_STATE | EADM_GROUP_SETUP);
	if (ret)
		return ret;
	if (!opts)
		all.hw = true;
	if (!all.groups)
		all.groups = EADM_GROUP_STATE;
	d->groups = all.groups;
	forget_verdicts(d);
	/* At most two snapshots are in memory unless the period is extended. */
	if (d->have_now && !all.extend)
		free_then(d);
	eadm_source_mark(ctx);
	eadm_devices_freeze(ctx, &held);
	ret = eadm_diag_snapshot_read(&now, ctx, &all);
	eadm_devices_thaw(ctx, held);
	if (!ret) {
		ret = eadm_diag_owners_read(&now, ctx);
		if (ret)
			eadm_diag_snapshot_free(&now);
	}
	if (ret)
		return ret == -ENOMEM ? eadm_oom(ctx) : ret;
	now.clock_step = eadm_clock_step(ctx);
	if (!d->have_now || !all.extend || !d->have_then) {
		free_then(d);
		d->then = d->now;
		d->have_then = d->have_now;
		d->n_idle = 0;
		d->between = 0;
	} else {
		ret = note_idle(d);
		d->between++;
		eadm_diag_snapshot_free(&d->now);
	}
	d->now = now;
	d->have_now = true;
	d->backwards = d->have_then && now.time && now.time <= d->then.time;
	if (d->backwards)
		free_then(d);
	if (d->have_then)
		eadm_diag_forget_replaced(&d->then, &d->now);
	return ret ? eadm_oom(ctx) : 0;
}

/* Verdicts refer to rows of both snapshots, gaps only to those of the latest one. */
EADM_API void eadm_diagnosis_trim(struct eadm_diagnosis *d)
{
	d->n = 0;
	free_then(d);
	free(d->idle);
	d->idle = NULL;
	d->n_idle = d->max_idle = 0;
	if (d->have_now)
		eadm_diag_indexes_clear(d->now.indexes);
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

/*
 * Returns the row of the same object in the earlier snapshot. Both snapshots are sorted:
 * *at is the index at which the search for the next row starts, and must be 0 at first.
 */
static const struct diag_row *row_then(const struct eadm_diagnosis *d,
				       enum diag_kind kind,
				       const struct diag_row *now, size_t *at)
{
	const struct diag_row *then;

	if (!d->have_then)
		return NULL;
	then = eadm_diag_find_next(&d->then, kind, now, at);
	return then && eadm_judge_is_same(kind, now, then) ? then : NULL;
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

/* Find and describe the data that could not be examined. */
static void find_gaps(struct judge *j)
{
	struct eadm_diagnosis *d = j->d;
	struct eadm_gap gap = { .size = sizeof(gap) };
	char text[512];
	unsigned int i;

	for (i = 0; i < d->now.n_inputs && !d->error; i++) {
		if (!is_settled(d, d->now.inputs[i].dev))
			d->error = eadm_diag_gaps_find(&d->gaps, &d->now,
						       d->have_then, d->groups,
						       &d->now.inputs[i]);
	}
	for (i = 0; eadm_diagnosis_gap(d, i, &gap) > 0; i++) {
		snprintf(text, sizeof(text),
			 "%u of %u could not be applied: %s (%s)", gap.count,
			 gap.of, gap.why, gap.remedy);
		d->gaps.gap[i].text = eadm_judge_keep(j, text);
	}
}

EADM_API int eadm_diagnosis_evaluate(struct eadm_diagnosis *d)
{
	struct judge j = { .d = d };
	const struct diag_row *then;
	const struct diag_rows *rows;
	unsigned int skipped = 0;
	size_t i, at;

	forget_verdicts(d);
	d->error = 0;
	eadm_judge_prepare(d);
	while ((j.rule = eadm_rule_next(j.rule))) {
		if (!(eadm_rule_groups(j.rule) & d->groups))
			continue;
		rows = &d->now.rows[j.rule->kind];
		if (j.rule->two && !d->have_then && rows->n)
			skipped++;
		for (i = 0, at = 0; i < rows->n; i++) {
			/*
			 * A process or socket does not depend on the state of the
			 * device.
			 */
			then = row_then(d, j.rule->kind, &rows->row[i], &at);
			if ((j.rule->two && !then) ||
			    (j.rule->kind != DIAG_USER &&
			     j.rule->kind != DIAG_FALLBACK &&
			     is_settled(d, rows->row[i].dev)))
				continue;
			apply(&j, &rows->row[i], then);
		}
	}
	find_gaps(&j);
	if (eadm_diag_indexes_failed(&d->now) ||
	    eadm_diag_indexes_failed(&d->then))
		d->error = -ENOMEM;
	if (d->n > 1)
		qsort(d->verdicts, d->n, sizeof(*d->verdicts), worst_first);
	if (skipped)
		snprintf(d->skipped, sizeof(d->skipped),
			 "%u %s an earlier snapshot for comparison (%s)",
			 skipped, eadm_plural(skipped, "requires", "require"),
			 d->backwards ? "the clock was set back" :
					"eadm record -n 2");
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
		[DIAG_FAILURE] = { FAIL_PID, FAIL_COMM },
		[DIAG_CALL] = { CALL_PID, CALL_COMM },
		[DIAG_EVENT] = { EVENT_PID, EVENT_COMM },
		[DIAG_LINK ... DIAG_CGROUP] = { -1, -1 },
		[DIAG_USER] = { USER_PID, USER_COMM },
		[DIAG_FALLBACK ... DIAG_KINDS - 1] = { -1, -1 },
	};

	v->comm = "";
	if (owner[kind].pid < 0)
		return;
	v->pid = diag_u64(row, owner[kind].pid);
	v->comm = diag_text(row, owner[kind].comm);
}

/* Each device has one command queue and one link, and most have one port. */
static bool has_id(enum diag_kind kind)
{
	return kind == DIAG_PORT ||
	       (kind != DIAG_DEV && kind != DIAG_CMDQ && kind != DIAG_COUNTERS &&
		kind < DIAG_LINK);
}

EADM_API int eadm_diagnosis_verdict(const struct eadm_diagnosis *d,
				    unsigned int index,
				    struct eadm_verdict *verdict)
{
	struct eadm_verdict full = { 0 };
	const struct verdict *v;

	if (index >= d->n)
		return 0;
	v = &d->verdicts[index];
	full.rule = v->rule;
	full.severity = v->severity;
	full.device = v->row->device;
	full.object = eadm_diag_kind_name(v->rule->kind);
	full.has_id = has_id(v->rule->kind);
	full.id = v->row->id;
	tell_owner(v->row, v->rule->kind, &full);
	full.finding = v->finding;
	full.cause = v->cause;
	full.next = v->next;
	return eadm_abi_give(verdict, &full, sizeof(full));
}

EADM_API int eadm_diagnosis_evidence(const struct eadm_diagnosis *d,
				     unsigned int verdict, unsigned int index,
				     struct eadm_evidence *evidence)
{
	const struct verdict *v;

	if (verdict >= d->n)
		return 0;
	v = &d->verdicts[verdict];
	if (index >= v->n_evidence)
		return 0;
	return eadm_abi_give(evidence, &v->evidence[index], sizeof(*evidence));
}

EADM_API int eadm_diagnosis_consequence(const struct eadm_diagnosis *d,
					unsigned int verdict,
					unsigned int index,
					struct eadm_consequence *consequence)
{
	struct eadm_consequence full = { 0 };
	struct eadm_verdict owner = { 0 };
	const struct consequence *c;
	const struct verdict *v;

	if (verdict >= d->n)
		return 0;
	v = &d->verdicts[verdict];
	if (index >= v->n_consequences)
		return 0;
	c = &v->consequences[index];
	full.device = c->row->device;
	full.object = eadm_diag_kind_name(c->kind);
	full.has_id = has_id(c->kind);
	full.id = c->row->id;
	tell_owner(c->row, c->kind, &owner);
	full.pid = owner.pid;
	full.comm = owner.comm;
	full.finding = c->finding;
	return eadm_abi_give(consequence, &full, sizeof(full));
}

EADM_API int eadm_diagnosis_gap(const struct eadm_diagnosis *d,
				unsigned int index, struct eadm_gap *gap)
{
	struct eadm_gap full = { 0 };
	const struct eadm_rule *rule = NULL;
	const struct diag_gap *g;

	if (index >= d->gaps.n)
		return 0;
	g = &d->gaps.gap[index];
	full.device = g->in->device;
	full.reason = eadm_diag_lack_name(g->lack);
	full.count = g->rules;
	while ((rule = eadm_rule_next(rule)))
		full.of += !!(eadm_rule_groups(rule) & d->groups);
	full.why = g->why ? g->why : eadm_diag_lack_why(g->lack);
	full.remedy = eadm_diag_lack_remedy(g->lack);
	return eadm_abi_give(gap, &full, sizeof(full));
}

/* The lack of data that does not exist is not a failure. */
static void gap_note(const struct eadm_diagnosis *d, unsigned int index,
		     struct eadm_note *note)
{
	const struct diag_gap *g = &d->gaps.gap[index];
	struct eadm_gap gap = { .size = sizeof(gap) };

	eadm_diagnosis_gap(d, index, &gap);
	note->error = eadm_diag_lack_is_fault(g->lack) ? -EACCES : -ENODATA;
	note->device = gap.device;
	note->what = "rules";
	note->why = g->text;
	note->reason = gap.reason;
	note->remedy = gap.remedy;
	note->count = gap.count;
	note->of = gap.of;
}

EADM_API int eadm_diagnosis_note(const struct eadm_diagnosis *d,
				 unsigned int index, struct eadm_note *note)
{
	struct eadm_note full = { 0 };
	const struct diag_note *n;
	size_t i;

	if (index < d->now.n_notes) {
		n = &d->now.notes[index];
		full.error = n->error;
		full.device = n->device;
		full.what = n->what;
		full.why = n->why;
		return eadm_abi_give(note, &full, sizeof(full));
	}
	index -= d->now.n_notes;
	if (d->unknown && !index--) {
		full.error = -ENODATA;
		full.device = "";
		full.what = "properties of the machine";
		full.why = "some are unknown and were not checked";
		return eadm_abi_give(note, &full, sizeof(full));
	}
	if (index < d->n_remarks) {
		full.error = -ENODATA;
		full.device = "";
		full.what = d->remarks[index].what;
		full.why = d->remarks[index].why;
		return eadm_abi_give(note, &full, sizeof(full));
	}
	index -= d->n_remarks;
	/* The lack of a second snapshot is reported once for all devices. */
	if (d->skipped[0] && !index--) {
		full.error = -ENODATA;
		full.device = "";
		full.what = "rules";
		full.why = d->skipped;
		return eadm_abi_give(note, &full, sizeof(full));
	}
	for (i = 0; i < d->gaps.n; i++) {
		if (d->gaps.gap[i].lack == DIAG_LACK_SNAPSHOT || index--)
			continue;
		gap_note(d, i, &full);
		return eadm_abi_give(note, &full, sizeof(full));
	}
	return 0;
}
