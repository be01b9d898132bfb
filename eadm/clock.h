/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks, in nanoseconds. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static inline uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Returns the time @ns after @when, or the maximum instead of wrapping around. */
static inline uint64_t clock_after(uint64_t when, uint64_t ns)
{
	return ns > UINT64_MAX - when ? UINT64_MAX : when + ns;
}

#endif /* CLOCK_H */
