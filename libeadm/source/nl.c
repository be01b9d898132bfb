// SPDX-License-Identifier: LGPL-2.1-or-later
/* The live source: netlink of this machine. Nothing else knows libmnl. */
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "node.h"

/* The kernel answers dumps in packets of up to 32 KiB to who can take them. */
#define PACKET_SIZE 65536
/*
 * A dump that ends within this many packets is held back until it is known to
 * be consistent, and is read again if it is not.
 */
#define HELD_PACKETS 32
#define MAX_TRIES 4
#define COMM_CACHE 64
/* Names change, numbers are given anew: so long a name is worth keeping. */
#define COMM_NS 1000000000ULL

struct live_comm {
	uint32_t pid;
	uint64_t time;
	char name[32];
};

struct live_source {
	struct eadm_source src;
	struct mnl_socket *idle_genl;
	struct mnl_socket *idle_rdma;
	unsigned int timeout_ms;	/* of the idle sockets */
	uint32_t seq;
	struct live_comm comm[COMM_CACHE];
	char fact[256];
};

struct live_packet {
	void *data;
	size_t len;
	uint64_t time;
};

struct live_stream {
	struct eadm_stream stream;
	struct eadm_query query;
	struct mnl_socket *sock;
	bool complete;		/* the last packet of the answer is here */
	bool torn;
	bool read;		/* the held packets are there */
	unsigned int n_held, next;
	unsigned char *node;	/* answer of the char device, no socket */
	size_t node_len, node_pos;
	struct live_packet held[HELD_PACKETS];
};

static struct live_source *to_live(struct eadm_source *src)
{
	return (struct live_source *)src;
}

/* ---- requests -------------------------------------------------------------- */

size_t eadm_nl_build(const struct eadm_query *query, uint32_t seq, void *buf)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;
	unsigned int i;

	nlh->nlmsg_type = query->type;
	nlh->nlmsg_flags = NLM_F_REQUEST | (query->dump ? NLM_F_DUMP : 0);
	nlh->nlmsg_seq = seq;
	if (query->proto == NETLINK_GENERIC) {
		genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
		genl->cmd = query->cmd;
		genl->version = 1;
	}
	for (i = 0; i < query->n_args; i++) {
		const struct eadm_arg *arg = &query->args[i];

		switch (arg->type) {
		case EADM_ARG_U32:
			mnl_attr_put_u32(nlh, arg->attr, arg->u);
			break;
		case EADM_ARG_U64:
			mnl_attr_put_u64(nlh, arg->attr, arg->u);
			break;
		case EADM_ARG_STRING:
			mnl_attr_put_strz(nlh, arg->attr, arg->str);
			break;
		default:
			mnl_attr_put(nlh, arg->attr, 0, NULL);
			break;
		}
	}
	return nlh->nlmsg_len;
}

/* ---- sockets --------------------------------------------------------------- */

static struct mnl_socket **idle_socket(struct live_source *live, int proto)
{
	return proto == NETLINK_GENERIC ? &live->idle_genl : &live->idle_rdma;
}

static void close_idle(struct live_source *live)
{
	if (live->idle_genl)
		mnl_socket_close(live->idle_genl);
	if (live->idle_rdma)
		mnl_socket_close(live->idle_rdma);
	live->idle_genl = NULL;
	live->idle_rdma = NULL;
}

