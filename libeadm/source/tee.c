// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Recording: a source that wraps another source and writes requests and responses to a
 * capture. No other code depends on whether a capture is being made.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "eadm_nl.h"
#include "model/attr.h"
#include "model/fields.h"
#include "query.h"
#include "tee.h"

struct tee {
	struct eadm_source src;
	struct eadm_source *inner;
	struct eadm_capture *capture;	/* NULL once the capture is closed */
	unsigned int streams;		/* count; streams may outlive the capture */
	bool only_local;		/* see eadm_tee_only_local() */
};

struct tee_stream {
	struct eadm_stream stream;
	struct tee *tee;
	struct eadm_stream *inner;
	struct eadm_query query;
	bool endless;
};

static struct tee *to_tee(struct eadm_source *src)
{
	return (struct tee *)src;
}

static struct eadm_source *inner_of(const struct eadm_source *src)
{
	return ((const struct tee *)src)->inner;
}

static void release(struct tee *tee)
{
	if (!tee->capture && !tee->streams)
		free(tee);
}

/* ---- streams ----------------------------------------------------------------- */

static int tee_next(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct tee_stream *s = (struct tee_stream *)stream;
	struct eadm_capture *c = s->tee->capture;
	int ret = s->inner->ops->next(s->inner, chunk);

	if (ret > 0) {
		if (c && s->endless)
			eadm_capture_stream(c);
		if (c)
			eadm_capture_chunk(c, s->query.proto, chunk);
		return ret;
	}
	if (s->endless)
		return ret;
	if (!ret)
		ret = eadm_fail(s->tee->src.ctx, -EBADMSG,
				"incomplete reply");
	if (c)
		eadm_capture_error(c, &s->query, stream->seq, ret);
	return ret;
}

static void tee_end(struct eadm_stream *stream)
{
	struct tee_stream *s = (struct tee_stream *)stream;

	s->inner->ops->end(s->inner);
	s->tee->streams--;
	release(s->tee);
	free(s);
}

static const struct eadm_stream_ops tee_stream_ops = {
	.next = tee_next,
	.end = tee_end,
};

static bool records(const struct tee *tee, const struct eadm_query *query)
{
	return !tee->only_local || query->proto == EADM_LOCAL_PROTO;
}

static struct tee_stream *new_stream(struct tee *tee,
				     const struct eadm_query *query)
{
	struct tee_stream *s = calloc(1, sizeof(*s));

	if (!s) {
		eadm_oom(tee->src.ctx);
		return NULL;
	}
	s->stream.ops = &tee_stream_ops;
	s->tee = tee;
	s->query = *query;
	return s;
}

static void begin(struct tee_stream *s, struct eadm_stream **stream)
{
	s->stream.seq = s->inner->seq;
	s->stream.fd = s->inner->fd;
	s->tee->streams++;
	eadm_capture_request(s->tee->capture, &s->query, s->stream.seq);
	if (s->endless)
		eadm_capture_stream(s->tee->capture);
	*stream = &s->stream;
}

static int tee_query(struct eadm_source *src, const struct eadm_query *query,
		     struct eadm_stream **stream)
{
	struct tee *tee = to_tee(src);
	struct tee_stream *s;
	int ret;

	if (!records(tee, query))
		return tee->inner->ops->query(tee->inner, query, stream);
	s = new_stream(tee, query);
	if (!s)
		return -ENOMEM;
	ret = tee->inner->ops->query(tee->inner, query, &s->inner);
	if (!ret) {
		begin(s, stream);
		return 0;
	}
	/* -ENODATA is not recorded: the capture being read lacks the response. */
	if (ret != -ENODATA) {
		eadm_capture_request(tee->capture, query, 0);
		eadm_capture_error(tee->capture, query, 0, ret);
	}
	free(s);
	return ret;
}

static int tee_listen(struct eadm_source *src, const struct eadm_query *query,
		      uint32_t group, struct eadm_stream **stream)
{
	struct tee *tee = to_tee(src);
	struct tee_stream *s = new_stream(tee, query);
	int ret;

	if (!s)
		return -ENOMEM;
	s->endless = true;
	ret = tee->inner->ops->listen(tee->inner, query, group, &s->inner);
	if (ret)
		free(s);
	else
		begin(s, stream);
	return ret;
}

/* ---- the source -------------------------------------------------------------- */

/* Data read through a node is not a response and is not captured. */
static int tee_node(struct eadm_source *src, const struct eadm_device *dev,
		    struct eadm_ioc_info *info)
{
	struct eadm_source *inner = inner_of(src);

	return inner->ops->node(inner, dev, info);
}

static void tee_mark(struct eadm_source *src)
{
	eadm_capture_snapshot(to_tee(src)->capture);
}

static int tee_snapshot_next(struct eadm_source *src)
{
	struct eadm_source *inner = inner_of(src);
	int ret = inner->ops->snapshot_next(inner);

	if (ret > 0)
		tee_mark(src);
	return ret;
}

