/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A growing array of bytes. */
#ifndef EADM_BYTES_H
#define EADM_BYTES_H

#include "base.h"

/* fail is set once memory or capacity is exhausted, and stays set. */
struct eadm_bytes {
	unsigned char *p;
	size_t len, max;
	bool fixed;		/* the caller's memory, which does not grow */
	bool fail;
};

void eadm_bytes_put(struct eadm_bytes *g, const void *data, size_t len);

#endif /* EADM_BYTES_H */
