/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contents of the messages of a mesh, big-endian. The readers reject all data
 * that no writer produces.
 */
#ifndef MESH_MESSAGE_H
#define MESH_MESSAGE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cause.h"
#include "frame.h"

#define MESH_MAX_HOSTS	16384
#define MESH_MAX_RAILS	16
#define MESH_NAME	64	/* host name, with NUL */
#define MESH_WHY	240	/* reason reported by an end, with NUL */

enum message_kind {
	/* First message to the accepting side. */
	MESSAGE_HELLO = 1,
	/* From rank 0. */
	MESSAGE_REFUSED, MESSAGE_START, MESSAGE_ROSTER, MESSAGE_GONE,
	MESSAGE_SKIPPED, MESSAGE_BYE,
	/* To rank 0. */
	MESSAGE_BEAT, MESSAGE_RESULTS, MESSAGE_DONE,
	/* Between two hosts that test. */
	MESSAGE_VIEW,
};

/* Sent with BEAT: the state of the wait for the partner. */
enum mesh_wait {
	WAIT_NOT,
	WAIT_PARTNER,
	WAIT_ALONE,		/* its last partners did not connect either */
	WAIT_END
};

enum mesh_refusal {
	REFUSED_NOTHING,
	REFUSED_RANK,		/* not below the number of ranks */
	REFUSED_RANKS,		/* the number of ranks differs from rank 0's */
	REFUSED_TWICE,		/* another process has the rank */
	REFUSED_LATE,		/* the tests have begun, or the host was dropped */
	REFUSED_HUNG,		/* no keep-alive in time */
	REFUSED_ENDED,		/* rank 0 exits before the tests are complete */
};

struct hello {
	uint32_t rank, ranks;
	uint32_t to;		/* rank of the other side */
	uint8_t rails;		/* adapters of the host */
	uint16_t port;		/* port for peers */
	struct in6_addr addr;
	char name[MESH_NAME];
	char why[MESH_WHY];	/* why the host has no adapter */
};

/* The options of rank 0, which apply to all members. */
struct start {
	uint32_t ranks;
	bool all_pairs;		/* all pairs of adapters, not rail by rail */
	bool bandwidth;
	bool ud;		/* UD queue pairs instead of those of the adapter */
	uint32_t count;		/* messages for measuring the latency */
	uint32_t size;		/* size of the largest message */
	uint32_t timeout;	/* ms */
};

struct roster {
	uint32_t rank;
	uint8_t rails;		/* 0: absent */
	uint16_t port;
	struct in6_addr addr;
};

#define ROSTER_ENTRY	24	/* bytes */
#define ROSTER_MOST	(FRAME_MAX / ROSTER_ENTRY)

/* One direction between two adapters. */
struct edge {
	uint32_t from, to;		/* ranks */
	uint8_t from_rail, to_rail;
	bool reached;			/* a message arrived */
	bool partial;			/* no large message: the other way failed */
	/* Set for each end that reports a local cause; if neither is set: unknown. */
	bool from_blamed, to_blamed;
	enum mesh_cause cause;
	uint32_t min, p50, p99;		/* round-trip times, ns; 0: not measured */
	uint32_t lost;			/* per million messages */
	uint32_t mtu;			/* bytes; 0: unknown */
	uint64_t rate;			/* bytes per second; 0: not measured */
	char from_why[MESH_WHY], to_why[MESH_WHY];
};

#define VIEW_ADDRESS 80

/* The result of a step of a test, as seen by one end. */
struct view {
	uint8_t step;
	bool ok;
	bool received;			/* the peer's message arrived */
	enum mesh_cause cause;
	uint32_t min, p50, p99;		/* for the messages of this end */
	uint32_t lost;
	uint64_t rate;			/* received bytes per second */
	uint8_t address[VIEW_ADDRESS];	/* address of the queue pair of this end */
	char why[MESH_WHY];
};

/* Bytes to reserve for a result. */
#define RESULT_MOST (56 + 2 * MESH_WHY)

size_t hello_write(const struct hello *hello, uint8_t *out);
bool hello_read(const uint8_t *data, size_t len, struct hello *hello);
size_t start_write(const struct start *start, uint8_t *out);
bool start_read(const uint8_t *data, size_t len, struct start *start);
size_t roster_write(const struct roster *entry, uint8_t *out);
/* Reads entry number @i. */
bool roster_read(const uint8_t *data, size_t len, size_t i,
		 struct roster *entry);
size_t result_write(const struct edge *result, uint8_t *out);
/* Returns the number of bytes that were read; 0: invalid. */
size_t result_read(const uint8_t *data, size_t len, struct edge *result);
size_t view_write(const struct view *view, uint8_t *out);
bool view_read(const uint8_t *data, size_t len, struct view *view);
/* Two numbers: BEAT (round, wait), SKIPPED (rank), GONE (rank, cause), REFUSED. */
size_t number_write(uint32_t number, uint8_t extra, uint8_t *out);
bool number_read(const uint8_t *data, size_t len, uint32_t *number,
		 uint8_t *extra);
const char *refusal_text(enum mesh_refusal refusal);

#endif /* MESH_MESSAGE_H */
