// SPDX-License-Identifier: GPL-2.0-or-later
#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

#define NAME_WIDTH 12

struct place {
	uint32_t rank;
	uint64_t failed, tested;
	uint64_t p50;		/* mean over the host's directions, ns */
	bool gone;
};

static struct place place_of(const struct hub *hub, uint32_t rank)
{
	const struct mesh_table *t = &hub->table;
	const struct adapter_tally *a;
	struct place place = { .rank = rank,
			       .gone = hub->members[rank].state == MEMBER_GONE };
	uint64_t sum = 0, n = 0;
	uint32_t i;

	for (i = 0; i < t->rails; i++) {
		a = &t->adapters[rank * t->rails + i];
		place.tested += a->out.tested + a->in.tested;
		place.failed += a->out.failed + a->in.failed;
		sum += a->out.p50_sum;
		n += a->out.p50_n;
	}
	place.p50 = n ? sum / n : 0;
	return place;
}

static int worst_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->gone != y->gone)
		return x->gone ? -1 : 1;
	if (x->failed != y->failed)
		return x->failed > y->failed ? -1 : 1;
	if (x->p50 != y->p50)
		return x->p50 > y->p50 ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* '.' reached, 'x' not on all rails, 'X' on no rail, '?' not tested. */
static char cell(const struct hub *hub, uint32_t from, uint32_t to)
{
	const struct mesh_table *t = &hub->table;
	unsigned int tested = 0, failed = 0;
	uint32_t combo;

	if (from == to)
		return ' ';
	for (combo = 0; combo < t->combos; combo++) {
		tested += table_tested(t, combo, from, to);
		failed += table_failed(t, combo, from, to);
	}
	if (!tested)
		return '?';
	return !failed ? '.' : failed < tested ? 'x' : 'X';
}

static void put_line(const struct hub *hub, const struct place *places,
		     uint32_t n, uint32_t row, struct buffer *to)
{
	const char *name = host_name(hub, places[row].rank);
	char text[NAME_WIDTH + 16], symbol[3] = "  ";
	uint32_t i;

	snprintf(text, sizeof(text), "%-*.*s %2u", NAME_WIDTH, NAME_WIDTH, name,
		 row % 100);
	buffer_puts(to, text);
	for (i = 0; i < n; i++) {
		symbol[1] = cell(hub, places[row].rank, places[i].rank);
		buffer_put(to, symbol, 2);
	}
	buffer_puts(to, "\n");
}

static void put_head(uint32_t n, struct buffer *to)
{
	char text[NAME_WIDTH + 8];
	uint32_t i;

	snprintf(text, sizeof(text), "%-*s   ", NAME_WIDTH, "FROM \\ TO");
	buffer_puts(to, text);
	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%2u", i % 100);
		/* Omit every other two-digit number, because they would touch. */
		buffer_puts(to, i < 10 ? text : i % 2 ? "  " : text);
	}
	buffer_puts(to, "\n");
}

void matrix_write(const struct hub *hub, struct buffer *to)
{
	struct place *places = calloc(hub->n, sizeof(*places));
	uint32_t n = hub->n < MATRIX_HOSTS ? hub->n : MATRIX_HOSTS, i;
	char text[120];

	for (i = 0; places && i < hub->n; i++)
		places[i] = place_of(hub, i);
	if (!places)
		return;
	if (hub->n > n) {
		qsort(places, hub->n, sizeof(*places), worst_first);
		snprintf(text, sizeof(text), "%u of %u hosts, the worst first\n", n,
			 hub->n);
		buffer_puts(to, text);
	}
	put_head(n, to);
	for (i = 0; i < n; i++)
		put_line(hub, places, n, i, to);
	buffer_puts(to, ". reached  x not on all rails  X not reached  ? not tested\n");
	free(places);
}
