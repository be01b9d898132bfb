// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The companion's char device: finding it, and reading raw bytes through it. The
 * responses are put into messages like those of netlink, so that a capture stores them
 * like all others.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "eadm_ioctl.h"
#include "eadm_nl.h"
#include "answer.h"
#include "base/root.h"
#include "message.h"
#include "model/fields.h"
#include "node.h"

/* Keeps a message below 64 KiB, the limit of an attribute. */
#define PIECE 32768
#define MAX_REGS 256
#define MAX_CONTEXT 8192

/* Nodes have their own numbers; sysfs shows the device of each node. */
static bool node_is_of(const struct eadm_ctx *ctx, const char *node,
		       const char *device)
{
	char name[EADM_DEV_NAME_MAX + 1];

	return eadm_root_line(ctx, name, sizeof(name),
			      "/sys/class/eadm/%s/ibdev", node) &&
	       !strcmp(name, device);
}

static int find_node(struct eadm_ctx *ctx, const char *device,
		     unsigned int *number)
{
	DIR *dir = eadm_root_dir(ctx, "/sys/class/eadm");
	struct dirent *entry;
	int ret = -ENODEV;

	while (dir && ret && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "eadm%u", number) == 1 &&
		    node_is_of(ctx, entry->d_name, device))
			ret = 0;
	}
	if (dir)
		closedir(dir);
	if (ret)
		eadm_fail(ctx, ret, "the companion module provides no node for this device");
	return ret;
}

/* Returns a file descriptor of the device's node, or a negative errno. */
int eadm_node_open(struct eadm_ctx *ctx, const struct eadm_device *dev,
		   struct eadm_ioc_info *info)
{
	unsigned int number;
	char path[32];
	int ret, fd;

	ret = find_node(ctx, dev->name, &number);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/dev/eadm/%u", number);
	fd = eadm_root_open(ctx, O_RDONLY | O_NONBLOCK, "%s", path);
	if (fd < 0)
		return eadm_fail(ctx, -errno, errno == EACCES ?
				 "%s: %s (eadm(4) describes the required privileges)" :
				 "%s: %s", path, strerror(errno));
	*info = (struct eadm_ioc_info){ .size = sizeof(*info) };
	if (ioctl(fd, EADM_IOC_INFO, info))
		ret = eadm_fail(ctx, -errno, "%s: %s", path, strerror(errno));
	else if (info->dev_index != dev->index)
		ret = eadm_fail(ctx, -ENODEV, "%s belongs to another device",
				path);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* ---- responses --------------------------------------------------------------- */

struct answer {
	struct eadm_answer made;
	const struct eadm_device *dev;
	eadm_ioctl_fn call;
	void *data;
};

static int ioctl_node(void *data, unsigned long request, void *arg)
{
	return ioctl(*(int *)data, request, arg);
}

static size_t begin_raw(struct answer *a, uint32_t kind, uint32_t id)
{
	size_t at = eadm_answer_row(&a->made, a->dev);

	eadm_message_put_u32(&a->made.out, EADM_A_RAW_ID, id);
	eadm_message_put_u32(&a->made.out, EADM_A_RAW_KIND, kind);
	return at;
}

/* ---- reading --------------------------------------------------------------------- */

static int ioctl_failed(struct eadm_ctx *ctx, const struct eadm_device *dev)
{
	switch (errno) {
	case EPERM:
		return eadm_fail(ctx, -EPERM,
				 "requires CAP_SYS_RAWIO and a kernel that is not locked down");
	case ENOENT:
		return eadm_fail(ctx, -ENOENT, "no such queue");
	case ERANGE:
		return eadm_fail(ctx, -ERANGE, "the queue has no such entries");
	case ENODEV:
		return eadm_fail(ctx, -ENODEV, "%s: the device was removed",
				 dev->name);
	case ESTALE:
		return eadm_fail(ctx, -ESTALE,
				 "the adapter was removed, or lost the object in a reset");
	case EAGAIN:
		return eadm_fail(ctx, -EAGAIN, "the adapter is being reset");
	case EOPNOTSUPP:
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "not supported by this driver or adapter");
	default:
		return eadm_fail(ctx, -errno, "%s", strerror(errno));
	}
}

