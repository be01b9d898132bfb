// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory that a guest of eadm-pvrdma --backend verbs registers: how long it takes, what
 * is pinned, and what the program has of it.
 *
 * Usage: verbs-memory SOCKET ADDRESS PEER-PORT PROGRAM-PID normal|huge MEGABYTES
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/memfd.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"

#define AREA 0x7f0000000000ull
#define MEGA (UINT64_C(1) << 20)
/* Rings and directories, at the begin of the guest's memory. */
#define REST (32 * MEGA)

static struct driver driver;
static struct guest_qp qp;
static int pid;
static bool huge;

/* From a line "NAME: N kB" of the process's status, in bytes. */
static uint64_t status_of(const char *name)
{
	char path[64], line[256];
	unsigned long long kb = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	guest_must(file != NULL, path);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), ": %llu kB", &kb);
	fclose(file);
	return kb << 10;
}

/* Parts of the guest's memory that the process can access, and where the largest begins. */
static unsigned int accessible(uint64_t *begin, uint64_t *inaccessible)
{
	char path[64], line[512], rights[8];
	uint64_t from, to, largest = 0;
	unsigned int count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "r");
	guest_must(file != NULL, path);
	*inaccessible = 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &from, &to, rights) != 3)
			continue;
		if (!strncmp(rights, "---", 3))
			*inaccessible += to - from;
		if (!strstr(line, "memfd:guest") || !strncmp(rights, "---", 3))
			continue;
		count++;
		if (to - from > largest) {
			largest = to - from;
			*begin = from;
		}
	}
	fclose(file);
	return count;
}

/* Pages of the process's that it has ever accessed, of @count from @address on. */
static uint64_t touched(uint64_t address, uint64_t count)
{
	uint64_t entry, found = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	file = fopen(path, "r");
	guest_must(file && !fseeko(file, (off_t)(address / GUEST_PAGE * sizeof(entry)), SEEK_SET),
		   path);
	while (count-- && fread(&entry, sizeof(entry), 1, file) == 1)
		found += entry >> 63;
	fclose(file);
	return found;
}

/* The command alone: the time until its response, during which registers are read. */
static uint64_t timed_register(uint64_t directory, uint64_t length, struct guest_mr *mr)
{
	struct pvrdma_cmd_create_mr cmd = {
		.start = AREA, .length = length, .directory = directory, .pd = driver.pd,
		.access = ALL_ACCESS, .chunks = (uint32_t)(length / GUEST_PAGE),
	};
	const struct pvrdma_resp_create_mr *resp = (void *)driver.guest.resp;
	struct pollfd fd = { .fd = driver.guest.irqs[PVRDMA_VECTOR_RESPONSE], .events = POLLIN };
	uint64_t begin = now_ns(), before, count, took, accesses = 0;

	cmd.hdr.code = PVRDMA_CMD_CREATE_MR;
	memcpy(driver.guest.cmd, &cmd, sizeof(cmd));
	guest_write(&driver.guest, PVRDMA_REG_REQUEST, 0);
	driver.slowest_ns = now_ns() - begin;
	do {
		before = now_ns();
		guest_must(!guest_read(&driver.guest, PVRDMA_REG_ERR), "CREATE_MR");
		took = now_ns() - before;
		if (took > driver.slowest_ns)
			driver.slowest_ns = took;
		accesses++;
	} while (!poll(&fd, 1, 1) && now_ns() - begin < 60000000000ull);
	took = now_ns() - begin;
	guest_must(read(fd.fd, &count, sizeof(count)) > 0 &&
		   resp->hdr.ack == (PVRDMA_RESP_ACK | PVRDMA_CMD_CREATE_MR), "response");
	*mr = (struct guest_mr){ resp->handle, resp->lkey, resp->rkey, AREA, length };
	printf("# %" PRIu64 " MiB of %s pages in %" PRIu64 " us; of %" PRIu64
	       " accesses meanwhile the slowest took %" PRIu64 " us\n", length / MEGA,
	       huge ? "huge" : "normal", took / 1000, accesses, driver.slowest_ns / 1000);
	return took;
}

/* The longest of its two accesses. */
static uint64_t timed_destroy(const struct guest_mr *mr)
{
	struct pvrdma_cmd_handle cmd = {
		.hdr.code = PVRDMA_CMD_DESTROY_MR, .handle = mr->handle,
	};
	uint64_t begin = now_ns(), written;

	memcpy(driver.guest.cmd, &cmd, sizeof(cmd));
	guest_write(&driver.guest, PVRDMA_REG_REQUEST, 0);
	written = now_ns();
	guest_must(!guest_read(&driver.guest, PVRDMA_REG_ERR), "DESTROY_MR");
	begin = written - begin;
	written = now_ns() - written;
	printf("# its end took %" PRIu64 " us and %" PRIu64 " us\n", begin / 1000, written / 1000);
	return begin > written ? begin : written;
}

/* Of the guest's memory. */
static uint64_t allocated(void)
{
	struct stat st;

	guest_must(!fstat(driver.guest.ram, &st), "memory");
	return (uint64_t)st.st_blocks * 512;
}

static bool unpinned(void)
{
	uint64_t limit = now_ns() + 10 * 1000000000ull;

	/* The rest of a large one goes by itself. */
	while (status_of("VmPin") && now_ns() < limit)
		sched_yield();
	return !status_of("VmPin");
}

