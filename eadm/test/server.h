/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TEST_SERVER_H
#define TEST_SERVER_H

#include "test.h"

#define MAX_LINKS 64

struct server {
	struct test *test;
	struct rdma_cm_id *listener;	/* listener with rdma_cm */
	int socket;			/* without rdma_cm; -1: none */
	struct link *links;
	unsigned int n_links;
	uint64_t connections, messages, bytes, failures;
	struct path path;	/* values common to all connections */
	bool leave;
};

struct link *server_add(struct server *s);
void server_drop(struct server *s, struct link *link);
void server_path(struct server *s, const struct path *path);

#endif /* TEST_SERVER_H */
