// SPDX-License-Identifier: LGPL-2.1-or-later
/* Input: a capture, a bundle that contains one, or a pipe with either. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write.h"
#include "bundle.h"
#include "input.h"

/* Limit for input that can be read only once. */
#define MAX_SPOOLED	(256U << 20)

static const unsigned char zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

/* Returns true if the available bytes can be the beginning of a capture or a bundle. */
static bool may_be_capture(const unsigned char *head, size_t len)
{
	static const unsigned char section[] = { 0x0a, 0x0d, 0x0d, 0x0a };

	if (len > sizeof(section))
		len = sizeof(section);
	return !memcmp(head, section, len) || !memcmp(head, zstd_magic, len);
}

/*
 * Keep in memory any input that cannot be read twice. A pipe or a device may be endless:
 * input that is neither a capture nor a bundle is refused after its first bytes, and all
 * other input is limited.
 */
static int spool(int in)
{
	unsigned char buf[65536], head[4];
	uint64_t total = 0;
	size_t i, done;
	ssize_t n;
	int fd, ret = 0;

	fd = memfd_create("eadm-capture", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (!ret && (n = read(in, buf, sizeof(buf))) != 0) {
		if (n < 0) {
			ret = errno == EINTR ? 0 : -errno;
			continue;
		}
		for (i = 0; i < (size_t)n && total + i < sizeof(head); i++)
			head[total + i] = buf[i];
		total += n;
		ret = total > MAX_SPOOLED ? -EFBIG : eadm_write_all(fd, buf, n, &done);
		if (!may_be_capture(head, total))
			break;
	}
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

static int open_input(const char *path)
{
	struct stat st;
	int fd, ret;

	if (!strcmp(path, "-"))
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		ret = -errno;
	} else if (S_ISDIR(st.st_mode)) {
		ret = -EISDIR;
	} else if (S_ISREG(st.st_mode)) {
		return fd;
	} else {
		ret = spool(fd);
	}
	close(fd);
	return ret;
}

/*
 * Return a file descriptor of a capture, or a negative errno. For a bundle, it is that
 * of the capture in the bundle.
 */
int eadm_input_open(struct eadm_ctx *ctx, const char *path)
{
	unsigned char magic[sizeof(zstd_magic)];
	int fd, inside;

	fd = open_input(path);
	if (fd == -EFBIG)
		return eadm_fail(ctx, fd,
				 "input from a pipe or device exceeds %u MiB: save it to a file first",
				 MAX_SPOOLED >> 20);
	if (fd < 0)
		return eadm_fail(ctx, fd, "%s", strerror(-fd));
	if (pread(fd, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, zstd_magic, sizeof(zstd_magic)))
		return fd;
	if (lseek(fd, 0, SEEK_SET))
		inside = eadm_fail(ctx, -errno, "%s", strerror(errno));
	else
		inside = eadm_bundle_capture(ctx, fd);
	close(fd);
	return inside;
}
