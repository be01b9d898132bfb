// SPDX-License-Identifier: GPL-2.0-or-later
/* Clients that do not keep to the protocol: each loses its session, and no more. */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

static struct bench bench;
static struct client *const vmm = &bench.client;

static struct vfio_stats stats(void)
{
	struct vfio_stats now;

	vfio_stats(bench.dummy.vfio, &now);
	return now;
}

static void send_header(uint16_t command, uint32_t size, uint32_t flags, const int *fds,
			unsigned int fd_count)
{
	const struct proto_header header = { 1, command, size, flags, 0 };

	client_send(vmm, &header, sizeof(header), fds, fd_count);
}

/* The session has ended for the reason that was logged, and the next one works. */
static bool ended(const char *reason)
{
	uint64_t broken = stats().broken;
	bool gone = client_ended(vmm);

	if (!gone || !strstr(bench.dummy.last_log, reason)) {
		printf("# %s: %s\n", gone ? "ended" : "not ended", bench.dummy.last_log);
		return false;
	}
	bench_reconnect(&bench, true);
	return stats().broken >= broken && client_read32(vmm, 1, 0) == DUMMY_ID_VALUE;
}

static void sizes(void)
{
	bench_open(&bench, true);
	send_header(PROTO_DEVICE_RESET, 15, 0, NULL, 0);
	ok(ended("shorter than its header"), "message shorter than its header");
	send_header(PROTO_REGION_WRITE, 0, 0, NULL, 0);
	ok(ended("shorter than its header"), "one of no size");
	send_header(PROTO_REGION_WRITE, UINT32_MAX, 0, NULL, 0);
	ok(ended("message too long"), "one of 4 GiB");
	send_header(PROTO_DEVICE_RESET, 16, PROTO_TYPE_REPLY, NULL, 0);
	ok(ended("unsolicited reply"), "a reply to nothing");
	send_header(PROTO_DEVICE_RESET, 16, 7, NULL, 0);
	ok(ended("unsolicited reply"), "a message of an unknown type");
	send_header(PROTO_REGION_WRITE, 36, 0, NULL, 0);
	client_close(vmm);
	ok(bench.dummy.gone == 6 && strstr(bench.dummy.last_log, "within a message"),
	   "half a message");
	bench_reconnect(&bench, false);
	client_send(vmm, "\1", 1, NULL, 0);
	client_close(vmm);
	ok(bench.dummy.gone == 6 && !stats().connected, "one byte, before a version");
	bench_reconnect(&bench, false);
	send_header(PROTO_DEVICE_RESET, 16, 0, NULL, 0);
	ok(ended("not VERSION"), "a first message that is another");
	bench_close(&bench);
}

/* A body that is short, long, or of something unknown is refused; the session goes on. */
static void bodies(void)
{
	static const char junk[64];
	unsigned int command, size, refused = 0, expected = 0;
	char reply[256];

	bench_open(&bench, true);
	for (command = 0; command < 40; command++) {
		for (size = 0; size < 8; size++) {
			int ret;

			/* Has no body. */
			if (command == PROTO_DEVICE_RESET && !size)
				continue;
			expected++;
			ret = client_call(vmm, command, 0, junk, size, NULL, 0, reply,
					  sizeof(reply));
			refused += ret < 0 && ret != -EPIPE;
		}
	}
	ok(refused == expected && stats().refused == expected, "bodies that are too short");
	ok(bench.dummy.logs == 16, "which do not fill the log");
	ok(client_call(vmm, 14, 0, junk, 4, NULL, 0, reply, sizeof(reply)) == -ENOSYS &&
		   client_call(vmm, PROTO_DMA_READ, 0, junk, 16, NULL, 0, reply, sizeof(reply)) == -ENOSYS &&
		   client_call(vmm, PROTO_DEVICE_FEATURE, 0, junk, 8, NULL, 0, reply,
			       sizeof(reply)) == -ENOTTY,
	   "commands that are none of a client's, and migration");
	ok(client_read32(vmm, 1, 0) == DUMMY_ID_VALUE && stats().sessions == 1,
	   "the session goes on");
	bench_close(&bench);
}

