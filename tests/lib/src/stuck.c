// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process that uses an RDMA device and is stuck in a page fault, with the lock of its
 * address space held:
 *
 *	stuck DEVICE FILE
 *
 * Run by a user with a user and a mount namespace (unshare -Urm), where /dev/fuse can be
 * opened. A child serves FILE by FUSE, but not its second read: so the fault is retried,
 * and the kernel does not drop the lock then. Another thread waits for the lock to map
 * something, and all that take it from then on wait, too. Prints "stuck PID CHILD", and
 * goes on until both are killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define FILE_SIZE (1 << 20)

static const struct timespec pause_time = { .tv_nsec = 100000000 };
static volatile pid_t waiter;

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

static void answer(int fd, uint64_t unique, int error, const void *data, size_t size)
{
	struct fuse_out_header head = { .unique = unique, .error = -error };
	char buf[sizeof(head) + 256];

	head.len = sizeof(head) + (error ? 0 : size);
	memcpy(buf, &head, sizeof(head));
	if (!error && size)
		memcpy(buf + sizeof(head), data, size);
	need(write(fd, buf, head.len) == (ssize_t)head.len, "answer");
}

static void serve(int fd)
{
	static const struct fuse_attr_out attr = {
		.attr_valid = 1000,
		.attr = { .ino = 1, .size = FILE_SIZE, .mode = S_IFREG | 0666, .nlink = 1, .blksize = PAGE },
	};
	static const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = PAGE, .time_gran = 1,
	};
	static const struct fuse_open_out opened = { .fh = 1 };
	static char buf[1 << 17];
	int reads = 0;

	while (read(fd, buf, sizeof(buf)) > 0) {
		const struct fuse_in_header *in = (void *)buf;

		switch (in->opcode) {
		case FUSE_INIT:
			answer(fd, in->unique, 0, &init, sizeof(init));
			break;
		case FUSE_GETATTR:
			answer(fd, in->unique, 0, &attr, sizeof(attr));
			break;
		case FUSE_OPEN:
			answer(fd, in->unique, 0, &opened, sizeof(opened));
			break;
		case FUSE_READ:
			/* The second one is never answered. */
			if (!reads++)
				answer(fd, in->unique, EIO, NULL, 0);
			break;
		case FUSE_FORGET:
		case FUSE_INTERRUPT:
			break;
		default:
			answer(fd, in->unique, ENOSYS, NULL, 0);
		}
	}
}

static pid_t begin_serving(const char *path)
{
	char options[128];
	pid_t child;
	int fd = open("/dev/fuse", O_RDWR);

	need(fd >= 0, "/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=%o,user_id=%d,group_id=%d", fd,
		 S_IFREG | 0666, getuid(), getgid());
	need(!mount("stuck", path, "fuse", MS_NOSUID | MS_NODEV, options), path);
	child = fork();
	need(child >= 0, "fork");
	if (!child) {
		serve(fd);
		exit(0);
	}
	close(fd);
	return child;
}

/* Opens the device, and touches what its provider has mapped of it. */
static void use_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr attr = {
		.qp_type = strncmp(name, "efa", 3) ? IBV_QPT_RC : IBV_QPT_UD,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_context *ctx = NULL;
	struct ibv_pd *pd;
	uintptr_t page;
	char line[512];
	FILE *file;

	for (int i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	need(ctx, name);
	pd = ibv_alloc_pd(ctx);
	attr.send_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	need(pd && attr.send_cq && ibv_create_qp(pd, &attr), "create QP");
	file = fopen("/proc/self/maps", "r");
	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "/uverbs") && sscanf(line, "%lx", &page) == 1)
			*(volatile uint32_t *)page;
	if (file)
		fclose(file);
}

static void *touch(void *page)
{
	*(volatile char *)page;
	return NULL;
}

/* Again and again, until it is held up. */
static void *map_more(void *unused)
{
	(void)unused;
	waiter = syscall(SYS_gettid);
	for (;;) {
		munmap(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), PAGE);
		nanosleep(&pause_time, NULL);
	}
	return NULL;
}

/* Without the libraries' help, which might need memory. */
static char state_of(pid_t thread)
{
	static char path[64], text[512];
	char *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return '?';
	close(fd);
	end = strrchr(text, ')');
	return end ? end[2] : '?';
}

int main(int argc, char **argv)
{
	static char text[64];
	struct stat st;
	pthread_t thread;
	pid_t child;
	void *page;
	int fd;

	need(argc == 3, "usage: stuck DEVICE FILE");
	child = begin_serving(argv[2]);
	use_device(argv[1]);
	fd = open(argv[2], O_RDONLY);
	/* Has the kernel ask for the file's size. */
	need(!fstat(fd, &st) && st.st_size, "file");
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	need(fd >= 0 && page != MAP_FAILED, argv[2]);
	madvise(page, PAGE, MADV_RANDOM);
	/* All that is used below is in memory. */
	snprintf(text, sizeof(text), "stuck %d %d\n", getpid(), child);
	state_of(getpid());
	nanosleep(&pause_time, NULL);
	need(!pthread_create(&thread, NULL, map_more, NULL), "thread");
	need(!pthread_create(&thread, NULL, touch, page), "thread");
	for (int held = 0; held < 10; nanosleep(&pause_time, NULL))
		held = waiter && state_of(waiter) == 'D' ? held + 1 : 0;
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		return 2;
	for (;;)
		pause();
}
