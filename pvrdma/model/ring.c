// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rings: indices count to twice the number of elements, so that a full ring differs from
 * an empty one (hw 5.3). Values written by the guest are read once, then checked.
 */
#include <errno.h>

#include "function.h"

uint32_t ring_stride(size_t fixed, uint32_t sges)
{
	size_t size = fixed + sges * sizeof(struct pvrdma_sge);
	uint32_t stride = 1;

	while (stride < size)
		stride <<= 1;
	return stride;
}

uint32_t ring_max_pages(size_t fixed, uint32_t sges, uint32_t count)
{
	return 2 * (1 + (uint32_t)(count * (uint64_t)ring_stride(fixed, sges) / PAGE));
}

int ring_init(struct ring *ring, struct pages *map, bool tx, uint32_t first,
	      uint32_t pages, uint32_t count, uint32_t stride)
{
	struct pvrdma_ring_header *header = map->at[0];

	if (!count || count & (count - 1) || stride > PAGE ||
	    (uint64_t)count * stride > (uint64_t)pages * PAGE ||
	    (uint64_t)first + pages > map->count)
		return -EINVAL;
	*ring = (struct ring){
		.pages = map,
		.state = tx ? &header->tx : &header->rx,
		.first = first,
		.count = count,
		.stride = stride,
	};
	return 0;
}

static bool valid(const struct ring *ring, uint32_t index)
{
	return index < 2 * ring->count;
}

static uint32_t distance(const struct ring *ring, uint32_t prod, uint32_t cons)
{
	return (prod - cons) & (2 * ring->count - 1);
}

int64_t ring_pending(const struct ring *ring)
{
	uint32_t prod = __atomic_load_n(&ring->state->prod_tail, __ATOMIC_ACQUIRE);
	uint32_t cons = ring->state->cons_head;

	if (!valid(ring, prod) || !valid(ring, cons) ||
	    distance(ring, prod, cons) > ring->count)
		return -1;
	return distance(ring, prod, cons);
}

void *ring_at(const struct ring *ring, uint32_t index)
{
	uint32_t at = (index & (ring->count - 1)) * ring->stride;

	return (char *)ring->pages->at[ring->first + at / PAGE] + at % PAGE;
}

uint32_t ring_after(const struct ring *ring, uint32_t index)
{
	return (index + 1) & (2 * ring->count - 1);
}

void *ring_next(const struct ring *ring)
{
	return ring_at(ring, ring->state->cons_head);
}

void ring_consume(struct ring *ring)
{
	uint32_t cons = ring->state->cons_head;

	__atomic_store_n(&ring->state->cons_head, ring_after(ring, cons), __ATOMIC_RELEASE);
}

int ring_room(const struct ring *ring, uint32_t prod)
{
	uint32_t cons = __atomic_load_n(&ring->state->cons_head, __ATOMIC_ACQUIRE);

	if (!valid(ring, cons))
		return -EINVAL;
	return distance(ring, prod, cons) < ring->count;
}

void ring_produce(struct ring *ring, uint32_t prod)
{
	__atomic_store_n(&ring->state->prod_tail, prod, __ATOMIC_RELEASE);
}
