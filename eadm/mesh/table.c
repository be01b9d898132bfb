// SPDX-License-Identifier: GPL-2.0-or-later
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

#define HASH_SIZE (2 * TABLE_MAX_TEXTS)

int table_init(struct mesh_table *t, uint32_t n, uint32_t rails, bool all_pairs)
{
	size_t bytes;

	memset(t, 0, sizeof(*t));
	t->n = n;
	t->rails = rails;
	t->all_pairs = all_pairs;
	t->combos = all_pairs ? rails * rails : rails;
	t->words = (n + 63) / 64;
	bytes = sizeof(uint64_t) * t->words * n * t->combos;
	if (3 * bytes > TABLE_MAX_BYTES)
		return -E2BIG;
	t->tested = calloc(1, bytes);
	t->failed = calloc(1, bytes);
	t->partial = calloc(1, bytes);
	t->adapters = calloc((size_t)n * rails, sizeof(*t->adapters));
	t->texts = calloc(HASH_SIZE, sizeof(*t->texts));
	if (t->tested && t->failed && t->partial && t->adapters && t->texts)
		return 0;
	table_free(t);
	return -ENOMEM;
}

void table_free(struct mesh_table *t)
{
	uint32_t i;

	for (i = 0; t->texts && i < HASH_SIZE; i++)
		free((char *)t->texts[i]);
	free(t->texts);
	free(t->rows);
	free(t->adapters);
	free(t->tested);
	free(t->failed);
	free(t->partial);
	memset(t, 0, sizeof(*t));
}

size_t table_bytes(const struct mesh_table *t)
{
	return 3 * sizeof(uint64_t) * t->words * t->n * t->combos +
	       (size_t)t->n * t->rails * sizeof(*t->adapters) +
	       t->max_rows * sizeof(*t->rows) +
	       HASH_SIZE * sizeof(*t->texts) + (size_t)t->n_texts * MESH_WHY;
}

uint32_t table_combo(const struct mesh_table *t, unsigned int from_rail,
		     unsigned int to_rail)
{
	return t->all_pairs ? from_rail * t->rails + to_rail : from_rail;
}

void table_rails(const struct mesh_table *t, uint32_t combo, unsigned int *from_rail,
		 unsigned int *to_rail)
{
	*from_rail = t->all_pairs ? combo / t->rails : combo;
	*to_rail = t->all_pairs ? combo % t->rails : combo;
}

/* ---- texts --------------------------------------------------------------------------- */

