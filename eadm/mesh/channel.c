// SPDX-License-Identifier: GPL-2.0-or-later
#include "channel.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define BACKLOG 4096

/* ---- sockets ------------------------------------------------------------------------- */

static void set(int fd, int level, int option, int value)
{
	setsockopt(fd, level, option, &value, sizeof(value));
}

static void init(struct channel *ch, int fd, enum channel_state state,
		 unsigned int patience)
{
	memset(ch, 0, sizeof(*ch));
	ch->fd = fd;
	ch->state = state;
	if (fd < 0)
		return;
	/* Send short messages at once: both sides of a pair wait for them. */
	set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	/* Detect hosts that lost power, which do not close their connections. */
	set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, patience);
	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 1 + patience / 2000);
	set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1 + patience / 8000);
}

static void to_ipv6(const struct sockaddr_storage *from, struct in6_addr *to)
{
	if (from->ss_family == AF_INET6) {
		*to = ((const struct sockaddr_in6 *)from)->sin6_addr;
		return;
	}
	memset(to, 0, sizeof(*to));
	to->s6_addr[10] = 0xff;
	to->s6_addr[11] = 0xff;
	memcpy(&to->s6_addr[12], &((const struct sockaddr_in *)from)->sin_addr, 4);
}

int channel_accept(struct channel *ch, int listener, unsigned int patience)
{
	uint8_t challenge[CHALLENGE_SIZE];
	struct sockaddr_storage from = { 0 };
	socklen_t len = sizeof(from);
	int fd = accept4(listener, (struct sockaddr *)&from, &len,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);
	int error = errno;

	init(ch, fd, CHANNEL_CHALLENGED, patience);
	if (fd < 0)
		return -error;
	to_ipv6(&from, &ch->peer);
	if (getrandom(ch->nonce, sizeof(ch->nonce), 0) != sizeof(ch->nonce))
		return -EAGAIN;
	challenge_write(ch->nonce, challenge);
	/* A new socket always has room for the challenge. */
	if (send(fd, challenge, sizeof(challenge), MSG_NOSIGNAL) !=
	    sizeof(challenge))
		return -EPIPE;
	return 0;
}

int channel_connect(struct channel *ch, const struct sockaddr_storage *to,
		    unsigned int patience)
{
	int fd = socket(to->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error = errno;

	init(ch, fd, CHANNEL_CONNECTED, patience);
	if (fd < 0)
		return -error;
	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) &&
	    errno != EINPROGRESS)
		return -errno;
	return 0;
}

void channel_close(struct channel *ch)
{
	if (ch->fd >= 0)
		close(ch->fd);
	free(ch->in);
	free(ch->out);
	explicit_bzero(ch, sizeof(*ch));
	ch->fd = -1;
}

int channel_connected(struct channel *ch)
{
	socklen_t len = sizeof(int);
	int error = 0;

	if (getsockopt(ch->fd, SOL_SOCKET, SO_ERROR, &error, &len))
		return -errno;
	return -error;
}

int channel_listen(uint16_t *port)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6,
				     .sin6_port = htons(*port) };
	struct sockaddr_in plain = { .sin_family = AF_INET,
				     .sin_port = htons(*port) };
	struct sockaddr *to = (struct sockaddr *)&addr;
	socklen_t len = sizeof(addr);
	int one = 1, zero = 0, error;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* The host might not support IPv6. */
	if (fd < 0) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		to = (struct sockaddr *)&plain;
		len = sizeof(plain);
	} else {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	}
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, to, len) || listen(fd, BACKLOG) || getsockname(fd, to, &len)) {
		error = errno;
		close(fd);
		return -error;
	}
	/* The port is at the same offset in the addresses of both families. */
	*port = ntohs(((struct sockaddr_in *)to)->sin_port);
	return fd;
}

int channel_local(const struct channel *ch, struct in6_addr *addr)
{
	struct sockaddr_storage local;
	socklen_t len = sizeof(local);

	if (getsockname(ch->fd, (struct sockaddr *)&local, &len))
		return -errno;
	to_ipv6(&local, addr);
	return 0;
}

void channel_address(const struct in6_addr *addr, uint16_t port,
		     struct sockaddr_storage *to)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)to;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;

	memset(to, 0, sizeof(*to));
	if (IN6_IS_ADDR_V4MAPPED(addr)) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		memcpy(&v4->sin_addr, &addr->s6_addr[12], 4);
		return;
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	v6->sin6_addr = *addr;
}

/* ---- reading ------------------------------------------------------------------------- */

