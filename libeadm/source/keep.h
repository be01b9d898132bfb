/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Responses that are kept for reuse when the same request is made again. */
#ifndef EADM_KEEP_H
#define EADM_KEEP_H

#include "query.h"

struct eadm_kept;

bool eadm_keep_find(struct eadm_ctx *ctx, const struct eadm_query *query,
		    struct eadm_stream **stream);
struct eadm_kept *eadm_keep_begin(struct eadm_ctx *ctx,
				  const struct eadm_query *query);
void eadm_keep_chunk(struct eadm_kept *kept, const struct eadm_chunk *chunk);
void eadm_keep_end(struct eadm_ctx *ctx, struct eadm_kept *kept, bool whole);
void eadm_keep_forget(struct eadm_ctx *ctx);

#endif /* EADM_KEEP_H */
