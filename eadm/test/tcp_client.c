// SPDX-License-Identifier: GPL-2.0-or-later
/* The client's connections, with addresses that are exchanged over TCP. */
#include "../signals.h"
#include "client.h"
#include "reject.h"
#include "tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Wait for @events; returns 0, or -1 after reporting the failed @step. */
static int await(struct client *c, const char *step, short events,
		 uint64_t deadline)
{
	struct pollfd pfd = { .fd = c->link.fd, .events = events };
	uint64_t now;
	int ret;

	do {
		now = monotonic_ns();
		ret = poll(&pfd, 1, now < deadline ?
			   (deadline - now) / 1000000 + 1 : 0);
	} while (ret < 0 && errno == EINTR && !interrupted);
	if (ret > 0)
		return 0;
	return ret < 0 ? link_fail(&c->link, "interrupted") :
			 link_fail(&c->link, "%s failed: no response within %.1f s",
				   step, c->test->timeout / 1e9);
}

static int no_connection(struct client *c, int error)
{
	return link_fail(&c->link, "TCP connection failed: %s",
			 error == ECONNREFUSED ? no_server : strerror(error));
}

static int connect_tcp(struct client *c, uint64_t deadline)
{
	const struct test *t = c->test;
	int error = 0;
	socklen_t len = sizeof(error);

	c->link.fd = socket(t->to.ss_family,
			    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->link.fd < 0)
		return no_connection(c, errno);
	c->link.peer = t->to;
	if (t->from.ss_family &&
	    bind(c->link.fd, (const struct sockaddr *)&t->from, sizeof(t->from)))
		return link_fail(&c->link, "%s: %s", t->bind, strerror(errno));
	if (!connect(c->link.fd, (const struct sockaddr *)&t->to, sizeof(t->to)))
		return 0;
	if (errno != EINPROGRESS)
		return no_connection(c, errno);
	if (await(c, "TCP connection", POLLOUT, deadline))
		return -1;
	getsockopt(c->link.fd, SOL_SOCKET, SO_ERROR, &error, &len);
	return error ? no_connection(c, error) : 0;
}

static int choose(struct client *c)
{
	struct sockaddr_storage local = { 0 };
	socklen_t len = sizeof(local);
	char why[MAX_WHY];
	int status;

	c->link.endpoint = calloc(1, sizeof(*c->link.endpoint));
	if (!c->link.endpoint)
		return link_fail(&c->link, "out of memory");
	getsockname(c->link.fd, (struct sockaddr *)&local, &len);
	status = adapter_choose(c->test, &local, &c->link.endpoint->adapter, why);
	if (status) {
		c->status = status;
		return link_fail(&c->link, "address selection failed: %s", why);
	}
	endpoint_path(&c->link, &c->path);
	return 0;
}

/* Receive the whole response, or enough to recognize that it is invalid. */
static int take_answer(struct client *c, struct exchange *there,
		       uint64_t deadline)
{
	struct endpoint *e = c->link.endpoint;
	enum exchange_result result = EXCHANGE_MORE;
	ssize_t n;

	while (result == EXCHANGE_MORE) {
		if (await(c, "address exchange", POLLIN, deadline))
			return -1;
		n = recv(c->link.fd, e->in + e->n_in, sizeof(e->in) - e->n_in, 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return link_fail(&c->link, "address exchange failed: %s",
					 strerror(errno));
		if (!n)
			return link_fail(&c->link, "address exchange failed: the server closed the TCP connection");
		e->n_in += n;
		result = exchange_read(e->in, e->n_in, there);
	}
	if (result == EXCHANGE_ALIEN)
		return link_fail(&c->link, "address exchange failed: the peer is not an 'eadm test server' (port %s)",
				 c->test->port);
	if (result == EXCHANGE_OTHER_VERSION)
		return link_fail(&c->link, "address exchange failed: the server runs a different version of eadm");
	if (result != EXCHANGE_OK || there->kind == EXCHANGE_HELLO)
		return link_fail(&c->link, "address exchange failed: invalid response");
	return 0;
}

/* Check that the server's offer matches the request. */
static int check_answer(struct client *c, const struct exchange *here,
			const struct exchange *there)
{
	char buf[160];

	if (there->kind == EXCHANGE_REFUSAL)
		return link_fail(&c->link, "%s failed: %s",
				 there->reason == REFUSED_ROUTE ? "route resolution" : "connection",
				 exchange_refusal(there, buf, sizeof(buf)));
	if (strcmp(there->type, here->type) != 0 || there->roce != here->roce ||
	    there->size > here->size || there->shared != here->shared ||
	    there->depth != here->depth)
		return link_fail(&c->link, "address exchange failed: invalid response");
	return 0;
}

static int exchange(struct client *c, struct exchange *there, uint64_t deadline)
{
	uint8_t out[EXCHANGE_SIZE];
	struct exchange here;
	ssize_t n;

	endpoint_describe(&c->link, &here);
	here.kind = EXCHANGE_HELLO;
	here.last = c->last;
	exchange_write(&here, out);
	/* A new socket has enough buffer space for the message. */
	n = send(c->link.fd, out, sizeof(out), MSG_NOSIGNAL);
	if (n != sizeof(out))
		return link_fail(&c->link, "address exchange failed: %s",
				 n < 0 ? strerror(errno) : "short write");
	if (take_answer(c, there, deadline))
		return -1;
	return check_answer(c, &here, there);
}

int tcp_begin(struct client *c, uint32_t size, uint32_t depth)
{
	uint64_t deadline = monotonic_ns() + c->test->timeout;
	struct exchange there;
	enum exchange_reason reason;
	union ibv_gid gid;

	if (connect_tcp(c, deadline) || choose(c))
		return -1;
	tcp_peer(&c->link, &c->path);
	if (endpoint_make(&c->link, size, size, depth, &reason) ||
	    exchange(c, &there, deadline))
		return -1;
	memcpy(&gid, there.gid, sizeof(gid));
	gid_text(&gid, c->path.peer_gid, sizeof(c->path.peer_gid));
	c->there = (struct welcome){
		.rkey = there.rkey, .addr = there.addr,
		.seed = c->link.endpoint->psn,
	};
	return endpoint_connect(&c->link, &there);
}

void tcp_end(struct client *c)
{
	tcp_release(&c->link);
}
