// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests and responses over the control socket of a program that emulates an adapter.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "eadm_ioctl.h"
#include "link.h"
#include "model/attr.h"
#include "peer_wire.h"
#include "source/message.h"

/*
 * A response of up to this many bytes is held back until it is known to be consistent,
 * and requested again if it is not.
 */
#define HELD_BYTES (1U << 20)
#define MAX_TRIES 4

struct eadm_link {
	struct eadm_ctx *ctx;
	char *path;
	unsigned int users;
	int idle;		/* an unused connection, or -1 */
};

struct link_stream {
	struct eadm_stream stream;
	struct eadm_link *link;
	struct eadm_query query;
	int fd;
	bool endless, begun;
	bool complete, torn;	/* state of the response after the packets so far */
	struct eadm_bytes held;	/* packets, each preceded by its length and aligned */
	size_t pos;
	_Alignas(8) unsigned char packet[EADM_PEER_PACKET_MAX];
};

/* ---- connections ------------------------------------------------------------- */

static int open_socket(struct eadm_link *link)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	unsigned int ms = link->ctx->timeout_ms;
	struct timeval limit = { ms / 1000, ms % 1000 * 1000 };
	int fd, err;

	if (strlen(link->path) >= sizeof(address.sun_path))
		return eadm_fail(link->ctx, -ENAMETOOLONG, "%s: %s", link->path,
				 strerror(ENAMETOOLONG));
	strcpy(address.sun_path, link->path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	/*
	 * The timeout limits the wait while the program accepts other connections first.
	 */
	if (fd >= 0 &&
	    !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) &&
	    !connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = errno == EAGAIN ? ETIMEDOUT : errno;
	if (fd >= 0)
		close(fd);
	/*
	 * The path leads to a different kind of socket, or to a file that is not a
	 * socket.
	 */
	if (err == EPROTOTYPE || err == ENOTSOCK)
		return eadm_fail(link->ctx, -EBADMSG,
				 "%s: not the control socket of an adapter",
				 link->path);
	return eadm_fail(link->ctx, -err, err == ECONNREFUSED ?
			 "%s: no program is listening on this socket" : "%s: %s",
			 link->path, strerror(err));
}

static int take_socket(struct eadm_link *link)
{
	int fd = link->idle;

	link->idle = -1;
	return fd >= 0 ? fd : open_socket(link);
}

static void give_socket(struct eadm_link *link, int fd)
{
	if (link->idle < 0)
		link->idle = fd;
	else
		close(fd);
}

int eadm_link_try(struct eadm_link *link)
{
	int fd = take_socket(link);

	if (fd < 0)
		return fd;
	give_socket(link, fd);
	return 0;
}

static int ms_left(const struct eadm_ctx *ctx, uint64_t begin)
{
	uint64_t gone = (eadm_now(ctx) - begin) / 1000000;

	if (!ctx->timeout_ms)
		return -1;
	return gone < ctx->timeout_ms ? (int)(ctx->timeout_ms - gone) : 0;
}

static int wait_for(struct eadm_link *link, int fd, short events, uint64_t begin)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	int ret;

	do {
		ret = poll(&pfd, 1, ms_left(link->ctx, begin));
	} while (ret < 0 && errno == EINTR);
	return ret > 0 ? 0 :
	       eadm_fail(link->ctx, -ETIMEDOUT,
			 "%s: no reply from the program within %u ms",
			 link->path, link->ctx->timeout_ms);
}

/* A program that is killed with an unread request resets the connection. */
static int gone(struct eadm_link *link, int err)
{
	if (err == EPIPE || err == ECONNRESET)
		err = 0;
	return eadm_fail(link->ctx, err ? -err : -ECONNRESET,
			 "%s: %s", link->path, err ? strerror(err) :
			 "the program has exited, or has too many readers");
}

static int send_message(struct eadm_link *link, int fd, const void *data,
			size_t len)
{
	uint64_t begin = eadm_now(link->ctx);
	int ret;

	while (send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
			return gone(link, errno);
		ret = wait_for(link, fd, POLLOUT, begin);
		if (ret)
			return ret;
	}
	return 0;
}

