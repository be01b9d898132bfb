// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links to other programs: connecting, handshake, exchange of GIDs, and loss. The
 * listening side drops a lost link; the connecting side reconnects.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link.h"

#define EVENTS 16
#define RETRY_NS 100000000u
/* Number of bytes received on a link before other links are served. */
#define TURN (1u << 20)

/* ---- life cycle of a link */

static void say(struct soft_links *links, struct soft_link *link, const char *what, int err)
{
	const char *name = link->address ? link->address : links->config->listen;
	char line[128];

	if (!links->config->log ||
	    !log_limit_allows(link->address ? &link->log_limit : &links->log_limit,
			      links->config->log, name))
		return;
	snprintf(line, sizeof(line), "%s%s%s", what, err ? ": " : "",
		 err == -EPROTO ? "protocol error: invalid or unexpected message" :
		 err ? strerror(-err) : "");
	links->config->log(name, line);
}

static struct soft_link *add_link(struct soft_links *links, const char *address)
{
	struct soft_link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->fd = -1;
	link->address = address;
	TAILQ_INIT(&link->blocked);
	TAILQ_INSERT_TAIL(&links->links, link, entry);
	links->n_links++;
	return link;
}

/* Closes the socket, and discards all data about the other program. */
static void reset(struct soft_links *links, struct soft_link *link)
{
	struct link_gid *gid;

	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
	link->connecting = link->greeted = link->full = false;
	while ((gid = LIST_FIRST(&link->gids)))
		link_del_gid(links, gid);
	link->asked = link->n_answers = 0;
	link->n_in = link->sent = link->n_out = link->unsent = 0;
	soft_remote_lost(links->soft, link);
}

static void remove_link(struct soft_links *links, struct soft_link *link)
{
	reset(links, link);
	TAILQ_REMOVE(&links->links, link, entry);
	links->n_links--;
	free(link->out);
	free(link);
}

static void lose(struct soft_links *links, struct soft_link *link, int err)
{
	if (link->greeted)
		say(links, link, "the link is lost", err);
	else if (!link->missed)
		say(links, link, link->address ? "no link yet" : "a link failed", err);
	link->missed = !link->greeted;
	if (!link->address) {
		remove_link(links, link);
		return;
	}
	/*
	 * Retry immediately if the link was connected until now, because QPs may wait for
	 * it.
	 */
	link->retry_at = links->soft->now + (link->greeted ? 0 : RETRY_NS);
	reset(links, link);
}

static bool put_gid(struct soft_link *link, const struct soft_port *port,
		    const union ibv_gid *gid, bool there)
{
	struct wire_gid wire = { .port = port->number, .there = there };

	memcpy(wire.gid, gid, sizeof(wire.gid));
	return soft_link_put(link, WIRE_GID, &wire, sizeof(wire), NULL, 0);
}

/* Sends the first message on a connected socket. */
static int greet(struct soft_links *links, struct soft_link *link)
{
	const struct wire_hello hello = { .magic = WIRE_MAGIC, .version = WIRE_VERSION };
	const struct soft_port *port;
	unsigned int i;
	bool put;

	link->heard = links->soft->now;
	put = soft_link_put(link, WIRE_HELLO, &hello, sizeof(hello), NULL, 0);
	TAILQ_FOREACH(port, &links->soft->ports, link)
		for (i = 0; i < SOFT_MAX_GIDS && put; i++)
			if (port->gids[i].used)
				put = put_gid(link, port, &port->gids[i].gid, true);
	return put ? 0 : -ENOMEM;
}

static int watch(struct soft_links *links, struct soft_link *link, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = link };

	return epoll_ctl(links->epoll, EPOLL_CTL_ADD, link->fd, &event) ? -errno : 0;
}

static void join(struct soft_links *links, struct soft_link *link)
{
	int err = 0;

	link->fd = link_connect(link->address);
	link->connecting = true;
	err = link->fd < 0 ? link->fd : watch(links, link, EPOLLIN | EPOLLOUT);
	if (err)
		lose(links, link, err);
}

