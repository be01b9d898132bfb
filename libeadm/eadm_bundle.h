/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: support bundles and redaction. Part of eadm.h, which has the rules
 * for all functions; it can also be included alone.
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

/* ---- bundles --------------------------------------------------------------- */

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
 * @name: its name within the bundle, such as "manifest.json"
 * @len: its length in bytes
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
 * @bundle: where to put the bundle; close it with eadm_bundle_close()
 *
 * A bundle is a tar archive compressed with zstd. Nothing is unpacked to disk.
 * Anything that eadm would not write - links, odd names, absurd sizes - is
 * refused.
 *
 * This is not needed for the capture in a bundle: eadm_open_file() reads it.
 *
 * Return: 0; -EBADMSG if it is not a bundle; -EOPNOTSUPP if libarchive is
 * missing; the errno of opening the file; -ENOMEM.
 * Since: 0.1
 */
int eadm_bundle_open(struct eadm_ctx *ctx, const char *path,
		     struct eadm_bundle **bundle);

/**
 * eadm_bundle_next() - the next member
 * @bundle: the bundle
 * @member: filled in; @member->name is valid until the next call on @bundle
 *
 * The end is reached without an error only if every member has the digest that
 * the bundle itself lists: reading to the end verifies the bundle.
 *
 * Return: 1 with a member, 0 at the end, -EBADMSG for a damaged bundle,
 * -EINVAL if @member->size is not set, other negative errno of reading.
 * Since: 0.1
 */
int eadm_bundle_next(struct eadm_bundle *bundle, struct eadm_member *member);

/**
 * eadm_bundle_read() - bytes of the current member
 * @bundle: the bundle
 * @buf: where to put them
 * @size: how many bytes at most
 *
 * Return: number of bytes, at most @size; 0 at the end of the member; -EBADMSG
 * for a damaged bundle, other negative errno of reading.
 * Since: 0.1
 */
long eadm_bundle_read(struct eadm_bundle *bundle, void *buf, size_t size);

/**
 * eadm_bundle_digest() - SHA-256 of a member that was read
 * @bundle: the bundle
 * @name: name of the member
 *
 * Return: 64 hexadecimal digits, valid until eadm_bundle_close(), or NULL with
 * errno ENOENT.
 * Since: 0.1
 */
const char *eadm_bundle_digest(const struct eadm_bundle *bundle,
			       const char *name);

/**
 * eadm_bundle_close() - end reading a bundle
 * @bundle: the bundle or NULL
 *
 * Since: 0.1
 */
void eadm_bundle_close(struct eadm_bundle *bundle);

/**
 * eadm_bundle_writer_open() - start writing a bundle
 * @ctx: a context; it need not be open
 * @path: file to create; it appears, with mode 0600, when
 *	eadm_bundle_writer_close() succeeds, and replaces an older one; "-"
 *	writes to standard output immediately
 * @writer: where to put the bundle; close it with eadm_bundle_writer_close()
 *
 * Return: 0; -EOPNOTSUPP if libarchive is missing; the errno of creating the
 * file; -ENOMEM.
 * Since: 0.1
 */
int eadm_bundle_writer_open(struct eadm_ctx *ctx, const char *path,
			    struct eadm_bundle_writer **writer);

/**
 * eadm_bundle_writer_add() - add a member
 * @writer: the bundle
 * @name: letters, digits, ".", "_", "-" and "/" for folders
 * @data: its bytes
 * @len: number of them
 * @digest: where to put its SHA-256 as text, 65 bytes, or NULL
 *
 * Return: 0; -EINVAL for an odd name; the errno of writing, from which there
 * is no recovery.
 * Since: 0.1
 */
int eadm_bundle_writer_add(struct eadm_bundle_writer *writer, const char *name,
			   const void *data,
			   size_t len, char *digest);

/**
 * eadm_bundle_writer_size() - bytes added so far, before compression
 * @writer: the bundle
 *
 * Since: 0.1
 */
uint64_t eadm_bundle_writer_size(const struct eadm_bundle_writer *writer);

/**
 * eadm_bundle_writer_close() - finish the bundle, or drop it
 * @writer: the bundle; freed in any case
 * @keep: false to leave no file behind
 *
 * Return: 0, or the errno of writing, syncing or naming the file.
 * Since: 0.1
 */
