// SPDX-License-Identifier: GPL-2.0-or-later
#include "member.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli.h"
#include "../signals.h"
#include "schedule.h"

#define BEAT_NS 1000000000
#define RETRY_NS 500000000
#define DEAF_NS 1000000000

int member_fail(struct member *m, const char *fmt, ...)
{
	va_list ap;

	if (m->why[0])
		return -1;
	va_start(ap, fmt);
	vsnprintf(m->why, sizeof(m->why), fmt, ap);
	va_end(ap);
	return -1;
}

/* The same limit as rank 0's, because the tests of other members take time. */
unsigned int member_patience(const struct member *m)
{
	uint64_t ms = m->started ? m->start.timeout : m->test->timeout / 1000000;

	return 3 * ms > 5000 ? 3 * ms : 5000;
}

static int lose_hub(struct member *m, int error)
{
	m->lost = true;
	if (error == -EPIPE && !m->started)
		return member_fail(m, "rank 0 closed the connection: the secrets differ, or rank 0 has exited");
	return member_fail(m, "rank 0: %s", error == -EPIPE ?
			   "the connection was closed" : strerror(-error));
}

/* ---- messages of rank 0 -------------------------------------------------------------- */

static int take_start(struct member *m, const struct frame *frame)
{
	if (m->started || !start_read(frame->data, frame->len, &m->start) ||
	    m->start.ranks != m->ranks)
		return -1;
	m->roster = calloc(m->ranks, sizeof(*m->roster));
	m->gone = calloc(m->ranks, sizeof(*m->gone));
	m->skipped = m->rank;
	if (!m->roster || !m->gone)
		return member_fail(m, "out of memory");
	m->started = true;
	return 0;
}

static int take_roster(struct member *m, const struct frame *frame)
{
	struct roster entry;
	size_t i;

	for (i = 0; i < frame->len / ROSTER_ENTRY; i++) {
		if (!m->started || m->n_roster == m->ranks ||
		    !roster_read(frame->data, frame->len, i, &entry) ||
		    entry.rank != m->n_roster)
			return -1;
		m->roster[m->n_roster++] = entry;
	}
	return 0;
}

static int take_notice(struct member *m, const struct frame *frame)
{
	uint32_t rank;
	uint8_t extra;

	if (!number_read(frame->data, frame->len, &rank, &extra))
		return -1;
	if (frame->kind == MESSAGE_REFUSED)
		return member_fail(m, "rank 0 refused this host: %s",
				   refusal_text(extra));
	if (!m->started || rank >= m->ranks)
		return -1;
	if (frame->kind == MESSAGE_GONE)
		m->gone[rank] = true;
	else
		m->skipped = rank;
	return 0;
}

static int take_message(struct member *m, const struct frame *frame)
{
	switch (frame->kind) {
	case MESSAGE_START:
		return take_start(m, frame);
	case MESSAGE_ROSTER:
		return take_roster(m, frame);
	case MESSAGE_REFUSED:
	case MESSAGE_GONE:
	case MESSAGE_SKIPPED:
		return take_notice(m, frame);
	case MESSAGE_BYE:
		m->bid = true;
		return 0;
	}
	return -1;
}

static int listen_to_hub(struct member *m)
{
	int filled = channel_fill(&m->hub), ret = 0;
	struct frame frame;

	if (filled && filled != -EPIPE)
		return lose_hub(m, filled);
	while (!ret && (ret = channel_take(&m->hub, &frame)) > 0) {
		ret = take_message(m, &frame);
		if (ret)
			return member_fail(m, "rank 0 sent an unexpected message");
	}
	if (ret == -EACCES)
		return member_fail(m, "rank 0 has a different secret");
	if (ret < 0)
		return lose_hub(m, ret);
	return filled && !m->bid ? lose_hub(m, filled) : 0;
}

/* ---- messages for rank 0 ------------------------------------------------------------- */

int member_send(struct member *m, uint8_t kind, const void *data, size_t len)
{
	struct pollfd pfd = { m->hub.fd, POLLOUT, 0 };
	int ret = 0;

	while (!ret && channel_is_full(&m->hub) && !interrupted) {
		poll(&pfd, 1, 1000);
		ret = channel_flush(&m->hub);
	}
	if (!ret)
		ret = channel_send(&m->hub, kind, data, len);
	m->beat = monotonic_ns();
	return ret ? lose_hub(m, ret) : 0;
}

int member_flush(struct member *m)
{
	size_t len = m->n_batch;

	m->n_batch = 0;
	return len ? member_send(m, MESSAGE_RESULTS, m->batch, len) : 0;
}

