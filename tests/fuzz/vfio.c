// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: the server of vfio-user, and a client that sends what it likes:
 * messages as a VMM has them, with fields of the input's, descriptors of all kinds,
 * halves of messages, noise. The function behind it is that of the unit tests, which
 * reads and writes memory where a register says.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "asan.h"
#include "discard.h"
#include "dummy.h"
#include "input.h"
#include "proto.h"

#define MAX_STEPS 64
#define PAGE 4096u
#define RAM_PAGES 4u
#define HEADER sizeof(struct proto_header)
/* Of what one step sends; the rest of a message that says that it is longer never comes. */
#define ROOM 600u
#define MAX_TURNS 16
/* What one message may have is 64. */
#define MANY_FDS 70u

static struct dummy dummy;
static char path[64];
static int client = -1, ram;

/* ---- closing of descriptors, without a thread: an input always does the same */

struct discard {
	bool slow;
};

static struct discard discard;

struct discard *discard_open(void)
{
	return &discard;
}

void discard_close(struct discard *its)
{
	(void)its;
}

void discard_fd(struct discard *its, int fd)
{
	(void)its;
	close(fd);
}

void discard_socket(struct discard *its, int fd)
{
	discard_fd(its, fd);
}

bool discard_is_memory(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0;
}

/* Once for each message of a client whose descriptors take long. */
unsigned int discard_pending(struct discard *its)
{
	bool slow = its->slow;

	its->slow = false;
	return slow ? DISCARD_MAX : 0;
}

/* ---- both ends */

static void serve(void)
{
	struct pollfd fd = { .events = POLLIN };
	unsigned int turns = MAX_TURNS;
	int err = 0;

	while (dummy.vfio && turns--) {
		fd.fd = vfio_fd(dummy.vfio);
		if (poll(&fd, 1, 0) < 1)
			break;
		err = vfio_dispatch(dummy.vfio);
		if (!err)
			continue;
		/* Of a connection that was given, this is the end. */
		vfio_close(dummy.vfio);
		dummy.vfio = NULL;
	}
}

static void read_replies(void)
{
	static unsigned char replies[1 << 16];

	while (client >= 0 && recv(client, replies, sizeof(replies), MSG_DONTWAIT) > 0)
		;
}

static void hang_up(void)
{
	if (client >= 0)
		close(client);
	client = -1;
	serve();
}

static void join(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	hang_up();
	discard.slow = false;
	strcpy(name.sun_path, path);
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (client < 0 || connect(client, (struct sockaddr *)&name, sizeof(name)))
		abort();
	serve();
}

static void listen_again(void)
{
	dummy.vfio = vfio_open(path, 0600, &dummy_function, &dummy_ops, &dummy);
	if (!dummy.vfio)
		abort();
}

/* A server of one connection, or one that finds the socket of another. */
static void begin(uint8_t choice)
{
	struct vfio_function function = dummy_function;
	char left[80];
	int pair[2];

	if (choice & 4) {
		function.pcie = true;
		function.bars[4] = (struct vfio_bar){ VFIO_BAR_IO, false, 64 };
	}

	if (dummy.vfio && choice & 1) {
		snprintf(left, sizeof(left), "%s.left", path);
		if (link(path, left))
			abort();
		/* In use, then left behind. */
		if (vfio_open(path, 0600, &dummy_function, &dummy_ops, &dummy))
			abort();
		vfio_close(dummy.vfio);
		if (rename(left, path))
			abort();
		listen_again();
	}
	if (!(choice & 2)) {
		if (!dummy.vfio)
			listen_again();
		join();
		return;
	}
	if (dummy.vfio)
		vfio_close(dummy.vfio);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		abort();
	client = pair[0];
	dummy.vfio = vfio_open_fd(pair[1], &function, &dummy_ops, &dummy);
	if (!dummy.vfio)
		abort();
}

/* ---- messages */

