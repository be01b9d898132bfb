/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program that emulates an adapter and responds like the companion. */
#ifndef EADM_PEER_LINK_H
#define EADM_PEER_LINK_H

#include "source/query.h"

struct eadm_link;

/* Connects to the socket at @path when the first request is made. */
struct eadm_link *eadm_link_new(struct eadm_ctx *ctx, const char *path);
/* Streams also hold a reference. */
struct eadm_link *eadm_link_get(struct eadm_link *link);
void eadm_link_put(struct eadm_link *link);
const char *eadm_link_path(const struct eadm_link *link);
/* Returns 0, or a negative errno if the program cannot be queried. */
int eadm_link_try(struct eadm_link *link) EADM_MUST_CHECK;
int eadm_link_query(struct eadm_link *link, const struct eadm_query *query,
		    uint32_t seq, struct eadm_stream **stream) EADM_MUST_CHECK;
/* Returns a stream of messages as they arrive, as the response to @query. */
int eadm_link_listen(struct eadm_link *link, const struct eadm_query *query,
		     uint32_t seq, struct eadm_stream **stream)
	EADM_MUST_CHECK;

/* Represents the char device of a program's device. */
struct eadm_link_device {
	struct eadm_link *link;
	const char *name;
};

/* Like ioctl(); @data: struct eadm_link_device. */
int eadm_link_ioctl(void *data, unsigned long request, void *arg);

#endif /* EADM_PEER_LINK_H */
