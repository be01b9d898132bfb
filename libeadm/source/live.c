// SPDX-License-Identifier: LGPL-2.1-or-later
/* The live source: netlink, the companion's char device and this machine's files. */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/root.h"
#include "eadm_nl.h"
#include "live.h"
#include "local.h"
#include "nl.h"
#include "peer/news.h"
#include "peer/peer_wire.h"
#include "probe/follow.h"

struct live {
	struct eadm_source src;
	struct eadm_nl *nl;
	struct eadm_found *found;	/* NULL: do not look for programs */
	eadm_scrub_fn scrub;
};

static struct live *to_live(struct eadm_source *src)
{
	return (struct live *)src;
}

/*
 * A request for an absent family makes the kernel run modprobe, which takes longer than
 * all other requests together. Users who need the companion can load it themselves.
 */
static bool is_hopeless(const struct eadm_ctx *ctx,
			const struct eadm_query *query)
{
	return query->proto == NETLINK_GENERIC && query->type == GENL_ID_CTRL &&
	       eadm_root_access(ctx, F_OK, "/sys/module/eadm");
}

static bool is_of_family(const struct eadm_query *query)
{
	return query->proto == NETLINK_GENERIC && query->type != GENL_ID_CTRL;
}

/* Returns true for a request about one device that belongs to a program. */
static bool is_of_program(const struct eadm_query *query)
{
	return is_of_family(query) && query->n_args &&
	       query->args[0].attr == EADM_A_DEV_DEV_INDEX &&
	       query->args[0].type == EADM_ARG_U32 &&
	       eadm_found_has(query->args[0].u);
}

static bool names_device(const struct eadm_query *query)
{
	return query->n_args && query->args[0].attr <= EADM_A_DEV_DEV_NAME;
}

static int ask_program(struct live *live, const struct eadm_query *query,
		       struct eadm_stream **stream)
{
	uint32_t seq = eadm_nl_seq(live->nl);

	if (query->cmd == EADM_RAW_CMD)
		return eadm_found_raw(live->found, query, seq, live->scrub,
				      stream);
	return eadm_found_query(live->found, query, seq, stream);
}

/*
 * Request rows of all devices: those of the kernel, if the companion is loaded, and
 * those of programs.
 */
static int ask_all(struct live *live, const struct eadm_query *query,
		   struct eadm_stream **stream)
{
	struct eadm_stream *first = NULL;
	int ret = 0;

	if (query->type != EADM_PEER_TYPE)
		ret = eadm_nl_query(live->nl, query, &first);
	if (ret)
		return ret;
	return eadm_found_query_all(live->found, query,
				    first ? first->seq : eadm_nl_seq(live->nl),
				    first, stream);
}

static int live_query(struct eadm_source *src, const struct eadm_query *query,
		      struct eadm_stream **stream)
{
	struct live *live = to_live(src);

	if (query->proto == EADM_LOCAL_PROTO)
		return eadm_local_query(src->ctx, query, eadm_nl_seq(live->nl),
					stream);
	if (is_hopeless(src->ctx, query))
		return eadm_fail(src->ctx, -ENOENT, EADM_COMPANION_ABSENT);
	if (live->found && is_of_program(query))
		return ask_program(live, query, stream);
	if (live->found && is_of_family(query) && query->dump &&
	    query->cmd != EADM_RAW_CMD && !names_device(query) &&
	    eadm_found_look(live->found))
		return ask_all(live, query, stream);
	if (is_of_family(query) && query->type == EADM_PEER_TYPE)
		return eadm_fail(src->ctx, -ENODATA,
				 "no userspace adapter found");
	/* Netlink does not have this command: the char device handles it. */
	if (query->proto == NETLINK_GENERIC && query->cmd == EADM_RAW_CMD)
		return eadm_node_query(src->ctx, query, eadm_nl_seq(live->nl),
				       live->scrub, stream);
	return eadm_nl_query(live->nl, query, stream);
}

/*
 * Listen to events of the kernel's devices (if the companion is loaded) and of
 * programs.
 */
static int listen_to_events(struct live *live, const struct eadm_query *query,
			    uint32_t group, struct eadm_stream **stream)
{
	struct eadm_stream *first = NULL;
	int ret = 0;

	if (query->type != EADM_PEER_TYPE)
		ret = eadm_nl_listen(live->nl, query, group, &first);
	if (ret || !live->found) {
		*stream = first;
		return ret;
	}
	/*
	 * All messages get the same number, because in a capture they form one response.
	 */
	return eadm_news_listen(live->found, query,
				first ? first->seq : eadm_nl_seq(live->nl),
				first, stream);
}

static int live_listen(struct eadm_source *src, const struct eadm_query *query,
		       uint32_t group, struct eadm_stream **stream)
{
	struct live *live = to_live(src);

	if (query->proto == EADM_LOCAL_PROTO)
		return eadm_probe_follow(src->ctx, query, eadm_nl_seq(live->nl),
					 stream);
	if (live->found && is_of_program(query))
		return eadm_found_follow(live->found, query,
					 eadm_nl_seq(live->nl), stream);
	/* Flight records come through the char device. */
	if (query->cmd != EADM_CMD_EVENT_NTF)
		return -ENOENT;
	return listen_to_events(live, query, group, stream);
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
	eadm_found_free(to_live(src)->found);
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
		  const char *const *folders, struct eadm_source **src)
{
	struct live *live = calloc(1, sizeof(*live));

	if (live)
		live->nl = eadm_nl_new(ctx);
	if (live && folders)
		live->found = eadm_found_new(ctx, folders);
	if (!live || !live->nl || (folders && !live->found)) {
		if (live && live->nl)
			eadm_nl_free(live->nl);
		free(live);
		return eadm_oom(ctx);
	}
	live->src.ops = &live_ops;
	live->src.ctx = ctx;
	live->scrub = scrub;
	*src = &live->src;
	return 0;
}
