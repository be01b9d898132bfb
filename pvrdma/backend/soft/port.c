// SPDX-License-Identifier: GPL-2.0-or-later
/* Ports: lookup by address, their properties, and memory of their requests. */
#include <stdlib.h>
#include <string.h>

#include "soft.h"

bool soft_has_gid(const struct soft_port *port, const union ibv_gid *gid)
{
	unsigned int i;

	for (i = 0; i < SOFT_MAX_GIDS; i++)
		if (port->gids[i].used && !memcmp(&port->gids[i].gid, gid, sizeof(*gid)))
			return true;
	return false;
}

struct soft_port *soft_find_port(struct soft *soft, const union ibv_gid *gid)
{
	struct soft_port *port;

	TAILQ_FOREACH(port, &soft->ports, link)
		if (soft_has_gid(port, gid))
			return port;
	return NULL;
}

void soft_event(struct soft_port *port, enum ibv_event_type type, void *object)
{
	port->client->event(port->ctx, type, object);
}

void *soft_request_alloc(struct soft_port *port, uint32_t held, size_t size)
{
	void *request;

	if (held >= SOFT_FEW && port->posted + size + SOFT_REQUEST_EXTRA > SOFT_MAX_POSTED)
		return NULL;
	request = malloc(size);
	if (request)
		port->posted += size + SOFT_REQUEST_EXTRA;
	return request;
}

void soft_request_free(struct soft_port *port, void *request, size_t size)
{
	port->posted -= size + SOFT_REQUEST_EXTRA;
	free(request);
}