static void forget_taken(struct channel *ch)
{
	if (!ch->taken)
		return;
	ch->n_in -= ch->taken;
	memmove(ch->in, ch->in + ch->taken, ch->n_in);
	ch->taken = 0;
	if (ch->n_in)
		return;
	free(ch->in);
	ch->in = NULL;
	ch->max_in = 0;
}

int channel_fill(struct channel *ch)
{
	uint8_t *more;
	ssize_t n;

	forget_taken(ch);
	/* Buffer one message at a time; the rest stays in the socket. */
	if (ch->n_in >= FRAME_ROOM)
		return 0;
	if (ch->max_in < FRAME_ROOM) {
		more = realloc(ch->in, FRAME_ROOM);
		if (!more)
			return -ENOMEM;
		ch->in = more;
		ch->max_in = FRAME_ROOM;
	}
	n = recv(ch->fd, ch->in + ch->n_in, ch->max_in - ch->n_in, 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	ch->ended = !n;
	ch->n_in += n;
	return n ? 0 : -EPIPE;
}

int channel_take(struct channel *ch, struct frame *frame)
{
	forget_taken(ch);
	switch (frame_open(&ch->lane, ch->in, ch->n_in, frame)) {
	case FRAME_OK:
		ch->taken = frame->total;
		return 1;
	case FRAME_MORE:
		return 0;
	case FRAME_FORGED:
		return -EACCES;
	case FRAME_ALIEN:
		break;
	}
	return -EPROTO;
}

/* ---- writing ------------------------------------------------------------------------- */

int channel_flush(struct channel *ch)
{
	ssize_t n;

	if (!ch->n_out)
		return 0;
	n = send(ch->fd, ch->out, ch->n_out, MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	ch->n_out -= n;
	memmove(ch->out, ch->out + n, ch->n_out);
	if (!ch->n_out) {
		free(ch->out);
		ch->out = NULL;
	}
	return 0;
}

static int send_bytes(struct channel *ch, const uint8_t *data, size_t len)
{
	ssize_t n = send(ch->fd, data, len, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	if (n < 0)
		n = 0;
	if ((size_t)n == len)
		return 0;
	ch->n_out = len - n;
	ch->out = malloc(ch->n_out);
	if (!ch->out)
		return -ENOMEM;
	memcpy(ch->out, data + n, ch->n_out);
	return 0;
}

int channel_send(struct channel *ch, uint8_t kind, const void *data, size_t len)
{
	uint8_t buf[FRAME_ROOM];

	return send_bytes(ch, buf, frame_seal(&ch->lane, kind, data, len, buf));
}

/* ---- handshake ----------------------------------------------------------------------- */

int channel_greet(struct channel *ch, const struct secret *secret,
		  const struct hello *hello)
{
	uint8_t theirs[FRAME_NONCE], buf[FRAME_NONCE + FRAME_ROOM];
	uint8_t data[FRAME_MAX];
	size_t len;
	int ret;

	switch (challenge_read(ch->in, ch->n_in, theirs)) {
	case FRAME_OK:
		break;
	case FRAME_MORE:
		return 0;
	default:
		return -EPROTO;
	}
	ch->taken = CHALLENGE_SIZE;
	if (getrandom(ch->nonce, sizeof(ch->nonce), 0) != sizeof(ch->nonce))
		return -EAGAIN;
	lane_init(&ch->lane, secret->bytes, secret->len, theirs, ch->nonce, true);
	memcpy(buf, ch->nonce, FRAME_NONCE);
	len = hello_write(hello, data);
	len = frame_seal(&ch->lane, MESSAGE_HELLO, data, len, buf + FRAME_NONCE);
	ret = send_bytes(ch, buf, FRAME_NONCE + len);
	ch->state = CHANNEL_OPEN;
	return ret ? ret : 1;
}

int channel_admit(struct channel *ch, const struct secret *secret,
		  struct hello *hello)
{
	struct frame frame;
	int ret;

	if (ch->state == CHANNEL_CHALLENGED) {
		if (ch->n_in < FRAME_NONCE)
			return 0;
		lane_init(&ch->lane, secret->bytes, secret->len, ch->nonce,
			  ch->in, false);
		ch->state = CHANNEL_OPEN;
		ch->taken = FRAME_NONCE;
	}
	ret = channel_take(ch, &frame);
	if (ret <= 0)
		return ret;
	return frame.kind == MESSAGE_HELLO &&
	       hello_read(frame.data, frame.len, hello) ? 1 : -EPROTO;
}