int member_report(struct member *m, const struct edge *edge)
{
	if (m->n_batch + RESULT_MOST > sizeof(m->batch) && member_flush(m))
		return -1;
	m->n_batch += result_write(edge, m->batch + m->n_batch);
	return 0;
}

/* Report only a wait that lasts: most partners connect at once. */
static enum mesh_wait waiting(const struct member *m, uint64_t now)
{
	if (!m->waits || now - m->waits < BEAT_NS)
		return WAIT_NOT;
	return m->missed < MESH_LOSSES ? WAIT_PARTNER : WAIT_ALONE;
}

/* Send results and the round, from which rank 0 detects members that wait in vain. */
static int beat(struct member *m)
{
	uint64_t now = monotonic_ns();
	uint8_t data[8];

	if (now - m->beat < BEAT_NS || m->hub.state != CHANNEL_OPEN)
		return 0;
	if (m->n_batch && member_flush(m))
		return -1;
	return member_send(m, MESSAGE_BEAT, data,
			   number_write(m->round, waiting(m, now), data));
}

/* ---- peers --------------------------------------------------------------------------- */

static void hang_up(struct member *m, struct caller **at)
{
	struct caller *caller = *at;

	*at = caller->next;
	m->n_strangers -= caller->rank < 0;
	channel_close(&caller->ch);
	free(caller);
}

/*
 * Close the oldest connection without a hello, preferably one from the newcomer's host.
 */
static void make_room(struct member *m, const struct in6_addr *newcomer)
{
	struct caller **at, **oldest = NULL;
	bool same, found = false;

	/* The newest connection comes first, so the last match is the oldest. */
	for (at = &m->callers; *at; at = &(*at)->next) {
		same = IN6_ARE_ADDR_EQUAL(&(*at)->ch.peer, newcomer);
		if ((*at)->rank >= 0 || same < found)
			continue;
		oldest = at;
		found = same;
	}
	if (!m->full)
		note(m->test->cli, "rank %u: " CHANNEL_FULL, m->rank,
		     CHANNEL_STRANGERS);
	m->full = true;
	if (oldest)
		hang_up(m, oldest);
}

static void cannot_accept(struct member *m, int error)
{
	if (error != -EMFILE && error != -ENFILE)
		return;
	if (!m->deaf)
		note(m->test->cli, "rank %u: accept: %s", m->rank, strerror(-error));
	m->deaf = true;
	m->deaf_until = monotonic_ns() + DEAF_NS;
}

/* Returns false if no further connection can be accepted at present. */
static bool take_call(struct member *m)
{
	struct caller *caller = calloc(1, sizeof(*caller));
	int ret = caller ? channel_accept(&caller->ch, m->listener,
					  member_patience(m)) : -ENOMEM;

	if (ret) {
		cannot_accept(m, ret);
		if (caller)
			channel_close(&caller->ch);
		free(caller);
		return false;
	}
	if (m->n_strangers == CHANNEL_STRANGERS)
		make_room(m, &caller->ch.peer);
	caller->rank = -1;
	caller->since = monotonic_ns();
	caller->next = m->callers;
	m->callers = caller;
	m->n_strangers++;
	return true;
}

static void take_calls(struct member *m)
{
	int i;

	for (i = 0; i < CHANNEL_ACCEPTS && take_call(m); i++)
		;
}

/* Returns false if the connection must be closed. */
static bool hear(struct member *m, struct caller *caller)
{
	struct hello hello;
	int ret;

	if (caller->rank >= 0)
		return true;
	ret = channel_fill(&caller->ch);
	if (ret)
		return false;
	/* A hello that arrived in time is valid, even if this host reads it late. */
	ret = channel_admit(&caller->ch, m->secret, &hello);
	if (ret <= 0)
		return !ret && monotonic_ns() - caller->since <= CHANNEL_HELLO_NS;
	if (hello.to != m->rank || hello.ranks != m->ranks ||
	    hello.rank >= m->ranks)
		return false;
	caller->rank = hello.rank;
	m->n_strangers--;
	return true;
}

static void hear_callers(struct member *m)
{
	struct caller **at = &m->callers;

	while (*at) {
		if (hear(m, *at))
			at = &(*at)->next;
		else
			hang_up(m, at);
	}
}

bool member_caller(struct member *m, uint32_t rank, struct channel *ch)
{
	struct caller **at, *caller;

	for (at = &m->callers; *at; at = &(*at)->next) {
		caller = *at;
		if (caller->rank != rank)
			continue;
		*ch = caller->ch;
		*at = caller->next;
		free(caller);
		return true;
	}
	return false;
}

