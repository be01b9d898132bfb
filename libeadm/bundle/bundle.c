// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading untrusted bundles. Only plain files with plain names are accepted, and all
 * sizes are limited. The end is reached without an error only if every member has the
 * digest that the bundle lists for it, and no data follows the list.
 */
#include "archlib.h"
#include "base/abi.h"
#include "base/write.h"
#include "bundle.h"
#include "grow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK (64 * 1024)
#define MAX_UNPACKED (1ULL << 30)
/*
 * Text about thousands of idle objects compresses to about 1/100 of its size, a zip
 * bomb to 1/30000.
 */
#define MAX_RATIO 400
#define FREE_UNPACKED (32ULL << 20)
#define MAX_SUMS (EADM_MEMBERS_MAX * (EADM_DIGEST_TEXT + 2 + EADM_MEMBER_MAX))

struct member {
	char name[EADM_MEMBER_MAX];
	char digest[EADM_DIGEST_TEXT];
	bool listed;
};

struct eadm_bundle {
	struct eadm_ctx *ctx;
	const struct eadm_archive *lib;
	struct archive *packed;	/* decompresses the input */
	struct archive *a;	/* reads the tar archive from it */
	unsigned char *block;	/* BLOCK bytes of the tar archive */
	int fd;
	bool inside;		/* the current member has not been read to its end */
	int error;		/* 1: the end has been reached */
	uint64_t left;		/* bytes left in the member */
	uint64_t unpacked;	/* bytes of members that were read */
	uint64_t tar;		/* bytes of the tar archive that were decompressed */
	uint64_t end;		/* offset after the last of them that is not zero */
	struct sha256_ctx sha;
	struct member *members;
	unsigned int n;
	size_t max;
};

static int refuse(struct eadm_bundle *b, const char *fmt, ...)
	EADM_PRINTF(2, 3);

