/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An authenticated TCP connection between two processes of a mesh. */
#ifndef MESH_CHANNEL_H
#define MESH_CHANNEL_H

#include <sys/socket.h>

#include "message.h"

/* Limits for connections without a hello: their number, and their time. */
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
	CHANNEL_CONNECTED,	/* waiting for the challenge */
	CHANNEL_OPEN,
};

/* The socket is nonblocking. Buffers are allocated only while they contain data. */
struct channel {
	int fd;
	struct in6_addr peer;	/* if the connection was accepted */
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
/*
 * Read the available data. -EPIPE: closed by the peer; earlier messages can still be
 * taken.
 */
int channel_fill(struct channel *ch);
/*
 * Connector: returns 1 once the challenge has arrived and the hello was sent, before
 * that 0.
 */
int channel_greet(struct channel *ch, const struct secret *secret,
		  const struct hello *hello);
/*
 * Acceptor: returns 1 for a valid hello, 0 before it arrives, -EACCES for a different
 * secret.
 */
int channel_admit(struct channel *ch, const struct secret *secret,
		  struct hello *hello);
/*
 * Returns 1 with the next message, valid until the next call; 0 if there is none yet;
 * -EPROTO; -EACCES.
 */
int channel_take(struct channel *ch, struct frame *frame);
/* All earlier data must have been sent. */
int channel_send(struct channel *ch, uint8_t kind, const void *data, size_t len);
int channel_flush(struct channel *ch);

static inline bool channel_is_full(const struct channel *ch)
{
	return ch->n_out;
}

/* Listens at @port of all addresses; 0: any port, which is stored in *@port. */
int channel_listen(uint16_t *port);
/* Addresses as IPv6 addresses, which may be mapped IPv4 addresses. */
int channel_local(const struct channel *ch, struct in6_addr *addr);
void channel_address(const struct in6_addr *addr, uint16_t port,
		     struct sockaddr_storage *to);

#endif /* MESH_CHANNEL_H */
