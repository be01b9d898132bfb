// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory that grows, where nothing else is said to twice what it was. */
#include <stdlib.h>
#include <string.h>

#include "grow.h"

#define FIRST_ROOM 16

void eadm_grow_put(struct eadm_grow *g, const void *data, size_t len)
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

/* An array that has room for @n elements, as eadm_grow_room(). */
void *eadm_grow_to(void *array, size_t n, size_t *max, size_t size)
{
	void *more;

	if (array && n <= *max)
		return array;
	/* One at least: NULL would be an error. */
	more = reallocarray(array, n + !n, size);
	if (more)
		*max = n;
	return more;
}

/*
 * An array of @n elements, where it is now, with room for one more; NULL, and
 * the array is as it was, when there is no memory.
 */
void *eadm_grow_room(void *array, size_t n, size_t *max, size_t size)
{
	if (n < *max)
		return array;
	return eadm_grow_to(array, *max ? 2 * *max : FIRST_ROOM, max, size);
}
