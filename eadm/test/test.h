/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of "eadm test". */
#ifndef TEST_H
#define TEST_H

#include <netinet/in.h>
#include <stdint.h>

#include "../clock.h"
#include "../out/writer.h"
#include "cm.h"

#define TEST_PORT "18514"
#define TEST_MAGIC 0x4541444d	/* "EADM" */
#define TEST_VERSION 1
#define TEST_MAX_SIZE (1 << 20)
#define TEST_MAX_DEPTH 64
#define MAX_WHY 200

/* The client's private data when connecting; big endian, like the struct below. */
struct hello {
	uint32_t magic;
	uint16_t version;
	uint16_t depth;		/* maximum number of messages in flight */
	uint32_t size;		/* of the largest message */
	uint32_t last;		/* 1: this is the last connection */
};

/* The server's reply: its memory for writes and reads. */
struct welcome {
	uint32_t magic, rkey;
	uint64_t addr;
	uint32_t len;
};

/* ---- the device and addresses of a connection: path.c -------------------------------- */

/* "": unknown, or not the same for all connections. */
struct path {
	bool known;
	char device[IBV_SYSFS_NAME_MAX];
	char local[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN];
	char local_gid[INET6_ADDRSTRLEN], peer_gid[INET6_ADDRSTRLEN];
};

void path_of(struct path *path, struct rdma_cm_id *id);
void path_merge(struct path *all, const struct path *path);
const char *address_text(const struct sockaddr_storage *addr, char *buf,
			 size_t size);

/* ---- a connection: link.c ------------------------------------------------------ */

/*
 * Memory of each end: @depth places for receiving, as many for sending, and one
 * that the other side writes and reads. The server sends from where it received.
 */
struct link {
	struct link *next;
	struct rdma_cm_id *id;
	bool has_qp;
	unsigned char *buf;
	struct ibv_mr *mr;
	uint32_t size, depth;
	struct sockaddr_storage peer;
	uint64_t messages, bytes;	/* received */
	bool last;
	/* Of a server: messages not sent back yet, and whose send places are in use. */
	struct {
		uint32_t slot, len;
	} held[TEST_MAX_DEPTH];
	unsigned int first_held, n_held;
	bool sending[TEST_MAX_DEPTH];
	char why[MAX_WHY];		/* the first error */
};

int link_fail(struct link *link, const char *fmt, ...) PRINTF(2, 3);
int link_make(struct link *link, struct rdma_cm_id *id, uint32_t size,
	      uint32_t depth);
void link_release(struct link *link);
unsigned char *link_recv_place(const struct link *link, uint32_t slot);
unsigned char *link_send_place(const struct link *link, uint32_t slot);
unsigned char *link_shared_place(const struct link *link);
int link_post_recv(struct link *link, uint32_t slot);
int link_post_send(struct link *link, const void *data, uint32_t len,
		   uint32_t slot);
int link_post_rdma(struct link *link, enum ibv_wr_opcode opcode, void *data,
		   uint32_t len, const struct welcome *there);
int link_wait(struct link *link, struct ibv_cq *cq, uint64_t deadline,
	      struct ibv_wc *wc);

/* ---- both sides ------------------------------------------------------------------ */

struct test {
	struct cli *cli;
	const char *host, *bind, *port;
	uint64_t timeout;		/* ns */
	uint64_t count, size, depth;
	const char *only;		/* names of tests; NULL: all */
	struct rdma_event_channel *channel;
	struct sockaddr_storage to, from;	/* family 0: any */
};

int test_address(struct test *test, const char *host, bool passive,
		 struct sockaddr_storage *addr);
int test_ready(struct test *test);
int test_client(struct test *test);
int test_server(struct test *test);

/* ---- results: report.c -------------------------------------------------------------- */

struct result {
	const char *test;
	const char *why;		/* NULL: success */
	uint64_t count, size;		/* 0: absent */
	uint64_t *times;		/* ns, @count of them; sorted here */
	size_t n_times;
	double rate;			/* per second; 0: absent */
	const struct path *path;
};

int report_begin(struct cli *cli, struct table *table);
void report_result(struct cli *cli, struct result *result);

#endif /* TEST_H */
