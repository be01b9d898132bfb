// SPDX-License-Identifier: GPL-2.0-or-later
#include "group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../signals.h"
#include "fault.h"
#include "sets.h"

/* Directions that no fault explains yet. */
struct counts {
	uint32_t tested, failed;
};

struct work {
	const struct mesh_table *t;
	const uint8_t *gone, *n_rails;
	struct faults *faults;
	struct counts *out, *in;	/* [combo * n + host] */
	bool *no_out, *no_in;		/* [host * rails + rail]: explained */
	bool *no_combo;
	uint32_t n_sets;		/* faults of groups and pairs */
	bool failed;			/* out of memory */
};

/* ---- unexplained directions ---------------------------------------------------------- */

static void count_combo(struct work *w, uint32_t combo)
{
	const struct mesh_table *t = w->t;
	struct counts *out = w->out + (size_t)combo * t->n;
	struct counts *in = w->in + (size_t)combo * t->n;
	const uint64_t *tested, *failed;
	uint64_t word, bit;
	uint32_t from, to;
	size_t i;

	for (from = 0; from < t->n; from++) {
		tested = table_bits(t, t->tested, combo, from);
		failed = table_bits(t, t->failed, combo, from);
		for (i = 0; i < t->words; i++) {
			out[from].tested += __builtin_popcountll(tested[i]);
			out[from].failed += __builtin_popcountll(failed[i]);
			for (word = tested[i]; word; word &= word - 1) {
				bit = word & -word;
				to = 64 * i + __builtin_ctzll(word);
				in[to].tested++;
				in[to].failed += (failed[i] & bit) != 0;
			}
		}
	}
}

static uint32_t reverse(const struct mesh_table *t, uint32_t combo)
{
	unsigned int i, j;

	table_rails(t, combo, &i, &j);
	return table_combo(t, j, i);
}

static bool ends_left(const struct work *w, uint32_t combo, uint32_t from,
		      uint32_t to)
{
	unsigned int i, j;

	table_rails(w->t, combo, &i, &j);
	return !w->no_combo[combo] && !w->no_out[from * w->t->rails + i] &&
	       !w->no_in[to * w->t->rails + j];
}

/*
 * A test of a pair stops at the first step that fails in one direction. If the other
 * direction was tested only in part, it is dropped together with the failed direction.
 */
static bool is_left(const struct work *w, uint32_t combo, uint32_t from,
		    uint32_t to)
{
	if (!ends_left(w, combo, from, to))
		return false;
	return !table_partial(w->t, combo, from, to) ||
	       ends_left(w, reverse(w->t, combo), to, from);
}

static void drop_one(struct work *w, uint32_t combo, uint32_t from, uint32_t to)
{
	const struct mesh_table *t = w->t;
	struct counts *out = &w->out[(size_t)combo * t->n + from];
	struct counts *in = &w->in[(size_t)combo * t->n + to];
	bool failed = table_failed(t, combo, from, to);

	out->tested--;
	in->tested--;
	out->failed -= failed;
	in->failed -= failed;
}

/* Also drop the opposite direction if it was tested only in part. */
static void drop_direction(struct work *w, uint32_t combo, uint32_t from,
			   uint32_t to)
{
	uint32_t back = reverse(w->t, combo);

	if (!table_tested(w->t, combo, from, to) ||
	    !is_left(w, combo, from, to))
		return;
	drop_one(w, combo, from, to);
	if (table_partial(w->t, back, to, from) && is_left(w, back, to, from))
		drop_one(w, back, to, from);
}

/* Drop the directions that leave an adapter (@out), or that end at it. */
static void drop_way(struct work *w, uint32_t host, unsigned int rail, bool out)
{
	const struct mesh_table *t = w->t;
	uint32_t combo, peer;
	unsigned int i, j;

	for (combo = 0; combo < t->combos; combo++) {
		table_rails(t, combo, &i, &j);
		if ((out ? i : j) != rail || w->no_combo[combo])
			continue;
		for (peer = 0; peer < t->n; peer++)
			drop_direction(w, combo, out ? host : peer,
				       out ? peer : host);
	}
	(out ? w->no_out : w->no_in)[host * t->rails + rail] = true;
}

/* @rail: -1 for all adapters of the host. */
static void drop(struct work *w, uint32_t host, int rail, enum fault_way way)
{
	unsigned int i;

	for (i = 0; i < w->t->rails; i++) {
		if (rail >= 0 && i != (unsigned int)rail)
			continue;
		if (way != WAY_IN)
			drop_way(w, host, i, true);
		if (way != WAY_OUT)
			drop_way(w, host, i, false);
	}
}

