// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "session.h"

#define COMMAND 4
#define MEMORY_AND_MASTER 6

static void pump(void *arg)
{
	struct bench *bench = arg;

	if (vfio_dispatch(bench->dummy.vfio))
		abort();
}

static int listener(void)
{
	/* The kernel chooses a name that is not in the file system. */
	const struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&name, sizeof(name.sun_family)) ||
	    listen(fd, 4))
		abort();
	return fd;
}

static int connect_to(int listener)
{
	struct sockaddr_un name;
	socklen_t size = sizeof(name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || getsockname(listener, (struct sockaddr *)&name, &size) ||
	    connect(fd, (struct sockaddr *)&name, size))
		abort();
	return fd;
}

static int listening;

static void begin(struct bench *bench, bool ready)
{
	bench->client = (struct client){ connect_to(listening), 0, pump, bench };
	if (ready && client_version(&bench->client, CAPABILITIES) < 0)
		abort();
}

void bench_open(struct bench *bench, bool ready)
{
	memset(bench, 0, sizeof(*bench));
	bench->ram = bench_file(RAM_SIZE);
	listening = listener();
	bench->dummy.vfio = vfio_open_fd(listening, &dummy_function, &dummy_ops, &bench->dummy);
	if (!bench->dummy.vfio)
		abort();
	begin(bench, ready);
}

void bench_reconnect(struct bench *bench, bool ready)
{
	client_close(&bench->client);
	begin(bench, ready);
}

void bench_settle(struct bench *bench)
{
	unsigned int tries;

	for (tries = 0; tries < 10000 && discard_pending(bench->dummy.vfio->channel.discard); tries++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

void bench_close(struct bench *bench)
{
	client_close(&bench->client);
	bench_settle(bench);
	vfio_close(bench->dummy.vfio);
	close(bench->ram);
}

void bench_enable(struct bench *bench)
{
	const uint16_t command = MEMORY_AND_MASTER;

	if (client_write(&bench->client, CONFIG_REGION, COMMAND, &command, sizeof(command)))
		abort();
}

void bench_map(struct bench *bench)
{
	bench_enable(bench);
	if (client_map(&bench->client, 0, RAM_SIZE, bench->ram, 0,
		       PROTO_MAP_READ | PROTO_MAP_WRITE))
		abort();
}

int bench_file(size_t size)
{
	int fd = memfd_create("guest", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, size))
		abort();
	return fd;
}

int bench_event(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		abort();
	return fd;
}

uint64_t bench_events(int fd)
{
	uint64_t count = 0;

	return read(fd, &count, sizeof(count)) > 0 ? count : 0;
}

unsigned int bench_open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	unsigned int count = 0;
	struct stat st;

	if (!dir)
		abort();
	while ((entry = readdir(dir)))
		count += !fstatat(dirfd(dir), entry->d_name, &st, 0) && !S_ISSOCK(st.st_mode);
	closedir(dir);
	return count;
}

bool bench_files_become(unsigned int count)
{
	unsigned int tries;

	for (tries = 0; tries < 10000; tries++) {
		if (bench_open_files() == count)
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	return false;
}