/* Returns the length of a packet or a negative errno; -EAGAIN only without @wait. */
static ssize_t receive(struct eadm_link *link, int fd, void *data, size_t room,
		       bool wait)
{
	uint64_t begin = eadm_now(link->ctx);
	ssize_t len;
	int ret;

	for (;;) {
		len = recv(fd, data, room, MSG_DONTWAIT | MSG_TRUNC);
		if (len > 0 && (size_t)len <= room)
			return len;
		if (len > 0)
			return eadm_fail(link->ctx, -EBADMSG,
					 "%s: invalid packet of %zd %s", link->path,
					 len, eadm_plural(len, "byte", "bytes"));
		if (!len)
			return gone(link, 0);
		if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
			return gone(link, errno);
		if (!wait)
			return -EAGAIN;
		ret = wait_for(link, fd, POLLIN, begin);
		if (ret)
			return ret;
	}
}

/* ---- responses ---------------------------------------------------------------- */

static int ask(struct link_stream *s)
{
	_Alignas(8) unsigned char buf[EADM_REQUEST_MAX];
	struct eadm_bytes msg = { .p = buf, .max = sizeof(buf), .fixed = true };

	s->complete = s->torn = false;
	s->held.len = 0;
	s->pos = 0;
	eadm_message_query(&msg, &s->query, s->stream.seq);
	if (msg.fail)
		return eadm_fail(s->link->ctx, -EMSGSIZE,
				 "the request is too long");
	return send_message(s->link, s->fd, msg.p, msg.len);
}

/*
 * Examine packets to see if they are messages of the response, and if the response is
 * complete and consistent.
 */
static int scan(struct link_stream *s, size_t len)
{
	const struct nlmsghdr *nlh = (const void *)s->packet;
	size_t left = len;

	while (left >= NLMSG_HDRLEN && nlh->nlmsg_len >= NLMSG_HDRLEN &&
	       nlh->nlmsg_len <= left) {
		if (nlh->nlmsg_seq != s->stream.seq)
			return eadm_fail(s->link->ctx, -EBADMSG,
					 "%s: reply to a different request",
					 s->link->path);
		if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
			s->torn = true;
		if (nlh->nlmsg_type == NLMSG_ERROR ||
		    nlh->nlmsg_type == NLMSG_DONE ||
		    !(nlh->nlmsg_flags & NLM_F_MULTI))
			s->complete = true;
		if (NLMSG_ALIGN(nlh->nlmsg_len) >= left)
			return 0;
		left -= NLMSG_ALIGN(nlh->nlmsg_len);
		nlh = (const void *)((const char *)nlh +
				     NLMSG_ALIGN(nlh->nlmsg_len));
	}
	/* The reader of the messages reports the error. */
	s->complete = true;
	return 0;
}

static ssize_t next_packet(struct link_stream *s, bool wait)
{
	ssize_t len = receive(s->link, s->fd, s->packet, sizeof(s->packet), wait);
	int ret = len > 0 ? scan(s, (size_t)len) : 0;

	return ret ? ret : len;
}

static void hold(struct link_stream *s, size_t len)
{
	uint64_t size = len;

	eadm_bytes_put(&s->held, &size, sizeof(size));
	eadm_bytes_put(&s->held, s->packet, len);
	eadm_message_align(&s->held, s->held.len - len);
	/* Packets begin at multiples of 8. */
	eadm_bytes_put(&s->held, "\0\0\0\0\0\0\0", -s->held.len & 7);
}

static int hold_packets(struct link_stream *s)
{
	unsigned int tries;
	ssize_t len;
	int ret;

	for (tries = 1;; tries++) {
		while (!s->complete && s->held.len < HELD_BYTES) {
			len = next_packet(s, true);
			if (len < 0)
				return (int)len;
			hold(s, (size_t)len);
			if (s->held.fail)
				return eadm_oom(s->link->ctx);
		}
		if (!s->torn || !s->complete || tries == MAX_TRIES)
			return 0;
		eadm_log(s->link->ctx, EADM_LOG_DEBUG,
			 "objects changed while being read; reading again");
		ret = ask(s);
		if (ret)
			return ret;
	}
}

static void give(struct link_stream *s, const void *data, size_t len,
		 struct eadm_chunk *chunk)
{
	*chunk = (struct eadm_chunk){
		.data = data, .len = len, .time = eadm_now(s->link->ctx),
	};
}

