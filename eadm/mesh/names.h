/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of hosts in the results of a mesh. */
#ifndef MESH_NAMES_H
#define MESH_NAMES_H

#include "../out/buffer.h"
#include "hub.h"

/* The returned text is valid until the next call. */
const char *host_name(const struct hub *hub, uint32_t rank);
/*
 * Appends "node1, node2 and 5 more", or all names if @all is true; nothing if @n is 0,
 * which stands for all hosts of the mesh.
 */
void host_list(const struct hub *hub, const uint32_t *hosts, uint32_t n,
	       bool all, struct buffer *to);

#endif /* MESH_NAMES_H */