/* ---- waiting ------------------------------------------------------------------------- */

int member_pump(struct member *m, const struct channel *peer, short events, int ms)
{
	struct pollfd fds[3 + CHANNEL_STRANGERS];
	struct caller *caller;
	nfds_t n = 3;

	fds[0] = (struct pollfd){ m->hub.fd, POLLIN, 0 };
	fds[1] = (struct pollfd){
		monotonic_ns() < m->deaf_until ? -1 : m->listener, POLLIN, 0 };
	fds[2] = (struct pollfd){ peer ? peer->fd : -1, events, 0 };
	for (caller = m->callers; caller; caller = caller->next) {
		if (caller->rank < 0)
			fds[n++] = (struct pollfd){ caller->ch.fd, POLLIN, 0 };
	}
	poll(fds, n, ms);
	if (interrupted)
		return member_fail(m, "interrupted");
	if (m->hub.state == CHANNEL_OPEN && fds[0].revents && listen_to_hub(m))
		return -1;
	if (fds[1].revents)
		take_calls(m);
	hear_callers(m);
	return beat(m);
}

/* ---- joining ------------------------------------------------------------------------- */

static int wait_hub(struct member *m, short events)
{
	struct pollfd pfd = { m->hub.fd, events, 0 };
	int ret = poll(&pfd, 1, m->test->timeout / 1000000);

	if (ret < 0)
		return -errno;
	return ret ? 0 : -ETIMEDOUT;
}

static void describe_self(struct member *m, struct hello *hello)
{
	*hello = (struct hello){
		.rank = m->rank, .ranks = m->ranks, .rails = m->rails.n,
		.port = m->listening,
	};
	gethostname(hello->name, sizeof(hello->name) - 1);
	snprintf(hello->why, sizeof(hello->why), "%s", m->rails.why);
	channel_local(&m->hub, &hello->addr);
}

/* Link-local addresses require an interface, which the roster does not contain. */
static bool is_link_local(const struct addrinfo *info)
{
	return info->ai_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)info->ai_addr)->sin6_addr);
}

static int call(struct member *m, const struct addrinfo *info)
{
	struct sockaddr_storage to = { 0 };
	struct hello hello;
	int ret;

	if (is_link_local(info))
		return -EAFNOSUPPORT;
	memcpy(&to, info->ai_addr, info->ai_addrlen);
	ret = channel_connect(&m->hub, &to, member_patience(m));
	if (!ret)
		ret = wait_hub(m, POLLOUT);
	if (!ret)
		ret = channel_connected(&m->hub);
	if (ret)
		return ret;
	describe_self(m, &hello);
	while (!ret) {
		ret = wait_hub(m, POLLIN);
		if (!ret)
			ret = channel_fill(&m->hub);
		if (!ret)
			ret = channel_greet(&m->hub, m->secret, &hello);
	}
	return ret > 0 ? 0 : ret;
}

/* Connect to the first address that works. */
static int call_hub(struct member *m)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found, *info;
	int ret = getaddrinfo(m->rendezvous, m->port, &hints, &found);

	if (ret)
		return ret == EAI_SYSTEM ? -errno : -EADDRNOTAVAIL;
	for (info = found; info; info = info->ai_next) {
		ret = call(m, info);
		if (!ret)
			break;
		channel_close(&m->hub);
	}
	freeaddrinfo(found);
	return ret;
}

/* Retry: rank 0 may start later, and its name may not resolve until then. */
int member_join(struct member *m)
{
	uint64_t until = monotonic_ns() + m->wait;
	int ret;

	m->hub.fd = -1;
	m->listener = channel_listen(&m->listening);
	if (m->listener < 0)
		return member_fail(m, "listen: %s", strerror(-m->listener));
	while ((ret = call_hub(m))) {
		if (ret == -EAFNOSUPPORT)
			return member_fail(m, "%s: link-local addresses are not supported",
					   m->rendezvous);
		if (ret == -EPROTO)
			return member_fail(m, "%s port %s: not rank 0 of a mesh",
					   m->rendezvous, m->port);
		if (monotonic_ns() > until || interrupted)
			return member_fail(m, "%s port %s: %s", m->rendezvous,
					   m->port, strerror(-ret));
		usleep(RETRY_NS / 1000);
	}
	m->beat = monotonic_ns();
	return 0;
}

void member_leave(struct member *m)
{
	while (m->callers)
		hang_up(m, &m->callers);
	channel_close(&m->hub);
	if (m->listener >= 0)
		close(m->listener);
	free(m->roster);
	free(m->gone);
}
