// SPDX-License-Identifier: LGPL-2.1-or-later
/* Life cycle of a context, and its source. */
#include <errno.h>
#include <stdlib.h>

#include "bundle/archlib.h"
#include "bundle/input.h"
#include "eadm_nl.h"
#include "family/family.h"
#include "read/entry.h"
#include "source/child.h"
#include "source/file.h"
#include "source/keep.h"
#include "source/live.h"
#include "source/peer/peer.h"

#define TIMEOUT_MS 10000

EADM_API const char *eadm_version(void)
{
	return EADM_VERSION;
}

EADM_API struct eadm_ctx *eadm_new(void)
{
	struct eadm_ctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return NULL;
	ctx->timeout_ms = TIMEOUT_MS;
	ctx->comms.round = 1;
	eadm_clock_start(ctx);
	return ctx;
}

EADM_API void eadm_free(struct eadm_ctx *ctx)
{
	if (!ctx)
		return;
	if (ctx->src)
		ctx->src->ops->close(ctx->src);
	eadm_keep_forget(ctx);
	eadm_archive_free(ctx->archive);
	free(ctx->devices.dev);
	free(ctx->root);
	eadm_children_release(&ctx->children);
	free(ctx->verbs.slow);
	free(ctx->verbs.said);
	free(ctx->without_verbs.image);
	free(ctx);
}

EADM_API void eadm_set_timeout(struct eadm_ctx *ctx, unsigned int ms)
{
	ctx->timeout_ms = ms;
}

/* Clear entries whose format is unknown. */
static int scrub(struct eadm_ctx *ctx, const struct eadm_node_part *part)
{
	struct eadm_ring ring = {
		.dev = part->dev, .family = part->dev->family,
		.kind = part->kind, .id = part->id, .depth = part->depth,
		.entry_size = part->entry_size, .has_index = true,
		.index = part->index, .index_bits = part->index_bits,
		.first = part->first, .count = part->count, .data = part->data,
	};

	return eadm_entry_scrub(&ring) ? eadm_oom(ctx) : 0;
}

EADM_API int eadm_open_live(struct eadm_ctx *ctx)
{
	int ret;

	if (ctx->src)
		return eadm_fail(ctx, -EBUSY, "the context is already open");
	ret = eadm_live_new(ctx, scrub,
			    ctx->no_peers ? NULL : eadm_family_sockets,
			    &ctx->src);
	ctx->live = !ret;
	return ret;
}

EADM_API void eadm_set_peers(struct eadm_ctx *ctx, bool peers)
{
	ctx->no_peers = !peers;
}

EADM_API int eadm_open_peer(struct eadm_ctx *ctx, const char *path)
{
	int ret;

	if (ctx->src)
		return eadm_fail(ctx, -EBUSY, "the context is already open");
	ret = eadm_peer_new(ctx, path, scrub, &ctx->src);
	ctx->live = !ret;
	return ret;
}

EADM_API int eadm_open_file(struct eadm_ctx *ctx, const char *path)
{
	int fd;

	if (ctx->src)
		return eadm_fail(ctx, -EBUSY, "the context is already open");
	fd = eadm_input_open(ctx, path);
	return fd < 0 ? fd : eadm_file_new(ctx, fd, &ctx->src);
}

EADM_API int eadm_open_shared(struct eadm_ctx *ctx, struct eadm_ctx *other)
{
	if (ctx->src)
		return eadm_fail(ctx, -EBUSY, "the context is already open");
	if (!other->src)
		return eadm_fail(ctx, -EINVAL, "no capture is open");
	return eadm_file_share(ctx, other->src, &ctx->src);
}

EADM_API bool eadm_is_live(const struct eadm_ctx *ctx)
{
	return ctx->live;
}

EADM_API int eadm_snapshot_next(struct eadm_ctx *ctx)
{
	if (!ctx->src)
		return 0;
	eadm_scan_drop(ctx);
	eadm_keep_forget(ctx);
	ctx->comms.round++;
	return ctx->src->ops->snapshot_next(ctx->src);
}

EADM_API unsigned int eadm_snapshots(const struct eadm_ctx *ctx)
{
	return ctx->src ? ctx->src->ops->snapshots(ctx->src) : 1;
}

EADM_API int eadm_snapshot_time(const struct eadm_ctx *ctx, unsigned int index,
				uint64_t *ns)
{
	if (!ctx->src)
		return -ENOENT;
	return ctx->src->ops->snapshot_time(ctx->src, index, ns);
}

EADM_API int eadm_snapshot_go(struct eadm_ctx *ctx, unsigned int index)
{
	int ret = index ? -ENOENT : 0;

	eadm_scan_drop(ctx);
	eadm_keep_forget(ctx);
	ctx->comms.round++;
	if (ctx->src)
		ret = ctx->src->ops->snapshot_go(ctx->src, index);
	return ret ? eadm_fail(ctx, ret, "no such snapshot") : 0;
}
