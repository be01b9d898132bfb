/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The index of a capture: its requests and snapshots. Several sources may share an
 * index, in one thread at a time.
 */
#ifndef EADM_CAPTURE_INDEX_H
#define EADM_CAPTURE_INDEX_H

#include "base/bytes.h"
#include "base/ctx.h"
#include "pcapng.h"

/* Captures up to this size are read at once, larger ones in parts. */
#define EADM_CAPTURE_BUFFER	(1024 * 1024)
/* Number of responses that can be read concurrently while keeping their buffers. */
#define EADM_CAPTURE_BUFFERS	3

/* A recorded request. */
struct eadm_recorded {
	struct pcapng_state after;	/* state where the response begins */
	unsigned int snapshot;
	uint32_t seq;
	uint16_t proto, type;
	uint8_t cmd;
	bool dump;
	uint8_t n_args;
	size_t args, args_len;	/* position and length of its attributes */
};

struct eadm_recorded_snapshot {
	uint64_t time;		/* time of its first request, 0: unknown */
	size_t first;		/* index of its first request */
};

/*
 * Snapshots count from 1; data before the first snapshot has number 0. A capture made
 * by a different program has only number 0. Rows about the machine at number 0 apply to
 * all snapshots without such rows.
 */
struct eadm_capture_index {
	unsigned int users;
	int fd;
	uint64_t size;		/* size of the capture when it was opened */
	/* Buffers not used by any reader. */
	struct pcapng_buf buf[EADM_CAPTURE_BUFFERS];
	unsigned int n_bufs;
	unsigned int n_snapshots;
	struct eadm_recorded_snapshot *snapshots;	/* indexed by number */
	size_t max_snapshots;
	struct eadm_recorded *requests;
	size_t n_requests, max_requests;
	struct eadm_bytes args;		/* attributes of all requests */
	bool asks_early;		/* a device was requested outside of any snapshot */
	char broken[192];	/* why reading ended early, or "" */
};

int eadm_capture_index_open(struct eadm_ctx *ctx, int fd,
			    struct eadm_capture_index **index) EADM_MUST_CHECK;
void eadm_capture_index_put(struct eadm_capture_index *index);
void eadm_capture_index_lend(struct eadm_capture_index *index,
			     struct pcapng *in, const struct pcapng_state *st,
			     size_t window);
void eadm_capture_index_return(struct eadm_capture_index *index,
			       struct pcapng *in);

#endif /* EADM_CAPTURE_INDEX_H */
