// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel.h"
#include "memory.h"

#define HEADER sizeof(struct proto_header)
/*
 * Maximum descriptors that wait to be closed while further messages are received: the
 * files of all regions, and some more.
 */
#define SLOW_FDS (MEMORY_MAX_FILES + 15)
/*
 * Most descriptors that one call receives, the kernel's SCM_MAX_FD. With less room, the
 * kernel would close the rest within the call, which may block.
 */
#define MAX_RECEIVED 253

/*
 * The descriptors of a message, those of a part of it that has too many, the socket, and
 * the files of all regions.
 */
_Static_assert(SLOW_FDS + PROTO_MAX_FDS + MAX_RECEIVED + MEMORY_MAX_FILES < DISCARD_MAX,
	       "all descriptors have room");

int channel_init(struct channel *channel)
{
	memset(channel, 0, sizeof(*channel));
	channel->fd = -1;
	channel->in = malloc(HEADER + PROTO_MAX_BODY);
	channel->out = malloc(HEADER + PROTO_MAX_BODY);
	if (!channel->in || !channel->out)
		return -ENOMEM;
	channel->discard = discard_open();
	return channel->discard ? 0 : -errno;
}

void channel_exit(struct channel *channel)
{
	channel_close(channel);
	discard_close(channel->discard);
	free(channel->in);
	free(channel->out);
}

void channel_open(struct channel *channel, int fd)
{
	channel->fd = fd;
}

void channel_close(struct channel *channel)
{
	channel_next(channel);
	channel->out_size = 0;
	channel->out_done = 0;
	/* Messages that were not received may contain descriptors. */
	if (channel->fd >= 0)
		discard_socket(channel->discard, channel->fd);
	channel->fd = -1;
}

void channel_next(struct channel *channel)
{
	unsigned int i;

	for (i = 0; i < channel->fd_count; i++) {
		if (channel->fds[i] >= 0)
			discard_fd(channel->discard, channel->fds[i]);
	}
	channel->fd_count = 0;
	channel->fds_lost = false;
	channel->have = 0;
}

bool channel_blocked(const struct channel *channel)
{
	return discard_pending(channel->discard) > SLOW_FDS;
}

int channel_take_fd(struct channel *channel, unsigned int index)
{
	int fd = channel->fds[index];

	channel->fds[index] = -1;
	return fd;
}

/*
 * Receives all descriptors, even if there are too many, so that none is leaked. Returns
 * false if the client sent too many.
 */
static bool keep_fds(struct channel *channel, struct msghdr *msg)
{
	struct cmsghdr *cmsg;
	bool fit = true;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		size_t count, i;

		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(fd), sizeof(fd));
			if (channel->fd_count < PROTO_MAX_FDS) {
				channel->fds[channel->fd_count++] = fd;
			} else {
				discard_fd(channel->discard, fd);
				fit = false;
			}
		}
	}
	/* The room is always enough, so this process has reached its limit of descriptors. */
	if (msg->msg_flags & MSG_CTRUNC)
		channel->fds_lost = true;
	return fit;
}

/*
 * Reads up to @want bytes of the message, never beyond it: descriptors arrive with the
 * bytes with which they were sent, and thus belong to this message.
 */
static int read_until(struct channel *channel, size_t want, const char **why)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(MAX_RECEIVED * sizeof(int))];
	} control;

	while (channel->have < want) {
		struct iovec iov = { channel->in + channel->have, want - channel->have };
		struct msghdr msg = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control),
		};
		ssize_t got = recvmsg(channel->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

		if (got < 0) {
			if (errno == EINTR)
				continue;
			return errno == EAGAIN ? 0 : -EPIPE;
		}
		if (!keep_fds(channel, &msg)) {
			*why = "too many file descriptors for one message";
			return -EBADMSG;
		}
		if (!got) {
			if (!channel->have)
				return -EPIPE;
			*why = "connection closed within a message";
			return -EBADMSG;
		}
		channel->have += got;
	}
	return 1;
}

int channel_receive(struct channel *channel, const char **why)
{
	const struct proto_header *header = channel_header(channel);
	int ret;

	if (channel_blocked(channel)) {
		*why = "too many file descriptors that take long to close; "
		       "no session can begin until they are closed";
		return -EBADMSG;
	}
	ret = read_until(channel, HEADER, why);
	if (ret <= 0)
		return ret;
	if (header->size < HEADER) {
		*why = "message shorter than its header";
		return -EBADMSG;
	}
	if (header->size > HEADER + PROTO_MAX_BODY) {
		*why = "message too long";
		return -EBADMSG;
	}
	return read_until(channel, header->size, why);
}

void channel_reply(struct channel *channel, size_t size, int error)
{
	const struct proto_header *in = channel_header(channel);
	struct proto_header out = {
		.id = in->id,
		.command = in->command,
		.size = HEADER + (error ? 0 : size),
		.flags = PROTO_TYPE_REPLY | (error ? PROTO_ERROR : 0),
		.error = error,
	};

	memcpy(channel->out, &out, sizeof(out));
	channel->out_size = out.size;
	channel->out_done = 0;
}

int channel_flush(struct channel *channel)
{
	while (channel->out_done < channel->out_size) {
		ssize_t put = send(channel->fd, channel->out + channel->out_done,
				   channel->out_size - channel->out_done,
				   MSG_DONTWAIT | MSG_NOSIGNAL);

		if (put < 0) {
			if (errno == EINTR)
				continue;
			return errno == EAGAIN ? 0 : -EPIPE;
		}
		channel->out_done += put;
	}
	return 1;
}
