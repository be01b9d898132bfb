// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The source that reads a capture. Opening it reads the requests and facts;
 * the answers are read when they are asked for, so that memory stays the same
 * however long they are.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "file.h"
#include "message.h"
#include "model/attr.h"
#include "pcapng.h"
#include "query.h"
#include "swap.h"

#define INDEX_WINDOW	4096
#define STREAM_WINDOW	(256 * 1024)
#define MAX_REQUESTS	1000000
#define MAX_FACTS	1000000

/* A request as recorded. */
struct file_arg {
	uint16_t attr;
	uint16_t len;
	unsigned char data[32];
};

struct file_request {
	struct pcapng_state after;	/* where its answer begins */
	unsigned int snapshot;
	uint32_t seq;
	uint16_t proto, type;
	uint8_t cmd;
	bool dump;
	bool used;		/* its answer was given already */
	uint8_t n_args;
	struct file_arg args[EADM_MAX_ARGS];
};

struct file_fact {
	unsigned int snapshot;
	char *key;		/* "KEY\0VALUE" */
	const char *value;
};

struct file_snapshot {
	uint64_t time;		/* of its first request, 0: unknown */
	size_t first;		/* request */
};

/*
 * Snapshots count from 1; what comes before the first one has number 0, which is
 * all there is in a foreign capture.
 */
struct file_source {
	struct eadm_source src;
	int fd;
	unsigned int snapshot, n_snapshots;
	struct file_snapshot *snapshots;	/* of each number */
	size_t max_snapshots;
	struct file_request *requests;
	size_t n_requests, max_requests;
	struct file_fact *facts;
	size_t n_facts, max_facts;
	char broken[192];	/* why reading ended early, "" */
};

struct file_stream {
	struct eadm_stream stream;
	struct eadm_ctx *ctx;
	struct pcapng in;
	uint16_t proto;
	bool complete;
	void *turned;
	size_t turned_size;
};

static struct file_source *to_file(struct eadm_source *src)
{
	return (struct file_source *)src;
}

/* ---- the index -------------------------------------------------------------- */

static int begin_snapshot(struct file_source *file, unsigned int number)
{
	struct file_snapshot *snapshots;

	if (number >= MAX_REQUESTS)
		return -EFBIG;
	snapshots = eadm_grow_room(file->snapshots, number,
				   &file->max_snapshots,
				   sizeof(*snapshots));
	if (!snapshots)
		return -ENOMEM;
	file->snapshots = snapshots;
	snapshots[number] = (struct file_snapshot){ .first = file->n_requests };
	file->n_snapshots = number;
	return 0;
}

static int add_fact(struct file_source *file, const unsigned char *text,
		    size_t len)
{
	const unsigned char *eq = memchr(text, '=', len);
	struct file_fact *facts, *fact;

	if (!eq)
		return 0;
	if (eq - text == 6 && !memcmp(text, "moment", 6))
		return begin_snapshot(file, file->n_snapshots + 1);
	if (file->n_facts >= MAX_FACTS)
		return -EFBIG;
	facts = eadm_grow_room(file->facts, file->n_facts, &file->max_facts,
			       sizeof(*facts));
	if (!facts)
		return -ENOMEM;
	file->facts = facts;
	fact = &facts[file->n_facts];
	fact->key = malloc(len + 1);
	if (!fact->key)
		return -ENOMEM;
	memcpy(fact->key, text, len);
	fact->key[eq - text] = '\0';
	fact->key[len] = '\0';
	fact->value = fact->key + (eq - text) + 1;
	fact->snapshot = file->n_snapshots;
	file->n_facts++;
	return 0;
}

static int add_facts(struct file_source *file, const struct pcapng_item *item)
{
	const unsigned char *pos = item->data, *data;
	size_t left = item->len;
	uint16_t code, len;
	int ret;

	while (eadm_pcapng_option(&pos, &left, item->swap, &code, &data, &len) >
	       0) {
		if (code != PCAPNG_OPT_COMMENT)
			continue;
		ret = add_fact(file, data, len);
		if (ret)
			return ret;
	}
	return 0;
}

static void add_args(struct file_request *req, struct eadm_attrs attrs)
{
	const struct nlattr *attr;
	struct file_arg *arg;

	while (eadm_attr_next(&attrs, &attr) > 0) {
		/* One that is never asked for matches nothing. */
		if (req->n_args == EADM_MAX_ARGS ||
		    eadm_attr_len(attr) > sizeof(arg->data)) {
			req->type = 0;
			return;
		}
		arg = &req->args[req->n_args++];
		arg->attr = eadm_attr_type(attr);
		arg->len = eadm_attr_len(attr);
		memcpy(arg->data, eadm_attr_data(attr), arg->len);
	}
}

