// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests and their responses, message by message, from any source. */
#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <string.h>

#include "keep.h"
#include "model/attr.h"
#include "model/fields.h"
#include "query.h"

void eadm_query_arg(struct eadm_query *query, uint16_t attr,
		    enum eadm_arg_type type, uint64_t u, const char *str,
		    bool narrow)
{
	struct eadm_arg *arg = &query->args[query->n_args++];

	*arg = (struct eadm_arg){ attr, type, narrow, u, str };
}

/* Returns a query for rows about the machine; @object is one of EADM_SPEC_OBJ_*. */
struct eadm_query eadm_query_local(unsigned int object)
{
	return (struct eadm_query){
		.proto = EADM_LOCAL_PROTO, .type = EADM_LOCAL_TYPE,
		.cmd = eadm_spec_objects[object].cmd, .dump = true,
	};
}

int eadm_reply_open(struct eadm_ctx *ctx, const struct eadm_query *query,
		    struct eadm_reply *reply)
{
	int ret;

	*reply = (struct eadm_reply){ .ctx = ctx, .query = *query };
	if (!ctx->src)
		return eadm_fail(ctx, -EINVAL, "the context is not open");
	if (eadm_keep_find(ctx, query, &reply->stream))
		return 0;
	reply->kept = eadm_keep_begin(ctx, query);
	ret = ctx->src->ops->query(ctx->src, query, &reply->stream);
	if (ret)
		eadm_reply_close(reply);
	return ret;
}

/*
 * Return messages as they arrive. eadm_reply_next() returns 0 if there is none yet or
 * no more, and -ENOBUFS if some were lost; more messages may follow in both cases.
 */
int eadm_reply_listen(struct eadm_ctx *ctx, const struct eadm_query *query,
		      uint32_t group, struct eadm_reply *reply)
{
	struct eadm_source *src = ctx->src;
	int ret;

	*reply = (struct eadm_reply){
		.ctx = ctx, .query = *query, .endless = true,
	};
	ret = src->ops->listen(src, query, group, &reply->stream);
	if (ret)
		reply->done = true;
	return ret;
}

int eadm_reply_bad(struct eadm_reply *reply, const void *at, const char *fmt,
		   ...)
{
	const struct eadm_chunk *chunk = &reply->chunk;
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	reply->done = true;
	if (!chunk->offset)
		return eadm_fail(reply->ctx, -EBADMSG,
				 "malformed netlink message: %s", what);
	return eadm_fail(reply->ctx, -EBADMSG,
			 "malformed netlink message at offset %llu: %s",
			 (unsigned long long)chunk->offset +
			 ((const char *)at - (const char *)chunk->data), what);
}

/*
 * Returns the text of an error: the kernel's extended ack, or the message in a capture.
 */
static const char *ext_ack(struct eadm_attrs attrs, unsigned int type)
{
	const struct nlattr *attr;

	while (eadm_attr_next(&attrs, &attr) > 0) {
		if (eadm_attr_type(attr) == type)
			return eadm_attr_string(attr);
	}
	return NULL;
}

static int kernel_error(struct eadm_reply *reply, int error,
			struct eadm_attrs attrs)
{
	const char *words = ext_ack(attrs, NLMSGERR_ATTR_MSG);
	const char *sentence = ext_ack(attrs, EADM_ERROR_SENTENCE);

	reply->done = true;
	reply->whole = !error;
	/* A value that is not an errno indicates a broken message. */
	if (error > 0 || error < -4095)
		return eadm_fail(reply->ctx, -EBADMSG,
				 "the reply ends with error %d", error);
	if (!error)
		return 0;
	if (sentence)
		return eadm_fail(reply->ctx, error, "%s", sentence);
	if (words)
		return eadm_fail(reply->ctx, error, "%s (%s)", words,
				 strerror(-error));
	return eadm_fail(reply->ctx, error, "%s", strerror(-error));
}

static int got_error(struct eadm_reply *reply, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *err = NLMSG_DATA(nlh);
	struct eadm_attrs none = { 0 };
	size_t skip = sizeof(*err);

	if (nlh->nlmsg_len < NLMSG_LENGTH(sizeof(*err)))
		return eadm_reply_bad(reply, nlh, "truncated error message (%u bytes)",
				      nlh->nlmsg_len);
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return kernel_error(reply, err->error, none);
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED)) {
		if (err->msg.nlmsg_len < NLMSG_HDRLEN ||
		    err->msg.nlmsg_len > nlh->nlmsg_len)
			return kernel_error(reply, err->error, none);
		skip += err->msg.nlmsg_len - NLMSG_HDRLEN;
	}
	return kernel_error(reply, err->error, eadm_attr_msg(nlh, skip));
}

