// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events of the companion's multicast group, live or from a capture. */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>

#include "companion.h"
#include "decode.h"
#include "device.h"
#include "eadm_nl.h"
#include "source/query.h"

struct eadm_events {
	struct eadm_ctx *ctx;
	uint64_t lost;
	struct eadm_reply reply;
	struct eadm_record rec;
};

static const struct eadm_object *event_object(void)
{
	return &eadm_spec_objects[EADM_SPEC_OBJ_EVENT];
}

static int no_events(struct eadm_ctx *ctx, const char *why)
{
	return eadm_fail(ctx, -EOPNOTSUPP, "%s", why);
}

static int listen_to(struct eadm_events *events)
{
	struct eadm_ctx *ctx = events->ctx;
	struct eadm_query query = {
		.proto = NETLINK_GENERIC,
		.cmd = EADM_CMD_EVENT_NTF,
		.dump = true,
	};
	int ret;

	ret = eadm_devices_load(ctx);
	if (ctx->devices.family_err && ctx->live)
		return no_events(ctx, eadm_companion_why(ctx));
	if (ret)
		return ret;
	if (ctx->live && !ctx->devices.events)
		return no_events(ctx,
				 "the companion module eadm.ko has no events");
	query.type = ctx->devices.family;
	ret = ctx->devices.family_err ? -ENODATA :
	      eadm_reply_listen(ctx, &query, ctx->devices.events,
				&events->reply);
	return ret != -ENODATA ? ret :
	       no_events(ctx, "the capture has no events ('eadm events --save' makes one)");
}

EADM_API int eadm_events_open(struct eadm_ctx *ctx, struct eadm_events **events)
{
	struct eadm_events *e = calloc(1, sizeof(*e));
	int ret;

	if (!e)
		return eadm_fail(ctx, -ENOMEM, "out of memory");
	e->ctx = ctx;
	ret = listen_to(e);
	if (ret) {
		eadm_events_close(e);
		return ret;
	}
	*events = e;
	return 0;
}

EADM_API int eadm_events_fd(const struct eadm_events *events)
{
	return events->reply.stream->fd;
}

EADM_API uint64_t eadm_events_lost(const struct eadm_events *events)
{
	return events->lost;
}

EADM_API int eadm_events_next(struct eadm_events *events,
			      const struct eadm_record **record)
{
	struct eadm_record *rec = &events->rec;
	const struct nlmsghdr *nlh;
	int ret;

	/* The queue of the socket was full; nobody knows of how many. */
	while ((ret = eadm_reply_next(&events->reply, &nlh)) == -ENOBUFS)
		events->lost++;
	*record = rec;
	if (ret <= 0)
		return ret;
	ret = eadm_decode(&events->reply, nlh, event_object(), true, rec);
	if (!ret && eadm_record_attr_has(rec, EADM_A_EVENT_LOST))
		events->lost += eadm_record_attr_u64(rec, EADM_A_EVENT_LOST);
	return ret ? ret : 1;
}

EADM_API void eadm_events_close(struct eadm_events *events)
{
	if (!events)
		return;
	if (events->reply.ctx)
		eadm_reply_close(&events->reply);
	eadm_record_release(&events->rec);
	free(events);
}
