// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The companion's char device: finding it, and raw bytes read through it. The
 * answers are put into messages of the kind that netlink gives, so that a
 * capture keeps them like all others.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "eadm_ioctl.h"
#include "eadm_nl.h"
#include "read/entry.h"
#include "node.h"
#include "priv.h"
#include "bundle/redact.h"

/* A message stays below 64 KiB, as an attribute must. */
#define PIECE 32768
#define MAX_REGS 256

/* Nodes have numbers of their own; sysfs tells whose they are. */
static bool node_is_of(const char *node, const char *device)
{
	char path[320], name[EADM_DEV_NAME_MAX + 1];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/eadm/%s/ibdev", node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, name, sizeof(name) - 1);
	close(fd);
	if (len < 0)
		return false;
	name[len] = '\0';
	name[strcspn(name, "\n")] = '\0';
	return !strcmp(name, device);
}

static int node_path(struct eadm_ctx *ctx, const char *device, char *path,
		     size_t size)
{
	DIR *dir = opendir("/sys/class/eadm");
	struct dirent *entry;
	unsigned int number;
	int ret = -ENODEV;

	while (dir && ret && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "eadm%u", &number) != 1 ||
		    !node_is_of(entry->d_name, device))
			continue;
		snprintf(path, size, "/dev/eadm/%u", number);
		ret = 0;
	}
	if (dir)
		closedir(dir);
	if (ret)
		eadm_fail(ctx, ret, "the companion has no node for it");
	return ret;
}

/* A file descriptor of the device's node, or a negative errno. */
int eadm_node_open(struct eadm_ctx *ctx, const struct eadm_device *dev,
		   struct eadm_ioc_info *info)
{
	char path[64];
	int ret, fd;

