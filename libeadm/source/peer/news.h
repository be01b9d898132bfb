/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of this machine: the kernel's devices and programs that are adapters. */
#ifndef EADM_PEER_NEWS_H
#define EADM_PEER_NEWS_H

#include "found.h"

/*
 * Events of all programs, including those started later, as the response to @query, in
 * addition to those of @first, the kernel's events, which may be NULL and is ended in
 * any case. A program that fails or ends is left out from then on.
 */
int eadm_news_listen(struct eadm_found *found, const struct eadm_query *query, uint32_t seq,
		     struct eadm_stream *first, struct eadm_stream **stream) EADM_MUST_CHECK;

#endif /* EADM_PEER_NEWS_H */
