/* SPDX-License-Identifier: GPL-2.0-or-later */
/* librdmacm, for "eadm test". */
#ifndef TEST_CM_H
#define TEST_CM_H

#include <rdma/rdma_cma.h>

#include "test.h"

#define CM_FUNCTIONS(f)							\
	f(rdma_accept) f(rdma_ack_cm_event) f(rdma_bind_addr)		\
	f(rdma_connect) f(rdma_create_event_channel) f(rdma_create_id)	\
	f(rdma_create_qp) f(rdma_destroy_event_channel)			\
	f(rdma_destroy_id) f(rdma_destroy_qp) f(rdma_disconnect)	\
	f(rdma_event_str) f(rdma_get_cm_event) f(rdma_get_src_port)	\
	f(rdma_listen) f(rdma_reject) f(rdma_resolve_addr) f(rdma_resolve_route)

LATE_LIBRARY(cm, CM_FUNCTIONS);

#define CM_MAGIC 0x4541444d	/* "EADM" */
#define CM_VERSION 1

/*
 * The kernel may miss an immediate response of a neighbour. It then waits until the
 * request times out, and only a new request finds the neighbour.
 */
#define CM_ASKS 4		/* an address request takes at most this part of the time */
#define CM_ASK_MS 1000		/* and at most this long */

/* The client's private data when connecting; big-endian, like the struct below. */
struct cm_hello {
	uint32_t magic;
	uint16_t version;
	uint16_t depth;		/* maximum number of messages in flight */
	uint32_t size;		/* size of the largest message */
	uint32_t last;		/* 1: this is the last connection */
};

/* The server's reply: its memory for writes and reads. */
struct cm_welcome {
	uint32_t magic, rkey;
	uint64_t addr;
	uint32_t len;
};

int cm_start(struct test *test);
void cm_stop(struct test *test);
int cm_make(struct link *link, struct rdma_cm_id *id, uint32_t size,
	    uint32_t depth);
void cm_release(struct link *link);
int cm_ended(struct link *link);
void cm_path(struct path *path, struct rdma_cm_id *id);

int cm_begin(struct client *c, uint32_t size, uint32_t depth);
void cm_end(struct client *c);
int cm_listen(struct server *s);
int cm_events_fd(const struct server *s);
void cm_on_event(struct server *s);
void cm_close(struct server *s);

#endif /* TEST_CM_H */