/* Bytes with @count descriptors of @kind: events, memory, and what is neither. */
static void transmit(const void *data, size_t size, uint8_t kind, unsigned int count)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(MANY_FDS * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)data, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[MANY_FDS], fd = -1;
	unsigned int i;

	if (client < 0 || !size)
		return;
	discard.slow = count && kind >= 250;
	switch (count ? kind % 4 : 4) {
	case 0: fd = eventfd(0, EFD_CLOEXEC); break;
	case 1: fd = fcntl(ram, F_DUPFD_CLOEXEC, 0); break;
	case 2: fd = open("/dev/null", O_RDWR | O_CLOEXEC); break;
	case 3: fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC); break;
	default: break;
	}
	for (i = 0; i < count; i++)
		fds[i] = fd;
	if (count) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, count * sizeof(int));
	}
	(void)!sendmsg(client, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
}

/* A whole message, unless the input has it otherwise; then the server's turn. */
static void message(struct input *in, uint16_t command, const void *body, size_t size,
		    uint8_t kind, unsigned int fds)
{
	unsigned char bytes[HEADER + ROOM];
	struct proto_header header = { .id = 1, .command = command, .size = (uint32_t)(HEADER + size) };
	size_t cut = HEADER + size;
	uint8_t choice = byte(in);

	if (choice & 1)
		header.flags = PROTO_NO_REPLY;
	if (choice >= 240)
		header.flags = byte(in);
	if (choice >= 248)
		header.size = (uint32_t)number(in, 1 + byte(in) % 4);
	memcpy(bytes, &header, HEADER);
	memcpy(bytes + HEADER, body, size);
	if (choice & 2)
		cut = byte(in) % cut;
	transmit(bytes, cut, kind, fds);
	serve();
	if (cut < HEADER + size && !(choice & 4)) {
		transmit(bytes + cut, HEADER + size - cut, kind, 0);
		serve();
	}
	if (!(choice & 8))
		read_replies();
	serve();
}

static void version(struct input *in)
{
	static const char *const texts[] = {
		"{\"capabilities\":{\"max_msg_fds\":16,\"write_multiple\":true,\"pgsizes\":4096}}",
		"{\"capabilities\":{\"max_data_xfer_size\":1048576,\"max_dma_maps\":-1}}",
		"{}", "{\"capabilities\":[]}", "[", "",
	};
	uint8_t choice = byte(in);
	const char *text = texts[choice % 8 < 6 ? choice % 8 : 0];
	struct proto_version version = { PROTO_MAJOR, PROTO_MINOR };
	unsigned char body[ROOM];
	size_t size = sizeof(version) + strlen(text) + (*text != 0);

	if (choice & 16)
		version.minor = byte(in);
	if (choice >= 224)
		version.major = byte(in);
	memcpy(body, &version, sizeof(version));
	memcpy(body + sizeof(version), text, size - sizeof(version));
	if (choice & 8)
		body[byte(in) % size] = byte(in);
	message(in, PROTO_VERSION, body, choice >= 248 ? byte(in) % size : size, 0, 0);
}

static void map(struct input *in)
{
	uint8_t choice = byte(in);
	struct proto_dma_map map = {
		.argsz = sizeof(map), .flags = PROTO_MAP_READ | PROTO_MAP_WRITE,
		.offset = (choice >> 6) * PAGE, .address = (choice & 7) * PAGE,
		.size = (1 + (choice >> 3 & 3)) * PAGE,
	};
	unsigned int fds = 1;
	uint8_t kind = 1;

	if (rarely(in)) {
		map.flags = byte(in);
		map.address = number(in, byte(in) % 9);
		map.size = number(in, byte(in) % 9);
		map.offset = number(in, byte(in) % 3);
		kind = byte(in);
		fds = byte(in) % 3;
	}
	message(in, PROTO_DMA_MAP, &map, sizeof(map), kind, fds);
}

static void unmap(struct input *in)
{
	uint8_t choice = byte(in);
	struct proto_dma_unmap unmap = {
		.argsz = sizeof(unmap), .address = (choice & 7) * PAGE,
		.size = (1 + (choice >> 3 & 3)) * PAGE,
	};

	if (choice & 128) {
		unmap.flags = 2;
		unmap.address = choice & 1 ? PAGE : 0;
		unmap.size = 0;
	}
	if (rarely(in))
		unmap.flags = byte(in);
	message(in, PROTO_DMA_UNMAP, &unmap, sizeof(unmap), 0, 0);
}

