/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults of a mesh, and the list of them. */
#ifndef MESH_FAULT_H
#define MESH_FAULT_H

#include "table.h"

#define FAULTS_MAX 1000	/* of groups and pairs; hosts and adapters are listed all */

enum fault_kind {
	FAULT_ALL,		/* no host reaches another one */
	FAULT_RAIL,		/* no host reaches another one on a rail */
	FAULT_HOST,
	FAULT_ADAPTER,
	FAULT_GROUPS,		/* no host of one set and one of the other set */
	FAULT_AMONG,		/* no two hosts of one set */
	FAULT_PAIR,
	FAULT_MTU,		/* an adapter has a smaller MTU than most of its rail */
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
	int from_rail, to_rail;	/* -1: all; the same: from rail to rail */
	enum mesh_cause cause;
	const char *a_why, *b_why;	/* what the ends report; NULL: nothing */
	uint64_t directions;	/* that it explains */
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

/* Returns the place in the list, which owns the arrays; NULL: out of memory. */
struct fault *fault_add(struct faults *faults, const struct fault *fault);
int fault_hosts(uint32_t **to, uint32_t *n_to, const uint32_t *hosts, uint32_t n);

/* One fault for the same hosts on all @combos pairs of rails. */
void faults_merge(struct faults *faults, uint32_t combos);

/* One fault for hosts that have the same one, for the same reason. 0 or -ENOMEM. */
int faults_join(struct faults *faults);

/* Causes from the counters and rows; adapters whose MTU is smaller than that of most. */
int faults_explain(struct faults *faults, const struct mesh_table *t,
		   const uint8_t *gone);

#endif /* MESH_FAULT_H */
