/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A diagnosis, and a rule that is being applied in it. */
#ifndef EADM_JUDGE_H
#define EADM_JUDGE_H

#include "rules.h"

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
	struct diag_snapshot now, then;
	bool have_now, have_then;
	struct diag_row *idle;		/* QPs that had nothing to send once */
	size_t n_idle, max_idle;
	unsigned int between;		/* snapshots that were dropped */
	bool doubt;
	unsigned int groups;		/* rules that apply */
	bool unknown;			/* the setup is not all known */
	struct verdict *verdicts;
	unsigned int n;
	size_t max;
	uint64_t settled[64];		/* devices of which all is said */
	unsigned int n_settled;
	struct diag_pool pool;		/* of verdicts */
	char skipped[80];		/* how many rules, for want of a snapshot */
	struct diag_gaps gaps;
	int error;
};

struct judge {
	struct eadm_diagnosis *d;
	const struct eadm_rule *rule;
	struct verdict *verdict;	/* the one being written */
};

const char *eadm_judge_keep(struct judge *j, const char *text);

#endif /* EADM_JUDGE_H */
