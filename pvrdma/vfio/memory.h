/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's memory: regions that the client has mapped for DMA. */
#ifndef VFIO_MEMORY_H
#define VFIO_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "discard.h"
#include "guard.h"
#include "vfio.h"

#define MEMORY_MAX_REGIONS 4096
/* Limit for one client, which must not exhaust this process's address space. */
#define MEMORY_MAX_BYTES (UINT64_C(1) << 43)
/* Each takes a descriptor of this process, of which other clients need some. */
#define MEMORY_MAX_FILES 64

struct region;

struct memory {
	/* Sorted by address; they do not overlap. */
	struct region *regions;
	unsigned int count, max;
	/* Position of the last lookup. */
	unsigned int hint;
	uint64_t bytes;
	unsigned int unreachable;
	/* Number of distinct files. */
	unsigned int files;
	struct guard_owner *owner;
	/* Closes the files: the last close() frees their pages, which takes long. */
	struct discard *discard;
};

void memory_init(struct memory *memory, struct guard_owner *owner, struct discard *discard);
/* Unmaps everything. */
void memory_clear(struct memory *memory);

/*
 * Adds a region; if @fd is -1, the region exists but is not accessible. Takes ownership
 * of the descriptor, even on failure; discard_is_memory() must be true for it. Returns
 * -EEXIST if it overlaps another region.
 */
int memory_map(struct memory *memory, uint64_t address, uint64_t size, int fd,
	       uint64_t offset, bool writable);
/* Returns true if exactly this region was mapped. */
bool memory_has(const struct memory *memory, uint64_t address, uint64_t size);
void memory_unmap(struct memory *memory, uint64_t address);
/* Looks up region number @index. Returns false if there is none. */
bool memory_region(const struct memory *memory, unsigned int index,
		   uint64_t *address, uint64_t *size);

/* Returns the same errors as vfio_backing(); @run may end before @size. */
int memory_find(struct memory *memory, uint64_t address, uint64_t size,
		struct vfio_run *run);

#endif /* VFIO_MEMORY_H */
