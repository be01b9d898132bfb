/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Libraries that only bundles need, loaded on first use. */
#ifndef EADM_ARCHLIB_H
#define EADM_ARCHLIB_H

#include <archive.h>
#include <archive_entry.h>
#include <nettle/hmac.h>
#include <nettle/sha2.h>

#include "base/ctx.h"

#define EADM_ARCHIVE_FUNCTIONS(f)		\
	f(entry_clear)				\
	f(entry_filetype)			\
	f(entry_free)				\
	f(entry_hardlink)			\
	f(entry_new)				\
	f(entry_pathname)			\
	f(entry_set_filetype)			\
	f(entry_set_mtime)			\
	f(entry_set_pathname)			\
	f(entry_set_perm)			\
	f(entry_set_size)			\
	f(entry_size)				\
	f(entry_size_is_set)			\
	f(error_string)				\
	f(filter_bytes)				\
	f(filter_code)				\
	f(read_data)				\
	f(read_free)				\
	f(read_new)				\
	f(read_next_header)			\
	f(read_open)				\
	f(read_open_fd)				\
	f(read_support_filter_zstd)		\
	f(read_support_format_raw)		\
	f(read_support_format_tar)		\
	f(set_error)				\
	f(write_add_filter_zstd)		\
	f(write_close)				\
	f(write_data)				\
	f(write_fail)				\
	f(write_free)				\
	f(write_header)				\
	f(write_new)				\
	f(write_open)				\
	f(write_set_bytes_in_last_block)	\
	f(write_set_format_pax_restricted)

#define EADM_NETTLE_FUNCTIONS(f)		\
	f(hmac_sha256_digest)			\
	f(hmac_sha256_set_key)			\
	f(hmac_sha256_update)			\
	f(sha256_digest)			\
	f(sha256_init)				\
	f(sha256_update)

/*
 * These libraries are not linked, because libarchive and its dependencies would double
 * the start time of every command.
 */
struct eadm_archive {
	void *archive, *nettle;	/* handles of the libraries */
	/*
	 * This function is not in the list, because the C library defines "errno" as a
	 * macro.
	 */
	__typeof__(&archive_errno) error_number;
#define f(name) __typeof__(&archive_##name) name;
	EADM_ARCHIVE_FUNCTIONS(f)
#undef f
#define f(name) __typeof__(&nettle_##name) nt_##name;
	EADM_NETTLE_FUNCTIONS(f)
#undef f
};

void eadm_archive_free(struct eadm_archive *lib);
const struct eadm_archive *eadm_archive_get(struct eadm_ctx *ctx);

/* All members are in this folder, so that unpacking creates a single folder. */
#define EADM_BUNDLE_TOP "eadm-bundle/"
#define EADM_BUNDLE_SUMS "SHA256SUMS"
#define EADM_BUNDLE_CAPTURE "capture.pcapng"
#define EADM_MEMBER_MAX 160	/* maximum size of a name, with NUL */
#define EADM_MEMBERS_MAX 4096
#define EADM_DIGEST_TEXT (2 * SHA256_DIGEST_SIZE + 1)

bool eadm_member_name_ok(const char *name);
void eadm_digest_text(const uint8_t *digest, char *text);

#endif /* EADM_ARCHLIB_H */
