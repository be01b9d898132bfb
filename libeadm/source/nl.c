// SPDX-License-Identifier: LGPL-2.1-or-later
/* Netlink requests to this machine. Only this file and route.c use libmnl. */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "message.h"
#include "nl.h"

/*
 * The kernel sends dumps in packets of up to 32 KiB if the receiver offers that much
 * space, and allocates and clears that much for each packet, even for one that only marks
 * the end. Therefore, only long dumps offer that much space. No other response has
 * packets longer than the small size, which is two pages minus the kernel's overhead. The
 * kernel remembers the largest receive size of each socket: after a long dump, a socket
 * cannot be used for small packets.
 */
#define PACKET_SIZE 65536
#define SMALL_PACKET (8192 - 320)
#define SMALL_PACKETS 8
/*
 * A dump that ends within this many packets is held back until it is known to be
 * consistent, and is read again if it is not.
 */
#define HELD_PACKETS 32
#define MAX_TRIES 4
/* Most responses are one packet plus one that marks the end. */
#define SPARE_PACKETS 2
/* Messages of a multicast group carry one event at a time. */
#define NEWS_SIZE 8192

struct eadm_nl {
	struct eadm_ctx *ctx;
	struct mnl_socket *idle_genl;
	struct mnl_socket *idle_rdma;
	unsigned int timeout_ms;	/* timeout set on the idle sockets */
	uint32_t seq;
};

struct packet {
	void *data;
	size_t len;
	uint64_t time;
};

struct nl_stream {
	struct eadm_stream stream;
	struct eadm_nl *nl;
	struct eadm_query query;
	struct mnl_socket *sock;
	bool complete;		/* the last packet of the response has arrived */
	bool torn;
	bool read;		/* the held packets are complete */
	bool large;		/* large packets were received on the socket */
	unsigned int received;
	unsigned int n_held, next;
	struct packet held[HELD_PACKETS];
};

/* Messages of a multicast group. */
struct news_stream {
	struct eadm_stream stream;
	struct eadm_ctx *ctx;
	struct eadm_query query;
	struct mnl_socket *sock;
	_Alignas(8) unsigned char packet[NEWS_SIZE];
};

/* ---- sockets --------------------------------------------------------------- */

static struct mnl_socket **idle_socket(struct eadm_nl *nl, int proto)
{
	return proto == NETLINK_GENERIC ? &nl->idle_genl : &nl->idle_rdma;
}

static void close_idle(struct eadm_nl *nl)
{
	if (nl->idle_genl)
		mnl_socket_close(nl->idle_genl);
	if (nl->idle_rdma)
		mnl_socket_close(nl->idle_rdma);
	nl->idle_genl = NULL;
	nl->idle_rdma = NULL;
}