static void descriptors(void)
{
	enum { MANY = 200 };
	int fds[MANY], pipes[2], event = bench_event();
	const uint64_t full = UINT64_MAX - 1;
	unsigned int files, i;

	bench_open(&bench, true);
	bench_enable(&bench);
	files = bench_open_files();
	for (i = 0; i < MANY; i++)
		fds[i] = bench.ram;
	send_header(PROTO_DEVICE_RESET, 16, 0, fds, MANY);
	ok(ended("too many file descriptors") && bench_files_become(files), "%d descriptors", MANY);
	bench_enable(&bench);
	ok(client_call(vmm, PROTO_DEVICE_RESET, 0, NULL, 0, fds, 2, NULL, 0) == -EINVAL &&
		   bench_files_become(files),
	   "descriptors that a message does not have are closed");
	send_header(PROTO_DMA_MAP, 48, 0, fds, 3);
	client_close(vmm);
	ok(bench_files_become(files), "as are those of half a message");
	bench_reconnect(&bench, true);
	bench_enable(&bench);
	if (pipe(pipes))
		abort();
	fds[0] = event;
	fds[1] = pipes[1];
	ok(client_irqs(vmm, VFIO_PCI_MSIX_IRQ_INDEX, 0x24, 0, 2, NULL, fds, 2) == -EINVAL &&
		   vfio_interrupt(bench.dummy.vfio, 0) == -ENOTCONN,
	   "interrupts go to event descriptors only");
	ok(!client_irqs(vmm, VFIO_PCI_MSIX_IRQ_INDEX, 0x24, 0, 1, NULL, &event, 1) &&
		   write(event, &full, sizeof(full)) == sizeof(full) &&
		   !vfio_interrupt(bench.dummy.vfio, 0),
	   "one that is full does not block");
	close(pipes[0]);
	close(pipes[1]);
	close(event);
	bench_close(&bench);
}

/* Limits the descriptors of this process to those that are open. */
static struct rlimit allow_no_more(void)
{
	int next = dup(0);
	struct rlimit before, now;

	close(next);
	if (getrlimit(RLIMIT_NOFILE, &before))
		abort();
	now = (struct rlimit){ next, before.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &now))
		abort();
	return before;
}

static void shortage(void)
{
	struct rlimit before;
	int ret, event;

	bench_open(&bench, true);
	event = bench_event();
	before = allow_no_more();
	ret = client_map(vmm, 0, RAM_SIZE, bench.ram, 0, PROTO_MAP_READ | PROTO_MAP_WRITE);
	ok(ret == -EMFILE, "without free descriptors, DMA_MAP is refused");
	ret = client_irqs(vmm, VFIO_PCI_MSIX_IRQ_INDEX, 0x24, 0, 1, NULL, &event, 1);
	ok(ret == -EMFILE, "and so is SET_IRQS");
	setrlimit(RLIMIT_NOFILE, &before);
	ok(!client_map(vmm, 0, RAM_SIZE, bench.ram, 0, PROTO_MAP_READ | PROTO_MAP_WRITE) &&
		   stats().sessions == 1,
	   "the session goes on, and a repeated DMA_MAP succeeds");
	close(event);
	bench_close(&bench);
}

/* Sends the last descriptor of a socket that blocks its close(), with one byte of a message. */
static void send_lingering(int *peer)
{
	const uint16_t id = 1;
	int fd = client_lingering(peer);

	client_send(vmm, &id, sizeof(id), &fd, 1);
	close(fd);
}

/* The same, behind as many as the kernel allows. */
static void send_many(int *peer)
{
	enum { MOST = 253 };
	int fds[MOST], i;

	for (i = 0; i < MOST - 1; i++)
		fds[i] = bench.ram;
	fds[i] = client_lingering(peer);
	send_header(PROTO_DEVICE_RESET, 16, 0, fds, MOST);
	close(fds[i]);
}

/* Only the client waits for descriptors that cannot be closed at once. */
static void slow_to_close(void)
{
	static const struct proto_header reset = { 1, PROTO_DEVICE_RESET, sizeof(reset), 0, 0 };
	enum { MANY = 100 };
	struct pollfd ready = { .events = POLLIN };
	int peers[MANY], peer, i;

	/* Ends the test if the server waits. */
	alarm(120);
	bench_open(&bench, true);
	send_lingering(&peer);
	client_close(vmm);
	ok(strstr(bench.dummy.last_log, "within a message"),
	   "a descriptor that cannot be closed is received");
	bench_reconnect(&bench, true);
	close(peer);
	send_many(&peer);
	ok(client_ended(vmm) && strstr(bench.dummy.last_log, "too many file descriptors"),
	   "one that is behind as many as a message may have does not block");
	close(peer);
	bench_settle(&bench);
	bench_reconnect(&bench, true);
	send_lingering(&peer);
	vfio_hang_up(bench.dummy.vfio, "enough");
	ok(client_ended(vmm), "a session ends with such a descriptor in its queue");
	bench_reconnect(&bench, true);
	close(peer);
	for (i = 0; i < MANY && !client_ended(vmm); i++) {
		send_lingering(&peers[i]);
		client_send(vmm, (const char *)&reset + 2, sizeof(reset) - 2, NULL, 0);
		client_receive(vmm, NULL, 0);
	}
	ok(i > 1 && i < MANY && strstr(bench.dummy.last_log, "take long to close"),
	   "a client that sends many of them loses its session");
	bench_reconnect(&bench, false);
	client_ended(vmm);
	ok(stats().sessions == 4, "and cannot begin another one");
	while (i)
		close(peers[--i]);
	ready.fd = vfio_fd(bench.dummy.vfio);
	poll(&ready, 1, 20000);
	ok(client_version(vmm, CAPABILITIES) > 0, "until they are closed");
	alarm(0);
	bench_close(&bench);
}

