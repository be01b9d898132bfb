/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: redaction of names and addresses. Part of eadm.h, which states the
 * rules for all functions; this header can also be included on its own.
 */
#ifndef EADM_REDACTOR_H
#define EADM_REDACTOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct eadm_ctx;

/**
 * struct eadm_redactor - replaces names and addresses with pseudonyms
 */
struct eadm_redactor;

/**
 * struct eadm_redaction - numbers of replaced values
 * @size: sizeof(struct eadm_redaction), set by the caller
 * @ipv4: IPv4 addresses
 * @ipv6: IPv6 addresses and GIDs
 * @macs: MAC addresses
 * @guids: GUIDs and other hardware addresses
 * @hosts: host names
 * @processes: process names
 * @secrets: keys and raw bytes that were left out
 * @dropped: values that were left out because their meaning is unknown
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
 * @ctx: a context that outlives the redactor; it need not be open
 * @key: key from which, together with the originals, pseudonyms are derived
 * @len: length of the key, 16 to 64 bytes
 * @redactor: set to the redactor; close it with eadm_redactor_close()
 *
 * The same original with the same key always has the same pseudonym. IPv4
 * addresses become addresses in 240.0.0.0/4, IPv6 addresses and GIDs become
 * addresses in 2001:db8::/32, MAC addresses and GUIDs become locally
 * administered addresses, names become "host-..." and "proc-...".
 *
 * Return: 0; -EINVAL for a bad key; -EOPNOTSUPP if libnettle or libarchive is
 * missing; -ENOMEM.
 * Since: 0.9
 */
int eadm_redactor_open(struct eadm_ctx *ctx, const void *key, size_t len,
		       struct eadm_redactor **redactor);

/**
 * eadm_redactor_host() - add a host name
 * @redactor: the redactor
 * @name: the name, with or without a domain
 *
 * Return: 0 or -ENOMEM.
 * Since: 0.9
 */
int eadm_redactor_host(struct eadm_redactor *redactor, const char *name);

/**
 * eadm_redactor_process() - add a process name
 * @redactor: the redactor
 * @name: the name
 *
 * Process names in captured data are added automatically.
 *
 * Return: 0 or -ENOMEM.
 * Since: 0.9
 */
int eadm_redactor_process(struct eadm_redactor *redactor, const char *name);

/**
 * eadm_redactor_text() - redact text
 * @redactor: the redactor
 * @text: the text
 * @len: length of @text
 * @out: set to the redacted text, terminated by NUL
 * @out_len: set to its length in bytes, without the NUL
 *
 * Addresses are recognized by their form, names only as whole words. Process names and
 * memory keys that the kernel prints in its log are also replaced.
 *
 * Ownership: the caller owns *@out and releases it with free(). Only this function and
 * eadm_redactor_facts() return memory from malloc().
 *
 * Return: 0 or -ENOMEM.
 * Since: 0.9
 */
int eadm_redactor_text(struct eadm_redactor *redactor, const char *text,
		       size_t len, char **out, size_t *out_len);

/**
 * eadm_redactor_facts() - redact lines "PATH: VALUE", such as files of sysfs
 * @redactor: the redactor
 * @text: the text
 * @len: length of @text
 * @out: set to the redacted text, terminated by NUL
 * @out_len: set to its length in bytes, without the NUL
 *
 * Unlike in other text, words are not taken for names of hosts or processes, so paths,
 * devices and versions remain as they are. The value of a file node_desc, which usually
 * contains a host name, is replaced as a whole.
 *
 * Ownership: as for eadm_redactor_text().
 *
 * Return: 0 or -ENOMEM.
 * Since: 0.9
 */
int eadm_redactor_facts(struct eadm_redactor *redactor, const char *text,
			size_t len, char **out, size_t *out_len);

/**
 * eadm_redactor_counts() - read the number of values replaced so far
 * @redactor: the redactor
 * @counts: filled in
 *
 * Return: 0, or -EINVAL if @counts->size is not set.
 * Since: 0.9
 */
int eadm_redactor_counts(const struct eadm_redactor *redactor,
			 struct eadm_redaction *counts);

/**
 * eadm_redactor_close() - free a redactor, including its key and the names
 * added to it
 * @redactor: the redactor or NULL
 *
 * Since: 0.9
 */
void eadm_redactor_close(struct eadm_redactor *redactor);

#ifdef __cplusplus
}
#endif

#endif /* EADM_REDACTOR_H */