static int add_request(struct file_source *file, const struct pcapng *in,
		       const struct pcapng_item *item)
{
	_Alignas(8) unsigned char buf[EADM_REQUEST_MAX];
	const struct nlmsghdr *nlh = (const void *)buf;
	struct file_request *requests, *req;
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
	requests = eadm_grow_room(file->requests, file->n_requests,
				  &file->max_requests, sizeof(*requests));
	if (!requests)
		return -ENOMEM;
	file->requests = requests;
	if (!file->snapshots[file->n_snapshots].time)
		file->snapshots[file->n_snapshots].time = item->time;
	req = &requests[file->n_requests++];
	*req = (struct file_request){
		.after = in->st,
		.snapshot = file->n_snapshots,
		.seq = nlh->nlmsg_seq,
		.proto = item->proto,
		.type = nlh->nlmsg_type,
		.dump = (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP,
	};
	if (item->proto == NETLINK_GENERIC) {
		req->cmd = buf[NLMSG_HDRLEN];
		hdr = GENL_HDRLEN;
	}
	add_args(req, eadm_attr_msg(nlh, hdr));
	return 0;
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
		if (item.what == PCAPNG_FACTS)
			ret = add_facts(file, &item);
		else
			ret = add_request(file, &in, &item);
		if (ret)
			break;
	}
	/* What comes before a break is as good as ever. */
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

static bool same_arg(const struct file_arg *have, const struct eadm_arg *want)
{
	uint32_t u32 = want->u;

	if (have->attr != want->attr)
		return false;
	switch (want->type) {
	case EADM_ARG_U32:
		return have->len == 4 && !memcmp(have->data, &u32, 4);
	case EADM_ARG_U64:
		return have->len == 8 && !memcmp(have->data, &want->u, 8);
	case EADM_ARG_STRING:
		return have->len == strlen(want->str) + 1 &&
		       !memcmp(have->data, want->str, have->len);
	default:
		return have->len == 0;
	}
}

/* 2: the same request; 1: one whose answer has what is wanted; 0: another. */
static int matches(const struct file_request *have,
		   const struct eadm_query *want)
{
	unsigned int i, j, same = 0, narrow = 0;

	if (have->proto != want->proto || have->type != want->type ||
	    have->cmd != want->cmd)
		return 0;
	for (i = 0; i < want->n_args; i++) {
		for (j = 0; j < have->n_args; j++) {
			if (same_arg(&have->args[j], &want->args[i]))
				break;
		}
		if (j < have->n_args)
			same++;
		else if (want->args[i].narrow)
			narrow++;
		else
			return 0;
	}
	if (same != have->n_args)
		return 0;
	if (have->dump == want->dump)
		return narrow ? have->dump : 2;
	return have->dump && narrow;
}

/*
 * The best answer of this snapshot. Of the same request made several times, each
 * one gets the next answer, as it did when they were made; then the last one.
 */
static struct file_request *find_request(struct file_source *file,
					 const struct eadm_query *query)
{
	struct file_request *found = NULL, *req;
	int match, best = 0;
	size_t i;

	for (i = file->snapshots[file->snapshot].first;
	     i < file->n_requests &&
	     file->requests[i].snapshot == file->snapshot; i++) {
		req = &file->requests[i];
		match = matches(req, query);
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
	void *more;

	if (item->len > s->turned_size) {
		more = realloc(s->turned, item->len);
		if (!more)
			return eadm_fail(s->ctx, -ENOMEM,
					 "out of memory");
		s->turned = more;
		s->turned_size = item->len;
	}
	memcpy(s->turned, item->data, item->len);
	eadm_swap(item->proto, s->turned, item->len);
	item->data = s->turned;
	return 0;
}

static int file_next(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct file_stream *s = (struct file_stream *)stream;
	const struct nlmsghdr *nlh;
	struct pcapng_item item;
	int ret;

	while ((ret = eadm_pcapng_next(&s->in, UINT32_MAX, &item)) > 0) {
		if (item.what != PCAPNG_PACKET || item.proto != s->proto ||
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
		/* The same number again is a request of another program. */
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
	free(s->turned);
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
	struct file_request *found = find_request(file, query);
	struct file_stream *s;

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

/* What came from the group while it was recorded. */
static int file_listen(struct eadm_source *src, const struct eadm_query *query,
		       uint32_t group, struct eadm_stream **stream)
{
	(void)group;
	return file_query(src, query, stream);
}

/* ---- the rest ----------------------------------------------------------------- */

static const char *file_fact(struct eadm_source *src, const char *key)
{
	struct file_source *file = to_file(src);
	const char *value = NULL;
	size_t i;

	for (i = 0; i < file->n_facts; i++) {
		const struct file_fact *fact = &file->facts[i];

		/* Those before the first snapshot hold for all of them. */
		if (fact->snapshot && fact->snapshot != file->snapshot)
			continue;
		if (!strcmp(fact->key, key))
			value = fact->value;
	}
	return value;
}

/* Who comes to a snapshot again finds it as it was. */
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

/* The number inside of what callers count from 0. */
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
	size_t i;

	for (i = 0; i < file->n_facts; i++)
		free(file->facts[i].key);
	free(file->facts);
	free(file->requests);
	free(file->snapshots);
	close(file->fd);
	free(file);
}

static const struct eadm_source_ops file_ops = {
	.query = file_query,
	.listen = file_listen,
	.fact = file_fact,
	.snapshot_next = file_snapshot_next,
	.snapshots = file_snapshots,
	.snapshot_time = file_snapshot_time,
	.snapshot_go = file_snapshot_go,
	.close = file_close,
};

/* @fd: a capture that can be read anywhere; closed here in any case. */
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
	if (file->n_snapshots && !file->requests[0].snapshot)
		eadm_log(ctx, "requests before the first snapshot are left out");
	file->snapshot = file->n_snapshots ? 1 : 0;
	*src = &file->src;
	return 0;
}
