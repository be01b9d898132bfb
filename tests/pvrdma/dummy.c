// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dummy.h"

const struct vfio_function dummy_function = {
	.vendor = DUMMY_VENDOR,
	.device = DUMMY_DEVICE,
	.subsystem_vendor = DUMMY_VENDOR,
	.subsystem = 0x0001,
	.revision = 2,
	.class_code = 0x028000,
	.bars = {
		[0] = { VFIO_BAR_MEM32, false, DUMMY_BAR_SIZE },
		[1] = { VFIO_BAR_MEM32, false, DUMMY_BAR_SIZE },
		[2] = { VFIO_BAR_MEM64, true, UINT64_C(1) << 20 },
	},
	.vectors = DUMMY_VECTORS,
	.pba_offset = DUMMY_PBA,
};

__attribute__((format(printf, 2, 3)))
static void trace(struct dummy *dummy, const char *format, ...)
{
	char line[256];
	va_list ap;

	if (!dummy->trace)
		return;
	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	dummy->trace(line);
}

static uint32_t value_of(struct dummy *dummy, uint64_t offset)
{
	struct vfio_stats stats;

	vfio_stats(dummy->vfio, &stats);
	switch (offset) {
	case DUMMY_ID:
		return DUMMY_ID_VALUE;
	case DUMMY_COMPLEMENT:
		return ~dummy->complement;
	case DUMMY_STATUS:
		return dummy->status;
	case DUMMY_WRITES:
		return stats.writes[1];
	case DUMMY_POSTED:
		return stats.posted[1];
	default:
		return 0;
	}
}

static int dummy_read(void *ctx, unsigned int bar, uint64_t offset, void *data,
		      size_t size)
{
	struct dummy *dummy = ctx;
	uint32_t value;

	if (size > dummy->largest)
		dummy->largest = size;
	if (bar != 1)
		return 0;
	value = value_of(dummy, offset & ~UINT64_C(3)) >> 8 * (offset & 3);
	memcpy(data, &value, size < sizeof(value) ? size : sizeof(value));
	return 0;
}

static void add(struct dummy *dummy, uint32_t value)
{
	uint64_t address = (uint64_t)dummy->high << 32 | dummy->low;
	void *word = vfio_dma(dummy->vfio, address, sizeof(value), true);
	uint32_t sum;

	dummy->status = word ? 0 : errno;
	if (word) {
		/* At any address that the VMM chose. */
		memcpy(&sum, word, sizeof(sum));
		sum += value;
		memcpy(word, &sum, sizeof(sum));
	}
	vfio_interrupt(dummy->vfio, 0);
}

static int dummy_write(void *ctx, unsigned int bar, uint64_t offset,
		       const void *data, size_t size)
{
	struct dummy *dummy = ctx;
	struct timespec pause = { 0 };
	uint32_t value;

	if (size > dummy->largest)
		dummy->largest = size;
	if (bar != 1 || size != sizeof(value))
		return bar == 1 ? -EINVAL : 0;
	memcpy(&value, data, sizeof(value));
	trace(dummy, "write %#x to %#x", value, (unsigned int)offset);
	switch (offset) {
	case DUMMY_COMPLEMENT:
		dummy->complement = value;
		break;
	case DUMMY_ADDRESS_LOW:
		dummy->low = value;
		break;
	case DUMMY_ADDRESS_HIGH:
		dummy->high = value;
		break;
	case DUMMY_ADD:
		add(dummy, value);
		break;
	case DUMMY_DELAY:
		pause.tv_sec = value / 1000;
		pause.tv_nsec = value % 1000 * 1000000L;
		nanosleep(&pause, NULL);
		break;
	}
	return 0;
}

static void dummy_reset(void *ctx)
{
	struct dummy *dummy = ctx;

	dummy->resets++;
	dummy->complement = 0;
	trace(dummy, "reset");
}

static void dummy_mapped(void *ctx, uint64_t address, uint64_t size)
{
	struct dummy *dummy = ctx;

	dummy->mapped++;
	trace(dummy, "mapped %#llx %#llx", (unsigned long long)address,
	      (unsigned long long)size);
}

static void dummy_unmapping(void *ctx, uint64_t address, uint64_t size)
{
	struct dummy *dummy = ctx;

	dummy->unmapped++;
	dummy->unmapped_address = address;
	dummy->unmapped_size = size;
	trace(dummy, "unmapping %#llx %#llx", (unsigned long long)address,
	      (unsigned long long)size);
}

static void dummy_came(void *ctx, const struct vfio_peer *peer)
{
	struct dummy *dummy = ctx;

	dummy->came++;
	trace(dummy, "process %d of user %d", (int)peer->pid, (int)peer->uid);
}

static void dummy_gone(void *ctx)
{
	struct dummy *dummy = ctx;

	dummy->gone++;
	dummy->complement = 0;
	trace(dummy, "gone");
}

static void dummy_command(void *ctx, bool mastering, bool memory)
{
	struct dummy *dummy = ctx;

	dummy->commands++;
	dummy->mastering = mastering;
	dummy->memory = memory;
	trace(dummy, "mastering %d memory %d", mastering, memory);
}

static void dummy_log(void *ctx, const char *line)
{
	struct dummy *dummy = ctx;

	dummy->logs++;
	snprintf(dummy->last_log, sizeof(dummy->last_log), "%s", line);
	trace(dummy, "log: %s", line);
}

const struct vfio_ops dummy_ops = {
	.read = dummy_read,
	.write = dummy_write,
	.reset = dummy_reset,
	.mapped = dummy_mapped,
	.unmapping = dummy_unmapping,
	.came = dummy_came,
	.gone = dummy_gone,
	.command = dummy_command,
	.log = dummy_log,
};
