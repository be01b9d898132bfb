// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The server's connections, with addresses that are exchanged over TCP. Each peer has a
 * slot, a fixed number of bytes and a limited time for its request.
 */
#include "server.h"
#include "tcp.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define END_NS 1000000000

/* ---- connections --------------------------------------------------------------------- */

/* The message fits into the socket's buffer. Fails if the peer is gone. */
static int answer(int fd, const struct exchange *message)
{
	uint8_t out[EXCHANGE_SIZE];

	exchange_write(message, out);
	return send(fd, out, sizeof(out), MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       sizeof(out) ? 0 : -1;
}

static void refuse(int fd, enum exchange_reason reason, int error)
{
	const struct exchange message = {
		.kind = EXCHANGE_REFUSAL, .reason = reason, .error = error,
	};

	answer(fd, &message);
}

static void note_refused(const struct server *s,
			 const struct sockaddr_storage *peer, const char *why)
{
	char text[INET6_ADDRSTRLEN];

	note(s->test->cli, "%s: refused: %s",
	     address_text(peer, text, sizeof(text)), why);
}

/* Drop a peer that is not a client yet; this does not count as a failed connection. */
static void turn_away(struct server *s, struct link *link, const char *why)
{
	note_refused(s, &link->peer, why);
	server_drop(s, link);
}

/* Detect clients whose host disappears without closing the connection. */
static void keep_alive(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 30 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 10 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 3 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		setsockopt(fd, options[i].level, options[i].name,
			   &options[i].value, sizeof(options[i].value));
}

void tcp_on_event(struct server *s)
{
	struct sockaddr_storage peer = { 0 };
	socklen_t len = sizeof(peer);
	struct link *link = NULL;
	int fd = accept4(s->socket, (struct sockaddr *)&peer, &len,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (s->n_links < MAX_LINKS)
		link = server_add(s);
	if (link)
		link->endpoint = calloc(1, sizeof(*link->endpoint));
	if (!link || !link->endpoint) {
		note_refused(s, &peer, s->n_links < MAX_LINKS ?
			     "out of memory" : "too many clients at once");
		refuse(fd, REFUSED_BUSY, 0);
		close(fd);
		if (link)
			server_drop(s, link);
		return;
	}
	keep_alive(fd);
	link->fd = fd;
	link->peer = peer;
	link->endpoint->deadline = monotonic_ns() + s->test->timeout;
}

/* ---- requests ------------------------------------------------------------------------ */

static int choose(struct server *s, struct link *link)
{
	struct sockaddr_storage local = { 0 };
	socklen_t len = sizeof(local);
	char why[MAX_WHY];

	getsockname(link->fd, (struct sockaddr *)&local, &len);
	if (adapter_choose(s->test, &local, &link->endpoint->adapter, why))
		return link_fail(link, "address selection failed: %s", why);
	return 0;
}

/* Returns the reason why the two adapters cannot be connected; 0 if they can. */
static enum exchange_reason mismatch(const struct adapter *adapter,
				     const struct exchange *hello)
{
	if (strcmp(hello->type, adapter_type(adapter)) != 0)
		return REFUSED_TYPE;
	return hello->roce != adapter->roce ? REFUSED_PROTOCOL : 0;
}

/* Arm before the client is notified; the receives are already posted. */
static int welcome(struct link *link, const struct exchange *hello)
{
	struct exchange message;

	link_fill(link_shared_place(link), link->shared, hello->psn);
	if (ibv_req_notify_cq(link->recv_cq, 0))
		return link_fail(link, "requesting completion events failed: %s",
				 strerror(errno));
	endpoint_describe(link, &message);
	message.kind = EXCHANGE_WELCOME;
	return answer(link->fd, &message) ?
	       link_fail(link, "the response cannot be sent over TCP") : 0;
}

/*
 * Returns the reason why the client is refused, and sets errno; 0 if the client is
 * connected.
 */
static enum exchange_reason make(struct server *s, struct link *link,
				 const struct exchange *hello)
{
	enum exchange_reason reason;

	errno = 0;
	if (choose(s, link))
		return REFUSED_ADAPTER;
	reason = mismatch(&link->endpoint->adapter, hello);
	if (reason)
		return reason;
	if (endpoint_make(link, hello->size, hello->shared, hello->depth, &reason))
		return reason;
	if (link->shared != hello->shared) {
		errno = EMSGSIZE;
		return REFUSED_QP;
	}
	return endpoint_connect(link, hello) ? REFUSED_ROUTE : 0;
}

static void on_hello(struct server *s, struct link *link,
		     const struct exchange *hello)
{
	enum exchange_reason reason = make(s, link, hello);
	const struct exchange refusal = { .reason = reason };
	struct path path = { 0 };
	union ibv_gid gid;
	int error = reason == REFUSED_QP || reason == REFUSED_ROUTE ? errno : 0;
	char buf[160];

	link->last = hello->last;
	if (reason) {
		refuse(link->fd, reason, error);
		link_fail(link, "refused: %s",
			  exchange_refusal(&refusal, buf, sizeof(buf)));
		server_drop(s, link);
		return;
	}
	endpoint_path(link, &path);
	tcp_peer(link, &path);
	memcpy(&gid, hello->gid, sizeof(gid));
	gid_text(&gid, path.peer_gid, sizeof(path.peer_gid));
	server_path(s, &path);
	if (welcome(link, hello))
		server_drop(s, link);
}

/* Handle the received part of the request. */
static void take(struct server *s, struct link *link)
{
	struct endpoint *e = link->endpoint;
	struct exchange hello;
	ssize_t n = recv(link->fd, e->in + e->n_in, sizeof(e->in) - e->n_in, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		turn_away(s, link, n < 0 ? strerror(errno) :
			  "the connection was closed before the request was complete");
		return;
	}
	e->n_in += n;
	switch (exchange_read(e->in, e->n_in, &hello)) {
	case EXCHANGE_MORE:
		return;
	case EXCHANGE_ALIEN:
		turn_away(s, link, "not an 'eadm test client'");
		return;
	case EXCHANGE_OTHER_VERSION:
		refuse(link->fd, REFUSED_VERSION, 0);
		turn_away(s, link, "the client runs a different version of eadm");
		return;
	case EXCHANGE_OK:
		if (hello.kind == EXCHANGE_HELLO) {
			on_hello(s, link, &hello);
			return;
		}
		/* fall through */
	default:
		turn_away(s, link, "invalid request");
	}
}

/*
 * A client that has finished, or was killed, closes the connection. Ignore an error
 * immediately before that: the adapter may have detected the end earlier.
 */
void tcp_on_peer(struct server *s, struct link *link)
{
	int closed;

	if (!link->qp) {
		take(s, link);
		return;
	}
	closed = tcp_closed(link);
	if (closed > 0 && monotonic_ns() - link->failed_at < END_NS)
		link->why[0] = '\0';
	if (closed)
		server_drop(s, link);
}

/*
 * Drop peers that took too long. Returns the time until the next peer must be dropped,
 * in ms; -1: none.
 */
int tcp_wait_ms(struct server *s)
{
	uint64_t now = monotonic_ns(), next = UINT64_MAX;
	struct link *link = s->links, *after;

	for (; link; link = after) {
		after = link->next;
		if (link->qp)
			continue;
		if (link->endpoint->deadline <= now)
			turn_away(s, link, "no complete request in time");
		else if (link->endpoint->deadline < next)
			next = link->endpoint->deadline;
	}
	return next == UINT64_MAX ? -1 : (int)((next - now) / 1000000 + 1);
}

/* ---- listening ----------------------------------------------------------------------- */

int tcp_listen(struct server *s)
{
	struct test *t = s->test;
	struct sockaddr_storage addr = { 0 };
	char text[INET6_ADDRSTRLEN];
	int status, one = 1;

	status = test_address(t, t->bind, true, &addr);
	if (status)
		return status;
	s->socket = socket(addr.ss_family,
			   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->socket >= 0)
		setsockopt(s->socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (s->socket < 0 ||
	    bind(s->socket, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(s->socket, MAX_LINKS))
		return fail(t->cli, errno == EADDRNOTAVAIL ? STATUS_NOT_FOUND :
							     STATUS_FAILED,
			    t->bind ? t->bind : "listen", "TCP port %s: %s",
			    t->port, strerror(errno));
	note(t->cli, "listening on %s port %s (%s%s%s)",
	     t->bind ? address_text(&addr, text, sizeof(text)) :
		       "all addresses", t->port, t->setup->name,
	     t->because ? ": " : "", t->because ? t->because : "");
	return 0;
}

int tcp_events_fd(const struct server *s)
{
	return s->socket;
}

void tcp_close(struct server *s)
{
	if (s->socket >= 0)
		close(s->socket);
}