/* ---- sums ---------------------------------------------------------------------------- */

struct sum {
	uint64_t tested, failed;
	uint32_t most;		/* maximum number of tested peers on a pair of rails */
	uint64_t out, in;	/* tested directions; in sum_combo(), hosts */
};

static void sum_add(struct sum *sum, const struct counts *counts)
{
	sum->tested += counts->tested;
	sum->failed += counts->failed;
	if (counts->tested > sum->most)
		sum->most = counts->tested;
}

/* Adds up the results of all directions to and from a host, or one of its adapters. */
static struct sum sum_of(const struct work *w, uint32_t host, int rail,
			 enum fault_way way)
{
	const struct mesh_table *t = w->t;
	struct sum sum = { 0 };
	uint32_t combo;
	unsigned int i, j;

	for (combo = 0; combo < t->combos; combo++) {
		if (w->no_combo[combo])
			continue;
		table_rails(t, combo, &i, &j);
		if (way != WAY_IN && (rail < 0 || i == (unsigned int)rail)) {
			sum_add(&sum, &w->out[(size_t)combo * t->n + host]);
			sum.out += w->out[(size_t)combo * t->n + host].tested;
		}
		if (way != WAY_OUT && (rail < 0 || j == (unsigned int)rail)) {
			sum_add(&sum, &w->in[(size_t)combo * t->n + host]);
			sum.in += w->in[(size_t)combo * t->n + host].tested;
		}
	}
	return sum;
}

/* A failure with a single peer is a fault of the pair. */
static bool all_failed(const struct sum *sum)
{
	return sum->tested == sum->failed && sum->most >= 2;
}

/*
 * With a single peer, an adapter is at fault if it fails with several of the peer's
 * adapters while another adapter of the host works.
 */
static bool is_end(const struct work *w, uint32_t host, int rail,
		   enum fault_way way)
{
	struct sum sum = sum_of(w, host, rail, way), of_host;

	if (all_failed(&sum))
		return true;
	if (rail < 0 || sum.tested != sum.failed || (sum.out < 2 && sum.in < 2))
		return false;
	of_host = sum_of(w, host, -1, way);
	return of_host.tested > of_host.failed;
}

static struct fault *add(struct work *w, const struct fault *fault)
{
	struct fault *added = fault_add(w->faults, fault);

	if (!added)
		w->failed = true;
	return added;
}

static void add_host(struct work *w, uint32_t host, int rail, enum fault_way way,
		     enum mesh_cause cause, const char *why, uint64_t directions)
{
	struct fault fault = {
		.kind = rail < 0 ? FAULT_HOST : FAULT_ADAPTER, .way = way,
		.from_rail = rail, .to_rail = rail, .cause = cause,
		.a_why = why, .directions = directions,
	};

	if (fault_hosts(&fault.a, &fault.n_a, &host, 1))
		w->failed = true;
	else
		add(w, &fault);
	drop(w, host, rail, way);
}

/* ---- stages -------------------------------------------------------------------------- */

static void find_gone(struct work *w)
{
	uint32_t host;

	for (host = 0; host < w->t->n; host++) {
		if (w->gone[host])
			add_host(w, host, -1, WAY_BOTH, w->gone[host], NULL,
				 sum_of(w, host, -1, WAY_BOTH).failed);
	}
}

/* Returns the most common number of adapters; in a tie, the larger number. */
static unsigned int usual_rails(const struct work *w)
{
	uint32_t counts[MESH_MAX_RAILS + 1] = { 0 }, host;
	unsigned int n, usual = 0;

	for (host = 0; host < w->t->n; host++)
		counts[w->n_rails[host]] += !w->gone[host] && w->n_rails[host];
	for (n = 1; n <= MESH_MAX_RAILS; n++) {
		if (counts[n] && counts[n] >= counts[usual])
			usual = n;
	}
	return usual;
}

/* Rail by rail, all hosts should have the same number of adapters. */
static void find_missing(struct work *w)
{
	unsigned int rail, usual = usual_rails(w);
	uint32_t host;

	for (host = 0; host < w->t->n; host++) {
		if (w->gone[host])
			continue;
		if (!w->n_rails[host]) {
			add_host(w, host, -1, WAY_BOTH, CAUSE_ADAPTER,
				 "the host has no RDMA adapter", 0);
			continue;
		}
		for (rail = w->n_rails[host];
		     rail < usual && !w->t->all_pairs; rail++)
			add_host(w, host, rail, WAY_BOTH, CAUSE_ADAPTER,
				 "the host has fewer adapters than most", 0);
	}
}