static void about(struct input *in)
{
	union {
		struct proto_device_info device;
		struct vfio_region_info region;
		struct vfio_irq_info irq;
		unsigned char bytes[64];
	} body = { 0 };
	static const uint8_t commands[] = {
		PROTO_DEVICE_GET_INFO, PROTO_DEVICE_GET_REGION_INFO, PROTO_DEVICE_GET_IRQ_INFO,
		PROTO_DEVICE_FEATURE, PROTO_DEVICE_GET_REGION_IO_FDS, PROTO_MIG_DATA_READ, 0, 14,
	};
	uint8_t choice = byte(in), command = commands[choice % 8];
	size_t size = sizeof(body.device);

	if (command == PROTO_DEVICE_GET_REGION_INFO) {
		body.region = (struct vfio_region_info){ .argsz = 32, .index = choice >> 3 };
		size = sizeof(body.region);
	} else if (command == PROTO_DEVICE_GET_IRQ_INFO) {
		body.irq = (struct vfio_irq_info){ .argsz = 16, .index = choice >> 3 };
		size = sizeof(body.irq);
	}
	message(in, command, &body, rarely(in) ? byte(in) % sizeof(body) : size, 0,
		choice == 255);
}

static void irqs(struct input *in)
{
	static const uint32_t flags[] = {
		VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
		VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER,
		VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK,
		VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK,
		VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_MASK,
		VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_UNMASK,
		VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER,
		VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_MASK,
	};
	uint8_t choice = byte(in), kind = 0;
	struct vfio_irq_set set = {
		.argsz = sizeof(set), .flags = flags[choice & 7], .index = VFIO_PCI_MSIX_IRQ_INDEX,
		.start = choice >> 3 & 3, .count = choice >> 5,
	};
	unsigned char body[sizeof(set) + 8];
	unsigned int fds = choice & 7 ? 0 : set.count;

	if (rarely(in)) {
		set.index = byte(in) % 8;
		set.start = byte(in) % 8;
		set.flags = byte(in);
		kind = byte(in);
		fds = byte(in) % MANY_FDS;
	}
	memcpy(body, &set, sizeof(set));
	memset(body + sizeof(set), choice, 8);
	message(in, PROTO_DEVICE_SET_IRQS, body,
		sizeof(set) + (set.flags & VFIO_IRQ_SET_DATA_BOOL ? set.count % 8 : 0), kind, fds);
}

/* Where, and how much: registers, table, configuration, the largest BAR. */
static struct proto_access place(struct input *in)
{
	uint8_t choice = byte(in);
	struct proto_access access = { .region = choice & 7, .count = 4 };

	access.offset = access.region == 1 ? (uint64_t)(choice >> 3) * 4 % 24 : byte(in);
	if (access.region == 0 && choice & 64)
		access.offset = DUMMY_PBA;
	if (choice & 128)
		access.count = 1 + byte(in) % 16;
	if (choice >= 240) {
		access.offset = number(in, 1 + byte(in) % 8);
		access.count = (uint32_t)number(in, 1 + byte(in) % 4);
	}
	return access;
}

/* Registers get addresses more often than others, and no long delays. */
static void write_region(struct input *in)
{
	struct proto_access access = place(in);
	unsigned char body[ROOM] = { 0 };
	uint8_t choice = byte(in);
	uint32_t value = choice & 1 ? (uint32_t)(choice >> 4) * PAGE : choice >> 1;

	if (access.region == 1 && access.offset / 4 == DUMMY_ADDRESS_HIGH / 4)
		value = 0;
	if (choice == 255)
		value = (uint32_t)number(in, 4);
	if (access.region == 1 && access.offset + access.count > DUMMY_DELAY)
		access.offset = DUMMY_ADD;
	memcpy(body, &access, sizeof(access));
	memcpy(body + sizeof(access), &value, sizeof(value));
	message(in, PROTO_REGION_WRITE, body,
		sizeof(access) + (access.count < 64 ? access.count : 64), 0, 0);
}

static void read_region(struct input *in)
{
	struct proto_access access = place(in);

	if (rarely(in))
		access = (struct proto_access){ 0, 2, 1 << 18 };
	message(in, PROTO_REGION_READ, &access, sizeof(access), 0, 0);
}

