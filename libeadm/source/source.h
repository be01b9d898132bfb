/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whoever answers requests: this machine, a capture, a recorder around one. */
#ifndef EADM_SOURCE_H
#define EADM_SOURCE_H

#include "base/ctx.h"

/* Whole netlink messages that arrived together. */
struct eadm_chunk {
	const void *data;
	size_t len;
	uint64_t time;		/* ns since 1970, 0: unknown */
	uint64_t offset;	/* where the data is in a capture, 0: nowhere */
};

struct eadm_ioc_info;
struct eadm_query;
struct eadm_stream;

/*
 * next() gives 1 with a chunk, 0 when the answer is complete, a negative errno.
 * Of a stream that was listened for: -EAGAIN when there is nothing yet, and
 * -ENOBUFS when something was lost.
 */
struct eadm_stream_ops {
	int (*next)(struct eadm_stream *stream, struct eadm_chunk *chunk);
	void (*end)(struct eadm_stream *stream);
};

struct eadm_stream {
	const struct eadm_stream_ops *ops;
	uint32_t seq;		/* nlmsg_seq of the request */
	int fd;			/* to wait for more at, -1: all is there */
};

/*
 * A source of answers. query() gives a stream or an error: -ENODATA when a
 * capture does not have the answer. One stream at a time is usual, more must
 * work. A capture has no node() and may have no mark(): they are NULL.
 */
struct eadm_source_ops {
	int (*query)(struct eadm_source *src, const struct eadm_query *query,
		     struct eadm_stream **stream);
	/* Messages of a multicast group, as the answer to @query. */
	int (*listen)(struct eadm_source *src, const struct eadm_query *query,
		      uint32_t group, struct eadm_stream **stream);
	/* A descriptor of the companion's char device. */
	int (*node)(struct eadm_source *src, const struct eadm_device *dev,
		    struct eadm_ioc_info *info);
	/* What is asked for from here on is the state of another snapshot. */
	void (*mark)(struct eadm_source *src);
	int (*snapshot_next)(struct eadm_source *src);
	unsigned int (*snapshots)(const struct eadm_source *src);
	int (*snapshot_time)(const struct eadm_source *src, unsigned int index,
			     uint64_t *ns);
	int (*snapshot_go)(struct eadm_source *src, unsigned int index);
	void (*close)(struct eadm_source *src);
};

struct eadm_source {
	const struct eadm_source_ops *ops;
	struct eadm_ctx *ctx;
	bool keeps;		/* answers: what is known is asked for again */
};

#endif /* EADM_SOURCE_H */
