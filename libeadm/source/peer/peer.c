// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A source that reads from one program. Rows about the machine come from this machine's
 * files, because the program runs on this machine.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>

#include "eadm_nl.h"
#include "follow.h"
#include "link.h"
#include "peer.h"
#include "source/local.h"

struct peer {
	struct eadm_source src;
	struct eadm_link *link;
	eadm_scrub_fn scrub;
	uint32_t seq;
};

static struct peer *to_peer(struct eadm_source *src)
{
	return (struct peer *)src;
}

static int query_raw(struct peer *peer, const struct eadm_query *query,
		     struct eadm_stream **stream)
{
	const struct eadm_device *dev;
	struct eadm_link_device at = { .link = peer->link };

	dev = query->n_args ? eadm_device_of(peer->src.ctx, query->args[0].u) :
			      NULL;
	if (!dev)
		return eadm_fail(peer->src.ctx, -ENODEV, "no such RDMA device");
	at.name = dev->name;
	return eadm_node_query_by(peer->src.ctx, query, ++peer->seq,
				  peer->scrub, eadm_link_ioctl, &at, stream);
}

static int peer_query(struct eadm_source *src, const struct eadm_query *query,
		      struct eadm_stream **stream)
{
	struct peer *peer = to_peer(src);

	if (query->proto == EADM_LOCAL_PROTO)
		return eadm_local_query(src->ctx, query, ++peer->seq, stream);
	if (query->proto != NETLINK_GENERIC)
		return eadm_fail(src->ctx, -EOPNOTSUPP,
				 "userspace adapters do not support RDMA netlink");
	if (query->cmd == EADM_RAW_CMD)
		return query_raw(peer, query, stream);
	return eadm_link_query(peer->link, query, ++peer->seq, stream);
}

static int peer_listen(struct eadm_source *src, const struct eadm_query *query,
		       uint32_t group, struct eadm_stream **stream)
{
	struct peer *peer = to_peer(src);

	(void)group;
	if (query->proto != NETLINK_GENERIC)
		return eadm_fail(src->ctx, -EOPNOTSUPP,
				 "the probe does not record userspace adapters");
	if (query->cmd != EADM_CMD_EVENT_NTF)
		return eadm_peer_follow(src->ctx, peer->link, query,
					++peer->seq, stream);
	return eadm_link_listen(peer->link, query, ++peer->seq, stream);
}

static int peer_node(struct eadm_source *src, const struct eadm_device *dev,
		     struct eadm_ioc_info *info)
{
	(void)info;
	return eadm_fail(src->ctx, -EOPNOTSUPP,
			 "%s: userspace adapters have no char device", dev->name);
}

static int peer_snapshot_next(struct eadm_source *src)
{
	(void)src;
	return 1;
}

static unsigned int peer_snapshots(const struct eadm_source *src)
{
	(void)src;
	return 1;
}

static int peer_snapshot_time(const struct eadm_source *src, unsigned int index,
			      uint64_t *ns)
{
	(void)src;
	(void)index;
	(void)ns;
	return -ENOENT;
}

static int peer_snapshot_go(struct eadm_source *src, unsigned int index)
{
	(void)src;
	return index ? -ENOENT : 0;
}

static void peer_close(struct eadm_source *src)
{
	eadm_link_put(to_peer(src)->link);
	free(src);
}

static const struct eadm_source_ops peer_ops = {
	.query = peer_query,
	.listen = peer_listen,
	.node = peer_node,
	.snapshot_next = peer_snapshot_next,
	.snapshots = peer_snapshots,
	.snapshot_time = peer_snapshot_time,
	.snapshot_go = peer_snapshot_go,
	.close = peer_close,
};

int eadm_peer_new(struct eadm_ctx *ctx, const char *path, eadm_scrub_fn scrub,
		  struct eadm_source **src)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	int ret;

	if (peer)
		peer->link = eadm_link_new(ctx, path);
	if (!peer || !peer->link) {
		free(peer);
		return eadm_oom(ctx);
	}
	peer->src.ops = &peer_ops;
	peer->src.ctx = ctx;
	peer->scrub = scrub;
	ret = eadm_link_try(peer->link);
	if (ret) {
		peer_close(&peer->src);
		return ret;
	}
	*src = &peer->src;
	return 0;
}
