/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VMM's side of vfio-user, as a test plays it. It lets the caller send what no
 * VMM would.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto.h"

struct client {
	int fd;
	uint16_t id;
	/* Runs a server that is in this process while the client waits, or NULL. */
	void (*pump)(void *arg);
	void *arg;
};

/* Connects to a socket that may not be there yet. */
int client_connect(struct client *client, const char *path);
/* Closes the connection; the server is told by pump(). */
void client_close(struct client *client);

/* Bytes and descriptors as they are: 0, or -EPIPE. */
int client_send(struct client *client, const void *data, size_t size,
		const int *fds, unsigned int fd_count);
/* A socket whose last close() blocks until @peer is closed. */
int client_lingering(int *peer);
/* The next reply without its header: its size, -errno from it, or -EPIPE. */
int client_receive(struct client *client, void *body, size_t room);
/* A message; unless flags have PROTO_NO_REPLY, also client_receive(). */
int client_call(struct client *client, uint16_t command, uint32_t flags,
		const void *body, size_t size, const int *fds, unsigned int fd_count,
		void *reply, size_t room);
/* Whether the server has ended the connection. */
bool client_ended(struct client *client);

/* @json without braces around; NULL: no JSON at all. */
int client_version(struct client *client, const char *json);
/* @fd -1: a region that the server cannot map. */
int client_map(struct client *client, uint64_t address, uint64_t size, int fd,
	       uint64_t offset, uint32_t flags);
int client_unmap(struct client *client, uint64_t address, uint64_t size);
int client_read(struct client *client, uint32_t region, uint64_t offset, void *data,
		uint32_t size);
int client_write(struct client *client, uint32_t region, uint64_t offset,
		 const void *data, uint32_t size);
/* All ones if it fails, as a guest would see it. */
uint32_t client_read32(struct client *client, uint32_t region, uint64_t offset);
int client_write32(struct client *client, uint32_t region, uint64_t offset,
		   uint32_t value);
/* @flags: VFIO_IRQ_SET_*; @data: for VFIO_IRQ_SET_DATA_BOOL. */
int client_irqs(struct client *client, uint32_t index, uint32_t flags,
		uint32_t start, uint32_t count, const uint8_t *data,
		const int *fds, unsigned int fd_count);

#endif /* CLIENT_H */
