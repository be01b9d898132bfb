// SPDX-License-Identifier: LGPL-2.1-or-later
/* Following the flight recorder through the companion's char device. */
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/abi.h"
#include "decode.h"
#include "device.h"
#include "eadm_ioctl.h"
#include "eadm_nl.h"
#include "model/record.h"
#include "source/source.h"

struct eadm_trace {
	struct eadm_ctx *ctx;
	int fd;
	uint64_t lost;
	struct eadm_record rec;
	size_t len, pos;	/* of what was read, and what was given of it */
	_Alignas(NLMSG_ALIGNTO) unsigned char data[16 * EADM_TRACE_REC_MAX];
};

static int open_node(struct eadm_trace *trace, const char *device)
{
	struct eadm_ctx *ctx = trace->ctx;
	const struct eadm_device *dev;
	struct eadm_ioc_info info;
	int ret;

	ret = eadm_device_shown(ctx, device, &dev);
	if (ret)
		return ret;
	trace->fd = ctx->src->ops->node(ctx->src, dev, &info);
	if (trace->fd < 0)
		return trace->fd;
	if (!(info.features & EADM_FEATURE_TRACE))
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "its driver keeps no flight recorder");
	if (info.trace_rec_max > sizeof(trace->data))
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "its records have up to %u bytes, which this program has no room for",
				 info.trace_rec_max);
	return 0;
}

static int begin(struct eadm_trace *trace, const struct eadm_trace_opts *opts)
{
	struct eadm_ioc_trace req = {
		.size = sizeof(req),
		.from = opts->oldest ? EADM_TRACE_FROM_OLDEST :
				       EADM_TRACE_FROM_NOW,
		.min_latency = opts->min_latency,
	};

	if (opts->has_op) {
		req.op = opts->op;
		req.flags = EADM_TRACE_BY_OP;
	}
	if (ioctl(trace->fd, EADM_IOC_TRACE, &req))
		return eadm_fail(trace->ctx, -errno, "trace: %s",
				 strerror(errno));
	return 0;
}

EADM_API int eadm_trace_open(struct eadm_ctx *ctx, const char *device,
			     const struct eadm_trace_opts *opts,
			     struct eadm_trace **trace)
{
	struct eadm_trace_opts all;
	struct eadm_trace *t;
	int ret = eadm_abi_take(ctx, &all, sizeof(all), opts);

	if (ret)
		return ret;
	if (!ctx->live)
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "a capture cannot be followed");
	t = calloc(1, sizeof(*t));
	if (!t)
		return eadm_fail(ctx, -ENOMEM, "out of memory");
	t->ctx = ctx;
	t->fd = -1;
	ret = open_node(t, device);
	if (!ret)
		ret = begin(t, &all);
	if (ret) {
		eadm_trace_close(t);
		return ret;
	}
	*trace = t;
	return 0;
}

EADM_API int eadm_trace_fd(const struct eadm_trace *trace)
{
	return trace->fd;
}

EADM_API uint64_t eadm_trace_lost(const struct eadm_trace *trace)
{
	return trace->lost;
}

static int refill(struct eadm_trace *trace)
{
	ssize_t got;

	do {
		got = read(trace->fd, trace->data, sizeof(trace->data));
	} while (got < 0 && errno == EINTR);
	if (got < 0 && errno != EAGAIN)
		return eadm_fail(trace->ctx, -errno, "%s",
				 errno == ENODEV ? "the device went away" :
						   strerror(errno));
	trace->len = got < 0 ? 0 : got;
	trace->pos = 0;
	return 0;
}

/* Messages as a dump of the object "cmd" has them, one behind the other. */
EADM_API int eadm_trace_next(struct eadm_trace *trace,
			     const struct eadm_record **record)
{
	const struct eadm_object *object = &eadm_spec_objects[EADM_SPEC_OBJ_CMD];
	struct eadm_record *rec = &trace->rec;
	struct eadm_reply reply = { .ctx = trace->ctx };
	const struct nlmsghdr *nlh;
	int ret;

	if (trace->pos == trace->len) {
		ret = refill(trace);
		if (ret || !trace->len)
			return ret;
	}
	nlh = (const void *)(trace->data + trace->pos);
	if (trace->len - trace->pos < NLMSG_HDRLEN ||
	    nlh->nlmsg_len < NLMSG_HDRLEN ||
	    nlh->nlmsg_len > trace->len - trace->pos)
		return eadm_fail(trace->ctx, -EBADMSG,
				 "malformed flight record");
	trace->pos += NLMSG_ALIGN(nlh->nlmsg_len);
	if (trace->pos > trace->len)
		trace->pos = trace->len;
	reply.chunk.time = eadm_now(trace->ctx);
	ret = eadm_decode(&reply, nlh, object, true, rec);
	if (ret)
		return ret;
	if (eadm_record_attr_has(rec, EADM_A_CMD_LOST))
		trace->lost += eadm_record_attr_u64(rec, EADM_A_CMD_LOST);
	*record = rec;
	return 1;
}

EADM_API void eadm_trace_close(struct eadm_trace *trace)
{
	if (!trace)
		return;
	if (trace->fd >= 0)
		close(trace->fd);
	eadm_record_release(&trace->rec);
	free(trace);
}
