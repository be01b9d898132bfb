/* SPDX-License-Identifier: GPL-2.0-only */
/* Diagnostic provider: bytes of rings. */
#ifndef EADM_RAW_H
#define EADM_RAW_H

#include "adapter.h"

struct ib_umem;

/**
 * struct eadm_ring_bytes - location of a queue's bytes
 * @va: kernel memory, or NULL
 * @umem: memory of a process if @va is NULL
 * @obj: referenced object that owns the queue, or NULL if the device owns it
 */
struct eadm_ring_bytes {
	const void *va;
	struct ib_umem *umem;
	struct eadm_object *obj;
};

int eadm_ring_read(struct eadm_diag_dev *dd, struct eadm_diag_ring *r, void *buf, size_t room);

#endif /* EADM_RAW_H */
