// SPDX-License-Identifier: GPL-2.0-or-later
/* A file that is complete whenever it is there. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter.h"

static int write_all(int fd, const struct text *text)
{
	size_t done = 0;
	ssize_t n;

	while (done < text->len) {
		n = write(fd, text->data + done, text->len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += n;
	}
	return 0;
}

/* Devices and pipes stay what they are. */
static int write_there(const char *path, const struct text *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = fd < 0 ? -errno : write_all(fd, text);

	if (fd >= 0 && close(fd) && !ret)
		ret = -errno;
	return ret;
}

/*
 * The text gets its name when it is all there. Until then it has one that
 * neither ends in .prom nor is left behind.
 */
static int replace(const char *path, const struct text *text)
{
	char *temp;
	int fd, ret;

	if (asprintf(&temp, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(temp, O_CLOEXEC);
	ret = fd < 0 ? -errno : write_all(fd, text);
	/* Readable for node_exporter, which is another user. */
	if (!ret && (fchmod(fd, 0644) || fsync(fd)))
		ret = -errno;
	if (fd >= 0 && close(fd) && !ret)
		ret = -errno;
	if (!ret && rename(temp, path))
		ret = -errno;
	if (ret && fd >= 0)
		unlink(temp);
	free(temp);
	return ret;
}

int textfile_write(const char *path, const struct text *text)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode) ?
		       write_there(path, text) : replace(path, text);
}
