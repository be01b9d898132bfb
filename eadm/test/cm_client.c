// SPDX-License-Identifier: GPL-2.0-or-later
/* The client's connections through rdma_cm. */
#include "../signals.h"
#include "client.h"
#include "cm.h"
#include "reject.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

static const char *step_of(enum rdma_cm_event_type want)
{
	switch (want) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return "address resolution";
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return "route resolution";
	case RDMA_CM_EVENT_ESTABLISHED:
		return "connection";
	default:
		return "disconnection";
	}
}

/*
 * Returns the text of an event's status, "" for 0 and -1. A positive status is not an
 * errno; -1 is a failure of librdmacm, whose errno is lost.
 */
static const char *status_text(int status, char *buf, size_t size)
{
	if (status > 0)
		snprintf(buf, size, " (status %d)", status);
	else if (status < -1)
		snprintf(buf, size, " (%s)", strerror(-status));
	else
		buf[0] = '\0';
	return buf;
}

/*
 * The status is a reject reason of the InfiniBand specification or, on adapters that
 * run over TCP, a negative errno.
 */
static int rejected(struct client *c, const char *step, int status)
{
	char buf[80];

	if (status > 0)
		return link_fail(&c->link, "%s failed: %s", step,
				 reject_text(status, buf, sizeof(buf)));
	if (status == -ECONNREFUSED)
		return link_fail(&c->link, "%s failed: %s", step, no_server);
	return link_fail(&c->link, "%s failed: the server refused the connection%s",
			 step, status_text(status, buf, sizeof(buf)));
}

/* Explain an unexpected event, and set the corresponding status. */
static int wrong_event(struct client *c, enum rdma_cm_event_type want,
		       const struct rdma_cm_event *event)
{
	const char *why = cm.rdma_event_str(event->event);
	char status[80];

	c->status = STATUS_FAILED;
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		if (event->status == -ETIMEDOUT) {
			c->unanswered = true;
			why = "the peer does not respond";
			break;
		}
		why = "no RDMA device has a route to this address";
		c->status = STATUS_NOT_FOUND;
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		why = "the peer does not respond";
		break;
	case RDMA_CM_EVENT_REJECTED:
		return rejected(c, step_of(want), event->status);
	default:
		break;
	}
	return link_fail(&c->link, "%s failed: %s%s", step_of(want), why,
			 status_text(event->status, status, sizeof(status)));
}

static int take_event(struct client *c, enum rdma_cm_event_type want)
{
	const struct cm_welcome *there;
	struct rdma_cm_event *event;
	int ret = 0;

	if (cm.rdma_get_cm_event(c->test->channel, &event))
		return link_fail(&c->link, "waiting for events failed: %s", strerror(errno));
	if (event->event == RDMA_CM_EVENT_ESTABLISHED)
		c->established = true;
	if (event->event != want)
		ret = wrong_event(c, want, event);
	there = event->param.conn.private_data;
	if (!ret && want == RDMA_CM_EVENT_ESTABLISHED) {
		if (event->param.conn.private_data_len < sizeof(*there) ||
		    ntohl(there->magic) != CM_MAGIC)
			ret = link_fail(&c->link,
					"the peer is not an 'eadm test server'");
		else
			c->there = (struct welcome){
				.rkey = ntohl(there->rkey),
				.addr = be64toh(there->addr),
			};
	}
	cm.rdma_ack_cm_event(event);
	return ret;
}

static int await(struct client *c, enum rdma_cm_event_type want)
{
	struct pollfd pfd = { .fd = c->test->channel->fd, .events = POLLIN };
	uint64_t end = monotonic_ns() + c->test->timeout, now;
	int ret;

	do {
		now = monotonic_ns();
		ret = poll(&pfd, 1, now < end ? (end - now) / 1000000 + 1 : 0);
	} while (ret < 0 && errno == EINTR && !interrupted);
	if (ret < 0)
		return link_fail(&c->link, "interrupted");
	if (!ret) {
		c->status = STATUS_FAILED;
		return link_fail(&c->link, "%s failed: no response within %.1f s",
				 step_of(want), c->test->timeout / 1e9);
	}
	return take_event(c, want);
}

static int check_device(struct client *c)
{
	const char *wanted = c->test->cli->args.opt[OPT_DEVICE];
	const char *name = c->link.id->verbs->device->name;

	if (!wanted || !strcmp(wanted, name))
		return 0;
	c->status = STATUS_NOT_FOUND;
	return link_fail(&c->link, "the route uses %s (use --bind to select a different device)",
			 name);
}

static int say_hello(struct client *c)
{
	struct cm_hello hello = {
		.magic = htonl(CM_MAGIC),
		.version = htons(CM_VERSION),
		.depth = htons(c->link.depth),
		.size = htonl(c->link.size),
		.last = htonl(c->last),
	};
	struct rdma_conn_param param = {
		.private_data = &hello,
		.private_data_len = sizeof(hello),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	if (cm.rdma_connect(c->link.id, &param))
		return link_fail(&c->link, "connection failed: %s", strerror(errno));
	return await(c, RDMA_CM_EVENT_ESTABLISHED);
}

/*
 * Report an error that the kernel detects at once, such as an address or route without
 * an RDMA device.
 */
static int no_way(struct client *c)
{
	c->status = errno == EPERM || errno == EACCES ? STATUS_PERMISSION :
							STATUS_NOT_FOUND;
	if (c->status == STATUS_PERMISSION)
		return link_fail(&c->link, "address resolution failed: %s",
				 strerror(errno));
	return link_fail(&c->link, "address resolution failed: no RDMA device has a route to this address (%s)",
			 strerror(errno));
}

static int resolve(struct client *c)
{
	struct test *t = c->test;
	int ms = t->timeout / 1000000, part = ms / CM_ASKS + 1;
	int ask = part < CM_ASK_MS ? part : CM_ASK_MS;
	uint64_t end = monotonic_ns() + t->timeout - ask * 1000000ULL;
	int ret;

	do {
		c->link.why[0] = '\0';
		c->unanswered = false;
		if (cm.rdma_resolve_addr(c->link.id, t->from.ss_family ?
				      (struct sockaddr *)&t->from : NULL,
				      (struct sockaddr *)&t->to, ask))
			return no_way(c);
		ret = await(c, RDMA_CM_EVENT_ADDR_RESOLVED);
	} while (ret && c->unanswered && monotonic_ns() < end);
	return ret;
}

int cm_begin(struct client *c, uint32_t size, uint32_t depth)
{
	struct test *t = c->test;
	struct rdma_cm_id *id;
	int ms = t->timeout / 1000000;

	c->established = false;
	if (cm.rdma_create_id(t->channel, &id, NULL, RDMA_PS_TCP))
		return link_fail(&c->link, "%s", errno == ENODEV ?
				 "no RDMA device found" : strerror(errno));
	c->link.id = id;
	c->link.fd = t->channel->fd;
	if (resolve(c))
		return -1;
	cm_path(&c->path, id);
	if (check_device(c))
		return -1;
	if (cm.rdma_resolve_route(id, ms))
		return link_fail(&c->link, "route resolution failed: %s", strerror(errno));
	if (await(c, RDMA_CM_EVENT_ROUTE_RESOLVED))
		return -1;
	if (cm_make(&c->link, id, size, depth))
		return -1;
	return say_hello(c);
}

void cm_end(struct client *c)
{
	if (c->established && !cm.rdma_disconnect(c->link.id))
		await(c, RDMA_CM_EVENT_DISCONNECTED);
	c->established = false;
	cm_release(&c->link);
}
