/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole messages with their descriptors, over a stream socket that never blocks. */
#ifndef VFIO_CHANNEL_H
#define VFIO_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "discard.h"
#include "proto.h"

struct channel {
	/* -1: closed. */
	int fd;
	/* The message being received, header first, and the number of bytes received. */
	unsigned char *in;
	size_t have;
	/* Descriptors received with the message; -1: taken. */
	int fds[PROTO_MAX_FDS];
	unsigned int fd_count;
	/* This process has too many descriptors, so that some of the message are missing. */
	bool fds_lost;
	/*
	 * The reply being sent. There is at most one reply: no message is read until the
	 * reply is sent.
	 */
	unsigned char *out;
	size_t out_size, out_done;
	/* Closes what the peer has sent. */
	struct discard *discard;
};

int channel_init(struct channel *channel);
void channel_exit(struct channel *channel);

/* Takes ownership of @fd. */
void channel_open(struct channel *channel, int fd);
/* Drops messages in progress. */
void channel_close(struct channel *channel);

/*
 * Returns 1 if a message is in @in, until channel_next(); 0 if there is none yet; -EPIPE
 * if the peer has disconnected; -EBADMSG if it violated the protocol, as described by
 * *@why.
 */
int channel_receive(struct channel *channel, const char **why);
/* Frees the message, and closes descriptors that were not taken. */
void channel_next(struct channel *channel);
/*
 * The peer has sent descriptors that take long to close. Until that is done, it must not
 * be able to send more.
 */
bool channel_blocked(const struct channel *channel);

static inline struct proto_header *channel_header(struct channel *channel)
{
	return (struct proto_header *)(void *)channel->in;
}

static inline void *channel_body(struct channel *channel)
{
	return channel->in + sizeof(struct proto_header);
}

/* Returns the buffer for the body of the reply, PROTO_MAX_BODY bytes. */
static inline void *channel_reply_body(struct channel *channel)
{
	return channel->out + sizeof(struct proto_header);
}

/* Returns a descriptor, which the caller then owns. It must not block when it is closed. */
int channel_take_fd(struct channel *channel, unsigned int index);

/*
 * Replies to the message in @in with a body of @size bytes, or with an error (a positive
 * errno), which has no body.
 */
void channel_reply(struct channel *channel, size_t size, int error);
/*
 * Returns 1 if everything was sent, 0 if the peer must read before more can be sent, or
 * -EPIPE.
 */
int channel_flush(struct channel *channel);

#endif /* VFIO_CHANNEL_H */
