// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "grow.h"
#include "memory.h"

/*
 * A file that backs regions. A VMM sends a separate descriptor of the file for each
 * region.
 */
struct file {
	int fd;
	dev_t dev;
	ino_t inode;
	int access;
	unsigned int users;
};

struct region {
	uint64_t address;
	uint64_t size;
	/* NULL: not accessible. */
	struct file *file;
	uint64_t offset;
	unsigned char *bytes;
	bool writable;
	/* The mapping of @bytes, extended to whole huge pages if they back the file. */
	unsigned char *mapping;
	size_t mapped;
};

#define PAGE UINT64_C(4096)

void memory_init(struct memory *memory, struct guard_owner *owner, struct discard *discard)
{
	memset(memory, 0, sizeof(*memory));
	memory->owner = owner;
	memory->discard = discard;
}

static void file_put(struct memory *memory, struct file *file)
{
	if (--file->users)
		return;
	discard_fd(memory->discard, file->fd);
	free(file);
	memory->files--;
}

/* Takes ownership of the descriptor; reuses the file of another region if it is the same. */
static int file_get(struct memory *memory, int fd, const struct stat *st, struct file **found)
{
	int access = fcntl(fd, F_GETFL) & O_ACCMODE;
	struct file *file;
	unsigned int i;

	for (i = 0; i < memory->count; i++) {
		file = memory->regions[i].file;
		if (!file || file->dev != st->st_dev || file->inode != st->st_ino ||
		    file->access != access)
			continue;
		/* Not the last one. */
		close(fd);
		file->users++;
		*found = file;
		return 0;
	}
	file = memory->files < MEMORY_MAX_FILES ? malloc(sizeof(*file)) : NULL;
	if (!file) {
		discard_fd(memory->discard, fd);
		return memory->files < MEMORY_MAX_FILES ? -ENOMEM : -EMFILE;
	}
	memory->files++;
	*file = (struct file){ fd, st->st_dev, st->st_ino, access, 1 };
	*found = file;
	return 0;
}

/* Returns the index of the first region that ends after @address. */
static unsigned int position(const struct memory *memory, uint64_t address)
{
	unsigned int low = 0, high = memory->count;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;
		const struct region *region = &memory->regions[middle];

		if (region->address + (region->size - 1) < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void forget(struct memory *memory, struct region *region)
{
	if (region->file) {
		guard_remove(memory->owner, region->mapping);
		/* What stays mapped still counts against the client's limit. */
		if (!munmap(region->mapping, region->mapped))
			memory->bytes -= region->size;
		file_put(memory, region->file);
	} else {
		memory->unreachable--;
	}
}

void memory_clear(struct memory *memory)
{
	unsigned int i;

	for (i = 0; i < memory->count; i++)
		forget(memory, &memory->regions[i]);
	free(memory->regions);
	memory_init(memory, memory->owner, memory->discard);
}

/* Returns the size of the pages in which the file can be mapped and unmapped. */
static uint64_t page_of(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == HUGETLBFS_MAGIC ? (uint64_t)fs.f_bsize : PAGE;
}

static int map(struct guard_owner *owner, struct region *region)
{
	uint64_t page = page_of(region->file->fd), before = region->offset % page;
	int prot = PROT_READ | (region->writable ? PROT_WRITE : 0), ret;

	region->mapped = (before + region->size + page - 1) / page * page;
	region->mapping = mmap(NULL, region->mapped, prot, MAP_SHARED | MAP_NORESERVE,
			       region->file->fd, region->offset - before);
	if (region->mapping == MAP_FAILED)
		return -errno;
	/* A child process would keep the guest's memory in use. */
	madvise(region->mapping, region->mapped, MADV_DONTFORK);
	ret = guard_add(owner, region->mapping, region->mapped);
	if (ret)
		munmap(region->mapping, region->mapped);
	region->bytes = region->mapping + before;
	return ret;
}

/* Takes ownership of the descriptor. */
static int attach(struct memory *memory, struct region *region, int fd)
{
	struct stat st;
	int ret;

	if (fstat(fd, &st) || st.st_size < 0 ||
	    region->offset % PAGE || region->offset > (uint64_t)st.st_size ||
	    region->size > (uint64_t)st.st_size - region->offset) {
		discard_fd(memory->discard, fd);
		return -EINVAL;
	}
	if (region->size > MEMORY_MAX_BYTES - memory->bytes) {
		discard_fd(memory->discard, fd);
		return -ENOSPC;
	}
	ret = file_get(memory, fd, &st, &region->file);
	if (ret)
		return ret;
	ret = map(memory->owner, region);
	if (ret) {
		file_put(memory, region->file);
		return ret;
	}
	memory->bytes += region->size;
	return 0;
}

static int check(const struct memory *memory, uint64_t address, uint64_t size,
		 unsigned int at)
{
	if (!size || address % PAGE || size % PAGE || address + (size - 1) < address)
		return -EINVAL;
	if (memory->count == MEMORY_MAX_REGIONS)
		return -ENOSPC;
	if (at < memory->count && memory->regions[at].address <= address + (size - 1))
		return -EEXIST;
	return 0;
}

int memory_map(struct memory *memory, uint64_t address, uint64_t size, int fd,
	       uint64_t offset, bool writable)
{
	struct region region = {
		.address = address, .size = size, .offset = offset, .writable = writable,
	};
	unsigned int at = position(memory, address);
	int ret;

	ret = check(memory, address, size, at);
	if (!ret && !grow(memory->regions, memory->count, memory->max))
		ret = -ENOMEM;
	if (ret) {
		if (fd >= 0)
			discard_fd(memory->discard, fd);
		return ret;
	}
	if (fd < 0) {
		memory->unreachable++;
	} else {
		ret = attach(memory, &region, fd);
		if (ret)
			return ret;
	}
	memmove(memory->regions + at + 1, memory->regions + at,
		(memory->count - at) * sizeof(*memory->regions));
	memory->regions[at] = region;
	memory->count++;
	return 0;
}

bool memory_has(const struct memory *memory, uint64_t address, uint64_t size)
{
	unsigned int at = position(memory, address);

	return at < memory->count && memory->regions[at].address == address &&
	       memory->regions[at].size == size;
}

void memory_unmap(struct memory *memory, uint64_t address)
{
	unsigned int at = position(memory, address);

	forget(memory, &memory->regions[at]);
	memory->count--;
	memmove(memory->regions + at, memory->regions + at + 1,
		(memory->count - at) * sizeof(*memory->regions));
	memory->hint = 0;
}

bool memory_region(const struct memory *memory, unsigned int index,
		   uint64_t *address, uint64_t *size)
{
	if (index >= memory->count)
		return false;
	*address = memory->regions[index].address;
	*size = memory->regions[index].size;
	return true;
}

static bool covers(const struct region *region, uint64_t address)
{
	return address >= region->address && address - region->address < region->size;
}

int memory_find(struct memory *memory, uint64_t address, uint64_t size,
		struct vfio_run *run)
{
	const struct region *region;
	uint64_t into, rest;

	if (memory->hint >= memory->count ||
	    !covers(&memory->regions[memory->hint], address))
		memory->hint = position(memory, address);
	if (memory->hint >= memory->count)
		return -EFAULT;
	region = &memory->regions[memory->hint];
	if (!covers(region, address) || !region->file)
		return -EFAULT;
	into = address - region->address;
	rest = region->size - into;
	*run = (struct vfio_run){
		.address = address,
		.size = size < rest ? size : rest,
		.fd = region->file->fd,
		.offset = region->offset + into,
		.memory = region->bytes + into,
		.writable = region->writable,
	};
	return 0;
}
