/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An authenticated TCP connection between two processes of a mesh. */
#ifndef MESH_CHANNEL_H
#define MESH_CHANNEL_H

#include <sys/socket.h>

#include "message.h"

/* Connections without a hello: how many, and for how long. */
#define CHANNEL_STRANGERS	256
#define CHANNEL_HELLO_NS	3000000000
#define CHANNEL_FULL		"more than %u connections without a valid first message: the oldest ones are closed"
/* Connections to accept before others are served. */
#define CHANNEL_ACCEPTS		64
/* File descriptors of a process besides one for each rank. */
#define CHANNEL_SPARE		(CHANNEL_STRANGERS + 128)

struct secret {
	char bytes[1024];
	size_t len;
};

enum channel_state {
	CHANNEL_CHALLENGED,	/* accepted: the challenge was sent */
	CHANNEL_CONNECTED,	/* no challenge came yet */
	CHANNEL_OPEN,
};

/* The socket does not block. Buffers exist only while they have something in them. */
struct channel {
	int fd;
	struct in6_addr peer;	/* of one that was accepted */
	enum channel_state state;
	struct lane lane;
	uint8_t nonce[FRAME_NONCE];
	uint8_t *in, *out;
	size_t n_in, max_in, taken, n_out;
	bool ended;		/* the other side closed it */
};

/*
 * Functions that return int return 0 or a negative errno. A peer that acknowledges
 * nothing for @patience, in ms, is lost.
 */
int channel_accept(struct channel *ch, int listener, unsigned int patience);
int channel_connect(struct channel *ch, const struct sockaddr_storage *to,
		    unsigned int patience);
void channel_close(struct channel *ch);

/* The result of connecting, when the socket is writable. */
int channel_connected(struct channel *ch);
/* Read what came. -EPIPE: the other side closed it; what it sent before may be taken. */
int channel_fill(struct channel *ch);
/* Connector: 1 when the challenge came and the hello was sent, 0: not yet. */
int channel_greet(struct channel *ch, const struct secret *secret,
		  const struct hello *hello);
/* Acceptor: 1 with a valid hello, 0: not yet, -EACCES: another secret. */
int channel_admit(struct channel *ch, const struct secret *secret,
		  struct hello *hello);
/* The next message: 1, 0: none yet, -EPROTO, -EACCES. Valid until the next call. */
int channel_take(struct channel *ch, struct frame *frame);
/* There must be nothing unsent. */
int channel_send(struct channel *ch, uint8_t kind, const void *data, size_t len);
int channel_flush(struct channel *ch);

static inline bool channel_is_full(const struct channel *ch)
{
	return ch->n_out;
}

/* A socket that listens at @port of all addresses; 0: any port, set in *@port. */
int channel_listen(uint16_t *port);
/* Addresses as IPv6 addresses, which may be mapped IPv4 addresses. */
int channel_local(const struct channel *ch, struct in6_addr *addr);
void channel_address(const struct in6_addr *addr, uint16_t port,
		     struct sockaddr_storage *to);

#endif /* MESH_CHANNEL_H */
