// SPDX-License-Identifier: LGPL-2.1-or-later
/* How far GID tables are filled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "gid_extent.h"
#include "grow.h"

/* Whole tables are read again after this time. A device may have been replaced, for instance. */
#define VALID_NS (300 * 1000000000ULL)

struct eadm_gid_extents {
	struct {
		char device[64];
		uint32_t port;
		uint32_t end;
		uint64_t time;
	} *port;
	size_t n, max;
};

/* The index of a port; all->n if it is unknown. */
static size_t find(const struct eadm_gid_extents *all, const char *device, uint32_t port)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		if (all->port[i].port == port && !strcmp(all->port[i].device, device))
			break;
	}
	return i;
}

uint32_t eadm_gid_extent(const struct eadm_ctx *ctx, const char *device, uint32_t port)
{
	const struct eadm_gid_extents *all = ctx->gid_extents;
	size_t i = all ? find(all, device, port) : 0;

	if (!all || i == all->n || eadm_now(ctx) - all->port[i].time >= VALID_NS)
		return UINT32_MAX;
	return all->port[i].end + EADM_GID_MARGIN;
}

/* Without memory, whole tables are read. */
void eadm_gid_extent_learn(struct eadm_ctx *ctx, const char *device, uint32_t port, uint32_t end,
			   bool whole)
{
	struct eadm_gid_extents *all = ctx->gid_extents;
	size_t i;

	if (!all)
		all = ctx->gid_extents = calloc(1, sizeof(*all));
	if (!all || strlen(device) >= sizeof(all->port->device))
		return;
	i = find(all, device, port);
	if (!whole) {
		if (i < all->n && all->port[i].end < end)
			all->port[i].end = end;
		return;
	}
	if (i == all->n) {
		if (!grow(all->port, all->n, all->max))
			return;
		all->n++;
		strcpy(all->port[i].device, device);
		all->port[i].port = port;
	}
	all->port[i].end = end;
	all->port[i].time = eadm_now(ctx);
}

void eadm_gid_extents_free(struct eadm_gid_extents *extents)
{
	if (extents)
		free(extents->port);
	free(extents);
}