static bool is_blamed(const struct work *w, uint32_t host, unsigned int rail)
{
	const struct adapter_tally *a = &w->t->adapters[host * w->t->rails + rail];
	uint32_t tested = a->out.tested + a->in.tested;

	return tested && a->out.blamed + a->in.blamed == tested;
}

static void find_blamed_of(struct work *w, uint32_t host)
{
	const struct adapter_tally *a = &w->t->adapters[host * w->t->rails];
	unsigned int rail, n = 0;
	bool same = true;

	for (rail = 0; rail < w->n_rails[host]; rail++) {
		if (!is_blamed(w, host, rail))
			continue;
		n++;
		same = same && a[rail].cause == a[0].cause;
	}
	if (n && n == w->n_rails[host] && same) {
		add_host(w, host, -1, WAY_BOTH, a->cause, a->why,
			 sum_of(w, host, -1, WAY_BOTH).failed);
		return;
	}
	for (rail = 0; n && rail < w->n_rails[host]; rail++) {
		if (is_blamed(w, host, rail))
			add_host(w, host, rail, WAY_BOTH, a[rail].cause,
				 a[rail].why,
				 sum_of(w, host, rail, WAY_BOTH).failed);
	}
}

/* Find adapters that report a local cause with every peer. */
static void find_blamed(struct work *w)
{
	uint32_t host;

	for (host = 0; host < w->t->n; host++) {
		if (!w->gone[host])
			find_blamed_of(w, host);
	}
}

/* Here, the members out and in count the hosts that send and receive. */
static struct sum sum_combo(const struct work *w, uint32_t combo)
{
	struct sum sum = { 0 };
	uint32_t host;

	for (host = 0; host < w->t->n; host++) {
		sum_add(&sum, &w->out[(size_t)combo * w->t->n + host]);
		sum.out += w->out[(size_t)combo * w->t->n + host].tested != 0;
		sum.in += w->in[(size_t)combo * w->t->n + host].tested != 0;
	}
	return sum;
}

/* With only one or two hosts, the adapters are at fault, not the rails. */
static bool is_rail(const struct sum *sum)
{
	return all_failed(sum) && sum->out >= 2 && sum->in >= 2;
}

static bool all_bad(const struct work *w, const bool *bad, unsigned int rail)
{
	uint32_t combo, n = 0;
	unsigned int i, j;

	for (combo = 0; combo < w->t->combos; combo++) {
		table_rails(w->t, combo, &i, &j);
		if (i != rail && j != rail)
			continue;
		n += bad[combo];
		if (!bad[combo] && sum_combo(w, combo).tested)
			return false;
	}
	return n;
}

static void add_rails(struct work *w, const bool *bad, unsigned int from,
		      unsigned int to)
{
	const struct mesh_table *t = w->t;
	struct fault fault = {
		.kind = FAULT_RAIL, .from_rail = from, .to_rail = to,
		.way = bad[table_combo(t, from, to)] &&
		       bad[table_combo(t, to, from)] ? WAY_BOTH : WAY_OUT,
	};
	uint32_t combo;
	unsigned int i, j;

	for (combo = 0; combo < t->combos; combo++) {
		table_rails(t, combo, &i, &j);
		if (!bad[combo] || w->no_combo[combo])
			continue;
		if (from == to ? i != from && j != from :
		    (i != from || j != to) && (i != to || j != from))
			continue;
		fault.directions += sum_combo(w, combo).failed;
		w->no_combo[combo] = true;
	}
	if (fault.directions)
		add(w, &fault);
}

/*
 * Find rails and pairs of rails on which nothing works. If nothing works at all, add a
 * single fault.
 */
static void find_rails(struct work *w)
{
	const struct mesh_table *t = w->t;
	uint32_t combo, n_bad = 0, works = 0;
	struct fault fault = { .kind = FAULT_ALL, .from_rail = -1, .to_rail = -1 };
	bool *bad = calloc(t->combos, sizeof(*bad));
	unsigned int i, j;
	struct sum sum;

	if (!bad) {
		w->failed = true;
		return;
	}
	for (combo = 0; combo < t->combos; combo++) {
		sum = sum_combo(w, combo);
		bad[combo] = is_rail(&sum);
		works += sum.tested != sum.failed;
		n_bad += bad[combo];
		fault.directions += sum.failed;
	}
	if (n_bad && !works) {
		add(w, &fault);
		memset(w->no_combo, true, t->combos);
	}
	for (i = 0; n_bad && i < t->rails; i++) {
		if (all_bad(w, bad, i))
			add_rails(w, bad, i, i);
	}
	for (combo = 0; n_bad && combo < t->combos; combo++) {
		table_rails(t, combo, &i, &j);
		if (bad[combo])
			add_rails(w, bad, i, j);
	}
	free(bad);
}

