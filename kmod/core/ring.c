// SPDX-License-Identifier: GPL-2.0-only
/* Rings of the driver: contiguous memory that the adapter accesses. */

#include <linux/dma-mapping.h>

#include "adapter.h"
#include "ring.h"

/**
 * eadm_ring_alloc() - allocate a zeroed ring
 * @ad: the adapter
 * @ring: the ring
 * @size: bytes
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int eadm_ring_alloc(struct eadm_adapter *ad, struct eadm_ring *ring, size_t size)
{
	ring->va = dma_alloc_coherent(&ad->fn.pdev->dev, size, &ring->dma,
				      GFP_KERNEL | __GFP_NOWARN);
	if (!ring->va)
		return -ENOMEM;
	ring->size = size;
	return 0;
}

/**
 * eadm_ring_free() - free a ring, or leak it
 * @ad: the adapter
 * @ring: the ring; may be empty
 *
 * Context: process.
 */
void eadm_ring_free(struct eadm_adapter *ad, struct eadm_ring *ring)
{
	if (ring->va && ad->memory.leaking)
		ad->memory.leaked += ring->size;
	else if (ring->va)
		dma_free_coherent(&ad->fn.pdev->dev, ring->size, ring->va, ring->dma);
	ring->va = NULL;
}
