/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A diagnosis, and a rule being applied in it. */
#ifndef EADM_JUDGE_H
#define EADM_JUDGE_H

#include "mention.h"
#include "rules.h"

/* Effect of a fault on another object. */
struct consequence {
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
	struct consequence *consequences;
	unsigned int n_consequences, max_consequences;
	unsigned int number;	/* in the order of discovery */
};

struct eadm_diagnosis {
	struct diag_snapshot now, then;
	bool have_now, have_then;
	bool backwards;			/* the previous snapshot was not earlier, and was
					 * discarded */
	struct diag_row *idle;		/* QPs that had nothing to send, one entry for
					 * each snapshot in which this was so; sorted
					 * when rules are applied */
	size_t n_idle, max_idle;
	unsigned int between;		/* number of snapshots dropped */
	bool doubt;
	unsigned int groups;		/* groups of rules that apply */
	bool unknown;			/* parts of the setup are unknown */
	struct {
		const char *what;
		char why[120];
	} remarks[2];
	unsigned int n_remarks;
	struct verdict *verdicts;
	unsigned int n;
	size_t max;
	struct mentions mentions;	/* objects of verdicts */
	uint64_t settled[64];		/* devices that need no further rules */
	unsigned int n_settled;
	struct diag_pool pool;		/* memory of the verdicts */
	char skipped[80];		/* number of rules skipped because there is only
					 * one snapshot */
	struct diag_gaps gaps;
	int error;
};

struct judge {
	struct eadm_diagnosis *d;
	const struct eadm_rule *rule;
	struct verdict *verdict;	/* the verdict being written */
};

/* Called before rules are applied. */
void eadm_judge_prepare(struct eadm_diagnosis *d);
/* Returns false if the number of two rows denotes different objects. */
bool eadm_judge_is_same(enum diag_kind kind, const struct diag_row *now,
			const struct diag_row *then);
const char *eadm_judge_keep(struct judge *j, const char *text);

#endif /* EADM_JUDGE_H */
