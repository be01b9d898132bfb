// SPDX-License-Identifier: GPL-2.0-or-later
/* Translation of addresses for the device. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

#define MAX_DEVICE_GIDS 1024

/* Reads the device's GID table each time, because the table may change at any time. */
static int find_gid(const struct verbs *verbs, const union ibv_gid *gid, enum ibv_gid_type type)
{
	struct ibv_gid_entry *entries = calloc(MAX_DEVICE_GIDS, sizeof(*entries));
	ssize_t i, n;
	int index = -EADDRNOTAVAIL;

	if (!entries)
		return -ENOMEM;
	n = ibv_query_gid_table(verbs->context, entries, MAX_DEVICE_GIDS, 0);
	for (i = 0; i < n; i++)
		if (entries[i].port_num == verbs->port && (uint32_t)type == entries[i].gid_type &&
		    !memcmp(&entries[i].gid, gid, sizeof(*gid)))
			index = (int)entries[i].gid_index;
	free(entries);
	return index;
}

static int find_source(struct verbs_port *port, uint8_t index)
{
	char text[INET6_ADDRSTRLEN] = "?";
	int found;

	if (port->verbs->gid >= 0)
		return port->verbs->gid;
	if (index >= VERBS_GIDS || !port->gids[index].used)
		return -EINVAL;
	found = find_gid(port->verbs, &port->gids[index].gid, port->gids[index].type);
	if (found == -EADDRNOTAVAIL) {
		inet_ntop(AF_INET6, &port->gids[index].gid, text, sizeof(text));
		verbs_log(port, "the guest's interface uses GID %s, which the device does not have in this RoCE version",
			  text);
	}
	return found;
}

int verbs_address(struct verbs_port *port, const struct ibv_ah_attr *from, struct ibv_ah_attr *to)
{
	int index = find_source(port, from->grh.sgid_index);

	if (index < 0)
		return index;
	*to = *from;
	to->is_global = 1;
	to->dlid = 0;
	to->src_path_bits = 0;
	to->port_num = port->verbs->port;
	to->grh.sgid_index = (uint8_t)index;
	return 0;
}
