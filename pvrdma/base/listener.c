// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "listener.h"

#define BACKLOG 8
/* Limit on the wait for other programs that are just starting: 100 times 10 ms. */
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 10000000

/* A socket left over from a process that has ended refuses connections. */
static bool is_stale(const struct sockaddr_un *name, int type)
{
	struct stat st;
	bool refused;
	int fd;

	if (lstat(name->sun_path, &st) || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	refused = connect(fd, (const struct sockaddr *)name, sizeof(*name)) &&
		  errno == ECONNREFUSED;
	close(fd);
	return refused;
}

/*
 * Locks the socket's directory: programs that start at the same time must not replace each
 * other's sockets, which refuse connections until they listen. Returns a descriptor, or
 * -1 if that is not possible, which is no reason not to start.
 */
static int lock_directory(const char *path)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	const char *slash = strrchr(path, '/');
	char name[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	unsigned int i;
	int fd;

	snprintf(name, sizeof(name), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (i = 0; fd >= 0 && i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB); i++)
		nanosleep(&pause, NULL);
	return fd;
}

static int bind_at(int fd, const struct sockaddr_un *name, const struct listener *listener)
{
	mode_t mask = umask(0177);
	int err;

	err = bind(fd, (const struct sockaddr *)name, sizeof(*name)) ? -errno : 0;
	if (err == -EADDRINUSE && is_stale(name, listener->type) && !unlink(listener->path))
		err = bind(fd, (const struct sockaddr *)name, sizeof(*name)) ? -errno : 0;
	umask(mask);
	return err;
}

static int open_to(int fd, const struct listener *listener, struct listener_file *file)
{
	struct stat st;
	bool owned = listener->uid != (uid_t)-1 || listener->gid != (gid_t)-1;
	int err;

	if ((!owned || !chown(listener->path, listener->uid, listener->gid)) &&
	    !chmod(listener->path, listener->mode) && !lstat(listener->path, &st) &&
	    !listen(fd, BACKLOG)) {
		*file = (struct listener_file){ st.st_dev, st.st_ino };
		return 0;
	}
	err = -errno;
	unlink(listener->path);
	return err;
}

int listener_open(const struct listener *listener, struct listener_file *file)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd, lock, err;

	if (strlen(listener->path) >= sizeof(name.sun_path))
		return -ENAMETOOLONG;
	strcpy(name.sun_path, listener->path);
	fd = socket(AF_UNIX, listener->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	lock = lock_directory(listener->path);
	err = bind_at(fd, &name, listener);
	if (!err)
		err = open_to(fd, listener, file);
	if (lock >= 0)
		close(lock);
	if (!err)
		return fd;
	close(fd);
	return err;
}

void listener_unlink(const char *path, const struct listener_file *file)
{
	struct stat st;

	if (!lstat(path, &st) && st.st_dev == file->dev && st.st_ino == file->ino)
		unlink(path);
}

int listener_spare(int listener)
{
	return fcntl(listener, F_DUPFD_CLOEXEC, 0);
}

int listener_accept(int listener, int *spare)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), err = errno;

	if (*spare < 0)
		*spare = listener_spare(listener);
	if (fd >= 0)
		return fd;
	if ((err != EMFILE && err != ENFILE) || *spare < 0)
		return -err;
	close(*spare);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	err = errno;
	if (fd >= 0)
		close(fd);
	*spare = listener_spare(listener);
	return fd >= 0 ? -ECONNABORTED : -err;
}
