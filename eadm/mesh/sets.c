// SPDX-License-Identifier: GPL-2.0-or-later
#include "sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of rows to try as columns of a block, to keep the search O(n^2). */
#define CANDIDATES 32

struct candidate {
	uint32_t row;
	uint64_t hash;
	uint64_t score;		/* number of bits times number of equal rows */
};

int sets_init(struct sets *sets, uint32_t n)
{
	sets->n = n;
	sets->words = (n + 63) / 64;
	sets->bits = calloc(sets->words * n, sizeof(*sets->bits));
	sets->counts = calloc(n, sizeof(*sets->counts));
	sets->hashes[0] = calloc(n, sizeof(*sets->hashes[0]));
	sets->hashes[1] = calloc(n, sizeof(*sets->hashes[1]));
	sets->stale = calloc(n, sizeof(*sets->stale));
	if (sets->bits && sets->counts && sets->hashes[0] && sets->hashes[1] &&
	    sets->stale)
		return 0;
	sets_free(sets);
	return -ENOMEM;
}

void sets_free(struct sets *sets)
{
	free(sets->bits);
	free(sets->counts);
	free(sets->hashes[0]);
	free(sets->hashes[1]);
	free(sets->stale);
	memset(sets, 0, sizeof(*sets));
}

void sets_clear(struct sets *sets)
{
	memset(sets->bits, 0, sets->words * sets->n * sizeof(*sets->bits));
	memset(sets->counts, 0, sets->n * sizeof(*sets->counts));
}

/* ---- candidates ---------------------------------------------------------------------- */

static uint64_t hash_of(const uint64_t *bits, size_t words, uint32_t self)
{
	uint64_t hash = 0xcbf29ce484222325, word;
	size_t i;

	for (i = 0; i < words; i++) {
		word = bits[i];
		if (self / 64 == i)
			word |= 1ULL << self % 64;
		hash = (hash ^ word) * 0x100000001b3;
		hash ^= hash >> 29;
	}
	return hash;
}

static int by_hash(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int by_score(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Lists distinct rows that are not empty, the most promising first. */
static size_t candidates(const struct sets *sets, bool with_self,
			 struct candidate *list)
{
	size_t n = 0, kept = 0, i, same;
	uint32_t row;

	for (row = 0; row < sets->n; row++) {
		if (sets->counts[row])
			list[n++] = (struct candidate){
				.row = row, .score = sets->counts[row],
				.hash = sets->hashes[with_self][row],
			};
	}
	qsort(list, n, sizeof(*list), by_hash);
	for (i = 0; i < n; i += same) {
		for (same = 1; i + same < n && list[i + same].hash == list[i].hash;)
			same++;
		list[kept] = list[i];
		list[kept++].score *= same;
	}
	qsort(list, kept, sizeof(*list), by_score);
	return kept;
}

/* ---- blocks -------------------------------------------------------------------------- */

/* Skip rows that have not changed, because the search is repeated after each block. */
static void update_hashes(struct sets *sets)
{
	uint32_t row;

	for (row = 0; row < sets->n; row++) {
		if (!sets->stale[row] || !sets->counts[row])
			continue;
		sets->stale[row] = false;
		sets->hashes[0][row] = hash_of(sets_row(sets, row), sets->words,
					       UINT32_MAX);
		sets->hashes[1][row] = hash_of(sets_row(sets, row), sets->words,
					       row);
	}
}

static bool contains(const struct sets *sets, uint32_t row, bool with_self,
		     const uint64_t *columns)
{
	const uint64_t *bits = sets_row(sets, row);
	uint64_t word;
	size_t i;

	for (i = 0; i < sets->words; i++) {
		word = bits[i];
		if (with_self && row / 64 == i)
			word |= 1ULL << row % 64;
		if (columns[i] & ~word)
			return false;
	}
	return true;
}

/* Lists the rows that contain all @columns, and returns their number. */
static uint32_t close_block(const struct sets *sets, bool with_self,
			    const uint64_t *columns, uint32_t n_columns,
			    uint32_t *rows)
{
	uint32_t row, n = 0;

	for (row = 0; row < sets->n; row++) {
		if (sets->counts[row] + with_self >= n_columns &&
		    contains(sets, row, with_self, columns))
			rows[n++] = row;
	}
	return n;
}

static uint32_t list_bits(const uint64_t *bits, size_t words, uint32_t *to)
{
	uint32_t n = 0;
	uint64_t word;
	size_t i;

	for (i = 0; i < words; i++) {
		for (word = bits[i]; word; word &= word - 1)
			to[n++] = 64 * i + __builtin_ctzll(word);
	}
	return n;
}

struct search {
	const struct sets *sets;
	struct candidate *list;
	uint64_t *columns;
	uint32_t *rows;
	uint64_t best;		/* number of bits in the best block */
	struct block *block;
};

/*
 * Returns true if a block is worth reporting: a block of one host and two hosts is only
 * two pairs.
 */
static bool is_large(uint64_t n_rows, uint64_t n_columns)
{
	return n_rows * n_columns >= 3;
}

/* Returns true if the block relates a set to itself. */
static bool are_columns(const struct search *s, uint32_t n_rows)
{
	uint32_t i;

	for (i = 0; i < n_rows; i++) {
		if (!(s->columns[s->rows[i] / 64] >> s->rows[i] % 64 & 1))
			return false;
	}
	return true;
}

static void try_row(struct search *s, uint32_t row, bool with_self)
{
	const struct sets *sets = s->sets;
	struct block *block = s->block;
	uint32_t n_rows, n_columns;
	uint64_t area;

	memcpy(s->columns, sets_row(sets, row), sets->words * sizeof(uint64_t));
	if (with_self)
		s->columns[row / 64] |= 1ULL << row % 64;
	n_columns = sets->counts[row] + with_self;
	n_rows = close_block(sets, with_self, s->columns, n_columns, s->rows);
	area = (uint64_t)n_rows * n_columns;
	if (with_self) {
		if (n_rows != n_columns || n_rows < 3 || !are_columns(s, n_rows))
			return;
		area -= n_rows;
	}
	if (!is_large(n_rows, n_columns) || area <= s->best)
		return;
	s->best = area;
	memcpy(block->rows, s->rows, n_rows * sizeof(*s->rows));
	block->n_rows = n_rows;
	block->n_columns = list_bits(s->columns, sets->words, block->columns);
	block->among = with_self;
}

int sets_block(struct sets *sets, struct block *block)
{
	struct search s = { .sets = sets, .block = block };
	size_t n, i;
	int ret = -ENOMEM, pass;

	memset(block, 0, sizeof(*block));
	s.list = calloc(sets->n, sizeof(*s.list));
	s.columns = calloc(sets->words, sizeof(*s.columns));
	s.rows = calloc(sets->n, sizeof(*s.rows));
	block->rows = calloc(sets->n, sizeof(*block->rows));
	block->columns = calloc(sets->n, sizeof(*block->columns));
	if (s.list && s.columns && s.rows && block->rows && block->columns) {
		update_hashes(sets);
		for (pass = 0; pass < 2; pass++) {
			n = candidates(sets, pass, s.list);
			for (i = 0; i < n && i < CANDIDATES; i++)
				try_row(&s, s.list[i].row, pass);
		}
		ret = s.best > 0;
	}
	free(s.list);
	free(s.columns);
	free(s.rows);
	if (ret > 0)
		return ret;
	free(block->rows);
	free(block->columns);
	return ret;
}