static struct mnl_socket *open_socket(struct eadm_nl *nl, int proto)
{
	struct mnl_socket **idle = idle_socket(nl, proto), *sock;
	unsigned int ms = nl->ctx->timeout_ms;
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };
	int one = 1, err;

	if (ms != nl->timeout_ms)
		close_idle(nl);
	nl->timeout_ms = ms;
	sock = *idle;
	*idle = NULL;
	if (sock)
		return sock;
	sock = mnl_socket_open2(proto, SOCK_CLOEXEC);
	if (!sock)
		return NULL;
	if (mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0) {
		err = errno;
		mnl_socket_close(sock);
		errno = err;
		return NULL;
	}
	/*
	 * Older kernels may reject this option; errors then have no text from the
	 * kernel.
	 */
	mnl_socket_setsockopt(sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(sock, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(mnl_socket_get_fd(sock), SOL_SOCKET, SO_RCVTIMEO, &tv,
		   sizeof(tv));
	return sock;
}

/* Request numbers are never reused, so that they identify requests in a capture. */
uint32_t eadm_nl_seq(struct eadm_nl *nl)
{
	return ++nl->seq;
}

static int send_request(struct nl_stream *s)
{
	_Alignas(8) unsigned char buf[EADM_REQUEST_MAX];
	struct eadm_bytes msg = {
		.p = buf, .max = sizeof(buf), .fixed = true,
	};

	s->stream.seq = eadm_nl_seq(s->nl);
	s->complete = false;
	s->torn = false;
	s->received = 0;
	s->n_held = 0;
	s->next = 0;
	eadm_message_query(&msg, &s->query, s->stream.seq);
	if (msg.fail)
		return eadm_fail(s->nl->ctx, -EMSGSIZE,
				 "the request is too long");
	if (mnl_socket_sendto(s->sock, msg.p, msg.len) < 0)
		return eadm_fail(s->nl->ctx, -errno, "netlink: %s",
				 strerror(errno));
	return 0;
}

/* ---- responses ------------------------------------------------------------- */

/* Examine the headers of a packet to see if the response is complete and consistent. */
static void scan(struct nl_stream *s, const void *data, size_t len)
{
	const struct nlmsghdr *nlh = data;
	int left = len;

	for (; mnl_nlmsg_ok(nlh, left); nlh = mnl_nlmsg_next(nlh, &left)) {
		if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
			s->torn = true;
		if (nlh->nlmsg_type == NLMSG_NOOP)
			continue;
		if (nlh->nlmsg_type == NLMSG_ERROR ||
		    nlh->nlmsg_type == NLMSG_DONE ||
		    !(nlh->nlmsg_flags & NLM_F_MULTI))
			s->complete = true;
	}
}

/*
 * Spare memory for packets, or NULL. free() would return memory of this size to the
 * kernel each time. All contexts share it: programs that have a context for each device
 * read one device after the other.
 */
static _Atomic(void *) spare[SPARE_PACKETS];

static void *packet_new(void)
{
	unsigned int i;
	void *data;

	for (i = 0; i < SPARE_PACKETS; i++) {
		data = atomic_exchange(&spare[i], NULL);
		if (data)
			return data;
	}
	return malloc(PACKET_SIZE);
}

static void packet_free(void *data)
{
	unsigned int i;
	void *none;

	for (i = 0; data && i < SPARE_PACKETS; i++) {
		none = NULL;
		if (atomic_compare_exchange_strong(&spare[i], &none, data))
			return;
	}
	free(data);
}

/* Called when the library is unloaded. */
__attribute__((destructor)) static void free_spare(void)
{
	unsigned int i;

	for (i = 0; i < SPARE_PACKETS; i++)
		free(atomic_exchange(&spare[i], NULL));
}

static int receive(struct nl_stream *s, struct packet *packet)
{
	struct eadm_ctx *ctx = s->nl->ctx;
	const struct nlmsghdr *nlh;
	size_t most;
	ssize_t len;

	if (!packet->data) {
		packet->data = packet_new();
		if (!packet->data)
			return eadm_oom(ctx);
	}
	nlh = packet->data;
	s->large |= s->received >= SMALL_PACKETS;
	most = s->large ? PACKET_SIZE : SMALL_PACKET;
	for (;;) {
		len = mnl_socket_recvfrom(s->sock, packet->data, most);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return eadm_fail(ctx, -ETIMEDOUT,
					 "no reply from the kernel within %u ms",
					 ctx->timeout_ms);
		if (len < 0)
			return eadm_fail(ctx, -errno, "netlink: %s",
					 strerror(errno));
		/*
		 * Messages with a different number are the rest of an abandoned
		 * response.
		 */
		if (mnl_nlmsg_ok(nlh, len) && nlh->nlmsg_seq == s->stream.seq)
			break;
	}
	s->received++;
	packet->len = len;
	packet->time = eadm_now(ctx);
	scan(s, packet->data, len);
	return 0;
}

static int hold_packets(struct nl_stream *s)
{
	unsigned int tries;
	int ret;

	for (tries = 1;; tries++) {
		while (!s->complete && s->n_held < HELD_PACKETS) {
			ret = receive(s, &s->held[s->n_held]);
			if (ret)
				return ret;
			s->n_held++;
		}
		if (!s->torn || tries == MAX_TRIES)
			return 0;
		eadm_log(s->nl->ctx, EADM_LOG_DEBUG,
			 "objects changed while being read; reading again");
		while (!s->complete) {
			ret = receive(s, &s->held[0]);
			if (ret)
				return ret;
		}
		ret = send_request(s);
		if (ret)
			return ret;
	}
}

static int nl_next(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct nl_stream *s = (struct nl_stream *)stream;
	struct packet *packet;
	int ret;

	if (!s->read) {
		s->read = true;
		ret = hold_packets(s);
		if (ret)
			return ret;
	}
	if (s->next < s->n_held) {
		packet = &s->held[s->next++];
	} else {
		if (s->complete)
			return 0;
		packet = &s->held[0];
		ret = receive(s, packet);
		if (ret)
			return ret;
	}
	chunk->data = packet->data;
	chunk->len = packet->len;
	chunk->time = packet->time;
	chunk->offset = 0;
	return 1;
}

static void nl_end(struct eadm_stream *stream)
{
	struct nl_stream *s = (struct nl_stream *)stream;
	struct mnl_socket **idle = idle_socket(s->nl, s->query.proto);
	unsigned int i;

	/*
	 * A socket with an incomplete response, or one used for large packets, cannot
	 * be reused.
	 */
	if (s->complete && !s->large && !*idle)
		*idle = s->sock;
	else
		mnl_socket_close(s->sock);
	for (i = 0; i < HELD_PACKETS; i++)
		packet_free(s->held[i].data);
	free(s);
}

static const struct eadm_stream_ops nl_stream_ops = {
	.next = nl_next,
	.end = nl_end,
};

int eadm_nl_query(struct eadm_nl *nl, const struct eadm_query *query,
		  struct eadm_stream **stream)
{
	struct nl_stream *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return eadm_oom(nl->ctx);
	s->stream.ops = &nl_stream_ops;
	s->stream.fd = -1;
	s->nl = nl;
	s->query = *query;
	s->sock = open_socket(nl, query->proto);
	if (!s->sock) {
		ret = eadm_fail(nl->ctx, -errno, "%s netlink: %s",
				query->proto == NETLINK_RDMA ? "RDMA" :
							       "generic",
				strerror(errno));
		free(s);
		return ret;
	}
	ret = send_request(s);
	if (ret) {
		mnl_socket_close(s->sock);
		free(s);
		return ret;
	}
	*stream = &s->stream;
	return 0;
}

/* ---- groups ---------------------------------------------------------------- */

/* Returns true if the message is one of the requested messages. */
static bool is_news(const struct news_stream *s, const struct nlmsghdr *nlh,
		    size_t len)
{
	return len >= NLMSG_LENGTH(GENL_HDRLEN) && nlh->nlmsg_len <= len &&
	       nlh->nlmsg_type == s->query.type &&
	       *(uint8_t *)NLMSG_DATA(nlh) == s->query.cmd;
}

static int news_next(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct news_stream *s = (struct news_stream *)stream;
	struct nlmsghdr *nlh = (void *)s->packet;
	ssize_t len;

	do {
		len = recv(stream->fd, s->packet, sizeof(s->packet),
			   MSG_DONTWAIT);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return -EAGAIN;
		if (len < 0)
			return eadm_fail(s->ctx, -errno, "generic netlink: %s",
					 strerror(errno));
	} while (len < 0 || !is_news(s, nlh, len));
	/*
	 * Make the message part of a longer response, so that a capture contains all
	 * messages.
	 */
	nlh->nlmsg_seq = stream->seq;
	nlh->nlmsg_flags |= NLM_F_MULTI;
	*chunk = (struct eadm_chunk){
		.data = nlh, .len = len, .time = eadm_now(s->ctx),
	};
	return 1;
}

static void news_end(struct eadm_stream *stream)
{
	struct news_stream *s = (struct news_stream *)stream;

	mnl_socket_close(s->sock);
	free(s);
}

static const struct eadm_stream_ops news_ops = {
	.next = news_next,
	.end = news_end,
};

int eadm_nl_listen(struct eadm_nl *nl, const struct eadm_query *query,
		   uint32_t group, struct eadm_stream **stream)
{
	struct news_stream *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return eadm_oom(nl->ctx);
	s->stream.ops = &news_ops;
	s->stream.seq = eadm_nl_seq(nl);
	s->ctx = nl->ctx;
	s->query = *query;
	s->sock = mnl_socket_open2(query->proto, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (s->sock && mnl_socket_bind(s->sock, 0, MNL_SOCKET_AUTOPID) >= 0 &&
	    mnl_socket_setsockopt(s->sock, NETLINK_ADD_MEMBERSHIP, &group,
				  sizeof(group)) >= 0) {
		s->stream.fd = mnl_socket_get_fd(s->sock);
		*stream = &s->stream;
		return 0;
	}
	ret = eadm_fail(nl->ctx, -errno, "generic netlink: %s",
			strerror(errno));
	if (s->sock)
		mnl_socket_close(s->sock);
	free(s);
	return ret;
}

/* ---- life ------------------------------------------------------------------ */

struct eadm_nl *eadm_nl_new(struct eadm_ctx *ctx)
{
	struct eadm_nl *nl = calloc(1, sizeof(*nl));

	if (nl)
		nl->ctx = ctx;
	return nl;
}

void eadm_nl_free(struct eadm_nl *nl)
{
	close_idle(nl);
	free(nl);
}
