/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The adapters of this host, sorted by name: adapter i is rail i. */
#ifndef MESH_RAILS_H
#define MESH_RAILS_H

#include "../test/adapter.h"
#include "message.h"

struct rail {
	struct adapter adapter;
	union ibv_gid address;	/* IP address as a GID, if rdma_cm is required */
	char why[MAX_WHY];	/* why the adapter cannot be used; "": usable */
	uint32_t losses;	/* mesh_losses() of peers */
};

struct rails {
	struct rail rail[MESH_MAX_RAILS];
	unsigned int n;
	char why[MAX_WHY];	/* why there is no adapter */
};

void rails_find(struct test *test, struct rails *rails);

#endif /* MESH_RAILS_H */
