/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the verdicts that report an object or name it among their consequences. */
#ifndef EADM_DIAG_MENTION_H
#define EADM_DIAG_MENTION_H

#include "model.h"

struct mention {
	enum diag_kind kind;
	uint64_t dev, id;
	unsigned int verdict;	/* number of the verdict */
	uint32_t next;
};

/* A hash table. */
struct mentions {
	struct mention *mention;
	size_t n, max;
	uint32_t *head;
	size_t n_heads;		/* a power of two, or 0 */
};

/* Returns false if out of memory. */
bool eadm_mention_add(struct mentions *m, enum diag_kind kind,
		      const struct diag_row *row, unsigned int verdict);

/*
 * Returns the next verdict that mentions the object, latest first. @after: NULL to get
 * the latest.
 */
const struct mention *eadm_mention_next(const struct mentions *m,
					enum diag_kind kind,
					const struct diag_row *row,
					const struct mention *after);

void eadm_mentions_free(struct mentions *m);

#endif /* EADM_DIAG_MENTION_H */
