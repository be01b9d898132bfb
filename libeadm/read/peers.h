/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Peers of queue pairs. */
#ifndef EADM_PEERS_H
#define EADM_PEERS_H

#include "model/record.h"
#include "source/devlist.h"

struct eadm_peer;

/* Connections of a device. */
struct eadm_peers {
	struct eadm_peer *peer;	/* sorted by QP number */
	size_t n, max;
};

int eadm_peers_load(struct eadm_ctx *ctx, const struct eadm_device *dev,
		    struct eadm_peers *peers, struct eadm_record *rec)
	EADM_MUST_CHECK;
void eadm_peers_put(const struct eadm_peers *peers, struct eadm_record *qp);
void eadm_peers_free(struct eadm_peers *peers);

#endif /* EADM_PEERS_H */
