// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writing bundles: a file under its final name is always complete. */
#include "archlib.h"
#include "base/bytes.h"
#include "base/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK (64 * 1024)

struct eadm_bundle_writer {
	struct eadm_ctx *ctx;
	const struct eadm_archive *lib;
	struct archive *a;
	struct archive_entry *entry;
	struct eadm_output *out;
	int error;
	struct eadm_bytes sums;
	uint64_t unpacked;
	unsigned int members;
};

static void writer_free(struct eadm_bundle_writer *p)
{
	if (p->a)
		p->lib->write_free(p->a);
	if (p->entry)
		p->lib->entry_free(p->entry);
	if (p->out)
		eadm_output_close(p->out, false);
	free(p->sums.p);
	free(p);
}

static la_ssize_t write_block(struct archive *a, void *data, const void *block,
			      size_t len)
{
	const struct eadm_bundle_writer *p = data;
	size_t done;
	int ret = eadm_write_all(eadm_output_fd(p->out), block, len, &done);

	if (!ret)
		return len;
	p->lib->set_error(a, -ret, "%s", strerror(-ret));
	return -1;
}

EADM_API int eadm_bundle_writer_open(struct eadm_ctx *ctx, const char *path,
				     struct eadm_bundle_writer **writer)
{
	const struct eadm_archive *lib = eadm_archive_get(ctx);
	struct eadm_bundle_writer *p;
	int ret;

	if (!lib)
		return -EOPNOTSUPP;
	p = calloc(1, sizeof(*p));
	if (!p)
		return eadm_oom(ctx);
	p->ctx = ctx;
	p->lib = lib;
	ret = eadm_output_open(ctx, path, &p->out);
	if (ret) {
		writer_free(p);
		return ret;
	}
	p->a = lib->write_new();
	p->entry = lib->entry_new();
	if (!p->a || !p->entry ||
	    lib->write_set_format_pax_restricted(p->a) != ARCHIVE_OK ||
	    lib->write_add_filter_zstd(p->a) != ARCHIVE_OK ||
	    lib->write_set_bytes_in_last_block(p->a, 1) != ARCHIVE_OK ||
	    lib->write_open(p->a, p, NULL, write_block, NULL) != ARCHIVE_OK) {
		eadm_fail(ctx, -EOPNOTSUPP, "libarchive: %s",
			  p->a && lib->error_string(p->a) ?
				  lib->error_string(p->a) : "out of memory");
		writer_free(p);
		return -EOPNOTSUPP;
	}
	*writer = p;
	return 0;
}

static int write_error(struct eadm_bundle_writer *p)
{
	int err = p->lib->error_number(p->a);
	const char *why = p->lib->error_string(p->a);

	/* libarchive's own errors are negative. */
	p->error = err > 0 ? -err : -EIO;
	return eadm_fail(p->ctx, p->error, "%s",
			 err > 0 ? strerror(err) : why ? why : "writing failed");
}

/*
 * Add a member, and compute its digest block by block while each block is in the cache.
 */
static int put_member(struct eadm_bundle_writer *p, const char *name,
		      const void *data, size_t len, char *digest)
{
	const struct eadm_archive *lib = p->lib;
	char path[sizeof(EADM_BUNDLE_TOP) + EADM_MEMBER_MAX];
	uint8_t sha[SHA256_DIGEST_SIZE];
	struct sha256_ctx state;
	size_t done, n;

	snprintf(path, sizeof(path), "%s%s", EADM_BUNDLE_TOP, name);
	lib->entry_clear(p->entry);
	lib->entry_set_pathname(p->entry, path);
	lib->entry_set_filetype(p->entry, AE_IFREG);
	lib->entry_set_perm(p->entry, 0600);
	lib->entry_set_size(p->entry, len);
	lib->entry_set_mtime(p->entry, time(NULL), 0);
	if (lib->write_header(p->a, p->entry) < ARCHIVE_WARN)
		return write_error(p);
	lib->nt_sha256_init(&state);
	for (done = 0; done < len; done += n) {
		n = len - done < BLOCK ? len - done : BLOCK;
		lib->nt_sha256_update(&state, n, (const uint8_t *)data + done);
		if (lib->write_data(p->a, (const char *)data + done, n) != (ssize_t)n)
			return write_error(p);
	}
	lib->nt_sha256_digest(&state, sizeof(sha), sha);
	eadm_digest_text(sha, digest);
	p->unpacked += len;
	return 0;
}

EADM_API int eadm_bundle_writer_add(struct eadm_bundle_writer *p,
				    const char *name,
				    const void *data, size_t len, char *digest)
{
	char text[EADM_DIGEST_TEXT];
	int ret;

	if (p->error)
		return p->error;
	if (!eadm_member_name_ok(name) || !strcmp(name, EADM_BUNDLE_SUMS))
		return eadm_fail(p->ctx, -EINVAL,
				 "%s is not a valid member name", name);
	if (p->members == EADM_MEMBERS_MAX)
		return eadm_fail(p->ctx, -EFBIG, "too many members");
	ret = put_member(p, name, data, len, text);
	if (ret)
		return ret;
	eadm_bytes_put(&p->sums, text, strlen(text));
	eadm_bytes_put(&p->sums, "  ", 2);
	eadm_bytes_put(&p->sums, name, strlen(name));
	eadm_bytes_put(&p->sums, "\n", 1);
	if (p->sums.fail)
		p->error = eadm_oom(p->ctx);
	if (p->error)
		return p->error;
	p->members++;
	if (digest)
		memcpy(digest, text, sizeof(text));
	return 0;
}

EADM_API uint64_t eadm_bundle_writer_size(const struct eadm_bundle_writer *p)
{
	return p->unpacked;
}

EADM_API int eadm_bundle_writer_close(struct eadm_bundle_writer *p, bool keep)
{
	char text[EADM_DIGEST_TEXT];
	int ret = p->error;

	if (keep && !ret)
		ret = put_member(p, EADM_BUNDLE_SUMS, p->sums.p, p->sums.len, text);
	if (!keep || ret)
		p->lib->write_fail(p->a);
	else if (p->lib->write_close(p->a) != ARCHIVE_OK)
		ret = write_error(p);
	if (keep && !ret) {
		ret = eadm_output_close(p->out, true);
		p->out = NULL;
	}
	writer_free(p);
	return ret;
}