static void put_ring(struct answer *a, const struct eadm_ioc_ring *ring,
		     const void *data, bool hw)
{
	size_t at = begin_raw(a, ring->kind, ring->id);
	struct eadm_bytes *out = &a->made.out;
	int32_t hw_error = ring->hw_error;

	eadm_message_put_u32(out, EADM_A_RAW_FIRST, ring->first);
	eadm_message_put_u32(out, EADM_A_RAW_COUNT, ring->count);
	eadm_message_put_u32(out, EADM_A_RAW_ENTRY_SIZE, ring->entry_size);
	eadm_message_put_u32(out, EADM_A_RAW_DEPTH, ring->depth);
	eadm_message_put_u32(out, EADM_A_RAW_SUB, ring->sub);
	eadm_message_put_u32(out, EADM_A_RAW_RING_INDEX, ring->index);
	eadm_message_put_u32(out, EADM_A_RAW_INDEX_BITS, ring->index_bits);
	eadm_message_put_u32(out, EADM_A_RAW_MEMORY, ring->memory);
	eadm_message_put_u32(out, EADM_A_RAW_USER,
			     !!(ring->valid & EADM_RING_USER));
	if (ring->valid & EADM_RING_SW_PI)
		eadm_message_put_u32(out, EADM_A_RAW_SW_PI, ring->sw_pi);
	if (ring->valid & EADM_RING_SW_CI)
		eadm_message_put_u32(out, EADM_A_RAW_SW_CI, ring->sw_ci);
	if (ring->valid & EADM_RING_HW_PI)
		eadm_message_put_u32(out, EADM_A_RAW_HW_PI, ring->hw_pi);
	if (ring->valid & EADM_RING_HW_CI)
		eadm_message_put_u32(out, EADM_A_RAW_HW_CI, ring->hw_ci);
	if (hw && hw_error)
		eadm_message_put(out, EADM_A_RAW_HW_ERROR, &hw_error,
				 sizeof(hw_error));
	eadm_message_put(out, EADM_A_RAW_DATA, data, ring->data_len);
	eadm_message_end(&a->made.out, at);
}

/*
 * The whole range is read before any of it is passed on, because the indices were read
 * before the entries, and only the preceding entries show which bytes are payload.
 */
