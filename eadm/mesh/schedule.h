/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who tests with whom in which round: a round-robin tournament by the circle
 * method. Each host computes it for itself.
 */
#ifndef MESH_SCHEDULE_H
#define MESH_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* @n - 1 rounds, or @n if @n is odd. */
uint32_t mesh_rounds(uint32_t n);

/* The partner of @rank in @round; @rank itself: it rests. */
uint32_t mesh_partner(uint32_t n, uint32_t round, uint32_t rank);

/* The round in which two different hosts meet. */
uint32_t mesh_round_of(uint32_t n, uint32_t a, uint32_t b);

/* Which of both connects and reports: each host does for about half of its pairs. */
static inline uint32_t mesh_initiator(uint32_t a, uint32_t b)
{
	uint32_t low = a < b ? a : b;

	return (a ^ b) & 1 ? low : a + b - low;
}

/*
 * How many of the last peers were lost: after three in a row, or if more than each third
 * one is lost, the next loss is likely, and a short time enough.
 */
#define MESH_LOSSES	6
#define MESH_MOST	8
#define MESH_SHORT_MS	1000

static inline uint32_t mesh_losses(uint32_t losses, bool lost)
{
	if (!lost)
		return losses ? losses - 1 : 0;
	return losses + 2 < MESH_MOST ? losses + 2 : MESH_MOST;
}

/* ms for a step of a test of an adapter. */
static inline uint32_t mesh_patience(uint32_t timeout, uint32_t losses)
{
	return losses >= MESH_LOSSES && timeout > MESH_SHORT_MS ? MESH_SHORT_MS :
								  timeout;
}

#endif /* MESH_SCHEDULE_H */
