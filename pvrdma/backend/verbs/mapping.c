// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "grow.h"
#include "mapping.h"

#define PAGE UINT64_C(4096)
/* Alignment at which the kernel can use large pages. */
#define LARGE_PAGE (UINT64_C(2) << 20)
#define DEFAULT_MAPS 65530u
/* Mappings reserved for the rest of the process. */
#define OTHER_MAPS 4096u
/* Maximum files of one mapping: a guest's memory consists of only a few. */
#define MAX_FILES 64u
/*
 * Maximum number of runs to unmap at once, because the rest of the process has to wait
 * during that time.
 */
#define DOWN_RUNS 256u
#define DOWN_BYTES (UINT64_C(32) << 20)

uint32_t mapping_room_init(struct mapping_room *room)
{
	FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
	unsigned int most = 0;

	if (!file || fscanf(file, "%u", &most) != 1)
		most = DEFAULT_MAPS;
	if (file)
		fclose(file);
	*room = (struct mapping_room){ .most = most > 2 * OTHER_MAPS ? most - OTHER_MAPS : most / 2 };
	pthread_mutex_init(&room->lock, NULL);
	pthread_cond_init(&room->less, NULL);
	return room->most;
}

void mapping_room_exit(struct mapping_room *room)
{
	pthread_cond_destroy(&room->less);
	pthread_mutex_destroy(&room->lock);
}

/*
 * Waits for other mappings to end; a mapping never waits if it is the only one, even if
 * the kernel may refuse it.
 */
static void take_room(struct mapping_room *room, uint32_t maps)
{
	pthread_mutex_lock(&room->lock);
	while (room->used && (maps > room->most || room->used > room->most - maps))
		pthread_cond_wait(&room->less, &room->lock);
	room->used += maps;
	pthread_mutex_unlock(&room->lock);
}

static void leave_room(struct mapping_room *room, uint32_t maps)
{
	pthread_mutex_lock(&room->lock);
	room->used -= maps;
	pthread_cond_broadcast(&room->less);
	pthread_mutex_unlock(&room->lock);
}

static int find_file(struct mapping *mapping, int fd, uint32_t *found)
{
	struct statfs fs;
	int own;

	for (*found = 0; *found < mapping->n_files; ++*found)
		if (mapping->files[*found].from == fd)
			return 0;
	if (mapping->n_files == MAX_FILES)
		return -EMFILE;
	if (!grow(mapping->files, mapping->n_files, mapping->max_files))
		return -ENOMEM;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return -errno;
	mapping->files[mapping->n_files++] = (struct mapping_file){
		.from = fd,
		.fd = own,
		.unit = !fstatfs(fd, &fs) && fs.f_type == HUGETLBFS_MAGIC ?
			(uint64_t)fs.f_bsize : PAGE,
	};
	return 0;
}

int mapping_add(struct mapping *mapping, int fd, uint64_t offset, uint64_t size, bool writable)
{
	struct mapping_run *last = mapping->n_runs ? &mapping->runs[mapping->n_runs - 1] : NULL;
	uint32_t file;
	int err = find_file(mapping, fd, &file);

	if (err)
		return err;
	mapping->size += size;
	if (last && last->file == file && last->writable == writable &&
	    last->offset + last->size == offset) {
		last->size += size;
		return 0;
	}
	if (!grow(mapping->runs, mapping->n_runs, mapping->max_runs))
		return -ENOMEM;
	mapping->runs[mapping->n_runs++] = (struct mapping_run){ file, writable, offset, size };
	return 0;
}

static uint64_t largest_unit(const struct mapping *mapping)
{
	uint64_t unit = mapping->size >= LARGE_PAGE ? LARGE_PAGE : PAGE;
	uint32_t i;

	for (i = 0; i < mapping->n_files; i++)
		if (mapping->files[i].unit > unit)
			unit = mapping->files[i].unit;
	return unit;
}

/*
 * Reserves a range in which the first page has the same alignment as in its file, so that
 * large pages are possible.
 */
static int reserve(struct mapping *mapping)
{
	uint64_t unit = largest_unit(mapping), room = mapping->size + 2 * unit;
	uint64_t at, inside = mapping->runs[0].offset % unit;
	void *base = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return -errno;
	mapping->base = base;
	mapping->reserved = room;
	at = ((uintptr_t)base + unit - 1) / unit * unit;
	mapping->start = (unsigned char *)(uintptr_t)(at + inside);
	return 0;
}

/* @end: end of the range mapped so far. */
static int map_run(const struct mapping *mapping, const struct mapping_run *run,
		   uintptr_t at, uintptr_t *end)
{
	const struct mapping_file *file = &mapping->files[run->file];
	uint64_t before = at % file->unit, size = before + run->size;

	size = (size + file->unit - 1) / file->unit * file->unit;
	if (run->offset % file->unit != before || at - before < *end)
		return -EOPNOTSUPP;
	if (mmap((void *)(at - before), size, PROT_READ | (run->writable ? PROT_WRITE : 0),
		 MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file->fd,
		 (off_t)(run->offset - before)) == MAP_FAILED)
		return -errno;
	*end = at - before + size;
	return 0;
}

int mapping_make(struct mapping *mapping, struct mapping_room *room)
{
	uintptr_t at, end = 0;
	uint32_t i;
	int err;

	take_room(room, mapping->n_runs);
	err = reserve(mapping);
	at = (uintptr_t)mapping->start;
	for (i = 0; !err && i < mapping->n_runs; i++) {
		err = map_run(mapping, &mapping->runs[i], at, &end);
		at += mapping->runs[i].size;
	}
	if (err)
		mapping_close(mapping, room);
	return err;
}

static void free_lists(struct mapping *mapping)
{
	uint32_t i;

	for (i = 0; i < mapping->n_files; i++)
		close(mapping->files[i].fd);
	free(mapping->files);
	free(mapping->runs);
	mapping->files = NULL;
	mapping->runs = NULL;
	mapping->n_files = mapping->max_files = mapping->n_runs = mapping->max_runs = 0;
}

/* Replaces many mappings with one; if that is not possible, unmaps them. */
static void take_down(uintptr_t from, uintptr_t to)
{
	if (from < to && mmap((void *)from, to - from, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
			      MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		munmap((void *)from, to - from);
}

/* Unmaps the range in parts, so that other threads can allocate memory in between. */
static void take_all_down(const struct mapping *mapping)
{
	uint64_t unit = largest_unit(mapping);
	uintptr_t from = (uintptr_t)mapping->base, at = (uintptr_t)mapping->start, stop;
	uint32_t i, n = 0;

	for (i = 0; i < mapping->n_runs; i++) {
		at += mapping->runs[i].size;
		for (; at - from > DOWN_BYTES + unit; from = stop) {
			stop = (from + DOWN_BYTES) / unit * unit;
			take_down(from, stop);
		}
		if (++n % DOWN_RUNS)
			continue;
		stop = at / unit * unit;
		take_down(from, stop);
		from = stop > from ? stop : from;
	}
	take_down(from, (uintptr_t)mapping->base + mapping->reserved);
}

void mapping_close(struct mapping *mapping, struct mapping_room *room)
{
	if (mapping->base)
		take_all_down(mapping);
	leave_room(room, mapping->n_runs);
	free_lists(mapping);
}

void mapping_free(struct mapping *mapping)
{
	if (mapping->base)
		munmap(mapping->base, mapping->reserved);
	mapping->base = NULL;
	free_lists(mapping);
}