static int read_ring(struct eadm_ctx *ctx, struct answer *a,
		     const struct eadm_node_query *q, eadm_scrub_fn scrub)
{
	struct eadm_ioc_ring ring = {
		.size = sizeof(ring), .kind = q->kind, .id = q->id, .sub = q->sub,
		.flags = q->hw ? EADM_RING_HW : 0,
	};
	uint32_t first = q->first, left, done = 0;
	unsigned char *data;
	int ret = 0;

	if (a->call(a->data, EADM_IOC_RING, &ring))
		return ioctl_failed(ctx, a->dev);
	left = q->has_range ? q->count : ring.depth;
	/*
	 * Entries behind a BAR are not read, and their size may be unknown; only their
	 * description is returned.
	 */
	if (ring.memory == EADM_RING_MEMORY_DEVICE)
		left = 0;
	else if (!ring.entry_size || ring.entry_size > PIECE)
		return eadm_fail(ctx, -EBADMSG, "invalid entry size: %u bytes",
				 ring.entry_size);
	if (first > ring.depth || left > ring.depth - first)
		return eadm_fail(ctx, -ERANGE, "the queue has %u %s",
				 ring.depth,
				 eadm_plural(ring.depth, "entry", "entries"));
	data = malloc((size_t)left * ring.entry_size + 1);
	if (!data)
		return eadm_oom(ctx);
	while (!ret && done < left) {
		struct eadm_ioc_ring part = {
			.size = sizeof(part), .kind = q->kind, .id = q->id, .sub = q->sub,
			.first = first + done, .count = left - done,
			.data = (uintptr_t)(data + (size_t)done * ring.entry_size),
			.data_len = EADM_RING_MAX_BYTES,
		};
		size_t room = (size_t)(left - done) * ring.entry_size;

		if (part.data_len > room)
			part.data_len = room;
		if (a->call(a->data, EADM_IOC_RING, &part))
			ret = ioctl_failed(ctx, a->dev);
		else if (!part.count || part.entry_size != ring.entry_size)
			ret = eadm_fail(ctx, -EBADMSG, "the queue changed while being read");
		else
			done += part.count;
	}
	if (!ret && !q->payload)
		ret = scrub(ctx, &(struct eadm_node_part){
			.dev = a->dev, .kind = q->kind, .id = q->id,
			.depth = ring.depth, .entry_size = ring.entry_size,
			.index = ring.index, .index_bits = ring.index_bits,
			.first = first, .count = left, .data = data,
		});
	for (done = 0; !ret; done += ring.count) {
		uint32_t max = left ? PIECE / ring.entry_size : 0;

		ring.first = first + done;
		ring.count = left - done < max ? left - done : max;
		ring.data_len = ring.count * ring.entry_size;
		put_ring(a, &ring, data + (size_t)done * ring.entry_size,
			 q->hw);
		if (done + ring.count >= left)
			break;
	}
	free(data);
	return ret;
}

static int read_context(struct eadm_ctx *ctx, struct answer *a,
			const struct eadm_node_query *q)
{
	unsigned char data[MAX_CONTEXT];
	struct eadm_ioc_hwctx arg = {
		.size = sizeof(arg), .kind = q->kind, .id = q->id,
		.data = (uintptr_t)data, .data_len = sizeof(data),
	};
	size_t at;

	if (a->call(a->data, EADM_IOC_HWCTX, &arg))
		return ioctl_failed(ctx, a->dev);
	if (arg.data_len > sizeof(data))
		return eadm_fail(ctx, -EFBIG, "context too large: %u bytes",
				 arg.data_len);
	at = begin_raw(a, q->kind, q->id);
	eadm_message_put(&a->made.out, EADM_A_RAW_DATA, data, arg.data_len);
	eadm_message_end(&a->made.out, at);
	return 0;
}

static int read_regs(struct eadm_ctx *ctx, struct answer *a)
{
	struct eadm_ioc_reg regs[MAX_REGS];
	struct eadm_ioc_regs arg = {
		.size = sizeof(arg), .count = MAX_REGS,
		.data = (uintptr_t)regs,
	};
	size_t at;

	if (a->call(a->data, EADM_IOC_REGS, &arg))
		return ioctl_failed(ctx, a->dev);
	if (arg.count > MAX_REGS)
		arg.count = MAX_REGS;
	at = begin_raw(a, EADM_RAW_KIND_REGS, 0);
	eadm_message_put(&a->made.out, EADM_A_RAW_DATA, regs,
			 arg.count * sizeof(regs[0]));
	eadm_message_end(&a->made.out, at);
	return 0;
}

/* Convert back from attributes, in the order of eadm_node_ask(). */
static void parse(const struct eadm_query *query, struct eadm_node_query *q)
{
	unsigned int i;

	*q = (struct eadm_node_query){ 0 };
	for (i = 0; i < query->n_args; i++) {
		const struct eadm_arg *arg = &query->args[i];

		switch (arg->attr) {
		case EADM_A_RAW_ID:
			q->id = arg->u;
			break;
		case EADM_A_RAW_KIND:
			q->kind = arg->u;
			break;
		case EADM_A_RAW_SUB:
			q->sub = arg->u;
			break;
		case EADM_A_RAW_FIRST:
			q->first = arg->u;
			q->has_range = true;
			break;
		case EADM_A_RAW_COUNT:
			q->count = arg->u;
			break;
		case EADM_A_RAW_QUERY_HW:
			q->hw = true;
			break;
		case EADM_A_RAW_PAYLOAD:
			q->payload = true;
			break;
		}
	}
}

