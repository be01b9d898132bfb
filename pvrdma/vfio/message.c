// SPDX-License-Identifier: GPL-2.0-or-later
/* A handler for each message that a client may send. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "session.h"
#include "version.h"

#define COMPLAINTS 16
#define UNMAP_ALL (1u << 1)
/* Returned by a handler, instead of -errno. */
#define UNFINISHED INT_MIN

/*
 * The body of the message is in @channel, @size bytes, at least the handler's minimum.
 * The handler returns the size of the reply's body, -errno for a reply with an error, or
 * UNFINISHED to be called again.
 */
struct handler {
	const char *name;
	int (*run)(struct vfio *vfio, size_t size);
	size_t least;
	/* The message may contain descriptors. */
	bool fds;
};

static int do_version(struct vfio *vfio, size_t size)
{
	int ret;

	if (vfio->negotiated)
		return -EEXIST;
	ret = version_negotiate(channel_body(&vfio->channel), size,
				channel_reply_body(&vfio->channel), PROTO_MAX_BODY);
	if (ret < 0)
		return ret;
	vfio->negotiated = true;
	if (vfio->ops.came)
		vfio->ops.came(vfio->ctx, &vfio->stats.peer);
	return ret;
}

static int do_map(struct vfio *vfio, size_t size)
{
	const struct proto_dma_map *map = channel_body(&vfio->channel);
	int fd = -1, ret;

	if (size != sizeof(*map) || vfio->channel.fd_count > 1 ||
	    map->flags & ~(PROTO_MAP_READ | PROTO_MAP_WRITE))
		return -EINVAL;
	if (vfio->channel.fd_count) {
		/*
		 * Write-only mappings are not possible. Accesses to other files than those
		 * in memory may block.
		 */
		if (!(map->flags & PROTO_MAP_READ) || !discard_is_memory(vfio->channel.fds[0]))
			return -EINVAL;
		fd = channel_take_fd(&vfio->channel, 0);
	}
	ret = memory_map(&vfio->memory, map->address, map->size, fd, map->offset,
			 map->flags & PROTO_MAP_WRITE);
	if (!ret && fd >= 0 && vfio->ops.mapped)
		vfio->ops.mapped(vfio->ctx, map->address, map->size);
	return ret;
}

static void unmap(struct vfio *vfio, uint64_t address, uint64_t size)
{
	vfio->ops.unmapping(vfio->ctx, address, size);
	memory_unmap(&vfio->memory, address);
}

static int do_unmap(struct vfio *vfio, size_t size)
{
	const struct proto_dma_unmap *request = channel_body(&vfio->channel);
	uint64_t address, length;

	if (size != sizeof(*request) || request->flags & ~UNMAP_ALL)
		return -EINVAL;
	if (request->flags) {
		if (request->address || request->size)
			return -EINVAL;
		while (memory_region(&vfio->memory, 0, &address, &length))
			unmap(vfio, address, length);
	} else {
		if (!memory_has(&vfio->memory, request->address, request->size))
			return -ENOENT;
		unmap(vfio, request->address, request->size);
	}
	memcpy(channel_reply_body(&vfio->channel), request, sizeof(*request));
	return sizeof(*request);
}

static int do_device_info(struct vfio *vfio, size_t size)
{
	struct proto_device_info info = {
		.argsz = sizeof(info),
		.flags = VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
		.num_regions = VFIO_PCI_NUM_REGIONS,
		.num_irqs = IRQ_INDEXES,
	};

	(void)size;
	memcpy(channel_reply_body(&vfio->channel), &info, sizeof(info));
	return sizeof(info);
}

