// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The source that reads a capture. Opening it reads the requests only; answers are
 * read when they are asked for, so that memory use does not depend on their length.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "file.h"
#include "grow.h"
#include "message.h"
#include "model/attr.h"
#include "pcapng.h"
#include "query.h"
#include "swap.h"

#define INDEX_WINDOW	4096
#define STREAM_WINDOW	(256 * 1024)
#define MAX_REQUESTS	1000000

/* A recorded request. */
struct file_request {
	struct pcapng_state after;	/* where its answer begins */
	unsigned int snapshot;
	uint32_t seq;
	uint16_t proto, type;
	uint8_t cmd;
	bool dump;
	bool used;		/* its answer has already been given */
	uint8_t n_args;
	size_t args, args_len;	/* position and length of its attributes */
};

struct file_snapshot {
	uint64_t time;		/* of its first request, 0: unknown */
	size_t first;		/* index of its first request */
};

/*
 * Snapshots count from 1; what comes before the first one has number 0. A
 * foreign capture has only number 0. Rows about the machine at number 0 apply
 * to all snapshots, except those that have their own.
 */
struct file_source {
	struct eadm_source src;
	int fd;
	unsigned int snapshot, n_snapshots;
	struct file_snapshot *snapshots;	/* indexed by number */
	size_t max_snapshots;
	struct file_request *requests;
	size_t n_requests, max_requests;
	struct eadm_bytes args;		/* attributes of all requests */
	bool asks_early;		/* a device was requested outside of any snapshot */
	char broken[192];	/* why reading ended early, or "" */
};

struct file_stream {
	struct eadm_stream stream;
	struct eadm_ctx *ctx;
	struct pcapng in;
	uint16_t proto;
	bool complete;
	struct eadm_bytes turned;	/* a packet converted from the other byte order */
};

static struct file_source *to_file(struct eadm_source *src)
{
	return (struct file_source *)src;
}

/* ---- the index -------------------------------------------------------------- */

static int begin_snapshot(struct file_source *file, unsigned int number)
{

	if (number >= MAX_REQUESTS)
		return -EFBIG;
	if (!grow(file->snapshots, number, file->max_snapshots))
		return -ENOMEM;
	file->snapshots[number] = (struct file_snapshot){ .first = file->n_requests };
	file->n_snapshots = number;
	return 0;
}

/* Keep the attributes as they are in the message; a broken one matches nothing. */
static void add_args(struct file_source *file, struct file_request *req,
		     struct eadm_attrs attrs)
{
	struct eadm_attrs all = attrs;
	const struct nlattr *attr;
	int ret;

	while ((ret = eadm_attr_next(&attrs, &attr)) > 0)
		req->n_args += req->n_args < UINT8_MAX;
	if (ret || req->n_args > EADM_MAX_ARGS) {
		req->type = 0;
		return;
	}
	req->args = file->args.len;
	req->args_len = all.left;
	eadm_bytes_put(&file->args, all.pos, all.left);
	eadm_message_align(&file->args, req->args);
}

