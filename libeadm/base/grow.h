/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays and bytes that grow. */
#ifndef EADM_GROW_H
#define EADM_GROW_H

#include "base.h"

/* Bytes that grow; once memory or the room is short, fail stays set. */
struct eadm_grow {
	unsigned char *p;
	size_t len, max;
	bool fixed;		/* the caller's memory, which does not grow */
	bool fail;
};

void eadm_grow_put(struct eadm_grow *g, const void *data, size_t len);
void *eadm_grow_room(void *array, size_t n, size_t *max, size_t size)
	EADM_MUST_CHECK;
void *eadm_grow_to(void *array, size_t n, size_t *max, size_t size)
	EADM_MUST_CHECK;

#endif /* EADM_GROW_H */
