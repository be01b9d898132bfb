// SPDX-License-Identifier: GPL-2.0-or-later
/* The guest's memory as a client maps it and takes it back. */
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

#define READ_WRITE (PROTO_MAP_READ | PROTO_MAP_WRITE)
#define HIGH (UINT64_C(1) << 40)

static struct bench bench;
static struct client *const vmm = &bench.client;

static struct vfio_stats stats(void)
{
	struct vfio_stats now;

	vfio_stats(bench.dummy.vfio, &now);
	return now;
}

/* NULL, for the reason @error. */
static bool none(uint64_t address, size_t size, bool write, int error)
{
	errno = 0;
	return !vfio_dma(bench.dummy.vfio, address, size, write) && errno == error;
}

static void reach(void)
{
	char *guest, *device;

	bench_open(&bench, true);
	ok(!client_map(vmm, HIGH, 4 * PAGE, bench.ram, PAGE, READ_WRITE) &&
		   bench.dummy.mapped == 1,
	   "a region is mapped");
	ok(none(HIGH, 1, false, EPERM), "and out of reach without bus mastering");
	bench_enable(&bench);
	guest = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, bench.ram, 0);
	device = vfio_dma(bench.dummy.vfio, HIGH + 5, 16, true);
	strcpy(guest + PAGE + 5, "from the guest");
	ok(device && !strcmp(device, "from the guest"), "the device reads what the guest wrote");
	strcpy(device, "from device");
	ok(!strcmp(guest + PAGE + 5, "from device"), "and the other way round");
	ok(vfio_dma(bench.dummy.vfio, HIGH + 4 * PAGE - 8, 8, true) &&
		   none(HIGH + 4 * PAGE - 8, 9, true, EFAULT) && none(HIGH - 1, 2, true, EFAULT) &&
		   none(HIGH + 4 * PAGE, 1, true, EFAULT) && none(0, 1, true, EFAULT) &&
		   none(HIGH, 0, true, EFAULT) && none(UINT64_MAX, 2, true, EFAULT) &&
		   none(HIGH, SIZE_MAX, true, EFAULT),
	   "not a byte beyond it");
	ok(!client_map(vmm, HIGH + 4 * PAGE, PAGE, bench.ram, 0, PROTO_MAP_READ) &&
		   vfio_dma(bench.dummy.vfio, HIGH + 4 * PAGE, 8, false) &&
		   none(HIGH + 4 * PAGE, 8, true, EACCES) &&
		   none(HIGH + 4 * PAGE - 8, 16, false, EFAULT),
	   "one that may only be read, and none across two");
	client_write32(vmm, 1, DUMMY_ADDRESS_LOW, 64);
	client_write32(vmm, 1, DUMMY_ADDRESS_HIGH, HIGH >> 32);
	guest[PAGE + 64] = 40;
	ok(!client_write32(vmm, 1, DUMMY_ADD, 2) && guest[PAGE + 64] == 42,
	   "a function does so from its operation");
	munmap(guest, RAM_SIZE);
	bench_close(&bench);
}

