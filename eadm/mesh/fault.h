/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults of a mesh, and lists of faults. */
#ifndef MESH_FAULT_H
#define MESH_FAULT_H

#include "table.h"

#define FAULTS_MAX 1000	/* for groups and pairs; hosts and adapters are not limited */

enum fault_kind {
	FAULT_ALL,		/* no host reaches any other host */
	FAULT_RAIL,		/* no host reaches any other host on a rail */
	FAULT_HOST,
	FAULT_ADAPTER,
	FAULT_GROUPS,		/* no host of one set reaches a host of the other set */
	FAULT_AMONG,		/* no host of a set reaches another host of the set */
	FAULT_PAIR,
	FAULT_MTU,		/* an adapter has a smaller MTU than most on its rail */
};

enum fault_way {
	WAY_BOTH,
	WAY_OUT,		/* from @a to @b */
	WAY_IN,			/* from @b to @a */
};

struct fault {
	enum fault_kind kind;
	enum fault_way way;
	uint32_t *a, *b;	/* ranks in ascending order; NULL: all (other) hosts */
	uint32_t n_a, n_b;
	int from_rail, to_rail;	/* -1: all; equal: one rail */
	enum mesh_cause cause;
	const char *a_why, *b_why;	/* reasons reported by the ends; NULL: none */
	uint64_t directions;	/* directions that the fault explains */
	uint32_t mtu, usual_mtu;	/* FAULT_MTU */
};

struct faults {
	struct fault *list;
	uint32_t n, max;
	uint64_t more;		/* failed directions beyond FAULTS_MAX */
};

void faults_free(struct faults *faults);

const char *fault_kind_name(enum fault_kind kind);
const char *fault_way_name(enum fault_way way);

/*
 * Takes over the arrays of @fault, even on failure. Returns the entry in the list, or
 * NULL if out of memory.
 */
struct fault *fault_add(struct faults *faults, const struct fault *fault);
int fault_hosts(uint32_t **to, uint32_t *n_to, const uint32_t *hosts, uint32_t n);

/* Merge faults that have the same hosts on all @combos pairs of rails. */
void faults_merge(struct faults *faults, uint32_t combos);

/* Join faults that differ only in the host. Returns 0 or -ENOMEM. */
int faults_join(struct faults *faults);

/*
 * Add causes from counters and rows, and faults for adapters with a smaller MTU than
 * most on their rail. Returns 0 or -ENOMEM.
 */
int faults_explain(struct faults *faults, const struct mesh_table *t,
		   const uint8_t *gone);

#endif /* MESH_FAULT_H */
