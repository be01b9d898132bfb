// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events of the companion's multicast group, live or from a capture. */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "model/attr.h"
#include "eadm_nl.h"
#include "priv.h"

#define PACKET_SIZE 8192

struct eadm_events {
	struct eadm_ctx *ctx;
	int fd;				/* -1: from a capture */
	uint16_t family;
	uint64_t lost;
	struct eadm_query query;
	struct eadm_reply reply;	/* of a capture */
	struct eadm_record rec;
	_Alignas(8) unsigned char packet[PACKET_SIZE];
};

static const struct eadm_object *event_object(void)
{
	return &eadm_spec_objects[EADM_SPEC_OBJ_EVENT];
}

/* ---- the group --------------------------------------------------------------- */

static int listen_live(struct eadm_events *events)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	struct eadm_ctx *ctx = events->ctx;
	uint32_t group;
	int ret;

	ret = eadm_devices_load(ctx);
	if (ctx->devices.family_err)
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "the companion module eadm.ko is not loaded");
	if (ret)
		return ret;
	group = ctx->devices.events;
	if (!group)
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "the companion module eadm.ko tells no events");
	events->fd = socket(AF_NETLINK,
			    SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			    NETLINK_GENERIC);
	if (events->fd < 0 ||
	    bind(events->fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(events->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group,
		       sizeof(group)))
		return eadm_fail(ctx, -errno, "generic netlink: %s",
				 strerror(errno));
	return 0;
}

static void make_query(struct eadm_events *events)
{
	events->query = (struct eadm_query){
		.proto = NETLINK_GENERIC,
		.type = events->ctx->devices.family,
		.cmd = EADM_CMD_EVENT_NTF,
		.dump = true,
	};
}

static int open_recorded(struct eadm_events *events)
{
	struct eadm_ctx *ctx = events->ctx;
	int ret;

	ret = eadm_devices_load(ctx);
	if (!ret && ctx->devices.family_err)
		ret = -ENODATA;
	if (!ret) {
		make_query(events);
		ret = eadm_reply_open(ctx, &events->query, &events->reply);
	}
	if (ret == -ENODATA)
		eadm_fail(ctx, -EOPNOTSUPP,
			  "the capture has no events ('eadm events --save' makes one)");
	return ret == -ENODATA ? -EOPNOTSUPP : ret;
}

EADM_API int eadm_events_open(struct eadm_ctx *ctx, struct eadm_events **events)
{
	struct eadm_events *e = calloc(1, sizeof(*e));
	int ret;

	if (!e)
		return eadm_fail(ctx, -ENOMEM, "out of memory");
	e->ctx = ctx;
	e->fd = -1;
	ret = ctx->live ? listen_live(e) : open_recorded(e);
	if (!ret && ctx->live) {
		make_query(e);
		/* What comes is the answer to this, in a capture. */
		if (ctx->capture)
			eadm_capture_request(ctx, &e->query, 1);
	}
	if (ret) {
		eadm_events_close(e);
		return ret;
	}
	*events = e;
	return 0;
}

EADM_API int eadm_events_fd(const struct eadm_events *events)
{
	return events->fd;
}

EADM_API uint64_t eadm_events_lost(const struct eadm_events *events)
{
	return events->lost;
}

/* ---- events ------------------------------------------------------------------ */

static int decode(struct eadm_events *events, struct eadm_reply *reply,
		  const struct nlmsghdr *nlh)
{
	struct eadm_record *rec = &events->rec;
	int ret = eadm_decode(reply, nlh, event_object(), true, rec);

	if (!ret && eadm_record_attr_has(rec, EADM_A_EVENT_LOST))
		events->lost += eadm_record_attr_u64(rec, EADM_A_EVENT_LOST);
	return ret;
}

/* As a part of a longer answer, so that a capture has all of them. */
static void keep(struct eadm_events *events, struct nlmsghdr *nlh, size_t len)
{
	struct eadm_chunk chunk = {
		.data = nlh, .len = len, .time = eadm_now(events->ctx),
	};

	nlh->nlmsg_seq = 1;
	nlh->nlmsg_flags |= NLM_F_MULTI;
	eadm_capture_chunk(events->ctx, &events->query, &chunk);
}

static int next_live(struct eadm_events *events)
{
	struct eadm_reply reply = { .ctx = events->ctx };
	struct nlmsghdr *nlh = (void *)events->packet;
	ssize_t len;
	int ret;

	for (;;) {
		len = recv(events->fd, events->packet, sizeof(events->packet),
			   0);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		/* The queue of the socket was full; nobody knows of how many. */
		if (len < 0 && errno == ENOBUFS) {
			events->lost++;
			continue;
		}
		if (len < 0)
			return eadm_fail(events->ctx, -errno,
					 "generic netlink: %s",
					 strerror(errno));
		if ((size_t)len < NLMSG_LENGTH(GENL_HDRLEN) ||
		    nlh->nlmsg_len > len ||
		    nlh->nlmsg_type != events->ctx->devices.family ||
		    *(uint8_t *)NLMSG_DATA(nlh) != EADM_CMD_EVENT_NTF)
			continue;
		reply.chunk.data = nlh;
		reply.chunk.len = len;
		reply.chunk.time = eadm_now(events->ctx);
		if (events->ctx->capture)
			keep(events, nlh, len);
		ret = decode(events, &reply, nlh);
		return ret ? ret : 1;
	}
}

static int next_recorded(struct eadm_events *events)
{
	const struct nlmsghdr *nlh;
	int ret;

	ret = eadm_reply_next(&events->reply, &nlh);
	/* It has no end when whoever recorded it was stopped. */
	if (ret == -EBADMSG && !events->reply.chunk.len)
		return 0;
	if (ret <= 0)
		return ret;
	ret = decode(events, &events->reply, nlh);
	return ret ? ret : 1;
}

EADM_API int eadm_events_next(struct eadm_events *events,
			      const struct eadm_record **record)
{
	int ret = events->fd >= 0 ? next_live(events) : next_recorded(events);

	*record = &events->rec;
	return ret;
}

EADM_API void eadm_events_close(struct eadm_events *events)
{
	if (!events)
		return;
	if (events->fd >= 0)
		close(events->fd);
	if (events->reply.ctx)
		eadm_reply_close(&events->reply);
	eadm_record_release(&events->rec);
	free(events);
}
