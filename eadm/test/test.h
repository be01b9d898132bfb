/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files of "eadm test". */
#ifndef TEST_H
#define TEST_H

#include <netinet/in.h>
#include <stdint.h>

#include "../clock.h"
#include "../out/writer.h"
#include "verbs.h"

#define TEST_PORT "18514"
#define TEST_MAX_SIZE (1 << 20)
#define TEST_MAX_DEPTH 64
#define MAX_WHY 240

struct client;
struct server;
struct rdma_cm_id;

/* The server's memory for writes and reads, and its data if writing is not possible. */
struct welcome {
	uint32_t rkey, seed;
	uint64_t addr;
};

/* ---- the device and addresses of a connection: path.c -------------------------------- */

/* "": unknown, or not the same for all connections. */
struct path {
	bool known;
	char device[IBV_SYSFS_NAME_MAX];
	char type[8];			/* queue pair type: "RC" */
	char local[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN];
	char local_gid[INET6_ADDRSTRLEN], peer_gid[INET6_ADDRSTRLEN];
};

void path_merge(struct path *all, const struct path *path);
const char *address_text(const struct sockaddr_storage *addr, char *buf,
			 size_t size);
void gid_text(const union ibv_gid *gid, char *buf, size_t size);

/* ---- a connection: link.c ------------------------------------------------------ */

struct setup;
struct endpoint;

/*
 * Memory of each end: @depth places for receiving, as many for sending, one that the
 * other side writes and reads, and one to write from. The server sends a message back
 * from the sending place with the number of the receiving place.
 */
struct link {
	struct link *next;
	const struct setup *setup;
	/* Readable when the peer ends the connection; -1: not available. */
	int fd;
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	struct ibv_cq *send_cq, *recv_cq;	/* each with a channel */
	struct rdma_cm_id *id;		/* ID with rdma_cm */
	struct endpoint *endpoint;	/* endpoint without rdma_cm */
	/* For a QP that is not connected: destination of each message. */
	struct ibv_ah *ah;
	uint32_t peer_qpn, peer_qkey;
	/* UD: a route header precedes each received message in its place. */
	bool datagram;
	unsigned char *buf;
	struct ibv_mr *mr;
	/*
	 * Size of a place, of the largest message, and of the shared and the local place.
	 */
	uint32_t size, max_message, shared;
	uint32_t depth;
	bool can_read, can_write;	/* the peer's memory */
	bool proven;			/* a message arrived */
	const char *lost;		/* what to do if no message arrives; NULL: unknown */
	struct sockaddr_storage peer;
	uint64_t messages, bytes;	/* received */
	bool last;
	/* For a server: messages that were not sent back yet. */
	struct {
		uint32_t slot, len;
	} held[TEST_MAX_DEPTH];
	unsigned int first_held, n_held;
	bool sending[TEST_MAX_DEPTH];	/* send places that are in use */
	char why[MAX_WHY];		/* the first error */
	uint64_t failed_at;		/* monotonic time of the first error, ns */
};

int link_fail(struct link *link, const char *fmt, ...) PRINTF(2, 3);
int link_make(struct link *link, uint32_t depth, int access);
void link_release(struct link *link);
void link_fill(unsigned char *data, uint32_t len, uint64_t seed);
unsigned char *link_recv_place(const struct link *link, uint32_t slot);
unsigned char *link_send_place(const struct link *link, uint32_t slot);
unsigned char *link_shared_place(const struct link *link);
unsigned char *link_local_place(const struct link *link);
int link_post_recv(struct link *link, uint32_t slot);
int link_post_send(struct link *link, const void *data, uint32_t len,
		   uint32_t slot);
int link_post_rdma(struct link *link, bool write, void *data, uint32_t len,
		   const struct welcome *there);
int link_wait(struct link *link, struct ibv_cq *cq, uint64_t deadline,
	      struct ibv_wc *wc);

/* ---- both sides ------------------------------------------------------------------ */

struct test {
	struct cli *cli;
	const char *host, *bind, *port;
	uint64_t timeout;		/* ns */
	uint64_t count, size, depth;
	uint64_t gid_index;
	bool has_gid_index;
	const char *only;		/* names of tests; NULL: all */
	const struct setup *setup;
	const char *because;		/* why rdma_cm is not used */
	struct rdma_event_channel *channel;
	struct sockaddr_storage to, from;	/* family 0: any */
};

/* Methods of setting up connections. Functions that return int return -1 on failure. */
struct setup {
	const char *name, *key;		/* for text output; in JSON */
	int (*start)(struct test *test);	/* returns a status */
	void (*stop)(struct test *test);
	/* Common to client and server. */
	int (*ended)(struct link *link);	/* called when @fd is readable */
	void (*release)(struct link *link);
	/* For the client; end() is called in any case. */
	int (*begin)(struct client *c, uint32_t size, uint32_t depth);
	void (*end)(struct client *c);
	/* For the server. */
	int (*listen)(struct server *s);	/* returns a status */
	int (*events_fd)(const struct server *s);
	void (*on_event)(struct server *s);
	void (*on_peer)(struct server *s, struct link *link);
	int (*wait_ms)(struct server *s);	/* longest wait; -1: no limit */
	void (*close)(struct server *s);
};

extern const struct setup setup_cm, setup_tcp;

int test_address(struct test *test, const char *host, bool passive,
		 struct sockaddr_storage *addr);
int test_ready(struct test *test);
int test_client(struct test *test);
int test_server(struct test *test);

/* ---- results: report.c -------------------------------------------------------------- */

struct result {
	const char *test;
	const char *why;		/* NULL: success */
	bool skipped;			/* @why is the reason for skipping */
	uint64_t count, size;		/* 0: absent */
	uint64_t *times;		/* @count times in ns; sorted in place */
	size_t n_times;
	double rate;			/* per second; 0: absent */
	const struct path *path;
	const char *setup;
};

int report_begin(struct cli *cli, struct table *table);
void report_result(struct cli *cli, struct result *result);

#endif /* TEST_H */
