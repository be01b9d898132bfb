// SPDX-License-Identifier: GPL-2.0-or-later
/* Clients that come and go, and the socket that they come to. */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

/* Mappings that the allocator may make meanwhile; that of the sanitizer keeps what is freed. */
#ifdef __SANITIZE_ADDRESS__
#define ALLOCATOR_MAPS 100
#else
#define ALLOCATOR_MAPS 2
#endif

#define READ_WRITE (PROTO_MAP_READ | PROTO_MAP_WRITE)

static struct bench bench;
static struct client *const vmm = &bench.client;

static void one_session(int event, unsigned int messages)
{
	unsigned int i;

	bench_reconnect(&bench, messages > 0);
	for (i = 1; i < messages; i++) {
		switch (i) {
		case 1:
			bench_enable(&bench);
			break;
		case 2:
			client_irqs(vmm, VFIO_PCI_MSIX_IRQ_INDEX, 0x24, 0, 1, NULL, &event, 1);
			break;
		case 3:
			client_write32(vmm, 1, DUMMY_ADDRESS_LOW, PAGE);
			break;
		case 5:
			client_write32(vmm, 1, DUMMY_ADD, 1);
			break;
		default:
			client_map(vmm, i * RAM_SIZE, RAM_SIZE, bench.ram, 0, READ_WRITE);
		}
	}
}

/* Lines of a file below /proc/self, or the number after @name in it. */
static unsigned long of_process(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	unsigned long value = 0;
	char line[256];

	if (!file)
		abort();
	while (fgets(line, sizeof(line), file)) {
		if (!name)
			value++;
		else if (!strncmp(line, name, strlen(name)))
			value = strtoul(line + strlen(name), NULL, 10);
	}
	fclose(file);
	return value;
}

static void reconnects(void)
{
	unsigned int files, i;
	unsigned long maps, memory;
	int event = bench_event();

	bench_open(&bench, true);
	for (i = 0; i < 50; i++)
		one_session(event, i % 12);
	one_session(event, 0);
	bench_settle(&bench);
	files = bench_open_files();
	maps = of_process("/proc/self/maps", NULL);
	memory = of_process("/proc/self/status", "RssAnon:");
	for (i = 0; i < 1000; i++)
		one_session(event, i % 12);
	one_session(event, 0);
	printf("# %lu kB before, %lu kB after\n", memory,
	       of_process("/proc/self/status", "RssAnon:"));
	ok(bench_files_become(files), "1,000 sessions leave no descriptor");
	ok(of_process("/proc/self/maps", NULL) <= maps + ALLOCATOR_MAPS, "and no mapping");
#ifndef __SANITIZE_ADDRESS__
	/* The sanitizer keeps what is freed for a while. */
	ok(of_process("/proc/self/status", "RssAnon:") <= memory + 256, "and no memory");
#endif
	close(event);
	bench_close(&bench);
}

static void state(void)
{
	struct vfio_stats stats;
	uint32_t command = ~0u;
	int event = bench_event();

	bench_open(&bench, true);
	bench_map(&bench);
	client_irqs(vmm, VFIO_PCI_MSIX_IRQ_INDEX, 0x24, 0, 1, NULL, &event, 1);
	client_write32(vmm, 1, DUMMY_COMPLEMENT, 1);
	vfio_stats(bench.dummy.vfio, &stats);
	ok(stats.connected && stats.peer.pid == getpid() && stats.peer.uid == getuid() &&
		   stats.mastering && stats.memory == RAM_SIZE,
	   "the client is known");
	client_close(vmm);
	ok(bench.dummy.gone == 1 && !bench.dummy.unmapped && !bench.dummy.resets,
	   "the function hears once that it has gone");
	ok(vfio_interrupt(bench.dummy.vfio, 0) == -ENOTCONN && !bench_events(event) &&
		   !vfio_dma(bench.dummy.vfio, 0, 1, false),
	   "interrupts and memory have gone");
	vfio_stats(bench.dummy.vfio, &stats);
	ok(!stats.connected && !stats.broken && !stats.regions, "which is nobody's fault");
	bench_reconnect(&bench, true);
	ok(bench.dummy.came == 2 && !client_read(vmm, CONFIG_REGION, 4, &command, 2) &&
		   (command & 0xffff) == 0 && client_read32(vmm, 1, DUMMY_COMPLEMENT) == ~0u,
	   "the next one finds the function as after power-on");
	vfio_hang_up(bench.dummy.vfio, "enough");
	ok(client_ended(vmm) && bench.dummy.gone == 2 &&
		   strstr(bench.dummy.last_log, "enough"),
	   "the server can end a session");
	bench_reconnect(&bench, true);
	vfio_close(bench.dummy.vfio);
	ok(bench.dummy.gone == 3, "closing the function does so");
	close(vmm->fd);
	close(bench.ram);
	close(event);
}