static void accept_all(struct soft_links *links)
{
	struct soft_link *link;
	int fd, err;

	while ((fd = listener_accept(links->listener, &links->spare)) >= 0 || fd == -ECONNABORTED) {
		if (fd < 0)
			continue;
		link = links->n_links < BACKEND_MAX_LINKS ? add_link(links, NULL) : NULL;
		if (!link) {
			close(fd);
			continue;
		}
		link->fd = fd;
		err = watch(links, link, EPOLLIN);
		if (!err)
			err = greet(links, link);
		if (err)
			lose(links, link, err);
	}
}

/* ---- received messages */

static int take_hello(struct soft_links *links, struct soft_link *link,
		      const unsigned char *data, size_t size)
{
	struct wire_hello hello;

	if (link->greeted || size != sizeof(hello))
		return -EPROTO;
	memcpy(&hello, data, sizeof(hello));
	if (hello.magic != WIRE_MAGIC || hello.version != WIRE_VERSION)
		return -EPROTO;
	link->greeted = true;
	say(links, link, "linked", 0);
	return 0;
}

static int take_gid(struct soft_links *links, struct soft_link *link,
		    const unsigned char *data, size_t size)
{
	struct link_gid *found;
	struct wire_gid wire;
	union ibv_gid gid;

	if (size != sizeof(wire))
		return -EPROTO;
	memcpy(&wire, data, sizeof(wire));
	memcpy(&gid, wire.gid, sizeof(gid));
	found = link_find_gid(links, link, &gid, wire.port);
	if (found && !wire.there)
		link_del_gid(links, found);
	if (found || !wire.there)
		return 0;
	if (soft_find_port(links->soft, &gid) || soft_find_link(links->soft, &gid))
		say(links, link, "a GID of the linked program is already in use by another adapter (do two interfaces have the same MAC address?)", 0);
	return link_add_gid(links, link, &gid, wire.port);
}

static int take(struct soft_links *links, struct soft_link *link,
		const struct link_message *message)
{
	if (message->type == WIRE_HELLO)
		return take_hello(links, link, message->data, message->size);
	if (!link->greeted)
		return -EPROTO;
	if (message->type == WIRE_GID)
		return take_gid(links, link, message->data, message->size);
	return soft_remote_take(links->soft, link, message->type, message->data, message->size) ?
	       0 : -EPROTO;
}

/* Handles all complete messages. */
static int take_all(struct soft_links *links, struct soft_link *link)
{
	struct link_message message;
	size_t at = 0;
	int ret;

	while ((ret = link_next(link, &at, &message)) > 0) {
		ret = take(links, link, &message);
		if (ret)
			break;
	}
	link_drop(link, at);
	return ret;
}

static int receive(struct soft_links *links, struct soft_link *link)
{
	ssize_t got;
	size_t all;
	int err;

	for (all = 0; all < TURN; all += (size_t)got) {
		got = link_receive(link);
		if (got <= 0)
			return (int)got;
		link->heard = links->soft->now;
		err = take_all(links, link);
		if (err)
			return err;
	}
	return 0;
}

static int connected(struct soft_links *links, struct soft_link *link)
{
	int failed = 0;
	socklen_t size = sizeof(failed);

	if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &failed, &size))
		return -errno;
	if (failed)
		return -failed;
	link->connecting = false;
	/* Cleared by link_send(). */
	link->full = true;
	return greet(links, link);
}

