/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps scattered pages of files as one range of addresses, as registration with a device
 * requires. The range is backed by memory only during registration; later accesses to it
 * fault, because only the device should access the pages.
 */
#ifndef MAPPING_H
#define MAPPING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a file, mapped as a part of the range. */
struct mapping_run {
	uint32_t file;
	bool writable;
	uint64_t offset, size;
};

struct mapping_file {
	/* The original descriptor, and a duplicate of it. */
	int from, fd;
	/* Granularity in which the file can be mapped. */
	uint64_t unit;
};

struct mapping {
	struct mapping_run *runs;
	uint32_t n_runs, max_runs;
	struct mapping_file *files;
	uint32_t n_files, max_files;
	uint64_t size;
	/* Start of the reservation, and of the first page. */
	void *base;
	size_t reserved;
	unsigned char *start;
};

/* Number of mappings that the kernel allows a process: vm.max_map_count. */
struct mapping_room {
	/* Protects @used. */
	pthread_mutex_t lock;
	pthread_cond_t less;
	uint32_t most, used;
};

/* Returns the number of pages that can always be mapped at once. */
uint32_t mapping_room_init(struct mapping_room *room);
void mapping_room_exit(struct mapping_room *room);

/* ---- for the loop's thread */
/* Adds the next @size bytes; the descriptor is duplicated. 0 or -errno. */
int mapping_add(struct mapping *mapping, int fd, uint64_t offset, uint64_t size, bool writable);

/* ---- for the thread that owns the mapping */
/*
 * Creates the range; if there would be too many mappings in total, waits for other
 * mappings of @room to be removed. -EOPNOTSUPP: a file with huge pages, of which smaller
 * parts are needed.
 */
int mapping_make(struct mapping *mapping, struct mapping_room *room);
/*
 * Unmaps the memory behind the range, after it has been registered or if it is not
 * needed.
 */
void mapping_close(struct mapping *mapping, struct mapping_room *room);
void mapping_free(struct mapping *mapping);

#endif /* MAPPING_H */
