// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "discard.h"

struct discard {
	/* Protects all of the following. */
	pthread_mutex_t lock;
	pthread_cond_t more;
	int fds[DISCARD_MAX];
	unsigned int count;
	/* The thread is closing another descriptor. */
	bool busy;
	/* The owner has gone: the thread frees this when it is done. */
	bool closed;
};

static void *work(void *arg)
{
	struct discard *discard = arg;
	int fd;

	pthread_mutex_lock(&discard->lock);
	while (discard->count || !discard->closed) {
		if (!discard->count) {
			pthread_cond_wait(&discard->more, &discard->lock);
			continue;
		}
		fd = discard->fds[--discard->count];
		discard->busy = true;
		pthread_mutex_unlock(&discard->lock);
		close(fd);
		pthread_mutex_lock(&discard->lock);
		discard->busy = false;
	}
	pthread_mutex_unlock(&discard->lock);
	pthread_cond_destroy(&discard->more);
	pthread_mutex_destroy(&discard->lock);
	free(discard);
	return NULL;
}

struct discard *discard_open(void)
{
	struct discard *discard = calloc(1, sizeof(*discard));
	pthread_t thread;
	int err;

	if (!discard)
		return NULL;
	pthread_mutex_init(&discard->lock, NULL);
	pthread_cond_init(&discard->more, NULL);
	err = pthread_create(&thread, NULL, work, discard);
	if (err) {
		free(discard);
		errno = err;
		return NULL;
	}
	pthread_detach(thread);
	return discard;
}

void discard_close(struct discard *discard)
{
	if (!discard)
		return;
	pthread_mutex_lock(&discard->lock);
	discard->closed = true;
	pthread_cond_signal(&discard->more);
	pthread_mutex_unlock(&discard->lock);
}

bool discard_is_memory(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0;
}

void discard_fd(struct discard *discard, int fd)
{
	bool room;

	pthread_mutex_lock(&discard->lock);
	room = discard->count < DISCARD_MAX;
	if (room) {
		discard->fds[discard->count++] = fd;
		pthread_cond_signal(&discard->more);
	}
	pthread_mutex_unlock(&discard->lock);
	if (!room)
		close(fd);
}

void discard_socket(struct discard *discard, int fd)
{
	shutdown(fd, SHUT_RDWR);
	discard_fd(discard, fd);
}

unsigned int discard_pending(struct discard *discard)
{
	unsigned int pending;

	pthread_mutex_lock(&discard->lock);
	pending = discard->count + discard->busy;
	pthread_mutex_unlock(&discard->lock);
	return pending;
}

ssize_t discard_recv(int fd, void *data, size_t size, int flags)
{
	struct iovec iov = { data, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t got = recvmsg(fd, &msg, flags | MSG_PEEK);

	if (got <= 0)
		return got;
	if (msg.msg_flags & MSG_CTRUNC) {
		errno = EPROTO;
		return -1;
	}
	return recv(fd, data, (size_t)got < size ? (size_t)got : size, flags);
}
