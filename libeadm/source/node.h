/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The companion's char device. */
#ifndef EADM_NODE_H
#define EADM_NODE_H

#include "priv.h"

struct eadm_ioc_info;

/* What raw bytes are wanted. */
struct eadm_node_query {
	uint32_t kind;		/* EADM_RAW_KIND_* */
	uint32_t id;
	bool hw;
	bool payload;
	bool has_range;		/* else the whole ring */
	uint32_t first, count;
};

int eadm_node_open(struct eadm_ctx *ctx, const struct eadm_device *dev,
		   struct eadm_ioc_info *info) EADM_MUST_CHECK;
void eadm_node_ask(const struct eadm_ctx *ctx, const struct eadm_device *dev,
		   const struct eadm_node_query *q, struct eadm_query *query);
int eadm_node_answer(struct eadm_ctx *ctx, const struct eadm_query *query,
		     uint32_t seq, unsigned char **data, size_t *len)
	EADM_MUST_CHECK;

#endif /* EADM_NODE_H */