static int do_region_info(struct vfio *vfio, size_t size)
{
	const struct vfio_region_info *request = channel_body(&vfio->channel);
	struct vfio_region_info info = { .argsz = sizeof(info), .index = request->index };

	(void)size;
	if (request->index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	info.size = session_region(vfio, request->index, &info.flags);
	memcpy(channel_reply_body(&vfio->channel), &info, sizeof(info));
	return sizeof(info);
}

static int do_irq_info(struct vfio *vfio, size_t size)
{
	const struct vfio_irq_info *request = channel_body(&vfio->channel);
	struct vfio_irq_info info = { .argsz = sizeof(info), .index = request->index };

	(void)size;
	if (request->index >= IRQ_INDEXES)
		return -EINVAL;
	info.count = irq_count(&vfio->irqs, request->index, &info.flags);
	memcpy(channel_reply_body(&vfio->channel), &info, sizeof(info));
	return sizeof(info);
}

static int do_set_irqs(struct vfio *vfio, size_t size)
{
	const struct vfio_irq_set *set = channel_body(&vfio->channel);

	return irq_set(&vfio->irqs, set, set->data, size - sizeof(*set), &vfio->channel);
}

static int do_read(struct vfio *vfio, size_t size)
{
	const struct proto_access *access = channel_body(&vfio->channel);
	struct proto_access *reply = channel_reply_body(&vfio->channel);
	int ret;

	if (size != sizeof(*access))
		return -EINVAL;
	*reply = *access;
	ret = session_read(vfio, access, reply + 1);
	return ret ? ret : (int)(sizeof(*reply) + access->count);
}

static int do_write(struct vfio *vfio, size_t size)
{
	const struct proto_access *access = channel_body(&vfio->channel);
	int ret;

	if (size - sizeof(*access) != access->count)
		return -EINVAL;
	if (channel_header(&vfio->channel)->flags & PROTO_NO_REPLY &&
	    access->region < VFIO_BARS)
		vfio->stats.posted[access->region]++;
	ret = session_write(vfio, access, access + 1);
	memcpy(channel_reply_body(&vfio->channel), access, sizeof(*access));
	return ret ? ret : (int)sizeof(*access);
}

/*
 * Performs one write of the message, because each may take as long as a separate message.
 * Writes before a failed write have been performed, and are counted in the reply.
 */
static int do_write_multi(struct vfio *vfio, size_t size)
{
	const struct proto_multi *multi = channel_body(&vfio->channel);
	uint64_t done = vfio->writes_done;

	if ((size - sizeof(*multi)) / sizeof(multi->writes[0]) != multi->count ||
	    (size - sizeof(*multi)) % sizeof(multi->writes[0]))
		return -EINVAL;
	vfio->writes_done = 0;
	if (done < multi->count) {
		const struct proto_access *access = &multi->writes[done].access;
		int ret = access->count > sizeof(multi->writes[done].data) ? -EINVAL : 0;

		if (!ret && access->region < VFIO_BARS)
			vfio->stats.posted[access->region]++;
		if (!ret)
			ret = session_write(vfio, access, multi->writes[done].data);
		if (ret && !done)
			return ret;
		if (!ret && ++done < multi->count) {
			vfio->writes_done = done;
			return UNFINISHED;
		}
	}
	memcpy(channel_reply_body(&vfio->channel), &done, sizeof(done));
	return sizeof(done);
}

static int do_reset(struct vfio *vfio, size_t size)
{
	if (size)
		return -EINVAL;
	session_reset(vfio);
	vfio->ops.reset(vfio->ctx);
	return 0;
}

/* These messages mainly concern migration: the VMM then refuses to migrate the guest. */
static int do_unsupported(struct vfio *vfio, size_t size)
{
	(void)vfio;
	(void)size;
	return -ENOTTY;
}

static const struct handler handlers[PROTO_COMMANDS] = {
	[PROTO_VERSION] = { "VERSION", do_version, 0, false },
	[PROTO_DMA_MAP] = { "DMA_MAP", do_map, sizeof(struct proto_dma_map), true },
	[PROTO_DMA_UNMAP] = { "DMA_UNMAP", do_unmap, sizeof(struct proto_dma_unmap), false },
	[PROTO_DEVICE_GET_INFO] = { "DEVICE_GET_INFO", do_device_info,
				    sizeof(struct proto_device_info), false },
	[PROTO_DEVICE_GET_REGION_INFO] = { "DEVICE_GET_REGION_INFO", do_region_info,
					   sizeof(struct vfio_region_info), false },
	[PROTO_DEVICE_GET_REGION_IO_FDS] = { "DEVICE_GET_REGION_IO_FDS", do_unsupported,
					     0, false },
	[PROTO_DEVICE_GET_IRQ_INFO] = { "DEVICE_GET_IRQ_INFO", do_irq_info,
					sizeof(struct vfio_irq_info), false },
	[PROTO_DEVICE_SET_IRQS] = { "DEVICE_SET_IRQS", do_set_irqs,
				    sizeof(struct vfio_irq_set), true },
	[PROTO_REGION_READ] = { "REGION_READ", do_read, sizeof(struct proto_access), false },
	[PROTO_REGION_WRITE] = { "REGION_WRITE", do_write, sizeof(struct proto_access), false },
	[PROTO_DEVICE_RESET] = { "DEVICE_RESET", do_reset, 0, false },
	[PROTO_REGION_WRITE_MULTI] = { "REGION_WRITE_MULTI", do_write_multi,
				       sizeof(struct proto_multi), false },
	[PROTO_DEVICE_FEATURE] = { "DEVICE_FEATURE", do_unsupported, 0, false },
	[PROTO_MIG_DATA_READ] = { "MIG_DATA_READ", do_unsupported, 0, false },
	[PROTO_MIG_DATA_WRITE] = { "MIG_DATA_WRITE", do_unsupported, 0, false },
};

static int run(struct vfio *vfio, const struct proto_header *header, const char **name)
{
	const struct handler *handler = header->command < PROTO_COMMANDS ?
						&handlers[header->command] : NULL;
	size_t size = header->size - sizeof(*header);

	if (!handler || !handler->run) {
		*name = "unknown message";
		return -ENOSYS;
	}
	*name = handler->name;
	if (size < handler->least || (vfio->channel.fd_count && !handler->fds))
		return -EINVAL;
	if (vfio->channel.fds_lost)
		return -EMFILE;
	return handler->run(vfio, size);
}

/* A VMM that repeats the same error must not fill the log. */
static void complain(struct vfio *vfio, const char *name, int error)
{
	vfio->stats.refused++;
	if (error == ENOTTY || vfio->complaints == COMPLAINTS)
		return;
	if (++vfio->complaints < COMPLAINTS)
		session_log(vfio, "%s refused: %s", name, strerror(error));
	else
		session_log(vfio, "%s refused: %s; further refusals in this session are only counted",
			    name, strerror(error));
}

int session_message(struct vfio *vfio, const char **why)
{
	const struct proto_header *header = channel_header(&vfio->channel);
	const char *name;
	int ret;

	if ((header->flags & PROTO_TYPE_MASK) != PROTO_TYPE_COMMAND) {
		*why = "unsolicited reply";
		return -EBADMSG;
	}
	if (!vfio->negotiated && header->command != PROTO_VERSION) {
		*why = "the first message is not VERSION";
		return -EBADMSG;
	}
	vfio->stats.messages += !vfio->unfinished;
	ret = run(vfio, header, &name);
	vfio->unfinished = ret == UNFINISHED;
	if (vfio->unfinished)
		return 1;
	if (ret < 0)
		complain(vfio, name, -ret);
	if (!(header->flags & PROTO_NO_REPLY))
		channel_reply(&vfio->channel, ret < 0 ? 0 : ret, ret < 0 ? -ret : 0);
	if (!vfio->negotiated) {
		*why = "no common version";
		return -EBADMSG;
	}
	return 0;
}
