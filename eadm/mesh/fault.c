// SPDX-License-Identifier: GPL-2.0-or-later
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

const char *fault_kind_name(enum fault_kind kind)
{
	static const char *const names[] = {
		[FAULT_ALL] = "all", [FAULT_RAIL] = "rail",
		[FAULT_HOST] = "host", [FAULT_ADAPTER] = "adapter",
		[FAULT_GROUPS] = "groups", [FAULT_AMONG] = "among",
		[FAULT_PAIR] = "pair", [FAULT_MTU] = "mtu",
	};

	return names[kind];
}

const char *fault_way_name(enum fault_way way)
{
	static const char *const names[] = {
		[WAY_BOTH] = "both", [WAY_OUT] = "out", [WAY_IN] = "in",
	};

	return names[way];
}

/* ---- the list ------------------------------------------------------------------------ */

static void release(struct fault *fault)
{
	free(fault->a);
	free(fault->b);
}

void faults_free(struct faults *faults)
{
	uint32_t i;

	for (i = 0; i < faults->n; i++)
		release(&faults->list[i]);
	free(faults->list);
	memset(faults, 0, sizeof(*faults));
}

struct fault *fault_add(struct faults *faults, const struct fault *fault)
{
	if (!grow(faults->list, faults->n, faults->max)) {
		free(fault->a);
		free(fault->b);
		return NULL;
	}
	faults->list[faults->n] = *fault;
	return &faults->list[faults->n++];
}

int fault_hosts(uint32_t **to, uint32_t *n_to, const uint32_t *hosts, uint32_t n)
{
	*to = malloc(n * sizeof(*hosts));
	if (!*to)
		return -ENOMEM;
	memcpy(*to, hosts, n * sizeof(*hosts));
	*n_to = n;
	return 0;
}

/* ---- merging ------------------------------------------------------------------------- */

static bool same_list(const uint32_t *a, uint32_t n_a, const uint32_t *b,
		      uint32_t n_b)
{
	return n_a == n_b && !memcmp(a, b, n_a * sizeof(*a));
}

static bool has_sets(const struct fault *fault)
{
	return fault->kind == FAULT_GROUPS || fault->kind == FAULT_PAIR ||
	       fault->kind == FAULT_AMONG;
}

/* Compares the hosts; in both directions, the order of the two sets does not matter. */
static bool same_hosts(const struct fault *x, const struct fault *y)
{
	if (!has_sets(y) || x->kind != y->kind || x->way != y->way)
		return false;
	if (same_list(x->a, x->n_a, y->a, y->n_a) &&
	    same_list(x->b, x->n_b, y->b, y->n_b))
		return true;
	return x->way == WAY_BOTH && same_list(x->a, x->n_a, y->b, y->n_b) &&
	       same_list(x->b, x->n_b, y->a, y->n_a);
}

/* FAULT_AMONG in both directions between two rails covers both orders of the rails. */
static uint32_t weight(const struct fault *fault)
{
	return 1 + (fault->kind == FAULT_AMONG && fault->way == WAY_BOTH &&
		    fault->from_rail != fault->to_rail);
}

/* Merge later faults with the same hosts into number @i. */
static void absorb(struct faults *faults, uint32_t i)
{
	struct fault *fault = &faults->list[i];
	uint32_t from, to;

	for (from = to = i + 1; from < faults->n; from++) {
		if (same_hosts(fault, &faults->list[from])) {
			fault->directions += faults->list[from].directions;
			release(&faults->list[from]);
		} else {
			faults->list[to++] = faults->list[from];
		}
	}
	faults->n = to;
	fault->from_rail = -1;
	fault->to_rail = -1;
}

void faults_merge(struct faults *faults, uint32_t combos)
{
	uint32_t i, j, same;

	for (i = 0; combos > 1 && i < faults->n; i++) {
		if (!has_sets(&faults->list[i]))
			continue;
		same = weight(&faults->list[i]);
		for (j = i + 1; j < faults->n; j++) {
			if (same_hosts(&faults->list[i], &faults->list[j]))
				same += weight(&faults->list[j]);
		}
		if (same == combos)
			absorb(faults, i);
	}
}

/* ---- joining ------------------------------------------------------------------------- */

