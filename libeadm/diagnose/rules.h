/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rules of a diagnosis: a line of data and a small function each.
 *
 * The function is called for each object of the rule's kind that is there now.
 * It looks, and where something is wrong it accuses the object, in a sentence
 * with numbers, and cites what it saw.
 */
#ifndef EADM_RULES_H
#define EADM_RULES_H

#include <errno.h>

#include "model.h"
#include "base/ctx.h"

#define SECOND 1000000000ULL

struct judge;

struct eadm_rule {
	const char *name;	/* for ever */
	const char *check;	/* in "eadm check", NULL: the same */
	unsigned int groups;	/* EADM_RULES_*, 0: STATE */
	enum eadm_severity severity;
	enum diag_kind kind;
	bool two;		/* it compares two snapshots */
	bool stuck;		/* because something did not move between them */
	bool last;		/* nothing else matters of this device then */
	unsigned int needs;	/* besides rows: DIAG_NEEDS() of each */
	/* Fields of its rows, -1 at the end: where there is one, the state is not needed. */
	const signed char *instead;
	const char *help;
	/* "{dev}" and "{id}" stand for the device and the object. */
	const char *cause, *next;
	/* What looks alike and is as it should be, and why it is not accused. */
	const char *alike;
	/* @then: NULL when the object was not there before. */
	void (*look)(struct judge *j, const struct diag_row *now,
		     const struct diag_row *then);
};

/* Shorthands for the lines of data. */
#define STATE	DIAG_NEEDS(DIAG_STATE)
#define HW	DIAG_NEEDS(DIAG_HW)
#define RINGS	DIAG_NEEDS(DIAG_RINGS)
#define OWNERS	DIAG_NEEDS(DIAG_OWNERS)

extern const struct eadm_rule eadm_rules_dev[], eadm_rules_cmdq[],
	eadm_rules_eq[], eadm_rules_cq[], eadm_rules_notify[], eadm_rules_qp[],
	eadm_rules_owner[], eadm_rules_failure[], eadm_rules_setup[],
	eadm_rules_port[];

/* ---- what could not be looked at: gaps.c --------------------------------- */

struct diag_gap {
	const struct diag_inputs *in;
	enum diag_lack lack;
	const char *why;	/* in the library's words, or NULL */
	const char *text;	/* all of it, as a sentence */
	unsigned int rules;
};

struct diag_gaps {
	struct diag_gap *gap;
	size_t n, max;
};

const char *eadm_diag_lack_name(enum diag_lack lack);
const char *eadm_diag_lack_why(enum diag_lack lack);
const char *eadm_diag_lack_remedy(enum diag_lack lack);
int eadm_diag_gaps_find(struct diag_gaps *gaps, const struct diag_snapshot *m,
			bool two, unsigned int groups,
			const struct diag_inputs *in);
void eadm_diag_gaps_free(struct diag_gaps *gaps);

/* ---- what a look sees ------------------------------------------------------ */

const struct diag_snapshot *eadm_judge_now(const struct judge *j);
const struct diag_snapshot *eadm_judge_then(const struct judge *j);

/* How many snapshots were dropped between the two, and a QP was idle at. */
unsigned int eadm_judge_between(const struct judge *j);
unsigned int eadm_judge_idled(const struct judge *j,
			      const struct diag_row *row);
/* A longer look may show something: see eadm_diagnosis_in_doubt(). */
void eadm_judge_doubt(struct judge *j);

/* Counted faults of longer ago are history. */
#define LATELY_NS	(30 * SECOND)

/*
 * Whether a counter of faults grew between the snapshots, or shortly before; where
 * it is known how long ago that was, @ago is that, else 0.
 */
static inline bool diag_lately(const struct diag_row *now,
			       const struct diag_row *then, unsigned int field,
			       unsigned int age, uint64_t *ago)
{
	*ago = diag_u64(now, age);
	return diag_growth(now, then, field) ||
	       (diag_u64(now, field) && diag_has(now, age) &&
		*ago < LATELY_NS);
}

/* Whether a QP of this CQ has completed anything on either of its queues. */
bool eadm_cq_qps_move(struct judge *j, const struct diag_row *cq);

/* ---- what it says ------------------------------------------------------------- */

void eadm_accuse(struct judge *j, const struct diag_row *row, const char *fmt,
		 ...) EADM_PRINTF(3, 4);
/*
 * Of rules about the setup, and heard only when those apply: that something is
 * well, or cannot be seen, with what to do about that.
 */
void eadm_pass(struct judge *j, const struct diag_row *row, const char *fmt,
	       ...) EADM_PRINTF(3, 4);
void eadm_unseen(struct judge *j, const struct diag_row *row,
		 const char *remedy, const char *fmt, ...) EADM_PRINTF(4, 5);
/* The same of a device whose driver should show @what; false: it is none. */
bool eadm_judge_hidden(struct judge *j, const struct diag_row *dev,
		       const char *what);
/* Of which family it is, by its driver; NULL: not known. */
const struct eadm_family *eadm_judge_family(struct judge *j,
					    const struct diag_row *dev);
/* The source does not have what the rule looks at. */
void eadm_judge_unknown(struct judge *j);
/* Afterwards, where they differ from the rule's own. */
void eadm_judge_severity(struct judge *j, enum eadm_severity severity);
void eadm_judge_cause(struct judge *j, const char *cause);
void eadm_judge_next(struct judge *j, const char *next);

/* What a cause means, in a sentence; NULL where that is not known. */
const char *eadm_cause_text(uint64_t cause);

/* The process may be what keeps a queue from being served: look at it. */
void eadm_judge_consumer(struct judge *j, uint64_t pid);

/*
 * For what follows from another fault: where the @cause was accused (by @rule, or
 * NULL: by any), or is itself a consequence, @row is listed there, and true is
 * returned. The sentence says what the fault does to @row.
 */
bool eadm_follows(struct judge *j, const char *rule, enum diag_kind kind,
		  const struct diag_row *cause, const struct diag_row *row,
		  const char *fmt, ...) EADM_PRINTF(6, 7);

/* Where counters of a list that ends with -1 grew by @least together: of @what. */
void eadm_accuse_growth(struct judge *j, const struct diag_row *now,
			const struct diag_row *then, const signed char *fields,
			uint64_t least, const char *what);

void eadm_cite(struct judge *j, enum diag_kind kind, const struct diag_row *row,
	       unsigned int field);
void eadm_cite_growth(struct judge *j, enum diag_kind kind,
		      const struct diag_row *now, const struct diag_row *then,
		      unsigned int field);

/* States that only the family of the adapter has. */
void eadm_cite_family(struct judge *j, enum diag_kind kind,
		      const struct diag_row *row);

/* Fields of a list that ends with a negative number. */
void eadm_cite_all(struct judge *j, enum diag_kind kind,
		   const struct diag_row *row, const signed char *fields);

/* "3.2 s", for a sentence. */
const char *eadm_age_text(uint64_t ns, char *buf, size_t size);

static inline const char *diag_interval(const struct diag_row *now,
					const struct diag_row *then, char *buf,
					size_t size)
{
	return eadm_age_text(now->time - then->time, buf, size);
}

#endif /* EADM_RULES_H */
