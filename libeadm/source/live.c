// SPDX-License-Identifier: LGPL-2.1-or-later
/* The live source: netlink, the companion's char device and files of this machine. */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/root.h"
#include "live.h"
#include "local.h"
#include "nl.h"

struct live {
	struct eadm_source src;
	struct eadm_nl *nl;
	eadm_scrub_fn scrub;
};

static struct live *to_live(struct eadm_source *src)
{
	return (struct live *)src;
}

/*
 * Asking for a family that is not there makes the kernel run modprobe, which
 * takes longer than all else together. Whoever wants the companion loads it.
 */
static bool is_hopeless(const struct eadm_ctx *ctx,
			const struct eadm_query *query)
{
	return query->proto == NETLINK_GENERIC && query->type == GENL_ID_CTRL &&
	       eadm_root_access(ctx, F_OK, "/sys/module/eadm");
}

static int live_query(struct eadm_source *src, const struct eadm_query *query,
		      struct eadm_stream **stream)
{
	struct live *live = to_live(src);

	if (query->proto == EADM_LOCAL_PROTO)
		return eadm_local_query(src->ctx, query, eadm_nl_seq(live->nl),
					stream);
	if (is_hopeless(src->ctx, query))
		return eadm_fail(src->ctx, -ENOENT,
				 "module eadm is not loaded");
	/* Netlink would not know the command: the char device answers. */
	if (query->proto == NETLINK_GENERIC && query->cmd == EADM_RAW_CMD)
		return eadm_node_query(src->ctx, query, eadm_nl_seq(live->nl),
				       live->scrub, stream);
	return eadm_nl_query(live->nl, query, stream);
}

static int live_listen(struct eadm_source *src, const struct eadm_query *query,
		       uint32_t group, struct eadm_stream **stream)
{
	return eadm_nl_listen(to_live(src)->nl, query, group, stream);
}

static int live_node(struct eadm_source *src, const struct eadm_device *dev,
		     struct eadm_ioc_info *info)
{
	return eadm_node_open(src->ctx, dev, info);
}

static int live_snapshot_next(struct eadm_source *src)
{
	(void)src;
	return 1;
}

static unsigned int live_snapshots(const struct eadm_source *src)
{
	(void)src;
	return 1;
}

static int live_snapshot_time(const struct eadm_source *src, unsigned int index,
			      uint64_t *ns)
{
	(void)src;
	(void)index;
	(void)ns;
	return -ENOENT;
}

static int live_snapshot_go(struct eadm_source *src, unsigned int index)
{
	(void)src;
	return index ? -ENOENT : 0;
}

static void live_close(struct eadm_source *src)
{
	eadm_nl_free(to_live(src)->nl);
	free(src);
}

static const struct eadm_source_ops live_ops = {
	.query = live_query,
	.listen = live_listen,
	.node = live_node,
	.snapshot_next = live_snapshot_next,
	.snapshots = live_snapshots,
	.snapshot_time = live_snapshot_time,
	.snapshot_go = live_snapshot_go,
	.close = live_close,
};

int eadm_live_new(struct eadm_ctx *ctx, eadm_scrub_fn scrub,
		  struct eadm_source **src)
{
	struct live *live = calloc(1, sizeof(*live));

	if (live)
		live->nl = eadm_nl_new(ctx);
	if (!live || !live->nl) {
		free(live);
		return eadm_fail(ctx, -ENOMEM, "out of memory");
	}
	live->src.ops = &live_ops;
	live->src.ctx = ctx;
	live->scrub = scrub;
	*src = &live->src;
	return 0;
}
