/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The companion's char device. */
#ifndef EADM_NODE_H
#define EADM_NODE_H

#include "devlist.h"
#include "query.h"

struct eadm_ioc_info;

/* A request for raw bytes. */
struct eadm_node_query {
	uint32_t kind;		/* EADM_RAW_KIND_* */
	uint32_t id;
	uint32_t sub;		/* part of the queue */
	bool hw;
	bool payload;
	bool has_range;		/* otherwise: the whole ring */
	uint32_t first, count;
};

/* Entries of a ring as read. */
struct eadm_node_part {
	const struct eadm_device *dev;
	uint32_t kind;		/* EADM_RAW_KIND_* */
	uint32_t id, depth, entry_size;
	uint32_t index;		/* EADM_RING_INDEX_* */
	uint32_t index_bits;
	uint32_t first, count;	/* range of entries in data */
	unsigned char *data;
};

/*
 * Removes all payload from entries. This requires knowledge of their formats, which
 * belongs to a layer above the sources. If a negative errno is returned, no entry is
 * shown.
 */
typedef int (*eadm_scrub_fn)(struct eadm_ctx *ctx,
			     const struct eadm_node_part *part);

int eadm_node_open(struct eadm_ctx *ctx, const struct eadm_device *dev,
		   struct eadm_ioc_info *info) EADM_MUST_CHECK;
void eadm_node_ask(const struct eadm_ctx *ctx, const struct eadm_device *dev,
		   const struct eadm_node_query *q, struct eadm_query *query);
/* Like eadm_node_query(), with a function that replaces ioctl() on the device's node. */
typedef int (*eadm_ioctl_fn)(void *data, unsigned long request, void *arg);
int eadm_node_query_by(struct eadm_ctx *ctx, const struct eadm_query *query,
		       uint32_t seq, eadm_scrub_fn scrub, eadm_ioctl_fn call,
		       void *data, struct eadm_stream **stream) EADM_MUST_CHECK;
int eadm_node_query(struct eadm_ctx *ctx, const struct eadm_query *query,
		    uint32_t seq, eadm_scrub_fn scrub,
		    struct eadm_stream **stream) EADM_MUST_CHECK;

#endif /* EADM_NODE_H */
