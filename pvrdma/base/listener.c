// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "listener.h"

#define BACKLOG 8

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

static int open_to(int fd, const struct listener *listener)
{
	bool owned = listener->uid != (uid_t)-1 || listener->gid != (gid_t)-1;
	int err;

	if ((!owned || !chown(listener->path, listener->uid, listener->gid)) &&
	    !chmod(listener->path, listener->mode) && !listen(fd, BACKLOG))
		return 0;
	err = -errno;
	unlink(listener->path);
	return err;
}

int listener_open(const struct listener *listener)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(listener->path) >= sizeof(name.sun_path))
		return -ENAMETOOLONG;
	strcpy(name.sun_path, listener->path);
	fd = socket(AF_UNIX, listener->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = bind_at(fd, &name, listener);
	if (!err)
		err = open_to(fd, listener);
	if (!err)
		return fd;
	close(fd);
	return err;
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