/*
 * Returns true if all peers also fail with each other in the @other direction: the
 * failure is then not specific to this host.
 */
static bool is_of_peers(const struct work *w, uint32_t host, int rail,
			enum fault_way other)
{
	struct sum sum;
	uint32_t peer;

	for (peer = 0; peer < w->t->n; peer++) {
		sum = sum_of(w, peer, rail, other);
		if (peer != host && sum.tested && !all_failed(&sum))
			return false;
	}
	return true;
}

/*
 * @clean: skip those with failures in the other direction. Returns the number of hosts
 * or adapters found.
 */
static uint32_t find_ends(struct work *w, enum fault_way way, bool clean,
			  bool adapters)
{
	enum fault_way other = way == WAY_OUT ? WAY_IN : WAY_OUT;
	int rail, last = adapters ? (int)w->t->rails - 1 : -1;
	uint32_t host, n = 0;

	for (host = 0; host < w->t->n; host++) {
		for (rail = adapters ? 0 : -1; rail <= last; rail++) {
			if (!is_end(w, host, rail, way) ||
			    (clean && sum_of(w, host, rail, other).failed) ||
			    (way != WAY_BOTH && is_of_peers(w, host, rail, other)))
				continue;
			add_host(w, host, rail, way, CAUSE_NONE, NULL,
				 sum_of(w, host, rail, way).failed);
			n++;
		}
	}
	return n;
}

static uint32_t find_hosts(struct work *w, enum fault_way way, bool clean)
{
	uint32_t n = find_ends(w, way, clean, false);

	return w->t->rails > 1 ? n + find_ends(w, way, clean, true) : n;
}

/* ---- groups and pairs ---------------------------------------------------------------- */

static bool failed_and_left(const struct work *w, uint32_t combo, uint32_t from,
			    uint32_t to)
{
	return table_failed(w->t, combo, from, to) && is_left(w, combo, from, to);
}

/*
 * Collect failed directions of @combo. @both: those whose opposite direction has failed
 * as well; otherwise all others.
 */
static uint64_t collect(const struct work *w, uint32_t combo, bool both,
			struct sets *sets)
{
	const struct mesh_table *t = w->t;
	uint32_t back = reverse(t, combo), from, to;
	const uint64_t *failed;
	uint64_t word, n = 0;
	size_t i;

	sets_clear(sets);
	for (from = 0; from < t->n; from++) {
		failed = table_bits(t, t->failed, combo, from);
		for (i = 0; i < t->words; i++) {
			for (word = failed[i]; word; word &= word - 1) {
				to = 64 * i + __builtin_ctzll(word);
				if (!is_left(w, combo, from, to) || both !=
				    failed_and_left(w, back, to, from))
					continue;
				sets_put(sets, from, to);
				n++;
			}
		}
	}
	return n;
}

/* For a fault in both directions, the set with the lowest rank comes first. */
static struct fault *in_order(struct fault *fault)
{
	struct fault swapped = *fault;

	if (fault->way != WAY_BOTH || fault->a[0] <= fault->b[0] ||
	    fault->from_rail != fault->to_rail)
		return fault;
	swapped.a = fault->b;
	swapped.n_a = fault->n_b;
	swapped.b = fault->a;
	swapped.n_b = fault->n_a;
	*fault = swapped;
	return fault;
}

static void add_block(struct work *w, uint32_t combo, bool both, bool square,
		      struct sets *sets, const struct block *block)
{
	struct fault fault = {
		.kind = block->among ? FAULT_AMONG :
			block->n_rows == 1 && block->n_columns == 1 ?
			FAULT_PAIR : FAULT_GROUPS,
		.way = both ? WAY_BOTH : WAY_OUT,
	};
	unsigned int i, j;
	uint32_t r, c;

