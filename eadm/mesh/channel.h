/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An authenticated TCP connection between two processes of a mesh. */
#ifndef MESH_CHANNEL_H
#define MESH_CHANNEL_H

#include <sys/socket.h>

#include "message.h"

/* Limits for connections without a hello: number and time. */
#define CHANNEL_STRANGERS	256
#define CHANNEL_HELLO_NS	3000000000
#define CHANNEL_FULL		"more than %u connections without a valid first message: the oldest ones are closed"
/* Connections to accept in a row before existing connections are served. */
#define CHANNEL_ACCEPTS		64
/* File descriptors that a process needs in addition to one for each rank. */
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
	bool ended;		/* the peer closed the connection */
};

/*
 * Functions that return int return 0 or a negative errno. A connection counts as lost
 * if the peer acknowledges nothing for @patience ms.
 */
int channel_accept(struct channel *ch, int listener, unsigned int patience);
int channel_connect(struct channel *ch, const struct sockaddr_storage *to,
		    unsigned int patience);
void channel_close(struct channel *ch);

/* Returns the result of connecting, once the socket is writable. */
int channel_connected(struct channel *ch);
/*
 * Reads the available data. Returns -EPIPE if the peer has closed the connection;
 * earlier messages can still be taken.
 */
int channel_fill(struct channel *ch);
/*
 * For the connecting side: returns 0 until the challenge has arrived, then sends the
 * hello and returns 1.
 */
int channel_greet(struct channel *ch, const struct secret *secret,
		  const struct hello *hello);
/*
 * For the accepting side: returns 1 for a valid hello, 0 until it has arrived, and
 * -EACCES if the peer has a different secret.
 */
int channel_admit(struct channel *ch, const struct secret *secret,
		  struct hello *hello);
/*
 * Returns 1 with the next message, which is valid until the next call; 0 if it is not
 * complete yet; -EPROTO if it is invalid; -EACCES if its digest is wrong.
 */
int channel_take(struct channel *ch, struct frame *frame);
/* All earlier data must have been sent. */
int channel_send(struct channel *ch, uint8_t kind, const void *data, size_t len);
int channel_flush(struct channel *ch);

static inline bool channel_is_full(const struct channel *ch)
{
	return ch->n_out;
}

/* Listens on *@port on all addresses; 0: any port, which is stored in *@port. */
int channel_listen(uint16_t *port);
/* @addr is an IPv6 address or an IPv4-mapped IPv6 address. */
int channel_local(const struct channel *ch, struct in6_addr *addr);
void channel_address(const struct in6_addr *addr, uint16_t port,
		     struct sockaddr_storage *to);

#endif /* MESH_CHANNEL_H */