static void refusals(void)
{
	int fds[2], cut = open("/dev/null", O_RDWR), disk = open("/proc/self/exe", O_RDONLY), seen;
	unsigned int files;
	char path[32];

	bench_open(&bench, true);
	bench_map(&bench);
	files = bench_open_files();
	ok(client_map(vmm, PAGE, PAGE, bench.ram, 0, READ_WRITE) == -EEXIST &&
		   client_map(vmm, 0, 2 * RAM_SIZE, -1, 0, READ_WRITE) == -EEXIST &&
		   client_map(vmm, 0, RAM_SIZE, bench.ram, 0, READ_WRITE) == -EEXIST &&
		   client_map(vmm, RAM_SIZE - PAGE, 2 * PAGE, bench.ram, 0, READ_WRITE) == -EEXIST,
	   "regions that overlap are refused");
	ok(client_map(vmm, HIGH + 1, PAGE, bench.ram, 0, READ_WRITE) == -EINVAL &&
		   client_map(vmm, HIGH, PAGE + 1, bench.ram, 0, READ_WRITE) == -EINVAL &&
		   client_map(vmm, HIGH, PAGE, bench.ram, 1, READ_WRITE) == -EINVAL &&
		   client_map(vmm, HIGH, 0, bench.ram, 0, READ_WRITE) == -EINVAL &&
		   client_map(vmm, UINT64_MAX - PAGE + 1, 2 * PAGE, bench.ram, 0, READ_WRITE) == -EINVAL &&
		   client_map(vmm, HIGH, PAGE, bench.ram, 0, 8) == -EINVAL &&
		   client_map(vmm, HIGH, PAGE, bench.ram, 0, PROTO_MAP_WRITE) == -EINVAL,
	   "as are odd addresses, sizes, offsets and flags");
	ok(client_map(vmm, HIGH, 2 * RAM_SIZE, bench.ram, 0, READ_WRITE) == -EINVAL &&
		   client_map(vmm, HIGH, PAGE, bench.ram, RAM_SIZE, READ_WRITE) == -EINVAL &&
		   client_map(vmm, HIGH, PAGE, bench.ram, UINT64_MAX - PAGE + 1, READ_WRITE) == -EINVAL,
	   "what a file does not have");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", bench.ram);
	seen = open(path, O_RDONLY);
	if (pipe(fds) || seen < 0)
		abort();
	ok(client_map(vmm, HIGH, PAGE, fds[0], 0, READ_WRITE) == -EINVAL &&
		   client_map(vmm, HIGH, PAGE, cut, 0, READ_WRITE) == -EINVAL &&
		   client_map(vmm, HIGH, PAGE, disk, 0, PROTO_MAP_READ) == -EINVAL &&
		   client_map(vmm, HIGH, PAGE, seen, 0, READ_WRITE) == -EACCES,
	   "files that are not in memory, or that are read-only");
	close(fds[0]);
	close(fds[1]);
	close(seen);
	ok(bench_files_become(files) && stats().regions == 1 && stats().refused == 18,
	   "no descriptor of them is kept");
	close(cut);
	close(disk);
	bench_close(&bench);
}

static void removal(void)
{
	const struct proto_dma_unmap all = { .argsz = sizeof(all), .flags = 2 };
	struct proto_dma_unmap reply;

	bench_open(&bench, true);
	bench_map(&bench);
	ok(!client_map(vmm, HIGH, PAGE, -1, 0, READ_WRITE) && bench.dummy.mapped == 1 &&
		   none(HIGH, 1, false, EFAULT) && stats().unreachable == 1 &&
		   stats().memory == RAM_SIZE,
	   "a region without a file is known, and out of reach");
	ok(client_unmap(vmm, 0, PAGE) == -ENOENT && client_unmap(vmm, PAGE, RAM_SIZE) == -ENOENT &&
		   !bench.dummy.unmapped,
	   "only whole regions can be unmapped");
	ok(!client_unmap(vmm, 0, RAM_SIZE) && bench.dummy.unmapped == 1 &&
		   bench.dummy.unmapped_size == RAM_SIZE && none(0, 1, false, EFAULT),
	   "the function hears of it before");
	ok(!client_map(vmm, 0, PAGE, bench.ram, 0, READ_WRITE) &&
		   vfio_dma(bench.dummy.vfio, 0, 1, true),
	   "another takes its place");
	ok(client_call(vmm, PROTO_DMA_UNMAP, 0, &all, sizeof(all), NULL, 0, &reply,
		       sizeof(reply)) == sizeof(reply) &&
		   !stats().regions && !stats().memory && !stats().unreachable &&
		   bench.dummy.unmapped == 3,
	   "all are unmapped at once");
	bench_close(&bench);
}