static int link_next(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct link_stream *s = (struct link_stream *)stream;
	uint64_t size;
	ssize_t len;
	int ret;

	if (s->endless) {
		len = next_packet(s, false);
		if (len > 0)
			give(s, s->packet, (size_t)len, chunk);
		/* As with a removed device, no more messages follow. */
		return len == -ECONNRESET ? -ENODEV : len < 0 ? (int)len : 1;
	}
	if (!s->begun) {
		s->begun = true;
		ret = hold_packets(s);
		if (ret)
			return ret;
	}
	if (s->pos < s->held.len) {
		memcpy(&size, s->held.p + s->pos, sizeof(size));
		give(s, s->held.p + s->pos + sizeof(size), size, chunk);
		s->pos += sizeof(size) + ((size + 7) & ~(uint64_t)7);
		return 1;
	}
	if (s->complete)
		return 0;
	len = next_packet(s, true);
	if (len > 0)
		give(s, s->packet, (size_t)len, chunk);
	return len < 0 ? (int)len : 1;
}

static void link_end(struct eadm_stream *stream)
{
	struct link_stream *s = (struct link_stream *)stream;

	/* A connection with an incomplete response cannot be reused. */
	if (s->complete && !s->endless)
		give_socket(s->link, s->fd);
	else
		close(s->fd);
	eadm_link_put(s->link);
	free(s->held.p);
	free(s);
}

static const struct eadm_stream_ops link_stream_ops = {
	.next = link_next,
	.end = link_end,
};

static int begin(struct eadm_link *link, const struct eadm_query *query,
		 uint32_t seq, bool endless, struct eadm_stream **stream)
{
	struct link_stream *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return eadm_oom(link->ctx);
	*s = (struct link_stream){
		.stream = { .ops = &link_stream_ops, .seq = seq, .fd = -1 },
		.link = link, .query = *query, .endless = endless,
	};
	s->fd = endless ? open_socket(link) : take_socket(link);
	ret = s->fd < 0 ? s->fd : ask(s);
	/* A kept connection may belong to a program that has ended since. */
	if (ret == -ECONNRESET && !endless) {
		close(s->fd);
		s->fd = open_socket(link);
		ret = s->fd < 0 ? s->fd : ask(s);
	}
	if (ret) {
		if (s->fd >= 0)
			close(s->fd);
		free(s);
		return ret;
	}
	eadm_link_get(link);
	if (endless)
		s->stream.fd = s->fd;
	*stream = &s->stream;
	return 0;
}

int eadm_link_query(struct eadm_link *link, const struct eadm_query *query,
		    uint32_t seq, struct eadm_stream **stream)
{
	return begin(link, query, seq, false, stream);
}

int eadm_link_listen(struct eadm_link *link, const struct eadm_query *query,
		     uint32_t seq, struct eadm_stream **stream)
{
	return begin(link, query, seq, true, stream);
}

/* ---- requests otherwise handled by the char device ----------------------------- */

struct answer {
	const struct nlattr *ring, *data;
	int error;
};

static void parse(const struct nlmsghdr *nlh, struct answer *answer)
{
	struct eadm_attrs attrs = eadm_attr_msg(nlh, GENL_HDRLEN);
	const struct nlmsgerr *err = NLMSG_DATA(nlh);
	const struct nlattr *attr;

	*answer = (struct answer){ .error = -EBADMSG };
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		if (nlh->nlmsg_len >= NLMSG_LENGTH(sizeof(*err)) &&
		    err->error < 0)
			answer->error = err->error;
		return;
	}
	answer->error = 0;
	while (eadm_attr_next(&attrs, &attr) > 0) {
		if (eadm_attr_type(attr) == EADM_PEER_A_STRUCT)
			answer->ring = attr;
		else if (eadm_attr_type(attr) == EADM_PEER_A_DATA)
			answer->data = attr;
	}
}

/*
 * Receive the packet of the response into @packet, which has EADM_PEER_PACKET_MAX
 * bytes.
 */
