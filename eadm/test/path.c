// SPDX-License-Identifier: GPL-2.0-or-later
/* The device and addresses of a connection. */
#include "test.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

const char *address_text(const struct sockaddr_storage *addr, char *buf,
			 size_t size)
{
	if (getnameinfo((const struct sockaddr *)addr, sizeof(*addr), buf,
			size, NULL, 0, NI_NUMERICHOST))
		snprintf(buf, size, "?");
	return buf;
}

void gid_text(const union ibv_gid *gid, char *buf, size_t size)
{
	static const union ibv_gid none;

	if (memcmp(gid, &none, sizeof(none)) != 0)
		inet_ntop(AF_INET6, gid, buf, size);
}

static void keep_same(char *all, const char *one)
{
	if (strcmp(all, one) != 0)
		*all = '\0';
}

/* Keep the values that all paths have in common. */
void path_merge(struct path *all, const struct path *path)
{
	if (!all->known) {
		*all = *path;
		return;
	}
	keep_same(all->device, path->device);
	keep_same(all->type, path->type);
	keep_same(all->local, path->local);
	keep_same(all->peer, path->peer);
	keep_same(all->local_gid, path->local_gid);
	keep_same(all->peer_gid, path->peer_gid);
}
