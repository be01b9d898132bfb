// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Responses that the library generates from data that does not come from a netlink
 * socket. They are netlink messages, too, so that a capture stores them like all other
 * responses.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "devlist.h"
#include "message.h"

/* The first attributes of each attribute set. */
enum { DEV_INDEX = 1, DEV_NAME };

struct made {
	struct eadm_stream stream;
	struct eadm_ctx *ctx;
	unsigned char *data;
	size_t len, pos;
};

/* Begin a row about @dev, or about no device; end it with eadm_message_end(). */
size_t eadm_answer_row(struct eadm_answer *answer,
		       const struct eadm_device *dev)
{
	size_t at = eadm_message_begin(&answer->out, answer->type, NLM_F_MULTI,
				       answer->seq);

	eadm_message_genl(&answer->out, answer->cmd);
	if (dev) {
		eadm_message_put_u32(&answer->out, DEV_INDEX, dev->index);
		eadm_message_put_string(&answer->out, DEV_NAME, dev->name);
	}
	return at;
}

/* Return one message at a time: together, they might not fit into one packet. */
static int made_next(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct made *s = (struct made *)stream;
	const struct nlmsghdr *nlh = (void *)(s->data + s->pos);

	if (s->pos == s->len)
		return 0;
	*chunk = (struct eadm_chunk){
		.data = nlh, .len = nlh->nlmsg_len, .time = eadm_now(s->ctx),
	};
	s->pos += NLMSG_ALIGN(nlh->nlmsg_len);
	return 1;
}

static void made_end(struct eadm_stream *stream)
{
	struct made *s = (struct made *)stream;

	free(s->data);
	free(s);
}

static const struct eadm_stream_ops made_ops = {
	.next = made_next,
	.end = made_end,
};

/* Takes ownership of the response's messages, also on failure. */
int eadm_answer_stream(struct eadm_answer *answer, struct eadm_stream **stream)
{
	struct made *s = calloc(1, sizeof(*s));
	size_t at = eadm_message_begin(&answer->out, NLMSG_DONE, NLM_F_MULTI,
				       answer->seq);
	int error = 0;

	eadm_bytes_put(&answer->out, &error, sizeof(error));
	eadm_message_end(&answer->out, at);
	if (!s || answer->out.fail) {
		free(s);
		free(answer->out.p);
		return eadm_oom(answer->ctx);
	}
	*s = (struct made){
		.stream = { .ops = &made_ops, .seq = answer->seq, .fd = -1 },
		.ctx = answer->ctx, .data = answer->out.p,
		.len = answer->out.len,
	};
	*stream = &s->stream;
	return 0;
}