/* The second client waits until the first has gone. */
static void queue(void)
{
	struct client first;
	char byte;

	bench_open(&bench, true);
	first = *vmm;
	vmm->fd = -1;
	bench_reconnect(&bench, false);
	ok(!client_ended(vmm) && recv(vmm->fd, &byte, 1, MSG_DONTWAIT) < 0 &&
		   client_read32(&first, 1, 0) == DUMMY_ID_VALUE,
	   "a second client waits");
	client_close(&first);
	ok(client_version(vmm, CAPABILITIES) > 0 && client_read32(vmm, 1, 0) == DUMMY_ID_VALUE,
	   "and gets its turn");
	bench_close(&bench);
}

static bool no_room;

/* In place of the C library's: fails to add a descriptor, as at max_user_watches. */
int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	if (no_room && op == EPOLL_CTL_ADD) {
		errno = ENOSPC;
		return -1;
	}
	return (int)syscall(SYS_epoll_ctl, epfd, op, fd, event);
}

static void unwatched(void)
{
	struct pollfd retry = { .events = POLLIN };

	bench_open(&bench, true);
	no_room = true;
	bench_reconnect(&bench, false);
	ok(client_ended(vmm) && strstr(bench.dummy.last_log, "will retry: No space left"),
	   "a client whose socket cannot be watched is disconnected");
	no_room = false;
	retry.fd = vfio_fd(bench.dummy.vfio);
	poll(&retry, 1, 20000);
	bench_reconnect(&bench, true);
	ok(client_read32(vmm, 1, 0) == DUMMY_ID_VALUE, "and later clients are served");
	bench_close(&bench);
}

static struct vfio *at(const char *path)
{
	errno = 0;
	return vfio_open(path, 0620, &dummy_function, &dummy_ops, &bench.dummy);
}

static void sockets(void)
{
	char dir[] = "/tmp/vfio-XXXXXX", path[64], moved[64], longer[200];
	struct client other = { .fd = -1 };
	struct vfio *vfio;
	struct stat st;
	mode_t mask;
	int fd;

	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/socket", dir);
	snprintf(moved, sizeof(moved), "%s/moved", dir);
	mask = umask(0077);
	vfio = at(path);
	umask(mask);
	ok(vfio && !stat(path, &st) && (st.st_mode & 07777) == 0620, "a socket has its mode");
	ok(!at(path) && errno == EADDRINUSE, "and is not taken from who listens there");
	if (link(path, moved))
		abort();
	vfio_close(vfio);
	ok(stat(path, &st) && errno == ENOENT, "it is removed in the end");
	vfio = at(moved);
	ok(vfio && !client_connect(&other, moved), "one that was left is replaced");
	close(other.fd);
	vfio_close(vfio);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	ok(!at(path) && errno == EADDRINUSE && !stat(path, &st), "a file is not");
	unlink(path);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ok(!at(longer) && errno == ENAMETOOLONG, "a name that is too long");
	snprintf(path, sizeof(path), "%s/none/socket", dir);
	ok(!at(path) && errno == ENOENT, "a folder that is not there");
	rmdir(dir);
}

int main(void)
{
	reconnects();
	state();
	queue();
	unwatched();
	sockets();
	return done();
}