/* Data in the registered memory, both ways. */
static void transfer(const struct guest_mr *mr, uint64_t offset)
{
	struct pvrdma_sqe sqe = {
		.wr_id = 3, .opcode = PVRDMA_WR_WRITE, .flags = PVRDMA_WR_SIGNALED,
		.rdma = { driver.remote.address, driver.remote.rkey },
	};
	unsigned char *bytes = guest_at(&driver.guest, REST + offset);
	struct pvrdma_cqe cqe;

	pattern_fill(bytes, 0, MEGA, 6);
	guest_send(&qp, &sqe, mr, offset, MEGA);
	ok(driver_wait_for(&driver, 1, &cqe) && peer_says(&driver, "ok", "check 0 %u 6", 1u << 20),
	   "the guest writes from it");
	peer_says(&driver, "ok", "fill 0 %u 7", 1u << 20);
	peer_ask(&driver, "write 0 %u %llx %x", 1u << 20, (unsigned long long)(AREA + offset), mr->rkey);
	ok(!strncmp(peer_answer(&driver), "0 ", 2) && pattern_is(bytes, 0, MEGA, 7),
	   "the peer writes to it");
}

/* The server's own mapping of the guest's RAM was never used for what is registered. */
static void test_untouched(const struct guest_mr *mr, uint64_t offset)
{
	uint64_t begin = 0, inaccessible;

	ok(accessible(&begin, &inaccessible) == 1 && inaccessible >= mr->length,
	   "the program has no access where it is registered");
	ok(!touched(begin + REST + offset, MEGA / GUEST_PAGE),
	   "nor has it touched the pages that were sent and received elsewhere");
}

static void test_registration(uint64_t length)
{
	uint32_t pages = (uint32_t)(length / GUEST_PAGE);
	uint64_t directory = guest_directory(&driver.guest, REST, pages), took;
	struct guest_mr mr;

	ok(allocated() < REST, "what the guest has not used takes no memory");
	memset(guest_at(&driver.guest, REST), 1, length);
	ok(!status_of("VmPin"), "nothing is pinned");
	took = timed_register(directory, length, &mr);
	/* Of a clock that counts 1 ns for an instruction: half of it on a slow machine. */
	ok(took < length, "memory is registered within 1 ns for each byte");
	ok(driver.slowest_ns < 10000000ull, "each access meanwhile is answered within 10 ms");
	ok(status_of("VmPin") == length, "its pages are pinned");
	transfer(&mr, length - 2 * MEGA);
	test_untouched(&mr, length - 2 * MEGA);
	/* Where there is one processor, the kernel keeps it until all is unpinned. */
	ok(timed_destroy(&mr) < (length > 256 * MEGA ? length / 24 : 10000000ull),
	   "so is its end, up to 256 MiB");
	ok(unpinned(), "nothing is pinned afterwards");
	ok(!fallocate(driver.guest.ram, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)REST,
		      (off_t)length) && allocated() < REST, "a balloon gets the memory back");
}

/* The worst order: no two pages follow each other. */
static void test_scattered(uint64_t length)
{
	uint32_t pages = (uint32_t)(length / GUEST_PAGE), i;
	uint64_t directory = guest_directory(&driver.guest, REST, pages), *entries;
	struct guest_mr mr;

	entries = guest_at(&driver.guest, *(uint64_t *)guest_at(&driver.guest, directory));
	for (i = 0; i < pages; i++)
		entries[i] = REST + (uint64_t)(i % 2 ? pages - i : i) * GUEST_PAGE;
	timed_register(directory, length, &mr);
	ok(status_of("VmPin") == length, "pages in no order are registered");
	timed_destroy(&mr);
	ok(unpinned(), "and let go");
}

/* A guest that is reset, or whose monitor goes, leaves nothing pinned. */
static void test_ends(uint64_t length)
{
	uint32_t pages = (uint32_t)(length / GUEST_PAGE);
	uint64_t directory = guest_directory(&driver.guest, REST, pages);
	struct pvrdma_cmd_create_mr cmd = {
		.start = AREA, .length = length, .directory = directory, .pd = driver.pd,
		.access = ALL_ACCESS, .chunks = pages,
	};
	uint64_t begin;

	cmd.hdr.code = PVRDMA_CMD_CREATE_MR;
	memcpy(driver.guest.cmd, &cmd, sizeof(cmd));
	guest_write(&driver.guest, PVRDMA_REG_REQUEST, 0);
	begin = now_ns();
	guest_write(&driver.guest, PVRDMA_REG_CTL, PVRDMA_CTL_RESET);
	printf("# a reset during a registration took %" PRIu64 " us\n", (now_ns() - begin) / 1000);
	ok(unpinned(), "a reset during a registration leaves nothing pinned");
}

int main(int argc, char **argv)
{
	uint64_t length, most;

	if (argc != 7)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	pid = atoi(argv[4]);
	huge = !strcmp(argv[5], "huge");
	length = (uint64_t)atoi(argv[6]) * MEGA;
	driver_open(&driver, argv[1], REST + length, huge ? MFD_HUGETLB | MFD_HUGE_2MB : 0);
	driver_bind(&driver, argv[2]);
	peer_open(&driver, argv[3]);
	most = driver.guest.dsr->caps.max_mr_size;
	printf("# max_mr_size is %" PRIu64 " MiB\n", most / MEGA);
	ok(most >= length, "that much may be registered");
	qp = driver_qp(&driver, PVRDMA_QPT_RC, 16, 0);
	guest_must(peer_connect(&driver, &qp, "rc"), "connection");
	test_registration(length);
	if (!huge)
		test_scattered(length < 256 * MEGA ? length : 256 * MEGA);
	test_ends(length);
	peer_close(&driver);
	driver_close(&driver);
	return done();
}
