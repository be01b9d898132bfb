// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/vfio.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

#define HEADER sizeof(struct proto_header)
#define TRIES 1000
#define TRY_MS 10
/* Of the kernel, for one message. */
#define MAX_FDS 253

static void wait_for(struct client *client, short events)
{
	struct pollfd wait = { .fd = client->fd, .events = events };

	if (client->pump)
		client->pump(client->arg);
	poll(&wait, 1, client->pump ? 0 : -1);
}

int client_connect(struct client *client, const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	const struct timespec pause = { .tv_nsec = TRY_MS * 1000000L };
	int i;

	snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
	client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client->fd < 0)
		return -errno;
	for (i = 0; i < TRIES; i++) {
		if (!connect(client->fd, (struct sockaddr *)&name, sizeof(name)))
			return 0;
		nanosleep(&pause, NULL);
	}
	return -errno;
}

void client_close(struct client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
	if (client->pump)
		client->pump(client->arg);
}

int client_send(struct client *client, const void *data, size_t size,
		const int *fds, unsigned int fd_count)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(MAX_FDS * sizeof(int))];
	} control = { 0 };
	size_t done = 0;

	while (done < size) {
		struct iovec iov = { (char *)data + done, size - done };
		struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
		ssize_t put;

		if (fd_count && !done) {
			struct cmsghdr *cmsg = &control.align;

			msg.msg_control = &control;
			msg.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
			cmsg->cmsg_level = SOL_SOCKET;
			cmsg->cmsg_type = SCM_RIGHTS;
			cmsg->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
			memcpy(CMSG_DATA(cmsg), fds, fd_count * sizeof(int));
		}
		put = sendmsg(client->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (put < 0) {
			if (errno != EAGAIN)
				return -EPIPE;
			wait_for(client, POLLOUT);
			continue;
		}
		done += put;
	}
	return 0;
}

int client_lingering(int *peer)
{
	const struct linger forever = { 1, 100000 };
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(name);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	static const char data[65536];

	if (bind(listener, (struct sockaddr *)&name, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&name, &size) ||
	    connect(fd, (struct sockaddr *)&name, size))
		abort();
	*peer = accept(listener, NULL, NULL);
	close(listener);
	while (send(fd, data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &forever, sizeof(forever));
	return fd;
}

static int receive(struct client *client, void *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = recv(client->fd, (char *)data + done, size - done, MSG_DONTWAIT);

		if (!got || (got < 0 && errno != EAGAIN))
			return -EPIPE;
		if (got < 0)
			wait_for(client, POLLIN);
		else
			done += got;
	}
	return 0;
}

int client_receive(struct client *client, void *body, size_t room)
{
	struct proto_header header;
	size_t size;

	if (receive(client, &header, sizeof(header)))
		return -EPIPE;
	size = header.size - HEADER;
	if (header.flags & PROTO_ERROR)
		return size ? -EBADMSG : -(int)header.error;
	if ((header.flags & PROTO_TYPE_MASK) != PROTO_TYPE_REPLY || size > room ||
	    header.id != client->id)
		return -EBADMSG;
	return receive(client, body, size) ? -EPIPE : (int)size;
}

int client_call(struct client *client, uint16_t command, uint32_t flags,
		const void *body, size_t size, const int *fds, unsigned int fd_count,
		void *reply, size_t room)
{
	unsigned char *message = malloc(HEADER + size);
	struct proto_header header = {
		.id = ++client->id, .command = command, .size = HEADER + size, .flags = flags,
	};
	int ret;

	if (!message)
		abort();
	memcpy(message, &header, sizeof(header));
	if (size)
		memcpy(message + HEADER, body, size);
	ret = client_send(client, message, HEADER + size, fds, fd_count);
	free(message);
	if (ret || flags & PROTO_NO_REPLY)
		return ret;
	return client_receive(client, reply, room);
}

bool client_ended(struct client *client)
{
	char byte;

	if (client->pump)
		client->pump(client->arg);
	return recv(client->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0 || errno == ECONNRESET;
}

int client_version(struct client *client, const char *json)
{
	char body[1024], reply[1024];
	struct proto_version version = { PROTO_MAJOR, PROTO_MINOR };
	size_t size = sizeof(version);

	memcpy(body, &version, sizeof(version));
	if (json)
		size += snprintf(body + size, sizeof(body) - size, "{%s}", json) + 1;
	return client_call(client, PROTO_VERSION, 0, body, size, NULL, 0, reply,
			   sizeof(reply));
}

int client_map(struct client *client, uint64_t address, uint64_t size, int fd,
	       uint64_t offset, uint32_t flags)
{
	const struct proto_dma_map map = {
		.argsz = sizeof(map), .flags = flags, .offset = offset,
		.address = address, .size = size,
	};

	return client_call(client, PROTO_DMA_MAP, 0, &map, sizeof(map), &fd, fd >= 0,
			   NULL, 0);
}

int client_unmap(struct client *client, uint64_t address, uint64_t size)
{
	const struct proto_dma_unmap unmap = {
		.argsz = sizeof(unmap), .address = address, .size = size,
	};
	struct proto_dma_unmap reply;
	int ret = client_call(client, PROTO_DMA_UNMAP, 0, &unmap, sizeof(unmap), NULL, 0,
			      &reply, sizeof(reply));

	return ret == sizeof(reply) ? 0 : ret;
}

int client_read(struct client *client, uint32_t region, uint64_t offset, void *data,
		uint32_t size)
{
	const struct proto_access access = { offset, region, size };
	unsigned char *reply = malloc(sizeof(access) + size);
	int ret;

	if (!reply)
		abort();
	ret = client_call(client, PROTO_REGION_READ, 0, &access, sizeof(access), NULL, 0,
			  reply, sizeof(access) + size);
	if (ret == (int)(sizeof(access) + size)) {
		memcpy(data, reply + sizeof(access), size);
		ret = 0;
	} else if (ret >= 0) {
		ret = -EBADMSG;
	}
	free(reply);
	return ret;
}

int client_write(struct client *client, uint32_t region, uint64_t offset,
		 const void *data, uint32_t size)
{
	struct proto_access *access = malloc(sizeof(*access) + size);
	struct proto_access reply;
	int ret;

	if (!access)
		abort();
	*access = (struct proto_access){ offset, region, size };
	memcpy(access + 1, data, size);
	ret = client_call(client, PROTO_REGION_WRITE, 0, access, sizeof(*access) + size,
			  NULL, 0, &reply, sizeof(reply));
	free(access);
	return ret == sizeof(reply) ? 0 : ret;
}

uint32_t client_read32(struct client *client, uint32_t region, uint64_t offset)
{
	uint32_t value;

	return client_read(client, region, offset, &value, sizeof(value)) ? ~0u : value;
}

int client_write32(struct client *client, uint32_t region, uint64_t offset,
		   uint32_t value)
{
	return client_write(client, region, offset, &value, sizeof(value));
}

int client_irqs(struct client *client, uint32_t index, uint32_t flags,
		uint32_t start, uint32_t count, const uint8_t *data,
		const int *fds, unsigned int fd_count)
{
	size_t size = sizeof(struct vfio_irq_set) + (data ? count : 0);
	struct vfio_irq_set *set = malloc(size);
	int ret;

	if (!set)
		abort();
	*set = (struct vfio_irq_set){
		.argsz = size, .flags = flags, .index = index, .start = start, .count = count,
	};
	if (data)
		memcpy(set->data, data, count);
	ret = client_call(client, PROTO_DEVICE_SET_IRQS, 0, set, size, fds, fd_count, NULL, 0);
	free(set);
	return ret;
}
