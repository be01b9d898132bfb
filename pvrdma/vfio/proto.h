/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wire format of vfio-user messages, in host byte order. Structures shared with the
 * ioctls of VFIO are in <linux/vfio.h>.
 */
#ifndef VFIO_PROTO_H
#define VFIO_PROTO_H

#include <stdint.h>

#define PROTO_MAJOR 0
#define PROTO_MINOR 1

/* Maximum size of the data of one access, which is the protocol's default. */
#define PROTO_MAX_DATA (1u << 20)
/* The longest message is a write of that size. */
#define PROTO_MAX_BODY (PROTO_MAX_DATA + 64)
#define PROTO_MAX_FDS 64

enum proto_command {
	PROTO_VERSION = 1,
	PROTO_DMA_MAP = 2,
	PROTO_DMA_UNMAP = 3,
	PROTO_DEVICE_GET_INFO = 4,
	PROTO_DEVICE_GET_REGION_INFO = 5,
	PROTO_DEVICE_GET_REGION_IO_FDS = 6,
	PROTO_DEVICE_GET_IRQ_INFO = 7,
	PROTO_DEVICE_SET_IRQS = 8,
	PROTO_REGION_READ = 9,
	PROTO_REGION_WRITE = 10,
	PROTO_DMA_READ = 11,
	PROTO_DMA_WRITE = 12,
	PROTO_DEVICE_RESET = 13,
	PROTO_REGION_WRITE_MULTI = 15,
	PROTO_DEVICE_FEATURE = 16,
	PROTO_MIG_DATA_READ = 17,
	PROTO_MIG_DATA_WRITE = 18,
	PROTO_COMMANDS,
};

#define PROTO_TYPE_MASK 0xfu
#define PROTO_TYPE_COMMAND 0u
#define PROTO_TYPE_REPLY 1u
#define PROTO_NO_REPLY (1u << 4)
#define PROTO_ERROR (1u << 5)

struct proto_header {
	uint16_t id;
	uint16_t command;
	/* Size of the message, including this header. */
	uint32_t size;
	uint32_t flags;
	uint32_t error;
};

/* Followed by capabilities as JSON, with a NUL. */
struct proto_version {
	uint16_t major;
	uint16_t minor;
};

#define PROTO_MAP_READ (1u << 0)
#define PROTO_MAP_WRITE (1u << 1)

struct proto_dma_map {
	uint32_t argsz;
	uint32_t flags;
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

struct proto_dma_unmap {
	uint32_t argsz;
	uint32_t flags;
	uint64_t address;
	uint64_t size;
};

/* Shorter than struct vfio_device_info of the ioctl. */
struct proto_device_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t num_regions;
	uint32_t num_irqs;
};

/* Followed by data in a write, and in the reply to a read. */
struct proto_access {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
};

struct proto_multi {
	uint64_t count;
	struct proto_multi_write {
		struct proto_access access;
		uint8_t data[8];
	} writes[];
};

#endif /* VFIO_PROTO_H */