static struct mnl_socket *open_socket(struct live_source *live, int proto)
{
	struct mnl_socket **idle = idle_socket(live, proto), *sock;
	unsigned int ms = live->src.ctx->timeout_ms;
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };
	int one = 1, err;

	if (ms != live->timeout_ms)
		close_idle(live);
	live->timeout_ms = ms;
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
	/* Older kernels may refuse; then there are fewer words. */
	mnl_socket_setsockopt(sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(sock, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(mnl_socket_get_fd(sock), SOL_SOCKET, SO_RCVTIMEO, &tv,
		   sizeof(tv));
	return sock;
}

static int send_request(struct live_stream *s)
{
	struct live_source *live = to_live(s->stream.src);
	_Alignas(8) char buf[EADM_REQUEST_MAX] = { 0 };
	size_t len;

	s->stream.seq = ++live->seq;
	s->complete = false;
	s->torn = false;
	s->n_held = 0;
	s->next = 0;
	len = eadm_nl_build(&s->query, s->stream.seq, buf);
	if (mnl_socket_sendto(s->sock, buf, len) < 0)
		return eadm_fail(live->src.ctx, -errno, "netlink: %s",
				 strerror(errno));
	return 0;
}

/*
 * Asking for a family that is not there makes the kernel run modprobe, which
 * takes longer than all else together. Whoever wants the companion loads it.
 */
static bool is_hopeless(const struct eadm_query *query)
{
	return query->proto == NETLINK_GENERIC && query->type == GENL_ID_CTRL &&
	       access("/sys/module/eadm", F_OK);
}

/* Netlink would not know the command: the char device answers. */
static int query_node(struct live_stream *s)
{
	struct eadm_source *src = s->stream.src;

	s->stream.seq = ++to_live(src)->seq;
	return eadm_node_answer(src->ctx, &s->query, s->stream.seq, &s->node,
				&s->node_len);
}

static int live_query(struct eadm_source *src, const struct eadm_query *query,
		      struct eadm_stream **stream)
{
	struct live_stream *s;
	int ret;

	if (is_hopeless(query))
		return eadm_fail(src->ctx, -ENOENT,
				 "module eadm is not loaded");
	s = calloc(1, sizeof(*s));
	if (!s)
		return eadm_fail(src->ctx, -ENOMEM, "out of memory");
	s->stream.src = src;
	s->query = *query;
	if (query->proto == NETLINK_GENERIC && query->cmd == EADM_RAW_CMD) {
		ret = query_node(s);
		if (ret)
			free(s);
		else
			*stream = &s->stream;
		return ret;
	}
	s->sock = open_socket(to_live(src), query->proto);
	if (!s->sock) {
		ret = eadm_fail(src->ctx, -errno, "%s netlink: %s",
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

/* ---- answers --------------------------------------------------------------- */

/* Look at the headers of a packet: is the answer over, was it disturbed? */
static void scan(struct live_stream *s, const void *data, size_t len)
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

static int receive(struct live_stream *s, struct live_packet *packet)
{
	struct eadm_ctx *ctx = s->stream.src->ctx;
	const struct nlmsghdr *nlh;
	ssize_t len;

	if (!packet->data) {
		packet->data = malloc(PACKET_SIZE);
		if (!packet->data)
			return eadm_fail(ctx, -ENOMEM, "out of memory");
	}
	nlh = packet->data;
	for (;;) {
		len = mnl_socket_recvfrom(s->sock, packet->data, PACKET_SIZE);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return eadm_fail(ctx, -ETIMEDOUT,
					 "no answer from the kernel within %u ms",
					 ctx->timeout_ms);
		if (len < 0)
			return eadm_fail(ctx, -errno, "netlink: %s",
					 strerror(errno));
		/* Anything else is the rest of an answer nobody wants. */
		if (mnl_nlmsg_ok(nlh, len) && nlh->nlmsg_seq == s->stream.seq)
			break;
	}
	packet->len = len;
	packet->time = eadm_now(ctx);
	scan(s, packet->data, len);
	return 0;
}

static int hold_packets(struct live_stream *s)
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
		eadm_log(s->stream.src->ctx, "objects changed, reading again");
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

/* A message at a time, as a packet cannot have all of them. */
static int next_of_node(struct live_stream *s, struct eadm_chunk *chunk)
{
	const struct nlmsghdr *nlh = (void *)(s->node + s->node_pos);

	if (s->node_pos == s->node_len)
		return 0;
	chunk->data = nlh;
	chunk->len = nlh->nlmsg_len;
	chunk->time = eadm_now(s->stream.src->ctx);
	chunk->offset = 0;
	s->node_pos += NLMSG_ALIGN(nlh->nlmsg_len);
	return 1;
}

static int live_next(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct live_stream *s = (struct live_stream *)stream;
	struct live_packet *packet;
	int ret;

	if (s->node)
		return next_of_node(s, chunk);
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

static void live_end(struct eadm_stream *stream)
{
	struct live_stream *s = (struct live_stream *)stream;
	struct mnl_socket **idle = idle_socket(to_live(stream->src),
					       s->query.proto);
	unsigned int i;

	/* A socket with half an answer in it is of no more use. */
	if (s->complete && s->sock && !*idle)
		*idle = s->sock;
	else if (s->sock)
		mnl_socket_close(s->sock);
	free(s->node);
	for (i = 0; i < HELD_PACKETS; i++)
		free(s->held[i].data);
	free(s);
}

/* ---- facts ------------------------------------------------------------------ */

static const char *read_fact(struct live_source *live, const char *path)
{
	return eadm_read_line(path, live->fact, sizeof(live->fact)) ?
		       live->fact : NULL;
}

static const char *comm_fact(struct live_source *live, const char *number)
{
	uint32_t pid = strtoul(number, NULL, 10);
	struct live_comm *comm = &live->comm[pid % COMM_CACHE];
	uint64_t now = eadm_now(live->src.ctx);
	const char *name;
	char path[64];

	if (comm->pid != pid || now - comm->time > COMM_NS) {
		snprintf(path, sizeof(path), "/proc/%u/comm", pid);
		name = read_fact(live, path);
		comm->pid = pid;
		comm->time = now;
		snprintf(comm->name, sizeof(comm->name), "%.31s",
			 name ? name : "");
	}
	return comm->name[0] ? comm->name : NULL;
}

static const char *module_fact(struct live_source *live, const char *name)
{
	const char *version;
	char path[128];

	if (strchr(name, '/') || name[0] == '.')
		return NULL;
	snprintf(path, sizeof(path), "/sys/module/%s/version", name);
	version = read_fact(live, path);
	if (version)
		return version;
	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return access(path, F_OK) ? NULL : "";
}

/* Whose a loaded module is, as far as the kernel knows. */
static const char *origin_fact(struct live_source *live, const char *name)
{
	char path[128], source[48], taint[16];
	bool known;

	if (strchr(name, '/') || name[0] == '.')
		return NULL;
	snprintf(path, sizeof(path), "/sys/module/%.64s/taint", name);
	if (!eadm_read_line(path, taint, sizeof(taint)))
		return NULL;
	snprintf(path, sizeof(path), "/sys/module/%.64s/srcversion", name);
	known = eadm_read_line(path, source, sizeof(source)) && *source;
	snprintf(live->fact, sizeof(live->fact), "%s%s%s",
		 strchr(taint, 'O') ? "out of tree" : "the kernel's own",
		 known ? ", srcversion " : "", known ? source : "");
	return live->fact;
}

static const char *link_fact(struct live_source *live, const char *dev,
			     const char *what)
{
	char path[192], to[sizeof(live->fact)];
	const char *base;
	ssize_t len;

	if (strchr(dev, '/') || dev[0] == '.')
		return NULL;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%.64s/%s", dev,
		 what);
	len = readlink(path, to, sizeof(to) - 1);
	if (len < 0)
		return NULL;
	to[len] = '\0';
	base = strrchr(to, '/');
	snprintf(live->fact, sizeof(live->fact), "%s", base ? base + 1 : to);
	return live->fact;
}

/* DEVICE.PORT.COUNTER; the name of a device may have dots in it. */
static const char *port_fact(struct live_source *live, const char *key)
{
	const char *counter = strrchr(key, '.'), *port = counter;
	char path[256];

	while (port > key && *--port != '.')
		;
	if (!counter || port == key || strchr(key, '/') || key[0] == '.')
		return NULL;
	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%.*s/ports/%.*s/counters/%.64s",
		 (int)(port - key), key, (int)(counter - port - 1), port + 1,
		 counter + 1);
	return read_fact(live, path);
}

/* In the first PID namespace of the machine every process has a number. */
static const char *pidns_fact(void)
{
	char to[64];
	ssize_t len = readlink("/proc/self/ns/pid", to, sizeof(to) - 1);

	if (len < 0)
		return NULL;
	to[len] = '\0';
	/* The kernel's PROC_PID_INIT_INO. */
	return strcmp(to, "pid:[4026531836]") ? "other" : "init";
}

static const char *live_fact(struct eadm_source *src, const char *key)
{
	struct live_source *live = to_live(src);
	struct utsname uts;

	if (!strncmp(key, "comm.", 5))
		return comm_fact(live, key + 5);
	if (!strncmp(key, "module.", 7))
		return module_fact(live, key + 7);
	if (!strncmp(key, "origin.", 7))
		return origin_fact(live, key + 7);
	if (!strncmp(key, "driver.", 7))
		return link_fact(live, key + 7, "device/driver");
	if (!strncmp(key, "bus.", 4))
		return link_fact(live, key + 4, "device");
	if (!strncmp(key, "port.", 5))
		return port_fact(live, key + 5);
	if (!strncmp(key, "limits.", 7))
		return eadm_verbs_limits(key + 7, live->fact,
					 sizeof(live->fact)) ?
			       live->fact : NULL;
	if (!strcmp(key, "eadm"))
		return EADM_VERSION;
	if (!strcmp(key, "pidns"))
		return pidns_fact();
	if (eadm_machine_fact(key, live->fact, sizeof(live->fact)))
		return live->fact;
	if (strcmp(key, "kernel") && strcmp(key, "host"))
		return NULL;
	if (uname(&uts))
		return NULL;
	snprintf(live->fact, sizeof(live->fact), "%s",
		 *key == 'k' ? uts.release : uts.nodename);
	return live->fact;
}

static int live_moment_next(struct eadm_source *src)
{
	(void)src;
	return 1;
}

static void live_close(struct eadm_source *src)
{
	struct live_source *live = to_live(src);

	close_idle(live);
	free(live);
}

static const struct eadm_source_ops live_ops = {
	.query = live_query,
	.next = live_next,
	.end = live_end,
	.fact = live_fact,
	.moment_next = live_moment_next,
	.close = live_close,
};

int eadm_live_new(struct eadm_ctx *ctx, struct eadm_source **src)
{
	struct live_source *live = calloc(1, sizeof(*live));

	if (!live)
		return eadm_fail(ctx, -ENOMEM, "out of memory");
	live->src.ops = &live_ops;
	live->src.ctx = ctx;
	*src = &live->src;
	return 0;
}
