// SPDX-License-Identifier: GPL-2.0-or-later
/* Selects and sorts the QPs to be shown. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "top.h"

/* Columns by which rows can be sorted; the first one sorts the busiest rows first. */
static const struct sort_name {
	const char *name;
	unsigned int column;
} sorts[] = {
	{ "rate", QP_SQ }, { "queued", QP_QUEUED }, { "last", QP_LAST },
	{ "age", QP_AGE }, { "qpn", QP_QPN }, { "state", QP_STATE },
	{ "pid", QP_PID }, { "comm", QP_COMM }, { "peer", QP_PEER },
}, proc_sorts[] = {
	{ "rate", PROC_TX }, { "qps", PROC_QPS }, { "mrs", PROC_MRS },
	{ "pid", PROC_PID }, { "comm", PROC_COMM },
};

static const struct sort_name *sorts_of(const struct top *top, size_t *n)
{
	*n = top->processes ? ARRAY_SIZE(proc_sorts) : ARRAY_SIZE(sorts);
	return top->processes ? proc_sorts : sorts;
}

/* @name: NULL sorts the busiest rows first. */
int top_sort_find(struct top *top, const char *name)
{
	struct word_list words = { 0 };
	const struct sort_name *all;
	size_t i, n;

	all = sorts_of(top, &n);
	for (i = 0; i < n; i++) {
		if (!name || !strcmp(all[i].name, name)) {
			word_free(&words);
			top->sort = all[i].column;
			return 0;
		}
		word_add(&words, all[i].name);
	}
	return unknown_word(top->cli, name, "unknown order", &words, NULL);
}

/* Returns the next or previous sort column. */
unsigned int top_sort_step(const struct top *top, int step)
{
	const struct sort_name *all;
	size_t i, n;

	all = sorts_of(top, &n);
	for (i = 0; i < n && all[i].column != top->sort; i++)
		;
	return all[(i + n + step) % n].column;
}

static bool contains(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

/* Matches part of a name or an address, or a whole number or state. */
static bool matches(const struct top *top, const struct top_qp *qp)
{
	const struct eadm_field *state = eadm_object_find_field(
		eadm_object_find("qp"), "state");
	const char *name = qp->has_state ?
		eadm_field_value_name(state, qp->state) : NULL;
	char peer[INET6_ADDRSTRLEN] = "";
	uint64_t number;

	if (!top->match[0])
		return true;
	if (parse_u64(top->match, &number) &&
	    (number == qp->qpn || (qp->has_pid && number == qp->pid)))
		return true;
	if (qp->peer_len)
		inet_ntop(qp->peer_len == 4 ? AF_INET : AF_INET6, qp->peer,
			  peer, sizeof(peer));
	return contains(qp->comm, top->match) || contains(peer, top->match) ||
	       contains(top_dev_name(top, qp->dev), top->match) ||
	       (name && !strcasecmp(name, top->match));
}

static float busy(const struct top_qp *qp)
{
	return (qp->sq_rate > 0 ? qp->sq_rate : 0) +
	       (qp->rq_rate > 0 ? qp->rq_rate : 0);
}

#define ORDER(x, y) ((x) < (y) ? -1 : (x) > (y))

/*
 * Returns a value below 0 if @a comes first. Larger and older values come first,
 * unknown values last.
 */
static int compare(const struct top_qp *a, const struct top_qp *b,
		   unsigned int column)
{
	switch (column) {
	case QP_QUEUED:
		if (a->has_queued != b->has_queued)
			return a->has_queued ? -1 : 1;
		return ORDER(b->queued, a->queued);
	case QP_LAST:
		if (a->has_last != b->has_last)
			return a->has_last ? -1 : 1;
		return ORDER(b->last, a->last);
	case QP_AGE:
		return ORDER(b->life.age, a->life.age);
	case QP_QPN:
		return ORDER(a->qpn, b->qpn);
	case QP_STATE:
		return ORDER(b->state, a->state);
	case QP_PID:
		return ORDER(a->pid, b->pid);
	case QP_COMM:
		return strcmp(a->comm, b->comm);
	case QP_PEER:
		if (a->peer_len != b->peer_len)
			return ORDER(b->peer_len, a->peer_len);
		return memcmp(a->peer, b->peer, a->peer_len);
	default:
		return ORDER(busy(b), busy(a));
	}
}

static int by_order(const void *a, const void *b, void *data)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct top *top = data;
	int ret = compare(&top->qps.qp[i], &top->qps.qp[j], top->sort);

	if (!ret)
		ret = ORDER(i, j);
	return top->reverse ? -ret : ret;
}

/*
 * Sorts only the busy QPs if possible: if there are many QPs, most are idle and already
 * in order. Returns false if out of memory.
 */
bool top_arrange(struct top *top)
{
	bool by_rate = top->sort == QP_SQ && !top->reverse;
	uint32_t *order;
	size_t i, n = 0;

	if (top->processes)
		return top_procs_arrange(top);
	if (!grow_to(top->order, top->qps.n, top->max_order))
		return false;
	order = top->order;
	for (i = 0; i < top->qps.n; i++) {
		if ((!by_rate || busy(&top->qps.qp[i]) > 0) &&
		    matches(top, &top->qps.qp[i]))
			order[n++] = i;
	}
	qsort_r(order, n, sizeof(*order), by_order, top);
	for (i = 0; by_rate && i < top->qps.n; i++) {
		if (busy(&top->qps.qp[i]) <= 0 &&
		    matches(top, &top->qps.qp[i]))
			order[n++] = i;
	}
	top->n_order = n;
	return true;
}
