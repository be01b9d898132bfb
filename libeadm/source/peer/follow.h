/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Completed commands of a program's device. */
#ifndef EADM_PEER_FOLLOW_H
#define EADM_PEER_FOLLOW_H

#include "link.h"

/*
 * Follow the device that @query names: the records of commands that end from now on or,
 * if @query has a start number, all available records from that number on.
 */
int eadm_peer_follow(struct eadm_ctx *ctx, struct eadm_link *link,
		     const struct eadm_query *query, uint32_t seq,
		     struct eadm_stream **stream) EADM_MUST_CHECK;

#endif /* EADM_PEER_FOLLOW_H */
