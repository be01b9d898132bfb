/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events on this machine: those of the kernel's devices and of programs that emulate
 * adapters.
 */
#ifndef EADM_PEER_NEWS_H
#define EADM_PEER_NEWS_H

#include "found.h"

/*
 * Returns the events of all programs, including those started later, as the response to
 * @query. They follow those of @first, the kernel's events, which may be NULL and is
 * ended in any case. A program is left out once it fails or ends.
 */
int eadm_news_listen(struct eadm_found *found, const struct eadm_query *query, uint32_t seq,
		     struct eadm_stream *first, struct eadm_stream **stream) EADM_MUST_CHECK;

#endif /* EADM_PEER_NEWS_H */