static int got_done(struct eadm_reply *reply, const struct nlmsghdr *nlh)
{
	const int *error = NLMSG_DATA(nlh);

	reply->done = true;
	if (nlh->nlmsg_len < NLMSG_LENGTH(sizeof(*error))) {
		reply->whole = true;
		return 0;
	}
	return kernel_error(reply, *error,
			    eadm_attr_msg(nlh, sizeof(*error)));
}

static int next_chunk(struct eadm_reply *reply)
{
	struct eadm_stream *stream = reply->stream;
	int ret;

	ret = stream->ops->next(stream, &reply->chunk);
	reply->pos = 0;
	if (ret > 0 && reply->kept)
		eadm_keep_chunk(reply->kept, &reply->chunk);
	if (ret > 0)
		return 1;
	reply->chunk.len = 0;
	if (reply->endless && (!ret || ret == -EAGAIN))
		return 0;
	if (reply->endless && ret == -ENOBUFS)
		return ret;
	reply->done = true;
	return ret ? ret : eadm_fail(reply->ctx, -EBADMSG,
				     "incomplete reply");
}

/* RDMA netlink responds to some commands with the number of a different command. */
static bool is_answer(const struct eadm_query *query,
		      const struct nlmsghdr *nlh)
{
	if (query->proto == NETLINK_RDMA)
		return RDMA_NL_GET_CLIENT(nlh->nlmsg_type) ==
		       RDMA_NL_GET_CLIENT(query->type);
	return nlh->nlmsg_type == query->type;
}

/* Returns 1 if *msg is a message of the response, 0 at its end, or a negative errno. */
int eadm_reply_next(struct eadm_reply *reply, const struct nlmsghdr **msg)
{
	const struct nlmsghdr *nlh;
	size_t left;
	int ret;

	for (;;) {
		if (reply->pos >= reply->chunk.len) {
			if (reply->done)
				return 0;
			ret = next_chunk(reply);
			if (ret <= 0)
				return ret;
		}
		nlh = (const void *)((const char *)reply->chunk.data +
				     reply->pos);
		left = reply->chunk.len - reply->pos;
		if (left < NLMSG_HDRLEN || nlh->nlmsg_len < NLMSG_HDRLEN ||
		    nlh->nlmsg_len > left)
			return eadm_reply_bad(reply, nlh,
					      "message exceeds its packet");
		reply->pos += NLMSG_ALIGN(nlh->nlmsg_len);
		if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
			reply->inconsistent = true;
		if (nlh->nlmsg_type == NLMSG_NOOP)
			continue;
		if (nlh->nlmsg_type == NLMSG_ERROR)
			return got_error(reply, nlh);
		if (nlh->nlmsg_type == NLMSG_DONE)
			return got_done(reply, nlh);
		if (!is_answer(&reply->query, nlh))
			return eadm_reply_bad(reply, nlh,
					      "unexpected reply of type %u",
					      nlh->nlmsg_type);
		if (!(nlh->nlmsg_flags & NLM_F_MULTI) && !reply->endless)
			reply->done = reply->whole = true;
		*msg = nlh;
		return 1;
	}
}

/* A reader of one row does not read on to the end of the response. */
static void read_packet_to_end(struct eadm_reply *reply)
{
	const struct nlmsghdr *nlh;
	struct eadm_errmsg before;

	eadm_errmsg_push(reply->ctx, &before);
	while (!reply->done && reply->pos < reply->chunk.len &&
	       eadm_reply_next(reply, &nlh) > 0)
		;
	eadm_errmsg_pop(reply->ctx, &before);
}

void eadm_reply_close(struct eadm_reply *reply)
{
	if (reply->kept) {
		read_packet_to_end(reply);
		eadm_keep_end(reply->ctx, reply->kept,
			      reply->whole && !reply->inconsistent);
	}
	reply->kept = NULL;
	if (reply->stream)
		reply->stream->ops->end(reply->stream);
	reply->stream = NULL;
	reply->done = true;
}

void eadm_source_mark(struct eadm_ctx *ctx)
{
	ctx->comms.round++;
	if (ctx->src && ctx->src->ops->mark)
		ctx->src->ops->mark(ctx->src);
}

bool eadm_source_records(const struct eadm_ctx *ctx)
{
	return ctx->src && ctx->src->records;
}