static int add_request(struct file_source *file, const struct pcapng *in,
		       const struct pcapng_item *item)
{
	_Alignas(8) unsigned char buf[EADM_REQUEST_MAX];
	const struct nlmsghdr *nlh = (const void *)buf;
	struct file_request *req;
	size_t hdr = 0, n = item->there;

	if (n < NLMSG_HDRLEN)
		return 0;
	if (n > sizeof(buf))
		n = sizeof(buf);
	memset(buf, 0, sizeof(buf));
	memcpy(buf, item->data, n);
	if (eadm_swap_needed(buf, item->len))
		eadm_swap(item->proto, buf, n);
	if (!(nlh->nlmsg_flags & NLM_F_REQUEST) ||
	    nlh->nlmsg_type < NLMSG_MIN_TYPE || nlh->nlmsg_len > n)
		return 0;
	if (file->n_requests >= MAX_REQUESTS)
		return -EFBIG;
	if (!grow(file->requests, file->n_requests, file->max_requests))
		return -ENOMEM;
	if (!file->snapshots[file->n_snapshots].time)
		file->snapshots[file->n_snapshots].time = item->time;
	req = &file->requests[file->n_requests++];
	*req = (struct file_request){
		.after = in->st,
		.snapshot = file->n_snapshots,
		.seq = nlh->nlmsg_seq,
		.proto = item->proto,
		.type = nlh->nlmsg_type,
		.dump = (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP,
	};
	if (item->proto != NETLINK_RDMA) {
		req->cmd = buf[NLMSG_HDRLEN];
		hdr = GENL_HDRLEN;
	}
	file->asks_early |= !req->snapshot && req->proto != EADM_LOCAL_PROTO;
	add_args(file, req, eadm_attr_msg(nlh, hdr));
	return file->args.fail ? -ENOMEM : 0;
}

static int make_index(struct file_source *file)
{
	struct pcapng_item item;
	struct pcapng in;
	int ret;

	ret = begin_snapshot(file, 0);
	if (ret)
		return eadm_fail(file->src.ctx, ret, "out of memory");
	eadm_pcapng_init(&in, file->fd, NULL, INDEX_WINDOW);
	while ((ret = eadm_pcapng_next(&in, EADM_REQUEST_MAX, &item)) > 0) {
		if (item.what == PCAPNG_IS_SNAPSHOT)
			ret = begin_snapshot(file, file->n_snapshots + 1);
		else
			ret = add_request(file, &in, &item);
		if (ret)
			break;
	}
	/* What precedes the damage is still good. */
	if (ret == -EBADMSG && file->n_requests) {
		snprintf(file->broken, sizeof(file->broken), "%s", in.err);
		ret = 0;
	}
	if (ret == -EFBIG)
		eadm_fail(file->src.ctx, ret, "a capture with too many parts");
	else if (ret == -ENOMEM)
		eadm_fail(file->src.ctx, ret, "out of memory");
	else if (ret < 0)
		eadm_fail(file->src.ctx, ret, "%s", in.err);
	else if (!file->n_requests)
		ret = eadm_fail(file->src.ctx, -EBADMSG,
				"a capture without a request");
	eadm_pcapng_release(&in);
	return ret < 0 ? ret : 0;
}

/* ---- answers ------------------------------------------------------------------ */

static bool same_arg(const struct nlattr *have, const struct eadm_arg *want)
{
	const void *data = eadm_attr_data(have);
	size_t len = eadm_attr_len(have);
	uint32_t u32 = want->u;

	if (eadm_attr_type(have) != want->attr)
		return false;
	switch (want->type) {
	case EADM_ARG_U32:
		return len == 4 && !memcmp(data, &u32, 4);
	case EADM_ARG_U64:
		return len == 8 && !memcmp(data, &want->u, 8);
	case EADM_ARG_STRING:
		return len == strlen(want->str) + 1 &&
		       !memcmp(data, want->str, len);
	default:
		return len == 0;
	}
}

static bool has_arg(const struct file_source *file,
		    const struct file_request *req, const struct eadm_arg *want)
{
	struct eadm_attrs attrs = { .left = req->args_len };
	const struct nlattr *attr;

	/* Without arguments, there is no memory to point into. */
	if (!req->args_len)
		return false;
	attrs.pos = file->args.p + req->args;
	while (eadm_attr_next(&attrs, &attr) > 0) {
		if (same_arg(attr, want))
			return true;
	}
	return false;
}

/*
 * 2: the same request; 1: a request whose answer contains what is wanted; 0:
 * another request. Narrowing flags select parts of a row: without any, the row
 * has all parts, else only those selected.
 */
static int matches(const struct file_source *file,
		   const struct file_request *have,
		   const struct eadm_query *want)
{
	unsigned int i, same = 0, narrow = 0, parts = 0, lacking = 0;

	if (have->proto != want->proto || have->type != want->type ||
	    have->cmd != want->cmd)
		return 0;
	for (i = 0; i < want->n_args; i++) {
		bool part = want->args[i].narrow && want->args[i].type == EADM_ARG_FLAG;

		if (has_arg(file, have, &want->args[i])) {
			same++;
			parts += part;
		} else if (want->args[i].narrow) {
			narrow++;
			lacking += part;
		} else {
			return 0;
		}
	}
	if (same != have->n_args || (parts && lacking))
		return 0;
	if (have->dump == want->dump)
		return narrow ? have->dump : 2;
	return have->dump && narrow;
}

/*
 * The best answer in this snapshot. If the same request was made several
 * times, each lookup gets the next answer, in recorded order; after the last
 * one, the last again.
 */
static struct file_request *find_request(struct file_source *file,
					 const struct eadm_query *query,
					 unsigned int snapshot)
{
	struct file_request *found = NULL, *req;
	int match, best = 0;
	size_t i;

	for (i = file->snapshots[snapshot].first;
	     i < file->n_requests && file->requests[i].snapshot == snapshot;
	     i++) {
		req = &file->requests[i];
		match = matches(file, req, query);
		if (match < best || !match)
			continue;
		if (match == best && match < 2)
			continue;
		found = req;
		best = match;
		if (best == 2 && !req->used)
			break;
	}
	return found;
}

static int turn_packet(struct file_stream *s, struct pcapng_item *item)
{
	s->turned.len = 0;
	eadm_bytes_put(&s->turned, item->data, item->len);
	if (s->turned.fail)
		return eadm_fail(s->ctx, -ENOMEM, "out of memory");
	eadm_swap(item->proto, s->turned.p, item->len);
	item->data = s->turned.p;
	return 0;
}

static int file_next(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct file_stream *s = (struct file_stream *)stream;
	const struct nlmsghdr *nlh;
	struct pcapng_item item;
	int ret;

	while ((ret = eadm_pcapng_next(&s->in, UINT32_MAX, &item)) > 0) {
		if (item.what != PCAPNG_IS_PACKET || item.proto != s->proto ||
		    item.len < NLMSG_HDRLEN)
			continue;
		if (eadm_swap_needed(item.data, item.len)) {
			ret = turn_packet(s, &item);
			if (ret)
				return ret;
		}
		nlh = (const void *)item.data;
		if (nlh->nlmsg_seq != stream->seq)
			continue;
		/* A request with the same number is another program's. */
		if (nlh->nlmsg_flags & NLM_F_REQUEST &&
		    nlh->nlmsg_type >= NLMSG_MIN_TYPE)
			continue;
		chunk->data = item.data;
		chunk->len = item.len;
		chunk->time = item.time;
		chunk->offset = item.offset;
		return 1;
	}
	if (ret < 0)
		return eadm_fail(s->ctx, ret, "the capture: %s",
				 s->in.err);
	return 0;
}

static void file_end(struct eadm_stream *stream)
{
	struct file_stream *s = (struct file_stream *)stream;

	eadm_pcapng_release(&s->in);
	free(s->turned.p);
	free(s);
}

static const struct eadm_stream_ops file_stream_ops = {
	.next = file_next,
	.end = file_end,
};

static int file_query(struct eadm_source *src, const struct eadm_query *query,
		      struct eadm_stream **stream)
{
	struct file_source *file = to_file(src);
	struct file_request *found = find_request(file, query, file->snapshot);
	struct file_stream *s;

	if (!found && query->proto == EADM_LOCAL_PROTO)
		found = find_request(file, query, 0);
	if (!found && file->broken[0])
		return eadm_fail(src->ctx, -ENODATA,
				 "not in this part of the capture: %s",
				 file->broken);
	if (!found)
		return eadm_fail(src->ctx, -ENODATA,
				 "the capture does not have it");
	s = calloc(1, sizeof(*s));
	if (!s)
		return eadm_fail(src->ctx, -ENOMEM, "out of memory");
	found->used = true;
	s->stream.ops = &file_stream_ops;
	s->stream.seq = found->seq;
	s->stream.fd = -1;
	s->ctx = src->ctx;
	s->proto = found->proto;
	eadm_pcapng_init(&s->in, file->fd, &found->after, STREAM_WINDOW);
	*stream = &s->stream;
	return 0;
}

/* What the group sent during recording. */
static int file_listen(struct eadm_source *src, const struct eadm_query *query,
		       uint32_t group, struct eadm_stream **stream)
{
	(void)group;
	return file_query(src, query, stream);
}

/* ---- the rest ----------------------------------------------------------------- */

/* Rewinds the snapshot: its answers are given again from the first. */
static void go_to(struct file_source *file, unsigned int snapshot)
{
	size_t i;

	file->snapshot = snapshot;
	for (i = file->snapshots[snapshot].first;
	     i < file->n_requests && file->requests[i].snapshot == snapshot; i++)
		file->requests[i].used = false;
}

static int file_snapshot_next(struct eadm_source *src)
{
	struct file_source *file = to_file(src);

	if (file->snapshot >= file->n_snapshots)
		return 0;
	go_to(file, file->snapshot + 1);
	return 1;
}

static unsigned int file_snapshots(const struct eadm_source *src)
{
	const struct file_source *file = (const struct file_source *)src;

	return file->n_snapshots ? file->n_snapshots : 1;
}

/* The internal number of a snapshot that callers count from 0. */
static unsigned int number_of(const struct file_source *file,
			      unsigned int index)
{
	return file->n_snapshots ? index + 1 : index;
}

static int file_snapshot_time(const struct eadm_source *src, unsigned int index,
			      uint64_t *ns)
{
	const struct file_source *file = (const struct file_source *)src;

	if (index >= file_snapshots(src) ||
	    !file->snapshots[number_of(file, index)].time)
		return -ENOENT;
	*ns = file->snapshots[number_of(file, index)].time;
	return 0;
}

static int file_snapshot_go(struct eadm_source *src, unsigned int index)
{
	struct file_source *file = to_file(src);

	if (index >= file_snapshots(src))
		return -ENOENT;
	go_to(file, number_of(file, index));
	return 0;
}

static void file_close(struct eadm_source *src)
{
	struct file_source *file = to_file(src);

	free(file->args.p);
	free(file->requests);
	free(file->snapshots);
	close(file->fd);
	free(file);
}

static const struct eadm_source_ops file_ops = {
	.query = file_query,
	.listen = file_listen,
	.snapshot_next = file_snapshot_next,
	.snapshots = file_snapshots,
	.snapshot_time = file_snapshot_time,
	.snapshot_go = file_snapshot_go,
	.close = file_close,
};

/* @fd: a seekable capture; closed here in any case. */
int eadm_file_new(struct eadm_ctx *ctx, int fd, struct eadm_source **src)
{
	struct file_source *file = calloc(1, sizeof(*file));
	int ret;

	if (!file) {
		close(fd);
		return eadm_fail(ctx, -ENOMEM, "out of memory");
	}
	file->src.ops = &file_ops;
	file->src.ctx = ctx;
	file->fd = fd;
	ret = make_index(file);
	if (ret) {
		file_close(&file->src);
		return ret;
	}
	/* Requests of a foreign capture belong to no snapshot. */
	if (file->n_snapshots && file->asks_early)
		eadm_log(ctx, "requests before the first snapshot are left out");
	file->snapshot = file->n_snapshots ? 1 : 0;
	*src = &file->src;
	return 0;
}
