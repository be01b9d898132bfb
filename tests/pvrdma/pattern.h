/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes by which both ends of a transfer know it again. */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stdint.h>

static inline unsigned char pattern_byte(uint64_t at, unsigned int seed)
{
	return (unsigned char)(seed + at * 31 + (at >> 8) * 7 + (at >> 16));
}

/* @first: of the whole, the number of the first one. */
static inline void pattern_fill(unsigned char *bytes, uint64_t first, uint64_t count,
				unsigned int seed)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		bytes[i] = pattern_byte(first + i, seed);
}

static inline bool pattern_is(const unsigned char *bytes, uint64_t first, uint64_t count,
			      unsigned int seed)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		if (bytes[i] != pattern_byte(first + i, seed))
			return false;
	return true;
}

#endif /* PATTERN_H */
