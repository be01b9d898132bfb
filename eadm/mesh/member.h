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
	uint16_t listening;	/* the port */
	struct start start;
	bool started, bid, lost;
	struct roster *roster;
	uint32_t n_roster;
	bool *gone;
	uint32_t skipped;	/* the partner for which not to wait; own rank: none */
	uint64_t waits;		/* ns, when it began to wait for its partner; 0: not waiting */
	uint32_t missed;	/* mesh_losses() of partners that it could not meet */
	struct caller *callers;
	unsigned int n_strangers;	/* callers without a hello yet */
	uint64_t deaf_until;	/* ns, without file descriptors */
	bool deaf, full;	/* what was reported */
	uint8_t batch[FRAME_MAX];	/* results */
	size_t n_batch;
	uint32_t round;
	uint64_t beat;		/* ns, when the last message to rank 0 was sent */
	char why[MESH_WHY];	/* the reason to stop */
};

/* Functions that return int return 0, or -1 when the member has to stop. */
int member_join(struct member *m);
void member_leave(struct member *m);
/*
 * Process due work; waits for at most @ms, and also for @events of @peer (NULL: none).
 */
int member_pump(struct member *m, const struct channel *peer, short events, int ms);
/* ms without an acknowledgement until a connection counts as lost. */
unsigned int member_patience(const struct member *m);
int member_send(struct member *m, uint8_t kind, const void *data, size_t len);
int member_report(struct member *m, const struct edge *edge);
int member_flush(struct member *m);
/* Takes the connection of a waiting peer; returns false if it has not connected. */
bool member_caller(struct member *m, uint32_t rank, struct channel *ch);
int member_fail(struct member *m, const char *fmt, ...) PRINTF(2, 3);

/* Join, test with all other hosts, and leave. Returns an exit status. */
int rounds_run(struct member *m);

#endif /* MESH_MEMBER_H */