/* Page by page, in an order that is no order: N is prime. */
static void many(void)
{
	enum { N = 4093, STEP = 1000 };
	struct vfio_run run;
	unsigned int files, i, at;
	bool fine = true;

	bench_open(&bench, true);
	bench_enable(&bench);
	files = bench_open_files();
	for (i = 0, at = 0; i < N; i++, at = (at + STEP) % N)
		fine &= !client_map(vmm, at * 2 * (uint64_t)PAGE, PAGE, bench.ram,
				    at % 64 * PAGE, READ_WRITE);
	ok(fine && stats().regions == N && bench_files_become(files + 1),
	   "%d regions of one file take one descriptor", N);
	for (i = 0; i < N; i++) {
		fine &= !vfio_backing(bench.dummy.vfio, i * 2 * (uint64_t)PAGE + 8, 2 * PAGE, &run) &&
			run.size == PAGE - 8 && run.offset == i % 64 * PAGE + 8 && run.writable &&
			run.memory == vfio_dma(bench.dummy.vfio, i * 2 * (uint64_t)PAGE + 8, 8, true);
		fine &= none((i * 2 + 1) * (uint64_t)PAGE, 1, false, EFAULT);
	}
	ok(fine, "each is found, and what backs it");
	for (i = N; i < 4096; i++)
		fine &= !client_map(vmm, i * 2 * (uint64_t)PAGE, PAGE, -1, 0, READ_WRITE);
	ok(fine && client_map(vmm, HIGH, PAGE, bench.ram, 0, READ_WRITE) == -ENOSPC,
	   "there is a limit");
	bench_reconnect(&bench, true);
	ok(!stats().regions && bench_files_become(files), "and all go with the client");
	bench_close(&bench);
}

/* Other clients need descriptors, too. */
static void many_files(void)
{
	unsigned int files, i;
	int fd = -1, ret = 0;

	bench_open(&bench, true);
	files = bench_open_files();
	for (i = 0; i < 65; i++) {
		close(fd);
		fd = bench_file(PAGE);
		ret = client_map(vmm, i * (uint64_t)PAGE, PAGE, fd, 0, READ_WRITE);
		if (ret)
			break;
	}
	ok(i == 64 && ret == -EMFILE && bench_files_become(files + 65),
	   "memory consists of 64 files at most");
	ok(client_unmap(vmm, 0, PAGE) >= 0 && !client_map(vmm, 0, PAGE, fd, 0, READ_WRITE) &&
		   !client_map(vmm, HIGH, PAGE, fd, 0, READ_WRITE),
	   "another file takes the place of one that was unmapped");
	bench_close(&bench);
	close(fd);
}

/* A backend makes pages that are apart contiguous. */
static void scattered(void)
{
	static const unsigned int order[] = { 7, 3, 60, 12 };
	struct vfio_run run;
	unsigned int i;
	char *whole;

	bench_open(&bench, true);
	bench_map(&bench);
	whole = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < 4; i++) {
		if (vfio_backing(bench.dummy.vfio, order[i] * PAGE, PAGE, &run) || run.size != PAGE ||
		    mmap(whole + i * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 run.fd, run.offset) == MAP_FAILED)
			abort();
	}
	memset(whole, 'x', 4 * PAGE);
	for (i = 0; i < 4; i++) {
		const char *page = vfio_dma(bench.dummy.vfio, order[i] * PAGE, PAGE, false);

		if (page[0] != 'x' || page[PAGE - 1] != 'x')
			break;
	}
	ok(i == 4, "pages that are apart are mapped as one");
	munmap(whole, 4 * PAGE);
	bench_close(&bench);
}

/* The client cuts its file while the device uses it. */
static void cut(void)
{
	struct vfio_run run;
	volatile char *device;
	char *own;

	bench_open(&bench, true);
	bench_map(&bench);
	device = vfio_dma(bench.dummy.vfio, 8 * PAGE, 1, true);
	*device = 1;
	if (ftruncate(bench.ram, PAGE))
		abort();
	ok(*device == 0, "memory that was cut off reads as zeros");
	*device = 2;
	ok(client_ended(vmm) && bench.dummy.gone == 1 && stats().broken == 1 &&
		   strstr(bench.dummy.last_log, "was truncated"),
	   "and the session ends");

	bench_reconnect(&bench, true);
	if (ftruncate(bench.ram, RAM_SIZE))
		abort();
	bench_map(&bench);
	if (vfio_backing(bench.dummy.vfio, 0, RAM_SIZE, &run))
		abort();
	own = mmap(NULL, RAM_SIZE, PROT_READ, MAP_SHARED, run.fd, run.offset);
	ok(!vfio_guard(bench.dummy.vfio, own, RAM_SIZE) && !ftruncate(bench.ram, 0) &&
		   ((volatile char *)own)[RAM_SIZE - 1] == 0 && client_ended(vmm),
	   "the same in a mapping of the backend's");
	munmap(own, RAM_SIZE);

	bench_reconnect(&bench, true);
	if (ftruncate(bench.ram, RAM_SIZE))
		abort();
	bench_map(&bench);
	ok(vfio_dma(bench.dummy.vfio, 0, RAM_SIZE, true) && !client_ended(vmm),
	   "the next client is served");
	bench_close(&bench);
}

