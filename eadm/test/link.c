// SPDX-License-Identifier: GPL-2.0-or-later
/* A connection: queue pair, memory, and waiting with a timeout. */
#include "../signals.h"
#include "test.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For a response within this time, sleeping until an interrupt is not worthwhile. */
#define SPIN_NS 20000

/* Only the first error is kept, because later ones are its consequences. Returns -1. */
int link_fail(struct link *link, const char *fmt, ...)
{
	va_list ap;

	if (link->why[0])
		return -1;
	va_start(ap, fmt);
	vsnprintf(link->why, sizeof(link->why), fmt, ap);
	va_end(ap);
	link->failed_at = monotonic_ns();
	return -1;
}

/* Resolves @host; NULL stands for any local address. Returns a status. */
int test_address(struct test *test, const char *host, bool passive,
		 struct sockaddr_storage *addr)
{
	struct addrinfo hints = {
		.ai_family = host ? AF_UNSPEC : AF_INET,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = passive ? AI_PASSIVE : 0,
	}, *found;
	int ret = getaddrinfo(host, test->port, &hints, &found);

	if (ret)
		return fail(test->cli, STATUS_FAILED, host ? host : test->port,
			    "%s", ret == EAI_SYSTEM ? strerror(errno) :
						      gai_strerror(ret));
	memcpy(addr, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

/* ---- memory -------------------------------------------------------------------------- */

unsigned char *link_recv_place(const struct link *link, uint32_t slot)
{
	return link->buf + (size_t)slot * link->size;
}

unsigned char *link_send_place(const struct link *link, uint32_t slot)
{
	return link_recv_place(link, link->depth + slot);
}

unsigned char *link_shared_place(const struct link *link)
{
	return link_recv_place(link, 2 * link->depth);
}

/* This place is as large as the shared place, but the peer does not use it. */
unsigned char *link_local_place(const struct link *link)
{
	return link_shared_place(link) + link->shared;
}

/* Fill in bytes that differ by position and by message. */
void link_fill(unsigned char *data, uint32_t len, uint64_t seed)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15 + 1;
	uint32_t i;

	for (i = 0; i < len; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		data[i] = x;
	}
}

/* Create the memory for an existing queue pair, and post all receives. */
int link_make(struct link *link, uint32_t depth, int access)
{
	size_t len = 2 * ((size_t)depth * link->size + link->shared);
	uint32_t i;

	link->depth = depth;
	if (posix_memalign((void **)&link->buf, 4096, len)) {
		link->buf = NULL;
		return link_fail(link, "out of memory");
	}
	memset(link->buf, 0, len);
	link->mr = verbs.ibv_reg_mr(link->pd, link->buf, len, access);
	if (!link->mr)
		return link_fail(link, "registering %zu KiB of memory failed: %s%s", len / 1024,
				 strerror(errno), errno == ENOMEM ?
				 " (see ulimit -l)" : "");
	for (i = 0; i < depth; i++) {
		if (link_post_recv(link, i))
			return -1;
	}
	return 0;
}

/* The queue pair must have been destroyed before. */
void link_release(struct link *link)
{
	if (link->mr)
		verbs.ibv_dereg_mr(link->mr);
	free(link->buf);
	link->mr = NULL;
	link->buf = NULL;
}

/* ---- work ---------------------------------------------------------------------------- */

int link_post_recv(struct link *link, uint32_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)link_recv_place(link, slot),
		.length = link->size, .lkey = link->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge,
				  .num_sge = 1 }, *bad;
	int ret = ibv_post_recv(link->qp, &wr, &bad);

	return ret ? link_fail(link, "posting a receive failed: %s", strerror(ret)) : 0;
}

static int post(struct link *link, struct ibv_send_wr *wr, const void *data,
		uint32_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = len,
			       .lkey = link->mr->lkey };
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	return ibv_post_send(link->qp, wr, &bad);
}

