// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Linked with the objects of the tool or of the exporter, instead of the live source:
 * a capture, $REQUESTS_FROM, whose context is live, and which writes a line for each
 * request that reaches it to $REQUESTS_FILE: object, "get" or "dump", and arguments.
 * The machine's files are below $REQUESTS_ROOT.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/root.h"
#include "model/record.h"
#include "source/query.h"

int __wrap_eadm_open_live(struct eadm_ctx *ctx);

static const struct eadm_source_ops *real;
static int file = -1;

static const char *object_of(const struct eadm_query *query)
{
	const struct eadm_object *object = NULL;

	if (query->proto == NETLINK_RDMA)
		return "nldev";
	if (query->type == GENL_ID_CTRL)
		return "family";
	while ((object = eadm_object_next(object))) {
		if (object->cmd == query->cmd)
			return eadm_object_name(object);
	}
	return "other";
}

static int query_counted(struct eadm_source *src, const struct eadm_query *query,
			 struct eadm_stream **stream)
{
	char line[512];
	int i, n;

	n = snprintf(line, sizeof(line), "%s %s", object_of(query),
		     query->dump ? "dump" : "get");
	for (i = 0; i < query->n_args; i++)
		n += snprintf(line + n, sizeof(line) - n, " %u=%" PRIu64 "%s",
			      query->args[i].attr, query->args[i].u,
			      query->args[i].str ? query->args[i].str : "");
	line[n++] = '\n';
	if (write(file, line, n) != n)
		abort();
	return real->query(src, query, stream);
}

int __wrap_eadm_open_live(struct eadm_ctx *ctx)
{
	static struct eadm_source_ops counted;
	int ret = eadm_open_file(ctx, getenv("REQUESTS_FROM"));

	if (!ret)
		ret = eadm_root_set(ctx, getenv("REQUESTS_ROOT"));
	if (ret)
		return ret;
	/* The first context is opened before there are threads. */
	if (!real) {
		real = ctx->src->ops;
		counted = *real;
		counted.query = query_counted;
		file = open(getenv("REQUESTS_FILE"),
			    O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	}
	ctx->src->ops = &counted;
	ctx->live = true;
	return 0;
}
