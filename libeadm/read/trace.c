// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Follows the flight recorder: through the companion's char device, as messages of a
 * program that emulates the device, or from the probe's records of a device that the
 * companion does not show.
 */
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
#include "machine.h"
#include "model/record.h"
#include "source/source.h"

struct eadm_trace {
	struct eadm_ctx *ctx;
	int fd;			/* char device; -1: messages come from a different source */
	uint64_t lost;
	struct eadm_reply reply;	/* messages from a program or the probe */
	struct eadm_trace_opts opts;
	uint32_t device;
	struct eadm_record rec;
	size_t len, pos;	/* bytes read into data, and bytes already used */
	_Alignas(NLMSG_ALIGNTO) unsigned char data[16 * EADM_TRACE_REC_MAX];
};

/* Listen to new records, or to all existing records, too. */
static int listen_to(struct eadm_trace *trace, struct eadm_query *query)
{
	if (trace->opts.oldest)
		eadm_query_arg(query, EADM_A_CMD_FROM_SEQ, EADM_ARG_U64, 0, NULL,
			       true);
	return eadm_reply_listen(trace->ctx, query, 0, &trace->reply);
}

/* Returns -ENOENT if the probe is not recording. */
static int open_probe(struct eadm_trace *trace)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_CMD);
	int ret = eadm_machine_probe(trace->ctx);

	if (ret == -EACCES)
		return eadm_machine_probe_denied(trace->ctx);
	return ret ? ret : listen_to(trace, &query);
}

/* Returns -ENOENT if the device does not belong to a program. */
static int open_program(struct eadm_trace *trace)
{
	struct eadm_query query = {
		.proto = NETLINK_GENERIC,
		.type = trace->ctx->devices.family,
		.cmd = eadm_spec_objects[EADM_SPEC_OBJ_CMD].cmd,
		.dump = true,
	};

	eadm_query_arg(&query, EADM_A_COMMON_DEV_INDEX, EADM_ARG_U32,
		       trace->device, NULL, false);
	return listen_to(trace, &query);
}

static int open_node(struct eadm_trace *trace, const char *device)
{
	struct eadm_ctx *ctx = trace->ctx;
	const struct eadm_device *dev;
	struct eadm_ioc_info info;
	int ret;

	ret = eadm_device_shown(ctx, device, true, &dev);
	if (ret)
		return ret;
	trace->fd = ctx->src->ops->node(ctx->src, dev, &info);
	if (trace->fd < 0)
		return trace->fd;
	if (!(info.features & EADM_FEATURE_TRACE))
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "the driver has no flight recorder");
	if (info.trace_rec_max > sizeof(trace->data))
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "record size %u not supported",
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

static int open_device(struct eadm_trace *trace, const char *device)
{
	const struct eadm_device *dev;
	int ret = eadm_devices_load(trace->ctx);

	if (!ret)
		ret = eadm_device_find(trace->ctx, device, &dev);
	if (ret)
		return ret;
	trace->device = dev->index;
	ret = dev->companion ? open_program(trace) : open_probe(trace);
	if (ret != -ENOENT)
		return ret;
	ret = open_node(trace, device);
	return ret ? ret : begin(trace, &trace->opts);
}

EADM_API int eadm_trace_open(struct eadm_ctx *ctx, const char *device,
			     const struct eadm_trace_opts *opts,
			     struct eadm_trace **trace)
{
	const struct eadm_field *op = eadm_object_find_field(
		&eadm_spec_objects[EADM_SPEC_OBJ_CMD], "op");
	struct eadm_trace_opts all;
	struct eadm_trace *t;
	int ret = eadm_abi_take(ctx, &all, sizeof(all), opts);

	if (ret)
		return ret;
	if (all.has_op && !eadm_field_value_name(op, all.op))
		return eadm_fail(ctx, -EINVAL, "unknown command type");
	if (!ctx->live)
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "a capture cannot be followed");
	t = calloc(1, sizeof(*t));
	if (!t)
		return eadm_oom(ctx);
	t->ctx = ctx;
	t->fd = -1;
	t->opts = all;
	ret = open_device(t, device);
	if (ret) {
		eadm_trace_close(t);
		return ret;
	}
	*trace = t;
	return 0;
}

EADM_API int eadm_trace_fd(const struct eadm_trace *trace)
{
	return trace->reply.stream ? trace->reply.stream->fd : trace->fd;
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
				 errno == ENODEV ? "the device was removed" :
						   strerror(errno));
	trace->len = got < 0 ? 0 : got;
	trace->pos = 0;
	return 0;
}

/* Apply the same selection as the companion does for its readers. */
static bool is_asked_for(const struct eadm_trace *trace)
{
	const struct eadm_record *rec = &trace->rec;

	return (!trace->opts.has_op ||
		eadm_record_attr_u64(rec, EADM_A_CMD_OP) == trace->opts.op) &&
	       (!trace->opts.min_latency ||
		(eadm_record_attr_has(rec, EADM_A_CMD_LATENCY) &&
		 eadm_record_attr_u64(rec, EADM_A_CMD_LATENCY) >=
			 trace->opts.min_latency));
}

/* The probe records all devices; a message may be about a different device. */
static int next_message(struct eadm_trace *trace,
			const struct eadm_record **record)
{
	struct eadm_record *rec = &trace->rec;
	const struct nlmsghdr *nlh;
	int ret;

	while ((ret = eadm_reply_next(&trace->reply, &nlh)) > 0) {
		ret = eadm_decode(&trace->reply, nlh,
				  &eadm_spec_objects[EADM_SPEC_OBJ_CMD], true,
				  rec);
		if (ret)
			return ret;
		if (!eadm_record_attr_has(rec, EADM_A_COMMON_DEV_INDEX) ||
		    eadm_record_attr_u64(rec, EADM_A_COMMON_DEV_INDEX) !=
			    trace->device)
			continue;
		if (eadm_record_attr_has(rec, EADM_A_CMD_LOST))
			trace->lost += eadm_record_attr_u64(rec, EADM_A_CMD_LOST);
		if (!is_asked_for(trace))
			continue;
		*record = rec;
		return 1;
	}
	return ret;
}

/* Messages are like those of a dump of the object "cmd", one after the other. */
EADM_API int eadm_trace_next(struct eadm_trace *trace,
			     const struct eadm_record **record)
{
	const struct eadm_object *object = &eadm_spec_objects[EADM_SPEC_OBJ_CMD];
	struct eadm_record *rec = &trace->rec;
	struct eadm_reply reply = { .ctx = trace->ctx };
	const struct nlmsghdr *nlh;
	int ret;

	if (trace->reply.stream)
		return next_message(trace, record);
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
	if (trace->reply.stream)
		eadm_reply_close(&trace->reply);
	eadm_record_release(&trace->rec);
	free(trace);
}