static void write_many(struct input *in)
{
	struct {
		uint64_t count;
		struct proto_multi_write writes[3];
	} body = { .count = byte(in) % 4 };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		body.writes[i].access = place(in);
		if (body.writes[i].access.region == 1 && body.writes[i].access.offset >= DUMMY_DELAY)
			body.writes[i].access.region = 2;
	}
	message(in, PROTO_REGION_WRITE_MULTI, &body,
		sizeof(body.count) + (rarely(in) ? byte(in) % 3 : body.count % 4) * sizeof(body.writes[0]),
		0, 0);
}

/* The command register, so that memory and interrupts are there. */
static void enable(struct input *in)
{
	struct {
		struct proto_access access;
		uint16_t command;
	} __attribute__((packed)) body = {
		{ 4, VFIO_PCI_CONFIG_REGION_INDEX, 2 }, byte(in) ^ 6,
	};

	message(in, PROTO_REGION_WRITE, &body, sizeof(body), 0, 0);
}

static void noise(struct input *in)
{
	unsigned char bytes[32];
	unsigned int i, size = byte(in) % sizeof(bytes);

	for (i = 0; i < size; i++)
		bytes[i] = byte(in);
	transmit(bytes, size, byte(in), rarely(in) ? byte(in) % MANY_FDS : 0);
	serve();
}

/* What the function does by itself. */
static void function(struct input *in)
{
	struct vfio_stats stats;
	struct vfio_run run;
	uint8_t choice = byte(in);
	uint64_t address = number(in, 2);
	volatile unsigned char *memory;

	if (!dummy.vfio)
		return;
	vfio_stats(dummy.vfio, &stats);
	switch (choice % 8) {
	case 0: (void)vfio_interrupt(dummy.vfio, choice >> 3); break;
	case 1: (void)vfio_unplug(dummy.vfio); break;
	case 2: vfio_hang_up(dummy.vfio, "enough"); break;
	case 3: vfio_hang_up(dummy.vfio, NULL); break;
	case 4:
		/* What the client cuts off is found when it is used. */
		if (!ftruncate(ram, choice & 8 ? 0 : RAM_PAGES * PAGE))
			break;
		abort();
	case 5:
		if (!vfio_backing(dummy.vfio, address, 1 + choice, &run) &&
		    run.address != address)
			abort();
		break;
	default:
		/* As the device does, whether the file is still that long or not. */
		memory = vfio_dma(dummy.vfio, address, 1, choice & 16);
		if (memory && choice & 16)
			*memory = choice;
		else if (memory)
			(void)*memory;
		break;
	}
	serve();
}

static void step(struct input *in)
{
	switch (byte(in) % 20) {
	case 0: version(in); break;
	case 1: case 2: case 3: map(in); break;
	case 4: case 5: unmap(in); break;
	case 6: about(in); break;
	case 7: case 8: case 9: irqs(in); break;
	case 10: case 11: case 12: write_region(in); break;
	case 13: read_region(in); break;
	case 14: write_many(in); break;
	case 15: enable(in); break;
	case 16: message(in, PROTO_DEVICE_RESET, "", 0, 0, 0); break;
	case 17: noise(in); break;
	case 18: function(in); break;
	default:
		/* A client that went, and another one. */
		if (dummy.vfio && rarely(in))
			hang_up();
		read_replies();
		break;
	}
}

/* What a VMM does first: memory, vectors, the command register. */
static void set_up(void)
{
	static const uint8_t vectors[] = { 0x60 }, whole[] = { 0x18 };

	version(&(struct input){ 0 });
	enable(&(struct input){ 0 });
	map(&(struct input){ whole, sizeof(whole) });
	irqs(&(struct input){ vectors, sizeof(vectors) });
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void clean(void)
{
	if (dummy.vfio)
		vfio_close(dummy.vfio);
	unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	snprintf(path, sizeof(path), "/tmp/eadm-vfio-fuzz.%d", (int)getpid());
	ram = memfd_create("ram", MFD_CLOEXEC);
	atexit(clean);
	return ram < 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	unsigned int steps = 0;
	uint8_t choice = byte(&in);

	if (ftruncate(ram, RAM_PAGES * PAGE))
		abort();
	begin(choice >= 240 ? choice : 0);
	if (choice & 1)
		set_up();
	while (in.size && steps++ < MAX_STEPS)
		step(&in);
	hang_up();
	return 0;
}
