// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing files: a file appears under its name complete or not at all. Only a
 * regular file is ever replaced, and only by one that was finished.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctx.h"

struct eadm_output {
	struct eadm_ctx *ctx;
	int fd;
	char *path;	/* final name, NULL for a stream */
	char *temp;	/* temporary name, "" if it has none */
};

/* A file without a name, on file systems that support that (O_TMPFILE). */
static int open_temp(struct eadm_output *out, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t size = strlen(path) + 8;
	char *dir;

	out->path = strdup(path);
	out->temp = calloc(1, size);
	dir = slash ? strndup(path, slash - path + 1) : strdup(".");
	if (!out->path || !out->temp || !dir) {
		free(dir);
		return -ENOMEM;
	}
	out->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	free(dir);
	if (out->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	snprintf(out->temp, size, "%s.XXXXXX", path);
	out->fd = mkostemp(out->temp, O_CLOEXEC);
	if (out->fd < 0) {
		out->temp[0] = '\0';
		return -errno;
	}
	return 0;
}

/*
 * An existing file, held by @place so that no other file takes its name in the
 * meantime. A symlink is kept: the file that it points to is written.
 */
static int open_existing(struct eadm_output *out, int place)
{
	char self[40], real[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (fstat(place, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
	/* A deleted file has no name to keep. */
	if (!S_ISREG(st.st_mode) || !st.st_nlink) {
		out->fd = open(self, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return out->fd < 0 ? -errno : 0;
	}
	n = readlink(self, real, sizeof(real) - 1);
	if (n < 0)
		return -errno;
	real[n] = '\0';
	return open_temp(out, real);
}

static int open_output(struct eadm_output *out, const char *path)
{
	struct stat st;
	int place, ret;

	if (!strcmp(path, "-")) {
		out->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return out->fd < 0 ? -errno : 0;
	}
	place = open(path, O_PATH | O_CLOEXEC);
	if (place < 0) {
		/* A dangling symlink is not replaced either. */
		if (errno != ENOENT || !lstat(path, &st))
			return -errno;
		return open_temp(out, path);
	}
	ret = open_existing(out, place);
	close(place);
	return ret;
}

static void output_free(struct eadm_output *out)
{
	if (out->fd >= 0)
		close(out->fd);
	if (out->temp && out->temp[0])
		unlink(out->temp);
	free(out->path);
	free(out->temp);
	free(out);
}

EADM_API int eadm_output_open(struct eadm_ctx *ctx, const char *path,
			      struct eadm_output **output)
{
	struct eadm_output *out = calloc(1, sizeof(*out));
	int ret;

	if (!out)
		return eadm_fail(ctx, -ENOMEM, "out of memory");
	out->ctx = ctx;
	out->fd = -1;
	ret = open_output(out, path);
	if (ret) {
		output_free(out);
		return eadm_fail(ctx, ret, "%s", strerror(-ret));
	}
	*output = out;
	return 0;
}

EADM_API int eadm_output_fd(const struct eadm_output *output)
{
	return output->fd;
}

EADM_API bool eadm_output_is_file(const struct eadm_output *output)
{
	return output->path != NULL;
}

/* Give the finished file its name in one step, whether the name exists or not. */
static int publish(struct eadm_output *out)
{
	unsigned int number;
	char from[40];

	if (fsync(out->fd))
		return -errno;
	if (!out->temp[0]) {
		snprintf(from, sizeof(from), "/proc/self/fd/%d", out->fd);
		if (!linkat(AT_FDCWD, from, AT_FDCWD, out->path,
			    AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST)
			return -errno;
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -EIO;
		sprintf(out->temp, "%s.%06x", out->path, number & 0xffffff);
		if (linkat(AT_FDCWD, from, AT_FDCWD, out->temp,
			   AT_SYMLINK_FOLLOW)) {
			out->temp[0] = '\0';
			return -errno;
		}
	}
	if (rename(out->temp, out->path))
		return -errno;
	out->temp[0] = '\0';
	return 0;
}

EADM_API int eadm_output_close(struct eadm_output *out, bool keep)
{
	struct eadm_ctx *ctx = out->ctx;
	int ret = keep && out->path ? publish(out) : 0;

	/* Some file systems report errors only here. */
	if (keep && close(out->fd) && !ret && errno != EINTR)
		ret = -errno;
	if (keep)
		out->fd = -1;
	output_free(out);
	return ret ? eadm_fail(ctx, ret, "%s", strerror(-ret)) : 0;
}
