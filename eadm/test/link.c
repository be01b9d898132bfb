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

/* An answer that comes this soon is not worth an interrupt. */
#define SPIN_NS 20000

/* Only the first error is kept: later ones are consequences of it. Returns -1. */
int link_fail(struct link *link, const char *fmt, ...)
{
	va_list ap;

	if (link->why[0])
		return -1;
	va_start(ap, fmt);
	vsnprintf(link->why, sizeof(link->why), fmt, ap);
	va_end(ap);
	return -1;
}

/* The address of a host; without one, any local address. */
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

/* Create the queue pair and its memory, and post all receives. */
int link_make(struct link *link, struct rdma_cm_id *id, uint32_t size,
	      uint32_t depth)
{
	struct ibv_qp_init_attr attr = {
		/* One more for a write or read. */
		.cap = { .max_send_wr = depth + 1, .max_recv_wr = depth,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	size_t len = (2 * (size_t)depth + 1) * size;
	uint32_t i;

	link->id = id;
	link->size = size;
	link->depth = depth;
	/* Without completion queues in @attr, it creates them, each with a channel. */
	if (cm.rdma_create_qp(id, NULL, &attr))
		return link_fail(link, "queue pair: %s", strerror(errno));
	link->has_qp = true;
	if (posix_memalign((void **)&link->buf, 4096, len)) {
		link->buf = NULL;
		return link_fail(link, "out of memory");
	}
	memset(link->buf, 0, len);
	/*
	 * Remote access: on adapters that run over TCP, the peer writes the
	 * data of a read here.
	 */
	link->mr = cm.ibv_reg_mr(id->pd, link->buf, len,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				      IBV_ACCESS_REMOTE_READ);
	if (!link->mr)
		return link_fail(link, "%zu KiB of memory: %s%s", len / 1024,
				 strerror(errno), errno == ENOMEM ?
				 " (see ulimit -l)" : "");
	for (i = 0; i < depth; i++) {
		if (link_post_recv(link, i))
			return -1;
	}
	return 0;
}

void link_release(struct link *link)
{
	if (link->has_qp)
		cm.rdma_destroy_qp(link->id);
	if (link->mr)
		cm.ibv_dereg_mr(link->mr);
	free(link->buf);
	if (link->id)
		cm.rdma_destroy_id(link->id);
	link->has_qp = false;
	link->mr = NULL;
	link->buf = NULL;
	link->id = NULL;
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
	int ret = ibv_post_recv(link->id->qp, &wr, &bad);

	return ret ? link_fail(link, "post receive: %s", strerror(ret)) : 0;
}

static int post(struct link *link, struct ibv_send_wr *wr, const void *data,
		uint32_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = len,
			       .lkey = link->mr->lkey };
	struct ibv_send_wr *bad;
	int ret;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	ret = ibv_post_send(link->id->qp, wr, &bad);
	return ret ? link_fail(link, "post: %s", strerror(ret)) : 0;
}

int link_post_send(struct link *link, const void *data, uint32_t len,
		   uint32_t slot)
{
	struct ibv_send_wr wr = { .wr_id = slot, .opcode = IBV_WR_SEND };

	return post(link, &wr, data, len);
}

int link_post_rdma(struct link *link, enum ibv_wr_opcode opcode, void *data,
		   uint32_t len, const struct welcome *there)
{
	struct ibv_send_wr wr = { .opcode = opcode };

	wr.wr.rdma.remote_addr = there->addr;
	wr.wr.rdma.rkey = there->rkey;
	return post(link, &wr, data, len);
}

/* 1 with a completion; 0: none yet; -1: it failed. */
static int poll_cq(struct link *link, struct ibv_cq *cq, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(cq, 1, wc);

	if (n < 0)
		return link_fail(link, "the completion queue cannot be read");
	if (n && wc->status != IBV_WC_SUCCESS)
		return link_fail(link, "%s (syndrome %#x)",
				 cm.ibv_wc_status_str(wc->status),
				 wc->vendor_err);
	return n;
}

/* When the peer disconnects, there is an event but no completion. */
static int look_at_events(struct link *link)
{
	struct rdma_cm_event *event;
	int ret;

	if (cm.rdma_get_cm_event(link->id->channel, &event))
		return link_fail(link, "events: %s", strerror(errno));
	ret = link_fail(link, "the connection ended (%s)",
			cm.rdma_event_str(event->event));
	cm.rdma_ack_cm_event(event);
	return ret;
}

static int wait_event(struct link *link, struct ibv_cq *cq, uint64_t deadline)
{
	struct pollfd fds[2] = {
		{ .fd = cq->channel->fd, .events = POLLIN },
		{ .fd = link->id->channel->fd, .events = POLLIN },
	};
	uint64_t now = monotonic_ns();
	struct ibv_cq *from;
	void *context;
	int ret;

	ret = poll(fds, 2, now < deadline ? (deadline - now) / 1000000 + 1 : 0);
	if (ret < 0 && errno == EINTR)
		return interrupted ? link_fail(link, "interrupted") : 0;
	if (!ret)
		return link_fail(link, "nothing arrived in time");
	if (fds[0].revents) {
		if (!cm.ibv_get_cq_event(cq->channel, &from, &context))
			cm.ibv_ack_cq_events(from, 1);
		return 0;
	}
	return look_at_events(link);
}

/* Wait for a completion; 0, or -1 if no successful one came in time. */
int link_wait(struct link *link, struct ibv_cq *cq, uint64_t deadline,
	      struct ibv_wc *wc)
{
	uint64_t spin = monotonic_ns() + SPIN_NS;
	int ret;

	/*
	 * While answers come immediately, there is no sleep that a signal
	 * could interrupt.
	 */
	if (interrupted)
		return link_fail(link, "interrupted");
	do {
		ret = poll_cq(link, cq, wc);
	} while (!ret && monotonic_ns() < spin);
	while (!ret) {
		if (ibv_req_notify_cq(cq, 0))
			return link_fail(link, "arm: %s", strerror(errno));
		/* A completion that came before arming raises no event. */
		ret = poll_cq(link, cq, wc);
		if (!ret && wait_event(link, cq, deadline))
			return -1;
		if (!ret)
			ret = poll_cq(link, cq, wc);
	}
	return ret > 0 ? 0 : -1;
}
