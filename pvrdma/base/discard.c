// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "discard.h"

struct discard {
	TAILQ_ENTRY(discard) link;
	int fds[DISCARD_MAX];
	unsigned int count;
	/* The thread is closing another descriptor of this owner. */
	bool busy;
	/* The owner has gone: the thread frees this when it is done. */
	bool closed;
};

/* Protects all of the following, and the contents of the list. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
/* Those with descriptors. */
static TAILQ_HEAD(, discard) waiting = TAILQ_HEAD_INITIALIZER(waiting);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int failure;

static void free_if_done(struct discard *discard)
{
	if (discard->closed && !discard->count && !discard->busy)
		free(discard);
}

/* Closes one descriptor of each owner in turn. */
static void *work(void *arg)
{
	struct discard *discard;
	int fd;

	(void)arg;
	pthread_mutex_lock(&lock);
	for (;;) {
		while (TAILQ_EMPTY(&waiting))
			pthread_cond_wait(&more, &lock);
		discard = TAILQ_FIRST(&waiting);
		TAILQ_REMOVE(&waiting, discard, link);
		fd = discard->fds[--discard->count];
		if (discard->count)
			TAILQ_INSERT_TAIL(&waiting, discard, link);
		discard->busy = true;
		pthread_mutex_unlock(&lock);
		close(fd);
		pthread_mutex_lock(&lock);
		discard->busy = false;
		free_if_done(discard);
	}
	return NULL;
}

static void start(void)
{
	pthread_t thread;

	failure = pthread_create(&thread, NULL, work, NULL);
	if (!failure)
		pthread_detach(thread);
}

struct discard *discard_open(void)
{
	pthread_once(&once, start);
	if (failure) {
		errno = failure;
		return NULL;
	}
	return calloc(1, sizeof(struct discard));
}

void discard_close(struct discard *discard)
{
	if (!discard)
		return;
	pthread_mutex_lock(&lock);
	discard->closed = true;
	free_if_done(discard);
	pthread_mutex_unlock(&lock);
}

bool discard_is_memory(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0;
}

void discard_fd(struct discard *discard, int fd)
{
	bool now = discard_is_memory(fd);

	pthread_mutex_lock(&lock);
	if (!now && discard->count < DISCARD_MAX) {
		if (!discard->count)
			TAILQ_INSERT_TAIL(&waiting, discard, link);
		discard->fds[discard->count++] = fd;
		pthread_cond_signal(&more);
	} else {
		now = true;
	}
	pthread_mutex_unlock(&lock);
	if (now)
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

	pthread_mutex_lock(&lock);
	pending = discard->count + discard->busy;
	pthread_mutex_unlock(&lock);
	return pending;
}
