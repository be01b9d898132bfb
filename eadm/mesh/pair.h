/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test of two adapters, which both ends run in the same steps. */
#ifndef MESH_PAIR_H
#define MESH_PAIR_H

#include "rails.h"

struct pair {
	struct test *test;
	const struct start *start;
	uint32_t here, there;		/* ranks */
	unsigned int rail, peer_rail;
	const struct rail *adapter;
	bool first;			/* of both, it sends first */
	uint32_t timeout;		/* ms, of a step */
	/* Send a view and wait for that of the peer; -1: the peer is gone. */
	int (*swap)(void *context, const struct view *mine, struct view *theirs);
	/* Whether the peer's view has come and says that the step failed, or is lost. */
	bool (*failed)(void *context);
	void *context;
};

/* Both directions, from here first. 0, or -1: the peer is gone. */
int pair_run(const struct pair *pair, struct edge results[2]);

/* Both directions of a pair that cannot meet. */
void pair_without(const struct pair *pair, enum mesh_cause cause, const char *why,
		  struct edge results[2]);

#endif /* MESH_PAIR_H */