static int refuse(struct eadm_bundle *b, const char *fmt, ...)
{
	char why[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	b->error = -EBADMSG;
	return eadm_fail(b->ctx, -EBADMSG, "the bundle is damaged: %s", why);
}

/* Keeps an error of read_block(), which is the cause of libarchive's. */
static int archive_error(struct eadm_bundle *b, struct archive *a)
{
	const char *why = b->lib->error_string(a);

	return b->error < 0 ? b->error : refuse(b, "%s", why ? why : "unreadable");
}

/*
 * Adds to a total. Members and the tar archive are counted separately: either can be the
 * larger one, because members may be sparse.
 */
static int account(struct eadm_bundle *b, uint64_t *total, uint64_t n)
{
	int64_t packed = b->lib->filter_bytes(b->packed, -1);

	*total += n;
	if (*total > MAX_UNPACKED ||
	    (*total > FREE_UNPACKED &&
	     *total / MAX_RATIO > (uint64_t)(packed > 0 ? packed : 0)))
		return refuse(b, "unpacked data exceeds the limit");
	return 0;
}

/*
 * Passes a block of the tar archive to its reader. The tar archive is decompressed
 * separately, because libarchive stops at its end and would ignore what follows.
 */
static la_ssize_t read_block(struct archive *a, void *data, const void **block)
{
	struct eadm_bundle *b = data;
	la_ssize_t n = b->lib->read_data(b->packed, b->block, BLOCK), i;

	(void)a;
	if (n < 0)
		archive_error(b, b->packed);
	if (n < 0 || account(b, &b->tar, n))
		return ARCHIVE_FATAL;
	for (i = n; i > 0 && !b->block[i - 1]; i--)
		;
	if (i > 0)
		b->end = b->tar - n + i;
	*block = b->block;
	return n;
}

static int open_archives(struct eadm_bundle *b, int fd)
{
	const struct eadm_archive *lib = b->lib;
	struct archive_entry *entry;
	int ret;

	b->block = malloc(BLOCK);
	b->packed = lib->read_new();
	b->a = lib->read_new();
	if (!b->block || !b->packed || !b->a)
		return eadm_oom(b->ctx);
	lib->read_support_filter_zstd(b->packed);
	lib->read_support_format_raw(b->packed);
	lib->read_support_format_tar(b->a);
	if (lib->read_open_fd(b->packed, fd, BLOCK) != ARCHIVE_OK)
		return archive_error(b, b->packed);
	/* Without compression, the reader of the tar archive would accept zeros. */
	if (lib->filter_code(b->packed, 0) != ARCHIVE_FILTER_ZSTD)
		return eadm_fail(b->ctx, -EBADMSG,
				 "not a bundle (a tar archive compressed with zstd)");
	ret = lib->read_next_header(b->packed, &entry);
	if (ret == ARCHIVE_EOF)
		return refuse(b, "truncated");
	if (ret != ARCHIVE_OK)
		return archive_error(b, b->packed);
	if (lib->read_open(b->a, b, NULL, read_block, NULL) != ARCHIVE_OK)
		return archive_error(b, b->a);
	return 0;
}

static int open_fd(struct eadm_ctx *ctx, int fd,
		   struct eadm_bundle **bundle)
{
	const struct eadm_archive *lib = eadm_archive_get(ctx);
	struct eadm_bundle *b;
	int ret;

	if (!lib)
		return -EOPNOTSUPP;
	b = calloc(1, sizeof(*b));
	if (!b)
		return eadm_oom(ctx);
	b->ctx = ctx;
	b->lib = lib;
	b->fd = -1;
	ret = open_archives(b, fd);
	if (ret)
		eadm_bundle_close(b);
	else
		*bundle = b;
	return ret;
}

EADM_API int eadm_bundle_open(struct eadm_ctx *ctx, const char *path,
			      struct eadm_bundle **bundle)
{
	struct stat st;
	int fd, ret;

	if (!strcmp(path, "-"))
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(path, O_RDONLY | O_CLOEXEC);
	ret = fd < 0 || fstat(fd, &st) ? -errno : 0;
	if (!ret && S_ISDIR(st.st_mode))
		ret = -EISDIR;
	if (ret) {
		if (fd >= 0)
			close(fd);
		return eadm_fail(ctx, ret, "%s", strerror(-ret));
	}
	ret = open_fd(ctx, fd, bundle);
	if (ret)
		close(fd);
	else
		(*bundle)->fd = fd;
	return ret;
}

EADM_API void eadm_bundle_close(struct eadm_bundle *b)
{
	if (!b)
		return;
	if (b->a)
		b->lib->read_free(b->a);
	if (b->packed)
		b->lib->read_free(b->packed);
	if (b->fd >= 0)
		close(b->fd);
	free(b->block);
	free(b->members);
	free(b);
}

/* ---- digests ------------------------------------------------------------------ */

static struct member *find(struct eadm_bundle *b, const char *name)
{
	unsigned int i;

	for (i = 0; i < b->n; i++) {
		if (!strcmp(b->members[i].name, name))
			return &b->members[i];
	}
	return NULL;
}

/* Checks a line in the format of sha256sum: digest, two spaces, name. */
static int check_line(struct eadm_bundle *b, char *line)
{
	struct member *m;

	if (strlen(line) < EADM_DIGEST_TEXT + 2 ||
	    strncmp(line + EADM_DIGEST_TEXT - 1, "  ", 2))
		return refuse(b, "%s has an invalid line",
			      EADM_BUNDLE_SUMS);
	line[EADM_DIGEST_TEXT - 1] = '\0';
	m = find(b, line + EADM_DIGEST_TEXT + 1);
	if (!m || m->listed)
		return refuse(b, "%s lists a missing member",
			      EADM_BUNDLE_SUMS);
	if (strcmp(m->digest, line))
		return refuse(b, "%s has changed since it was written", m->name);
	m->listed = true;
	return 0;
}

static int check_sums(struct eadm_bundle *b, uint64_t size)
{
	char *text, *line, *save = NULL;
	unsigned int i;
	long n = 0;
	int ret = 0;

	if (size > MAX_SUMS)
		return refuse(b, "%s is too long", EADM_BUNDLE_SUMS);
	text = malloc(size + 1);
	if (!text)
		return eadm_oom(b->ctx);
	if (size)
		n = b->lib->read_data(b->a, text, size);
	if (n < 0 || (uint64_t)n != size) {
		free(text);
		return refuse(b, "truncated");
	}
	text[size] = '\0';
	if (strlen(text) != size)
		ret = refuse(b, "%s has an invalid line", EADM_BUNDLE_SUMS);
	for (line = strtok_r(text, "\n", &save); line && !ret;
	     line = strtok_r(NULL, "\n", &save))
		ret = check_line(b, line);
	free(text);
	for (i = 0; i < b->n && !ret; i++) {
		if (!b->members[i].listed)
			ret = refuse(b, "%s is not listed in %s",
				     b->members[i].name, EADM_BUNDLE_SUMS);
	}
	return ret;
}

/* ---- members ------------------------------------------------------------------ */

EADM_API long eadm_bundle_read(struct eadm_bundle *b, void *buf, size_t size)
{
	long n;
	int ret;

	if (b->error < 0)
		return b->error;
	if (!b->inside || !size)
		return 0;
	if (size > BLOCK)
		size = BLOCK;
	n = b->lib->read_data(b->a, buf, size);
	if (n < 0)
		return archive_error(b, b->a);
	if (!n && b->left)
		return refuse(b, "truncated");
	if (!n) {
		uint8_t digest[SHA256_DIGEST_SIZE];

		b->lib->nt_sha256_digest(&b->sha, sizeof(digest), digest);
		eadm_digest_text(digest, b->members[b->n - 1].digest);
		b->inside = false;
		return 0;
	}
	if ((uint64_t)n > b->left)
		return refuse(b, "a member is longer than declared");
	b->left -= n;
	b->lib->nt_sha256_update(&b->sha, n, buf);
	ret = account(b, &b->unpacked, n);
	return ret ? ret : n;
}

static int skip(struct eadm_bundle *b)
{
	unsigned char buf[8192];
	long n;

	while ((n = eadm_bundle_read(b, buf, sizeof(buf))) > 0)
		;
	return n;
}

static int add_member(struct eadm_bundle *b, const char *name)
{

	if (!eadm_member_name_ok(name))
		return refuse(b, "invalid member name");
	if (find(b, name))
		return refuse(b, "%s appears twice", name);
	if (b->n == EADM_MEMBERS_MAX)
		return refuse(b, "too many members");
	if (!grow(b->members, b->n, b->max)) {
		b->error = eadm_oom(b->ctx);
		return b->error;
	}
	b->members[b->n] = (struct member){ 0 };
	snprintf(b->members[b->n++].name, EADM_MEMBER_MAX, "%s", name);
	return 0;
}

/*
 * Checks that nothing follows the list of digests, which is the last member: after the
 * end that the reader of the tar archive has found, all bytes are zero.
 */
static int end_of_bundle(struct eadm_bundle *b, uint64_t size)
{
	struct archive_entry *entry;
	const void *block;
	int ret = check_sums(b, size);
	uint64_t end;
	la_ssize_t n;

	if (ret)
		return ret;
	ret = b->lib->read_next_header(b->a, &entry);
	if (ret < ARCHIVE_WARN)
		return archive_error(b, b->a);
	end = b->lib->filter_bytes(b->a, -1);
	while (ret == ARCHIVE_EOF && b->end <= end) {
		n = read_block(b->a, b, &block);
		if (n < 0)
			return b->error;
		if (!n) {
			b->error = 1;
			return 0;
		}
	}
	return refuse(b, "trailing data");
}

EADM_API int eadm_bundle_next(struct eadm_bundle *b,
			      struct eadm_member *member)
{
	struct archive_entry *entry;
	struct eadm_member full;
	const char *name;
	int64_t size;
	int ret;

	if (!eadm_abi_sized(member))
		return -EINVAL;
	if (b->error)
		return b->error < 0 ? b->error : 0;
	ret = skip(b);
	if (ret)
		return ret;
	ret = b->lib->read_next_header(b->a, &entry);
	if (ret == ARCHIVE_EOF)
		return refuse(b, "truncated");
	if (ret != ARCHIVE_OK)
		return archive_error(b, b->a);
	name = b->lib->entry_pathname(entry);
	size = b->lib->entry_size(entry);
	if (!name || strncmp(name, EADM_BUNDLE_TOP, strlen(EADM_BUNDLE_TOP)))
		return refuse(b, "a member is outside %s", EADM_BUNDLE_TOP);
	if (b->lib->entry_filetype(entry) != AE_IFREG ||
	    b->lib->entry_hardlink(entry))
		return refuse(b, "a member is not a regular file");
	if (!b->lib->entry_size_is_set(entry) || size < 0 ||
	    (uint64_t)size > MAX_UNPACKED)
		return refuse(b, "a member is too large");
	name += strlen(EADM_BUNDLE_TOP);
	if (!strcmp(name, EADM_BUNDLE_SUMS))
		return end_of_bundle(b, size);
	ret = add_member(b, name);
	if (ret)
		return ret;
	b->inside = true;
	b->left = size;
	b->lib->nt_sha256_init(&b->sha);
	full = (struct eadm_member){
		.name = b->members[b->n - 1].name, .len = size,
	};
	return eadm_abi_give(member, &full, sizeof(full));
}

EADM_API const char *eadm_bundle_digest(const struct eadm_bundle *b,
					const char *name)
{
	unsigned int i;

	for (i = 0; i < b->n; i++) {
		if (!strcmp(b->members[i].name, name) &&
		    b->members[i].digest[0])
			return b->members[i].digest;
	}
	errno = ENOENT;
	return NULL;
}

/* ---- the capture inside ---------------------------------------------------------- */

static int copy_member(struct eadm_bundle *b, int to)
{
	unsigned char buf[BLOCK];
	size_t done;
	long n;
	int ret;

	while ((n = eadm_bundle_read(b, buf, sizeof(buf))) > 0) {
		ret = eadm_write_all(to, buf, n, &done);
		if (ret)
			return eadm_fail(b->ctx, ret, "%s", strerror(-ret));
	}
	return n;
}

/*
 * Returns the descriptor of a memory file with the bundle's capture, or a negative
 * errno.
 */
int eadm_bundle_capture(struct eadm_ctx *ctx, int fd)
{
	struct eadm_bundle *b;
	struct eadm_member m = { .size = sizeof(m) };
	bool found = false;
	int to, ret;

	to = memfd_create("eadm-capture", MFD_CLOEXEC);
	if (to < 0)
		return eadm_fail(ctx, -errno, "%s", strerror(errno));
	ret = open_fd(ctx, fd, &b);
	if (ret) {
		close(to);
		return ret;
	}
	while ((ret = eadm_bundle_next(b, &m)) > 0) {
		if (strcmp(m.name, EADM_BUNDLE_CAPTURE))
			continue;
		found = true;
		ret = copy_member(b, to);
		if (ret)
			break;
	}
	eadm_bundle_close(b);
	if (!ret && !found)
		ret = eadm_fail(ctx, -ENODATA,
				"the bundle contains no capture ('eadm bundle show' prints the reason)");
	if (ret) {
		close(to);
		return ret;
	}
	return to;
}
