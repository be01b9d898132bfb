// SPDX-License-Identifier: LGPL-2.1-or-later
/* Time as it appears in the rows of a context. */
#include <time.h>

#include "ctx.h"

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

void eadm_clock_start(struct eadm_ctx *ctx)
{
	ctx->clock_offset = clock_ns(CLOCK_REALTIME) -
			    clock_ns(CLOCK_MONOTONIC);
}

/* Returns wall-clock time that does not jump when the clock is set. */
uint64_t eadm_now(const struct eadm_ctx *ctx)
{
	return clock_ns(CLOCK_MONOTONIC) + ctx->clock_offset;
}

/*
 * Returns the difference between eadm_now() and the current wall clock; 0 in a capture.
 */
int64_t eadm_clock_step(const struct eadm_ctx *ctx)
{
	return ctx->live ? clock_ns(CLOCK_REALTIME) - (int64_t)eadm_now(ctx) :
			   0;
}
