// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading the probe's maps with plain system calls: this requires only the
 * permission to open their files, and no library.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/root.h"
#include "grow.h"
#include "maps.h"

/* Number of attempts to read a record that is being written. */
#define PATIENCE 1000

static int bpf(int cmd, union bpf_attr *attr)
{
	int ret = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return ret < 0 ? -errno : ret;
}

static int open_pin(const char *path, uint32_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.pathname = (uintptr_t)path;
	attr.file_flags = flags;
	return bpf(BPF_OBJ_GET, &attr);
}

static int open_map(const char *name)
{
	char path[sizeof(EADM_PROBE_DIR) + 32];

	snprintf(path, sizeof(path), EADM_PROBE_DIR "/%s", name);
	return open_pin(path, BPF_F_RDONLY);
}

/* Read @count values of an array, from index @first on. */
static int read_array(int fd, uint32_t first, uint32_t count, void *values)
{
	uint32_t *keys = calloc(count, sizeof(*keys)), in = first - 1, out;
	union bpf_attr attr;
	int ret;

	if (!keys)
		return -ENOMEM;
	memset(&attr, 0, sizeof(attr));
	attr.batch.map_fd = fd;
	attr.batch.in_batch = first ? (uintptr_t)&in : 0;
	attr.batch.out_batch = (uintptr_t)&out;
	attr.batch.keys = (uintptr_t)keys;
	attr.batch.values = (uintptr_t)values;
	attr.batch.count = count;
	ret = bpf(BPF_MAP_LOOKUP_BATCH, &attr);
	free(keys);
	/* The last element of the map was among those read. */
	if (ret == -ENOENT)
		ret = 0;
	return !ret && attr.batch.count != count ? -EPROTO : ret;
}

/* Any user can create the folder, so its contents are trusted only if root owns it. */
static bool is_of_root(const struct eadm_ctx *ctx)
{
	int fd = eadm_root_open(ctx, O_PATH | O_DIRECTORY, EADM_PROBE_DIR);
	struct stat st;
	bool is;

	if (fd < 0)
		return false;
	is = !fstat(fd, &st) && !st.st_uid;
	close(fd);
	return is;
}

static int read_info(const struct eadm_ctx *ctx, struct eadm_probe_maps *maps)
{
	int fd, ret;

	/* Most hosts have no probe: avoid system calls that a sandbox may forbid. */
	if (eadm_root_access(ctx, F_OK, EADM_PROBE_DIR))
		return -errno;
	if (!is_of_root(ctx))
		return -EPROTO;
	fd = open_map("info");
	/* A folder without the map belongs to an incomplete probe. */
	if (fd < 0)
		return fd == -ENOENT ? -EPROTO : fd;
	ret = read_array(fd, 0, 1, &maps->info);
	close(fd);
	if (!ret && (maps->info.abi != EADM_PROBE_ABI || !maps->info.cpus ||
		     !maps->info.slots ||
		     maps->info.slots & (maps->info.slots - 1)))
		return -EPROTO;
	return ret;
}

/*
 * Returns true if the process that determines the lifetime of a probe started by "run"
 * was killed: then its lock on the directory is gone.
 */
static bool is_orphan(const struct eadm_ctx *ctx,
		      const struct eadm_probe_maps *maps)
{
	struct flock lock = { .l_type = F_WRLCK };
	bool is;
	int fd;

	if (!maps->info.runner)
		return false;
	fd = eadm_root_open(ctx, O_RDONLY | O_DIRECTORY, EADM_PROBE_DIR);
	if (fd < 0)
		return false;
	is = !fcntl(fd, F_GETLK, &lock) && lock.l_type == F_UNLCK;
	close(fd);
	return is;
}

int eadm_probe_open(const struct eadm_ctx *ctx, struct eadm_probe_maps *maps)
{
	static const struct eadm_probe_maps closed = {
		.records = -1, .cpus = -1, .devs = -1, .in_flight = -1,
	};
	int ret;

	*maps = closed;
	ret = read_info(ctx, maps);
	if (ret)
		return ret;
	if (is_orphan(ctx, maps))
		return -EPROTO;
	maps->records = open_map("records");
	maps->cpus = open_map("cpus");
	maps->devs = open_map("devs");
	maps->in_flight = open_map("in_flight");
	if (maps->records >= 0 && maps->cpus >= 0 && maps->devs >= 0 &&
	    maps->in_flight >= 0)
		return 0;
	ret = maps->records < 0 ? maps->records : -EPROTO;
	eadm_probe_close(maps);
	return ret;
}

