/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Probe records as they are made. */
#ifndef EADM_PROBE_FOLLOW_H
#define EADM_PROBE_FOLLOW_H

#include "source/query.h"

int eadm_probe_follow(struct eadm_ctx *ctx, const struct eadm_query *query,
		      uint32_t seq, struct eadm_stream **stream) EADM_MUST_CHECK;

#endif /* EADM_PROBE_FOLLOW_H */