static unsigned int mappings_of(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned int count = 0;
	char line[512];

	if (!maps)
		abort();
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, name) != NULL;
	fclose(maps);
	return count;
}

/* There may be no free huge page. */
static void huge(void)
{
	enum { HUGE = 2 << 20 };
	int fd = memfd_create("of-huge-pages",
			      MFD_CLOEXEC | MFD_HUGETLB | MFD_HUGE_2MB);
	volatile char *device;

	if (fd < 0 || ftruncate(fd, 3 * HUGE)) {
		printf("# no hugetlbfs\n");
		return;
	}
	bench_open(&bench, true);
	bench_enable(&bench);
	ok(!client_map(vmm, HIGH, HUGE, fd, HUGE / 2, READ_WRITE) &&
		   !client_map(vmm, 2 * HIGH, PAGE, fd, HUGE + PAGE, READ_WRITE) &&
		   mappings_of("of-huge-pages") > 0,
	   "regions that begin and end within huge pages are mapped");
	ok(client_unmap(vmm, HIGH, HUGE) >= 0 && client_unmap(vmm, 2 * HIGH, PAGE) >= 0 &&
		   !mappings_of("of-huge-pages") && !stats().memory,
	   "and unmapped");
	ok(!client_map(vmm, HIGH, PAGE, fd, HUGE + PAGE, READ_WRITE) &&
		   !client_map(vmm, 2 * HIGH, 2 * PAGE, fd, HUGE, READ_WRITE),
	   "two regions share a huge page");
	device = vfio_dma(bench.dummy.vfio, HIGH, 1, true);
	*device = 7;
	ok(client_ended(vmm) ? strstr(bench.dummy.last_log, "no free huge page") != NULL :
			       ((char *)vfio_dma(bench.dummy.vfio, 2 * HIGH, 2 * PAGE, true))[PAGE] == 7,
	   "a write reaches the page, or the session ends because no huge page is free");
	bench_reconnect(&bench, true);
	ok(!mappings_of("of-huge-pages"), "no mapping survives the session");
	bench_close(&bench);
	close(fd);
}

static bool counts_closes;
static unsigned int closes;
static pthread_t loop;

/* Takes the place of the library's function, to count what the loop closes. */
int close(int fd)
{
	if (counts_closes && pthread_equal(pthread_self(), loop) && fcntl(fd, F_GET_SEALS) >= 0)
		closes++;
	return (int)syscall(SYS_close, fd);
}

/* The last close() of such a file takes 0.3 s or more for each GiB. */
static void last_close(void)
{
	int fd;

	bench_open(&bench, true);
	bench_enable(&bench);
	fd = bench_file(PAGE);
	loop = pthread_self();
	counts_closes = true;
	ok(!client_map(vmm, 0, PAGE, fd, 0, READ_WRITE) &&
		   client_map(vmm, PAGE, 2 * PAGE, fd, 0, READ_WRITE) == -EINVAL &&
		   client_map(vmm, 0, PAGE, fd, 0, READ_WRITE) == -EEXIST &&
		   client_call(vmm, PROTO_DEVICE_RESET, 0, NULL, 0, &fd, 1, NULL, 0) == -EINVAL,
	   "files of regions, and files that are refused");
	client_close(vmm);
	counts_closes = false;
	ok(!closes, "are not closed by the loop");
	close(fd);
	bench_close(&bench);
}

int main(void)
{
	reach();
	refusals();
	removal();
	many();
	many_files();
	scattered();
	cut();
	huge();
	last_close();
	return done();
}
