// SPDX-License-Identifier: GPL-2.0-or-later
/* "eadm test client": one test after the other, each on its own connections. */
#include "../signals.h"
#include "reject.h"
#include "test.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ECHO_SIZE 64

struct client {
	struct test *test;
	struct link link;
	struct welcome there;
	struct path path;	/* of the latest connection */
	int status;
	bool established;	/* so a disconnect event will come, too */
	bool last;		/* no other connection will follow */
};

/* ---- connecting ---------------------------------------------------------------------- */

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
 * The status of an event in words, "" if there are none. A positive one is no errno;
 * -1 is a failure of librdmacm, whose errno is lost.
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

/* The status is a reason of the specification, or a negative errno where TCP connects. */
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
			why = "the peer does not answer";
			break;
		}
		why = "no RDMA device leads to this address";
		c->status = STATUS_NOT_FOUND;
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		why = "the peer does not answer";
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
	const struct welcome *there;
	struct rdma_cm_event *event;
	int ret = 0;

	if (cm.rdma_get_cm_event(c->test->channel, &event))
		return link_fail(&c->link, "events: %s", strerror(errno));
	if (event->event == RDMA_CM_EVENT_ESTABLISHED)
		c->established = true;
	if (event->event != want)
		ret = wrong_event(c, want, event);
	there = event->param.conn.private_data;
	if (!ret && want == RDMA_CM_EVENT_ESTABLISHED) {
		if (event->param.conn.private_data_len < sizeof(*there) ||
		    ntohl(there->magic) != TEST_MAGIC)
			ret = link_fail(&c->link,
					"the peer is not an 'eadm test server'");
		else
			c->there = (struct welcome){
				.rkey = ntohl(there->rkey),
				.addr = be64toh(there->addr),
				.len = ntohl(there->len),
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
		return link_fail(&c->link, "%s failed: no answer within %.1f s",
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
	return link_fail(&c->link, "the route there leads through %s (--bind chooses another one)",
			 name);
}

static int say_hello(struct client *c)
{
	struct hello hello = {
		.magic = htonl(TEST_MAGIC),
		.version = htons(TEST_VERSION),
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
 * Errors that the kernel detects at once: there is no RDMA device for the
 * address or route.
 */
static int no_way(struct client *c)
{
	c->status = errno == EPERM || errno == EACCES ? STATUS_PERMISSION :
							STATUS_NOT_FOUND;
	if (c->status == STATUS_PERMISSION)
		return link_fail(&c->link, "address resolution failed: %s",
				 strerror(errno));
	return link_fail(&c->link, "address resolution failed: no RDMA device leads to this address (%s)",
			 strerror(errno));
}

/* Connect, for messages of at most @size; call finish() in any case. */
static int begin(struct client *c, uint32_t size, uint32_t depth)
{
	struct test *t = c->test;
	struct rdma_cm_id *id;
	int ms = t->timeout / 1000000;

	c->link = (struct link){ 0 };
	c->path = (struct path){ 0 };
	c->established = false;
	c->status = STATUS_FAILED;
	if (cm.rdma_create_id(t->channel, &id, NULL, RDMA_PS_TCP))
		return link_fail(&c->link, "%s", errno == ENODEV ?
				 "there is no RDMA device" : strerror(errno));
	c->link.id = id;
	if (cm.rdma_resolve_addr(id, t->from.ss_family ?
			      (struct sockaddr *)&t->from : NULL,
			      (struct sockaddr *)&t->to, ms))
		return no_way(c);
	if (await(c, RDMA_CM_EVENT_ADDR_RESOLVED))
		return -1;
	path_of(&c->path, id);
	if (check_device(c))
		return -1;
	if (cm.rdma_resolve_route(id, ms))
		return link_fail(&c->link, "route resolution failed: %s", strerror(errno));
	if (await(c, RDMA_CM_EVENT_ROUTE_RESOLVED))
		return -1;
	if (link_make(&c->link, id, size, depth))
		return -1;
	return say_hello(c);
}

/* Errors while disconnecting do not count any more. */
static void finish(struct client *c)
{
	char why[MAX_WHY];

	strcpy(why, c->link.why);
	if (c->established && !cm.rdma_disconnect(c->link.id))
		await(c, RDMA_CM_EVENT_DISCONNECTED);
	c->established = false;
	link_release(&c->link);
	strcpy(c->link.why, why);
}

/* ---- tests --------------------------------------------------------------------------- */

static uint64_t deadline(const struct client *c)
{
	return monotonic_ns() + c->test->timeout;
}

/* Bytes that differ by position and by message. */
static void fill(unsigned char *data, uint32_t len, uint64_t seed)
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

static int compare(struct client *c, const char *what,
		   const unsigned char *want, const unsigned char *got,
		   uint32_t len)
{
	uint32_t i;

	if (!memcmp(want, got, len))
		return 0;
	for (i = 0; want[i] == got[i]; i++)
		;
	return link_fail(&c->link,
			 "%s of %u %s: byte %u is 0x%02x, not 0x%02x", what,
			 len, plural(len, "byte", "bytes"), i, got[i], want[i]);
}

/*
 * Send a message and get it back; the caller has put it into the first
 * place for sending.
 */
static int echo(struct client *c, uint32_t len)
{
	struct link *link = &c->link;
	struct ibv_wc wc, sent;
	const unsigned char *out = link_send_place(link, 0);

	if (link_post_send(link, out, len, 0) ||
	    link_wait(link, link->id->recv_cq, deadline(c), &wc) ||
	    link_wait(link, link->id->send_cq, deadline(c), &sent))
		return -1;
	if (wc.byte_len != len)
		return link_fail(link, "%u %s returned instead of %u", wc.byte_len,
				 plural(wc.byte_len, "byte", "bytes"), len);
	if (compare(c, "a message", out, link_recv_place(link, wc.wr_id), len))
		return -1;
	return link_post_recv(link, wc.wr_id);
}

static void one_more(struct client *c, struct result *result, const char *what)
{
	result->count++;
	progress(c->test->cli, what, result->count);
}

static int run_connect(struct client *c, struct result *result)
{
	uint64_t begun = monotonic_ns();

	if (begin(c, ECHO_SIZE, 1))
		return -1;
	result->times[result->n_times++] = monotonic_ns() - begun;
	result->count = 1;
	return echo(c, 1);
}

static int run_data(struct client *c, struct result *result)
{
	static const uint32_t sizes[] = { 1, 7, 64, 255, 1024, 4095, 4096,
					  4097, 16384, 65536, 262144 };
	uint32_t max = c->test->size, len;
	size_t i, kind;

	result->size = max;
	if (begin(c, max, 2))
		return -1;
	for (i = 0; i <= ARRAY_SIZE(sizes); i++) {
		len = i < ARRAY_SIZE(sizes) ? sizes[i] : max;
		if (len > max)
			continue;
		for (kind = 0; kind < 3; kind++) {
			if (kind < 2)
				memset(link_send_place(&c->link, 0),
				       kind ? 0xff : 0, len);
			else
				fill(link_send_place(&c->link, 0), len, i);
			if (echo(c, len))
				return -1;
			one_more(c, result, "messages");
		}
	}
	return 0;
}

/* Write into the server's memory, and read back into cleared memory. */
static int run_rdma(struct client *c, struct result *result)
{
	uint32_t max = c->test->size, len;
	struct link *link = &c->link;
	unsigned char *out, *in;
	struct ibv_wc wc;

	result->size = max;
	/* The server's memory is only accessible after a first message. */
	if (begin(c, max, 2) || echo(c, 1))
		return -1;
	out = link_send_place(link, 0);
	in = link_shared_place(link);
	for (len = max; len; len /= 8) {
		fill(out, len, len);
		memset(in, 0, len);
		if (link_post_rdma(link, IBV_WR_RDMA_WRITE, out, len,
				   &c->there) ||
		    link_wait(link, link->id->send_cq, deadline(c), &wc) ||
		    link_post_rdma(link, IBV_WR_RDMA_READ, in, len,
				   &c->there) ||
		    link_wait(link, link->id->send_cq, deadline(c), &wc) ||
		    compare(c, "what was written and read", out, in, len))
			return -1;
		one_more(c, result, "messages");
	}
	return 0;
}

static int run_echo(struct client *c, struct result *result)
{
	uint64_t begun;

	result->size = ECHO_SIZE;
	if (begin(c, ECHO_SIZE, 2))
		return -1;
	while (result->count < c->test->count) {
		fill(link_send_place(&c->link, 0), ECHO_SIZE, result->count);
		begun = monotonic_ns();
		if (echo(c, ECHO_SIZE))
			return -1;
		result->times[result->n_times++] = monotonic_ns() - begun;
		one_more(c, result, "messages");
	}
	return 0;
}

/* Take the next message, which must have number @seq. */
static int take_in_order(struct client *c, uint64_t seq)
{
	struct link *link = &c->link;
	struct ibv_wc wc;
	uint64_t got;

	if (link_wait(link, link->id->recv_cq, deadline(c), &wc))
		return -1;
	memcpy(&got, link_recv_place(link, wc.wr_id), sizeof(got));
	if (wc.byte_len != ECHO_SIZE || got != seq)
		return link_fail(link, "received message %llu instead of %llu",
				 (unsigned long long)got,
				 (unsigned long long)seq);
	return link_post_recv(link, wc.wr_id);
}

static int run_order(struct client *c, struct result *result)
{
	uint64_t sent = 0, done = 0, count = c->test->count, begun;
	struct link *link = &c->link;
	unsigned char *place;
	struct ibv_wc wc;

	result->size = ECHO_SIZE;
	if (begin(c, ECHO_SIZE, c->test->depth))
		return -1;
	begun = monotonic_ns();
	while (result->count < count) {
		for (; sent < count && sent - result->count < link->depth;
		     sent++) {
			/* The previous message must have been sent from this place. */
			for (; done + link->depth <= sent; done++) {
				if (link_wait(link, link->id->send_cq,
					      deadline(c), &wc))
					return -1;
			}
			place = link_send_place(link, sent % link->depth);
			memcpy(place, &sent, sizeof(sent));
			if (link_post_send(link, place, ECHO_SIZE, 0))
				return -1;
		}
		if (take_in_order(c, result->count))
			return -1;
		one_more(c, result, "messages");
	}
	result->rate = count * 1e9 / (monotonic_ns() - begun);
	return 0;
}

/* One connection after the other, each with one message. */
static int run_rate(struct client *c, struct result *result)
{
	uint64_t count = c->test->count < 20 ? c->test->count : 20;
	uint64_t all = monotonic_ns(), begun;
	bool last = c->last;

	while (result->count < count) {
		c->last = last && result->count == count - 1;
		if (result->count)
			finish(c);
		begun = monotonic_ns();
		if (begin(c, ECHO_SIZE, 1) || echo(c, ECHO_SIZE))
			return -1;
		result->times[result->n_times++] = monotonic_ns() - begun;
		one_more(c, result, "connections");
	}
	result->rate = count * 1e9 / (monotonic_ns() - all);
	return 0;
}

static int (*const tests[])(struct client *c, struct result *result) = {
	run_connect, run_data, run_rdma, run_echo, run_order, run_rate,
};

const char *const test_names[] = {
	"connect", "data", "rdma", "echo", "order", "rate", NULL,
};

/* ---- all of them ------------------------------------------------------------------------ */

static bool is_chosen(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *p = list;

	if (!list)
		return true;
	for (; *p; p += strcspn(p, ","), p += *p == ',') {
		if (!strncmp(p, name, len) && (!p[len] || p[len] == ','))
			return true;
	}
	return false;
}

static int run_test(struct client *c, int number)
{
	struct result result = { .test = test_names[number],
				 .path = &c->path };
	int status = STATUS_OK;

	result.times = calloc(c->test->count + 1, sizeof(*result.times));
	if (!result.times)
		return fail(c->test->cli, STATUS_FAILED, "start",
			    "out of memory");
	if (tests[number](c, &result)) {
		result.why = c->link.why;
		status = c->status;
	}
	finish(c);
	progress_end(c->test->cli);
	report_result(c->test->cli, &result);
	free(result.times);
	return status;
}

int test_client(struct test *test)
{
	struct client c = { .test = test };
	struct table table = { 0 };
	int status, worst = STATUS_OK, last = -1, i, ret;

	status = report_begin(test->cli, &table);
	for (i = 0; test_names[i]; i++) {
		if (is_chosen(test->only, test_names[i]))
			last = i;
	}
	for (i = 0; !status && i <= last && !interrupted; i++) {
		if (!is_chosen(test->only, test_names[i]))
			continue;
		c.last = i == last;
		ret = run_test(&c, i);
		if (!worst)
			worst = ret;
		/* Without a connection, the other tests would report the same. */
		if (ret && tests[i] == run_connect)
			break;
	}
	status = write_end(test->cli, status ? status : worst);
	columns_free(&table);
	return status;
}
