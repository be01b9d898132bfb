// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writing bundles: complete under their name, or not there at all. */
#include "archlib.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct eadm_pack {
	struct eadm_ctx *ctx;
	const struct eadm_archive *lib;
	struct archive *a;
	struct archive_entry *entry;
	int fd;
	int error;
	char *path;	/* name to give, NULL for a stream */
	char *temp;	/* name it has meanwhile, "" without one */
	char *sums;
	size_t sums_len;
	uint64_t unpacked;
	unsigned int members;
};

/* A file without a name where the file system knows that. */
static int open_temp(struct eadm_pack *p, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir;

	p->path = strdup(path);
	p->temp = calloc(1, strlen(path) + 8);
	dir = slash ? strndup(path, slash - path + 1) : strdup(".");
	if (!p->path || !p->temp || !dir) {
		free(dir);
		return -ENOMEM;
	}
	p->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	free(dir);
	if (p->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	sprintf(p->temp, "%s.XXXXXX", path);
	p->fd = mkostemp(p->temp, O_CLOEXEC);
	if (p->fd < 0) {
		p->temp[0] = '\0';
		return -errno;
	}
	return 0;
}

static int open_output(struct eadm_pack *p, const char *path)
{
	struct stat st;

	if (!strcmp(path, "-")) {
		p->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return p->fd < 0 ? -errno : 0;
	}
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return -EISDIR;
	/* Devices and pipes stay what they are. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		p->fd = open(path, O_WRONLY | O_CLOEXEC);
		return p->fd < 0 ? -errno : 0;
	}
	return open_temp(p, path);
}

static void pack_free(struct eadm_pack *p)
{
	if (p->a)
		p->lib->write_free(p->a);
	if (p->entry)
		p->lib->entry_free(p->entry);
	if (p->fd >= 0)
		close(p->fd);
	if (p->temp && p->temp[0])
		unlink(p->temp);
	free(p->path);
	free(p->temp);
	free(p->sums);
	free(p);
}

EADM_API int eadm_pack_open(struct eadm_ctx *ctx, const char *path,
			    struct eadm_pack **pack)
{
	const struct eadm_archive *lib = eadm_archive_get(ctx);
	struct eadm_pack *p;
	int ret;

	if (!lib)
		return -EOPNOTSUPP;
	p = calloc(1, sizeof(*p));
	if (!p)
		return eadm_fail(ctx, -ENOMEM, "out of memory");
	p->ctx = ctx;
	p->lib = lib;
	p->fd = -1;
	ret = open_output(p, path);
	if (ret) {
		pack_free(p);
		return eadm_fail(ctx, ret, "%s", strerror(-ret));
	}
	p->a = lib->write_new();
	p->entry = lib->entry_new();
	if (!p->a || !p->entry ||
	    lib->write_set_format_pax_restricted(p->a) != ARCHIVE_OK ||
	    lib->write_add_filter_zstd(p->a) != ARCHIVE_OK ||
	    lib->write_set_bytes_in_last_block(p->a, 1) != ARCHIVE_OK ||
	    lib->write_open_fd(p->a, p->fd) != ARCHIVE_OK) {
		eadm_fail(ctx, -EOPNOTSUPP, "libarchive: %s",
			  p->a && lib->error_string(p->a) ?
				  lib->error_string(p->a) : "out of memory");
		pack_free(p);
		return -EOPNOTSUPP;
	}
	*pack = p;
	return 0;
}

static int write_error(struct eadm_pack *p)
{
	int err = p->lib->error_number(p->a);
	const char *why = p->lib->error_string(p->a);

	/* What libarchive counts as its own errors is negative. */
	p->error = err > 0 ? -err : -EIO;
	return eadm_fail(p->ctx, p->error, "%s",
			 err > 0 ? strerror(err) : why ? why : "not written");
}

static int put_member(struct eadm_pack *p, const char *name, const void *data,
		      size_t len)
{
	const struct eadm_archive *lib = p->lib;
	char path[sizeof(EADM_BUNDLE_TOP) + EADM_MEMBER_MAX];

	snprintf(path, sizeof(path), "%s%s", EADM_BUNDLE_TOP, name);
	lib->entry_clear(p->entry);
	lib->entry_set_pathname(p->entry, path);
	lib->entry_set_filetype(p->entry, AE_IFREG);
	lib->entry_set_perm(p->entry, 0600);
	lib->entry_set_size(p->entry, len);
	lib->entry_set_mtime(p->entry, time(NULL), 0);
	if (lib->write_header(p->a, p->entry) < ARCHIVE_WARN)
		return write_error(p);
	if (len && lib->write_data(p->a, data, len) != (ssize_t)len)
		return write_error(p);
	p->unpacked += len;
	return 0;
}

EADM_API int eadm_pack_add(struct eadm_pack *p, const char *name,
			   const void *data, size_t len, char *digest)
{
	char text[EADM_DIGEST_TEXT], *more;
	uint8_t sha[SHA256_DIGEST_SIZE];
	struct sha256_ctx state;
	size_t line;
	int ret;

	if (p->error)
		return p->error;
	if (!eadm_member_name_ok(name) || !strcmp(name, EADM_BUNDLE_SUMS))
		return eadm_fail(p->ctx, -EINVAL,
				 "%s is no name for a member", name);
	if (p->members == EADM_MEMBERS_MAX)
		return eadm_fail(p->ctx, -EFBIG, "too many members");
	line = EADM_DIGEST_TEXT + 1 + strlen(name) + 1;
	more = realloc(p->sums, p->sums_len + line + 1);
	if (!more)
		return eadm_fail(p->ctx, -ENOMEM, "out of memory");
	p->sums = more;
	ret = put_member(p, name, data, len);
	if (ret)
		return ret;
	p->lib->nt_sha256_init(&state);
	p->lib->nt_sha256_update(&state, len, data);
	p->lib->nt_sha256_digest(&state, sizeof(sha), sha);
	eadm_digest_text(sha, text);
	sprintf(p->sums + p->sums_len, "%s  %s\n", text, name);
	p->sums_len += line;
	p->members++;
	if (digest)
		memcpy(digest, text, sizeof(text));
	return 0;
}

EADM_API uint64_t eadm_pack_size(const struct eadm_pack *p)
{
	return p->unpacked;
}

/* Give the finished file its name, in one step whether there is one or not. */
static int publish(struct eadm_pack *p)
{
	unsigned int number;
	char from[40];

	if (fsync(p->fd))
		return -errno;
	if (!p->temp[0]) {
		snprintf(from, sizeof(from), "/proc/self/fd/%d", p->fd);
		if (!linkat(AT_FDCWD, from, AT_FDCWD, p->path,
			    AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST)
			return -errno;
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -EIO;
		sprintf(p->temp, "%s.%06x", p->path, number & 0xffffff);
		if (linkat(AT_FDCWD, from, AT_FDCWD, p->temp,
			   AT_SYMLINK_FOLLOW)) {
			p->temp[0] = '\0';
			return -errno;
		}
	}
	if (rename(p->temp, p->path))
		return -errno;
	p->temp[0] = '\0';
	return 0;
}

EADM_API int eadm_pack_close(struct eadm_pack *p, bool keep)
{
	struct eadm_ctx *ctx = p->ctx;
	int ret = p->error;

	if (keep && !ret)
		ret = put_member(p, EADM_BUNDLE_SUMS, p->sums ? p->sums : "",
				 p->sums_len);
	if (!keep || ret)
		p->lib->write_fail(p->a);
	else if (p->lib->write_close(p->a) != ARCHIVE_OK)
		ret = write_error(p);
	if (keep && !ret && p->path) {
		ret = publish(p);
		if (ret)
			eadm_fail(ctx, ret, "%s", strerror(-ret));
	}
	pack_free(p);
	return ret;
}