/* A descriptor that blocks its thread delays neither the loop nor another function. */
static void slow_neighbour(void)
{
	struct pollfd ready = { .events = POLLIN };
	struct vfio_stats now;
	struct bench other;
	int peer, event, i;

	alarm(120);
	bench_open(&bench, true);
	send_lingering(&peer);
	client_close(vmm);
	ready.fd = vfio_fd(bench.dummy.vfio);
	ok(!poll(&ready, 1, 0), "a socket that waits to be closed does not keep the loop awake");
	bench_open(&other, true);
	event = bench_event();
	for (i = 0; i < 40; i++) {
		client_call(&other.client, PROTO_DEVICE_RESET, 0, NULL, 0, &event, 1, NULL, 0);
		bench_reconnect(&other, true);
	}
	vfio_stats(other.dummy.vfio, &now);
	ok(now.sessions == 41 && !now.broken, "sessions of another function go on");
	close(event);
	close(peer);
	bench_close(&other);
	bench_close(&bench);
	alarm(0);
}

static atomic_bool stop;

/* Fills the counter whenever it is empty, and blocks while it is not. */
static void *fill(void *arg)
{
	const uint64_t full = UINT64_MAX - 1;

	while (!atomic_load(&stop))
		(void)!write(*(int *)arg, &full, sizeof(full));
	return NULL;
}

/* The client may fill the counter at any moment, and switch O_NONBLOCK off. */
static void filled(void)
{
	struct pollfd ready = { .fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN };
	unsigned int i, sent = 0;
	pthread_t thread;
	uint64_t count;

	bench_open(&bench, true);
	bench_enable(&bench);
	client_irqs(vmm, VFIO_PCI_MSIX_IRQ_INDEX, 0x24, 0, 1, NULL, &ready.fd, 1);
	fcntl(ready.fd, F_SETFL, 0);
	if (pthread_create(&thread, NULL, fill, &ready.fd))
		abort();
	/* Ends the test if an interrupt blocks. */
	alarm(120);
	for (i = 0; i < 100000; i++) {
		sent += !vfio_interrupt(bench.dummy.vfio, 0);
		if (poll(&ready, 1, 0) > 0)
			(void)!read(ready.fd, &count, sizeof(count));
	}
	ok(sent == i, "interrupts do not block while the client fills the counter");
	atomic_store(&stop, true);
	/* Empties the counter, if the thread waits for that. */
	while (pthread_tryjoin_np(thread, NULL)) {
		if (poll(&ready, 1, 1) > 0)
			(void)!read(ready.fd, &count, sizeof(count));
	}
	alarm(0);
	close(ready.fd);
	bench_close(&bench);
}

static void vectors(void)
{
	const int event = bench_event();
	const uint8_t all[4] = { 1, 1, 1, 1 };
	uint32_t flags, index, wrong = 0;

	bench_open(&bench, true);
	ok(client_irqs(vmm, 2, 0x24, 0, 2, NULL, &event, 1) == -EINVAL, "fewer than it says");
	ok(client_irqs(vmm, 2, 0x21, 3, UINT32_MAX, NULL, NULL, 0) == -EINVAL &&
		   client_irqs(vmm, 2, 0x21, UINT32_MAX, 2, NULL, NULL, 0) == -EINVAL &&
		   client_irqs(vmm, 2, 0x22, 0, 4, all, NULL, 0) == -EINVAL,
	   "more vectors than there are");
	ok(client_irqs(vmm, 2, 0x21, 0, 1, NULL, &event, 1) == -EINVAL,
	   "a descriptor that has no use");
	for (flags = 0; flags < 128; flags++) {
		for (index = 0; index < 7; index++)
			wrong += client_irqs(vmm, index, flags, 0, 9, NULL, NULL, 0) == 0;
	}
	ok(!wrong, "all flags for interrupts that are not there");
	close(event);
	bench_close(&bench);
}

