// SPDX-License-Identifier: GPL-2.0-or-later
/* Accesses by the client to the function. */
#include <endian.h>
#include <errno.h>
#include <linux/pci_regs.h>
#include <string.h>

#include "session.h"

#define PBA_SIZE 8

uint64_t session_region(const struct vfio *vfio, uint32_t region, uint32_t *flags)
{
	uint64_t size = 0;

	if (region < VFIO_BARS)
		size = vfio->function.bars[region].size;
	else if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		size = vfio->config.size;
	*flags = size ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE : 0;
	return size;
}

static void pass_command(struct vfio *vfio, uint16_t before)
{
	uint16_t now = config_command(&vfio->config);
	bool mastering = now & PCI_COMMAND_MASTER;

	if (!((now ^ before) & (PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY)))
		return;
	irq_set_mastering(&vfio->irqs, mastering);
	if (vfio->ops.command)
		vfio->ops.command(vfio->ctx, mastering, now & PCI_COMMAND_MEMORY);
}

void session_reset(struct vfio *vfio)
{
	config_reset(&vfio->config);
	irq_reset(&vfio->irqs);
}

static bool inside(uint64_t offset, size_t size, uint32_t start, uint32_t length)
{
	return offset >= start && offset + size <= (uint64_t)start + length;
}

static bool in_table(const struct vfio *vfio, unsigned int bar, uint64_t offset,
		     size_t size)
{
	return vfio->function.vectors && bar == vfio->function.table_bar &&
	       inside(offset, size, vfio->function.table_offset,
		      vfio->function.vectors * IRQ_TABLE_ENTRY);
}

static bool in_pba(const struct vfio *vfio, unsigned int bar, uint64_t offset,
		   size_t size)
{
	return vfio->function.vectors && bar == vfio->function.pba_bar &&
	       inside(offset, size, vfio->function.pba_offset, PBA_SIZE);
}

static int failure(int ret)
{
	return ret < 0 ? ret : 0;
}

static int read_part(struct vfio *vfio, unsigned int bar, uint64_t offset,
		     unsigned char *data, size_t size)
{
	if (in_table(vfio, bar, offset, size)) {
		memcpy(data, vfio->irqs.table + (offset - vfio->function.table_offset), size);
		return 0;
	}
	if (in_pba(vfio, bar, offset, size)) {
		uint64_t bits = htole64(irq_pending(&vfio->irqs));

		memcpy(data, (char *)&bits + (offset - vfio->function.pba_offset), size);
		return 0;
	}
	memset(data, 0, size);
	return failure(vfio->ops.read(vfio->ctx, bar, offset, data, size));
}

static int write_part(struct vfio *vfio, unsigned int bar, uint64_t offset,
		      const unsigned char *data, size_t size)
{
	if (in_table(vfio, bar, offset, size)) {
		memcpy(vfio->irqs.table + (offset - vfio->function.table_offset), data, size);
		return 0;
	}
	if (in_pba(vfio, bar, offset, size))
		return 0;
	return failure(vfio->ops.write(vfio->ctx, bar, offset, data, size));
}

/* Returns the size of the largest aligned access that begins at @offset. */
static size_t part(uint64_t offset, size_t rest)
{
	size_t size = 8;

	while (size > rest || offset % size)
		size /= 2;
	return size;
}

static int check(const struct vfio *vfio, const struct proto_access *access)
{
	uint32_t flags;
	uint64_t size = session_region(vfio, access->region, &flags);

	if (!access->count || access->count > PROTO_MAX_DATA || access->offset > size ||
	    access->count > size - access->offset)
		return -EINVAL;
	return 0;
}

int session_read(struct vfio *vfio, const struct proto_access *access, void *data)
{
	uint32_t done, size;
	int ret = check(vfio, access);

	if (!ret && access->region >= VFIO_BARS) {
		config_read(&vfio->config, access->offset, data, access->count);
		return 0;
	}
	if (!ret)
		vfio->stats.reads[access->region]++;
	for (done = 0; !ret && done < access->count; done += size) {
		size = part(access->offset + done, access->count - done);
		ret = read_part(vfio, access->region, access->offset + done,
				(unsigned char *)data + done, size);
	}
	return ret;
}

int session_write(struct vfio *vfio, const struct proto_access *access,
		  const void *data)
{
	uint32_t done, size;
	int ret = check(vfio, access);

	if (!ret && access->region >= VFIO_BARS) {
		uint16_t before = config_command(&vfio->config);

		config_write(&vfio->config, access->offset, data, access->count);
		pass_command(vfio, before);
		return 0;
	}
	if (!ret)
		vfio->stats.writes[access->region]++;
	for (done = 0; !ret && done < access->count; done += size) {
		size = part(access->offset + done, access->count - done);
		ret = write_part(vfio, access->region, access->offset + done,
				 (const unsigned char *)data + done, size);
	}
	return ret;
}
