// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events of the companion's multicast group, live or from a capture. */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>

#include "decode.h"
#include "device.h"
#include "driver.h"
#include "eadm_nl.h"
#include "machine.h"
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

/*
 * This is used without the companion. A capture, with or without the companion, has
 * only one kind of event.
 */
static int listen_to_probe(struct eadm_events *events)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_EVENT);

	return eadm_reply_listen(events->ctx, &query, 0, &events->reply);
}

/*
 * Returns true if the devices include those of programs that emulate adapters, whether
 * or not the companion is available.
 */
static bool has_programs(const struct eadm_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < ctx->devices.n; i++) {
		if (ctx->devices.dev[i].companion)
			return true;
	}
	return false;
}

/*
 * @error: the error from loading the list of devices. A capture may have both rows of
 * programs and events of the probe.
 */
static int listen_without_companion(struct eadm_events *events, const struct eadm_query *query,
				    int error)
{
	struct eadm_ctx *ctx = events->ctx;
	int ret = -ENODATA;

	if (has_programs(ctx))
		ret = eadm_reply_listen(ctx, query, 0, &events->reply);
	if (ret != -ENODATA)
		return ret;
	if (!ctx->live)
		return error ? error : listen_to_probe(events);
	ret = eadm_machine_probe(ctx);
	if (ret == -EACCES)
		return eadm_machine_probe_denied(ctx);
	return ret ? eadm_driver_refuse(ctx, NULL, true) : listen_to_probe(events);
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
	query.type = ctx->devices.family;
	if (ctx->devices.family_err)
		ret = listen_without_companion(events, &query, ret);
	else if (!ret && ctx->live && !ctx->devices.events)
		return no_events(ctx,
				 "the companion module eadm.ko does not provide events");
	else if (!ret)
		ret = eadm_reply_listen(ctx, &query, ctx->devices.events,
					&events->reply);
	return ret != -ENODATA ? ret :
	       no_events(ctx, "the capture contains no events ('eadm events --save' records them)");
}

EADM_API int eadm_events_open(struct eadm_ctx *ctx, struct eadm_events **events)
{
	struct eadm_events *e = calloc(1, sizeof(*e));
	int ret;

	if (!e)
		return eadm_oom(ctx);
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

	/* The socket's queue overflowed; the number of lost events is unknown. */
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
