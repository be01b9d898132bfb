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
	bool first;			/* this end sends first */
	uint32_t timeout;		/* ms, for a step */
	/* Sends a view and waits for the peer's view. Returns -1 if the peer is gone. */
	int (*swap)(void *context, const struct view *mine, struct view *theirs);
	/*
	 * Returns true if the peer's view has arrived and reports a failure, or if the
	 * peer is gone.
	 */
	bool (*failed)(void *context);
	void *context;
};

/*
 * Tests both directions; results[0] is from this end to the peer. Returns 0, or -1 if
 * the peer is gone.
 */
int pair_run(const struct pair *pair, struct edge results[2]);

/* Sets the results for both directions of a pair that cannot connect. */
void pair_without(const struct pair *pair, enum mesh_cause cause, const char *why,
		  struct edge results[2]);

#endif /* MESH_PAIR_H */
