/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rank 0's part of a mesh, without sockets: what it knows of each member, which
 * message a member gets next, and the results. Memory does not grow with the number of
 * messages: what all members get is kept once, and each has a position in it.
 */
#ifndef MESH_HUB_H
#define MESH_HUB_H

#include "group.h"

enum member_state {
	MEMBER_ABSENT, MEMBER_HERE, MEMBER_DONE, MEMBER_GONE,
};

struct hub_member {
	char *name, *why;	/* why: no adapter; NULL: none reported */
	struct in6_addr addr;
	uint16_t port;
	uint8_t rails;
	uint8_t state;
	uint8_t gone;		/* the cause */
	bool started;		/* it got the options */
	bool bid;		/* it got the last message */
	uint32_t n_roster;	/* entries it got */
	uint32_t n_gone;	/* notices it got */
	uint32_t round;
	uint8_t waits;		/* enum mesh_wait */
	bool skip;		/* a notice is due: ... */
	uint32_t skipped;	/* this partner does not come */
	uint32_t epoch;		/* how often it was lost before the tests */
	uint64_t heard;		/* ns */
};

struct hub {
	struct start start;
	uint64_t wait;		/* ns for all to join */
	uint64_t silence;	/* ns without a message, then a member hangs */
	uint64_t began;
	uint32_t n;
	uint32_t n_here;	/* joined, neither done nor gone */
	bool running;
	bool has_self;
	struct in6_addr self;	/* of this host, by which another one reached it */
	struct hub_member *members;
	uint32_t *gone;		/* ranks, in the order of their end */
	uint32_t n_gone;
	struct mesh_table table;
	uint64_t n_received, n_sent, bytes_received;
};

/* 0 or -ENOMEM. @start->ranks is the number of hosts. */
int hub_init(struct hub *hub, const struct start *start, uint64_t wait,
	     uint64_t now);
void hub_free(struct hub *hub);
size_t hub_bytes(const struct hub *hub);

/*
 * A process with the secret wants to join, on a connection to this local address of
 * rank 0.
 */
enum mesh_refusal hub_join(struct hub *hub, const struct hello *hello,
			   const struct in6_addr *local, uint64_t now);
/* A message of a member; -EPROTO: it is not one that a member sends, drop it. */
int hub_take(struct hub *hub, uint32_t rank, const struct frame *frame,
	     uint64_t now);
void hub_lose(struct hub *hub, uint32_t rank, enum mesh_cause cause);

/*
 * Begin when all have joined or the time limit has passed, and drop members that send
 * nothing. Returns the time of the next such step; 0 or a negative errno of
 * table_init() is in *@ret.
 */
uint64_t hub_tick(struct hub *hub, uint64_t now, int *ret);

/* The next message for a member: its kind, or 0 if there is none. */
uint8_t hub_next(struct hub *hub, uint32_t rank, uint8_t *out, size_t *len);

bool hub_is_over(const struct hub *hub);
/* The least round of those that still test: for the progress. */
uint32_t hub_round(const struct hub *hub);
/* Add the rank to names that several hosts have. 0 or -ENOMEM. */
int hub_distinguish(struct hub *hub);
/* The faults of all results; 0 or -ENOMEM. table_sort() comes later. */
int hub_faults(const struct hub *hub, struct faults *faults);

#endif /* MESH_HUB_H */
