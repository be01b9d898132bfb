// SPDX-License-Identifier: LGPL-2.1-or-later
/* A growing array of bytes, whose capacity doubles. */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

void eadm_bytes_put(struct eadm_bytes *g, const void *data, size_t len)
{
	unsigned char *more;
	size_t max;

	if (g->fail)
		return;
	if (len > g->max - g->len) {
		max = 2 * (g->len + len) + 64;
		more = g->fixed ? NULL : realloc(g->p, max);
		if (!more) {
			g->fail = true;
			return;
		}
		g->p = more;
		g->max = max;
	}
	if (len)
		memcpy(g->p + g->len, data, len);
	g->len += len;
}
