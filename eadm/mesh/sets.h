/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A relation between hosts as a square bit matrix, and its largest full block. */
#ifndef MESH_SETS_H
#define MESH_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sets {
	uint32_t n;
	size_t words;		/* words per row */
	uint64_t *bits;
	uint32_t *counts;	/* number of bits in each row */
	uint64_t *hashes[2];	/* hash of each row, without and with its own bit */
	bool *stale;		/* the hashes are outdated */
};

/* Hosts of the rows and of the columns; @among: rows and columns are the same. */
struct block {
	uint32_t *rows, *columns;
	uint32_t n_rows, n_columns;
	bool among;
};

int sets_init(struct sets *sets, uint32_t n);
void sets_free(struct sets *sets);

static inline uint64_t *sets_row(const struct sets *sets, uint32_t row)
{
	return sets->bits + (size_t)row * sets->words;
}

static inline bool sets_has(const struct sets *sets, uint32_t row, uint32_t column)
{
	return sets_row(sets, row)[column / 64] >> column % 64 & 1;
}

static inline void sets_put(struct sets *sets, uint32_t row, uint32_t column)
{
	sets->counts[row] += !sets_has(sets, row, column);
	sets->stale[row] = true;
	sets_row(sets, row)[column / 64] |= 1ULL << column % 64;
}

static inline void sets_drop(struct sets *sets, uint32_t row, uint32_t column)
{
	sets->counts[row] -= sets_has(sets, row, column);
	sets->stale[row] = true;
	sets_row(sets, row)[column / 64] &= ~(1ULL << column % 64);
}

void sets_clear(struct sets *sets);

/*
 * Finds a block that is not part of a larger block. All rows of a block have all of its
 * columns; in a block that relates a set to itself, each host counts as related to
 * itself. Returns 1 if found, 0 if only pairs are left, or -ENOMEM. The caller frees
 * the arrays.
 */
int sets_block(struct sets *sets, struct block *block);

#endif /* MESH_SETS_H */
