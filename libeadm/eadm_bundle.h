/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: support bundles. Part of eadm.h, which states the rules for all
 * functions; this header can also be included on its own.
 */
#ifndef EADM_BUNDLE_H
#define EADM_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct eadm_ctx;

/**
 * struct eadm_bundle - a bundle being read
 */
struct eadm_bundle;

/**
 * struct eadm_bundle_writer - a bundle being written
 */
struct eadm_bundle_writer;

/**
 * struct eadm_member - a file in a bundle
 * @size: sizeof(struct eadm_member), set by the caller
 * @name: name of the file in the bundle, such as "manifest.json"
 * @len: length of the file in bytes
 */
struct eadm_member {
	size_t size;
	const char *name;
	uint64_t len;
};

/**
 * eadm_bundle_open() - start reading a bundle
 * @ctx: a context; it need not be open
 * @path: the file, "-" for standard input
 * @bundle: set to the bundle; close it with eadm_bundle_close()
 *
 * A bundle is a tar archive compressed with zstd. Nothing is unpacked to disk.
 * Members that eadm would not write - links, unusual names, implausible sizes - are
 * refused.
 *
 * To read the capture in a bundle, use eadm_open_file() instead.
 *
 * Return: 0; -EBADMSG if it is not a tar archive compressed with zstd; -EOPNOTSUPP if
 * libarchive is missing; another negative errno if the file cannot be opened; -ENOMEM.
 * Since: 0.9
 */
int eadm_bundle_open(struct eadm_ctx *ctx, const char *path,
		     struct eadm_bundle **bundle);

/**
 * eadm_bundle_next() - move to the next member
 * @bundle: the bundle
 * @member: filled in; @member->name is valid until the next call on @bundle
 *
 * Reading to the end verifies the bundle: it succeeds only if every member has
 * the digest that the bundle itself lists, and no data follows the list.
 *
 * Return: 1 with a member, 0 at the end, -EBADMSG for a damaged bundle, -EINVAL
 * if @member->size is not set, another negative errno if reading fails.
 * Since: 0.9
 */
int eadm_bundle_next(struct eadm_bundle *bundle, struct eadm_member *member);

/**
 * eadm_bundle_read() - read bytes of the current member
 * @bundle: the bundle
 * @buf: destination of the bytes
 * @size: maximum number of bytes
 *
 * Return: number of bytes, at most @size; 0 at the end of the member; -EBADMSG
 * for a damaged bundle, another negative errno if reading fails.
 * Since: 0.9
 */
long eadm_bundle_read(struct eadm_bundle *bundle, void *buf, size_t size);

/**
 * eadm_bundle_digest() - SHA-256 digest of a member that was read
 * @bundle: the bundle
 * @name: name of the member
 *
 * Return: 64 hexadecimal digits, valid until eadm_bundle_close(), or NULL with
 * errno ENOENT.
 * Since: 0.9
 */
const char *eadm_bundle_digest(const struct eadm_bundle *bundle,
			       const char *name);

/**
 * eadm_bundle_close() - end reading a bundle
 * @bundle: the bundle or NULL
 *
 * Since: 0.9
 */
void eadm_bundle_close(struct eadm_bundle *bundle);

/**
 * eadm_bundle_writer_open() - start writing a bundle
 * @ctx: a context; it need not be open
 * @path: file to create, with mode 0600; it appears, replacing any existing file, only
 *	when eadm_bundle_writer_close() succeeds; "-" writes to standard output
 *	immediately
 * @writer: set to the writer; close it with eadm_bundle_writer_close()
 *
 * Return: 0; -EOPNOTSUPP if libarchive is missing; another negative errno if
 * the file cannot be created; -ENOMEM.
 * Since: 0.9
 */
int eadm_bundle_writer_open(struct eadm_ctx *ctx, const char *path,
			    struct eadm_bundle_writer **writer);

/**
 * eadm_bundle_writer_add() - add a member
 * @writer: the bundle
 * @name: name of the member: letters, digits, ".", "_", "-", and "/" for
 *	directories
 * @data: contents of the member
 * @len: length of @data
 * @digest: buffer of 65 bytes for the member's SHA-256 digest as text, or NULL
 *
 * Return: 0; -EINVAL for an invalid name; another negative errno if writing
 * fails, after which the bundle is unusable.
 * Since: 0.9
 */
int eadm_bundle_writer_add(struct eadm_bundle_writer *writer, const char *name,
			   const void *data,
			   size_t len, char *digest);

/**
 * eadm_bundle_writer_size() - number of bytes added so far, before compression
 * @writer: the bundle
 *
 * Since: 0.9
 */
uint64_t eadm_bundle_writer_size(const struct eadm_bundle_writer *writer);

/**
 * eadm_bundle_writer_close() - finish or discard the bundle
 * @writer: the bundle; freed in any case
 * @keep: false to leave no file behind
 *
 * Return: 0, or a negative errno if writing, syncing or naming the file fails.
 * Since: 0.9
 */
int eadm_bundle_writer_close(struct eadm_bundle_writer *writer, bool keep);

#ifdef __cplusplus
}
#endif

#endif /* EADM_BUNDLE_H */