static int talk(const struct eadm_link_device *dev, uint8_t cmd,
		const struct eadm_ioc_ring *ring, void *packet,
		struct answer *answer)
{
	_Alignas(8) unsigned char buf[EADM_REQUEST_MAX];
	struct eadm_bytes msg = { .p = buf, .max = sizeof(buf), .fixed = true };
	const struct nlmsghdr *nlh = packet;
	size_t at = eadm_message_begin(&msg, EADM_PEER_TYPE, NLM_F_REQUEST, 1);
	int fd = take_socket(dev->link);
	ssize_t len;
	int ret;

	if (fd < 0)
		return fd;
	eadm_message_genl(&msg, cmd);
	eadm_message_put_string(&msg, EADM_PEER_A_DEVICE, dev->name);
	if (ring)
		eadm_message_put(&msg, EADM_PEER_A_STRUCT, ring, sizeof(*ring));
	eadm_message_end(&msg, at);
	ret = msg.fail ? -EMSGSIZE :
			 send_message(dev->link, fd, msg.p, msg.len);
	len = ret ? ret : receive(dev->link, fd, packet, EADM_PEER_PACKET_MAX,
				  true);
	if (len < NLMSG_HDRLEN || nlh->nlmsg_len < NLMSG_HDRLEN ||
	    nlh->nlmsg_len > (size_t)len) {
		close(fd);
		return len < 0 ? (int)len : -EBADMSG;
	}
	give_socket(dev->link, fd);
	parse(nlh, answer);
	return answer->error;
}

static int read_ring(const struct eadm_link_device *dev,
		     struct eadm_ioc_ring *ring, void *packet)
{
	struct eadm_ioc_ring question = *ring;
	size_t room = ring->data_len, len;
	uint64_t data = ring->data;
	struct answer answer;
	int ret;

	question.data = 0;
	ret = talk(dev, EADM_PEER_RING, &question, packet, &answer);
	if (ret)
		return ret;
	if (!answer.ring || !answer.data ||
	    eadm_attr_len(answer.ring) != sizeof(*ring))
		return -EBADMSG;
	memcpy(ring, eadm_attr_data(answer.ring), sizeof(*ring));
	len = eadm_attr_len(answer.data);
	ring->data = data;
	if (len > room || len != ring->data_len || !ring->entry_size ||
	    len != (uint64_t)ring->count * ring->entry_size)
		return -EBADMSG;
	if (len)
		memcpy((void *)(uintptr_t)data, eadm_attr_data(answer.data), len);
	return 0;
}

static int read_regs(const struct eadm_link_device *dev,
		     struct eadm_ioc_regs *regs, void *packet)
{
	struct answer answer;
	int ret = talk(dev, EADM_PEER_REGS, NULL, packet, &answer);
	size_t n;

	if (ret)
		return ret;
	if (!answer.data)
		return -EBADMSG;
	n = eadm_attr_len(answer.data) / sizeof(struct eadm_ioc_reg);
	memcpy((void *)(uintptr_t)regs->data, eadm_attr_data(answer.data),
	       (n < regs->count ? n : regs->count) *
		       sizeof(struct eadm_ioc_reg));
	regs->count = n;
	return 0;
}

int eadm_link_ioctl(void *data, unsigned long request, void *arg)
{
	const struct eadm_link_device *dev = data;
	void *packet = malloc(EADM_PEER_PACKET_MAX);
	int ret = -EOPNOTSUPP;

	if (!packet)
		ret = -ENOMEM;
	else if (request == EADM_IOC_RING)
		ret = read_ring(dev, arg, packet);
	else if (request == EADM_IOC_REGS)
		ret = read_regs(dev, arg, packet);
	free(packet);
	errno = -ret;
	return ret ? -1 : 0;
}

/* ---- life ------------------------------------------------------------------------ */

struct eadm_link *eadm_link_new(struct eadm_ctx *ctx, const char *path)
{
	struct eadm_link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->ctx = ctx;
	link->idle = -1;
	link->users = 1;
	link->path = strdup(path);
	if (link->path)
		return link;
	free(link);
	return NULL;
}

struct eadm_link *eadm_link_get(struct eadm_link *link)
{
	link->users++;
	return link;
}

void eadm_link_put(struct eadm_link *link)
{
	if (!link || --link->users)
		return;
	if (link->idle >= 0)
		close(link->idle);
	free(link->path);
	free(link);
}

const char *eadm_link_path(const struct eadm_link *link)
{
	return link->path;
}
