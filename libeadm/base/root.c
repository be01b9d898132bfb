// SPDX-License-Identifier: LGPL-2.1-or-later
/* Files of this machine, below a root folder. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "root.h"

#define MAX_PATH 512

/* Returns false with errno set if the path is too long. */
static bool make_path(const struct eadm_ctx *ctx, char *path, const char *fmt,
		      va_list ap)
{
	int len = snprintf(path, MAX_PATH, "%s", ctx->root ? ctx->root : "");

	if (len < MAX_PATH)
		len += vsnprintf(path + len, MAX_PATH - len, fmt, ap);
	if (len < MAX_PATH)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

/* @path: a folder without a trailing slash, or NULL for the machine's own root. */
int eadm_root_set(struct eadm_ctx *ctx, const char *path)
{
	char *root = path ? strdup(path) : NULL;

	if (path && !root)
		return eadm_oom(ctx);
	free(ctx->root);
	ctx->root = root;
	return 0;
}

int eadm_root_open(const struct eadm_ctx *ctx, int flags, const char *fmt, ...)
{
	char path[MAX_PATH];
	va_list ap;
	bool good;

	va_start(ap, fmt);
	good = make_path(ctx, path, fmt, ap);
	va_end(ap);
	return good ? open(path, flags | O_CLOEXEC) : -1;
}

int eadm_root_access(const struct eadm_ctx *ctx, int mode, const char *fmt,
		     ...)
{
	char path[MAX_PATH];
	va_list ap;
	bool good;

	va_start(ap, fmt);
	good = make_path(ctx, path, fmt, ap);
	va_end(ap);
	return good ? access(path, mode) : -1;
}

/* Reads the first line of a file. If that fails, returns false and sets @buf to "". */
bool eadm_root_line(const struct eadm_ctx *ctx, char *buf, size_t size,
		    const char *fmt, ...)
{
	char path[MAX_PATH];
	ssize_t len = -1;
	va_list ap;
	bool good;
	int fd;

	va_start(ap, fmt);
	good = make_path(ctx, path, fmt, ap);
	va_end(ap);
	fd = good ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	len = read(fd, buf, size - 1);
	close(fd);
	if (len < 0)
		return false;
	buf[len] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

/* Reads the last component of a symlink's target. */
bool eadm_root_link(const struct eadm_ctx *ctx, char *buf, size_t size,
		    const char *fmt, ...)
{
	char path[MAX_PATH], to[MAX_PATH];
	ssize_t len = -1;
	const char *base;
	va_list ap;
	bool good;

	va_start(ap, fmt);
	good = make_path(ctx, path, fmt, ap);
	va_end(ap);
	if (good)
		len = readlink(path, to, sizeof(to) - 1);
	if (len < 0)
		return false;
	to[len] = '\0';
	base = strrchr(to, '/');
	snprintf(buf, size, "%s", base ? base + 1 : to);
	return true;
}

DIR *eadm_root_dir(const struct eadm_ctx *ctx, const char *path)
{
	int fd = eadm_root_open(ctx, O_RDONLY | O_DIRECTORY, "%s", path);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Free @found with globfree() in any case, even on failure. */
void eadm_root_glob(const struct eadm_ctx *ctx, int flags, glob_t *found,
		    const char *fmt, ...)
{
	char path[MAX_PATH];
	va_list ap;
	bool good;

	if (!(flags & GLOB_APPEND))
		memset(found, 0, sizeof(*found));
	va_start(ap, fmt);
	good = make_path(ctx, path, fmt, ap);
	va_end(ap);
	if (good)
		glob(path, flags | GLOB_NOSORT, NULL, found);
}