void eadm_probe_close(struct eadm_probe_maps *maps)
{
	int *const fds[] = { &maps->records, &maps->cpus, &maps->devs,
			     &maps->in_flight };
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

int eadm_probe_copy_cpus(const struct eadm_probe_maps *maps,
			 struct eadm_probe_cpu *cpus)
{
	return read_array(maps->cpus, 0, maps->info.cpus, cpus);
}

int eadm_probe_copy_devs(const struct eadm_probe_maps *maps,
			 struct eadm_probe_dev *devs)
{
	return read_array(maps->devs, 0, EADM_PROBE_DEVS, devs);
}

void eadm_probe_list_free(struct eadm_probe_list *list)
{
	free(list->rec);
	*list = (struct eadm_probe_list){ 0 };
}

/* ---- records ------------------------------------------------------------------ */

/* Make room for @count more records. */
static struct eadm_probe_rec *room(struct eadm_probe_list *list, size_t count)
{

	if (!grow_to(list->rec, list->n + count, list->max))
		return NULL;
	return &list->rec[list->n];
}

/*
 * Read record number @n of a CPU once it has been written, which takes almost no time.
 */
static bool wait_for(const struct eadm_probe_maps *maps, uint32_t at, uint64_t n,
		     struct eadm_probe_rec *rec)
{
	unsigned int turn;

	for (turn = 0; turn < PATIENCE && rec->number != n; turn++) {
		sched_yield();
		if (rec->number > n || read_array(maps->records, at, 1, rec))
			return false;
	}
	return rec->number == n;
}

/* Copy the records from @from up to @to, which are contiguous. */
static int copy_range(const struct eadm_probe_maps *maps, uint32_t base,
		      uint64_t from, uint64_t to, struct eadm_probe_list *list)
{
	uint32_t at = base + (from & (maps->info.slots - 1)), i;
	uint32_t count = to - from;
	struct eadm_probe_rec *rec = room(list, count);
	int ret;

	if (!count)
		return 0;
	if (!rec)
		return -ENOMEM;
	ret = read_array(maps->records, at, count, rec);
	for (i = 0; !ret && i < count; i++) {
		if (wait_for(maps, at + i, from + i + 1, &rec[i]))
			list->rec[list->n++] = rec[i];
		else
			list->lost++;
	}
	return ret;
}

/*
 * A slot is counted before it is overwritten, so the head after copying shows which
 * records may have been overwritten in the meantime.
 */
static void drop_torn(const struct eadm_probe_maps *maps, size_t first,
		      uint64_t head, struct eadm_probe_list *list)
{
	size_t i, k;

	for (i = k = first; i < list->n; i++) {
		if (list->rec[i].number + maps->info.slots > head)
			list->rec[k++] = list->rec[i];
	}
	list->lost += list->n - k;
	list->n = k;
}

static int copy_cpu(const struct eadm_probe_maps *maps, uint32_t cpu,
		    uint64_t *from, struct eadm_probe_list *list)
{
	uint32_t slots = maps->info.slots;
	uint64_t n = *from, lap;
	size_t first = list->n;
	struct eadm_probe_cpu at;
	int ret = read_array(maps->cpus, cpu, 1, &at);

	if (ret)
		return ret;
	if (at.head > slots && n < at.head - slots) {
		list->lost += at.head - slots - n;
		n = at.head - slots;
	}
	*from = at.head;
	lap = (n / slots + 1) * slots;
	if (lap > at.head)
		lap = at.head;
	ret = copy_range(maps, cpu * slots, n, lap, list);
	if (!ret)
		ret = copy_range(maps, cpu * slots, lap, at.head, list);
	if (!ret)
		ret = read_array(maps->cpus, cpu, 1, &at);
	if (!ret)
		drop_torn(maps, first, at.head, list);
	return ret;
}

int eadm_probe_copy(const struct eadm_probe_maps *maps, uint64_t *from,
		    struct eadm_probe_list *list)
{
	uint32_t cpu;
	uint64_t none;
	int ret = 0;

	for (cpu = 0; !ret && cpu < maps->info.cpus; cpu++) {
		none = 0;
		ret = copy_cpu(maps, cpu, from ? &from[cpu] : &none, list);
	}
	return ret;
}

int eadm_probe_copy_in_flight(const struct eadm_probe_maps *maps,
			      struct eadm_probe_list *list)
{
	uint64_t *keys = calloc(EADM_PROBE_IN_FLIGHT, sizeof(*keys));
	struct eadm_probe_rec *recs = calloc(EADM_PROBE_IN_FLIGHT, sizeof(*recs));
	struct eadm_probe_rec *to;
	union bpf_attr attr;
	uint32_t batch = 0;
	int ret;

	memset(&attr, 0, sizeof(attr));
	attr.batch.map_fd = maps->in_flight;
	attr.batch.out_batch = (uintptr_t)&batch;
	attr.batch.keys = (uintptr_t)keys;
	attr.batch.values = (uintptr_t)recs;
	attr.batch.count = EADM_PROBE_IN_FLIGHT;
	ret = keys && recs ? bpf(BPF_MAP_LOOKUP_BATCH, &attr) : -ENOMEM;
	/* The map has fewer elements than the buffer. */
	if (ret == -ENOENT)
		ret = 0;
	to = ret ? NULL : room(list, attr.batch.count);
	if (to) {
		memcpy(to, recs, attr.batch.count * sizeof(*recs));
		list->n += attr.batch.count;
	} else if (!ret) {
		ret = -ENOMEM;
	}
	free(keys);
	free(recs);
	return ret;
}

/* Adds the number of skipped runs of a program. */
static int add_misses(const char *name, uint64_t *sum)
{
	char path[sizeof(EADM_PROBE_DIR) + 300];
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr;
	int fd, ret;

	snprintf(path, sizeof(path), EADM_PROBE_DIR "/programs/%s", name);
	/* The group may not write. */
	fd = open_pin(path, BPF_F_RDONLY);
	if (fd < 0)
		return fd;
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = fd;
	attr.info.info = (uintptr_t)&info;
	attr.info.info_len = sizeof(info);
	ret = bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
	close(fd);
	*sum += info.recursion_misses;
	return ret;
}

int eadm_probe_skipped(const struct eadm_ctx *ctx, uint64_t *sum)
{
	DIR *dir = eadm_root_dir(ctx, EADM_PROBE_DIR "/programs");
	struct dirent *entry;
	int ret = dir ? 0 : -errno;

	*sum = 0;
	while (!ret && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			ret = add_misses(entry->d_name, sum);
	}
	if (dir)
		closedir(dir);
	return ret;
}