	ret = node_path(ctx, dev->name, path, sizeof(path));
	if (ret)
		return ret;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return eadm_fail(ctx, -errno, errno == EACCES ?
				 "%s: %s (see eadm(4) for who may open it)" :
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

/* ---- answers ----------------------------------------------------------------- */

struct answer {
	struct eadm_grow out;
	uint16_t type;
	uint32_t seq;
	const struct eadm_device *dev;
};

static void put_attr(struct eadm_grow *out, uint16_t type, const void *data,
		     size_t len)
{
	struct nlattr nla = { .nla_len = NLA_HDRLEN + len, .nla_type = type };

	eadm_grow_put(out, &nla, sizeof(nla));
	eadm_grow_put(out, data, len);
	eadm_grow_put(out, "\0\0\0", NLA_ALIGN(len) - len);
}

static void put_u32(struct eadm_grow *out, uint16_t type, uint32_t value)
{
	put_attr(out, type, &value, sizeof(value));
}

static size_t begin(struct answer *a, uint16_t type, uint16_t flags)
{
	struct nlmsghdr nlh = {
		.nlmsg_type = type,
		.nlmsg_flags = flags,
		.nlmsg_seq = a->seq,
	};
	size_t at = a->out.len;

	eadm_grow_put(&a->out, &nlh, sizeof(nlh));
	return at;
}

static void end(struct answer *a, size_t at)
{
	struct nlmsghdr *nlh;

	if (a->out.fail)
		return;
	nlh = (struct nlmsghdr *)(a->out.p + at);
	nlh->nlmsg_len = a->out.len - at;
}

static size_t begin_raw(struct answer *a, uint32_t kind, uint32_t id)
{
	size_t at = begin(a, a->type, NLM_F_MULTI);
	struct genlmsghdr genl = { .cmd = EADM_RAW_CMD, .version = 1 };

	eadm_grow_put(&a->out, &genl, sizeof(genl));
	put_u32(&a->out, EADM_A_RAW_DEV_INDEX, a->dev->index);
	put_attr(&a->out, EADM_A_RAW_DEV_NAME, a->dev->name,
		 strlen(a->dev->name) + 1);
	put_u32(&a->out, EADM_A_RAW_ID, id);
	put_u32(&a->out, EADM_A_RAW_KIND, kind);
	return at;
}

static void put_done(struct answer *a)
{
	size_t at = begin(a, NLMSG_DONE, NLM_F_MULTI);
	int error = 0;

	eadm_grow_put(&a->out, &error, sizeof(error));
	end(a, at);
}

/* ---- what is read -------------------------------------------------------------- */

static int ioctl_failed(struct eadm_ctx *ctx, const struct eadm_device *dev)
{
	switch (errno) {
	case EPERM:
		return eadm_fail(ctx, -EPERM,
				 "takes CAP_SYS_RAWIO and a kernel that is not locked down");
	case ENOENT:
		return eadm_fail(ctx, -ENOENT, "no such queue");
	case ERANGE:
		return eadm_fail(ctx, -ERANGE, "the queue has no such entries");
	case ENODEV:
		return eadm_fail(ctx, -ENODEV, "%s: the device went away",
				 dev->name);
	case EOPNOTSUPP:
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "the driver or the adapter does not give it");
	default:
		return eadm_fail(ctx, -errno, "%s", strerror(errno));
	}
}

static void put_ring(struct answer *a, const struct eadm_ioc_ring *ring,
		     const void *data, bool hw)
{
	size_t at = begin_raw(a, ring->kind, ring->id);
	struct eadm_grow *out = &a->out;
	int32_t hw_error = ring->hw_error;

	put_u32(out, EADM_A_RAW_FIRST, ring->first);
	put_u32(out, EADM_A_RAW_COUNT, ring->count);
	put_u32(out, EADM_A_RAW_ENTRY_SIZE, ring->entry_size);
	put_u32(out, EADM_A_RAW_DEPTH, ring->depth);
	put_u32(out, EADM_A_RAW_SUB, ring->sub);
	put_u32(out, EADM_A_RAW_FORMAT, ring->format);
	put_u32(out, EADM_A_RAW_RING_INDEX, ring->index);
	put_u32(out, EADM_A_RAW_INDEX_BITS, ring->index_bits);
	put_u32(out, EADM_A_RAW_MEMORY, ring->memory);
	put_u32(out, EADM_A_RAW_USER, !!(ring->valid & EADM_RING_USER));
	if (ring->valid & EADM_RING_SW_PI)
		put_u32(out, EADM_A_RAW_SW_PI, ring->sw_pi);
	if (ring->valid & EADM_RING_SW_CI)
		put_u32(out, EADM_A_RAW_SW_CI, ring->sw_ci);
	if (ring->valid & EADM_RING_HW_PI)
		put_u32(out, EADM_A_RAW_HW_PI, ring->hw_pi);
	if (ring->valid & EADM_RING_HW_CI)
		put_u32(out, EADM_A_RAW_HW_CI, ring->hw_ci);
	if (hw && hw_error)
		put_attr(out, EADM_A_RAW_HW_ERROR, &hw_error, sizeof(hw_error));
	put_attr(out, EADM_A_RAW_DATA, data, ring->data_len);
	end(a, at);
}

/* Of entries whose format is not known nothing is kept. */
static int scrub(struct eadm_ctx *ctx, const struct eadm_device *dev,
		 const struct eadm_ioc_ring *ring, uint32_t first,
		 unsigned char *data, uint32_t count)
{
	struct eadm_ring part = {
		.dev = dev, .family = dev->family, .kind = ring->kind,
		.id = ring->id, .depth = ring->depth,
		.entry_size = ring->entry_size, .first = first,
		.count = count, .data = data,
	};

	return eadm_entry_scrub(&part) ?
		       eadm_fail(ctx, -ENOMEM, "out of memory") : 0;
}

/*
 * The whole of what was asked for is read before any of it is given: the
 * indices are those of the beginning, and payload can be told from the rest
 * only by the entries before it.
 */
static int read_ring(struct eadm_ctx *ctx, struct answer *a, int fd,
		     const struct eadm_node_query *q)
{
	struct eadm_ioc_ring ring = {
		.size = sizeof(ring), .kind = q->kind, .id = q->id,
		.flags = q->hw ? EADM_RING_HW : 0,
	};
	uint32_t first = q->first, left, done = 0;
	unsigned char *data;
	int ret = 0;

	if (ioctl(fd, EADM_IOC_RING, &ring))
		return ioctl_failed(ctx, a->dev);
	left = q->has_range ? q->count : ring.depth;
	if (first > ring.depth || left > ring.depth - first)
		return eadm_fail(ctx, -ERANGE, "the queue has %u entries",
				 ring.depth);
	data = malloc((size_t)left * ring.entry_size + 1);
	if (!data)
		return eadm_fail(ctx, -ENOMEM, "out of memory");
	while (!ret && done < left) {
		struct eadm_ioc_ring part = {
			.size = sizeof(part), .kind = q->kind, .id = q->id,
			.first = first + done, .count = left - done,
			.data = (uintptr_t)(data + (size_t)done * ring.entry_size),
			.data_len = EADM_RING_MAX_BYTES,
		};
		size_t room = (size_t)(left - done) * ring.entry_size;

		if (part.data_len > room)
			part.data_len = room;
		if (ioctl(fd, EADM_IOC_RING, &part))
			ret = ioctl_failed(ctx, a->dev);
		else if (!part.count || part.entry_size != ring.entry_size)
			ret = eadm_fail(ctx, -EBADMSG, "the queue changed");
		else
			done += part.count;
	}
	if (!ret && !q->payload)
		ret = scrub(ctx, a->dev, &ring, first, data, left);
	for (done = 0; !ret; done += ring.count) {
		uint32_t max = PIECE / ring.entry_size;

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

static int read_context(struct eadm_ctx *ctx, struct answer *a, int fd,
			const struct eadm_node_query *q)
{
	unsigned char data[512];
	struct eadm_ioc_hwctx arg = {
		.size = sizeof(arg), .kind = q->kind, .id = q->id,
		.data = (uintptr_t)data, .data_len = sizeof(data),
	};
	size_t at;

	if (ioctl(fd, EADM_IOC_HWCTX, &arg))
		return ioctl_failed(ctx, a->dev);
	if (arg.data_len > sizeof(data))
		arg.data_len = sizeof(data);
	at = begin_raw(a, q->kind, q->id);
	put_attr(&a->out, EADM_A_RAW_DATA, data, arg.data_len);
	end(a, at);
	return 0;
}

static int read_regs(struct eadm_ctx *ctx, struct answer *a, int fd)
{
	struct eadm_ioc_reg regs[MAX_REGS];
	struct eadm_ioc_regs arg = {
		.size = sizeof(arg), .count = MAX_REGS,
		.data = (uintptr_t)regs,
	};
	size_t at;

	if (ioctl(fd, EADM_IOC_REGS, &arg))
		return ioctl_failed(ctx, a->dev);
	if (arg.count > MAX_REGS)
		arg.count = MAX_REGS;
	at = begin_raw(a, EADM_RAW_KIND_REGS, 0);
	put_attr(&a->out, EADM_A_RAW_DATA, regs, arg.count * sizeof(regs[0]));
	end(a, at);
	return 0;
}

static const struct eadm_device *device_of(struct eadm_ctx *ctx,
					   const struct eadm_query *query)
{
	unsigned int i;

	for (i = 0; i < ctx->devices.n; i++) {
		if (query->n_args && ctx->devices.dev[i].index ==
		    query->args[0].u)
			return &ctx->devices.dev[i];
	}
	return NULL;
}

/* Back from attributes; the order is that of eadm_node_ask(). */
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

/* The request for raw bytes of a device. */
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

/*
 * Answers a request of eadm_node_ask(): whole messages, of which the caller
 * gives one after the other.
 */
int eadm_node_answer(struct eadm_ctx *ctx, const struct eadm_query *query,
		     uint32_t seq, unsigned char **data, size_t *len)
{
	struct answer a = { .type = query->type, .seq = seq };
	struct eadm_node_query q;
	struct eadm_ioc_info info;
	int fd, ret;

	a.dev = device_of(ctx, query);
	if (!a.dev)
		return eadm_fail(ctx, -ENODEV, "no such RDMA device");
	parse(query, &q);
	fd = eadm_node_open(ctx, a.dev, &info);
	if (fd < 0)
		return fd;
	if (q.kind == EADM_RAW_KIND_REGS)
		ret = read_regs(ctx, &a, fd);
	else if (q.kind >= EADM_RAW_KIND_QPC)
		ret = read_context(ctx, &a, fd, &q);
	else
		ret = read_ring(ctx, &a, fd, &q);
	close(fd);
	put_done(&a);
	if (!ret && a.out.fail)
		ret = eadm_fail(ctx, -ENOMEM, "out of memory");
	if (ret) {
		free(a.out.p);
		return ret;
	}
	*data = a.out.p;
	*len = a.out.len;
	return 0;
}
