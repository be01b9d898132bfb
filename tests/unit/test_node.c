// SPDX-License-Identifier: GPL-2.0-or-later
/* Queues as a node, or a program that stands for one, describes them; also badly. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eadm_ioctl.h"
#include "eadm_values.h"
#include "source/node.h"
#include "source/source.h"
#include "tap.h"

/* Answers as a driver does that has this queue and reads all entries at once. */
static int ring_of(void *data, unsigned long request, void *arg)
{
	const struct eadm_ioc_ring *has = data;
	struct eadm_ioc_ring *r = arg;

	if (request != EADM_IOC_RING)
		return -1;
	if (has->entry_size && r->data)
		memset((void *)(uintptr_t)r->data, 0, r->data_len);
	r->depth = has->depth;
	r->entry_size = has->entry_size;
	r->memory = has->memory;
	return 0;
}

static int no_payload(struct eadm_ctx *ctx, const struct eadm_node_part *part)
{
	(void)ctx;
	return part->count && !part->entry_size ? -EBADMSG : 0;
}

/* Returns 0 with a reply, or the error of the request. */
static int ask(struct eadm_ctx *ctx, uint32_t depth, uint32_t entry_size, uint32_t memory)
{
	struct eadm_ioc_ring has = {
		.depth = depth, .entry_size = entry_size, .memory = memory,
	};
	struct eadm_node_query q = { .kind = EADM_RAW_KIND_SQ, .id = 1 };
	struct eadm_stream *stream = NULL;
	struct eadm_query query;
	int ret;

	eadm_node_ask(ctx, eadm_device_of(ctx, 0), &q, &query);
	ret = eadm_node_query_by(ctx, &query, 1, no_payload, ring_of, &has, &stream);
	if (!ret)
		stream->ops->end(stream);
	return ret;
}

int main(void)
{
	struct eadm_ctx *ctx = eadm_new();

	if (!ctx || !eadm_device_add(ctx, 0, "cloud_0"))
		return 1;
	ok(!ask(ctx, 16, 64, EADM_RING_MEMORY_HOST), "a queue in memory is read");
	ok(!ask(ctx, 16, 64, EADM_RING_MEMORY_DEVICE), "one in adapter memory is described");
	ok(!ask(ctx, 16, 0, EADM_RING_MEMORY_DEVICE), "also if the size of its entries is unknown");
	ok(ask(ctx, 16, 0, EADM_RING_MEMORY_HOST) == -EBADMSG &&
		   strstr(eadm_errmsg(ctx), "invalid entry size: 0 bytes"),
	   "entries in memory without a size are refused");
	ok(ask(ctx, 16, 1 << 20, EADM_RING_MEMORY_USER) == -EBADMSG,
	   "as are entries that fit into no message");
	eadm_free(ctx);
	return done();
}
