// SPDX-License-Identifier: LGPL-2.1-or-later
/* Following the flight recorder through the companion's char device. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "eadm_ioctl.h"
#include "eadm_nl.h"
#include "node.h"

#define BATCH 64

struct eadm_trace {
	struct eadm_ctx *ctx;
	int fd;
	uint32_t dev_index;
	char dev_name[EADM_DEV_NAME_MAX];
	unsigned int n, next;
	uint64_t lost;
	struct eadm_record rec;
	struct eadm_trace_rec raw[BATCH];
};

static int open_node(struct eadm_trace *trace, const char *device)
{
	struct eadm_ctx *ctx = trace->ctx;
	const struct eadm_device *dev = NULL;
	struct eadm_ioc_info info;
	unsigned int i;
	int ret;

	ret = eadm_devices_load(ctx);
	if (ret)
		return ret;
	for (i = 0; i < ctx->devices.n; i++) {
		if (!strcmp(ctx->devices.dev[i].name, device))
			dev = &ctx->devices.dev[i];
	}
	if (!dev)
		return eadm_fail(ctx, -ENODEV, "no RDMA device of this name");
	if (ctx->devices.family_err)
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "the companion module eadm.ko is not loaded");
	if (!dev->companion)
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "its driver gives no diagnostics to the companion module");
	trace->dev_index = dev->index;
	snprintf(trace->dev_name, sizeof(trace->dev_name), "%s", dev->name);
	trace->fd = eadm_node_open(ctx, dev, &info);
	if (trace->fd < 0)
		return trace->fd;
	if (!(info.features & EADM_FEATURE_TRACE))
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "its driver keeps no flight recorder");
	/* Records may only grow at their end, which takes a new command. */
	if (info.trace_rec_size != sizeof(struct eadm_trace_rec))
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "it gives records of %u bytes, not of %zu",
				 info.trace_rec_size,
				 sizeof(struct eadm_trace_rec));
	return 0;
}

static int begin(struct eadm_trace *trace, const struct eadm_trace_opts *opts)
{
	struct eadm_ioc_trace req = {
		.size = sizeof(req),
		.from = opts && opts->oldest ? EADM_TRACE_FROM_OLDEST :
					       EADM_TRACE_FROM_NOW,
	};

	if (opts) {
		req.min_latency = opts->min_latency;
		if (opts->has_op) {
			req.op = opts->op;
			req.flags = EADM_TRACE_BY_OP;
		}
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
	struct eadm_trace *t;
	int ret;

	if (!ctx->live)
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "a capture can't be followed");
	if (opts && opts->size > sizeof(*opts))
		return eadm_fail(ctx, -EINVAL, "options of a newer library");
	t = calloc(1, sizeof(*t));
	if (!t)
		return eadm_fail(ctx, -ENOMEM, "out of memory");
	t->ctx = ctx;
	t->fd = -1;
	ret = open_node(t, device);
	if (!ret)
		ret = begin(t, opts);
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

/* The same row as the dump of the object "cmd" gives. */
static void decode(struct eadm_trace *trace, struct eadm_trace_rec *raw)
{
	struct eadm_record *rec = &trace->rec;
	const size_t max_req = sizeof(raw->request);
	const size_t max_resp = sizeof(raw->response);

	eadm_record_reset(rec, &eadm_spec_objects[EADM_SPEC_OBJ_CMD],
			  eadm_now(trace->ctx));
	eadm_record_put_u64(rec, EADM_A_CMD_DEV_INDEX, trace->dev_index);
	eadm_record_put_string(rec, EADM_A_CMD_DEV_NAME, trace->dev_name);
	eadm_record_put_u64(rec, EADM_A_CMD_SEQ, raw->seq);
	eadm_record_put_u64(rec, EADM_A_CMD_TIME, raw->time);
	eadm_record_put_u64(rec, EADM_A_CMD_OP, raw->op);
	eadm_record_put_u64(rec, EADM_A_CMD_STATE, raw->state);
	eadm_record_put_u64(rec, EADM_A_CMD_STATUS, raw->status);
	if (raw->flags & EADM_TRACE_REC_ANSWERED)
		eadm_record_put_u64(rec, EADM_A_CMD_SYNDROME, raw->syndrome);
	eadm_record_put_u64(rec, EADM_A_CMD_LATENCY, raw->latency);
	eadm_record_put_u64(rec, EADM_A_CMD_COOKIE, raw->cookie);
	eadm_record_put_u64(rec, EADM_A_CMD_OUTSTANDING, raw->outstanding);
	eadm_record_put_u64(rec, EADM_A_CMD_POLLED,
			    !!(raw->flags & EADM_TRACE_REC_POLLED));
	eadm_record_put_u64(rec, EADM_A_CMD_CPU, raw->cpu);
	if (raw->pid)
		eadm_record_put_u64(rec, EADM_A_CMD_PID, raw->pid);
	raw->comm[sizeof(raw->comm) - 1] = '\0';
	if (raw->comm[0])
		eadm_record_put_string(rec, EADM_A_CMD_COMM,
				       (const char *)raw->comm);
	if (raw->request_len && raw->request_len <= max_req)
		eadm_record_put_bytes(rec, EADM_A_CMD_REQUEST, raw->request,
				      raw->request_len);
	if (raw->response_len && raw->response_len <= max_resp)
		eadm_record_put_bytes(rec, EADM_A_CMD_RESPONSE, raw->response,
				      raw->response_len);
	eadm_record_put_u64(rec, EADM_A_CMD_FIRST_TIMEOUT,
			    !!(raw->flags & EADM_TRACE_REC_FIRST_TIMEOUT));
	trace->lost += raw->lost;
}

EADM_API int eadm_trace_next(struct eadm_trace *trace,
			     const struct eadm_record **record)
{
	ssize_t got;

	if (trace->next == trace->n) {
		do {
			got = read(trace->fd, trace->raw, sizeof(trace->raw));
		} while (got < 0 && errno == EINTR);
		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got < 0)
			return eadm_fail(trace->ctx, -errno, "%s",
					 errno == ENODEV ?
						 "the device went away" :
						 strerror(errno));
		trace->n = got / sizeof(trace->raw[0]);
		trace->next = 0;
		if (!trace->n)
			return 0;
	}
	decode(trace, &trace->raw[trace->next++]);
	*record = &trace->rec;
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
