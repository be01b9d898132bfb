// SPDX-License-Identifier: GPL-2.0-or-later
#include "schedule.h"

/*
 * The number of places on the circle is odd. In round r, places a and b meet if
 * a + b = r modulo that number; the place with 2 a = r meets the last host, which is
 * in the middle, or rests if there is none.
 */
static uint32_t places(uint32_t n)
{
	return n - 1 + (n & 1);
}

uint32_t mesh_rounds(uint32_t n)
{
	return n < 2 ? 0 : places(n);
}

uint32_t mesh_partner(uint32_t n, uint32_t round, uint32_t rank)
{
	uint32_t m = places(n), partner;

	/* Modulo m, (m + 1) / 2 is the inverse of 2. */
	if (rank == m)
		return (uint64_t)round * ((m + 1) / 2) % m;
	partner = (round + m - rank) % m;
	if (partner != rank)
		return partner;
	return n & 1 ? rank : m;
}

uint32_t mesh_round_of(uint32_t n, uint32_t a, uint32_t b)
{
	uint64_t m = places(n);

	if (a == m)
		return 2 * (uint64_t)b % m;
	if (b == m)
		return 2 * (uint64_t)a % m;
	return ((uint64_t)a + b) % m;
}
