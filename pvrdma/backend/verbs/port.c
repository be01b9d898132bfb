// SPDX-License-Identifier: GPL-2.0-or-later
/* A function's share of the device, and its addresses. */
#include <errno.h>
#include <stdlib.h>

#include "verbs.h"

int verbs_port_open(struct backend *backend, const struct backend_client *client, void *ctx,
		    struct backend_port **opened)
{
	struct verbs *verbs = verbs_of(backend);
	struct verbs_port *port = calloc(1, sizeof(*port));
	int err;

	if (!port)
		return -ENOMEM;
	port->verbs = verbs;
	port->client = client;
	port->ctx = ctx;
	TAILQ_INIT(&port->begun);
	TAILQ_INIT(&port->ahs);
	err = verbs->soft->ops->port_open(verbs->soft, client, ctx, &port->soft);
	if (!err)
		err = worker_start(&port->worker, verbs->wake);
	if (err) {
		if (port->soft)
			verbs->soft->ops->port_close(port->soft);
		free(port);
		return err;
	}
	LIST_INSERT_HEAD(&verbs->ports, port, link);
	*opened = (struct backend_port *)(void *)port;
	return 0;
}

void verbs_port_close(struct backend_port *backend_port)
{
	struct verbs_port *port = verbs_port(backend_port);

	worker_stop(&port->worker);
	verbs_ah_drop(port, NULL);
	LIST_REMOVE(port, link);
	port->verbs->soft->ops->port_close(port->soft);
	free(port);
}

void verbs_port_query(struct backend_port *backend_port, struct ibv_port_attr *attr)
{
	const struct verbs *verbs = verbs_port(backend_port)->verbs;

	if (!verbs->dead && !ibv_query_port(verbs->context, verbs->port, attr))
		return;
	*attr = (struct ibv_port_attr){
		.state = IBV_PORT_DOWN,
		.max_mtu = IBV_MTU_1024,
		.active_mtu = IBV_MTU_1024,
		.active_width = 1,
		.active_speed = 1,
	};
}

/* The device need not have such a GID until it is used. */
int verbs_gid_add(struct backend_port *backend_port, uint32_t index, const union ibv_gid *gid,
		  enum ibv_gid_type type)
{
	struct verbs_port *port = verbs_port(backend_port);
	const struct backend_ops *soft = port->verbs->soft->ops;

	if (index >= VERBS_GIDS)
		return -EINVAL;
	port->gids[index].used = true;
	port->gids[index].gid = *gid;
	port->gids[index].type = type;
	if (soft->gid_add(port->soft, index, gid, type) == -EADDRINUSE)
		verbs_log(port, "GID %u also belongs to another function, which receives all packets for its QP 1",
			  index);
	return 0;
}

void verbs_gid_del(struct backend_port *backend_port, uint32_t index)
{
	struct verbs_port *port = verbs_port(backend_port);

	if (index >= VERBS_GIDS)
		return;
	port->gids[index].used = false;
	port->verbs->soft->ops->gid_del(port->soft, index);
}
