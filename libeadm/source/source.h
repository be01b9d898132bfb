/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface of sources, which respond to requests: this machine, a capture, or a
 * recorder that wraps another source.
 */
#ifndef EADM_SOURCE_H
#define EADM_SOURCE_H

#include "base/ctx.h"

/* Whole netlink messages that arrived together. */
struct eadm_chunk {
	const void *data;
	size_t len;
	uint64_t time;		/* ns since 1970; 0: unknown */
	uint64_t offset;	/* offset of the data in a capture; 0: none */
};

struct eadm_ioc_info;
struct eadm_query;
struct eadm_stream;

/*
 * next() returns 1 with a chunk, 0 when the response is complete, or a negative errno.
 * On a listening stream, -EAGAIN means that there is no message yet, and -ENOBUFS that
 * messages were lost.
 */
struct eadm_stream_ops {
	int (*next)(struct eadm_stream *stream, struct eadm_chunk *chunk);
	void (*end)(struct eadm_stream *stream);
};

struct eadm_stream {
	const struct eadm_stream_ops *ops;
	uint32_t seq;		/* nlmsg_seq of the request */
	int fd;			/* to poll for more; -1: all data is available */
};

/*
 * The operations of a source. query() returns a stream, or an error: -ENODATA if a
 * capture does not have the response. Usually there is one stream at a time, but
 * several must be possible. For a capture, node() is NULL and mark() may be NULL.
 */
struct eadm_source_ops {
	int (*query)(struct eadm_source *src, const struct eadm_query *query,
		     struct eadm_stream **stream);
	/*
	 * Returns a stream of a multicast group's messages, as the response to @query.
	 */
	int (*listen)(struct eadm_source *src, const struct eadm_query *query,
		      uint32_t group, struct eadm_stream **stream);
	/* Returns a file descriptor of the companion's char device. */
	int (*node)(struct eadm_source *src, const struct eadm_device *dev,
		    struct eadm_ioc_info *info);
	/* Begins a new snapshot, to which later requests refer. */
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
	bool keeps;		/* stores responses, so known data is requested again */
	bool records;		/* all data read is captured */
};

#endif /* EADM_SOURCE_H */
