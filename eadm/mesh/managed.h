/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection between two adapters through rdma_cm, for adapters that require it. */
#ifndef MESH_MANAGED_H
#define MESH_MANAGED_H

#include "../test/exchange.h"
#include "rails.h"

struct rdma_cm_id;
struct rdma_event_channel;

struct managed {
	struct link *link;
	struct rdma_event_channel *events;
	struct rdma_cm_id *id;		/* bound to the adapter's address */
	bool first;			/* this end connects, the peer accepts */
	bool connected;
	uint8_t mtu;
	uint16_t port;
	uint32_t token;			/* token of the accepting end, known only to its peer */
	uint32_t size, depth;
	union ibv_gid address;		/* IP address in the form of a GID */
	uint64_t until;			/* deadline for connecting, ns */
	/* Returns true if the step has failed at the peer. */
	bool (*failed)(void *context);
	void *context;
};

/* Returns NULL, or the name of a missing library. */
const char *managed_open(void);
/*
 * The caller sets link, first, size, depth, failed and context before the call, and
 * calls managed_release() afterwards in any case. On failure, the link has the reason.
 */
int managed_make(struct managed *m, const struct rail *rail);
void managed_describe(const struct managed *m, struct exchange *message);
int managed_connect(struct managed *m, const struct exchange *peer, uint64_t until);
void managed_release(struct managed *m);

#endif /* MESH_MANAGED_H */
