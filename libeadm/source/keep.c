// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Responses that are kept while eadm_keep_answers() is on. During a slow request, the
 * state may change, so all responses kept so far are discarded.
 */
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "keep.h"
#include "message.h"

#define MAX_ANSWER	(1024 * 1024)
#define SLOW_NS		100000000ULL	/* a working adapter needs much less */

struct eadm_kept {
	struct eadm_kept *next;
	unsigned int users;	/* number of users: the list and readers */
	uint64_t began;
	struct eadm_bytes request, answer;	/* answer: chunks, each preceded by its head */
};

/* Precedes the data of a chunk. */
struct head {
	uint64_t time, offset;
	uint64_t len;
};

struct keep_stream {
	struct eadm_stream stream;
	struct eadm_kept *kept;
	size_t pos;
};

static void put(struct eadm_kept *kept)
{
	if (--kept->users)
		return;
	free(kept->request.p);
	free(kept->answer.p);
	free(kept);
}

void eadm_keep_forget(struct eadm_ctx *ctx)
{
	struct eadm_kept *kept;

	while ((kept = ctx->kept)) {
		ctx->kept = kept->next;
		put(kept);
	}
}

static int next_chunk(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct keep_stream *s = (struct keep_stream *)stream;
	const struct eadm_bytes *answer = &s->kept->answer;
	struct head head;

	if (s->pos >= answer->len)
		return 0;
	memcpy(&head, answer->p + s->pos, sizeof(head));
	s->pos += sizeof(head);
	*chunk = (struct eadm_chunk){
		.data = answer->p + s->pos, .len = head.len,
		.time = head.time, .offset = head.offset,
	};
	s->pos += NLMSG_ALIGN(head.len);
	return 1;
}

static void end_stream(struct eadm_stream *stream)
{
	struct keep_stream *s = (struct keep_stream *)stream;

	put(s->kept);
	free(s);
}

static const struct eadm_stream_ops keep_ops = {
	.next = next_chunk,
	.end = end_stream,
};

/* Returns false if there is no such response; the request is then made as usual. */
bool eadm_keep_find(struct eadm_ctx *ctx, const struct eadm_query *query,
		    struct eadm_stream **stream)
{
	_Alignas(8) unsigned char buf[EADM_REQUEST_MAX];
	struct eadm_bytes msg = {
		.p = buf, .max = sizeof(buf), .fixed = true,
	};
	struct eadm_kept *kept;
	struct keep_stream *s;

	if (!ctx->kept)
		return false;
	eadm_message_query(&msg, query, query->proto);
	for (kept = ctx->kept; kept; kept = kept->next) {
		if (kept->request.len == msg.len &&
		    !memcmp(kept->request.p, msg.p, msg.len))
			break;
	}
	s = kept && !msg.fail ? calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return false;
	kept->users++;
	s->stream.ops = &keep_ops;
	s->stream.fd = -1;
	s->kept = kept;
	*stream = &s->stream;
	return true;
}

/* Returns NULL if the response should not or cannot be kept. */
struct eadm_kept *eadm_keep_begin(struct eadm_ctx *ctx,
				  const struct eadm_query *query)
{
	struct eadm_kept *kept;

	if (!ctx->keeps)
		return NULL;
	kept = calloc(1, sizeof(*kept));
	if (!kept)
		return NULL;
	kept->users = 1;
	kept->began = eadm_now(ctx);
	/* The sequence number of a request is not part of the key; the protocol is. */
	eadm_message_query(&kept->request, query, query->proto);
	return kept;
}

void eadm_keep_chunk(struct eadm_kept *kept, const struct eadm_chunk *chunk)
{
	struct eadm_bytes *answer = &kept->answer;
	struct head head = { chunk->time, chunk->offset, chunk->len };
	size_t from = answer->len;

	if (answer->fail || from + chunk->len > MAX_ANSWER) {
		answer->fail = true;
		return;
	}
	eadm_bytes_put(answer, &head, sizeof(head));
	eadm_bytes_put(answer, chunk->data, chunk->len);
	eadm_message_align(answer, from);
}

/* @whole: the response ended without an error. */
void eadm_keep_end(struct eadm_ctx *ctx, struct eadm_kept *kept, bool whole)
{
	if (eadm_now(ctx) - kept->began > SLOW_NS)
		eadm_keep_forget(ctx);
	if (!whole || kept->request.fail || kept->answer.fail || !ctx->keeps) {
		put(kept);
		return;
	}
	kept->next = ctx->kept;
	ctx->kept = kept;
}

EADM_API void eadm_keep_answers(struct eadm_ctx *ctx, bool on)
{
	ctx->keeps = on;
	eadm_keep_forget(ctx);
}
