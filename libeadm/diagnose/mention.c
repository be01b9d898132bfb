// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds the verdicts that report an object or name it among their consequences. */
#include <string.h>

#include "grow.h"
#include "mention.h"

#define NONE UINT32_MAX

static uint32_t *head_of(const struct mentions *m, enum diag_kind kind,
			 uint64_t dev, uint64_t id)
{
	uint64_t hash = (id * DIAG_KINDS + kind + (dev << 40)) *
			0x9e3779b97f4a7c15;

	return &m->head[(hash >> 32) & (m->n_heads - 1)];
}

static void link_in(struct mentions *m, uint32_t at)
{
	struct mention *mention = &m->mention[at];
	uint32_t *head = head_of(m, mention->kind, mention->dev, mention->id);

	mention->next = *head;
	*head = at;
}

static bool make_heads(struct mentions *m)
{
	size_t n = m->n_heads ? 2 * m->n_heads : 64;
	uint32_t *head = malloc(n * sizeof(*head)), i;

	if (!head)
		return false;
	free(m->head);
	memset(head, 0xff, n * sizeof(*head));
	m->head = head;
	m->n_heads = n;
	for (i = 0; i < m->n; i++)
		link_in(m, i);
	return true;
}

bool eadm_mention_add(struct mentions *m, enum diag_kind kind,
		      const struct diag_row *row, unsigned int verdict)
{
	if (m->n == NONE || !grow(m->mention, m->n, m->max) ||
	    (m->n >= m->n_heads && !make_heads(m)))
		return false;
	m->mention[m->n] = (struct mention){
		.kind = kind, .dev = row->dev, .id = row->id,
		.verdict = verdict,
	};
	link_in(m, m->n++);
	return true;
}

const struct mention *eadm_mention_next(const struct mentions *m,
					enum diag_kind kind,
					const struct diag_row *row,
					const struct mention *after)
{
	uint32_t at = NONE;

	if (after)
		at = after->next;
	else if (m->n_heads)
		at = *head_of(m, kind, row->dev, row->id);
	for (; at != NONE; at = m->mention[at].next) {
		const struct mention *found = &m->mention[at];

		if (found->kind == kind && found->dev == row->dev &&
		    found->id == row->id)
			return found;
	}
	return NULL;
}

void eadm_mentions_free(struct mentions *m)
{
	free(m->mention);
	free(m->head);
	memset(m, 0, sizeof(*m));
}
