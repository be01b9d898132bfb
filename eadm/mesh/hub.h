/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rank 0's part of a mesh, without sockets: the state of each member, the next message
 * for it, and the results. Memory usage does not grow with the number of messages:
 * messages to all members are stored once, and each member has a position in them.
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
	bool skip;		/* send MESSAGE_SKIPPED for @skipped */
	uint32_t skipped;	/* partner that will not connect */
	uint32_t epoch;		/* how often the member was lost before the tests */
	uint64_t heard;		/* ns, when its last message arrived */
};

struct hub {
	struct start start;
	uint64_t wait;		/* ns for all members to join */
	uint64_t silence;	/* ns without a message until a member counts as hung */
	uint64_t began;
	uint32_t n;
	uint32_t n_here;	/* members that joined and are neither done nor gone */
	bool running;
	bool has_self;
	struct in6_addr self;	/* this host's address, as used by another host */
	struct hub_member *members;
	uint32_t *gone;		/* ranks, in the order in which they left */
	uint32_t n_gone;
	struct mesh_table table;
	uint64_t n_received, n_sent, bytes_received;
};

/* Returns 0 or -ENOMEM. @start->ranks is the number of hosts. */
int hub_init(struct hub *hub, const struct start *start, uint64_t wait,
	     uint64_t now);
void hub_free(struct hub *hub);
size_t hub_bytes(const struct hub *hub);

/*
 * Handles a request to join from an authenticated process. @local is the address of
 * rank 0 to which it has connected.
 */
enum mesh_refusal hub_join(struct hub *hub, const struct hello *hello,
			   const struct in6_addr *local, uint64_t now);
/*
 * Handles a message of a member. Returns 0, or a negative errno if the caller must drop
 * the member; -EPROTO: invalid message.
 */
int hub_take(struct hub *hub, uint32_t rank, const struct frame *frame,
	     uint64_t now);
void hub_lose(struct hub *hub, uint32_t rank, enum mesh_cause cause);

/*
 * Begins when all members have joined or the time limit has passed, and drops members
 * that send nothing. Returns the time at which to call it again; sets *@ret to 0 or to
 * a negative errno of table_init().
 */
uint64_t hub_tick(struct hub *hub, uint64_t now, int *ret);

/* Returns the kind of the next message for a member, or 0 if there is none. */
uint8_t hub_next(struct hub *hub, uint32_t rank, uint8_t *out, size_t *len);

bool hub_is_over(const struct hub *hub);
/* Returns the lowest round of the members that are still testing, for progress. */
uint32_t hub_round(const struct hub *hub);
/* Adds the rank to names that several hosts share. Returns 0 or -ENOMEM. */
int hub_distinguish(struct hub *hub);
/* Finds the faults in all results, before table_sort(). Returns 0 or -ENOMEM. */
int hub_faults(const struct hub *hub, struct faults *faults);

#endif /* MESH_HUB_H */