/* Writes that want replies, none of which is read: memory stays as it is. */
static void flood(void)
{
	struct {
		struct proto_header header;
		struct proto_access access;
	} read = {
		{ 1, PROTO_REGION_READ, sizeof(read), 0, 0 }, { 0, 2, 65536 },
	};
	uint64_t handled;
	unsigned int i;

	bench_open(&bench, true);
	for (i = 0; i < 100000; i++) {
		if (send(vmm->fd, &read, sizeof(read), MSG_DONTWAIT) != sizeof(read))
			break;
	}
	for (i = 0; i < 100; i++)
		vfio_dispatch(bench.dummy.vfio);
	handled = stats().messages;
	for (i = 0; i < 100; i++)
		vfio_dispatch(bench.dummy.vfio);
	ok(handled < 100 && stats().messages == handled,
	   "a client that does not read its replies gets no more of them");
	client_close(vmm);
	ok(bench.dummy.gone == 1, "and can go");
	bench_close(&bench);
}

/* As many writes as fit into a message: other functions are served in between. */
static void long_message(void)
{
	enum { MANY = 43690 };
	static struct {
		struct proto_header header;
		uint64_t count;
		struct proto_multi_write writes[MANY];
	} multi;
	struct pollfd server = { .events = POLLIN }, reply = { .events = POLLIN };
	uint64_t before, most = 0, done = 0;
	uint32_t i;

	multi.header = (struct proto_header){ 1, PROTO_REGION_WRITE_MULTI, sizeof(multi), 0, 0 };
	multi.count = MANY;
	for (i = 0; i < MANY; i++) {
		multi.writes[i].access = (struct proto_access){ DUMMY_COMPLEMENT, 1, 4 };
		memcpy(multi.writes[i].data, &i, sizeof(i));
	}
	bench_open(&bench, true);
	client_send(vmm, &multi, sizeof(multi), NULL, 0);
	server.fd = vfio_fd(bench.dummy.vfio);
	reply.fd = vmm->fd;
	while (!poll(&reply, 1, 0) && poll(&server, 1, 0) == 1) {
		before = stats().writes[1];
		vfio_dispatch(bench.dummy.vfio);
		if (stats().writes[1] - before > most)
			most = stats().writes[1] - before;
	}
	ok(most && most <= 64, "a message of %d writes is performed in parts", MANY);
	vmm->id = 1;
	ok(client_receive(vmm, &done, sizeof(done)) == sizeof(done) && done == MANY &&
		   stats().writes[1] == MANY && stats().messages == 2 &&
		   client_read32(vmm, 1, DUMMY_COMPLEMENT) == ~(MANY - 1u),
	   "completely and in order");
	client_send(vmm, &multi, sizeof(multi), NULL, 0);
	vfio_dispatch(bench.dummy.vfio);
	bench_reconnect(&bench, true);
	ok(client_read32(vmm, 1, DUMMY_COMPLEMENT) == ~0u, "a client may disconnect in between");
	bench_close(&bench);
}

static void set(unsigned char *message, size_t at, uint32_t value)
{
	memcpy(message + at, &value, sizeof(value));
}

/* Sessions of messages that are almost right. */
static void garbage(void)
{
	unsigned char message[128];
	unsigned int session, count, i, size;

	srand(1);
	bench_open(&bench, true);
	bench_map(&bench);
	for (session = 0; session < 500; session++) {
		for (count = 0; count < 20; count++) {
			size = 16 + rand() % 5 * 8;
			for (i = 0; i < sizeof(message); i++)
				message[i] = rand() % 3 ? 0 : rand();
			set(message, 0, (rand() % 20) << 16);
			set(message, 4, size);
			set(message, 8, rand() % 8 ? 0 : rand());
			if (client_send(vmm, message, size, &bench.ram, rand() % 4 == 0))
				break;
			vfio_dispatch(bench.dummy.vfio);
			while (recv(vmm->fd, message, sizeof(message), MSG_DONTWAIT) > 0)
				;
		}
		bench_reconnect(&bench, true);
	}
	ok(client_read32(vmm, 1, 0) == DUMMY_ID_VALUE && !stats().regions,
	   "500 sessions of garbage leave nothing");
	bench_close(&bench);
}

/* One that says nothing keeps the next one out for a while only. */
static void silence(void)
{
	bench_open(&bench, false);
	while (!client_ended(vmm))
		poll(&(struct pollfd){ .fd = vfio_fd(bench.dummy.vfio), .events = POLLIN }, 1, -1);
	ok(strstr(bench.dummy.last_log, "timed out") && !bench.dummy.came, "a client that says nothing");
	bench_close(&bench);
}

int main(void)
{
	sizes();
	bodies();
	descriptors();
	shortage();
	slow_to_close();
	slow_neighbour();
	filled();
	vectors();
	flood();
	long_message();
	garbage();
	silence();
	return done();
}