/* Equal texts share memory. Returns NULL if there is no text, or too many texts. */
static const char *intern(struct mesh_table *t, const char *text)
{
	uint32_t hash = 2166136261u, i;
	const char *p;

	if (!*text)
		return NULL;
	for (p = text; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619u;
	for (i = hash % HASH_SIZE; t->texts[i]; i = (i + 1) % HASH_SIZE) {
		if (!strcmp(t->texts[i], text))
			return t->texts[i];
	}
	if (t->n_texts == TABLE_MAX_TEXTS)
		return NULL;
	t->texts[i] = strdup(text);
	t->n_texts += t->texts[i] != NULL;
	return t->texts[i];
}

/* ---- rows ---------------------------------------------------------------------------- */

/* Returns a negative value if @a is better. The order is total: output is stable. */
static int compare(const struct mesh_row *a, const struct mesh_row *b)
{
	if (a->reached != b->reached)
		return a->reached ? -1 : 1;
	if (a->lost != b->lost)
		return a->lost < b->lost ? -1 : 1;
	if (a->p50 != b->p50)
		return a->p50 < b->p50 ? -1 : 1;
	if (a->from != b->from)
		return a->from > b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to > b->to ? -1 : 1;
	if (a->from_rail != b->from_rail)
		return a->from_rail > b->from_rail ? -1 : 1;
	return a->to_rail > b->to_rail ? -1 : a->to_rail < b->to_rail;
}

/*
 * The order in which rows are dropped: among failures, first those of ends with many
 * other failures.
 */
static int order(const struct mesh_row *a, const struct mesh_row *b)
{
	if (!a->reached && !b->reached && a->turn != b->turn)
		return a->turn > b->turn ? -1 : 1;
	return compare(a, b);
}

static void sift_up(struct mesh_table *t, uint32_t i, const struct mesh_row *row)
{
	for (; i && order(row, &t->rows[(i - 1) / 2]) < 0; i = (i - 1) / 2)
		t->rows[i] = t->rows[(i - 1) / 2];
	t->rows[i] = *row;
}

/* Replace the best row. */
static void sift_down(struct mesh_table *t, const struct mesh_row *row)
{
	uint32_t i = 0, next;

	for (; (next = 2 * i + 1) < t->n_rows; i = next) {
		if (next + 1 < t->n_rows &&
		    order(&t->rows[next + 1], &t->rows[next]) < 0)
			next++;
		if (order(row, &t->rows[next]) <= 0)
			break;
		t->rows[i] = t->rows[next];
	}
	t->rows[i] = *row;
}

static int keep(struct mesh_table *t, const struct mesh_row *row)
{
	if (t->n_rows < TABLE_MAX_ROWS) {
		if (!grow(t->rows, t->n_rows, t->max_rows))
			return -ENOMEM;
		sift_up(t, t->n_rows++, row);
	} else if (order(row, &t->rows[0]) > 0) {
		sift_down(t, row);
	}
	return 0;
}

static int worst_first(const void *a, const void *b)
{
	return -compare(a, b);
}

void table_sort(struct mesh_table *t)
{
	if (t->n_rows)
		qsort(t->rows, t->n_rows, sizeof(*t->rows), worst_first);
}

/* ---- results ------------------------------------------------------------------------- */

static void count(struct tally *tally, const struct edge *r, bool blamed)
{
	tally->tested++;
	tally->failed += !r->reached;
	tally->blamed += !r->reached && blamed;
	if (!r->p50)
		return;
	if (!tally->min || r->min < tally->min)
		tally->min = r->min;
	if (r->p99 > tally->p99)
		tally->p99 = r->p99;
	tally->p50_sum += r->p50;
	tally->p50_n++;
}

/* Count a cause in the tally of one end, with the reasons of both ends. */
static void count_cause(struct tally *tally, enum mesh_cause cause,
			const char *why, const char *peer_why)
{
	if (++tally->causes[cause] < tally->causes[tally->cause] ||
	    (cause == tally->cause && tally->why))
		return;
	tally->cause = cause;
	tally->why = why;
	tally->peer_why = peer_why;
}

/*
 * Derive the cause from the reason of this end if possible: both ends of a direction
 * may report a cause, but a row has only one.
 */
static void blame(struct adapter_tally *adapter, enum mesh_cause cause,
		  const char *why)
{
	adapter->cause = why && cause_is_local(cause_of(why)) ? cause_of(why) :
								cause;
	adapter->why = why;
}

static uint32_t failures(const struct adapter_tally *adapter)
{
	return adapter->out.failed + adapter->in.failed;
}

static bool fits(const struct mesh_table *t, const struct edge *r)
{
	return r->from < t->n && r->to < t->n && r->from != r->to &&
	       r->from_rail < t->rails && r->to_rail < t->rails &&
	       (t->all_pairs || r->from_rail == r->to_rail);
}

int table_add(struct mesh_table *t, const struct edge *r)
{
	struct adapter_tally *from, *to;
	struct mesh_row row = {
		.from = r->from, .to = r->to, .from_rail = r->from_rail,
		.to_rail = r->to_rail, .reached = r->reached,
		.cause = r->cause, .min = r->min, .p50 = r->p50, .p99 = r->p99,
		.lost = r->lost, .mtu = r->mtu, .rate = r->rate,
	};
	size_t word;
	uint64_t bit;

	if (!fits(t, r))
		return -EINVAL;
	word = ((size_t)table_combo(t, r->from_rail, r->to_rail) * t->n +
		r->from) * t->words + r->to / 64;
	bit = 1ULL << r->to % 64;
	if (t->tested[word] & bit)
		return -EINVAL;
	t->tested[word] |= bit;
	from = &t->adapters[(size_t)r->from * t->rails + r->from_rail];
	to = &t->adapters[(size_t)r->to * t->rails + r->to_rail];
	count(&from->out, r, r->from_blamed);
	count(&to->in, r, r->to_blamed);
	t->n_directions++;
	if (r->partial)
		t->partial[word] |= bit;
	if (!r->reached) {
		t->failed[word] |= bit;
		t->n_failed++;
		row.from_why = intern(t, r->from_why);
		row.to_why = intern(t, r->to_why);
		row.turn = failures(from) > failures(to) ? failures(from) :
							   failures(to);
		count_cause(&from->out, r->cause, row.from_why, row.to_why);
		count_cause(&to->in, r->cause, row.to_why, row.from_why);
	}
	if (!r->reached && r->from_blamed)
		blame(from, r->cause, row.from_why);
	if (!r->reached && r->to_blamed)
		blame(to, r->cause, row.to_why);
	if (r->mtu > from->mtu)
		from->mtu = r->mtu;
	if (r->mtu > to->mtu)
		to->mtu = r->mtu;
	return keep(t, &row);
}
