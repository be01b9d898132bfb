/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that runs tests: its connections to rank 0 and from peers, and its rounds.
 */
#ifndef MESH_MEMBER_H
#define MESH_MEMBER_H

#include "channel.h"
#include "rails.h"

/* A peer that has connected and waits for its round. */
struct caller {
	struct channel ch;
	int64_t rank;		/* -1: no valid hello yet */
	uint64_t since;
	struct caller *next;
};

struct member {
	struct test *test;
	const struct secret *secret;
	uint32_t rank, ranks;
	const char *rendezvous, *port;
	uint64_t wait;		/* ns for rank 0 to appear */
	struct rails rails;
	struct channel hub;
	int listener;
	uint16_t listening;	/* port of the listener */
	struct start start;
	bool started, bid, lost;
	struct roster *roster;
	uint32_t n_roster;
	bool *gone;
	uint32_t skipped;	/* partner that will not connect; own rank: none */
	uint64_t waits;		/* ns, when the wait for the partner began; 0: none */
	uint32_t missed;	/* mesh_losses() of partners that did not connect */
	struct caller *callers;
	unsigned int n_strangers;	/* callers without a hello yet */
	uint64_t deaf_until;	/* ns, when to accept connections again */
	bool deaf, full;	/* messages that were printed */
	uint8_t batch[FRAME_MAX];	/* results to send */
	size_t n_batch;
	uint32_t round;
	uint64_t beat;		/* ns, when the last message to rank 0 was sent */
	char why[MESH_WHY];	/* reason for stopping */
};

/* Functions that return int return 0, or -1 when the member has to stop. */
int member_join(struct member *m);
void member_leave(struct member *m);
/*
 * Waits up to @ms for rank 0, callers and @events of @peer (NULL: none); handles rank 0
 * and callers, and sends the keep-alive if it is due.
 */
int member_pump(struct member *m, const struct channel *peer, short events, int ms);
/* Returns the ms after which a connection without acknowledgements counts as lost. */
unsigned int member_patience(const struct member *m);
int member_send(struct member *m, uint8_t kind, const void *data, size_t len);
int member_report(struct member *m, const struct edge *edge);
int member_flush(struct member *m);
/* Takes the connection of a waiting peer; returns false if the peer has none. */
bool member_caller(struct member *m, uint32_t rank, struct channel *ch);
int member_fail(struct member *m, const char *fmt, ...) PRINTF(2, 3);

/* Joins, runs the tests with all other hosts, and leaves. Returns an exit status. */
int rounds_run(struct member *m);

#endif /* MESH_MEMBER_H */
