/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The companion's char device. */
#ifndef EADM_NODE_H
#define EADM_NODE_H

#include "devlist.h"
#include "query.h"

struct eadm_ioc_info;

/* What raw bytes are wanted. */
struct eadm_node_query {
	uint32_t kind;		/* EADM_RAW_KIND_* */
	uint32_t id;
	uint32_t sub;		/* part of the queue */
	bool hw;
	bool payload;
	bool has_range;		/* else the whole ring */
	uint32_t first, count;
};

/* Entries of a ring as they were read. */
struct eadm_node_part {
	const struct eadm_device *dev;
	uint32_t kind;		/* EADM_RAW_KIND_* */
	uint32_t id, depth, entry_size;
	uint32_t first, count;	/* what is in data */
	unsigned char *data;
};

/*
 * Leaves nothing of payload in entries, which takes knowledge of their formats:
 * that lies above the sources. 0, or a negative errno, and nothing is shown.
 */
typedef int (*eadm_scrub_fn)(struct eadm_ctx *ctx,
			     const struct eadm_node_part *part);

int eadm_node_open(struct eadm_ctx *ctx, const struct eadm_device *dev,
		   struct eadm_ioc_info *info) EADM_MUST_CHECK;
void eadm_node_ask(const struct eadm_ctx *ctx, const struct eadm_device *dev,
		   const struct eadm_node_query *q, struct eadm_query *query);
int eadm_node_query(struct eadm_ctx *ctx, const struct eadm_query *query,
		    uint32_t seq, eadm_scrub_fn scrub,
		    struct eadm_stream **stream) EADM_MUST_CHECK;

#endif /* EADM_NODE_H */