static int by_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_reason(const struct fault *x, const struct fault *y)
{
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->way != y->way)
		return x->way < y->way ? -1 : 1;
	if (x->from_rail != y->from_rail)
		return x->from_rail < y->from_rail ? -1 : 1;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	if (x->mtu != y->mtu)
		return x->mtu < y->mtu ? -1 : 1;
	return by_text(x->a_why, y->a_why);
}

/* Orders faults by reason, then by their position in the list. */
static int by_reason_and_place(const void *a, const void *b)
{
	const struct fault *x = *(struct fault *const *)a;
	const struct fault *y = *(struct fault *const *)b;
	int order = by_reason(x, y);

	return order ? order : x < y ? -1 : x > y;
}

static int by_rank(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Move the hosts of @n faults to the first fault. */
static int join(struct fault **same, uint32_t n)
{
	struct fault *first = same[0];
	uint32_t *hosts = malloc(n * sizeof(*hosts)), i;

	if (!hosts)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		hosts[i] = same[i]->a[0];
	qsort(hosts, n, sizeof(*hosts), by_rank);
	for (i = 1; i < n; i++) {
		first->directions += same[i]->directions;
		same[i]->n_a = 0;
	}
	free(first->a);
	first->a = hosts;
	first->n_a = n;
	return 0;
}

static int join_all(struct fault **list, uint32_t n)
{
	uint32_t i, same;

	for (i = 0; i < n; i += same) {
		for (same = 1; i + same < n && !by_reason(list[i], list[i + same]);)
			same++;
		if (same > 1 && join(list + i, same))
			return -ENOMEM;
	}
	return 0;
}

int faults_join(struct faults *faults)
{
	struct fault **list = malloc((faults->n + 1) * sizeof(*list));
	uint32_t i, n = 0, to = 0;
	int ret;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < faults->n; i++) {
		if (faults->list[i].n_a == 1 && !has_sets(&faults->list[i]))
			list[n++] = &faults->list[i];
	}
	qsort(list, n, sizeof(*list), by_reason_and_place);
	ret = join_all(list, n);
	free(list);
	for (i = 0; i < faults->n; i++) {
		if (faults->list[i].a && !faults->list[i].n_a)
			release(&faults->list[i]);
		else
			faults->list[to++] = faults->list[i];
	}
	faults->n = to;
	return ret;
}

/* ---- causes -------------------------------------------------------------------------- */

/* The sides of a fault to which a host belongs. */
enum { IN_A = 1, IN_B = 2 };

static void mark(uint8_t *places, uint32_t n, const struct fault *fault)
{
	uint32_t i;

	memset(places, (fault->a ? 0 : IN_A) | (fault->b ? 0 : IN_B), n);
	for (i = 0; i < fault->n_a; i++)
		places[fault->a[i]] |= IN_A;
	for (i = 0; i < fault->n_b; i++)
		places[fault->b[i]] |= IN_B;
}

static bool on_rails(const struct fault *fault, int from, int to)
{
	return (fault->from_rail < 0 || from == fault->from_rail) &&
	       (fault->to_rail < 0 || to == fault->to_rail);
}

static bool goes_out(const struct fault *fault, const uint8_t *places,
		     const struct mesh_row *row)
{
	return fault->way != WAY_IN && places[row->from] & IN_A &&
	       places[row->to] & IN_B &&
	       on_rails(fault, row->from_rail, row->to_rail);
}

static bool comes_in(const struct fault *fault, const uint8_t *places,
		     const struct mesh_row *row)
{
	return fault->way != WAY_OUT && places[row->to] & IN_A &&
	       places[row->from] & IN_B &&
	       on_rails(fault, row->to_rail, row->from_rail);
}

static void add_causes(uint32_t *counts, const struct tally *tally)
{
	int i;

	for (i = 0; i < CAUSE_END; i++)
		counts[i] += tally->causes[i];
}

static void take_words(struct fault *fault, const struct tally *tally)
{
	if (tally->cause != fault->cause)
		return;
	if (!fault->a_why)
		fault->a_why = tally->why;
	if (!fault->b_why)
		fault->b_why = tally->peer_why;
}

static void set_cause(struct fault *fault, const uint32_t *counts)
{
	int i;

	for (i = 0; i < CAUSE_END; i++) {
		if (counts[i] > counts[fault->cause])
			fault->cause = i;
	}
}

