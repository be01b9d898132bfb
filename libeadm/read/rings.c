// SPDX-License-Identifier: LGPL-2.1-or-later
/* Captures the bytes of all queues, contexts and registers. */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>

#include "device.h"
#include "eadm_nl.h"
#include "grow.h"
#include "model/record.h"
#include "source/capture.h"
#include "source/node.h"

#define MAX_BYTES (64U << 20)

struct walk {
	struct eadm_ctx *ctx;
	struct eadm_capture *capture;
	uint64_t left;
};

struct queue {
	uint32_t id;
	uint32_t subs;		/* number of its parts; 0: none */
};

/* Read data only so that it is captured, including errors. */
static int take(struct walk *walk, const struct eadm_device *dev,
		const struct eadm_node_query *q)
{
	const struct nlmsghdr *nlh;
	struct eadm_query query;
	struct eadm_reply reply;
	int ret;

	eadm_node_ask(walk->ctx, dev, q, &query);
	ret = eadm_reply_open(walk->ctx, &query, &reply);
	while (!ret && (ret = eadm_reply_next(&reply, &nlh)) > 0) {
		ret = nlh->nlmsg_len > walk->left ?
			      eadm_fail(walk->ctx, -EFBIG,
					"queue contents exceed the capture limit") :
			      0;
		if (!ret)
			walk->left -= nlh->nlmsg_len;
	}
	eadm_reply_close(&reply);
	switch (ret) {
	case -EFBIG:
	case -EPERM:
	case -EACCES:
		/* Without the permission, all further reads would fail, too. */
		return ret;
	case 0:
	case -ENOENT:
	case -ENODEV:
	case -ESTALE:
	case -EOPNOTSUPP:
		/* The object was removed, or does not exist. */
		return 0;
	default:
		eadm_capture_missing(walk->capture, ret, dev->name,
				     "queues, contexts and registers");
		return 0;
	}
}

static int take_one(struct walk *walk, const struct eadm_device *dev,
		    uint32_t kind, uint32_t id, bool hw)
{
	return take(walk, dev, &(struct eadm_node_query){
		.kind = kind, .id = id, .hw = hw,
	});
}

static int take_eq(struct walk *walk, const struct eadm_device *dev,
		   const struct queue *queue)
{
	int ret = take_one(walk, dev, EADM_RAW_KIND_EQ, queue->id, true);

	return ret ? ret : take_one(walk, dev, EADM_RAW_KIND_EQC, queue->id,
				    false);
}

static int take_cq(struct walk *walk, const struct eadm_device *dev,
		   const struct queue *queue)
{
	struct eadm_node_query q = {
		.kind = EADM_RAW_KIND_CQ, .id = queue->id, .hw = true,
	};
	int ret = 0;

	do {
		ret = take(walk, dev, &q);
	} while (!ret && ++q.sub < queue->subs);
	return ret ? ret : take_one(walk, dev, EADM_RAW_KIND_CQC, queue->id,
				    false);
}

static int take_qp(struct walk *walk, const struct eadm_device *dev,
		   const struct queue *queue)
{
	int ret = take_one(walk, dev, EADM_RAW_KIND_SQ, queue->id, true);

	if (!ret)
		ret = take_one(walk, dev, EADM_RAW_KIND_RQ, queue->id, true);
	return ret ? ret : take_one(walk, dev, EADM_RAW_KIND_QPC, queue->id,
				    false);
}

static int take_device(struct walk *walk, const struct eadm_device *dev)
{
	int ret;

	ret = take_one(walk, dev, EADM_RAW_KIND_REGS, 0, false);
	if (!ret)
		ret = take_one(walk, dev, EADM_RAW_KIND_CMD_SQ, 0, true);
	if (!ret)
		ret = take_one(walk, dev, EADM_RAW_KIND_CMD_CQ, 0, true);
	return ret;
}

static int take_objects(struct walk *walk, const struct eadm_device *dev,
			enum eadm_spec_obj number,
			int (*fn)(struct walk *walk,
				  const struct eadm_device *dev,
				  const struct queue *queue))
{
	const struct eadm_object *object = &eadm_spec_objects[number];
	struct eadm_dump_opts opts = { .size = sizeof(opts),
				       .device = dev->name };
	const struct eadm_record *rec;
	struct queue *queues = NULL;
	size_t i, n = 0, max = 0;
	struct eadm_dump *dump;
	int ret;

	ret = eadm_dump_open(walk->ctx, object, &opts, &dump);
	if (ret)
		return ret;
	while ((ret = eadm_dump_next(dump, &rec)) > 0) {
		if (!grow(queues, n, max)) {
			ret = eadm_oom(walk->ctx);
			break;
		}
		queues[n++] = (struct queue){
			.id = eadm_record_attr_u64(rec, object->key->slot),
			.subs = number == EADM_SPEC_OBJ_CQ &&
				eadm_record_attr_has(rec, EADM_A_CQ_SUBS) ?
				eadm_record_attr_u64(rec, EADM_A_CQ_SUBS) : 0,
		};
	}
	eadm_dump_close(dump);
	for (i = 0; !ret && i < n; i++)
		ret = fn(walk, dev, &queues[i]);
	free(queues);
	return ret;
}

EADM_API int eadm_capture_rings(struct eadm_capture *c, uint64_t max_bytes)
{
	struct eadm_ctx *ctx = eadm_capture_ctx(c);
	struct walk walk = { ctx, c, max_bytes ? max_bytes : MAX_BYTES };
	struct eadm_device dev;
	unsigned int i;
	int ret;

	if (!ctx->live)
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "raw bytes can be recorded only from this machine, not from a capture");
	ret = eadm_devices_load(ctx);
	for (i = 0; !ret && i < ctx->devices.n; i++) {
		/* The entry is copied, because dumps load the list again. */
		dev = ctx->devices.dev[i];
		if (!dev.companion)
			continue;
		ret = take_device(&walk, &dev);
		if (!ret)
			ret = take_objects(&walk, &dev, EADM_SPEC_OBJ_EQ,
					   take_eq);
		if (!ret)
			ret = take_objects(&walk, &dev, EADM_SPEC_OBJ_CQ,
					   take_cq);
		if (!ret)
			ret = take_objects(&walk, &dev, EADM_SPEC_OBJ_QP,
					   take_qp);
	}
	if (ret != -EPERM && ret != -EACCES)
		return ret;
	eadm_capture_missing(c, ret, "", "queues, contexts and registers");
	return 0;
}
