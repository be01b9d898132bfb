// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a file atomically, so that readers never see an incomplete one. */
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

/*
 * Makes the file readable for node_exporter, which runs as a different user, unless an
 * older file has a more restrictive mode.
 */
static int set_mode(int fd, const char *path)
{
	mode_t mode = 0644;
	struct stat old;

	if (!stat(path, &old) && S_ISREG(old.st_mode) &&
	    old.st_uid == geteuid()) {
		mode = old.st_mode & 0664;
		if (fchown(fd, -1, old.st_gid))
			mode &= ~S_IRWXG;
	}
	return fchmod(fd, mode) ? -errno : 0;
}

static int write_to(struct cli *cli, struct eadm_ctx *ctx, const char *path,
		    const struct buffer *text)
{
	struct eadm_output *out;
	int fd, ret, err;

	ret = eadm_output_open(ctx, path, &out);
	if (ret)
		return fail_write(cli, ctx, ret, path);
	fd = eadm_output_fd(out);
	ret = write_all(fd, text);
	if (!ret && eadm_output_is_file(out))
		ret = set_mode(fd, path);
	err = eadm_output_close(out, !ret);
	if (ret)
		return fail(cli, STATUS_FAILED, path, "%s", strerror(-ret));
	return err ? fail_write(cli, ctx, err, path) : STATUS_OK;
}

/*
 * Uses a separate context, because the devices' contexts belong to threads that may hang.
 */
int textfile_write(struct cli *cli, const char *path, const struct buffer *text)
{
	struct eadm_ctx *ctx = eadm_new();
	int status = ctx ? write_to(cli, ctx, path, text) :
			   fail(cli, STATUS_FAILED, path, "out of memory");

	eadm_free(ctx);
	return status;
}