	table_rails(w->t, combo, &i, &j);
	fault.from_rail = w->t->rails > 1 ? (int)i : -1;
	fault.to_rail = w->t->rails > 1 ? (int)j : -1;
	for (r = 0; r < block->n_rows; r++) {
		for (c = 0; c < block->n_columns; c++) {
			if (block->rows[r] == block->columns[c])
				continue;
			sets_drop(sets, block->rows[r], block->columns[c]);
			if (both && square)
				sets_drop(sets, block->columns[c], block->rows[r]);
			fault.directions += 1 + (both && !(block->among && square));
		}
	}
	if (fault_hosts(&fault.a, &fault.n_a, block->rows, block->n_rows) ||
	    fault_hosts(&fault.b, &fault.n_b, block->columns, block->n_columns))
		w->failed = true;
	else if (add(w, in_order(&fault)))
		w->n_sets++;
}

static void add_pairs(struct work *w, uint32_t combo, bool both, bool square,
		      struct sets *sets)
{
	uint32_t from, to;
	struct block pair = { .rows = &from, .columns = &to, .n_rows = 1,
			      .n_columns = 1 };

	for (from = 0; from < sets->n; from++) {
		for (to = 0; to < sets->n; to++) {
			if (!sets_has(sets, from, to))
				continue;
			if (w->n_sets < FAULTS_MAX) {
				add_block(w, combo, both, square, sets, &pair);
				continue;
			}
			sets_drop(sets, from, to);
			if (both && square)
				sets_drop(sets, to, from);
			w->faults->more += 1 + both;
		}
	}
}

static void find_blocks(struct work *w, uint32_t combo, bool both,
			struct sets *sets)
{
	bool square = reverse(w->t, combo) == combo;
	struct block block;
	int ret;

	/* With @both, the reverse pair of rails would yield the same pairs of hosts. */
	if (w->no_combo[combo] || (both && reverse(w->t, combo) < combo) ||
	    !collect(w, combo, both, sets))
		return;
	while (w->n_sets < FAULTS_MAX && !interrupted) {
		ret = sets_block(sets, &block);
		if (ret <= 0) {
			w->failed = w->failed || ret;
			break;
		}
		add_block(w, combo, both, square, sets, &block);
		free(block.rows);
		free(block.columns);
	}
	add_pairs(w, combo, both, square, sets);
}

static void find_groups(struct work *w)
{
	struct sets sets;
	uint32_t combo, n = 0;

	if (sets_init(&sets, w->t->n)) {
		w->failed = true;
		return;
	}
	for (combo = 0; combo < w->t->combos; combo++) {
		find_blocks(w, combo, true, &sets);
		find_blocks(w, combo, false, &sets);
		n += !w->no_combo[combo];
	}
	sets_free(&sets);
	faults_merge(w->faults, n);
}

/* ---- entry point --------------------------------------------------------------------- */

static int work_init(struct work *w)
{
	const struct mesh_table *t = w->t;
	size_t adapters = (size_t)t->n * t->rails;
	uint32_t combo;

	w->out = calloc((size_t)t->n * t->combos, sizeof(*w->out));
	w->in = calloc((size_t)t->n * t->combos, sizeof(*w->in));
	w->no_out = calloc(adapters, 1);
	w->no_in = calloc(adapters, 1);
	w->no_combo = calloc(t->combos, 1);
	if (!w->out || !w->in || !w->no_out || !w->no_in || !w->no_combo)
		return -ENOMEM;
	for (combo = 0; combo < t->combos; combo++)
		count_combo(w, combo);
	return 0;
}

static void find_all(struct work *w)
{
	find_gone(w);
	find_missing(w);
	find_blamed(w);
	find_rails(w);
	find_hosts(w, WAY_BOTH, false);
	/*
	 * Search again: the failures that these hosts explain may have concealed a host
	 * that fails in both directions.
	 */
	if (find_hosts(w, WAY_OUT, true) + find_hosts(w, WAY_IN, true))
		find_hosts(w, WAY_BOTH, false);
	find_hosts(w, WAY_OUT, false);
	find_hosts(w, WAY_IN, false);
	find_groups(w);
}

int faults_find(const struct mesh_table *t, const uint8_t *gone,
		const uint8_t *n_rails, struct faults *faults)
{
	struct work w = { .t = t, .gone = gone, .n_rails = n_rails,
			  .faults = faults };

	memset(faults, 0, sizeof(*faults));
	if (work_init(&w))
		w.failed = true;
	else
		find_all(&w);
	free(w.out);
	free(w.in);
	free(w.no_out);
	free(w.no_in);
	free(w.no_combo);
	if (!w.failed)
		w.failed = faults_explain(faults, t, gone) != 0;
	if (!w.failed)
		return 0;
	faults_free(faults);
	return -ENOMEM;
}