static unsigned int tee_snapshots(const struct eadm_source *src)
{
	const struct eadm_source *inner = inner_of(src);

	return inner->ops->snapshots(inner);
}

static int tee_snapshot_time(const struct eadm_source *src, unsigned int index,
			     uint64_t *ns)
{
	const struct eadm_source *inner = inner_of(src);

	return inner->ops->snapshot_time(inner, index, ns);
}

static int tee_snapshot_go(struct eadm_source *src, unsigned int index)
{
	struct eadm_source *inner = inner_of(src);
	int ret = inner->ops->snapshot_go(inner, index);

	if (!ret)
		tee_mark(src);
	return ret;
}

/* Drops the capture if eadm_capture_close() has not ended it before. */
static void tee_close(struct eadm_source *src)
{
	struct eadm_source *inner = inner_of(src);
	struct tee *tee = to_tee(src);

	eadm_capture_end(tee->capture, false);
	tee->capture = NULL;
	inner->ops->close(inner);
	release(tee);
}

static const struct eadm_source_ops tee_ops = {
	.query = tee_query,
	.listen = tee_listen,
	.node = tee_node,
	.mark = tee_mark,
	.snapshot_next = tee_snapshot_next,
	.snapshots = tee_snapshots,
	.snapshot_time = tee_snapshot_time,
	.snapshot_go = tee_snapshot_go,
	.close = tee_close,
};

/*
 * While this is on, only machine rows are recorded: the setup of the machine, but not
 * the requests that found its devices.
 */
void eadm_tee_only_local(struct eadm_ctx *ctx, bool on)
{
	to_tee(ctx->src)->only_local = on;
	ctx->src->keeps = !on;
	ctx->comms.round++;
}

/*
 * Reads the machine's row, so that the capture contains the whole row or only the
 * kernel release.
 */
static const char *read_machine(struct eadm_ctx *ctx, bool all, char *kernel,
				size_t size)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_MACHINE);
	const struct nlmsghdr *nlh;
	const struct nlattr *attr;
	struct eadm_reply reply;
	struct eadm_attrs attrs;

	if (!all)
		eadm_query_arg(&query, EADM_A_MACHINE_KERNEL, EADM_ARG_FLAG, 0,
			       NULL, true);
	*kernel = '\0';
	if (!eadm_reply_open(ctx, &query, &reply)) {
		while (eadm_reply_next(&reply, &nlh) > 0) {
			attrs = eadm_attr_msg(nlh, GENL_HDRLEN);
			while (eadm_attr_next(&attrs, &attr) > 0) {
				if (eadm_attr_type(attr) ==
					    EADM_A_MACHINE_KERNEL &&
				    eadm_attr_string(attr))
					snprintf(kernel, size, "%s",
						 eadm_attr_string(attr));
			}
		}
	}
	eadm_reply_close(&reply);
	return kernel;
}

/* @filter: applied to the written data, NULL: none. */
int eadm_tee_open(struct eadm_ctx *ctx, const char *path,
		  struct eadm_filter *filter, struct eadm_capture **capture)
{
	struct tee *tee;
	char kernel[80];
	int ret;

	if (!ctx->src)
		return eadm_fail(ctx, -EINVAL, "the context is not open");
	if (ctx->src->records)
		return eadm_fail(ctx, -EBUSY, "a capture is already open");
	tee = calloc(1, sizeof(*tee));
	if (!tee)
		return eadm_oom(ctx);
	ret = eadm_capture_begin(ctx, path,
				 read_machine(ctx, false, kernel,
					      sizeof(kernel)),
				 filter, &tee->capture);
	if (ret) {
		free(tee);
		return ret;
	}
	tee->src.ops = &tee_ops;
	tee->src.ctx = ctx;
	tee->src.keeps = true;
	tee->src.records = true;
	tee->inner = ctx->src;
	ctx->src = &tee->src;
	ctx->comms.round++;
	/* Read the row again, this time for the capture. */
	read_machine(ctx, true, kernel, sizeof(kernel));
	*capture = tee->capture;
	return 0;
}

EADM_API int eadm_capture_limit(struct eadm_capture *c, uint64_t bytes)
{
	if (eadm_capture_bound(c, bytes))
		return eadm_fail(eadm_capture_ctx(c), -EINVAL,
				 "a size limit requires a regular file");
	return 0;
}

EADM_API int eadm_capture_close(struct eadm_capture *c, bool keep)
{
	struct eadm_ctx *ctx;
	struct tee *tee;
	int ret;

	if (!c)
		return 0;
	ctx = eadm_capture_ctx(c);
	tee = to_tee(ctx->src);
	ret = eadm_capture_end(c, keep);
	ctx->src = tee->inner;
	tee->capture = NULL;
	release(tee);
	return ret;
}
