/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The partners of each round: a round-robin tournament by the circle method. Each host
 * computes the schedule locally.
 */
#ifndef MESH_SCHEDULE_H
#define MESH_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the number of rounds: @n - 1, or @n if @n is odd. */
uint32_t mesh_rounds(uint32_t n);

/* Returns the partner of @rank in @round, or @rank itself if it has none. */
uint32_t mesh_partner(uint32_t n, uint32_t round, uint32_t rank);

/* Returns the round in which two different hosts meet. */
uint32_t mesh_round_of(uint32_t n, uint32_t a, uint32_t b);

/*
 * Returns the host of a pair that connects and reports; each host does so in about half
 * of its pairs.
 */
static inline uint32_t mesh_initiator(uint32_t a, uint32_t b)
{
	uint32_t low = a < b ? a : b;

	return (a ^ b) & 1 ? low : a + b - low;
}

/*
 * Score of recently lost peers. After three losses in a row, or if more than one peer
 * in three is lost, the next loss is likely, and a short timeout is sufficient: a tenth
 * of the timeout, but at least MESH_SHORT_MS. For slow networks and busy hosts, users
 * choose longer timeouts.
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

/* Returns the timeout of a step of an adapter's test, in ms. */
static inline uint32_t mesh_patience(uint32_t timeout, uint32_t losses)
{
	uint32_t tenth = timeout / 10 > MESH_SHORT_MS ? timeout / 10 : MESH_SHORT_MS;

	return losses >= MESH_LOSSES && timeout > tenth ? tenth : timeout;
}

#endif /* MESH_SCHEDULE_H */
