/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of GIDs of a port. */
#ifndef EADM_GIDS_H
#define EADM_GIDS_H

#include <netinet/in.h>

#include "base/base.h"

struct eadm_gid {
	uint32_t index;
	struct in6_addr gid;
	char type[32];		/* as the kernel names it; "": unknown */
	char netdev[16];	/* "": unknown */
	uint32_t namespace;	/* EADM_NAMESPACE_* of the netdev */
	uint32_t scope;		/* EADM_GID_SCOPE_*, only with RoCE */
	uint32_t usable;	/* EADM_GID_USE_* */
};

struct eadm_gids {
	struct eadm_gid *gid;	/* without empty entries */
	size_t n, max;
	bool roce;		/* GIDs are IP addresses */
};

/* @all: addresses of all interfaces in this network namespace; NULL: unknown. */
struct ifaddrs;
void eadm_gids_judge(struct eadm_gids *gids, const struct ifaddrs *all);

#endif /* EADM_GIDS_H */