/* Each request contains the peer's address. */
static int post_unconnected(struct link *link, const struct ibv_send_wr *wr,
			    const void *data, uint32_t len)
{
	struct ibv_qp_ex *qp = verbs.ibv_qp_to_qp_ex(link->qp);

	ibv_wr_start(qp);
	qp->wr_id = wr->wr_id;
	qp->wr_flags = IBV_SEND_SIGNALED;
	if (wr->opcode == IBV_WR_SEND)
		ibv_wr_send(qp);
	else if (wr->opcode == IBV_WR_RDMA_WRITE)
		ibv_wr_rdma_write(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	else
		ibv_wr_rdma_read(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	ibv_wr_set_ud_addr(qp, link->ah, link->peer_qpn, link->peer_qkey);
	ibv_wr_set_sge(qp, link->mr->lkey, (uintptr_t)data, len);
	return ibv_wr_complete(qp);
}

static int post_datagram(struct link *link, struct ibv_send_wr *wr,
			 const void *data, uint32_t len)
{
	wr->send_flags = IBV_SEND_SIGNALED;
	wr->wr.ud.ah = link->ah;
	wr->wr.ud.remote_qpn = link->peer_qpn;
	wr->wr.ud.remote_qkey = link->peer_qkey;
	return post(link, wr, data, len);
}

static int post_any(struct link *link, struct ibv_send_wr *wr, const void *data,
		    uint32_t len)
{
	int ret = link->datagram ? post_datagram(link, wr, data, len) :
		  link->ah ? post_unconnected(link, wr, data, len) :
			     post(link, wr, data, len);

	return ret ? link_fail(link, "posting a request failed: %s", strerror(ret)) : 0;
}

int link_post_send(struct link *link, const void *data, uint32_t len,
		   uint32_t slot)
{
	struct ibv_send_wr wr = { .wr_id = slot, .opcode = IBV_WR_SEND };

	return post_any(link, &wr, data, len);
}

int link_post_rdma(struct link *link, bool write, void *data, uint32_t len,
		   const struct welcome *there)
{
	struct ibv_send_wr wr = {
		.opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
	};

	wr.wr.rdma.remote_addr = there->addr;
	wr.wr.rdma.rkey = there->rkey;
	return post_any(link, &wr, data, len);
}

/* If no message has arrived yet, the connection itself has failed. */
static int fail_wait(struct link *link, const char *what)
{
	if (link->proven || !link->lost)
		return link_fail(link, "%s", what);
	return link_fail(link, "connection failed: %s, though TCP works (%s)",
			 what, link->lost);
}

static int failed_completion(struct link *link, const struct ibv_wc *wc)
{
	char what[80];

	snprintf(what, sizeof(what), "%s (syndrome %#x)",
		 verbs.ibv_wc_status_str(wc->status), wc->vendor_err);
	return fail_wait(link, what);
}

/* Returns 1 with a completion, 0 if there is none yet, -1 on failure. */
static int poll_cq(struct link *link, struct ibv_cq *cq, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(cq, 1, wc);

	if (n < 0)
		return link_fail(link, "the completion queue cannot be read");
	if (n && wc->status != IBV_WC_SUCCESS)
		return failed_completion(link, wc);
	if (n && cq == link->recv_cq) {
		link->proven = true;
		if (link->datagram)
			wc->byte_len -= sizeof(struct ibv_grh);
	}
	return n;
}

/* Report a failed request as the reason for the missing response. */
static int nothing_arrived(struct link *link)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(link->send_cq, 1, &wc) > 0) {
		if (wc.status != IBV_WC_SUCCESS)
			return failed_completion(link, &wc);
	}
	return fail_wait(link, "timed out waiting for a message");
}

static int wait_event(struct link *link, struct ibv_cq *cq, uint64_t deadline)
{
	struct pollfd fds[2] = {
		{ .fd = cq->channel->fd, .events = POLLIN },
		{ .fd = link->fd, .events = POLLIN },
	};
	uint64_t now = monotonic_ns();
	struct ibv_cq *from;
	void *context;
	int ret;

	ret = poll(fds, 2, now < deadline ? (deadline - now) / 1000000 + 1 : 0);
	if (ret < 0 && errno == EINTR)
		return interrupted ? link_fail(link, "interrupted") : 0;
	if (!ret)
		return nothing_arrived(link);
	if (fds[0].revents) {
		if (!verbs.ibv_get_cq_event(cq->channel, &from, &context))
			verbs.ibv_ack_cq_events(from, 1);
		return 0;
	}
	return link->setup->ended(link);
}

/* Wait for a completion; returns 0, or -1 if none succeeded in time. */
int link_wait(struct link *link, struct ibv_cq *cq, uint64_t deadline,
	      struct ibv_wc *wc)
{
	uint64_t spin = monotonic_ns() + SPIN_NS;
	int ret;

	/*
	 * Check for signals here: while responses arrive immediately, there is no sleep
	 * that a signal could interrupt.
	 */
	if (interrupted)
		return link_fail(link, "interrupted");
	do {
		ret = poll_cq(link, cq, wc);
	} while (!ret && monotonic_ns() < spin);
	while (!ret) {
		if (ibv_req_notify_cq(cq, 0))
			return link_fail(link, "requesting completion events failed: %s",
					 strerror(errno));
		/* Poll again: a completion that arrived before arming raises no event. */
		ret = poll_cq(link, cq, wc);
		if (!ret && wait_event(link, cq, deadline))
			return -1;
		if (!ret)
			ret = poll_cq(link, cq, wc);
	}
	return ret > 0 ? 0 : -1;
}
