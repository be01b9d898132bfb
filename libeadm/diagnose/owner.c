// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the processes do that own queues. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "base/ctx.h"
#include "base/grow.h"
#include "source/query.h"

/* Each is three files to read. */
#define MOST_OWNERS 512

/* "STATE WCHAN FROZEN CGROUP"; see source/process.c. */
static bool parse(struct diag_pool *pool, const char *text,
		  struct diag_owner *owner)
{
	char wchan[64], group[200];
	int frozen;

	if (sscanf(text, "%c %63s %d %199[^\n]", &owner->state, wchan, &frozen,
		   group) != 4)
		return false;
	owner->frozen = frozen;
	owner->wchan = eadm_diag_strdup(pool, strcmp(wchan, "-") ? wchan : "");
	owner->group = eadm_diag_strdup(pool, *group == '/' ? group : "");
	return owner->wchan && owner->group;
}

const struct diag_owner *eadm_diag_owner(const struct diag_snapshot *m,
					 uint64_t pid)
{
	size_t low = 0, high = m->n_owners, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (m->owners[mid].pid < pid)
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->n_owners && m->owners[low].pid == pid ?
		       &m->owners[low] : NULL;
}

static int by_pid(const void *a, const void *b)
{
	const struct diag_owner *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static bool add(struct diag_snapshot *m, const struct diag_row *row,
		unsigned int field)
{
	uint64_t pid = diag_u64(row, field);
	struct diag_owner *all;

	/* Rows of one process mostly follow each other. */
	if (!pid || (m->n_owners && m->owners[m->n_owners - 1].pid == pid))
		return true;
	all = eadm_grow_room(m->owners, m->n_owners, &m->max_owners,
			     sizeof(*all));
	if (!all)
		return false;
	m->owners = all;
	all[m->n_owners++] = (struct diag_owner){ .pid = pid };
	return true;
}

/* Each process once, and what it does. */
static int look(struct diag_snapshot *m, struct eadm_ctx *ctx)
{
	const char *text;
	char key[40];
	size_t i, n = 0;

	qsort(m->owners, m->n_owners, sizeof(*m->owners), by_pid);
	for (i = 0; i < m->n_owners && n < MOST_OWNERS; i++) {
		if (n && m->owners[n - 1].pid == m->owners[i].pid)
			continue;
		snprintf(key, sizeof(key), "process.%" PRIu64,
			 m->owners[i].pid);
		text = eadm_source_fact(ctx, key);
		/* It has ended, or nobody recorded it. */
		if (!text)
			continue;
		m->owners[n].pid = m->owners[i].pid;
		n += parse(&m->pool, text, &m->owners[n]);
	}
	m->n_owners = n;
	return 0;
}

int eadm_diag_owners_read(struct diag_snapshot *m, struct eadm_ctx *ctx)
{
	const struct diag_rows *qps = &m->rows[DIAG_QP];
	const struct diag_rows *cqs = &m->rows[DIAG_CQ];
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < qps->n; i++)
		ok = add(m, &qps->row[i], QP_PID);
	for (i = 0; ok && i < cqs->n; i++)
		ok = add(m, &cqs->row[i], CQ_PID);
	if (!ok)
		return -ENOMEM;
	return m->n_owners ? look(m, ctx) : 0;
}
