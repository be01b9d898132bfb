/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results at rank 0, in bounded memory: three bits for each direction between two
 * adapters, counters for each adapter, and the worst rows in full.
 */
#ifndef MESH_TABLE_H
#define MESH_TABLE_H

#include "message.h"

#define TABLE_MAX_BYTES	(512u << 20)	/* for the bits */
#define TABLE_MAX_ROWS	65536
#define TABLE_MAX_TEXTS	4096

/* A direction in full. Texts are interned; NULL: none. */
struct mesh_row {
	uint32_t from, to;
	uint8_t from_rail, to_rail;
	bool reached;
	uint8_t cause;
	uint32_t turn;		/* number of earlier failures of the worse end */
	uint32_t min, p50, p99, lost, mtu;
	uint64_t rate;
	const char *from_why, *to_why;
};

/* Directions that leave an adapter, or that end at it. */
struct tally {
	uint32_t tested, failed;
	uint32_t blamed;	/* failed for a cause local to the adapter */
	uint32_t min, p99;	/* minimum and maximum; 0: none */
	uint64_t p50_sum;
	uint32_t p50_n;
	uint32_t causes[CAUSE_END];	/* causes of the failures */
	uint8_t cause;			/* the most frequent cause, with its reasons */
	const char *why, *peer_why;
};

struct adapter_tally {
	struct tally out, in;
	uint32_t mtu;		/* the largest with any peer */
	uint8_t cause;		/* the last local cause */
	const char *why;
};

struct mesh_table {
	uint32_t n;		/* hosts */
	uint32_t rails;		/* maximum number of adapters of a host */
	bool all_pairs;
	uint32_t combos;	/* pairs of rails that are tested */
	size_t words;		/* words for the bits of one host and combination */
	uint64_t *tested, *failed, *partial;
	struct adapter_tally *adapters;	/* n * rails */
	struct mesh_row *rows;	/* a heap: the best row first, until table_sort() */
	uint32_t n_rows, max_rows;
	uint64_t n_directions, n_failed;
	const char **texts;	/* a hash table */
	uint32_t n_texts;
};

/*
 * Returns 0, or a negative errno; -E2BIG: the bits would need more than
 * TABLE_MAX_BYTES.
 */
int table_init(struct mesh_table *t, uint32_t n, uint32_t rails, bool all_pairs);
void table_free(struct mesh_table *t);
size_t table_bytes(const struct mesh_table *t);

/*
 * Returns 0, -EINVAL if the result is outside of the table or was reported before, or
 * -ENOMEM.
 */
int table_add(struct mesh_table *t, const struct edge *result);
/*
 * Sorts rows, worst first: failures, then by loss and latency. No rows may be added
 * afterwards.
 */
void table_sort(struct mesh_table *t);

uint32_t table_combo(const struct mesh_table *t, unsigned int from_rail,
		     unsigned int to_rail);
void table_rails(const struct mesh_table *t, uint32_t combo, unsigned int *from_rail,
		 unsigned int *to_rail);

static inline const uint64_t *table_bits(const struct mesh_table *t,
					 const uint64_t *bits, uint32_t combo,
					 uint32_t from)
{
	return bits + ((size_t)combo * t->n + from) * t->words;
}

static inline bool bit_is_set(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static inline bool table_tested(const struct mesh_table *t, uint32_t combo,
				uint32_t from, uint32_t to)
{
	return bit_is_set(table_bits(t, t->tested, combo, from), to);
}

static inline bool table_partial(const struct mesh_table *t, uint32_t combo,
				 uint32_t from, uint32_t to)
{
	return bit_is_set(table_bits(t, t->partial, combo, from), to);
}

static inline bool table_failed(const struct mesh_table *t, uint32_t combo,
				uint32_t from, uint32_t to)
{
	return bit_is_set(table_bits(t, t->failed, combo, from), to);
}

#endif /* MESH_TABLE_H */