int eadm_bundle_writer_close(struct eadm_bundle_writer *writer, bool keep);

/* ---- redaction -------------------------------------------------------------- */

/**
 * struct eadm_redactor - replaces names and addresses with pseudonyms
 */
struct eadm_redactor;

/**
 * struct eadm_redaction - how often things were replaced
 * @size: sizeof(struct eadm_redaction), set by the caller
 * @ipv4: IPv4 addresses
 * @ipv6: IPv6 addresses and GIDs
 * @macs: MAC addresses
 * @guids: GUIDs and other hardware addresses
 * @hosts: host names
 * @processes: process names
 * @secrets: keys and raw bytes left out
 * @dropped: values left out because their meaning is unknown
 */
struct eadm_redaction {
	size_t size;
	uint64_t ipv4;
	uint64_t ipv6;
	uint64_t macs;
	uint64_t guids;
	uint64_t hosts;
	uint64_t processes;
	uint64_t secrets;
	uint64_t dropped;
};

/**
 * eadm_redactor_open() - create a redactor
 * @ctx: a context that outlives it; it need not be open
 * @key: what the pseudonyms depend on besides the originals
 * @len: length of the key, 16 to 64 bytes
 * @redactor: where to put it; close it with eadm_redactor_close()
 *
 * The same original with the same key always has the same pseudonym. IPv4
 * addresses become addresses in 240.0.0.0/4, IPv6 addresses and GIDs become
 * addresses in 2001:db8::/32, MAC addresses and GUIDs become locally
 * administered ones, names become "host-..." and "proc-...".
 *
 * Return: 0; -EINVAL for a bad key; -EOPNOTSUPP if libnettle or libarchive is
 * missing; -ENOMEM.
 * Since: 0.1
 */
int eadm_redactor_open(struct eadm_ctx *ctx, const void *key, size_t len,
		       struct eadm_redactor **redactor);

/**
 * eadm_redactor_host() - add a host's name
 * @redactor: the redactor
 * @name: the name, with or without a domain
 *
 * Return: 0 or -ENOMEM.
 * Since: 0.1
 */
int eadm_redactor_host(struct eadm_redactor *redactor, const char *name);

/**
 * eadm_redactor_process() - add a process's name
 * @redactor: the redactor
 * @name: the name
 *
 * Process names in what is captured are learned automatically.
 *
 * Return: 0 or -ENOMEM.
 * Since: 0.1
 */
int eadm_redactor_process(struct eadm_redactor *redactor, const char *name);

/**
 * eadm_redactor_text() - redact text
 * @redactor: the redactor
 * @text: the text
 * @len: its length
 * @out: where to put the redacted text, terminated by NUL
 * @out_len: where to put its length in bytes, without the NUL
 *
 * Addresses are recognized by their form, names only as whole words.
 *
 * Ownership: *@out belongs to the caller and is released with free(). This is
 * the only function of the library that returns memory from malloc().
 *
 * Return: 0 or -ENOMEM.
 * Since: 0.1
 */
int eadm_redactor_text(struct eadm_redactor *redactor, const char *text,
		       size_t len, char **out, size_t *out_len);

/**
 * eadm_redactor_counts() - how often things were replaced so far
 * @redactor: the redactor
 * @counts: filled in
 *
 * Return: 0, or -EINVAL if @counts->size is not set.
 * Since: 0.1
 */
int eadm_redactor_counts(const struct eadm_redactor *redactor,
			 struct eadm_redaction *counts);

/**
 * eadm_redactor_close() - free a redactor, with its key and what it learned
 * @redactor: the redactor or NULL
 *
 * Since: 0.1
 */
void eadm_redactor_close(struct eadm_redactor *redactor);

/**
 * eadm_capture_redact() - redact what is captured from here on
 * @ctx: a context without an open capture
 * @redactor: the redactor, or NULL to stop; it must outlive the captures
 *
 * This affects only what is written, not the rows that are read.
 *
 * Since: 0.1
 */
void eadm_capture_redact(struct eadm_ctx *ctx, struct eadm_redactor *redactor);

#ifdef __cplusplus
}
#endif

#endif /* EADM_BUNDLE_H */
