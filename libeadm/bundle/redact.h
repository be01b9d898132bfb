/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internals of redaction, shared by pseudonym.c, redact.c, redact_log.c and redact_nl.c. */
#ifndef EADM_REDACT_H
#define EADM_REDACT_H

#include "base/ctx.h"
#include "base/bytes.h"
#include "source/capture.h"

struct eadm_name;

/* An IPv4 address, MAC address or GUID that was seen; @len is 0 in a free place. */
struct eadm_hw {
	unsigned char bytes[8];
	unsigned char len;
};

struct eadm_redactor {
	struct eadm_filter filter;
	struct eadm_ctx *ctx;
	const struct eadm_archive *lib;
	unsigned char key[64];
	size_t key_len;
	struct eadm_redaction count;
	struct eadm_name *names;
	size_t n_names, max_names;
	/*
	 * For each first byte, the index in names of the first such name, -1: none;
	 * rebuilt when dirty.
	 */
	int first[256];
	bool dirty;
	/* A hash table; its size is a power of two. */
	struct eadm_hw *hw;
	size_t n_hw, max_hw;
	bool no_memory;
};

void eadm_redact_ip(struct eadm_redactor *r, const unsigned char *in,
		    unsigned char *out, size_t len);
void eadm_redact_hw(struct eadm_redactor *r, const unsigned char *in,
		    unsigned char *out, size_t len);
int eadm_redact_process(struct eadm_redactor *r, const char *name,
			char *out, size_t size);
/* The address of 4, 6 or 8 bytes, or one that it is part of, was redacted before. */
bool eadm_redact_knows(const struct eadm_redactor *r, const unsigned char *in,
		       size_t len);
/*
 * Puts the pseudonym of the known name at @text + @at, if there is one, and returns the
 * length of the name and its domain; otherwise 0.
 */
size_t eadm_redact_name(struct eadm_redactor *r, const char *text, size_t len,
			size_t at, struct eadm_bytes *out);
/* Returns true for characters that continue a name. */
bool eadm_redact_is_word(unsigned char c);
/* Put the pseudonym of a host's name, or of the value of a setting, into @out. */
void eadm_redact_host(struct eadm_redactor *r, const char *name, size_t len, char *out,
		      size_t size);
void eadm_redact_setting(struct eadm_redactor *r, const char *value, size_t len,
			 char *out, size_t size);
/* @names: replace names, too, and memory keys: the text is a log. */
void eadm_redact_text(struct eadm_redactor *r, const char *text, size_t len,
		      bool names, struct eadm_bytes *out);
size_t eadm_redact_log(struct eadm_redactor *r, const char *text, size_t len, size_t at,
		       struct eadm_bytes *out);
void eadm_redact_packet(struct eadm_redactor *r, uint16_t proto,
			const void *data, size_t len, struct eadm_bytes *out);

#endif /* EADM_REDACT_H */
