// SPDX-License-Identifier: LGPL-2.1-or-later
/* The source that responds from a capture. */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "capture_index.h"
#include "file.h"
#include "message.h"
#include "model/attr.h"
#include "query.h"
#include "swap.h"

#define STREAM_WINDOW	(256 * 1024)

struct file_source {
	struct eadm_source src;
	struct eadm_capture_index *index;
	unsigned int snapshot;
	bool *used;		/* per request: the response was returned */
};

struct file_stream {
	struct eadm_stream stream;
	struct eadm_ctx *ctx;
	struct eadm_capture_index *index;
	struct pcapng in;
	uint16_t proto;
	struct eadm_bytes turned;	/* a packet converted from the other byte order */
};

static struct file_source *to_file(struct eadm_source *src)
{
	return (struct file_source *)src;
}

/* ---- responses ---------------------------------------------------------------- */

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

static bool has_arg(const struct eadm_capture_index *index,
		    const struct eadm_recorded *req, const struct eadm_arg *want)
{
	struct eadm_attrs attrs = { .left = req->args_len };
	const struct nlattr *attr;

	/* Without arguments, there is no memory to point into. */
	if (!req->args_len)
		return false;
	attrs.pos = index->args.p + req->args;
	while (eadm_attr_next(&attrs, &attr) > 0) {
		if (same_arg(attr, want))
			return true;
	}
	return false;
}

/*
 * Returns 2 if the requests are the same, 1 if the response to @have contains the data
 * that @want requests, 0 otherwise. Narrowing flags select parts of a row; without any,
 * the row has all parts.
 */
static int matches(const struct eadm_capture_index *index,
		   const struct eadm_recorded *have,
		   const struct eadm_query *want)
{
	unsigned int i, same = 0, narrow = 0, parts = 0, lacking = 0;

	if (have->proto != want->proto || have->type != want->type ||
	    have->cmd != want->cmd)
		return 0;
	for (i = 0; i < want->n_args; i++) {
		bool part = want->args[i].narrow && want->args[i].type == EADM_ARG_FLAG;

		if (has_arg(index, have, &want->args[i])) {
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
 * Finds the request with the best response in this snapshot. If the same request was
 * made several times, each lookup returns the next response in recorded order; once the
 * last response is reached, it is returned every time.
 */
static struct eadm_recorded *find_request(struct file_source *file,
					 const struct eadm_query *query,
					 unsigned int snapshot)
{
	const struct eadm_capture_index *index = file->index;
	struct eadm_recorded *found = NULL, *req;
	int match, best = 0;
	size_t i;

	for (i = index->snapshots[snapshot].first;
	     i < index->n_requests && index->requests[i].snapshot == snapshot;
	     i++) {
		req = &index->requests[i];
		match = matches(index, req, query);
		if (match < best || !match)
			continue;
		if (match == best && match < 2)
			continue;
		found = req;
		best = match;
		if (best == 2 && !file->used[i])
			break;
	}
	return found;
}

static int turn_packet(struct file_stream *s, struct pcapng_item *item)
{
	s->turned.len = 0;
	eadm_bytes_put(&s->turned, item->data, item->len);
	if (s->turned.fail)
		return eadm_oom(s->ctx);
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
		/* A request with the same number belongs to a different program. */
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

	eadm_capture_index_return(s->index, &s->in);
	eadm_capture_index_put(s->index);
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
	struct eadm_recorded *found = find_request(file, query, file->snapshot);
	struct file_stream *s;

	if (!found && query->proto == EADM_LOCAL_PROTO)
		found = find_request(file, query, 0);
	if (!found && file->index->broken[0])
		return eadm_fail(src->ctx, -ENODATA,
				 "not in this snapshot of the capture: %s",
				 file->index->broken);
	if (!found)
		return eadm_fail(src->ctx, -ENODATA,
				 "not in the capture");
	s = calloc(1, sizeof(*s));
	if (!s)
		return eadm_oom(src->ctx);
	file->used[found - file->index->requests] = true;
	s->stream.ops = &file_stream_ops;
	s->stream.seq = found->seq;
	s->stream.fd = -1;
	s->ctx = src->ctx;
	s->proto = found->proto;
	s->index = file->index;
	s->index->users++;
	eadm_capture_index_lend(s->index, &s->in, &found->after, STREAM_WINDOW);
	*stream = &s->stream;
	return 0;
}

/* Returns the messages that the group sent during recording. */
static int file_listen(struct eadm_source *src, const struct eadm_query *query,
		       uint32_t group, struct eadm_stream **stream)
{
	(void)group;
	return file_query(src, query, stream);
}

/* ---- snapshots and life cycle ------------------------------------------------- */

/* Rewinds the snapshot: its responses are returned again, starting with the first. */
static void go_to(struct file_source *file, unsigned int snapshot)
{
	const struct eadm_capture_index *index = file->index;
	size_t i;

	file->snapshot = snapshot;
	for (i = index->snapshots[snapshot].first;
	     i < index->n_requests && index->requests[i].snapshot == snapshot; i++)
		file->used[i] = false;
}

static int file_snapshot_next(struct eadm_source *src)
{
	struct file_source *file = to_file(src);

	if (file->snapshot >= file->index->n_snapshots)
		return 0;
	go_to(file, file->snapshot + 1);
	return 1;
}

static unsigned int file_snapshots(const struct eadm_source *src)
{
	const struct file_source *file = (const struct file_source *)src;

	return file->index->n_snapshots ? file->index->n_snapshots : 1;
}

/* Returns the internal number of a snapshot; callers count from 0. */
static unsigned int number_of(const struct file_source *file,
			      unsigned int index)
{
	return file->index->n_snapshots ? index + 1 : index;
}

static int file_snapshot_time(const struct eadm_source *src, unsigned int index,
			      uint64_t *ns)
{
	const struct file_source *file = (const struct file_source *)src;
	uint64_t time;

	if (index >= file_snapshots(src))
		return -ENOENT;
	time = file->index->snapshots[number_of(file, index)].time;
	if (!time)
		return -ENOENT;
	*ns = time;
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

	eadm_capture_index_put(file->index);
	free(file->used);
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

/* Takes over a reference to @index, even on failure. */
static int new_source(struct eadm_ctx *ctx, struct eadm_capture_index *index,
		      struct eadm_source **src)
{
	struct file_source *file = calloc(1, sizeof(*file));
	bool *used = calloc(index->n_requests, sizeof(*used));

	if (!file || !used) {
		free(used);
		free(file);
		eadm_capture_index_put(index);
		return eadm_oom(ctx);
	}
	file->src.ops = &file_ops;
	file->src.ctx = ctx;
	file->index = index;
	file->used = used;
	file->snapshot = index->n_snapshots ? 1 : 0;
	*src = &file->src;
	return 0;
}

/* @fd: a seekable capture; closed in any case. */
int eadm_file_new(struct eadm_ctx *ctx, int fd, struct eadm_source **src)
{
	struct eadm_capture_index *index;
	int ret = eadm_capture_index_open(ctx, fd, &index);

	return ret ? ret : new_source(ctx, index, src);
}

/*
 * Reads the same capture from its beginning. Returns -EINVAL if @other is not a
 * capture.
 */
int eadm_file_share(struct eadm_ctx *ctx, struct eadm_source *other,
		    struct eadm_source **src)
{
	struct file_source *file = to_file(other);

	if (other->ops != &file_ops)
		return eadm_fail(ctx, -EINVAL, "no capture is open");
	file->index->users++;
	return new_source(ctx, file->index, src);
}
