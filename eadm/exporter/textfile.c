// SPDX-License-Identifier: GPL-2.0-or-later
/* A file that is always complete. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter.h"

static int write_all(int fd, const struct buffer *text)
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

static int write_to(struct eadm_ctx *ctx, const char *path,
		    const struct buffer *text)
{
	struct eadm_output *out;
	int fd, ret, err;

	ret = eadm_output_open(ctx, path, &out);
	if (ret)
		return ret;
	fd = eadm_output_fd(out);
	ret = write_all(fd, text);
	/* Readable for node_exporter, which runs as another user. */
	if (!ret && eadm_output_is_file(out) && fchmod(fd, 0644))
		ret = -errno;
	err = eadm_output_close(out, !ret);
	return ret ? ret : err;
}

/* A separate context, because those of devices belong to threads that may hang. */
int textfile_write(const char *path, const struct buffer *text)
{
	struct eadm_ctx *ctx = eadm_new();
	int ret = ctx ? write_to(ctx, path, text) : -ENOMEM;

	eadm_free(ctx);
	return ret;
}
