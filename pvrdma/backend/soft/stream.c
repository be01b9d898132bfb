// SPDX-License-Identifier: GPL-2.0-or-later
/* The stream of a link: receiving and sending messages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "link.h"

ssize_t link_receive(struct soft_link *link)
{
	ssize_t got = recv(link->fd, link->in + link->n_in, sizeof(link->in) - link->n_in, 0);

	if (!got)
		return -ECONNRESET;
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	link->n_in += (size_t)got;
	return got;
}

int link_next(const struct soft_link *link, size_t *at, struct link_message *message)
{
	struct wire_head head;

	if (link->n_in - *at < sizeof(head))
		return 0;
	memcpy(&head, link->in + *at, sizeof(head));
	if (head.size > sizeof(link->in) - sizeof(head))
		return -EPROTO;
	if (link->n_in - *at - sizeof(head) < head.size)
		return 0;
	*message = (struct link_message){
		.type = head.type,
		.data = link->in + *at + sizeof(head),
		.size = head.size,
	};
	*at += sizeof(head) + head.size;
	return 1;
}

void link_drop(struct soft_link *link, size_t size)
{
	link->n_in -= size;
	memmove(link->in, link->in + size, link->n_in);
}

static bool make_room(struct soft_link *link, size_t size)
{
	size_t room = link->room ? link->room : WIRE_PIECE;
	unsigned char *out;

	if (link->unsent) {
		link->n_out -= link->unsent;
		link->sent -= link->unsent;
		memmove(link->out, link->out + link->unsent, link->n_out);
		link->unsent = 0;
	}
	while (room < link->n_out + size)
		room *= 2;
	if (room == link->room)
		return true;
	out = realloc(link->out, room);
	if (!out)
		return false;
	link->out = out;
	link->room = room;
	return true;
}

bool soft_link_put(struct soft_link *link, uint8_t type, const void *head, size_t head_size,
		   const void *data, size_t size)
{
	const struct wire_head wire = { .size = (uint32_t)(head_size + size), .type = type };
	size_t all = sizeof(wire) + head_size + size;

	if (link->n_out - link->sent + all > LINK_MAX_OUT)
		return false;
	if (link->n_out + all > link->room && !make_room(link, all))
		return false;
	memcpy(link->out + link->n_out, &wire, sizeof(wire));
	memcpy(link->out + link->n_out + sizeof(wire), head, head_size);
	if (size)
		memcpy(link->out + link->n_out + sizeof(wire) + head_size, data, size);
	link->n_out += all;
	return true;
}

static void count_sent(struct soft_link *link)
{
	struct wire_head head;

	while (link->unsent < link->sent) {
		memcpy(&head, link->out + link->unsent, sizeof(head));
		if (link->sent - link->unsent < sizeof(head) + head.size)
			return;
		link->unsent += sizeof(head) + head.size;
		link->n_answers -= head.type == WIRE_ANSWER;
	}
}

int link_send(struct soft_links *links, struct soft_link *link)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = link };
	bool full = false;
	ssize_t done;

	while (link->sent < link->n_out && !full) {
		done = send(link->fd, link->out + link->sent, link->n_out - link->sent,
			    MSG_NOSIGNAL);
		if (done < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		full = done < 0 && errno == EAGAIN;
		link->sent += done > 0 ? (size_t)done : 0;
	}
	count_sent(link);
	if (link->sent == link->n_out)
		link->sent = link->n_out = link->unsent = 0;
	if (full == link->full)
		return 0;
	link->full = full;
	event.events |= full ? EPOLLOUT : 0;
	return epoll_ctl(links->epoll, EPOLL_CTL_MOD, link->fd, &event) ? -errno : 0;
}