/* Use the most frequent cause of the fault's adapters, with its reasons. */
static void explain_ends(struct fault *fault, const struct mesh_table *t)
{
	uint32_t counts[CAUSE_END] = { 0 }, first = fault->a ? fault->a[0] : 0;
	uint32_t end = fault->a ? first + 1 : t->n, i;
	const struct adapter_tally *a;
	int pass, rail;
	bool out, in;

	for (pass = 0; pass < 2; pass++) {
		for (i = first * t->rails; i < end * t->rails; i++) {
			a = &t->adapters[i];
			rail = i % t->rails;
			out = fault->way != WAY_IN &&
			      (fault->from_rail < 0 || rail == fault->from_rail);
			in = fault->way != WAY_OUT &&
			     (fault->to_rail < 0 || rail == fault->to_rail);
			if (out && !pass)
				add_causes(counts, &a->out);
			else if (out)
				take_words(fault, &a->out);
			if (in && !pass)
				add_causes(counts, &a->in);
			else if (in)
				take_words(fault, &a->in);
		}
		set_cause(fault, counts);
	}
}

/* Use the most frequent cause of the fault's rows, with the reasons of both ends. */
static void explain(struct fault *fault, const struct mesh_table *t,
		    const uint8_t *places)
{
	uint32_t counts[CAUSE_END] = { 0 }, i;
	const struct mesh_row *row;
	bool out;

	for (i = 0; i < t->n_rows; i++) {
		row = &t->rows[i];
		if (!row->reached && (goes_out(fault, places, row) ||
				      comes_in(fault, places, row)))
			counts[row->cause]++;
	}
	set_cause(fault, counts);
	for (i = 0; i < t->n_rows; i++) {
		row = &t->rows[i];
		out = goes_out(fault, places, row);
		if (row->reached || row->cause != fault->cause ||
		    (!out && !comes_in(fault, places, row)))
			continue;
		if (!fault->a_why)
			fault->a_why = out ? row->from_why : row->to_why;
		if (!fault->b_why)
			fault->b_why = out ? row->to_why : row->from_why;
	}
}

/* ---- MTU ----------------------------------------------------------------------------- */

/*
 * Returns the most common MTU of the adapters on a rail. MTUs are powers of two, or
 * take only a few values.
 */
static uint32_t usual_mtu(const struct mesh_table *t, uint32_t rail)
{
	struct {
		uint32_t mtu, n;
	} seen[32] = { 0 };
	uint32_t i, j, best = 0;

	for (i = rail; i < t->n * t->rails; i += t->rails) {
		for (j = 0; j < 31; j++) {
			if (!seen[j].n || seen[j].mtu == t->adapters[i].mtu)
				break;
		}
		seen[j].mtu = t->adapters[i].mtu;
		seen[j].n += seen[j].mtu != 0;
		if (seen[j].n > seen[best].n)
			best = j;
	}
	return seen[best].mtu;
}

static int find_mtus(struct faults *faults, const struct mesh_table *t,
		     const uint8_t *gone)
{
	uint32_t usual[MESH_MAX_RAILS], host, i;

	for (i = 0; i < t->rails; i++)
		usual[i] = usual_mtu(t, i);
	for (i = 0; i < t->n * t->rails; i++) {
		struct fault fault = {
			.kind = FAULT_MTU, .cause = CAUSE_MTU,
			.from_rail = i % t->rails, .to_rail = i % t->rails,
			.mtu = t->adapters[i].mtu,
			.usual_mtu = usual[i % t->rails],
		};

		host = i / t->rails;
		if (gone[host] || !fault.mtu || fault.mtu >= fault.usual_mtu)
			continue;
		if (fault_hosts(&fault.a, &fault.n_a, &host, 1) ||
		    !fault_add(faults, &fault))
			return -ENOMEM;
	}
	return 0;
}

int faults_explain(struct faults *faults, const struct mesh_table *t,
		   const uint8_t *gone)
{
	uint8_t *places = malloc(t->n);
	uint32_t i;

	if (!places)
		return -ENOMEM;
	for (i = 0; i < faults->n; i++) {
		if (faults->list[i].cause)
			continue;
		if (!has_sets(&faults->list[i])) {
			explain_ends(&faults->list[i], t);
			continue;
		}
		mark(places, t->n, &faults->list[i]);
		explain(&faults->list[i], t, places);
	}
	free(places);
	return find_mtus(faults, t, gone);
}