static void link_event(struct soft_links *links, struct soft_link *link, uint32_t events)
{
	int err = 0;

	if (link->connecting)
		err = connected(links, link);
	if (!err && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		err = receive(links, link);
	if (err)
		lose(links, link, err);
}

/* ---- all links */

uint64_t soft_links_run(struct soft *soft)
{
	struct soft_links *links = soft->links;
	struct epoll_event events[EVENTS];
	uint64_t wake = BACKEND_IDLE;
	struct soft_link *link;
	int i, n;

	if (!links)
		return wake;
	n = epoll_wait(links->epoll, events, EVENTS, 0);
	for (i = 0; i < n; i++)
		if (events[i].data.ptr)
			link_event(links, events[i].data.ptr, events[i].events);
		else
			accept_all(links);
	TAILQ_FOREACH(link, &links->links, entry) {
		if (link->fd < 0 && link->retry_at <= soft->now)
			join(links, link);
		if (link->fd < 0 && link->retry_at < wake)
			wake = link->retry_at;
		soft_remote_time_out(soft, link);
	}
	return wake;
}

uint64_t soft_links_wake(struct soft *soft)
{
	uint64_t wake = BACKEND_IDLE;
	struct soft_link *link;
	struct soft_qp *qp;
	unsigned int slots;

	if (!soft->links)
		return wake;
	TAILQ_FOREACH(link, &soft->links->links, entry) {
		slots = soft_link_slots(link);
		while (slots-- && (qp = TAILQ_FIRST(&link->blocked)))
			soft_qp_schedule(qp);
		TAILQ_FOREACH(qp, &link->blocked, link)
			if (qp->wake < wake)
				wake = qp->wake;
	}
	return wake;
}

void soft_links_flush(struct soft *soft)
{
	struct soft_link *link, *next;
	int err;

	if (!soft->links)
		return;
	for (link = TAILQ_FIRST(&soft->links->links); link; link = next) {
		next = TAILQ_NEXT(link, entry);
		if (link->fd < 0 || link->connecting)
			continue;
		err = link_send(soft->links, link);
		if (err)
			lose(soft->links, link, err);
	}
}

int soft_links_fd(const struct soft *soft)
{
	return soft->links ? soft->links->epoll : -1;
}

void soft_links_gid(struct soft_port *port, const union ibv_gid *gid, bool there)
{
	struct soft_link *link;

	if (!port->soft->links)
		return;
	/* If this message cannot be sent, the link is lost immediately. */
	TAILQ_FOREACH(link, &port->soft->links->links, entry)
		if (link->fd >= 0 && !link->connecting && !put_gid(link, port, gid, there))
			shutdown(link->fd, SHUT_RDWR);
}

static int open_listener(struct soft_links *links)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (!links->config->listen)
		return 0;
	links->listener = link_listen(links->config->listen, &links->file);
	if (links->listener < 0)
		return links->listener;
	links->spare = listener_spare(links->listener);
	return epoll_ctl(links->epoll, EPOLL_CTL_ADD, links->listener, &event) ? -errno : 0;
}

int soft_links_open(struct soft *soft, const struct backend_soft_config *config)
{
	struct soft_links *links;
	unsigned int i;
	int err;

	if (!config || (!config->listen && !config->n_join))
		return 0;
	links = calloc(1, sizeof(*links));
	if (!links)
		return -ENOMEM;
	soft->links = links;
	TAILQ_INIT(&links->links);
	for (i = 0; i < LINK_GID_LISTS; i++)
		TAILQ_INIT(&links->gids[i]);
	links->soft = soft;
	links->config = config;
	links->listener = links->spare = -1;
	links->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = links->epoll < 0 || getrandom(links->hash, sizeof(links->hash), 0) < 0 ?
	      -errno : open_listener(links);
	for (i = 0; i < config->n_join && !err; i++)
		err = add_link(links, config->join[i]) ? 0 : -ENOMEM;
	if (err)
		soft_links_close(soft);
	return err;
}

void soft_links_close(struct soft *soft)
{
	struct soft_links *links = soft->links;
	struct soft_link *link;

	if (!links)
		return;
	while ((link = TAILQ_FIRST(&links->links)))
		remove_link(links, link);
	if (links->spare >= 0)
		close(links->spare);
	if (links->listener >= 0 && strchr(links->config->listen, '/'))
		listener_unlink(links->config->listen, &links->file);
	if (links->listener >= 0)
		close(links->listener);
	if (links->epoll >= 0)
		close(links->epoll);
	free(links);
	soft->links = NULL;
}
