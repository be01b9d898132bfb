/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A source that reads from one program through its control socket. */
#ifndef EADM_PEER_H
#define EADM_PEER_H

#include "source/node.h"

int eadm_peer_new(struct eadm_ctx *ctx, const char *path, eadm_scrub_fn scrub,
		  struct eadm_source **src) EADM_MUST_CHECK;

#endif /* EADM_PEER_H */