/* Make the request for raw bytes of a device. */
void eadm_node_ask(const struct eadm_ctx *ctx, const struct eadm_device *dev,
		   const struct eadm_node_query *q, struct eadm_query *query)
{
	*query = (struct eadm_query){
		.proto = NETLINK_GENERIC,
		.type = ctx->devices.family,
		.cmd = EADM_RAW_CMD,
		.dump = true,
	};
	eadm_query_arg(query, EADM_A_RAW_DEV_INDEX, EADM_ARG_U32, dev->index,
		       NULL, false);
	eadm_query_arg(query, EADM_A_RAW_KIND, EADM_ARG_U32, q->kind, NULL,
		       false);
	eadm_query_arg(query, EADM_A_RAW_ID, EADM_ARG_U32, q->id, NULL, false);
	if (q->sub)
		eadm_query_arg(query, EADM_A_RAW_SUB, EADM_ARG_U32, q->sub,
			       NULL, false);
	if (q->has_range) {
		eadm_query_arg(query, EADM_A_RAW_FIRST, EADM_ARG_U32, q->first,
			       NULL, true);
		eadm_query_arg(query, EADM_A_RAW_COUNT, EADM_ARG_U32, q->count,
			       NULL, true);
	}
	if (q->hw)
		eadm_query_arg(query, EADM_A_RAW_QUERY_HW, EADM_ARG_FLAG, 0,
			       NULL, false);
	if (q->payload)
		eadm_query_arg(query, EADM_A_RAW_PAYLOAD, EADM_ARG_FLAG, 0,
			       NULL, false);
}

static int answer(struct eadm_ctx *ctx, const struct eadm_query *query,
		  eadm_scrub_fn scrub, struct answer *a)
{
	struct eadm_node_query q;

	parse(query, &q);
	if (q.kind == EADM_RAW_KIND_REGS)
		return read_regs(ctx, a);
	if (EADM_IS_OF(q.kind, EADM_RAW_KIND_CLASS_CONTEXT))
		return read_context(ctx, a, &q);
	return read_ring(ctx, a, &q, scrub);
}

static const struct eadm_device *device_of(struct eadm_ctx *ctx,
					   const struct eadm_query *query)
{
	const struct eadm_device *dev = query->n_args ?
		eadm_device_of(ctx, query->args[0].u) : NULL;

	if (!dev)
		eadm_fail(ctx, -ENODEV, "no such RDMA device");
	return dev;
}

/* Respond to a request made by eadm_node_ask(). */
int eadm_node_query_by(struct eadm_ctx *ctx, const struct eadm_query *query,
		       uint32_t seq, eadm_scrub_fn scrub, eadm_ioctl_fn call,
		       void *data, struct eadm_stream **stream)
{
	struct answer a = {
		.made = {
			.ctx = ctx, .type = query->type, .cmd = EADM_RAW_CMD,
			.seq = seq,
		},
		.dev = device_of(ctx, query), .call = call, .data = data,
	};
	int ret = a.dev ? answer(ctx, query, scrub, &a) : -ENODEV;

	if (!ret)
		return eadm_answer_stream(&a.made, stream);
	free(a.made.out.p);
	return ret;
}

int eadm_node_query(struct eadm_ctx *ctx, const struct eadm_query *query,
		    uint32_t seq, eadm_scrub_fn scrub,
		    struct eadm_stream **stream)
{
	const struct eadm_device *dev = device_of(ctx, query);
	struct eadm_ioc_info info;
	int fd, ret;

	if (!dev)
		return -ENODEV;
	fd = eadm_node_open(ctx, dev, &info);
	if (fd < 0)
		return fd;
	ret = eadm_node_query_by(ctx, query, seq, scrub, ioctl_node, &fd,
				 stream);
	close(fd);
	return ret;
}
