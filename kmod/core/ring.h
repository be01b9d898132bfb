/* SPDX-License-Identifier: GPL-2.0-only */
/* Rings of the driver. */
#ifndef EADM_RING_H
#define EADM_RING_H

#include <linux/types.h>

struct eadm_adapter;

struct eadm_ring {
	void *va;
	dma_addr_t dma;
	size_t size;
};

int eadm_ring_alloc(struct eadm_adapter *ad, struct eadm_ring *ring, size_t size);
void eadm_ring_free(struct eadm_adapter *ad, struct eadm_ring *ring);

#endif /* EADM_RING_H */
