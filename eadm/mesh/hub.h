/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rank 0's part of a mesh, without sockets: the state of each member, the next message
 * for it, and the results. Memory does not grow with the number of messages: messages
 * for all members are stored once, and each member has a position in them.
 */
#ifndef MESH_HUB_H
#define MESH_HUB_H

#include "group.h"

enum member_state {
	MEMBER_ABSENT, MEMBER_HERE, MEMBER_DONE, MEMBER_GONE,
};

struct hub_member {
	char *name, *why;	/* why: the reason for having no adapter; NULL: none reported */
	struct in6_addr addr;
	uint16_t port;
	uint8_t rails;
	uint8_t state;
	uint8_t gone;		/* cause of its absence */
	bool started;		/* the options were sent */
	bool bid;		/* the last message was sent */
	uint32_t n_roster;	/* entries that were sent */
	uint32_t n_gone;	/* notices that were sent */
	uint32_t round;
	uint8_t waits;		/* enum mesh_wait */
	bool skip;		/* a notice is due: ... */
	uint32_t skipped;	/* this partner will not connect */
	uint32_t epoch;		/* times that it was lost before the tests */
	uint64_t heard;		/* ns */
};

struct hub {
	struct start start;
	uint64_t wait;		/* ns for all to join */
	uint64_t silence;	/* ns without a message until a member counts as hung */
	uint64_t began;
	uint32_t n;
	uint32_t n_here;	/* joined, neither done nor gone */
	bool running;
	bool has_self;
	struct in6_addr self;	/* this host's address, as used by another host */
	struct hub_member *members;
	uint32_t *gone;		/* ranks, in the order in which they left */
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
 * Handles a request to join from a process with the secret, on a connection to this
 * local address of rank 0.
 */
enum mesh_refusal hub_join(struct hub *hub, const struct hello *hello,
			   const struct in6_addr *local, uint64_t now);
/* Handles a message of a member; -EPROTO: invalid, the caller drops the member. */
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
/* The lowest round of all members that are still testing, to report progress. */
uint32_t hub_round(const struct hub *hub);
/* Add the rank to names that several hosts have. 0 or -ENOMEM. */
int hub_distinguish(struct hub *hub);
/* The faults of all results; 0 or -ENOMEM. table_sort() comes later. */
int hub_faults(const struct hub *hub, struct faults *faults);

#endif /* MESH_HUB_H */
